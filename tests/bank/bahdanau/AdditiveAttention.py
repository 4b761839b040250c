"""Answers to `AdditiveAttention`."""

import sys
import warnings

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from tqdm.auto import tqdm


class Stub(nn.Module):
    """What the stub gives: the parameters."""

    def __init__(self, query_size: int, key_size: int, hidden_size: int):
        super().__init__()
        self.W = nn.Parameter(torch.empty(hidden_size, query_size))
        self.U = nn.Parameter(torch.empty(hidden_size, key_size))
        self.v = nn.Parameter(torch.empty(hidden_size))
        for parameter in (self.W, self.U):
            nn.init.xavier_uniform_(parameter)
        nn.init.normal_(self.v, std=hidden_size**-0.5)


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


class Functional(Stub):
    def project(self, h: Tensor) -> Tensor:
        return F.linear(h, self.U)

    def forward(self, s, h, m, uh=None):
        uh = self.project(h) if uh is None else uh
        e = F.linear(torch.tanh(F.linear(s, self.W).unsqueeze(1) + uh), self.v.unsqueeze(0))
        e = torch.where(m, e.squeeze(-1), torch.finfo(e.dtype).min)
        a = torch.where(m, F.softmax(e, -1), 0.0)
        return torch.bmm(a.unsqueeze(1), h).squeeze(1), a


class IgnoresProjectedKeys(Stub):
    """Slower, but the result is the same."""

    def project(self, keys):
        return keys @ self.U.T

    def forward(self, query, keys, mask, projected_keys=None):
        hidden = torch.tanh((query @ self.W.T)[:, None] + keys @ self.U.T)
        p = torch.softmax(hidden @ self.v, dim=1) * mask
        total = p.sum(1, keepdim=True)
        p = p / torch.where(total == 0, torch.ones_like(total), total)
        return (p[..., None] * keys).sum(1), p


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


RIGHT = [
    WithEinsum,
    WithLoops,
    Functional,
    IgnoresProjectedKeys,
    WideAndTalkative,
    Wide,
    WithHelpersAndDropout,
]

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


class KeepsTheProjectionOfAShape(Pieces):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.cache = {}

    def project(self, keys):
        if keys.shape not in self.cache:
            self.cache[keys.shape] = keys @ self.U.T
        return self.cache[keys.shape]


class KeepsWhatItWasGiven(Pieces):
    """projected_keys of an earlier call stand in when none are given."""

    last = None

    def forward(self, query, keys, mask, projected_keys=None):
        if projected_keys is not None:
            self.last = projected_keys
        return super().forward(query, keys, mask, self.last)


class KeepsTheMask(Pieces):
    mask = None

    def forward(self, query, keys, mask, projected_keys=None):
        if self.mask is None:
            self.mask = mask
        return super().forward(query, keys, self.mask, projected_keys)


class KeepsTheWeights(Pieces):
    """Adds up the weights of all calls (coverage that nobody asked for)."""

    coverage = None

    def weigh(self, scores, mask):
        if self.coverage is not None and self.coverage.shape == scores.shape:
            scores = scores - self.coverage
        self.coverage = masked_softmax(scores, mask)
        return self.coverage


class OverwritesProjectedKeys(Pieces):
    def energies(self, query, projected):
        projected += (query @ self.W.T).unsqueeze(1)
        return torch.tanh(projected) @ self.v


class TanhInPlaceOnProjectedKeys(Pieces):
    def forward(self, query, keys, mask, projected_keys=None):
        if projected_keys is None:
            projected_keys = self.project(keys)
        with torch.no_grad():
            hidden = projected_keys.add_((query @ self.W.T).unsqueeze(1))
        weights = masked_softmax(torch.tanh(hidden) @ self.v, mask)
        return torch.einsum("bn,bnd->bd", weights, keys), weights


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


class OverwritesPaddedKeys(Pieces):
    def forward(self, query, keys, mask, projected_keys=None):
        keys[~mask] = 0.0
        return super().forward(query, keys, mask, projected_keys)


class MaskFromLengths(Pieces):
    """Takes for granted that real words come first."""

    def weigh(self, scores, mask):
        lengths = mask.sum(-1, keepdim=True)
        return masked_softmax(scores, torch.arange(scores.shape[-1]) < lengths)


class MaskOfTheFirstRow(Pieces):
    def weigh(self, scores, mask):
        return masked_softmax(scores, mask[:1])


class MaskAdded(Pieces):
    def weigh(self, scores, mask):
        return (scores + mask).softmax(-1)


