"""Answers to `LocalAttention`."""

import sys
import warnings

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from tqdm.auto import tqdm


class Stub(nn.Module):
    """What the stub gives: the parameters."""

    def __init__(self, kind: str, score: nn.Module, query_size: int, hidden_size: int, D: float):
        super().__init__()
        if kind not in ("monotonic", "predictive"):
            raise ValueError(f"kind is {kind!r}; it must be monotonic or predictive.")
        self.kind = kind
        self.score = score
        self.D = D
        if kind == "predictive":
            self.W = nn.Parameter(torch.empty(hidden_size, query_size))
            self.v = nn.Parameter(torch.empty(hidden_size))
            nn.init.xavier_uniform_(self.W)
            nn.init.uniform_(self.v, -(hidden_size**-0.5), hidden_size**-0.5)


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


class InLogarithms(Stub):
    """log_softmax, minus the Gaussian's exponent, then exp: not renormalised."""

    def forward(self, query, keys, mask, position):
        s = torch.arange(keys.shape[1])
        if self.kind == "predictive":
            p = mask.sum(1) * (1 / (1 + torch.exp(-torch.tanh(query @ self.W.T) @ self.v)))
        else:
            p = torch.tensor([position] * len(query)).to(query)
        gap = s - p[:, None]
        window = (gap.abs() <= self.D) & mask
        scores = self.score(query, keys)
        scores = scores.masked_fill(~window, torch.finfo(scores.dtype).min / 4)
        logs = torch.log_softmax(scores, -1)
        if self.kind == "predictive":
            logs = logs - 2 * (gap / self.D).square()
        alpha = logs.exp().masked_fill(~window, 0)
        return torch.matmul(alpha[:, None, :], keys)[:, 0], alpha


class SelectedRows(Stub):
    """Only rows with something in the window are computed."""

    def forward(self, query, keys, mask, position):
        s, S = torch.arange(keys.shape[1]), mask.sum(1)
        p = query.new_full((len(query),), position)
        if self.kind == "predictive":
            p = S * torch.sigmoid(torch.tanh(query @ self.W.T) @ self.v)
        window = ((s - p[:, None]).abs() <= self.D) & (s < S[:, None])
        some = window.any(1)
        weights = torch.zeros_like(keys[:, :, 0])
        if some.any():
            e = self.score(query, keys)[some].masked_fill(~window[some], float("-inf"))
            a = e.softmax(-1)
            if self.kind == "predictive":
                a = a * torch.exp(-2 * ((s - p[some][:, None]) / self.D) ** 2)
            weights = weights.index_put((some.nonzero()[:, 0],), a)
        return (weights.unsqueeze(1) @ keys).squeeze(1), weights


class WideAndTalkative(Stub):
    def forward(self, query, keys, mask, position):
        warnings.warn("local", stacklevel=1)
        print("position", position)
        s = torch.arange(keys.shape[1])
        p = torch.full((len(query),), float(position), dtype=torch.float64)
        if self.kind == "predictive":
            hidden = torch.tanh(query.double() @ self.W.double().T)
            p = mask.sum(1) * torch.sigmoid(hidden @ self.v.double())
        gap = s - p[:, None]
        window = (gap.abs() <= self.D) & mask
        e = self.score(query, keys).double().masked_fill(~window, -1e200)
        a = torch.softmax(e, 1) * window
        if self.kind == "predictive":
            a = a * torch.exp(-2 * (gap / self.D) ** 2)
        context = 0
        for j in tqdm(range(keys.shape[1]), file=sys.stderr):
            context = context + a[:, j : j + 1] * keys[:, j]
        return context.to(keys.dtype), a.to(keys.dtype)


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


