"""Digests of what determines an exercise's expected values: cases, solution and mistakes.

Comments, docstrings and empty lines do not count, so that hints and texts may change freely. The
titles of the mistakes of functions that a solution calls do: they are part of what its check says.
The engine's own source does not count either; `make check` recomputes all values.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import json
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType
from typing import Any

from torch import Tensor

from autograder.instructor.authoring.mistake_parser import Card, read_cards
from autograder.instructor.authoring.notebook_builder import SOLUTIONS
from autograder.spec.exercise import Exercise

FORMAT = 1  # increase it when values are computed from the same cases in another way


def compute_digest(exercise: Exercise, seeds: tuple[int, ...], helpers: Iterable[Exercise]) -> str:
    """Return a digest that changes when an exercise's expected values have to be recomputed.

    Args:
        exercise: the exercise.
        seeds: those of its cases.
        helpers: the exercises whose functions the solution calls.
    """
    where = f"solutions.{exercise.assignment}.{exercise.notebook}"
    parts = [
        FORMAT,
        [describe(exercise.draw(seed)) for seed in seeds],
        _read_solution(f"{where}.solution"),
        _describe_mistakes(exercise),
        *map(_describe_helper, helpers),
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def describe(thing: Any) -> Any:
    """Return the content of a case as JSON data, the same with every version of Python and torch.

    Raises:
        TypeError: the case holds an object of a type that has no description here.
    """
    if thing is None or isinstance(thing, str | int | float):
        return thing
    if isinstance(thing, Tensor):
        numbers = hashlib.sha256(thing.detach().contiguous().numpy().tobytes()).hexdigest()
        return [str(thing.dtype), list(thing.shape), numbers]
    if is_dataclass(thing) and not isinstance(thing, type):
        values = {
            f.name: getattr(thing, f.name) for f in fields(thing) if not _is_default(thing, f)
        }
        return describe(values)
    if isinstance(thing, Mapping):
        return [[describe(key), describe(value)] for key, value in thing.items()]
    if isinstance(thing, list | tuple):
        return [describe(member) for member in thing]
    if isinstance(thing, partial):
        return describe([thing.func, thing.args, thing.keywords])
    if isinstance(thing, FunctionType):
        held = [cell.cell_contents for cell in thing.__closure__ or ()]
        return [read_code(inspect.getsource(thing)), describe(held)]
    raise TypeError(f"A case holds a {type(thing).__name__}, which has no description.")


def _is_default(thing: Any, field: Any) -> bool:
    value = getattr(thing, field.name)
    default = field.default_factory() if field.default_factory is not MISSING else field.default
    return type(value) is type(default) and not isinstance(value, Tensor) and value == default


def read_code(source: str) -> list[str]:
    """Return the lines of a source without comments, docstrings and empty lines."""
    source = textwrap.dedent(source)
    try:
        tree = ast.parse(source)
    except SyntaxError:  # a lambda, cut out of its statement
        return [source.strip()]
    text: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                text.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return [
        line.rstrip()
        for number, line in enumerate(source.splitlines(), 1)
        if number not in text and line.strip() and not line.lstrip().startswith("#")
    ]


@cache
def _read_solution(module: str) -> tuple[str, ...]:
    """Return the code of a notebook, and of the other notebooks that it imports."""
    source = _find_source(module)
    code = read_code(source)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("solutions."):
            code += _read_solution(f"{node.module}.solution")
    return tuple(code)


def _describe_mistakes(exercise: Exercise) -> Any:
    """Return the code of an exercise's mistakes, without their titles and hints."""
    cards = _read_cards(exercise)
    return describe([[c.slug, c.arrows, [(f.method, f.code) for f in c.fences]] for c in cards])


def _describe_helper(helper: Exercise) -> list[Any]:
    titles = [card.title for card in _read_cards(helper)]
    return [helper.name, titles, _describe_mistakes(helper)]


def _read_cards(exercise: Exercise) -> list[Card]:
    page = read_cards(SOLUTIONS / exercise.assignment / exercise.notebook / "mistakes.md")
    return [*page[""], *page.get(exercise.name, [])]


def _find_source(module: str) -> str:
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"There is no module {module}.")
    return Path(spec.origin).read_text(encoding="utf-8")