class MaskMultiplied(Pieces):
    def weigh(self, scores, mask):
        return (scores * mask).softmax(-1)


class LargeEpsilon(Pieces):
    def weigh(self, scores, mask):
        e = scores.exp() * mask
        return e / (e.sum(-1, keepdim=True) + 1e-2)


class Squeezed(Pieces):
    def forward(self, *given):
        context, weights = super().forward(*given)
        return context.squeeze(), weights.squeeze()


class ContextWithAxis(Pieces):
    def forward(self, *given):
        context, weights = super().forward(*given)
        return context.unsqueeze(1), weights


class ContextOfTanhKeys(Pieces):
    def forward(self, query, keys, mask, projected_keys=None):
        _, weights = super().forward(query, keys, mask, projected_keys)
        return torch.einsum("bn,bnd->bd", weights, torch.tanh(keys)), weights


class ContextWithoutMask(Pieces):
    """The weights that are returned are masked, those of the context are not."""

    def forward(self, query, keys, mask, projected_keys=None):
        _, weights = super().forward(query, keys, mask, projected_keys)
        projected = self.project(keys) if projected_keys is None else projected_keys
        spread = self.energies(query, projected).softmax(-1)
        return torch.einsum("bn,bnd->bd", spread, keys), weights


class ReturnsScores(Pieces):
    def forward(self, query, keys, mask, projected_keys=None):
        context, _ = super().forward(query, keys, mask, projected_keys)
        projected = self.project(keys) if projected_keys is None else projected_keys
        return context, self.energies(query, projected)


class ReturnsContextOnly(Pieces):
    def forward(self, *given):
        return super().forward(*given)[0]


class ReturnsThree(Pieces):
    def forward(self, query, keys, mask, projected_keys=None):
        return (*super().forward(query, keys, mask, projected_keys), self.project(keys))


class NewLayersInForward(Pieces):
    def energies(self, query, projected):
        layer = nn.Linear(query.shape[1], projected.shape[2], bias=False).to(query.dtype)
        return torch.tanh(layer(query).unsqueeze(1) + projected) @ self.v


class LinearLayersForParameters(nn.Module):
    """Right numbers one day, but not the parameters of the stub."""

    def __init__(self, query_size, key_size, hidden_size):
        super().__init__()
        self.W = nn.Linear(query_size, hidden_size, bias=False)
        self.U = nn.Linear(key_size, hidden_size, bias=False)
        self.v = nn.Linear(hidden_size, 1, bias=False)

    def project(self, keys):
        return self.U(keys)

    def forward(self, query, keys, mask, projected_keys=None):
        projected = self.U(keys) if projected_keys is None else projected_keys
        e = self.v(torch.tanh(self.W(query).unsqueeze(1) + projected)).squeeze(-1)
        weights = masked_softmax(e, mask)
        return torch.einsum("bn,bnd->bd", weights, keys), weights


class BiasAdded(Pieces):
    def __init__(self, query_size, key_size, hidden_size):
        super().__init__(query_size, key_size, hidden_size)
        self.b = nn.Parameter(torch.zeros(hidden_size))

    def energies(self, query, projected):
        return torch.tanh((query @ self.W.T + self.b).unsqueeze(1) + projected) @ self.v


class TransposesOnlyIfNeeded(Pieces):
    def project(self, keys):
        return keys @ (self.U if self.U.shape[0] == keys.shape[-1] else self.U.T)


class InitialWeights(Pieces):
    """Uses what the parameters were when the module was built."""

    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.W_transposed = self.W.detach().clone().T

    def energies(self, query, projected):
        q = query @ self.W_transposed.to(query.dtype)
        return torch.tanh(q.unsqueeze(1) + projected) @ self.v


class QueryOfTheFirstRow(Pieces):
    def energies(self, query, projected):
        return super().energies(query[:1], projected)


class QueryNotProjected(Pieces):
    def energies(self, query, projected):
        if query.shape[-1] == projected.shape[-1]:
            return torch.tanh(query.unsqueeze(1) + projected) @ self.v
        return super().energies(query, projected)


class DropoutLeftOn(Pieces):
    def weigh(self, scores, mask):
        return F.dropout(super().weigh(scores, mask), 0.2)


class Sigmoid(Pieces):
    def weigh(self, scores, mask):
        return torch.sigmoid(scores) * mask


class StraightThrough(Pieces):
    def weigh(self, scores, mask):
        soft = masked_softmax(scores, mask)
        hard = F.one_hot(soft.argmax(-1), soft.shape[-1]).to(soft.dtype) * mask
        return hard + soft - soft.detach()


