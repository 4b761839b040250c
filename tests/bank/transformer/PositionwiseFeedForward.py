"""Answers to `PositionwiseFeedForward`."""

import sys
import warnings

import torch
import torch.nn.functional as F
from torch import nn


class Stub(nn.Module):
    """What the stub gives: the layers."""

    def __init__(self, model_size: int, inner_size: int):
        super().__init__()
        self.inner = nn.Linear(model_size, inner_size)
        self.outer = nn.Linear(inner_size, model_size)


# Right


class WithRelu(Stub):
    def forward(self, x):
        return self.outer(F.relu(self.inner(x)))


class WithClamp(Stub):
    def forward(self, x):
        return self.outer(self.inner(x).clamp(min=0))


class WithMatrices(Stub):
    def forward(self, x):
        hidden = x @ self.inner.weight.T + self.inner.bias
        hidden = hidden * (hidden > 0)
        return hidden @ self.outer.weight.T + self.outer.bias


class WithConvolutions(Stub):
    """The paper's other description: two convolutions with kernel size 1."""

    def forward(self, x):
        rows = x.reshape(-1, x.shape[-1]).T.unsqueeze(0)  # (1, d, all positions)
        hidden = F.conv1d(rows, self.inner.weight.unsqueeze(-1), self.inner.bias).relu()
        found = F.conv1d(hidden, self.outer.weight.unsqueeze(-1), self.outer.bias)
        return found[0].T.reshape(x.shape)


class PositionByPosition(Stub):
    def forward(self, x):
        flat = x.flatten(0, -2)
        rows = [self.outer(torch.maximum(self.inner(row), row.new_zeros(()))) for row in flat]
        return torch.stack(rows).view_as(x)


class WithEinsum(Stub):
    def forward(self, x):
        hidden = torch.einsum("...d,md->...m", x, self.inner.weight) + self.inner.bias
        hidden = (hidden + hidden.abs()) / 2
        return torch.einsum("...m,dm->...d", hidden, self.outer.weight) + self.outer.bias


class WideAndTalkative(Stub):
    def forward(self, x):
        warnings.warn("in float64", stacklevel=1)
        print(x.shape, file=sys.stderr)
        w1, b1 = self.inner.weight.double(), self.inner.bias.double()
        w2, b2 = self.outer.weight.double(), self.outer.bias.double()
        return F.linear(F.linear(x.double(), w1, b1).relu(), w2, b2).to(x.dtype)


class Wide(Stub):
    def forward(self, x):
        return self.outer(self.inner(x).relu()).double()


RIGHT = [
    WithRelu,
    WithClamp,
    WithMatrices,
    WithConvolutions,
    PositionByPosition,
    WithEinsum,
    WideAndTalkative,
    Wide,
]

# Wrong


class Pieces(Stub):
    """A right network; each of the wrong ones below replaces one piece."""

    def bend(self, hidden):
        return hidden.relu()

    def forward(self, x):
        return self.outer(self.bend(self.inner(x)))


class LeakyRelu(Pieces):
    def bend(self, hidden):
        return F.leaky_relu(hidden)


class Sigmoid(Pieces):
    def bend(self, hidden):
        return hidden.sigmoid()


class Absolute(Pieces):
    def bend(self, hidden):
        return hidden.abs()


class Softmax(Pieces):
    def bend(self, hidden):
        return hidden.softmax(-1)


class Squared(Pieces):
    def bend(self, hidden):
        return hidden.relu().square()


class NegativePart(Pieces):
    def bend(self, hidden):
        return hidden.clamp(max=0)


class ReluCutAtOne(Pieces):
    def bend(self, hidden):
        return hidden.clamp(0, 1)


class Swish(Pieces):
    def bend(self, hidden):
        return F.silu(hidden)


class ReluDetached(Pieces):
    def bend(self, hidden):
        return hidden.relu().detach()


class GateDetachedFromInput(Pieces):
    def forward(self, x):
        return super().forward(x.detach())


class DropoutLeftOn(Pieces):
    def bend(self, hidden):
        return F.dropout(hidden.relu(), 0.1)


class Normalised(Pieces):
    def forward(self, x):
        return F.layer_norm(super().forward(x), x.shape[-1:])


class LayersSwapped(Pieces):
    """Where the sizes allow it."""

    def forward(self, x):
        if self.inner.weight.shape == self.outer.weight.shape:
            return self.inner(self.outer(x).relu())
        return super().forward(x)


class MixesPositions(Pieces):
    def bend(self, hidden):
        return hidden.relu() + 0.01 * hidden.mean(-2, keepdim=True)


class OnePositionOnly(Pieces):
    def forward(self, x):
        return super().forward(x[:, :1]).expand_as(x)


class WithoutBiases(Pieces):
    def forward(self, x):
        return self.bend(x @ self.inner.weight.T) @ self.outer.weight.T


class LayersWithoutBias(Pieces):
    def __init__(self, model_size, inner_size):
        super().__init__(model_size, inner_size)
        self.outer = nn.Linear(inner_size, model_size, bias=False)


class OtherNames(nn.Module):
    def __init__(self, model_size, inner_size):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(model_size, inner_size), nn.ReLU(), nn.Linear(inner_size, model_size)
        )

    def forward(self, x):
        return self.layers(x)


class InnerReturned(Pieces):
    def forward(self, x):
        return self.bend(self.inner(x))


class InputOverwritten(Pieces):
    def forward(self, x):
        x += 0 * x + 1e-3
        return super().forward(x - 1e-3)


class ThreeAxesOnly(Pieces):
    def forward(self, x):
        b, t, d = x.shape[0], x.shape[1], x.shape[2]
        return super().forward(x.reshape(b, t, d))


class ReturnsNothing(Pieces):
    def forward(self, x):
        super().forward(x)


WRONG = [
    LeakyRelu,
    Sigmoid,
    Absolute,
    Softmax,
    Squared,
    NegativePart,
    ReluCutAtOne,
    Swish,
    ReluDetached,
    GateDetachedFromInput,
    DropoutLeftOn,
    Normalised,
    LayersSwapped,
    MixesPositions,
    OnePositionOnly,
    WithoutBiases,
    LayersWithoutBias,
    OtherNames,
    InnerReturned,
    InputOverwritten,
    ThreeAxesOnly,
    ReturnsNothing,
]
