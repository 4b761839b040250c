"""Reduces an outcome to one number, a fingerprint by which two answers are compared.

A fingerprint is a weighted sum of all numbers in an outcome. Answers that agree to the last digits
have the same fingerprint; because the weights are pseudorandom, others do not. The outcomes of
known mistakes on the students' cases are stored in this form.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import lru_cache

import torch
from torch import Tensor

from autograder.diagnose.compare import FailureSignature
from autograder.spec.exercise import Case
from autograder.spec.outcome import Outcome

_NAN, _INFINITE = 5.3, 7.9  # numbers in place of NaN and infinity
_NUMBERS_AT_MOST = 100_000  # in one tensor
_TOLERANCE = 2e-7


def compute_fingerprint(case: Case, outcome: Outcome, complaint: FailureSignature | None) -> float:
    """Return the fingerprint of an answer's outcome on a case, in float64.

    Args:
        case: the case; entries that do not count in it are left out.
        outcome: the outcome.
        complaint: the failure signature of a random case, whose values alone mean nothing; None for
            any other case.
    """
    if complaint is not None:
        said = complaint if not complaint.about_gradients else FailureSignature()
        return _hash_words(said.kind, said.name, said.sentence)
    total = 0.0
    if outcome.problem and outcome.problem[0] != "gradient":
        total += _hash_words(outcome.problem[0])
    for name in outcome.mutated:
        total += _hash_words("changed", name)
    for name, tensor in outcome.outputs.items():
        real = case.valid_masks.get(name)
        if real is not None and tensor.shape[: real.dim()] == real.shape:
            if not torch.isfinite(tensor).all():  # not even padding may have such values
                total += _hash_words("not finite", name)
            tensor = tensor[real]
        total += _of_tensor(name, tensor)
    return total


def compute_gradient_fingerprint(outcome: Outcome, complaint: FailureSignature | None) -> float:
    """Return the fingerprint of the gradients, which matter only if the values are right."""
    if complaint is not None:
        return _hash_words(complaint.kind, complaint.name, complaint.sentence)
    total = _hash_words(*(outcome.problem or ("",))[:1])
    for name, gradient in outcome.gradients.items():
        total += _hash_words("none", name) if gradient is None else _of_tensor(name, gradient)
    return total


def do_fingerprints_match(one: float, other: float) -> bool:
    """Return whether two fingerprints belong to the same outcome."""
    return abs(one - other) <= _TOLERANCE * (1 + abs(one) + abs(other))


def combine_fingerprints(fingerprints: Sequence[float]) -> tuple[float, float]:
    """Combine an answer's fingerprints on all cases into two numbers, to save space."""
    values = torch.tensor(fingerprints, dtype=torch.float64)
    weights = _weights(len(fingerprints))
    return float(values @ weights), float(values @ weights.flip(0).square())


def _hash_words(*words: str) -> float:
    """Return a number that identifies words, or 0 for no words."""
    text = "\0".join(words).strip("\0")
    return zlib.crc32(text.encode()) / 2**28 if text else 0.0


def _of_tensor(name: str, tensor: Tensor) -> float:
    shape = _hash_words(name, str(tuple(tensor.shape))) * 0.1
    if tensor.numel() > _NUMBERS_AT_MOST:  # no case has this many; the shape says enough
        return shape
    numbers = tensor.detach().double().flatten()
    # Scores of masked positions may be as large as a float can be.
    squashed = torch.asinh(numbers)
    squashed = torch.where(numbers.isinf(), numbers.sign() * _INFINITE, squashed)
    squashed = torch.where(numbers.isnan(), _NAN, squashed)
    weighted = squashed @ _weights(numbers.numel())
    return shape + float(weighted) * _factor(name)


@lru_cache(maxsize=64)
def _weights(count: int) -> Tensor:
    """Return fixed weights between 1/2 and 3/2, divided by the square root of their number."""
    steps = torch.arange(1.0, count + 1, dtype=torch.float64)
    drawn = torch.remainder(steps * 0.6180339887498949 + (steps * steps) * 0.7548776662466927, 1.0)
    return (drawn + 0.5) / max(count, 1) ** 0.5


@lru_cache(maxsize=512)
def _factor(name: str) -> float:
    return 1 + zlib.crc32(name.encode()) / 2**32
