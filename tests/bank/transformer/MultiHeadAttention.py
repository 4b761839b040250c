"""Answers to `MultiHeadAttention`."""

import math
import sys
import warnings

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Stub(nn.Module):
    """What the stub gives: the parameters."""

    def __init__(self, model_size: int, heads: int, dropout: float = 0.0):
        super().__init__()
        if model_size % heads:
            raise ValueError(f"{heads} heads cannot share vectors of size {model_size} equally.")
        self.heads = heads
        self.query = nn.Linear(model_size, model_size)
        self.key = nn.Linear(model_size, model_size)
        self.value = nn.Linear(model_size, model_size)
        self.output = nn.Linear(model_size, model_size)
        self.dropout = nn.Dropout(dropout)


# Right


def cut(x, heads):
    B, N, d = x.shape
    return x.view(B, N, heads, d // heads).transpose(1, 2)


def weigh(scores, mask):
    """A mask of two axes or of three."""
    if mask is None:
        return scores.softmax(-1)
    mask = mask[None, None] if mask.dim() == 2 else mask[:, None]
    return scores.masked_fill(~mask, -1e9).softmax(-1) * mask


class AllInOne(Stub):
    def project(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        return cut(self.key(key), self.heads), cut(self.value(value), self.heads)

    def forward(
        self,
        query: Tensor,
        key: Tensor | None,
        value: Tensor | None,
        mask: Tensor | None = None,
        projected: tuple[Tensor, Tensor] | None = None,
    ) -> tuple[Tensor, Tensor]:
        B, T, d = query.shape
        if projected is None:
            projected = self.project(key, value)
        k, v = projected
        q = cut(self.query(query), self.heads)
        weights = weigh(q @ k.transpose(2, 3) / (d / self.heads) ** 0.5, mask)
        found = (weights @ v).transpose(1, 2).contiguous().view(B, T, d)
        return self.output(self.dropout(found)), weights


class HeadByHead(Stub):
    def project(self, key, value):
        k = torch.stack(self.key(key).chunk(self.heads, -1), 1)
        v = torch.stack(self.value(value).chunk(self.heads, -1), 1)
        return k, v

    def forward(self, query, key, value, mask=None, projected=None):
        k, v = projected or self.project(key, value)
        size = query.shape[-1] // self.heads
        found, maps = [], []
        for i, q in enumerate(self.query(query).split(size, dim=-1)):
            e = torch.bmm(q, k[:, i].transpose(1, 2)) / math.sqrt(size)  # (B, T, N)
            if mask is not None:
                e = e.masked_fill(~mask, -torch.inf)
            a = torch.nan_to_num(e.softmax(-1), nan=0.0)
            found.append(torch.bmm(a, v[:, i]))
            maps.append(a)
        return self.output(torch.cat(found, -1)), torch.stack(maps, 1)


class Einsums(Stub):
    """Matrices with an axis for the heads."""

    def of(self, layer, x):
        d = x.shape[-1]
        W = layer.weight.view(self.heads, d // self.heads, d)
        return torch.einsum("bnd,hpd->bhnp", x, W) + layer.bias.view(self.heads, 1, -1)

    def project(self, key, value):
        return self.of(self.key, key), self.of(self.value, value)

    def forward(self, query, key, value, mask=None, projected=None):
        k, v = self.project(key, value) if projected is None else projected
        e = torch.einsum("bhtp,bhnp->bhtn", self.of(self.query, query), k) / k.shape[-1] ** 0.5
        if mask is None:
            mask = torch.ones(e.shape[-2:], dtype=torch.bool)
        mask = mask.expand(len(query), *e.shape[-2:]).unsqueeze(1)
        a = torch.where(mask, e, torch.finfo(e.dtype).min).softmax(-1).masked_fill(~mask, 0)
        d = query.shape[-1]
        W = self.output.weight.view(d, self.heads, d // self.heads)
        found = torch.einsum("bhtn,bhnp->bhtp", a, v)
        return torch.einsum("bhtp,dhp->btd", found, W) + self.output.bias, a


class HeadsInTheBatch(Stub):
    def fold(self, x):
        return cut(x, self.heads).flatten(0, 1)

    def project(self, key, value):
        return tuple(
            self.fold(layer(x)).unflatten(0, (-1, self.heads))
            for layer, x in ((self.key, key), (self.value, value))
        )

    def forward(self, query, key, value, mask=None, projected=None):
        k, v = (x.flatten(0, 1) for x in projected or self.project(key, value))
        e = torch.bmm(self.fold(self.query(query)), k.mT) / math.sqrt(k.shape[-1])  # (B h, T, N)
        if mask is not None:
            mask = mask.expand(len(query), *e.shape[1:]).repeat_interleave(self.heads, dim=0)
            e = e.masked_fill(~mask, -1e9)
        a = e.softmax(-1)
        a = a if mask is None else a.masked_fill(~mask, 0.0)
        found = torch.bmm(a, v).unflatten(0, (-1, self.heads))
        together = found.permute(0, 2, 1, 3).reshape(query.shape)
        return self.output(together), a.unflatten(0, (-1, self.heads))


class WithTheOperator(Stub):
    """torch's operator is not forbidden here; it returns no weights."""

    def project(self, key, value):
        return cut(self.key(key), self.heads), cut(self.value(value), self.heads)

    def forward(self, query, key, value, mask=None, projected=None):
        q = cut(self.query(query), self.heads)
        k, v = self.project(key, value) if projected is None else projected
        weights = weigh(q @ k.mT / q.shape[-1] ** 0.5, mask)
        if mask is not None:
            mask = mask.unsqueeze(-3)
            real = mask.any(-1, keepdim=True)
            found = F.scaled_dot_product_attention(q, k, v, attn_mask=mask | ~real) * real
        else:
            found = F.scaled_dot_product_attention(q, k, v)
        return self.output(found.transpose(1, 2).flatten(2)), weights


class Wide(AllInOne):
    def project(self, key, value):
        k = F.linear(key.double(), self.key.weight.double(), self.key.bias.double())
        v = F.linear(value.double(), self.value.weight.double(), self.value.bias.double())
        return cut(k, self.heads), cut(v, self.heads)

    def forward(self, query, key, value, mask=None, projected=None):
        k, v = (x.double() for x in projected or self.project(key, value))
        q = F.linear(query.double(), self.query.weight.double(), self.query.bias.double())
        weights = weigh(cut(q, self.heads) @ k.mT / k.shape[-1] ** 0.5, mask)
        found = (weights @ v).transpose(1, 2).flatten(2)
        return F.linear(found, self.output.weight.double(), self.output.bias.double()), weights


class Talkative(AllInOne):
    def forward(self, query, key, value, mask=None, projected=None):
        warnings.warn("attention!", stacklevel=1)
        print("projected before:", projected is not None, file=sys.stderr)
        return list(super().forward(query, key, value, mask, projected))


RIGHT = [
    AllInOne,
    HeadByHead,
    Einsums,
    HeadsInTheBatch,
    WithTheOperator,
    Wide,
    Talkative,
]

# Wrong


class Pieces(Stub):
    """The right answer in pieces, of which each wrong one changes some."""

    def cut(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def ask(self, query):
        return self.cut(self.query(query))

    def project(self, key, value):
        return self.cut(self.key(key)), self.cut(self.value(value))

    def scores(self, q, k):
        return q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])

    def weigh(self, scores, mask):
        if mask is None:
            return scores.softmax(-1)
        mask = mask.unsqueeze(-3)
        return scores.masked_fill(~mask, -1e9).softmax(-1) * mask

    def finish(self, found):
        return self.output(found.transpose(1, 2).flatten(2))

    def forward(self, query, key, value, mask=None, projected=None):
        k, v = self.project(key, value) if projected is None else projected
        weights = self.weigh(self.scores(self.ask(query), k), mask)
        return self.finish(weights @ v), weights


class KeepsTheProjection(Pieces):
    kept = None

    def forward(self, query, key, value, mask=None, projected=None):
        if projected is None and self.kept is None:
            self.kept = self.project(key, value)
        return super().forward(query, key, value, mask, projected or self.kept)


class KeepsTheMask(Pieces):
    kept = None

    def forward(self, query, key, value, mask=None, projected=None):
        self.kept = mask if self.kept is None else self.kept
        return super().forward(query, key, value, self.kept, projected)


class HeadsDealtOut(Pieces):
    def cut(self, x):
        return x.unflatten(-1, (-1, self.heads)).permute(0, 3, 1, 2)


class PutTogetherByComponents(Pieces):
    def finish(self, found):
        return self.output(found.permute(0, 2, 3, 1).flatten(2))


class ScaledTwice(Pieces):
    def scores(self, q, k):
        return super().scores(q, k) / math.sqrt(q.shape[-1])


class ScaledByTheHeads(Pieces):
    def scores(self, q, k):
        return q @ k.transpose(-2, -1) / math.sqrt(self.heads)


class ScaledAsInThePaper(Pieces):
    def scores(self, q, k):
        return q @ k.transpose(-2, -1) / 8


class QueryWithoutBias(Pieces):
    def ask(self, query):
        return self.cut(query @ self.query.weight.T)


class KeyWithoutBias(Pieces):
    """Changes no weights: the gradient of the bias is what is missing from project."""

    def project(self, key, value):
        return self.cut(key @ self.key.weight.T), self.cut(self.value(value))


class OutputWithoutBias(Pieces):
    def finish(self, found):
        return found.transpose(1, 2).flatten(2) @ self.output.weight.T


class TransposedMatrices(Pieces):
    def ask(self, query):
        return self.cut(query @ self.query.weight + self.query.bias)


class EmptyRowsWithoutTheBias(Pieces):
    """Where nothing may be attended the output is 0, not the bias of W^O."""

    def forward(self, query, key, value, mask=None, projected=None):
        output, weights = super().forward(query, key, value, mask, projected)
        return output * (weights.sum((1, 3)) > 0).unsqueeze(-1), weights


class EmptyRowsSeeEverything(Pieces):
    def weigh(self, scores, mask):
        if mask is not None:
            mask = mask | ~mask.any(-1, keepdim=True)
        return super().weigh(scores, mask)


class MaskOfTheFirstSentence(Pieces):
    def weigh(self, scores, mask):
        return super().weigh(scores, mask if mask is None or mask.dim() == 2 else mask[:1])


class MaskOfTheFirstQuery(Pieces):
    def weigh(self, scores, mask):
        return super().weigh(scores, None if mask is None else mask[..., :1, :])


class MaskAfterTheSoftmax(Pieces):
    def weigh(self, scores, mask):
        weights = scores.softmax(-1)
        return weights if mask is None else weights * mask.unsqueeze(-3)


class MaskOnTheFirstHeadOnly(Pieces):
    def weigh(self, scores, mask):
        free = super().weigh(scores[:, 1:], None)
        return torch.cat([super().weigh(scores[:, :1], mask), free], 1)


class MaskRepeatedInTheWrongOrder(Pieces):
    """With heads folded into the batch, repeat puts sentence 1's mask on head 1 of sentence 0."""

    def weigh(self, scores, mask):
        if mask is None:
            return scores.softmax(-1)
        B, h, T, N = scores.shape
        folded = mask.expand(B, T, N).repeat(h, 1, 1)
        weights = scores.flatten(0, 1).masked_fill(~folded, -1e9).softmax(-1) * folded
        return weights.unflatten(0, (B, h))


class MaskMustHaveThreeAxes(Pieces):
    def weigh(self, scores, mask):
        if mask is not None and mask.dim() != 3:
            raise ValueError("The mask must be (B, T, N).")
        return super().weigh(scores, mask)


class MaskMustBeGiven(Pieces):
    def forward(self, query, key, value, mask, projected=None):
        return super().forward(query, key, value, mask, projected)


class MaskOfPadding(Pieces):
    """Looks at key positions only, (B, N), and forgets which query asks."""

    def weigh(self, scores, mask):
        return super().weigh(scores, None if mask is None else mask.any(-2, keepdim=True))


class SoftmaxOverHeads(Pieces):
    def weigh(self, scores, mask):
        if mask is None:
            return scores.softmax(1)
        mask = mask.unsqueeze(-3)
        return scores.masked_fill(~mask, -1e9).softmax(1) * mask


class SoftmaxOverQueries(Pieces):
    def weigh(self, scores, mask):
        if mask is None:
            return scores.softmax(-2)
        mask = mask.unsqueeze(-3)
        return scores.masked_fill(~mask, -1e9).softmax(-2) * mask


class OneMapForAllHeads(Pieces):
    def weigh(self, scores, mask):
        return super().weigh(scores.mean(1, keepdim=True), mask).expand_as(scores)


class FirstHeadsMap(Pieces):
    def forward(self, query, key, value, mask=None, projected=None):
        output, weights = super().forward(query, key, value, mask, projected)
        return output, weights[:, 0]


class HeadsAdded(Pieces):
    def finish(self, found):
        return self.output(found.sum(1).repeat(1, 1, self.heads))


class SelfAttentionOnly(Pieces):
    def forward(self, query, key, value, mask=None, projected=None):
        return super().forward(query, query, query, mask, projected)


class LengthOfTheQuery(Pieces):
    """Cuts keys as if there were as many as queries."""

    def forward(self, query, key, value, mask=None, projected=None):
        B, T, d = query.shape
        if projected is None:
            shape = (B, T, self.heads, d // self.heads)
            k = self.key(key).view(shape).transpose(1, 2)
            projected = k, self.value(value).view(shape).transpose(1, 2)
        return super().forward(query, key, value, mask, projected)


class EightHeads(Pieces):
    def cut(self, x):
        return x.unflatten(-1, (8, -1)).transpose(1, 2)


class ProjectsTheProjected(Pieces):
    def forward(self, query, key, value, mask=None, projected=None):
        if projected is not None:
            projected = self.project(*(x.transpose(1, 2).flatten(2) for x in projected))
        return super().forward(query, key, value, mask, projected)


class ProjectedTheOtherWayRound(Pieces):
    def forward(self, query, key, value, mask=None, projected=None):
        if projected is not None:
            projected = projected[1], projected[0]
        return super().forward(query, key, value, mask, projected)


class ValuesBeforeKeys(Pieces):
    def project(self, key, value):
        return self.cut(self.value(value)), self.cut(self.key(key))

    def forward(self, query, key, value, mask=None, projected=None):
        if projected is None:
            v, k = self.project(key, value)
            projected = k, v
        return super().forward(query, key, value, mask, projected)


class KeyWanted(Pieces):
    """Looks at key although projected is given."""

    def forward(self, query, key, value, mask=None, projected=None):
        if key.shape != value.shape:
            raise ValueError("key and value must have one shape.")
        return super().forward(query, key, value, mask, projected)


class NoProjectedArgument(Pieces):
    def forward(self, query, key, value, mask=None):
        return super().forward(query, key, value, mask)


class NoProject(Stub):
    def forward(self, query, key, value, mask=None, projected=None):
        q = cut(self.query(query), self.heads)
        if projected is None:
            k, v = cut(self.key(key), self.heads), cut(self.value(value), self.heads)
        else:
            k, v = projected
        weights = weigh(q @ k.mT / q.shape[-1] ** 0.5, mask)
        return self.output((weights @ v).transpose(1, 2).flatten(2)), weights


class ProjectionCut(Pieces):
    def project(self, key, value):
        k, v = super().project(key, value)
        return k.detach(), v


class ProjectedCut(Pieces):
    """What was projected before is taken for a constant."""

    def forward(self, query, key, value, mask=None, projected=None):
        if projected is not None:
            projected = tuple(x.detach() for x in projected)
        return super().forward(query, key, value, mask, projected)


class WeightsCut(Pieces):
    def weigh(self, scores, mask):
        return super().weigh(scores, mask).detach()


class WeightsCutInTheResult(Pieces):
    def forward(self, query, key, value, mask=None, projected=None):
        output, weights = super().forward(query, key, value, mask, projected)
        return output, weights.detach()


class Residual(Pieces):
    def forward(self, query, key, value, mask=None, projected=None):
        output, weights = super().forward(query, key, value, mask, projected)
        return query + output, weights


class Normalised(Pieces):
    def finish(self, found):
        output = super().finish(found)
        return F.layer_norm(output, output.shape[-1:])


class DropoutLeftOn(Pieces):
    def weigh(self, scores, mask):
        return F.dropout(super().weigh(scores, mask), 0.1)


class QueryOverwritten(Pieces):
    def forward(self, query, key, value, mask=None, projected=None):
        with torch.no_grad():
            query /= math.sqrt(query.shape[-1] / self.heads)
        k, v = self.project(key, value) if projected is None else projected
        weights = self.weigh(self.ask(query) @ k.mT, mask)
        return self.finish(weights @ v), weights


class PaddingOverwritten(Pieces):
    def forward(self, query, key, value, mask=None, projected=None):
        if mask is not None and mask.dim() == 3 and key is not None:
            key[~mask.any(1)] = 0.0
        return super().forward(query, key, value, mask, projected)


class OneParameterMore(Pieces):
    def __init__(self, model_size, heads, dropout=0.0):
        super().__init__(model_size, heads, dropout)
        self.temperature = nn.Parameter(torch.ones(()))


class OtherParameters(Pieces):
    def __init__(self, model_size, heads, dropout=0.0):
        super().__init__(model_size, heads, dropout)
        self.output = nn.Linear(model_size, model_size, bias=False)


class NewMatrices(Pieces):
    def ask(self, query):
        layer = nn.Linear(query.shape[-1], query.shape[-1]).to(query.dtype)
        return self.cut(layer(query))


class In32(Pieces):
    def forward(self, query, key, value, mask=None, projected=None):
        output, weights = super().forward(query, key, value, mask, projected)
        return output.float(), weights.float()


class OutputAlone(Pieces):
    def forward(self, query, key, value, mask=None, projected=None):
        return super().forward(query, key, value, mask, projected)[0]


class Squeezed(Pieces):
    def forward(self, query, key, value, mask=None, projected=None):
        output, weights = super().forward(query, key, value, mask, projected)
        return output.squeeze(), weights.squeeze()


class ReturnsNothing(Pieces):
    def forward(self, query, key, value, mask=None, projected=None):
        super().forward(query, key, value, mask, projected)


WRONG = [
    KeepsTheProjection,
    KeepsTheMask,
    HeadsDealtOut,
    PutTogetherByComponents,
    ScaledTwice,
    ScaledByTheHeads,
    ScaledAsInThePaper,
    QueryWithoutBias,
    KeyWithoutBias,
    OutputWithoutBias,
    TransposedMatrices,
    EmptyRowsWithoutTheBias,
    EmptyRowsSeeEverything,
    MaskOfTheFirstSentence,
    MaskOfTheFirstQuery,
    MaskAfterTheSoftmax,
    MaskOnTheFirstHeadOnly,
    MaskRepeatedInTheWrongOrder,
    MaskMustHaveThreeAxes,
    MaskMustBeGiven,
    MaskOfPadding,
    SoftmaxOverHeads,
    SoftmaxOverQueries,
    OneMapForAllHeads,
    FirstHeadsMap,
    HeadsAdded,
    SelfAttentionOnly,
    LengthOfTheQuery,
    EightHeads,
    ProjectsTheProjected,
    ProjectedTheOtherWayRound,
    ValuesBeforeKeys,
    KeyWanted,
    NoProjectedArgument,
    NoProject,
    ProjectionCut,
    ProjectedCut,
    WeightsCut,
    WeightsCutInTheResult,
    Residual,
    Normalised,
    DropoutLeftOn,
    QueryOverwritten,
    PaddingOverwritten,
    OneParameterMore,
    OtherParameters,
    NewMatrices,
    In32,
    OutputAlone,
    Squeezed,
    ReturnsNothing,
]
