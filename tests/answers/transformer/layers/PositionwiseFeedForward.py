"""Answers to `PositionwiseFeedForward`."""

import sys
import warnings

import torch
import torch.nn.functional as F
from torch import nn

from tests.answers.stubs import stub

Stub = stub("PositionwiseFeedForward")

# Right


class WithMatrices(Stub):
    def forward(self, x):
        hidden = x @ self.inner.weight.T + self.inner.bias
        hidden = hidden * (hidden > 0)
        return hidden @ self.outer.weight.T + self.outer.bias


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


RIGHT = [WithMatrices, PositionByPosition, WithEinsum, WideAndTalkative, Wide]

# Wrong


class Pieces(Stub):
    """A right network; each of the wrong ones below replaces one piece."""

    def bend(self, hidden):
        return hidden.relu()

    def forward(self, x):
        return self.outer(self.bend(self.inner(x)))


class LayersSwapped(Pieces):
    """Where the sizes allow it."""

    def forward(self, x):
        if self.inner.weight.shape == self.outer.weight.shape:
            return self.inner(self.outer(x).relu())
        return super().forward(x)


class OnePositionOnly(Pieces):
    def forward(self, x):
        return super().forward(x[:, :1]).expand_as(x)


class OtherNames(nn.Module):
    def __init__(self, model_size, inner_size):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(model_size, inner_size), nn.ReLU(), nn.Linear(inner_size, model_size)
        )

    def forward(self, x):
        return self.layers(x)


class InputOverwritten(Pieces):
    def forward(self, x):
        x += 0 * x + 1e-3
        return super().forward(x - 1e-3)


class ThreeAxesOnly(Pieces):
    def forward(self, x):
        b, t, d = x.shape[0], x.shape[1], x.shape[2]
        return super().forward(x.reshape(b, t, d))


WRONG = [LayersSwapped, OnePositionOnly, OtherNames, InputOverwritten, ThreeAxesOnly]