class ProjectionCut(Pieces):
    """U learns nothing from the keys that were projected before."""

    @torch.no_grad()
    def project(self, keys):
        return keys @ self.U.T


class ProjectionCutInProjectOnly(IgnoresProjectedKeys):
    def project(self, keys):
        return super().project(keys).detach()


class WeightsCutInResultOnly(Pieces):
    def forward(self, query, keys, mask, projected_keys=None):
        context, weights = super().forward(query, keys, mask, projected_keys)
        return context, weights.detach()


class KeysCut(Pieces):
    def forward(self, query, keys, mask, projected_keys=None):
        return super().forward(query, keys.detach(), mask, projected_keys)


class QueryCut(Pieces):
    def forward(self, query, keys, mask, projected_keys=None):
        return super().forward(query.detach(), keys, mask, projected_keys)


class ProjectedKeysNeeded(Pieces):
    def forward(self, query, keys, mask, projected_keys=None):
        weights = masked_softmax(self.energies(query, projected_keys), mask)
        return torch.einsum("bn,bnd->bd", weights, keys), weights


class TruthOfATensor(Pieces):
    def forward(self, query, keys, mask, projected_keys=None):
        projected_keys = projected_keys or self.project(keys)
        return super().forward(query, keys, mask, projected_keys)


class NoProjectedKeys(Pieces):
    def forward(self, query, keys, mask):
        return super().forward(query, keys, mask)


class NoProject(Stub):
    def forward(self, query, keys, mask, projected_keys=None):
        projected = keys @ self.U.T if projected_keys is None else projected_keys
        e = torch.tanh((query @ self.W.T).unsqueeze(1) + projected) @ self.v
        weights = masked_softmax(e, mask)
        return torch.einsum("bn,bnd->bd", weights, keys), weights


class ProjectIsOptional(Pieces):
    """project does nothing; forward does all of it and ignores what it is given."""

    def project(self, keys):
        return keys

    def forward(self, query, keys, mask, projected_keys=None):
        return super().forward(query, keys, mask, keys @ self.U.T)


class Always32(Pieces):
    def forward(self, *given):
        context, weights = super().forward(*given)
        return context.float(), weights.float()


class Numpy(Pieces):
    def forward(self, *given):
        context, weights = super().forward(*given)
        return context.detach().numpy(), weights.detach().numpy()


class ReturnsNothing(Pieces):
    def forward(self, *given):
        super().forward(*given)


class DotProduct(Pieces):
    def energies(self, query, projected):
        return torch.einsum("bd,bnd->bn", query @ self.W.T, projected)


class MeanQuery(Pieces):
    """Depends on who else is in the batch."""

    def energies(self, query, projected):
        return super().energies(query - query.mean(0) + query.mean(0).detach() * 0.99, projected)


class Nothing(Pieces):
    def forward(self, query, keys, mask, projected_keys=None):
        return torch.zeros_like(keys[:, 0]), torch.zeros_like(keys[:, :, 0])


class ChangesItsParameters(Pieces):
    """The second batch meets another v than the first."""

    def energies(self, query, projected):
        e = super().energies(query, projected)
        with torch.no_grad():
            self.v.mul_(0.999)
        return e


WRONG = [
    KeepsTheProjection,
    KeepsTheProjectionOfAShape,
    KeepsWhatItWasGiven,
    KeepsTheMask,
    KeepsTheWeights,
    OverwritesProjectedKeys,
    TanhInPlaceOnProjectedKeys,
    OneBufferForAllCalls,
    OverwritesPaddedKeys,
    MaskFromLengths,
    MaskOfTheFirstRow,
    MaskAdded,
    MaskMultiplied,
    LargeEpsilon,
    Squeezed,
    ContextWithAxis,
    ContextOfTanhKeys,
    ContextWithoutMask,
    ReturnsScores,
    ReturnsContextOnly,
    ReturnsThree,
    NewLayersInForward,
    LinearLayersForParameters,
    BiasAdded,
    TransposesOnlyIfNeeded,
    InitialWeights,
    QueryOfTheFirstRow,
    QueryNotProjected,
    DropoutLeftOn,
    Sigmoid,
    StraightThrough,
    ProjectionCut,
    ProjectionCutInProjectOnly,
    WeightsCutInResultOnly,
    KeysCut,
    QueryCut,
    ProjectedKeysNeeded,
    TruthOfATensor,
    NoProjectedKeys,
    NoProject,
    ProjectIsOptional,
    Always32,
    Numpy,
    ReturnsNothing,
    DotProduct,
    MeanQuery,
    Nothing,
    ChangesItsParameters,
]
