"""Answers to `MultiHeadAttention`."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from tests.answers.stubs import stub

Stub = stub("MultiHeadAttention")

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
        found = (self.dropout(weights) @ v).transpose(1, 2).contiguous().view(B, T, d)
        return self.output(found), weights


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
            found.append(torch.bmm(self.dropout(a), v[:, i]))
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
        found = torch.einsum("bhtn,bhnp->bhtp", self.dropout(a), v)
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
        found = torch.bmm(self.dropout(a), v).unflatten(0, (-1, self.heads))
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
        p = self.dropout.p if self.training else 0.0
        if mask is not None:
            mask = mask.unsqueeze(-3)
            real = mask.any(-1, keepdim=True)
            found = F.scaled_dot_product_attention(q, k, v, mask | ~real, dropout_p=p) * real
        else:
            found = F.scaled_dot_product_attention(q, k, v, dropout_p=p)
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
        found = (self.dropout(weights) @ v).transpose(1, 2).flatten(2)
        return F.linear(found, self.output.weight.double(), self.output.bias.double()), weights


RIGHT = [HeadByHead, Einsums, HeadsInTheBatch, WithTheOperator, Wide]

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
        return self.finish(self.dropout(weights) @ v), weights


class KeepsTheMask(Pieces):
    kept = None

    def forward(self, query, key, value, mask=None, projected=None):
        self.kept = mask if self.kept is None else self.kept
        return super().forward(query, key, value, self.kept, projected)


class MaskMustBeGiven(Pieces):
    def forward(self, query, key, value, mask, projected=None):
        return super().forward(query, key, value, mask, projected)


class ProjectedCut(Pieces):
    """What was projected before is taken for a constant."""

    def forward(self, query, key, value, mask=None, projected=None):
        if projected is not None:
            projected = tuple(x.detach() for x in projected)
        return super().forward(query, key, value, mask, projected)


class WeightsCut(Pieces):
    def weigh(self, scores, mask):
        return super().weigh(scores, mask).detach()


class DropoutOnTheHeads(Pieces):
    """On what the heads have found, not on their weights."""

    def forward(self, query, key, value, mask=None, projected=None):
        k, v = self.project(key, value) if projected is None else projected
        weights = self.weigh(self.scores(self.ask(query), k), mask)
        return self.finish(self.dropout(weights @ v)), weights


class DroppedWeightsReturned(Pieces):
    def forward(self, query, key, value, mask=None, projected=None):
        k, v = self.project(key, value) if projected is None else projected
        weights = self.dropout(self.weigh(self.scores(self.ask(query), k), mask))
        return self.finish(weights @ v), weights


class PaddingOverwritten(Pieces):
    def forward(self, query, key, value, mask=None, projected=None):
        if mask is not None and mask.dim() == 3 and key is not None:
            key[~mask.any(1)] = 0.0
        return super().forward(query, key, value, mask, projected)


WRONG = [
    KeepsTheMask,
    MaskMustBeGiven,
    ProjectedCut,
    WeightsCut,
    DropoutOnTheHeads,
    DroppedWeightsReturned,
    PaddingOverwritten,
]