class NanReplaced(Stub):
    """NaN of an empty window becomes 0; its gradient ends at masked_fill."""

    def forward(self, query, keys, mask, position):
        s = torch.arange(keys.shape[1])
        p = query.new_full((len(query),), position)
        if self.kind == "predictive":
            p = mask.sum(1) * torch.sigmoid(torch.tanh(query @ self.W.T) @ self.v)
        gap = s - p[:, None]
        e = self.score(query, keys).masked_fill((gap.abs() > self.D) | ~mask, -torch.inf)
        a = torch.nan_to_num(torch.softmax(e, -1))
        if self.kind == "predictive":
            a = a * torch.exp(-2 * (gap / self.D) ** 2)
        return torch.einsum("bn,bnd->bd", a, keys), a


RIGHT = [
    AllInOne,
    NanReplaced,
    OneSentenceAtATime,
    ByExponentials,
    WithHelpers,
    InLogarithms,
    SelectedRows,
    WideAndTalkative,
    Wide,
]

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


class PositionPlusOne(Pieces):
    def centre(self, query, mask, position):
        return super().centre(query, mask, position + 1)


class PositionMinusOne(Pieces):
    def centre(self, query, mask, position):
        return super().centre(query, mask, max(position - 1, 0))


class MonotonicInProportion(Pieces):
    """t as a share of the batch's width."""

    def centre(self, query, mask, position):
        p = super().centre(query, mask, position)
        return p * mask.sum(1) / mask.shape[1] if self.kind == "monotonic" else p


class MonotonicStaysInSentence(Pieces):
    """Behind the sentence's end the last word is looked at."""

    def centre(self, query, mask, position):
        p = super().centre(query, mask, position)
        return torch.minimum(p, (mask.sum(1) - 1).to(p.dtype))


class PredictiveWithoutTanh(Pieces):
    def centre(self, query, mask, position):
        if self.kind == "monotonic":
            return super().centre(query, mask, position)
        return mask.sum(1) * torch.sigmoid(query @ self.W.T @ self.v)


class PredictiveWithoutSigmoid(Pieces):
    def centre(self, query, mask, position):
        if self.kind == "monotonic":
            return super().centre(query, mask, position)
        return mask.sum(1) * (torch.tanh(query @ self.W.T) @ self.v)


class PredictiveToLastWord(Pieces):
    def centre(self, query, mask, position):
        if self.kind == "monotonic":
            return super().centre(query, mask, position)
        last = (mask.sum(1) - 1).clamp(min=0)
        return last * torch.sigmoid(torch.tanh(query @ self.W.T) @ self.v)


class PredictiveAddsPosition(Pieces):
    """The prediction is taken for an offset."""

    def centre(self, query, mask, position):
        p = super().centre(query, mask, position)
        return p + position if self.kind == "predictive" else p


class LongestForAll(Pieces):
    def centre(self, query, mask, position):
        if self.kind == "monotonic":
            return super().centre(query, mask, position)
        return mask.sum(1).max() * torch.sigmoid(torch.tanh(query @ self.W.T) @ self.v)


class CentreFloored(Pieces):
    def centre(self, query, mask, position):
        return super().centre(query, mask, position).floor()


class WindowRoundedOnly(Pieces):
    """The window around the rounded position, the Gaussian around the real one."""

    def forward(self, query, keys, mask, position):
        s = torch.arange(keys.shape[1])
        p = self.centre(query, mask, position)
        window = self.window(s - p.round()[:, None], mask)
        a = self.shape(self.softmax(self.scores(query, keys), window), s - p[:, None])
        return self.average(a, keys), a


class WindowWithoutRightEnd(Pieces):
    def window(self, gap, mask):
        return (gap >= -self.D) & (gap < self.D) & mask


class WindowOneSided(Pieces):
    def window(self, gap, mask):
        return (gap.abs() <= self.D) & (gap <= 0) & mask


class WholeD(Pieces):
    def window(self, gap, mask):
        return (gap.abs() <= int(self.D)) & mask


class InvertedMask(Pieces):
    def window(self, gap, mask):
        return (gap.abs() <= self.D) & ~mask


