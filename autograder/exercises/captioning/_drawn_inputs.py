"""Inputs that several exercises on captioning draw."""

from __future__ import annotations

from torch import Tensor

from autograder.spec.exercise import Fake
from autograder.spec.seeded_inputs import SeededInputs


def reverse_memory_order(numbers: Tensor) -> Tensor:
    """Return the same numbers in another order of memory: the first two axes the other way."""
    return numbers.transpose(0, 1).contiguous().transpose(0, 1)


def draw_places(draw: SeededInputs, count: int, places: int) -> list[int]:
    """Return places that are not all the same."""
    first = draw.integer(0, places - 1)
    return [(first + step * step) % places for step in range(count)]


def make_twin_generators(seeds: dict[str, Fake]) -> dict[str, Fake]:
    """Return the seeds, and a twin of the generator: the same seed in a generator of its own."""
    return seeds | {"twin": seeds["generator"]}
