"""Draws random test inputs from a seed, reproducibly on every machine and version."""

from __future__ import annotations

import random

import torch
from torch import Tensor


class SeededInputs:
    """Random sizes, tensors and masks from a seed.

    Only `random.Random.random` is used: Python promises that it gives the same numbers for the
    same seed in every version, so that the expected values stay true.
    """

    def __init__(self, seed: str):
        self._random = random.Random(seed)

    def integer(self, low: int, high: int) -> int:
        """Return an integer in [low, high]."""
        return low + int(self._random.random() * (high - low + 1))

    def sizes(self, count: int, low: int = 2, high: int = 8) -> list[int]:
        """Return sizes that all differ, so that no axis can be mistaken for another."""
        left = list(range(low, high + 1))
        return [left.pop(self.integer(0, len(left) - 1)) for _ in range(count)]

    def tensor(self, *shape: int, scale: float = 1.0, shift: float = 0.0) -> Tensor:
        """Return float64 numbers of mean `shift` and deviation `scale` that float32 holds exactly.

        The numbers are uniform in shift +- sqrt(3) scale.
        """
        count = 1
        for size in shape:
            count *= size
        reach = 3**0.5 * scale
        numbers = [shift + reach * (2 * self._random.random() - 1) for _ in range(count)]
        rounded = torch.tensor(numbers, dtype=torch.float32)
        return rounded.double().reshape(shape)

    def tokens(self, *shape: int, vocabulary_size: int) -> Tensor:
        """Return ids of real words: from 1, since 0 is padding."""
        count = 1
        for size in shape:
            count *= size
        return torch.tensor([self.integer(1, vocabulary_size - 1) for _ in range(count)]).reshape(
            shape
        )

    def lengths(self, batch: int, longest: int) -> Tensor:
        """Return ragged lengths, (B,): the longest is there, not in the first row, and a 1."""
        lengths = [self.integer(1, longest) for _ in range(batch)]
        lengths[-1] = longest
        if batch > 2:
            lengths[1] = 1
        if batch > 1:
            lengths[0] = max(1, min(lengths[0], longest - 1))
        return torch.tensor(lengths)

    def holes(self, *shape: int) -> Tensor:
        """Return a bool mask, True about two times in three, with at least one True in each row."""
        rows = 1
        for size in shape[:-1]:
            rows *= size
        mask = []
        for _ in range(rows):
            row = [self._random.random() < 0.67 for _ in range(shape[-1])]
            row[self.integer(0, shape[-1] - 1)] = True
            mask.append(row)
        return torch.tensor(mask).reshape(shape)


def round_to_float32(numbers: Tensor) -> Tensor:
    """Return float64 numbers rounded to what float32 holds exactly, as those drawn here are."""
    return numbers.float().double()


def increase_variance(vectors: Tensor, by: float) -> Tensor:
    """Return vectors (..., d) with `by` added to their first number and taken from their second.

    A LayerNorm divides by the deviation of a vector's numbers. Where that happens to be tiny,
    answers that are all right round differently in float32; it isn't if two numbers are far apart.
    """
    moved = vectors.clone()
    moved[..., 0] += by
    moved[..., 1] -= by
    return round_to_float32(moved)


def length_mask(lengths: Tensor, longest: int) -> Tensor:
    """Return bool (B, N), True where the position is below the length."""
    return torch.arange(longest) < lengths.unsqueeze(1)