class EverythingWhenEmpty(Pieces):
    """Falls back on the whole sentence."""

    def window(self, gap, mask):
        near = super().window(gap, mask)
        return torch.where(near.any(1, keepdim=True), near, mask)


class NearestWhenEmpty(Pieces):
    """Falls back on the nearest word."""

    def window(self, gap, mask):
        near = super().window(gap, mask)
        far = gap.abs().masked_fill(~mask, torch.inf)
        nearest = F.one_hot(far.argmin(1), gap.shape[1]).bool() & mask
        return torch.where(near.any(1, keepdim=True), near, nearest)


class SoftmaxOverBatch(Pieces):
    def softmax(self, e, window):
        return e.masked_fill(~window, torch.finfo(e.dtype).min).softmax(0) * window


class EpsilonInSum(Pieces):
    def softmax(self, e, window):
        e = e.exp() * window
        return e / (e.sum(1, keepdim=True) + 1e-3)


class SmallNumber(Pieces):
    """-10 is not minus infinity."""

    def softmax(self, e, window):
        return e.masked_fill(~window, -10.0).softmax(-1)


class ScaledScores(Pieces):
    def scores(self, query, keys):
        return self.score(query, keys) / keys.shape[-1] ** 0.5


class OwnScores(Pieces):
    """Dot products, where the sizes allow it."""

    def scores(self, query, keys):
        if query.shape[-1] == keys.shape[-1]:
            return torch.einsum("bd,bnd->bn", query, keys)
        return self.score(query, keys)


class ScoresDetached(Pieces):
    def scores(self, query, keys):
        return self.score(query, keys).detach()


