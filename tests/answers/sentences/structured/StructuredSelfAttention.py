"""Answers to `StructuredSelfAttention`."""

import sys
import warnings

import torch
import torch.nn.functional as F
from torch import Tensor
from tqdm.auto import tqdm

from tests.answers.stubs import stub

Stub = stub("StructuredSelfAttention")

# Right


class WithEinsum(Stub):
    def forward(self, states: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        u = torch.einsum("bnd,ad->bna", states, self.W_s1).tanh()
        e = torch.einsum("bna,ra->brn", u, self.W_s2)
        lowest = torch.finfo(e.dtype).min
        A = e.masked_fill(~mask[:, None], lowest).softmax(2) * mask[:, None]
        return torch.einsum("brn,bnd->brd", A, states), A


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


class ByLogSoftmax(Stub):
    def forward(self, states, mask):
        e = (torch.tanh(states @ self.W_s1.t()) @ self.W_s2.t()).permute(0, 2, 1)
        some = mask.any(1)[:, None, None]
        hidden = e.masked_fill(~mask.unsqueeze(1) & some, -torch.inf)
        A = hidden.log_softmax(-1).exp() * some
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


RIGHT = [WithEinsum, HopByHop, SentenceBySentence, ByLogSoftmax, Wide]

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


class UniformForEmpty(Pieces):
    def weigh(self, e, m):
        return e.masked_fill(~m, -1e9).softmax(-1)


class LogOfTheMask(Pieces):
    """The values are right; the gradient of an empty sentence is NaN."""

    def weigh(self, e, m):
        return torch.nan_to_num((e + m.to(e.dtype).log()).softmax(-1))


class PrefixForMask(Pieces):
    """Takes for granted that words come first."""

    def forward(self, states, mask):
        return super().forward(states, torch.arange(mask.shape[1]) < mask.sum(1, keepdim=True))


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


WRONG = [UniformForEmpty, LogOfTheMask, PrefixForMask, StatesZeroedInPlace, KeepsTheWeights]
