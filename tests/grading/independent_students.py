"""Simulated classes of students who work independently but often write the obvious.

Each answer is composed of lines with several variants each, the most popular first; the second is
half as likely as the first, and so on. In such a class, students share nearly every line with many
others, which makes it a harder test than the answer bank, where everybody has their own style.
"""

from __future__ import annotations

import random

Ways = tuple[str, ...]

MASKED_SOFTMAX: tuple[tuple[Ways, ...], ...] = (
    (
        (
            "t = scores.masked_fill(~mask, float('-inf'))",
            "t = scores.masked_fill(~mask, -1e9)",
            "t = torch.where(mask, scores, float('-inf'))",
            "t = scores.masked_fill(mask == 0, torch.finfo(scores.dtype).min)",
            "t = scores.masked_fill(mask.logical_not(), -1e9)",
        ),
        ("w = torch.softmax(t, dim=-1)", "w = t.softmax(-1)", "w = F.softmax(t, dim=-1)"),
        (
            "return torch.nan_to_num(w, nan=0.0)",
            "return w * mask",
            "return w.masked_fill(~mask, 0.0)",
            "return torch.where(mask, w, torch.zeros_like(w))",
        ),
    ),
    (
        (
            "e = torch.exp(scores - scores.max(dim=-1, keepdim=True).values) * mask",
            "e = torch.exp(scores - scores.max(-1, keepdim=True)[0]) * mask",
            "e = (scores - scores.amax(-1, keepdim=True)).exp().masked_fill(~mask, 0)",
        ),
        ("z = e.sum(dim=-1, keepdim=True)", "z = e.sum(-1, keepdim=True)"),
        ("return e / z.clamp(min=1e-9)", "return e / (z + (z == 0))"),
    ),
)
ADDITIVE_SCORE: tuple[Ways, ...] = (
    (
        "a = query @ W.T",
        "a = torch.matmul(query, W.T)",
        "a = F.linear(query, W)",
        "a = torch.einsum('bq,dq->bd', query, W)",
    ),
    (
        "b = keys @ U.T",
        "b = torch.matmul(keys, U.T)",
        "b = F.linear(keys, U)",
        "b = torch.einsum('bnk,dk->bnd', keys, U)",
    ),
    (
        "h = torch.tanh(a.unsqueeze(1) + b)",
        "h = torch.tanh(a[:, None, :] + b)",
        "h = (a.unsqueeze(1) + b).tanh()",
        "h = torch.tanh(b + a[:, None])",
    ),
    (
        "return h @ v",
        "return torch.matmul(h, v)",
        "return (h * v).sum(-1)",
        "return torch.einsum('bnd,d->bn', h, v)",
    ),
)
CONTEXT_VECTOR: tuple[Ways, ...] = (
    (
        "return (weights.unsqueeze(-1) * values).sum(dim=1)",
        "return torch.bmm(weights.unsqueeze(1), values).squeeze(1)",
        "return (weights.unsqueeze(1) @ values).squeeze(1)",
        "return torch.einsum('bn,bnd->bd', weights, values)",
        "return (weights[:, :, None] * values).sum(1)",
    ),
)
PROJECT: tuple[Ways, ...] = (
    (
        "return keys @ self.U.T",
        "return torch.matmul(keys, self.U.T)",
        "return F.linear(keys, self.U)",
    ),
)
ATTEND: tuple[Ways, ...] = (
    (
        "if projected_keys is None:\n            projected_keys = self.project(keys)",
        "projected_keys = self.project(keys) if projected_keys is None else projected_keys",
    ),
    (
        "q = (query @ self.W.T).unsqueeze(1)",
        "q = (query @ self.W.T)[:, None]",
        "q = F.linear(query, self.W).unsqueeze(1)",
        "q = torch.matmul(query, self.W.T).unsqueeze(1)",
    ),
    (
        "s = torch.tanh(q + projected_keys) @ self.v",
        "s = torch.tanh(projected_keys + q) @ self.v",
        "h = torch.tanh(q + projected_keys)\n        s = h @ self.v",
        "s = (torch.tanh(q + projected_keys) * self.v).sum(-1)",
    ),
    ("weights = masked_softmax(s, mask)", "weights = masked_softmax(s, mask=mask)"),
    (
        "context = context_vector(weights, keys)\n        return context, weights",
        "return context_vector(weights, keys), weights",
    ),
)
ENCODE: tuple[Ways, ...] = (
    (
        "x = self.dropout(self.embedding(tokens))",
        "x = self.embedding(tokens)\n        x = self.dropout(x)",
    ),
    (
        "packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)",
        "packed = pack_padded_sequence(x, lengths.to('cpu'), True, False)",
        "n = lengths.cpu()\n"
        "        packed = pack_padded_sequence(x, n, batch_first=True, enforce_sorted=False)",
    ),
    ("out, h = self.rnn(packed)",),
    (
        "y, _ = pad_packed_sequence(out, batch_first=True, total_length=tokens.size(1))",
        "y, _ = pad_packed_sequence(out, batch_first=True, total_length=tokens.shape[1])",
        "y = pad_packed_sequence(out, batch_first=True)[0]",
    ),
    (
        "first = torch.tanh(self.first_state(h[1]))",
        "first = torch.tanh(self.first_state(h[-1]))",
        "first = self.first_state(h[1]).tanh()",
    ),
    ("return self.dropout(y), first", "y = self.dropout(y)\n        return y, first"),
)
STEP: tuple[Ways, ...] = (
    (
        "c, a = self.attention(state, annotations, mask, projected_keys)",
        "c, a = self.attention(query=state, keys=annotations, mask=mask, "
        "projected_keys=projected_keys)",
    ),
    (
        "state = self.cell(torch.cat([embedded, c], dim=-1), state)",
        "x = torch.cat((embedded, c), dim=-1)\n        state = self.cell(x, state)",
        "state = self.cell(torch.cat((embedded, c), 1), state)",
    ),
    ("return state, c, a",),
)
READOUT: tuple[Ways, ...] = (
    (
        "x = torch.cat([embedded, states, contexts], dim=-1)",
        "x = torch.cat((embedded, states, contexts), dim=-1)",
        "x = torch.cat([embedded, states, contexts], -1)",
    ),
    ("t = torch.tanh(self.hidden(x))", "t = self.hidden(x).tanh()"),
    ("return self.output(self.dropout(t))", "t = self.dropout(t)\n        return self.output(t)"),
)
DECODE: tuple[tuple[Ways, ...], ...] = (
    (
        (
            "words = self.dropout(self.embedding(tokens))",
            "words = self.embedding(tokens)\n        words = self.dropout(words)",
        ),
        ("keys = self.attention.project(annotations)",),
        ("state = first_state",),
        ("s, c, a = [], [], []", "s = []\n        c = []\n        a = []"),
        (
            "for i in range(tokens.shape[1]):",
            "for i in range(tokens.size(1)):",
            "B, T = tokens.shape\n        for i in range(T):",
        ),
        (
            "    state, context, w = self.step(words[:, i], state, annotations, mask, keys)",
            "    word = words[:, i]\n"
            "            state, context, w = self.step(word, state, annotations, mask, keys)",
        ),
        (
            "    s.append(state)\n            c.append(context)\n            a.append(w)",
            "    s += [state]\n            c += [context]\n            a += [w]",
        ),
        (
            "logits = self.readout(words, torch.stack(s, 1), torch.stack(c, 1))",
            "logits = self.readout(words, torch.stack(s, dim=1), torch.stack(c, dim=1))",
        ),
        ("return logits, torch.stack(a, 1)", "return logits, torch.stack(a, dim=1)"),
    ),
    (
        (
            "words = self.dropout(self.embedding(tokens))",
            "words = self.embedding(tokens)\n        words = self.dropout(words)",
        ),
        ("keys = self.attention.project(annotations)",),
        ("out, a = [], []", "out = []\n        a = []"),
        ("s = first_state",),
        ("for e in words.unbind(1):", "for e in words.transpose(0, 1):"),
        ("    s, c, w = self.step(e, s, annotations, mask, keys)",),
        (
            "    out.append(self.readout(e, s, c))\n            a.append(w)",
            "    a.append(w)\n            out.append(self.readout(e, s, c))",
        ),
        (
            "return torch.stack(out, 1), torch.stack(a, 1)",
            "return torch.stack(out, dim=1), torch.stack(a, dim=1)",
        ),
    ),
)


