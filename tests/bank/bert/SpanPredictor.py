"""Answers to `SpanPredictor`."""

import sys
import warnings

import torch
import torch.nn.functional as F
from torch import nn
from tqdm.auto import tqdm


class Stub(nn.Module):
    """What the stub gives: the two vectors."""

    def __init__(self, encoder, hidden_size):
        super().__init__()
        self.encoder = encoder
        self.start = nn.Parameter(torch.randn(hidden_size) * 0.02)
        self.end = nn.Parameter(torch.randn(hidden_size) * 0.02)


# Right


class Plain(Stub):
    def forward(self, tokens, segments=None):
        states = self.encoder(tokens, segments)
        return states @ self.start, states @ self.end

    def best(self, start_scores, end_scores, passage, longest=30):
        N = start_scores.shape[1]
        start = start_scores.masked_fill(~passage, float("-inf"))
        end = end_scores.masked_fill(~passage, float("-inf"))
        total = start[:, :, None] + end[:, None, :]
        i, j = torch.arange(N)[:, None], torch.arange(N)[None]
        total = total.masked_fill((j < i) | (j >= i + longest), float("-inf"))
        best = total.reshape(len(total), -1).argmax(-1)
        return torch.div(best, N, rounding_mode="floor"), best.remainder(N)


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


class Talkative(Stub):
    def forward(self, tokens, segments=None):
        warnings.warn("reading", stacklevel=1)
        print(tokens.shape)
        states = self.encoder(tokens, segments)
        return tuple(states @ vector for vector in tqdm([self.start, self.end], file=sys.stderr))

    def best(self, start_scores, end_scores, passage, longest=30):
        print("at most", longest)
        return WithTriangles.best(self, start_scores, end_scores, passage, longest)


class Wide(Stub):
    """Returns float64 whatever its dtype."""

    def forward(self, tokens, segments=None):
        states = self.encoder(tokens, segments).double()
        return states @ self.start.double(), states @ self.end.double()

    def best(self, start_scores, end_scores, passage, longest=30):
        return WithTriangles.best(
            self, start_scores.double(), end_scores.double(), passage, longest
        )


RIGHT = [
    Plain,
    WithLoops,
    WithTriangles,
    ForwardByEinsum,
    ByLength,
    SortsAll,
    Talkative,
    Wide,
]

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


class EncoderDetached(Pieces):
    def read(self, tokens, segments):
        return super().read(tokens, segments).detach()


class SegmentsInverted(Pieces):
    def read(self, tokens, segments):
        return super().read(tokens, None if segments is None else 1 - segments)


class SegmentsRequired(Pieces):
    def forward(self, tokens, segments):
        return super().forward(tokens, segments)


class AskedForAMask(Pieces):
    def read(self, tokens, segments):
        return self.encoder(tokens, segments, tokens != 0)


class StartTwice(Pieces):
    def score(self, states):
        return states @ self.start, states @ self.start


class Scaled(Pieces):
    def score(self, states):
        root = states.shape[-1] ** 0.5
        return states @ self.start / root, states @ self.end / root


class Cosines(Pieces):
    def score(self, states):
        h = F.normalize(states, dim=-1)
        return h @ self.start, h @ self.end


class WithTanh(Pieces):
    def score(self, states):
        return torch.tanh(states) @ self.start, torch.tanh(states) @ self.end


class AxisKept(Pieces):
    def score(self, states):
        return states @ self.start[:, None], states @ self.end[:, None]


class OneTensor(Pieces):
    def score(self, states):
        return torch.stack([states @ self.start, states @ self.end])


class PlacesInFront(Pieces):
    """(N, B)."""

    def score(self, states):
        return (states @ self.start).T, (states @ self.end).T


class FirstHidden(Pieces):
    """[CLS] is taken out of the scores."""

    def score(self, states):
        start, end = super().score(states)
        start, end = start.clone(), end.clone()
        start[:, 0] = end[:, 0] = -1e4
        return start, end


class StartDetached(Pieces):
    def score(self, states):
        return states @ self.start.detach(), states @ self.end


class WordsLeftOut(Pieces):
    def score(self, states):
        start, end = super().score(states)
        return start[:, 1:], end[:, 1:]


class ReturnsSums(Pieces):
    def score(self, states):
        return self.add(*super().score(states))


class ForwardReturnsNothing(Pieces):
    def forward(self, tokens, segments=None):
        super().forward(tokens, segments)


class In32(Pieces):
    def score(self, states):
        start, end = super().score(states)
        return start.float(), end.float()


class InOrderOnly(Pieces):
    """At most 30, whatever longest says."""

    def order(self, i, j, longest):
        return super().order(i, j, 30)


