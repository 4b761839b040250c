"""Answers to `StructuredSelfAttention`."""

import sys
import warnings

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from tqdm.auto import tqdm


class Stub(nn.Module):
    """What the stub gives: the parameters."""

    def __init__(self, hidden_size: int, attention_size: int, hops: int):
        super().__init__()
        self.W_s1 = nn.Parameter(torch.empty(attention_size, hidden_size))
        self.W_s2 = nn.Parameter(torch.empty(hops, attention_size))
        for parameter in (self.W_s1, self.W_s2):
            nn.init.xavier_uniform_(parameter)


# Right


class WithEinsum(Stub):
    def forward(self, states: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        u = torch.einsum("bnd,ad->bna", states, self.W_s1).tanh()
        e = torch.einsum("bna,ra->brn", u, self.W_s2)
        lowest = torch.finfo(e.dtype).min
        A = e.masked_fill(~mask[:, None], lowest).softmax(2) * mask[:, None]
        return torch.einsum("brn,bnd->brd", A, states), A


class AsThePaperWritesIt(Stub):
    """W_s2 tanh(W_s1 H^T), with H^T (B, d, N)."""

    def forward(self, states, mask):
        e = self.W_s2 @ torch.tanh(self.W_s1 @ states.mT)
        hidden = torch.where(mask.unsqueeze(1), e, torch.tensor(-1e30, dtype=e.dtype))
        A = torch.where(mask.unsqueeze(1), hidden.softmax(-1), torch.zeros_like(e))
        return A.bmm(states), A


class HopByHop(Stub):
    def forward(self, states, mask):
        rows = []
        for w in self.W_s2:
            e = (torch.tanh(F.linear(states, self.W_s1)) * w).sum(-1)
            powers = (e - e.amax(1, keepdim=True)).exp() * mask
            total = powers.sum(1, keepdim=True)
            rows.append(powers / (total + (total == 0)))
        A = torch.stack(rows, dim=1)
        return (A[..., None] * states[:, None]).sum(2), A


class SentenceBySentence(Stub):
    def forward(self, states, mask):
        matrices, weights = [], []
        for h, m in zip(states, mask, strict=True):
            A = h.new_zeros(len(self.W_s2), len(h))
            if m.any():
                A[:, m] = (self.W_s2 @ torch.tanh(self.W_s1 @ h[m].T)).softmax(1)
            weights.append(A)
            matrices.append(A @ h)
        return torch.stack(matrices), torch.stack(weights)


class WordsFirst(Stub):
    """Works on (B, N, r) and turns at the end."""

    def forward(self, states, mask):
        e = F.linear(torch.tanh(F.linear(states, self.W_s1)), self.W_s2)
        m = mask.unsqueeze(-1)
        A = (e.masked_fill(~m, -1e9).softmax(dim=1) * m).transpose(1, 2)
        return torch.matmul(A, states), A


class ByLogSoftmax(Stub):
    def forward(self, states, mask):
        e = (torch.tanh(states @ self.W_s1.t()) @ self.W_s2.t()).permute(0, 2, 1)
        some = mask.any(1)[:, None, None]
        hidden = e.masked_fill(~mask.unsqueeze(1) & some, -torch.inf)
        A = hidden.log_softmax(-1).exp() * some
        return A @ states, A


class NanMadeZero(Stub):
    """masked_fill stops the gradient where the softmax would give NaN."""

    def forward(self, states, mask):
        e = (torch.tanh(states @ self.W_s1.T) @ self.W_s2.T).mT
        A = torch.nan_to_num(e.masked_fill(~mask[:, None], -torch.inf).softmax(-1))
        return A @ states, A


class Wide(Stub):
    """Returns float64 whatever its dtype, and a list."""

    def forward(self, states, mask):
        warnings.warn("wide", stacklevel=1)
        print("states", states.shape, file=sys.stderr)
        H = states.double()
        e = torch.tanh(H @ self.W_s1.double().T) @ self.W_s2.double().T
        A = []
        for k in tqdm(range(e.shape[2])):
            print("hop", k)
            A.append(e[..., k].masked_fill(~mask, -1e30).softmax(1) * mask)
        A = torch.stack(A, 1)
        return [A @ H, A]


RIGHT = [
    WithEinsum,
    AsThePaperWritesIt,
    HopByHop,
    SentenceBySentence,
    WordsFirst,
    ByLogSoftmax,
    NanMadeZero,
    Wide,
]

# Wrong


class Pieces(Stub):
    """A right attention; each of the wrong ones below replaces one piece."""

    def inner(self, H):
        return torch.tanh(H @ self.W_s1.T)

    def score(self, H):
        return self.inner(H) @ self.W_s2.T  # (B, N, r)

    def weigh(self, e, m):
        return e.masked_fill(~m, -1e9).softmax(-1) * m

    def average(self, A, H):
        return A @ H

    def forward(self, states, mask):
        A = self.weigh(self.score(states).transpose(1, 2), mask[:, None])
        return self.average(A, states), A


class SigmoidInside(Pieces):
    def inner(self, H):
        return torch.sigmoid(H @ self.W_s1.T)


class TanhOutside(Pieces):
    def score(self, H):
        return torch.tanh(H @ self.W_s1.T @ self.W_s2.T)


class TanhOfTheStates(Pieces):
    def inner(self, H):
        return torch.tanh(H) @ self.W_s1.T


class TanhTwice(Pieces):
    def score(self, H):
        return torch.tanh(super().score(H))


class SoftmaxOverTheBatch(Pieces):
    def weigh(self, e, m):
        return e.masked_fill(~m, -1e9).softmax(0) * m


class SigmoidWeights(Pieces):
    def weigh(self, e, m):
        return torch.sigmoid(e) * m


class ReshapedForTransposed(Pieces):
    """The right shape, mixed-up hops and words."""

    def forward(self, states, mask):
        e = self.score(states)
        b, n, r = e.shape
        A = self.weigh(e.reshape(b, r, n), mask[:, None])
        return self.average(A, states), A


class FilledWithMinusFive(Pieces):
    def weigh(self, e, m):
        return e.masked_fill(~m, -5.0).softmax(-1) * m


class UniformForEmpty(Pieces):
    def weigh(self, e, m):
        return e.masked_fill(~m, -1e9).softmax(-1)


class LogOfTheMask(Pieces):
    """The values are right; the gradient of an empty sentence is NaN."""

    def weigh(self, e, m):
        return torch.nan_to_num((e + m.to(e.dtype).log()).softmax(-1))


class MaskOnTheAverage(Pieces):
    def forward(self, states, mask):
        A = self.score(states).transpose(1, 2).softmax(-1)
        return A @ (states * mask[..., None]), A


class MaskOnTheStates(Pieces):
    def forward(self, states, mask):
        states = states * mask[..., None]
        A = self.score(states).transpose(1, 2).softmax(-1)
        return A @ states, A


class MaskInverted(Pieces):
    def forward(self, states, mask):
        return super().forward(states, ~mask)


class MaskOfTheFirstSentence(Pieces):
    def forward(self, states, mask):
        return super().forward(states, mask[:1].expand_as(mask))


class PrefixForMask(Pieces):
    """Takes for granted that words come first."""

    def forward(self, states, mask):
        return super().forward(states, torch.arange(mask.shape[1]) < mask.sum(1, keepdim=True))


class RenormalisedWithEpsilon(Pieces):
    def weigh(self, e, m):
        p = e.softmax(-1) * m
        return p / (p.sum(-1, keepdim=True) + 1e-2)


class AverageOfTheInner(Pieces):
    """Averages what the scores are made from, where the sizes allow it."""

    def average(self, A, H):
        u = self.inner(H)
        return A @ (u if u.shape == H.shape else 2 * H)


class AverageDivided(Pieces):
    def average(self, A, H):
        return A @ H / H.shape[1]


class AverageOfTheFirstSentence(Pieces):
    def average(self, A, H):
        return A @ H[0]


class MatrixTransposed(Pieces):
    def forward(self, states, mask):
        M, A = super().forward(states, mask)
        return M.transpose(1, 2), A


class MeanOfTheHops(Pieces):
    def forward(self, states, mask):
        M, A = super().forward(states, mask)
        return M.mean(1), A.mean(1)


class MatrixFlat(Pieces):
    def forward(self, states, mask):
        M, A = super().forward(states, mask)
        return M.flatten(1), A


class WeightsFirst(Pieces):
    def forward(self, states, mask):
        return super().forward(states, mask)[::-1]


class MatrixOnly(Pieces):
    def forward(self, states, mask):
        return super().forward(states, mask)[0]


class HopsBackwards(Pieces):
    def score(self, H):
        return super().score(H).flip(2)


class HopsNormalised(Pieces):
    """Weights sum to 1 over the hops as well, about."""

    def weigh(self, e, m):
        A = super().weigh(e, m)
        return A / A.sum(1, keepdim=True).clamp(min=1e-9) * m


class WeightsDetached(Pieces):
    def average(self, A, H):
        return A.detach() @ H


class StatesDetached(Pieces):
    def score(self, H):
        return super().score(H.detach())


class ParameterData(Pieces):
    def inner(self, H):
        return torch.tanh(H @ self.W_s1.data.T)


class StatesZeroedInPlace(Pieces):
    def forward(self, states, mask):
        states[~mask] = 0
        return super().forward(states, mask)


class KeepsTheWeights(Pieces):
    kept = None

    def weigh(self, e, m):
        if self.kept is None:
            self.kept = super().weigh(e, m)
        return self.kept


class WithBias(Stub):
    """Layers in place of the parameters."""

    def __init__(self, hidden_size, attention_size, hops):
        super().__init__(hidden_size, attention_size, hops)
        self.first = nn.Linear(hidden_size, attention_size)

    def forward(self, states, mask):
        e = (torch.tanh(self.first(states)) @ self.W_s2.T).transpose(1, 2)
        A = e.masked_fill(~mask[:, None], -1e9).softmax(-1) * mask[:, None]
        return A @ states, A


class DotProductsOfStates(Pieces):
    """Another self-attention: the states ask each other."""

    def forward(self, states, mask):
        e = (states @ states.transpose(1, 2))[:, : len(self.W_s2)]
        A = self.weigh(e, mask[:, None])
        return A @ states, A


class ScaledBySize(Pieces):
    def score(self, H):
        return super().score(H) / H.shape[-1] ** 0.5


class DropoutLeftOn(Pieces):
    def average(self, A, H):
        return F.dropout(A, 0.2) @ H


class In32(Pieces):
    def average(self, A, H):
        return (A @ H).float()


class ReturnsNothing(Pieces):
    def forward(self, states, mask):
        super().forward(states, mask)


WRONG = [
    SigmoidInside,
    TanhOutside,
    TanhOfTheStates,
    TanhTwice,
    SoftmaxOverTheBatch,
    SigmoidWeights,
    ReshapedForTransposed,
    FilledWithMinusFive,
    UniformForEmpty,
    LogOfTheMask,
    MaskOnTheAverage,
    MaskOnTheStates,
    MaskInverted,
    MaskOfTheFirstSentence,
    PrefixForMask,
    RenormalisedWithEpsilon,
    AverageOfTheInner,
    AverageDivided,
    AverageOfTheFirstSentence,
    MatrixTransposed,
    MeanOfTheHops,
    MatrixFlat,
    WeightsFirst,
    MatrixOnly,
    HopsBackwards,
    HopsNormalised,
    WeightsDetached,
    StatesDetached,
    ParameterData,
    StatesZeroedInPlace,
    KeepsTheWeights,
    WithBias,
    DotProductsOfStates,
    ScaledBySize,
    DropoutLeftOn,
    In32,
    ReturnsNothing,
]
