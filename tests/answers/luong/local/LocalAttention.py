"""Answers to `LocalAttention`."""

import torch
import torch.nn.functional as F

from tests.answers.stubs import stub

Stub = stub("LocalAttention")

# Right


class AllInOne(Stub):
    def forward(self, query, keys, mask, position):
        B, N, _ = keys.shape
        s, S = torch.arange(N), mask.sum(-1)
        if self.kind == "predictive":
            p = S * torch.sigmoid(torch.tanh(query @ self.W.T) @ self.v)
        else:
            p = torch.full((B,), float(position), dtype=query.dtype)
        gap = s - p[:, None]
        window = (gap.abs() <= self.D) & mask
        lowest = torch.finfo(query.dtype).min
        alpha = self.score(query, keys).masked_fill(~window, lowest).softmax(-1) * window
        if self.kind == "predictive":
            alpha = alpha * torch.exp(-2 * (gap / self.D) ** 2)
        return torch.bmm(alpha.unsqueeze(1), keys).squeeze(1), alpha


class OneSentenceAtATime(Stub):
    """Cuts the window out and puts its weights back."""

    def forward(self, query, keys, mask, position):
        scores = self.score(query, keys)
        contexts, weights = [], []
        for b in range(len(query)):
            S = int(mask[b].sum())
            if self.kind == "monotonic":
                p = torch.tensor(float(position))
            else:
                p = S * torch.sigmoid(self.v @ torch.tanh(self.W @ query[b]))
            inside = [s for s in range(S) if abs(s - float(p)) <= self.D]
            row = torch.zeros_like(keys[b, :, 0])
            if inside:
                alpha = torch.softmax(scores[b, inside], 0)
                if self.kind == "predictive":
                    where = torch.tensor(inside)
                    alpha = alpha * torch.exp(-((where - p) ** 2) / (2 * (self.D / 2) ** 2))
                row[inside] = alpha
            weights.append(row)
            contexts.append(row @ keys[b])
        return torch.stack(contexts), torch.stack(weights)


class ByExponentials(Stub):
    """exp, sum, divide; a sum of 0 is replaced."""

    def forward(self, query, keys, mask, position):
        s = torch.arange(keys.shape[1], dtype=query.dtype)
        lengths = mask.sum(1, keepdim=True)
        p = query.new_full((len(query), 1), position)
        if self.kind == "predictive":
            p = lengths * torch.sigmoid(F.linear(F.linear(query, self.W).tanh(), self.v[None]))
        window = (s >= p - self.D) & (s <= p + self.D) & (s < lengths)
        e = self.score(query, keys)
        e = torch.exp(e - e.amax(1, keepdim=True).detach()) * window
        total = e.sum(1, keepdim=True)
        a = e / torch.where(total > 0, total, torch.ones_like(total))
        if self.kind == "predictive":
            a = a * torch.exp(-((s - p) ** 2) / (2 * (self.D / 2) ** 2))
        return (a.unsqueeze(-1) * keys).sum(1), a


class WithHelpers(Stub):
    """A method for each piece; zeros written where nothing is in the window."""

    def centre(self, query, mask, position):
        if self.kind == "monotonic":
            return torch.ones_like(query[:, 0]) * position
        hidden = torch.einsum("bd,nd->bn", query, self.W).tanh()
        return mask.sum(1) * torch.einsum("bn,n->b", hidden, self.v).sigmoid()

    def forward(self, query, keys, mask, position):
        p = self.centre(query, mask, position).unsqueeze(-1)
        gap = torch.arange(keys.size(1)).sub(p)
        window = gap.abs().le(self.D).logical_and(mask)
        e = self.score(query, keys)
        e = torch.where(window, e, torch.full_like(e, -1e30))
        a = torch.where(window, F.softmax(e, dim=-1), torch.zeros_like(e))
        if self.kind == "predictive":
            sigma = self.D / 2
            a = a * torch.exp(-gap.square() / (2 * sigma * sigma))
        return torch.einsum("bn,bnd->bd", a, keys), a


class Wide(Stub):
    """Returns float64 whatever it is given."""

    def forward(self, query, keys, mask, position):
        s = torch.arange(keys.shape[1])
        p = query.new_full((len(query),), position)
        if self.kind == "predictive":
            p = mask.sum(1) * torch.sigmoid(torch.tanh(query @ self.W.T) @ self.v)
        gap = s - p[:, None]
        window = (gap.abs() <= self.D) & mask
        e = self.score(query, keys).double().masked_fill(~window, -1e200)
        a = torch.softmax(e, 1) * window
        if self.kind == "predictive":
            a = a * torch.exp(-2 * (gap / self.D) ** 2)
        return [(a[:, None] @ keys.double())[:, 0], a]


RIGHT = [AllInOne, OneSentenceAtATime, ByExponentials, WithHelpers, Wide]

# Wrong


class Pieces(Stub):
    """A right answer; each of the wrong ones below replaces one piece."""

    def centre(self, query, mask, position):
        if self.kind == "monotonic":
            return query.new_full((len(query),), position)
        return mask.sum(1) * torch.sigmoid(torch.tanh(query @ self.W.T) @ self.v)

    def window(self, gap, mask):
        return (gap.abs() <= self.D) & mask

    def scores(self, query, keys):
        return self.score(query, keys)

    def softmax(self, e, window):
        return e.masked_fill(~window, torch.finfo(e.dtype).min).softmax(-1) * window

    def shape(self, a, gap):
        return a * torch.exp(-2 * (gap / self.D) ** 2) if self.kind == "predictive" else a

    def average(self, a, keys):
        return torch.einsum("bn,bnk->bk", a, keys)

    def forward(self, query, keys, mask, position):
        gap = torch.arange(keys.shape[1]) - self.centre(query, mask, position)[:, None]
        a = self.softmax(self.scores(query, keys), self.window(gap, mask))
        a = self.shape(a, gap)
        return self.average(a, keys), a


class OwnScores(Pieces):
    """Dot products, where the sizes allow it."""

    def scores(self, query, keys):
        if query.shape[-1] == keys.shape[-1]:
            return torch.einsum("bd,bnd->bn", query, keys)
        return self.score(query, keys)


class ScoresDetached(Pieces):
    def scores(self, query, keys):
        return self.score(query, keys).detach()


class LengthsKept(Pieces):
    kept = None

    def centre(self, query, mask, position):
        if self.kind == "monotonic":
            return super().centre(query, mask, position)
        if self.kept is None:
            self.kept = mask
        return super().centre(query, self.kept, position)


class MaskInPlace(Pieces):
    def window(self, gap, mask):
        mask &= gap.abs() <= self.D
        return mask


class MonotonicHasParametersToo(Pieces):
    def __init__(self, kind, score, query_size, hidden_size, D):
        super().__init__("predictive", score, query_size, hidden_size, D)
        self.kind = kind


WRONG = [OwnScores, ScoresDetached, LengthsKept, MaskInPlace, MonotonicHasParametersToo]