class DefaultOfTen(Pieces):
    def best(self, start_scores, end_scores, passage, longest=10):
        return super().best(start_scores, end_scores, passage, longest)


class WrongOrder(Pieces):
    """The end comes first."""

    def order(self, i, j, longest):
        return (j <= i) & (i < j + longest)


class Near(Pieces):
    """In either order."""

    def order(self, i, j, longest):
        return (j - i).abs() < longest


class SumsTransposed(Pieces):
    def add(self, start, end):
        return start.unsqueeze(1) + end.unsqueeze(2)


class SumOfProbabilities(Pieces):
    """Their product would be right, their sum is another thing."""

    def add(self, start, end):
        return super().add(start.softmax(1), end.softmax(1))


class StartsCountTwice(Pieces):
    def add(self, start, end):
        return super().add(2 * start, end)


class LengthRewarded(Pieces):
    def add(self, start, end):
        N = start.shape[1]
        return super().add(start, end) + 0.5 * torch.arange(N)


class HiddenByHundred(Pieces):
    """Minus 100 is not small enough."""

    def hide(self, total, allowed):
        return total.masked_fill(~allowed, -100.0)


class HiddenBySubtraction(Pieces):
    def hide(self, total, allowed):
        return total - 10.0 * ~allowed


class RowsAndColumnsSwapped(Pieces):
    def pick(self, best, N):
        return best % N, best // N


class RoundedDivision(Pieces):
    def pick(self, best, N):
        return (best / N).round().long(), best % N


class AsFloats(Pieces):
    def pick(self, best, N):
        return best / N // 1, best % N


class LengthInsteadOfEnd(Pieces):
    def pick(self, best, N):
        return best // N, best % N - best // N + 1


class CountedInThePassage(Pieces):
    """From the passage's own beginning."""

    def best(self, start_scores, end_scores, passage, longest=30):
        first, last = super().best(start_scores, end_scores, passage, longest)
        begin = passage.long().argmax(1)
        return first - begin, last - begin


class BestOfTheBatch(Pieces):
    """One answer for all."""

    def best(self, start_scores, end_scores, passage, longest=30):
        first, last = super().best(start_scores, end_scores, passage, longest)
        return first[:1].expand(len(passage)), last[:1].expand(len(passage))


class EndsRepaired(Pieces):
    """Both by themselves, and swapped where they are in the wrong order."""

    def best(self, start_scores, end_scores, passage, longest=30):
        first = start_scores.masked_fill(~passage, -torch.inf).argmax(1)
        last = end_scores.masked_fill(~passage, -torch.inf).argmax(1)
        return torch.minimum(first, last), torch.maximum(first, last)


class EndFirst(Pieces):
    """The best end, then the best beginning before it."""

    def best(self, start_scores, end_scores, passage, longest=30):
        last = end_scores.masked_fill(~passage, -torch.inf).argmax(1)
        places = torch.arange(passage.shape[1])
        before = (places <= last[:, None]) & (places > last[:, None] - longest) & passage
        return start_scores.masked_fill(~before, -torch.inf).argmax(1), last


class ScoresOverwritten(Pieces):
    def best(self, start_scores, end_scores, passage, longest=30):
        start_scores[~passage] = -torch.inf
        return super().best(start_scores, end_scores, passage, longest)


class PlainPair(Pieces):
    """Lists of numbers, not tensors."""

    def best(self, start_scores, end_scores, passage, longest=30):
        first, last = super().best(start_scores, end_scores, passage, longest)
        return first.tolist(), last.tolist()


class WithoutLongest(Pieces):
    def best(self, start_scores, end_scores, passage):
        return super().best(start_scores, end_scores, passage)


class BestReturnsNothing(Pieces):
    def best(self, start_scores, end_scores, passage, longest=30):
        super().best(start_scores, end_scores, passage, longest)


WRONG = [
    EncoderDetached,
    SegmentsInverted,
    SegmentsRequired,
    AskedForAMask,
    StartTwice,
    Scaled,
    Cosines,
    WithTanh,
    AxisKept,
    OneTensor,
    PlacesInFront,
    FirstHidden,
    StartDetached,
    WordsLeftOut,
    ReturnsSums,
    ForwardReturnsNothing,
    In32,
    InOrderOnly,
    DefaultOfTen,
    WrongOrder,
    Near,
    SumsTransposed,
    SumOfProbabilities,
    StartsCountTwice,
    LengthRewarded,
    HiddenByHundred,
    HiddenBySubtraction,
    RowsAndColumnsSwapped,
    RoundedDivision,
    AsFloats,
    LengthInsteadOfEnd,
    CountedInThePassage,
    BestOfTheBatch,
    EndsRepaired,
    EndFirst,
    ScoresOverwritten,
    PlainPair,
    WithoutLongest,
    BestReturnsNothing,
]
