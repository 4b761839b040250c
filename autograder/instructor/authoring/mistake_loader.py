"""Loads the known mistakes of an exercise, with titles and hints, from `mistakes.py`.

In a mistake's docstring, the first paragraph is the title of the card, and the rest is the hint.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

from autograder.spec.exercise import Exercise


@dataclass(frozen=True)
class Mistake:
    """A wrong implementation that people really write."""

    slug: str
    title: str
    hint: str
    code: Any


def load_mistakes(exercise: Exercise) -> list[Mistake]:
    """Return the known mistakes of an exercise.

    Raises:
        ValueError: a mistake has no title or no hint, or stands above the first heading.
    """
    where = f"solutions.{exercise.assignment}.{exercise.notebook}"
    module = importlib.import_module(f"{where}.mistakes")
    mistakes = []
    for code in group_by_heading(module).get(exercise.name, []):
        title, _, hint = (inspect.getdoc(code) or "").partition("\n\n")
        if not title or not hint:
            raise ValueError(f"{code.__name__}: its docstring needs a title and a hint.")
        mistakes.append(
            Mistake(code.__name__, " ".join(title.split()), " ".join(hint.split()), code)
        )
    return mistakes


@cache
def group_by_heading(module: ModuleType) -> dict[str, list[Any]]:
    """Return the public functions and classes of a module, grouped by the heading above them."""
    source = inspect.getsource(module)
    names = {
        node.lineno: node.name
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")
    }
    found: dict[str, list[Any]] = {}
    for number, line in enumerate(source.splitlines(), 1):
        if heading := re.fullmatch(r"# %% (\w+)", line):
            under = found.setdefault(heading[1], [])
        elif number in names:
            if not found:
                raise ValueError(
                    f"{names[number]} stands above the first heading, `# %% exercise`."
                )
            under.append(getattr(module, names[number]))
    return found
