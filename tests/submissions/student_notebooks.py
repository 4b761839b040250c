"""Builder of submissions: the released notebooks with answers, as saved by Jupyter.

Notebooks are written without nbformat's validation, so that a broken one stays broken.
"""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.exercises import EXERCISES
from autograder.instructor.authoring.notebook_builder import ROOT, list_masters, make_notebook

ASSIGNMENT = "bahdanau"
MINE = [e for e in EXERCISES.values() if e.assignment == ASSIGNMENT]
POINTS = {e.name: float(e.points) for e in MINE}
SCORES = tuple(e.name for e in MINE if e.notebook == "scores")
TRANSLATOR = tuple(e.name for e in MINE if e.notebook == "translator")
NOTEBOOKS = {"scores": SCORES, "translator": TRANSLATOR}


@dataclass(frozen=True)
class Link:
    """A symbolic link."""

    target: str


@dataclass(frozen=True)
class Folder:
    """A folder where a file is expected."""


@dataclass(frozen=True)
class Pipe:
    """A named pipe, which blocks anyone who opens it for reading."""


Content = bytes | Link | Folder | Pipe
Files = dict[str, Content]  # by path in submitted/<student>/<assignment>/


@cache
def _released() -> dict[str, NotebookNode]:
    folder = ROOT / "exercises" / ASSIGNMENT
    return {name: nbformat.read(folder / f"{name}.ipynb", 4) for name in NOTEBOOKS}


@cache
def _references() -> dict[str, str]:
    pages = [
        make_notebook(m, EXERCISES) for m in list_masters() if m.parent.parent.name == ASSIGNMENT
    ]
    return {c.id: _unmarked(c.source) for page in pages for c in page.cells if c.id in POINTS}


def _unmarked(source: str) -> str:
    marks = ("### BEGIN SOLUTION", "### END SOLUTION")
    return "\n".join(line for line in source.splitlines() if line.strip() not in marks)


def reference(exercise: str) -> str:
    """Return a right answer as a student writes it in the solution cell."""
    return _references()[exercise]


def stub(exercise: str) -> str:
    """Return the solution cell as it was released."""
    return next(c.source for page in _released().values() for c in page.cells if c.id == exercise)


def text_of(page: Mapping) -> str:
    """Return a notebook as Jupyter saves it, whatever its content."""
    plain = json.loads(json.dumps(page))
    for cell in plain["cells"] if isinstance(plain.get("cells"), list) else []:
        if isinstance(cell, dict) and isinstance(cell.get("source"), str):
            cell["source"] = cell["source"].splitlines(keepends=True)
    return json.dumps(plain, indent=1, ensure_ascii=False) + "\n"


class Handed:
    """Both notebooks of a student, with a right answer in every solution cell.

    Attributes:
        pages: the notebooks by name; a released cell has its grade_id as id.
        others: files beside them or in their place; None removes a file.
    """

    def __init__(self, answers: Mapping[str, str] | None = None):
        self.pages: dict[str, NotebookNode] = copy.deepcopy(_released())
        self.others: dict[str, Content | None] = {}
        self._written = 0
        self.write(**(_references() if answers is None else answers))

    def page_of(self, name: str) -> NotebookNode:
        """Return the first notebook with a cell."""
        return next(p for p in self.pages.values() if any(c.get("id") == name for c in p.cells))

    def cell(self, name: str) -> NotebookNode:
        """Return the cell that was released under a grade_id."""
        return next(c for c in self.page_of(name).cells if c.get("id") == name)

    def index(self, name: str) -> int:
        """Return the index of the cell in its notebook."""
        return self.page_of(name).cells.index(self.cell(name))

    def write(self, **answers: str) -> None:
        """Replace the text of solution cells."""
        for name, source in answers.items():
            self.cell(name).source = source

    def own(self, source: str, kind: str = "code") -> NotebookNode:
        """Return a student's new cell, which is not yet in a notebook."""
        make: Callable[..., NotebookNode] = getattr(nbformat.v4, f"new_{kind}_cell")
        self._written += 1
        return make(source, id=f"{0xA11CE + self._written:08x}")

    def add(
        self,
        source: str,
        *,
        before: str = "",
        after: str = "",
        to: str = "scores",
        kind: str = "code",
    ) -> NotebookNode:
        """Add a cell before or after another one, or by default at the end of the notebook `to`."""
        cell = self.own(source, kind)
        if before or after:
            at = self.index(before or after) + (1 if after else 0)
            self.page_of(before or after).cells.insert(at, cell)
        else:
            self.pages[to].cells.append(cell)
        return cell

    def double(self, name: str, *, above: bool = False) -> NotebookNode:
        """Copy and paste a cell: the copy has the same metadata and another id."""
        twin = copy.deepcopy(self.cell(name))
        twin.id = self.own("").id
        self.page_of(name).cells.insert(self.index(name) + (0 if above else 1), twin)
        return twin

    def remove(self, *names: str) -> None:
        """Delete cells."""
        for name in names:
            page = self.page_of(name)
            page.cells.remove(self.cell(name))

    def all_cells(self) -> list[NotebookNode]:
        """Return the cells of both notebooks."""
        return [cell for page in self.pages.values() for cell in page.cells]

    def text(self, name: str) -> str:
        """Return a notebook as it would be saved now."""
        return text_of(self.pages[name])

    def save_as(self, path: str, content: str | Content | None, instead_of: str = "") -> None:
        """Add a file, and remove the notebook `instead_of`."""
        if instead_of:
            self.others[f"{instead_of}.ipynb"] = None
        self.others[path] = content.encode() if isinstance(content, str) else content

    def files(self) -> Files:
        """Return all submitted files."""
        found: dict[str, Content | None] = {
            f"{name}.ipynb": self.text(name).encode()
            for name in self.pages
            if f"{name}.ipynb" not in self.others
        }
        return {path: c for path, c in (found | self.others).items() if c is not None}


def lay(files: Files, folder: Path) -> None:
    """Write the submission to a student's folder."""
    folder.mkdir(parents=True)
    for path, content in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Link):
            place.symlink_to(content.target)
        elif isinstance(content, Folder):
            place.mkdir()
        elif isinstance(content, Pipe):
            os.mkfifo(place)
        else:
            place.write_bytes(content)
