"""Ids and strings that the exercises on BERT's inputs draw."""

from __future__ import annotations

from torch import Tensor

from autograder.spec.seeded_inputs import SeededInputs

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def draw_ids(draw: SeededInputs, *shape: int, below: int) -> Tensor:
    """Return ids from 0: no id means padding here."""
    return draw.tokens(*shape, vocabulary_size=below + 1) - 1


def draw_syllables(draw: SeededInputs, count: int) -> list[str]:
    """Return strings of two or three letters, none of which share a letter."""
    left = list(LETTERS)
    return [
        "".join(left.pop(draw.integer(0, len(left) - 1)) for _ in range(draw.integer(2, 3)))
        for _ in range(count)
    ]
