"""Answers to `LuongDecoder`."""

import torch
import torch.nn.functional as F
from torch import Tensor

from tests.answers.stubs import stub

Stub = stub("LuongDecoder")

# Right


class HandWrittenCell(Stub):
    """The GRU from its equations; W_c and W_s as plain matrices."""

    def _move(self, x: Tensor, h: Tensor) -> Tensor:
        gx = x @ self.cell.weight_ih.T + self.cell.bias_ih
        gh = h @ self.cell.weight_hh.T + self.cell.bias_hh
        d = h.shape[-1]
        r = torch.sigmoid(gx[:, :d] + gh[:, :d])
        z = torch.sigmoid(gx[:, d : 2 * d] + gh[:, d : 2 * d])
        n = torch.tanh(gx[:, 2 * d :] + r * gh[:, 2 * d :])
        return n + z * (h - n)

    def step(self, y, h, h_tilde, keys, mask, t):
        h = self._move(torch.hstack([y, h_tilde][: 2 if self.input_feeding else 1]), h)
        c, a = self.attention(query=h, keys=keys, mask=mask, position=t)
        k = c.shape[-1]
        w = self.combine.weight
        return h, torch.tanh(c @ w[:, :k].T + h @ w[:, k:].T), a

    def forward(self, tokens, keys, mask, first_state):
        steps = [(first_state, torch.zeros_like(first_state), None)]
        for t, y in enumerate(self.dropout(self.embedding(tokens)).unbind(1)):
            steps.append(self.step(y, *steps[-1][:2], keys, mask, t))
        _, h_tilde, a = (torch.stack(part, 1) for part in zip(*steps[1:], strict=True))
        return self.dropout(h_tilde) @ self.output.weight.T, a


class OneSentenceAtATime(Stub):
    def step(self, embedded, state, attentional, keys, mask, position):
        found = []
        for b in range(len(embedded)):
            row = slice(b, b + 1)
            x = embedded[row]
            if self.input_feeding:
                x = torch.cat([x, attentional[row]], 1)
            h = self.cell(x, state[row])
            c, a = self.attention(h, keys[row], mask[row], position)
            found.append((h, self.combine(torch.cat([c, h], 1)).tanh(), a))
        return tuple(torch.cat(part) for part in zip(*found, strict=True))

    def forward(self, tokens, keys, mask, first_state):
        all_logits, all_weights = [], []
        for b in range(len(tokens)):
            row = slice(b, b + 1)
            h, fed = first_state[row], torch.zeros_like(first_state[row])
            logits, weights = [], []
            for t in range(tokens.shape[1]):
                y = self.dropout(self.embedding(tokens[row, t]))
                h, fed, a = self.step(y, h, fed, keys[row], mask[row], t)
                logits.append(self.output(self.dropout(fed))[0])
                weights.append(a[0])
            all_logits.append(torch.stack(logits))
            all_weights.append(torch.stack(weights))
        return torch.stack(all_logits), torch.stack(all_weights)


class Recursive(Stub):
    """Words by recursion, one-hot embeddings; a lookup in place of the attribute's value."""

    def step(self, embedded, state, attentional, keys, mask, position):
        parts = [embedded] + [attentional] * int(self.input_feeding)
        state = self.cell(torch.cat(parts, dim=-1), state)
        context, weights = self.attention(state, keys, mask, position)
        return state, torch.tanh(self.combine(torch.cat([context, state], dim=-1))), weights

    def _rest(self, embedded, state, attentional, keys, mask, t):
        if t == embedded.shape[1]:
            return []
        state, attentional, weights = self.step(embedded[:, t], state, attentional, keys, mask, t)
        rest = self._rest(embedded, state, attentional, keys, mask, t + 1)
        return [(self.output(self.dropout(attentional)), weights), *rest]

    def forward(self, tokens, keys, mask, first_state):
        table = self.embedding.weight
        embedded = self.dropout(F.one_hot(tokens, len(table)).to(table.dtype) @ table)
        nothing = torch.zeros_like(first_state)
        pairs = self._rest(embedded, first_state, nothing, keys, mask, 0)
        return torch.stack([p[0] for p in pairs], 1), torch.stack([p[1] for p in pairs], 1)


