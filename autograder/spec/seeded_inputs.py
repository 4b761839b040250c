"""Draws random test inputs from a seed, reproducibly on every machine and version."""

from __future__ import annotations

import random

import torch
from torch import Tensor


class SeededInputs:
    """Draws random sizes, tensors and masks from a seed.

    Only `random.Random.random` is used: Python guarantees the same numbers for the same seed in
    every version, so that the expected values stay valid.
    """

    def __init__(self, seed: str):
        self._random = random.Random(seed)

    def integer(self, low: int, high: int) -> int:
        """Return an integer in [low, high]."""
        return low + int(self._random.random() * (high - low + 1))

    def sizes(self, count: int, low: int = 2, high: int = 8) -> list[int]:
        """Return distinct sizes, so that no axis can be mistaken for another."""
        left = list(range(low, high + 1))
        return [left.pop(self.integer(0, len(left) - 1)) for _ in range(count)]

    def tensor(self, *shape: int, scale: float = 1.0, shift: float = 0.0) -> Tensor:
        """Return a float64 tensor of random numbers that float32 holds exactly.

        The numbers are uniformly distributed in shift +- sqrt(3) scale, so that their mean is
        `shift` and their standard deviation is `scale`.
        """
        count = 1
        for size in shape:
            count *= size
        reach = 3**0.5 * scale
        numbers = [shift + reach * (2 * self._random.random() - 1) for _ in range(count)]
        rounded = torch.tensor(numbers, dtype=torch.float32)
        return rounded.double().reshape(shape)

    def tokens(self, *shape: int, vocabulary_size: int) -> Tensor:
        """Return ids of real words, which start from 1 because 0 is padding."""
        count = 1
        for size in shape:
            count *= size
        return torch.tensor([self.integer(1, vocabulary_size - 1) for _ in range(count)]).reshape(
            shape
        )

    def lengths(self, batch: int, longest: int) -> Tensor:
        """Return ragged lengths (B,) that end in `longest`.

        If B allows, the first is shorter and one is 1.
        """
        lengths = [self.integer(1, longest) for _ in range(batch)]
        lengths[-1] = longest
        if batch > 2:
            lengths[1] = 1
        if batch > 1:
            lengths[0] = max(1, min(lengths[0], longest - 1))
        return torch.tensor(lengths)

    def random_mask(self, *shape: int) -> Tensor:
        """Return a bool mask in which about two thirds are True, at least one in each row."""
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
    """Return float64 numbers rounded to float32 precision, like the numbers drawn here."""
    return numbers.float().double()


def increase_variance(vectors: Tensor, by: float) -> Tensor:
    """Return vectors (..., d) with `by` added to the first number, subtracted from the second.

    A LayerNorm divides by the standard deviation of a vector's numbers. If that happens to be tiny,
    right answers round differently in float32. Two numbers that are far apart prevent this.
    """
    moved = vectors.clone()
    moved[..., 0] += by
    moved[..., 1] -= by
    return round_to_float32(moved)


def length_mask(lengths: Tensor, longest: int) -> Tensor:
    """Return a bool mask (B, N), True where the position is below the length."""
    return torch.arange(longest) < lengths.unsqueeze(1)
