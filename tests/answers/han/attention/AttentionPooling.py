"""Answers to `AttentionPooling`."""

import sys
import warnings

import torch
import torch.nn.functional as F
from torch import Tensor
from tqdm.auto import tqdm

from tests.answers.stubs import stub

Stub = stub("AttentionPooling")

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


RIGHT = [FilledWithTheSmallestNumber, ByTorchsAttention, ExponentialsByHand, WordByWord, Wide]

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


class LogOfTheMask(Pieces):
    """The values are right; the gradient of an empty sentence is NaN."""

    def weigh(self, e, m):
        return torch.nan_to_num((e + m.to(e.dtype).log()).softmax(-1))


class PrefixForMask(Pieces):
    """Takes for granted that words come first."""

    def weigh(self, e, m):
        return super().weigh(e, torch.arange(m.shape[1]) < m.sum(1, keepdim=True))


class Squeezed(Pieces):
    def average(self, alpha, h, u):
        return (alpha[:, None] @ h).squeeze()


class ContextData(Pieces):
    def score(self, u):
        return u @ self.context.data


class KeepsTheWeights(Pieces):
    kept = None

    def weigh(self, e, m):
        if self.kept is None:
            self.kept = super().weigh(e, m)
        return self.kept


WRONG = [LogOfTheMask, PrefixForMask, Squeezed, ContextData, KeepsTheWeights]
