"""Answers to `AdditiveAttention`."""

import sys
import warnings

import torch
from torch import nn
from tqdm.auto import tqdm

from tests.answers.stubs import stub

Stub = stub("AdditiveAttention")


def masked_softmax(scores, mask):
    lowest = torch.finfo(scores.dtype).min
    return scores.masked_fill(~mask, lowest).softmax(-1) * mask


# Right


class WithEinsum(nn.Module):
    def __init__(self, query_size: int, key_size: int, hidden_size: int):
        super().__init__()
        self.W = nn.Parameter(torch.empty(hidden_size, query_size))
        self.U = nn.Parameter(torch.empty(hidden_size, key_size))
        self.v = nn.Parameter(torch.empty(hidden_size))
        for parameter in (self.W, self.U):
            nn.init.xavier_uniform_(parameter)
        nn.init.normal_(self.v, std=hidden_size**-0.5)

    def project(self, keys):
        return torch.einsum("bnk,dk->bnd", keys, self.U)

    def forward(self, query, keys, mask, projected_keys=None):
        uh = projected_keys if projected_keys is not None else self.project(keys)
        ws = torch.einsum("bq,dq->bd", query, self.W)
        e = torch.einsum("bnd,d->bn", torch.tanh(ws[:, None] + uh), self.v)
        e = e.masked_fill(~mask, float("-inf"))
        alpha = torch.nan_to_num(torch.softmax(e, -1))
        return torch.einsum("bn,bnk->bk", alpha, keys), alpha


class WithLoops(Stub):
    def project(self, keys):
        return torch.stack([torch.stack([self.U @ h for h in row]) for row in keys])

    def forward(self, query, keys, mask, projected_keys=None):
        if projected_keys is None:
            projected_keys = self.project(keys)
        contexts, all_weights = [], []
        for s, h, m, uh in zip(query, keys, mask, projected_keys, strict=True):
            e = torch.stack([self.v @ torch.tanh(self.W @ s + x) for x in uh])
            weights = torch.zeros_like(e)
            if m.any():
                weights[m] = torch.softmax(e[m], 0)
            context = torch.zeros_like(h[0])
            for a, x in zip(weights, h, strict=True):
                context = context + a * x
            contexts.append(context)
            all_weights.append(weights)
        return torch.stack(contexts), torch.stack(all_weights)


class WideAndTalkative(Stub):
    def project(self, keys):
        print("projecting", tuple(keys.shape))
        return (keys.double() @ self.U.double().T).to(keys.dtype)

    def forward(self, query, keys, mask, projected_keys=None):
        warnings.warn("slow", stacklevel=1)
        sys.stderr.write("attending\n")
        projected = self.project(keys) if projected_keys is None else projected_keys
        parts = []
        for j in tqdm(range(keys.shape[1])):
            hidden = torch.tanh(query.double() @ self.W.double().T + projected[:, j].double())
            parts.append(hidden @ self.v.double())
        weights = masked_softmax(torch.stack(parts, 1), mask)
        context = (weights.unsqueeze(1) @ keys.double()).squeeze(1)
        return context.to(keys.dtype), weights.to(keys.dtype)


class Wide(Stub):
    """Returns float64 whatever it is given."""

    def project(self, keys):
        return keys.double() @ self.U.double().T

    def forward(self, query, keys, mask, projected_keys=None):
        projected = self.project(keys) if projected_keys is None else projected_keys
        scores = torch.tanh((query.double() @ self.W.double().T)[:, None] + projected)
        weights = masked_softmax(scores @ self.v.double(), mask)
        return (weights[:, None] @ keys.double())[:, 0], weights


class WithHelpersAndDropout(Stub):
    """Dropout that is off when not training, a list instead of a tuple, other names."""

    def __init__(self, query_size, key_size, hidden_size, dropout=0.2):
        super().__init__(query_size, key_size, hidden_size)
        self.dropout = nn.Dropout(dropout)

    def project(self, memory):
        return memory.matmul(self.U.transpose(0, 1))

    def _energies(self, state, projected):
        return self.dropout(torch.tanh(state.matmul(self.W.t()).unsqueeze(1) + projected)) @ self.v

    def forward(self, state, memory, mask, projected_memory=None):
        if projected_memory is None:
            projected_memory = self.project(memory)
        weights = masked_softmax(self._energies(state, projected_memory), mask)
        return [weights.unsqueeze(1).bmm(memory).squeeze(1), weights]


RIGHT = [WithEinsum, WithLoops, WideAndTalkative, Wide, WithHelpersAndDropout]

# Wrong


class Pieces(Stub):
    """A right module; each of the wrong ones below replaces one piece."""

    def project(self, keys):
        return keys @ self.U.T

    def energies(self, query, projected):
        return torch.tanh((query @ self.W.T).unsqueeze(1) + projected) @ self.v

    def weigh(self, scores, mask):
        return masked_softmax(scores, mask)

    def forward(self, query, keys, mask, projected_keys=None):
        projected = self.project(keys) if projected_keys is None else projected_keys
        weights = self.weigh(self.energies(query, projected), mask)
        return torch.einsum("bn,bnd->bd", weights, keys), weights


class KeepsTheProjection(Pieces):
    """The projected keys of the first batch are used for all."""

    cached = None

    def forward(self, query, keys, mask, projected_keys=None):
        if self.cached is None:
            self.cached = self.project(keys)
        return super().forward(query, keys, mask, self.cached)


class OverwritesProjectedKeys(Pieces):
    def energies(self, query, projected):
        projected += (query @ self.W.T).unsqueeze(1)
        return torch.tanh(projected) @ self.v


class OneBufferForAllCalls(Pieces):
    """Returns the same tensor each time: the next call overwrites what the last one returned."""

    buffer = None

    def forward(self, query, keys, mask, projected_keys=None):
        context, weights = super().forward(query, keys, mask, projected_keys)
        if torch.is_grad_enabled():
            return context, weights
        if self.buffer is None or self.buffer.shape != weights.shape:
            self.buffer = torch.empty_like(weights)
        self.buffer.copy_(weights)
        return context, self.buffer


class LargeEpsilon(Pieces):
    def weigh(self, scores, mask):
        e = scores.exp() * mask
        return e / (e.sum(-1, keepdim=True) + 1e-2)


class TransposesOnlyIfNeeded(Pieces):
    def project(self, keys):
        return keys @ (self.U if self.U.shape[0] == keys.shape[-1] else self.U.T)


WRONG = [
    KeepsTheProjection,
    OverwritesProjectedKeys,
    OneBufferForAllCalls,
    LargeEpsilon,
    TransposesOnlyIfNeeded,
]
