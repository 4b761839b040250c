"""Answers to `AttentionClassifier`."""

import sys
import warnings

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from tqdm.auto import tqdm

from tests.answers.stubs import stub

Stub = stub("AttentionClassifier")

# Right


class Packed(Stub):
    def forward(self, tokens: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        N = tokens.shape[1]
        mask = torch.arange(N)[None] < lengths[:, None]
        x = self.dropout(self.embedding(tokens))
        p = pack_padded_sequence(x, lengths.clamp(1), batch_first=True, enforce_sorted=False)
        out, (h_n, _) = self.rnn(p)
        H = pad_packed_sequence(out, batch_first=True, total_length=N)[0]
        q = torch.cat((h_n[-2], h_n[-1]), -1)
        e = F.linear(torch.tanh(F.linear(q, self.W)[:, None] + F.linear(H, self.U)), self.v[None])
        a = e.squeeze(-1).masked_fill(~mask, -1e9).softmax(-1) * mask
        return self.output(self.dropout(torch.bmm(a[:, None], H).squeeze(1))), a


class FullSentencesOnly(Stub):
    """Sentences with words are picked out, read, and put back among the others."""

    def forward(self, tokens, lengths):
        B, N = tokens.shape
        some = lengths > 0
        logits = self.output.bias.expand(B, -1).clone()
        weights = self.v.new_zeros(B, N)
        if some.any():
            x, n = self.dropout(self.embedding(tokens[some])), lengths[some]
            out, (h, _) = self.rnn(pack_padded_sequence(x, n, True, enforce_sorted=False))
            out, _ = pad_packed_sequence(out, True, total_length=N)
            q = torch.cat([h[0], h[1]], 1)
            e = (torch.tanh((q @ self.W.T).unsqueeze(1) + out @ self.U.T) * self.v).sum(-1)
            e = e.masked_fill(torch.arange(N) >= n[:, None], -torch.inf)
            a = e.softmax(1)
            weights[some] = a
            logits[some] = self.output(self.dropout((a.unsqueeze(-1) * out).sum(1)))
        return logits, weights


class StatesAtTheEnds(Stub):
    """Takes the final states from the states, by the lengths."""

    def forward(self, tokens, lengths):
        mask = torch.arange(tokens.shape[1]) < lengths[:, None]
        count = mask.sum(1)
        x = self.dropout(self.embedding(tokens))
        packed = pack_padded_sequence(x, count.clamp(min=1), True, enforce_sorted=False)
        H, _ = pad_packed_sequence(self.rnn(packed)[0], True, 5.0, total_length=tokens.shape[1])
        d = self.rnn.hidden_size
        last = H[torch.arange(len(H)), (count - 1).clamp(min=0), :d]
        q = torch.cat([last, H[:, 0, d:]], -1)
        both = torch.cat([q[:, None].expand_as(H), H], -1)  # Bahdanau's score as Luong's concat
        scores = torch.tanh(both @ torch.cat([self.W, self.U], 1).T) @ self.v
        powers = torch.exp(scores) * mask
        total = powers.sum(1, keepdim=True)
        alpha = powers / torch.where(total > 0, total, torch.ones_like(total))
        return self.output(self.dropout(torch.einsum("bn,bnd->bd", alpha, H))), alpha


class GatesByHand(Stub):
    """The LSTM's equations; padding is passed over by torch.where."""

    def _read(self, x, lengths, suffix, order):
        w = {k: getattr(self.rnn, f"{k}_l0{suffix}") for k in ("weight_ih", "weight_hh")}
        b = getattr(self.rnn, f"bias_ih_l0{suffix}") + getattr(self.rnn, f"bias_hh_l0{suffix}")
        h = c = x.new_zeros(len(x), self.rnn.hidden_size)
        states = [h] * x.shape[1]
        for t in order:
            i, f, g, o = (x[:, t] @ w["weight_ih"].T + h @ w["weight_hh"].T + b).chunk(4, 1)
            real = (t < lengths)[:, None]
            c_new = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h_new = o.sigmoid() * c_new.tanh()
            h, c = torch.where(real, h_new, h), torch.where(real, c_new, c)
            states[t] = h
        return torch.stack(states, 1), h

    def forward(self, tokens, lengths):
        x = self.dropout(self.embedding(tokens))
        N = tokens.shape[1]
        there, last = self._read(x, lengths, "", range(N))
        back, first = self._read(x, lengths, "_reverse", reversed(range(N)))
        H, q = torch.cat([there, back], -1), torch.cat([last, first], -1)
        e = torch.tanh((q @ self.W.t()).unsqueeze(1) + H @ self.U.t()) @ self.v
        mask = torch.arange(N) < lengths[:, None]
        lowest = torch.finfo(e.dtype).min
        alpha = torch.where(mask, e, torch.full_like(e, lowest)).softmax(1) * mask
        return self.output(self.dropout((alpha[..., None] * H).sum(1))), alpha


class Wide(Stub):
    """Returns float64 whatever its dtype, and a list."""

    def forward(self, tokens, lengths):
        warnings.warn("wide", stacklevel=1)
        print("tokens", tokens.shape)
        print("lengths", lengths, file=sys.stderr)
        rows = []
        for i in tqdm(range(len(tokens))):
            n = max(int(lengths[i]), 1)
            states, (h, _) = self.rnn(self.dropout(self.embedding(tokens[i : i + 1, :n])))
            e = torch.tanh(torch.cat([h[0], h[1]], 1) @ self.W.T + states[0] @ self.U.T) @ self.v
            alpha = e.double().softmax(0) * bool(lengths[i] > 0)
            s = alpha @ states[0].double()
            logits = self.dropout(s) @ self.output.weight.double().T + self.output.bias.double()
            rows.append((logits, F.pad(alpha, (0, tokens.shape[1] - n))))
        return [torch.stack(part) for part in zip(*rows, strict=True)]


RIGHT = [Packed, FullSentencesOnly, StatesAtTheEnds, GatesByHand, Wide]

# Wrong


class Pieces(Stub):
    """A right classifier; each of the wrong ones below replaces one piece."""

    def embed(self, tokens):
        return self.dropout(self.embedding(tokens))

    def read(self, x, lengths):
        packed = pack_padded_sequence(x, lengths.clamp(min=1), True, enforce_sorted=False)
        out, (h, c) = self.rnn(packed)
        return pad_packed_sequence(out, True, total_length=x.shape[1])[0], h, c

    def query(self, H, h, lengths):
        return torch.cat([h[0], h[1]], 1)

    def mask(self, tokens, lengths):
        return torch.arange(tokens.shape[1]) < lengths[:, None]

    def score(self, q, H):
        return torch.tanh((q @ self.W.T)[:, None] + H @ self.U.T) @ self.v

    def weigh(self, e, mask):
        return e.masked_fill(~mask, -1e9).softmax(1) * mask

    def average(self, alpha, H):
        return torch.einsum("bn,bnd->bd", alpha, H)

    def forward(self, tokens, lengths):
        H, h, _ = self.read(self.embed(tokens), lengths)
        alpha = self.weigh(self.score(self.query(H, h, lengths), H), self.mask(tokens, lengths))
        return self.output(self.dropout(self.average(alpha, H))), alpha


class CutsTheWidth(Pieces):
    """Without total_length the states end at the longest sentence."""

    def read(self, x, lengths):
        packed = pack_padded_sequence(x, lengths.clamp(min=1), True, enforce_sorted=False)
        out, (h, c) = self.rnn(packed)
        return pad_packed_sequence(out, True)[0], h, c

    def mask(self, tokens, lengths):
        return torch.arange(max(1, int(lengths.max()))) < lengths[:, None]


class QueryDetached(Pieces):
    def query(self, H, h, lengths):
        return super().query(H, h, lengths).detach()


class NanForEmpty(Pieces):
    def weigh(self, e, mask):
        return e.masked_fill(~mask, -torch.inf).softmax(1)


class KeepsTheMask(Pieces):
    kept = None

    def mask(self, tokens, lengths):
        if self.kept is None:
            self.kept = super().mask(tokens, lengths)
        return self.kept


class TokensOverwritten(Pieces):
    def forward(self, tokens, lengths):
        found = super().forward(tokens.clone(), lengths)
        tokens[tokens == 1] = 0
        return found


class MaskFromTokens(StatesAtTheEnds):
    """Counts the words itself, but what stands on padding is arbitrary."""

    def forward(self, tokens, lengths):
        return super().forward(tokens, tokens.ne(0).sum(1))


WRONG = [MaskFromTokens, CutsTheWidth, QueryDetached, NanForEmpty, KeepsTheMask, TokensOverwritten]
