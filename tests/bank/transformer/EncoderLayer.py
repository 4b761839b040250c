"""Answers to `EncoderLayer`."""

import sys
import warnings

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Stub(nn.Module):
    """What the stub gives: the layers."""

    def __init__(
        self,
        model_size: int,
        attention: nn.Module,
        feed_forward: nn.Module,
        dropout: float = 0.0,
        eps: float = 1e-5,
    ):
        super().__init__()
        self.attention = attention
        self.attention_norm = nn.LayerNorm(model_size, eps=eps)
        self.feed_forward = feed_forward
        self.feed_forward_norm = nn.LayerNorm(model_size, eps=eps)
        self.dropout = nn.Dropout(dropout)


# Right


class Plain(Stub):
    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        found, _ = self.attention(x, x, x, mask)
        a = self.attention_norm(x + self.dropout(found))
        return self.feed_forward_norm(a + self.dropout(self.feed_forward(a)))


class ByKeyword(Stub):
    def forward(self, x, mask=None):
        found = self.attention(query=x, key=x, value=x, mask=mask)[0]
        x = self.attention_norm(self.dropout(found) + x)
        return self.feed_forward_norm(self.dropout(self.feed_forward(x)) + x)


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
        x = self._norm(x + self.attention(x, x, x, mask)[0], self.attention_norm)
        return self._norm(x + self.feed_forward(x), self.feed_forward_norm)


class SentenceBySentence(Stub):
    def forward(self, x, mask=None):
        rows = []
        for i in range(len(x)):
            one = x[i : i + 1]
            m = None if mask is None else mask.expand(len(x), -1, -1)[i : i + 1]
            one = self.attention_norm(one + self.attention(one, one, one, m)[0])
            rows.append(self.feed_forward_norm(one + self.feed_forward(one)))
        return torch.cat(rows)


class FullMask(Stub):
    """Spreads the mask to its full shape; a mask of True where there is none."""

    def forward(self, x, mask=None):
        n = x.shape[1]
        if mask is None:
            mask = torch.ones(1, 1, 1, dtype=torch.bool, device=x.device)
        mask = mask.expand(len(x), n, n)
        x = self.attention_norm(x + self.attention(x, x, x, mask)[0])
        return self.feed_forward_norm(x + self.feed_forward(x))


class ZeroOnPadding(Stub):
    """Sets the words that nobody may look at to 0, before and after."""

    def forward(self, x, mask=None):
        padding = None
        if mask is not None and mask.shape[1] == 1:
            padding = ~mask.transpose(1, 2)
            x = x.masked_fill(padding, 0.0)
        x = self.attention_norm(x + self.attention(x, x, x, mask)[0])
        x = self.feed_forward_norm(x + self.feed_forward(x))
        return x if padding is None else x.masked_fill(padding, 0.0)


class WideAndTalkative(Stub):
    def forward(self, x, mask=None):
        warnings.warn("adding in float64", stacklevel=1)
        print(x.shape, file=sys.stderr)
        total = x.double() + self.attention(x, x, x, mask)[0].double()
        x = self.attention_norm(total.to(x.dtype))
        return self.feed_forward_norm(x + self.feed_forward(x))


class Wide(Stub):
    def forward(self, x, mask=None):
        x = self.attention_norm(x + self.attention(x, x, x, mask)[0])
        return self.feed_forward_norm(x + self.feed_forward(x)).double()


RIGHT = [
    Plain,
    ByKeyword,
    WithSublayers,
    OwnNorms,
    SentenceBySentence,
    FullMask,
    ZeroOnPadding,
    WideAndTalkative,
    Wide,
]

# Wrong


class Pieces(Stub):
    """A right layer; each of the wrong ones below replaces one piece."""

    def look(self, x, mask):
        return self.attention(x, x, x, mask)[0]

    def first(self, x, found):
        return self.attention_norm(x + found)

    def second(self, a, fed):
        return self.feed_forward_norm(a + fed)

    def forward(self, x, mask=None):
        a = self.first(x, self.look(x, mask))
        return self.second(a, self.feed_forward(a))


class InvertedMask(Pieces):
    """As torch's own layers read it."""

    def look(self, x, mask):
        return super().look(x, None if mask is None else ~mask)


class AdditiveMask(Pieces):
    def look(self, x, mask):
        if mask is not None:
            mask = torch.zeros(mask.shape, dtype=x.dtype).masked_fill(~mask, float("-inf"))
        return super().look(x, mask)


class MaskOfTheFirst(Pieces):
    def look(self, x, mask):
        return super().look(x, None if mask is None else mask[:1])


class MaskTransposed(Pieces):
    def look(self, x, mask):
        return super().look(x, None if mask is None else mask.transpose(1, 2))


class CausalToo(Pieces):
    def look(self, x, mask):
        before = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril().unsqueeze(0)
        return super().look(x, before if mask is None else mask & before)


