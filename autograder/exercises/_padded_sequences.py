"""Provides helpers for exercises on padded sequences: token ids, RNN weights, a second batch."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from autograder.spec.exercise import Case
from autograder.spec.seeded_inputs import SeededInputs, length_mask

_KEPT = (
    "The first batch through the module is right, a second one is not: keep nothing of one call "
    "for the next."
)

_ANY_PADDING = (
    "`lengths` says where a sentence ends, not the ids: what stands on padding is arbitrary."
)


def make_second_batch_case(
    first: Case, second: Case, name: str = "a second batch through the same module"
) -> Case:
    """Return a case that runs after another in the same module, constructed for the first."""
    return replace(
        second,
        name=name,
        init_arguments=first.init_arguments,
        weights=first.weights,
        note=_KEPT,
        preceding_case=replace(first, init_arguments={}, weights={}, valid_masks={}, upstream={}),
    )


def put_words_on_padding(draw: SeededInputs, case: Case, tokens: str, v: int) -> Case:
    """Return a case in which ids of words stand where padding is, as the stub allows.

    Args:
        draw: source of the ids.
        case: a case with an input `lengths`.
        tokens: name of the padded ids.
        v: size of their vocabulary.
    """
    ids = case.inputs[tokens]
    real = length_mask(case.inputs["lengths"], ids.shape[1])
    words = draw.tokens(*ids.shape, vocabulary_size=v)
    return replace(
        case,
        name="ids of words on padding",
        inputs={**case.inputs, tokens: torch.where(real, ids, words)},
        note=_ANY_PADDING,
    )


def padded_tokens(draw: SeededInputs, lengths: Tensor, longest: int, v: int) -> Tensor:
    """Return word ids (B, N), which are never 0, with 0 after the end of each sentence."""
    tokens = draw.tokens(len(lengths), longest, vocabulary_size=v)
    return tokens.masked_fill(~length_mask(lengths, longest), 0)


def recurrent(
    draw: SeededInputs, prefix: str, gates: int, inputs: int, hidden: int, suffix: str = ""
) -> dict[str, Tensor]:
    """Return the weights of one direction of a GRU (3 gates) or an LSTM (4), or of its cell."""
    rows = gates * hidden
    return {
        f"{prefix}weight_ih{suffix}": draw.tensor(rows, inputs, scale=0.6),
        f"{prefix}weight_hh{suffix}": draw.tensor(rows, hidden, scale=0.6),
        f"{prefix}bias_ih{suffix}": draw.tensor(rows, scale=0.3),
        f"{prefix}bias_hh{suffix}": draw.tensor(rows, scale=0.3),
    }


def both_directions(
    draw: SeededInputs, prefix: str, gates: int, inputs: int, hidden: int
) -> dict[str, Tensor]:
    """Return the weights of a bidirectional `nn.GRU` (3 gates) or `nn.LSTM` (4)."""
    ahead = recurrent(draw, prefix, gates, inputs, hidden, "_l0")
    return ahead | recurrent(draw, prefix, gates, inputs, hidden, "_l0_reverse")
