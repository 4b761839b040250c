"""Tests of weight packing: text without escapes, and rejected models."""

import json

import pytest
import torch
from torch import nn

from coursekit.widgets.assets import script
from coursekit.widgets.live.weight_packing import ALPHABET, MOST, as_packed, pack, unpack
from tests.helpers.javascript import javascript


class Engine:
    """Return the engine's module for the tests' JavaScript."""

    _esm = script("live/engine")


def test_both_sides_have_one_alphabet():
    assert javascript(Engine, "ALPHABET.join('')") == ALPHABET
    assert len(set(ALPHABET)) == MOST == 87
    assert json.dumps(ALPHABET) == f'"{ALPHABET}"'
    assert not set(ALPHABET) & set("<>&'\"\\")


@pytest.mark.parametrize("levels", [3, 31, 87])
def test_levels_are_as_near_as_is_said(levels):
    module = nn.Linear(50, 20)
    module.weight.data[3] = 0
    sent = as_packed(module, levels)
    largest = module.weight.abs().amax(dim=1, keepdim=True)
    error = (sent.weight - module.weight).abs()
    assert bool((error <= largest / (levels - 1) * 1.002 + 1e-6).all())
    assert torch.equal(sent.bias, module.bias.half().float())
    assert sent is not module


def test_float16_keeps_eleven_bits_and_dtype_and_device_do_not_matter():
    module = nn.Linear(5, 4).double()
    packed = pack(module)
    assert packed == pack(module.float())
    assert torch.equal(unpack(packed)["weight"], module.weight.half().float())
    assert json.loads(json.dumps(packed)) == packed


@pytest.mark.parametrize("levels", [0, 1, 2, 30, 89, -3])
def test_levels_are_odd_and_few_enough(levels):
    with pytest.raises(ValueError, match="odd number from 3 to 87"):
        pack(nn.Linear(2, 2), levels)


def test_what_cannot_be_sent_is_refused_by_name():
    with pytest.raises(ValueError, match=r"^weight must be a vector or a matrix of floats\.$"):
        pack(nn.Conv1d(2, 2, 2))
    for value in (float("nan"), float("inf"), 1e5):
        module = nn.Linear(2, 2)
        nn.init.constant_(module.bias, value)
        with pytest.raises(ValueError, match=r"^bias has values that float16 cannot represent\.$"):
            pack(module)