def students(count: int, seed: int) -> dict[str, dict[str, str]]:
    """Return the answers of a class by student and exercise, the same for the same seed."""
    draw = random.Random(seed)
    return {f"s{number:04d}": _answers(draw) for number in range(count)}


def _answers(draw: random.Random) -> dict[str, str]:
    def function(head: str, *ways: Ways) -> str:
        return "\n    ".join([f"def {head}:", *(_one(draw, line) for line in ways)])

    def method(head: str, *ways: Ways) -> str:
        return "\n        ".join([f"    def {head}:", *(_one(draw, line) for line in ways)])

    softmax = draw.choices(MASKED_SOFTMAX, (2, 1))[0]
    decode = draw.choices(DECODE, (2, 1))[0]
    return {
        "masked_softmax": function("masked_softmax(scores, mask)", *softmax),
        "additive_score": function("additive_score(query, keys, W, U, v)", *ADDITIVE_SCORE),
        "context_vector": function("context_vector(weights, values)", *CONTEXT_VECTOR),
        "AdditiveAttention": "class AdditiveAttention(nn.Module):\n"
        + method("project(self, keys)", *PROJECT)
        + "\n\n"
        + method("forward(self, query, keys, mask, projected_keys=None)", *ATTEND),
        "BidirectionalEncoder": "class BidirectionalEncoder(nn.Module):\n"
        + method("forward(self, tokens, lengths)", *ENCODE),
        "AttentionDecoder": "class AttentionDecoder(nn.Module):\n"
        + method("step(self, embedded, state, annotations, mask, projected_keys=None)", *STEP)
        + "\n\n"
        + method("readout(self, embedded, states, contexts)", *READOUT)
        + "\n\n"
        + method("forward(self, tokens, annotations, mask, first_state)", *decode),
    }


def _one(draw: random.Random, ways: Ways) -> str:
    return draw.choices(ways, [1 / place for place in range(1, len(ways) + 1)])[0]
