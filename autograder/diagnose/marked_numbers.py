"""A line of a card whose numbers are marked as wrong or as not counting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from autograder.diagnose.compare import Difference


@dataclass(frozen=True)
class Mark:
    """The characters `start` to `end` of a line, and what is to be seen of the number there.

    Attributes:
        start: index of the first character.
        end: index after the last character.
        error: 0 for a number that does not count, such as padding; else how wrong the number is,
            relative to the most wrong number of its tensor: above 0, at most 1.
    """

    start: int
    end: int
    error: float


class MarkedLine(str):
    """A string with marks; whatever does not know marks uses it as a string.

    Attributes:
        marks: the marks, from left to right, without overlap.
        is_expected: whether the numbers are the expected ones, not those of the answer.
    """

    marks: tuple[Mark, ...]
    is_expected: bool

    def __new__(cls, text: str, marks: Sequence[Mark], is_expected: bool) -> MarkedLine:
        """Return the text with its marks."""
        line = super().__new__(cls, text)
        line.marks, line.is_expected = tuple(marks), is_expected
        return line


RIGHT, NOT_COUNTED = 0.0, -1.0


def measure_errors(fault: Difference) -> Tensor | None:
    """Return how wrong each number of an answer is, or None where numbers cannot be compared.

    Returns:
        a tensor in the shape of the output, with `RIGHT`, `NOT_COUNTED`, or the error relative to
        the largest one, above 0 and at most 1. A number that is not finite counts as the largest.
    """
    mine, right = fault.actual, fault.expected
    if mine is None or right is None or mine.shape != right.shape or not mine.numel():
        return None
    mine, right = mine.detach().double(), right.detach().double()
    counts = torch.ones_like(right, dtype=torch.bool)
    if fault.valid_mask is not None:
        mask = fault.valid_mask
        counts &= mask.reshape(*mask.shape, *[1] * (right.dim() - mask.dim()))
    wrong = counts & ~torch.isclose(mine, right, rtol=1e-5, atol=1e-5, equal_nan=True)
    errors = (mine - right).abs()
    finite = errors[wrong & torch.isfinite(errors)]
    largest = finite.max() if len(finite) else 1.0
    relative = (errors / largest).nan_to_num(1.0, posinf=1.0).clamp(0.05, 1.0)
    return relative.masked_fill(~wrong, RIGHT).masked_fill(~counts, NOT_COUNTED)
