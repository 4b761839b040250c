"""Answer bank: right and wrong answers to every exercise, in the styles of real students.

`tests/answers/<assignment>/<notebook>/<exercise>.py` holds the answers to one exercise: RIGHT,
in many styles, and WRONG, none of which behaves like a registered mistake. They take nothing from
the solutions except what students are given, the constructor of a class. `source` extracts an
answer as a student would submit it.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import linecache
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from autograder.exercises import EXERCISES
from tests.answers.stubs import write_stub


@dataclass(frozen=True)
class Entry:
    """One answer in the bank."""

    exercise: str
    right: bool
    answer: Any

    @property
    def name(self) -> str:
        return f"{self.exercise}-{self.answer.__name__}"


def entries() -> list[Entry]:
    """Return all answers of all exercises."""
    found = []
    for exercise in EXERCISES.values():
        module = importlib.import_module(
            f"tests.answers.{exercise.assignment}.{exercise.notebook}.{exercise.name}"
        )
        found += [Entry(exercise.name, True, answer) for answer in module.RIGHT]
        found += [Entry(exercise.name, False, answer) for answer in module.WRONG]
    return found


def source(entry: Entry) -> str:
    """Return the answer as a student would submit it: one cell with only the code it needs.

    The answer gets the exercise's name.
    """
    text = Path(inspect.getfile(entry.answer)).read_text(encoding="utf-8")
    statements = ast.parse(text).body
    defined = {
        statement.name: statement
        for statement in statements
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef))
    }
    used, pending = set(), [entry.answer.__name__]
    while pending:
        name = pending.pop()
        if name not in used:
            used.add(name)
            walk = ast.walk(defined[name]) if name in defined else ()
            pending += [node.id for node in walk if isinstance(node, ast.Name)]
    imports = [s for s in statements if isinstance(s, (ast.Import, ast.ImportFrom))]
    imports = [s for s in imports if s.names[0].name != "stub"]
    given = [write_stub(entry.exercise)] if "Stub" in used else []
    kept = [s for name, s in defined.items() if name in used]
    cell = "\n\n\n".join([*map(ast.unparse, imports), *given, *map(ast.unparse, kept)])
    own = entry.answer.__name__
    if own == entry.exercise:
        return cell
    named = f"{own}.__name__ = {entry.exercise!r}\n{entry.exercise} = {own}"
    return f"{cell}\n\n\n{named}\n"


@cache
def handed_in(entry: Entry) -> Any:
    """Run the answer's cell on its own and return what it defines under the exercise's name."""
    cell, name = source(entry), f"<cell {entry.name}>"
    linecache.cache[name] = (len(cell), None, cell.splitlines(True), name)
    space: dict = {"__name__": "__main__"}
    exec(compile(cell, name, "exec"), space)
    return space[entry.exercise]