class PositionAsTensor(Stub):
    """Hands the position on as a tensor; sets padding keys to 0 in a copy."""

    def step(self, embedded, state, attentional, keys, mask, position):
        keys = keys.masked_fill(~mask.unsqueeze(-1), 0.0)
        x = torch.cat([embedded, attentional], -1) if self.input_feeding else embedded
        state = self.cell(x, state)
        context, weights = self.attention(state, keys, mask, torch.tensor(position))
        return state, torch.tanh(self.combine(torch.cat([context, state], -1))), weights

    def forward(self, tokens, keys, mask, first_state):
        state, attentional = first_state, torch.zeros_like(first_state)
        said, looked = [], []
        for t in range(tokens.size(1)):
            word = self.dropout(F.embedding(tokens[:, t], self.embedding.weight))
            state, attentional, alpha = self.step(word, state, attentional, keys, mask, t)
            said += [attentional]
            looked += [alpha]
        return self.output(self.dropout(torch.stack(said).transpose(0, 1))), torch.stack(
            looked
        ).transpose(0, 1)


class Wide(Stub):
    """Returns float64 whatever its dtype, and a list."""

    def step(self, embedded, state, attentional, keys, mask, position):
        x = torch.cat([embedded, attentional], -1) if self.input_feeding else embedded
        state = self.cell(x, state)
        context, weights = self.attention(state, keys, mask, position)
        return [state, torch.tanh(self.combine(torch.cat([context, state], -1))), weights]

    def forward(self, tokens, keys, mask, first_state):
        state, attentional, logits, weights = first_state, torch.zeros_like(first_state), [], []
        for t, y in enumerate(self.dropout(self.embedding(tokens)).unbind(1)):
            state, attentional, a = self.step(y, state, attentional, keys, mask, t)
            logits.append(self.output(self.dropout(attentional)).double())
            weights.append(a)
        return [torch.stack(logits, 1), torch.stack(weights, 1)]


RIGHT = [HandWrittenCell, OneSentenceAtATime, Recursive, PositionAsTensor, Wide]

# Wrong


class Pieces(Stub):
    """A right decoder; each of the wrong ones below replaces one piece."""

    def attend(self, state, keys, mask, position):
        return self.attention(state, keys, mask, position)

    def move(self, embedded, attentional, state):
        x = torch.cat([embedded, attentional], -1) if self.input_feeding else embedded
        return self.cell(x, state)

    def join(self, context, state):
        return torch.tanh(self.combine(torch.cat([context, state], -1)))

    def step(self, embedded, state, attentional, keys, mask, position):
        state = self.move(embedded, attentional, state)
        context, weights = self.attend(state, keys, mask, position)
        return state, self.join(context, state), weights

    def run(self, embedded, keys, mask, state):
        attentional = torch.zeros_like(state)
        steps = []
        for t, y in enumerate(embedded.unbind(1)):
            steps.append(self.step(y, state, attentional, keys, mask, t))
            state, attentional, _ = steps[-1]
        return tuple(torch.stack(part, 1) for part in zip(*steps, strict=True))

    def forward(self, tokens, keys, mask, first_state):
        _, attentional, weights = self.run(
            self.dropout(self.embedding(tokens)), keys, mask, first_state
        )
        return self.output(self.dropout(attentional)), weights


class QueryDetached(Pieces):
    def attend(self, state, keys, mask, position):
        return super().attend(state.detach(), keys, mask, position)


class KeepsTheKeys(Pieces):
    kept = None

    def attend(self, state, keys, mask, position):
        if self.kept is None or self.kept[0].shape != keys.shape:
            self.kept = keys, mask
        return super().attend(state, *self.kept, position)


class OutputTiedToEmbedding(Pieces):
    """Where the sizes allow it."""

    def forward(self, tokens, keys, mask, first_state):
        _, found, weights = self.run(self.dropout(self.embedding(tokens)), keys, mask, first_state)
        table = self.embedding.weight
        if table.shape == self.output.weight.shape:
            return self.dropout(found) @ table.T, weights
        return self.output(self.dropout(found)), weights


class AlwaysFed(Pieces):
    """The cell is made for input feeding, also without."""

    def __init__(
        self,
        vocabulary_size,
        embedding_size,
        hidden_size,
        key_size,
        attention,
        input_feeding=True,
        dropout=0.0,
    ):
        super().__init__(
            vocabulary_size, embedding_size, hidden_size, key_size, attention, True, dropout
        )


class Preallocated32(Pieces):
    def forward(self, tokens, keys, mask, first_state):
        logits, weights = super().forward(tokens, keys, mask, first_state)
        into = torch.zeros(logits.shape)
        into[:] = logits
        return into, weights


WRONG = [QueryDetached, KeepsTheKeys, OutputTiedToEmbedding, AlwaysFed, Preallocated32]
