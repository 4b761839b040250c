"""Tests that attention weights are recorded only inside the `with` block."""

from __future__ import annotations

import torch
from torch import nn

from coursekit.models.attention_hooks import recorded_weights


class Looks(nn.Module):
    def __init__(self, heads):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))
        self.heads = heads

    def forward(self, x):
        weights = self.scale * torch.full((len(x), self.heads, 3, 4), float(self.heads))
        return x, weights


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = Looks(2), Looks(5)
        self.pair = nn.LSTM(4, 3, batch_first=True)  # returns two objects that are not weights

    def forward(self, x):
        x = self.second(self.first(x)[0])[0]
        return self.pair(self.first(x)[0])[0]


def test_weights_by_name_in_order_of_the_calls_and_only_inside():
    model = Model()
    x = torch.randn(6, 3, 4)
    with recorded_weights(model) as weights:
        model(x)
    assert {name: len(calls) for name, calls in weights.items()} == {"first": 2, "second": 1}
    assert weights["second"][0].shape == (6, 5, 3, 4)
    assert not weights["first"][0].requires_grad
    model(x)
    assert len(weights["first"]) == 2


def test_an_error_inside_leaves_no_hook_behind():
    model = Model()
    try:
        with recorded_weights(model):
            raise KeyError
    except KeyError:
        pass
    assert not any(module._forward_hooks for module in model.modules())