class PaddedMaskAlways(Pieces):
    """Takes for granted that the mask is that of padding."""

    def look(self, x, mask):
        return super().look(x, None if mask is None else mask[:, :1])


class NotItself(Pieces):
    def look(self, x, mask):
        others = ~torch.eye(x.shape[1], dtype=torch.bool).unsqueeze(0)
        return super().look(x, others if mask is None else mask & others)


class ResidualTwice(Pieces):
    def first(self, x, found):
        return self.attention_norm(2 * x + found)


class ResidualHalved(Pieces):
    def second(self, a, fed):
        return self.feed_forward_norm((a + fed) / 2 + a / 2)


class ResidualMultiplied(Pieces):
    def first(self, x, found):
        return self.attention_norm(x * found)


class ResidualDetached(Pieces):
    def first(self, x, found):
        return self.attention_norm(x.detach() + found)


class AttentionDetached(Pieces):
    def first(self, x, found):
        return self.attention_norm(x + found.detach())


class NetworkDetached(Pieces):
    def second(self, a, fed):
        return self.feed_forward_norm(a + fed.detach())


class NormAndNormAgain(Pieces):
    def second(self, a, fed):
        return self.feed_forward_norm(self.feed_forward_norm(a + fed))


class NormBeforeToo(Pieces):
    def look(self, x, mask):
        return super().look(self.attention_norm(x), mask)


class AttentionTwice(Pieces):
    def forward(self, x, mask=None):
        return super().forward(self.first(x, self.look(x, mask)), mask)


class NetworkTwice(Pieces):
    def second(self, a, fed):
        return self.feed_forward_norm(a + self.feed_forward(fed))


class SideBySide(Pieces):
    """Attention and network both read x, one norm for the sum."""

    def forward(self, x, mask=None):
        return self.feed_forward_norm(x + self.look(x, mask) + self.feed_forward(x))


class NormsWithoutEps(Pieces):
    """The usual eps, whatever is asked for."""

    def forward(self, x, mask=None):
        self.attention_norm.eps = self.feed_forward_norm.eps = 1e-5
        return super().forward(x, mask)


class EpsOfTheFirstOnly(Pieces):
    def forward(self, x, mask=None):
        self.feed_forward_norm.eps = 1e-5
        return super().forward(x, mask)


class NormWithoutGain(Pieces):
    def second(self, a, fed):
        return F.layer_norm(a + fed, a.shape[-1:], eps=self.feed_forward_norm.eps)


class DropoutLeftOn(Pieces):
    def first(self, x, found):
        return self.attention_norm(x + F.dropout(found, 0.2))


class OwnAttention(Pieces):
    """Softmax of dot products, whatever attention is given."""

    def look(self, x, mask):
        scores = x @ x.transpose(1, 2) / x.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e9)
        return scores.softmax(-1) @ x


class InsideTheAttention(Pieces):
    """Takes for granted that the attention is the one of attention.ipynb."""

    def look(self, x, mask):
        q, k, v = self.attention.query(x), self.attention.key(x), self.attention.value(x)
        return self.attention.output(F.scaled_dot_product_attention(q, k, v, mask))


class KeepsTheFirst(Pieces):
    """Keeps what the first batch found."""

    def look(self, x, mask):
        if not hasattr(self, "kept"):
            self.kept = super().look(x, mask)
        return self.kept


class InputOverwritten(Pieces):
    def first(self, x, found):
        if not torch.is_grad_enabled():
            x += found
            return self.attention_norm(x)
        return super().first(x, found)


class WeightsReturnedToo(Pieces):
    def forward(self, x, mask=None):
        return super().forward(x, mask), self.attention(x, x, x, mask)[1]


class WholeTupleAdded(Pieces):
    def look(self, x, mask):
        return self.attention(x, x, x, mask)


class ReturnsNothing(Pieces):
    def forward(self, x, mask=None):
        super().forward(x, mask)


class BatchMixed(Pieces):
    """Depends on who else is in the batch."""

    def second(self, a, fed):
        return super().second(a, fed + 0.01 * fed.mean(0))


WRONG = [
    InvertedMask,
    AdditiveMask,
    MaskOfTheFirst,
    MaskTransposed,
    CausalToo,
    PaddedMaskAlways,
    NotItself,
    ResidualTwice,
    ResidualHalved,
    ResidualMultiplied,
    ResidualDetached,
    AttentionDetached,
    NetworkDetached,
    NormAndNormAgain,
    NormBeforeToo,
    AttentionTwice,
    NetworkTwice,
    SideBySide,
    NormsWithoutEps,
    EpsOfTheFirstOnly,
    NormWithoutGain,
    DropoutLeftOn,
    OwnAttention,
    InsideTheAttention,
    KeepsTheFirst,
    InputOverwritten,
    WeightsReturnedToo,
    WholeTupleAdded,
    ReturnsNothing,
    BatchMixed,
]
