"""Finds graded cells that run after an import of the course's solutions."""

from __future__ import annotations

import ast
from functools import cache

from autograder.instructor.authoring.notebook_builder import SOLUTIONS
from autograder.instructor.grading.notebook_rebuilder import RebuiltNotebook


def find_cells_after_solution_import(rebuilt: RebuiltNotebook) -> set[int]:
    """Return the graded cells after a cell that imports the course's solutions."""
    refused: set[int] = set()
    seen = False
    for index, cell in enumerate(rebuilt.page.cells):
        if index in rebuilt.graded:
            if seen:
                refused.add(index)
        elif cell.cell_type == "code" and not seen:
            seen = imports_solutions(cell.source)
    return refused


def imports_solutions(text: str) -> bool:
    """Return whether a cell imports the course's solutions."""
    if "solutions" not in text and "instructor" not in text:
        return False
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False  # it cannot be run either
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        if any(f"{name}.".startswith(_list_course_prefixes()) for name in names):
            return True
    return False


@cache
def _list_course_prefixes() -> tuple[str, ...]:
    """Return the prefixes of the course's own modules; a student may also have a solutions.py."""
    mine = sorted(f"solutions.{path.name}." for path in SOLUTIONS.iterdir() if path.is_dir())
    return *mine, "autograder.instructor."
