"""Makes the notebooks that nbgrader reads from their text masters, `solutions/**/*.py`.

The masters are jupytext percent notebooks. A notebook made here has its `grade_id`s as cell ids, so
that it is the same every time, and the points of the exercises' declarations.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import jupytext
import nbformat

from autograder.exercises import EXERCISES

ROOT = Path(__file__).resolve().parents[2]
SOLUTIONS = ROOT / "solutions"


def masters(solutions: Path = SOLUTIONS) -> list[Path]:
    """Return the text masters of all notebooks, those with jupytext's header."""
    found = sorted(solutions.glob("*/*.py"))
    return [path for path in found if path.read_text(encoding="utf-8").startswith("# ---")]


def notebook(master: Path) -> nbformat.NotebookNode:
    """Return the notebook of a master.

    Raises:
        ValueError: a cell has no grade_id, two cells share one, or a graded cell names no exercise.
    """
    page = jupytext.read(master)
    page.metadata.pop("jupytext", None)
    page.nbformat, page.nbformat_minor = 4, 5
    seen: set[str] = set()
    for cell in page.cells:
        options = cell.metadata.get("nbgrader")
        if not options or "grade_id" not in options:
            raise ValueError(f"{master}: a cell has no grade_id: {cell.source[:60]!r}")
        name = options["grade_id"]
        if name in seen:
            raise ValueError(f"{master}: two cells have the grade_id {name!r}.")
        seen.add(name)
        options.update(schema_version=3, task=False)
        options.setdefault("cell_type", cell.cell_type)
        if options["grade"]:
            exercise = EXERCISES.get(name.removeprefix("test-"))
            if exercise is None:
                raise ValueError(
                    f"{master}: the graded cell {name!r} names no exercise; declare it in "
                    f"autograder/exercises/{master.parent.name}."
                )
            options["points"] = exercise.points
        cell.id = name
        cell.metadata.pop("lines_to_next_cell", None)
        tags = [tag for tag in cell.metadata.get("tags", []) if tag != "active-ipynb"]
        cell.metadata.pop("tags", None)
        if tags:
            cell.metadata["tags"] = tags
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return page


def write_sources(solutions: Path = SOLUTIONS) -> list[Path]:
    """Write each master's notebook beside it if it changed; return all notebooks."""
    written = []
    for master in masters(solutions):
        path = master.with_suffix(".ipynb")
        text = _text(master, master.read_bytes())
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
        written.append(path)
    return written


@lru_cache(maxsize=100)
def _text(master: Path, content: bytes) -> str:
    """Return a notebook's file; a server loads nbgrader_config.py again for every page it shows."""
    return nbformat.writes(notebook(master)) + "\n"
