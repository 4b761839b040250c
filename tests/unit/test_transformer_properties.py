"""Tests of the properties of the Transformer's parts that chapter 8 measures."""

import pytest
import torch

from experiments import transformer_properties
from solutions.transformer.layers import EncoderLayer, sinusoidal_positions
from tests.helpers.small_models import small_transformer


def test_the_layers_compute_the_same_as_torchs_layers():
    compared = transformer_properties.compare_with_torch_layers()
    assert list(compared) == ["encoder layer", "decoder layer"]
    assert max(compared.values()) < 1e-5


def test_a_layer_without_its_residual_differs_from_torchs(monkeypatch):
    forward = EncoderLayer.forward
    monkeypatch.setattr(EncoderLayer, "forward", lambda self, x, mask: forward(self, x, mask) - x)
    compared = transformer_properties.compare_with_torch_layers()
    assert compared["encoder layer"] > 0.1


@pytest.mark.parametrize("k", [-7, 1, 12])
def test_a_rotation_turns_each_position_into_the_one_k_places_away(k):
    positions = sinusoidal_positions(100, 16)  # (T, d)
    turned = positions[20:80] @ transformer_properties.make_position_rotation(k, 16).T  # (60, d)
    torch.testing.assert_close(turned, positions[20 + k : 80 + k], atol=1e-4, rtol=0)


def test_the_shapes_of_all_parts_are_listed_in_the_order_of_the_pass():
    model = small_transformer(30, 16, 4, 32).eval()
    source, previous = torch.tensor([[4, 5, 6]]), torch.tensor([[2, 7]])
    shapes = transformer_properties.list_shapes(model, source, previous)
    assert [label for label, _ in shapes][-1] == transformer_properties.PARTS[""]
    assert dict(shapes)["encoder layer 1: weights"] == (1, 4, 3, 3)
    assert dict(shapes)["decoder layer 1: weights on the source"] == (1, 4, 2, 3)
    assert shapes[-1][1] == (1, 2, 30)
