"""Answers to `SpanPredictor`."""

import torch
import torch.nn.functional as F

from tests.answers.stubs import stub

Stub = stub("SpanPredictor")

# Right


class WithLoops(Stub):
    def forward(self, tokens, segments=None):
        h = self.encoder(tokens, segments)
        return torch.stack([h.matmul(self.start), h.matmul(self.end)]).unbind(0)

    def best(self, start_scores, end_scores, passage, longest=30):
        found = []
        for start, end, inside in zip(start_scores, end_scores, passage, strict=True):
            best, pair = -float("inf"), None
            for i in range(len(start)):
                for j in range(i, min(i + longest, len(start))):
                    if inside[i] and inside[j] and start[i] + end[j] > best:
                        best, pair = start[i] + end[j], (i, j)
            found.append(pair)
        return tuple(torch.tensor(side) for side in zip(*found, strict=True))


class WithTriangles(Stub):
    def forward(self, tokens, segments=None):
        both = torch.stack([self.start, self.end], dim=1)  # (d, 2)
        start, end = (self.encoder(tokens=tokens, segments=segments) @ both).unbind(-1)
        return start, end

    def best(self, start_scores, end_scores, passage, longest=30):
        N = passage.shape[1]
        allowed = torch.ones(N, N, dtype=torch.bool).triu().tril(longest - 1)
        allowed = allowed & passage.unsqueeze(1) & passage.unsqueeze(2)
        total = start_scores.unsqueeze(2) + end_scores.unsqueeze(1)
        total = torch.where(allowed, total, torch.finfo(total.dtype).min)
        return torch.unravel_index(total.flatten(1).argmax(1), (N, N))


class ForwardByEinsum(Stub):
    """The best end for each beginning, then the best beginning."""

    def forward(self, tokens, segments=None):
        h = self.encoder(tokens, segments)
        return torch.einsum("bnd,d->bn", h, self.start), torch.einsum("bnd,d->bn", h, self.end)

    def best(self, start_scores, end_scores, passage, longest=30):
        N = passage.shape[1]
        ends = end_scores.masked_fill(~passage, -1e9)
        values, places = [], []
        for i in range(N):
            value, place = ends[:, i : i + longest].max(1)
            values.append(value + start_scores[:, i].masked_fill(~passage[:, i], -1e9))
            places.append(place + i)
        first = torch.stack(values, 1).argmax(1)
        return first, torch.stack(places, 1).gather(1, first[:, None])[:, 0]


class ByLength(Stub):
    """All answers of one token, then of two, and so on."""

    def forward(self, tokens, segments=None):
        h = self.encoder(tokens, segments)
        return (h * self.start).sum(-1), F.linear(h, self.end.unsqueeze(0)).squeeze(-1)

    def best(self, start_scores, end_scores, passage, longest=30):
        N = passage.shape[1]
        best = torch.full((len(passage),), -torch.inf, dtype=start_scores.dtype)
        first = last = torch.zeros(len(passage), dtype=torch.long)
        for more in range(min(longest, N)):
            sums = start_scores[:, : N - more] + end_scores[:, more:]
            sums = sums.masked_fill(~(passage[:, : N - more] & passage[:, more:]), -torch.inf)
            top, where = sums.max(1)
            better = top > best
            best = torch.where(better, top, best)
            first = torch.where(better, where, first)
            last = torch.where(better, where + more, last)
        return first, last


class SortsAll(Stub):
    def forward(self, tokens, segments=None):
        states = self.encoder(tokens, segments)
        return torch.inner(states, self.start), torch.inner(states, self.end)

    def best(self, start_scores, end_scores, passage, longest=30):
        firsts, lasts = [], []
        for b, inside in enumerate(passage.tolist()):
            pairs = [
                (start_scores[b, i].item() + end_scores[b, j].item(), i, j)
                for i, one in enumerate(inside)
                for j, two in enumerate(inside)
                if one and two and i <= j <= i + longest - 1
            ]
            _, first, last = max(pairs)
            firsts.append(first)
            lasts.append(last)
        return torch.tensor(firsts), torch.tensor(lasts)


class Wide(Stub):
    """Returns float64 whatever its dtype."""

    def forward(self, tokens, segments=None):
        states = self.encoder(tokens, segments).double()
        return states @ self.start.double(), states @ self.end.double()

    def best(self, start_scores, end_scores, passage, longest=30):
        return WithTriangles.best(
            self, start_scores.double(), end_scores.double(), passage, longest
        )


RIGHT = [WithLoops, ForwardByEinsum, ByLength, SortsAll, Wide]

# Wrong


class Pieces(Stub):
    """The right predictor in pieces."""

    def read(self, tokens, segments):
        return self.encoder(tokens, segments)

    def score(self, states):
        return states @ self.start, states @ self.end

    def forward(self, tokens, segments=None):
        return self.score(self.read(tokens, segments))

    def order(self, i, j, longest):
        return (i <= j) & (j < i + longest)

    def add(self, start, end):
        return start.unsqueeze(2) + end.unsqueeze(1)

    def hide(self, total, allowed):
        return total.masked_fill(~allowed, -torch.inf)

    def pick(self, best, N):
        return best // N, best % N

    def best(self, start_scores, end_scores, passage, longest=30):
        N = passage.shape[1]
        places = torch.arange(N)
        allowed = self.order(places.unsqueeze(1), places, longest)
        allowed = allowed & passage.unsqueeze(1) & passage.unsqueeze(2)
        total = self.hide(self.add(start_scores, end_scores), allowed)
        return self.pick(total.flatten(1).argmax(1), N)


class SegmentsRequired(Pieces):
    def forward(self, tokens, segments):
        return super().forward(tokens, segments)


class In32(Pieces):
    def score(self, states):
        start, end = super().score(states)
        return start.float(), end.float()


class DefaultOfTen(Pieces):
    def best(self, start_scores, end_scores, passage, longest=10):
        return super().best(start_scores, end_scores, passage, longest)


class HiddenByHundred(Pieces):
    """Minus 100 is not small enough."""

    def hide(self, total, allowed):
        return total.masked_fill(~allowed, -100.0)


class PassageWithoutHoles(Pieces):
    """From the first to the last token of the passage."""

    def best(self, start_scores, end_scores, passage, longest=30):
        behind = passage.flip(1).cumsum(1).flip(1) > 0
        passage = (passage.cumsum(1) > 0) & behind
        return super().best(start_scores, end_scores, passage, longest)


class ScoresOverwritten(Pieces):
    def best(self, start_scores, end_scores, passage, longest=30):
        start_scores[~passage] = -torch.inf
        return super().best(start_scores, end_scores, passage, longest)


WRONG = [
    SegmentsRequired,
    In32,
    DefaultOfTen,
    HiddenByHundred,
    PassageWithoutHoles,
    ScoresOverwritten,
]
