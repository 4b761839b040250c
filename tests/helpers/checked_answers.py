"""Helpers of tests that hand answers to check()."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from autograder.checking.card import format_card_text
from autograder.checking.checker import verify
from autograder.exercises import EXERCISES
from autograder.spec.exercise import Exercise

SOFTMAX, ATTENTION = EXERCISES["masked_softmax"], EXERCISES["AdditiveAttention"]


def solve_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Return what masked_softmax is to return."""
    weights = torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)
    return torch.nan_to_num(weights, nan=0.0)


def give_name(answer: Any, name: str = "masked_softmax") -> Any:
    """Return the answer under the name by which check() finds its exercise."""
    answer.__name__ = name
    return answer


def write_card(answer: Callable[..., Any], exercise: Exercise = SOFTMAX) -> str:
    """Return the card of a wrong answer."""
    verdict = verify(answer, exercise)
    assert not verdict.passed
    return format_card_text(verdict)


def find_headline(name: str, answer: Callable[..., Any]) -> str:
    """Return the first line of the card of an answer to the exercise of this name."""
    return verify(answer, EXERCISES[name]).headline
