"""Reads `solutions/<assignment>/<notebook>/mistakes.py`: each function or class
there is one mistake.

Its docstring's first line is the title of the card, the rest is the hint.
"""

from __future__ import annotations

import importlib
import inspect
from dataclasses import dataclass
from typing import Any

from autograder.exercise import Exercise


@dataclass(frozen=True)
class Mistake:
    """A wrong implementation that people really write."""

    slug: str
    title: str
    hint: str
    code: Any


def known_mistakes(exercise: Exercise) -> list[Mistake]:
    """Return the registered mistakes of an exercise.

    Raises:
        ValueError: one has no title or no hint.
    """
    where = f"solutions.{exercise.assignment}.{exercise.notebook}"
    module = importlib.import_module(f"{where}.mistakes")
    mistakes = []
    for code in module.MISTAKES.get(exercise.name, []):
        title, _, hint = (inspect.getdoc(code) or "").partition("\n\n")
        if not title or not hint:
            raise ValueError(f"{code.__name__}: its docstring needs a title and a hint.")
        mistakes.append(
            Mistake(code.__name__, " ".join(title.split()), " ".join(hint.split()), code)
        )
    return mistakes
