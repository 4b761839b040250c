"""Answers to `EncoderLayer`."""

import torch
from torch import Tensor

from tests.answers.stubs import stub

Stub = stub("EncoderLayer")

# Right


class Plain(Stub):
    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        found, _ = self.attention(x, x, x, mask)
        a = self.attention_norm(x + self.dropout(found))
        return self.feed_forward_norm(a + self.dropout(self.feed_forward(a)))


class WithSublayers(Stub):
    """One helper for both sub-layers."""

    def _around(self, x, norm, sublayer):
        return norm(x + self.dropout(sublayer(x)))

    def forward(self, x, mask=None):
        x = self._around(x, self.attention_norm, lambda h: self.attention(h, h, h, mask)[0])
        return self._around(x, self.feed_forward_norm, self.feed_forward)


class OwnNorms(Stub):
    def _norm(self, x, norm):
        gap = x - x.mean(-1, keepdim=True)
        scale = (gap.square().mean(-1, keepdim=True) + norm.eps).rsqrt()
        return norm.weight * gap * scale + norm.bias

    def forward(self, x, mask=None):
        x = self._norm(x + self.dropout(self.attention(x, x, x, mask)[0]), self.attention_norm)
        return self._norm(x + self.dropout(self.feed_forward(x)), self.feed_forward_norm)


class SentenceBySentence(Stub):
    def forward(self, x, mask=None):
        rows = []
        for i in range(len(x)):
            one = x[i : i + 1]
            m = None if mask is None else mask.expand(len(x), -1, -1)[i : i + 1]
            one = self.attention_norm(one + self.dropout(self.attention(one, one, one, m)[0]))
            rows.append(self.feed_forward_norm(one + self.dropout(self.feed_forward(one))))
        return torch.cat(rows)


class Wide(Stub):
    def forward(self, x, mask=None):
        x = self.attention_norm(x + self.dropout(self.attention(x, x, x, mask)[0]))
        return self.feed_forward_norm(x + self.dropout(self.feed_forward(x))).double()


RIGHT = [Plain, WithSublayers, OwnNorms, SentenceBySentence, Wide]

# Wrong


class Pieces(Stub):
    """A right layer; each of the wrong ones below replaces one piece."""

    def look(self, x, mask):
        return self.attention(x, x, x, mask)[0]

    def first(self, x, found):
        return self.attention_norm(x + self.dropout(found))

    def second(self, a, fed):
        return self.feed_forward_norm(a + self.dropout(fed))

    def forward(self, x, mask=None):
        a = self.first(x, self.look(x, mask))
        return self.second(a, self.feed_forward(a))


class AdditiveMask(Pieces):
    def look(self, x, mask):
        if mask is not None:
            mask = torch.zeros(mask.shape, dtype=x.dtype).masked_fill(~mask, float("-inf"))
        return super().look(x, mask)


class MaskOfTheFirst(Pieces):
    def look(self, x, mask):
        return super().look(x, None if mask is None else mask[:1])


class PaddedMaskAlways(Pieces):
    """Takes for granted that the mask is that of padding."""

    def look(self, x, mask):
        return super().look(x, None if mask is None else mask[:, :1])


class EpsOfTheFirstOnly(Pieces):
    def forward(self, x, mask=None):
        self.feed_forward_norm.eps = 1e-5
        return super().forward(x, mask)


class DropoutOnTheSum(Pieces):
    def first(self, x, found):
        return self.attention_norm(self.dropout(x + found))


class DropoutWithoutScale(Pieces):
    """Drops, but does not make up for it."""

    def second(self, a, fed):
        kept = torch.rand_like(fed) >= self.dropout.p if self.training else 1.0
        return self.feed_forward_norm(a + kept * fed)


class KeepsTheFirst(Pieces):
    """Keeps what the first batch found."""

    def look(self, x, mask):
        if not hasattr(self, "kept"):
            self.kept = super().look(x, mask)
        return self.kept


WRONG = [
    AdditiveMask,
    MaskOfTheFirst,
    PaddedMaskAlways,
    EpsOfTheFirstOnly,
    DropoutOnTheSum,
    DropoutWithoutScale,
    KeepsTheFirst,
]