class GaussianOfWholeD(Pieces):
    def shape(self, a, gap):
        if self.kind == "monotonic":
            return a
        sigma = torch.tensor(self.D // 2, dtype=a.dtype).clamp(min=0.5)
        return a * torch.exp(-(gap**2) / (2 * sigma**2))


class GaussianWithoutTwo(Pieces):
    def shape(self, a, gap):
        return a * torch.exp(-4 * (gap / self.D) ** 2) if self.kind == "predictive" else a


class GaussianWithoutSquare(Pieces):
    def shape(self, a, gap):
        return a * torch.exp(-(gap**2) / self.D) if self.kind == "predictive" else a


class GaussianTwice(Pieces):
    def shape(self, a, gap):
        return super().shape(super().shape(a, gap), gap)


class GaussianOnlyForMonotonic(Pieces):
    def shape(self, a, gap):
        return a * torch.exp(-2 * (gap / self.D) ** 2) if self.kind == "monotonic" else a


class GaussianAlone(Pieces):
    """The weights are the Gaussian, cut to the window."""

    def shape(self, a, gap):
        if self.kind == "monotonic":
            return a
        return torch.exp(-2 * (gap / self.D) ** 2) * (a != 0) + 0 * a


class WeightsDetached(Pieces):
    def shape(self, a, gap):
        return super().shape(a, gap).detach()


class KeysDetached(Pieces):
    def average(self, a, keys):
        return super().average(a, keys.detach())


class PlainMean(Pieces):
    def average(self, a, keys):
        return keys.mean(1) + 0 * a.sum()


class HardChoice(Pieces):
    def average(self, a, keys):
        return keys[torch.arange(len(keys)), a.argmax(1)] * (a.sum(1, keepdim=True) > 0)


class MeanForSum(Pieces):
    def average(self, a, keys):
        return (a.unsqueeze(-1) * keys).mean(1)


class WindowKept(Pieces):
    """The window of the first call is kept."""

    kept = None

    def window(self, gap, mask):
        if self.kept is None or self.kept.shape != mask.shape:
            self.kept = super().window(gap, mask)
        return self.kept


class LengthsKept(Pieces):
    kept = None

    def centre(self, query, mask, position):
        if self.kind == "monotonic":
            return super().centre(query, mask, position)
        if self.kept is None:
            self.kept = mask
        return super().centre(query, self.kept, position)


class CountsItsCalls(Pieces):
    """Ignores the position and counts for itself."""

    calls = -1

    def centre(self, query, mask, position):
        self.calls += 1
        return super().centre(query, mask, self.calls)


class KeysZeroedInPlace(Pieces):
    def scores(self, query, keys):
        if not torch.is_grad_enabled():
            keys.mul_(0.5)
        return self.score(query, keys)


class MaskInPlace(Pieces):
    def window(self, gap, mask):
        mask &= gap.abs() <= self.D
        return mask


class WeightsOnly(Pieces):
    def forward(self, query, keys, mask, position):
        return super().forward(query, keys, mask, position)[1]


class ContextWithAxis(Pieces):
    def forward(self, query, keys, mask, position):
        context, weights = super().forward(query, keys, mask, position)
        return context.unsqueeze(1), weights


class WindowAlone(Pieces):
    """The weights of the cut-out window."""

    def forward(self, query, keys, mask, position):
        context, weights = super().forward(query, keys, mask, position)
        return context, weights[:, : 2 * int(self.D) + 1]


class MonotonicHasParametersToo(Pieces):
    def __init__(self, kind, score, query_size, hidden_size, D):
        super().__init__("predictive", score, query_size, hidden_size, D)
        self.kind = kind


class LinearForW(Pieces):
    """Layers in place of the parameters."""

    def __init__(self, kind, score, query_size, hidden_size, D):
        super().__init__("monotonic", score, query_size, hidden_size, D)
        self.kind = kind
        if kind == "predictive":
            self.W = nn.Linear(query_size, hidden_size, bias=False)
            self.v = nn.Linear(hidden_size, 1, bias=False)


class NoPosition(Pieces):
    def forward(self, query, keys, mask):
        return super().forward(query, keys, mask, 0)


class Always32(Pieces):
    def average(self, a, keys):
        return super().average(a.float(), keys.float())


class ReturnsNothing(Pieces):
    def forward(self, query, keys, mask, position):
        super().forward(query, keys, mask, position)


class DropoutLeftOn(Pieces):
    def shape(self, a, gap):
        return F.dropout(super().shape(a, gap), 0.1)


class Nothing(Pieces):
    def forward(self, query: Tensor, keys: Tensor, mask: Tensor, position: int):
        return torch.zeros_like(keys[:, 0]), torch.zeros_like(keys[:, :, 0])


WRONG = [
    PositionPlusOne,
    PositionMinusOne,
    MonotonicInProportion,
    MonotonicStaysInSentence,
    PredictiveWithoutTanh,
    PredictiveWithoutSigmoid,
    PredictiveToLastWord,
    PredictiveAddsPosition,
    LongestForAll,
    CentreFloored,
    WindowRoundedOnly,
    WindowWithoutRightEnd,
    WindowOneSided,
    WholeD,
    InvertedMask,
    EverythingWhenEmpty,
    NearestWhenEmpty,
    SoftmaxOverBatch,
    EpsilonInSum,
    SmallNumber,
    ScaledScores,
    OwnScores,
    ScoresDetached,
    GaussianOfWholeD,
    GaussianWithoutTwo,
    GaussianWithoutSquare,
    GaussianTwice,
    GaussianOnlyForMonotonic,
    GaussianAlone,
    WeightsDetached,
    KeysDetached,
    PlainMean,
    HardChoice,
    MeanForSum,
    WindowKept,
    LengthsKept,
    CountsItsCalls,
    KeysZeroedInPlace,
    MaskInPlace,
    WeightsOnly,
    ContextWithAxis,
    WindowAlone,
    MonotonicHasParametersToo,
    LinearForW,
    NoPosition,
    Always32,
    ReturnsNothing,
    DropoutLeftOn,
    Nothing,
]
