"""Answers to `AttentionPooling`."""

import sys
import warnings

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from tqdm.auto import tqdm


class Stub(nn.Module):
    """What the stub gives: the parameters."""

    def __init__(self, input_size: int, attention_size: int):
        super().__init__()
        self.projection = nn.Linear(input_size, attention_size)
        self.context = nn.Parameter(torch.empty(attention_size))
        nn.init.normal_(self.context, std=attention_size**-0.5)


# Right


class FilledWithTheSmallestNumber(Stub):
    def forward(self, states: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        e = torch.einsum("bna,a->bn", torch.tanh(self.projection(states)), self.context)
        alpha = e.masked_fill(~mask, torch.finfo(e.dtype).min).softmax(-1) * mask
        return (alpha.unsqueeze(-1) * states).sum(1), alpha


class ByTorchsAttention(Stub):
    """The library's scaled dot product with the context as the query, and no scale."""

    def forward(self, states, mask):
        u = torch.tanh(self.projection(states))
        q = self.context.expand(len(u), 1, -1)
        e = (q @ u.transpose(1, 2)).squeeze(1)
        alpha = torch.nan_to_num(e.masked_fill(~mask, -torch.inf).softmax(1))
        some = mask.any(1)[:, None, None]
        s = F.scaled_dot_product_attention(
            q, u, states, attn_mask=(mask[:, None] | ~some), scale=1.0
        )
        return (s * some)[:, 0], alpha


class ExponentialsByHand(Stub):
    def forward(self, states, mask):
        h = states
        u = torch.tanh(h @ self.projection.weight.T + self.projection.bias)
        e = u @ self.context
        powers = torch.exp(e - e.detach().amax(1, keepdim=True)) * mask
        total = powers.sum(1, keepdim=True)
        alpha = powers / torch.where(total == 0, torch.ones_like(total), total)
        return torch.bmm(alpha[:, None], h).squeeze(1), alpha


class SentenceBySentence(Stub):
    def forward(self, states, mask):
        pooled, weights = [], []
        for h, m in zip(states, mask, strict=True):
            row = h.new_zeros(len(h))
            if m.any():
                row[m] = torch.softmax(self.projection(h[m]).tanh() @ self.context, 0)
            weights.append(row)
            pooled.append(row @ h)
        return torch.stack(pooled), torch.stack(weights)


class AnyAxes(Stub):
    """Also for states (..., N, d)."""

    def forward(self, states, mask):
        e = F.linear(self.projection(states).tanh(), self.context[None]).squeeze(-1)
        alpha = (
            e.where(mask, torch.full_like(e, -1e30)).softmax(dim=-1).where(mask, e.new_zeros(()))
        )
        return torch.einsum("...n,...nd->...d", alpha, states), alpha


class WordByWord(Stub):
    """Flat list of the real words, put together again by index_add."""

    def forward(self, states, mask):
        rows, places = mask.nonzero(as_tuple=True)
        words = states[rows, places]
        powers = torch.exp(torch.tanh(self.projection(words)) @ self.context)
        total = states.new_zeros(len(states)).index_add(0, rows, powers)
        alpha = powers / total[rows]
        pooled = (0 * states[:, 0]).index_add(0, rows, alpha[:, None] * words)
        return pooled, states.new_zeros(mask.shape).index_put((rows, places), alpha)


class Wide(Stub):
    """Returns float64 whatever its dtype, and a list."""

    def forward(self, states, mask):
        warnings.warn("wide", stacklevel=1)
        print("mask", mask, file=sys.stderr)
        scores = []
        for j in tqdm(range(states.shape[1])):
            print("word", j)
            scores.append(torch.tanh(self.projection(states[:, j])) @ self.context)
        alpha = torch.stack(scores, 1).double().masked_fill(~mask, -1e30).softmax(1) * mask
        return [torch.einsum("bn,bnd->bd", alpha, states.double()), alpha]


RIGHT = [
    FilledWithTheSmallestNumber,
    ByTorchsAttention,
    ExponentialsByHand,
    SentenceBySentence,
    AnyAxes,
    WordByWord,
    Wide,
]

# Wrong


class Pieces(Stub):
    """A right pooling; each of the wrong ones below replaces one piece."""

    def inner(self, h):
        return torch.tanh(self.projection(h))

    def score(self, u):
        return u @ self.context

    def weigh(self, e, m):
        return e.masked_fill(~m, -1e9).softmax(-1) * m

    def average(self, alpha, h, u):
        return torch.einsum("bn,bnd->bd", alpha, h)

    def forward(self, states, mask):
        u = self.inner(states)
        alpha = self.weigh(self.score(u), mask)
        return self.average(alpha, states, u), alpha


class SigmoidInside(Pieces):
    def inner(self, h):
        return torch.sigmoid(self.projection(h))


class BiasSubtracted(Pieces):
    def inner(self, h):
        return torch.tanh(h @ self.projection.weight.T - self.projection.bias)


class TanhOfTheStates(Pieces):
    def inner(self, h):
        return torch.tanh(self.projection(torch.tanh(h)))


class CosineScore(Pieces):
    def score(self, u):
        return F.cosine_similarity(u, self.context.expand_as(u), dim=-1)


class ContextNormalised(Pieces):
    def score(self, u):
        return u @ F.normalize(self.context, dim=0)


class DistanceScore(Pieces):
    def score(self, u):
        return -(u - self.context).square().sum(-1)


class TanhOfTheContext(Pieces):
    def score(self, u):
        return u @ torch.tanh(self.context)


class ScaledByTheState(Pieces):
    def forward(self, states, mask):
        u = self.inner(states)
        alpha = self.weigh(self.score(u) / states.shape[-1] ** 0.5, mask)
        return self.average(alpha, states, u), alpha


class FilledWithMinusFive(Pieces):
    def weigh(self, e, m):
        return e.masked_fill(~m, -5.0).softmax(-1) * m


class OneForEmpty(Pieces):
    """All the weight on the first padding."""

    def weigh(self, e, m):
        alpha = super().weigh(e, m)
        alpha[:, 0] = torch.where(m.any(1), alpha[:, 0], torch.ones_like(alpha[:, 0]))
        return alpha


class LogOfTheMask(Pieces):
    """The values are right; the gradient of an empty sentence is NaN."""

    def weigh(self, e, m):
        return torch.nan_to_num((e + m.to(e.dtype).log()).softmax(-1))


class EpsilonInTheSum(Pieces):
    def weigh(self, e, m):
        powers = torch.exp(e - e.amax(1, keepdim=True)) * m
        return powers / (powers.sum(1, keepdim=True) + 1e-2)


class SoftmaxOfAll(Pieces):
    """One softmax over the whole batch."""

    def weigh(self, e, m):
        return e.masked_fill(~m, -1e9).flatten().softmax(0).reshape(e.shape) * m


class Hardest(Pieces):
    def weigh(self, e, m):
        best = e.masked_fill(~m, -1e9).argmax(1)
        return F.one_hot(best, e.shape[1]).to(e.dtype) * m


class LogWeights(Pieces):
    def weigh(self, e, m):
        return e.masked_fill(~m, -1e9).log_softmax(-1) * m


class MaskInverted(Pieces):
    def weigh(self, e, m):
        return super().weigh(e, ~m)


class MaskOfTheFirstSentence(Pieces):
    def weigh(self, e, m):
        return super().weigh(e, m[:1].expand_as(m))


class PrefixForMask(Pieces):
    """Takes for granted that words come first."""

    def weigh(self, e, m):
        return super().weigh(e, torch.arange(m.shape[1]) < m.sum(1, keepdim=True))


class MaskOnTheAverage(Pieces):
    def forward(self, states, mask):
        alpha = self.score(self.inner(states)).softmax(-1)
        return self.average(alpha * mask, states, None), alpha


class MaskOnTheStates(Pieces):
    def forward(self, states, mask):
        return super().forward(states * mask[..., None], torch.ones_like(mask))


class AverageOfTheInner(Pieces):
    """Averages u, where it has the size of h."""

    def average(self, alpha, h, u):
        return super().average(alpha, u if u.shape == h.shape else h / 2, u)


class AverageDivided(Pieces):
    def average(self, alpha, h, u):
        return super().average(alpha, h, u) / h.shape[1]


class AverageOverWords(Pieces):
    def average(self, alpha, h, u):
        return (alpha[..., None] * h).mean(1)


class AverageOfTheFirst(Pieces):
    def average(self, alpha, h, u):
        return alpha @ h[0]


class AxisKept(Pieces):
    def average(self, alpha, h, u):
        return alpha[:, None] @ h


class Squeezed(Pieces):
    def average(self, alpha, h, u):
        return (alpha[:, None] @ h).squeeze()


class WeightsDetached(Pieces):
    def average(self, alpha, h, u):
        return super().average(alpha.detach(), h, u)


class StatesDetached(Pieces):
    def inner(self, h):
        return super().inner(h.detach())


class ContextData(Pieces):
    def score(self, u):
        return u @ self.context.data


class WeightsAsAColumn(Pieces):
    def forward(self, states, mask):
        s, alpha = super().forward(states, mask)
        return s, alpha[..., None]


class WeightsFirst(Pieces):
    def forward(self, states, mask):
        return super().forward(states, mask)[::-1]


class PooledOnly(Pieces):
    def forward(self, states, mask):
        return super().forward(states, mask)[0]


class ZeroedInPlace(Pieces):
    def forward(self, states, mask):
        states[~mask] = 0
        return super().forward(states, mask)


class KeepsTheWeights(Pieces):
    kept = None

    def weigh(self, e, m):
        if self.kept is None:
            self.kept = super().weigh(e, m)
        return self.kept


class ContextAsALayer(Stub):
    """Another parameter than the docstring lists."""

    def __init__(self, input_size, attention_size):
        super().__init__(input_size, attention_size)
        self.context = nn.Linear(attention_size, 1, bias=False)

    def forward(self, states, mask):
        e = self.context(torch.tanh(self.projection(states))).squeeze(-1)
        alpha = e.masked_fill(~mask, -1e9).softmax(-1) * mask
        return torch.einsum("bn,bnd->bd", alpha, states), alpha


class DropoutLeftOn(Pieces):
    def average(self, alpha, h, u):
        return super().average(F.dropout(alpha, 0.2), h, u)


class In32(Pieces):
    def average(self, alpha, h, u):
        return super().average(alpha, h, u).float()


class ReturnsNothing(Pieces):
    def forward(self, states, mask):
        super().forward(states, mask)


WRONG = [
    SigmoidInside,
    BiasSubtracted,
    TanhOfTheStates,
    CosineScore,
    ContextNormalised,
    DistanceScore,
    TanhOfTheContext,
    ScaledByTheState,
    FilledWithMinusFive,
    OneForEmpty,
    LogOfTheMask,
    EpsilonInTheSum,
    SoftmaxOfAll,
    Hardest,
    LogWeights,
    MaskInverted,
    MaskOfTheFirstSentence,
    PrefixForMask,
    MaskOnTheAverage,
    MaskOnTheStates,
    AverageOfTheInner,
    AverageDivided,
    AverageOverWords,
    AverageOfTheFirst,
    AxisKept,
    Squeezed,
    WeightsDetached,
    StatesDetached,
    ContextData,
    WeightsAsAColumn,
    WeightsFirst,
    PooledOnly,
    ZeroedInPlace,
    KeepsTheWeights,
    ContextAsALayer,
    DropoutLeftOn,
    In32,
    ReturnsNothing,
]
