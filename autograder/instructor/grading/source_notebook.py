"""Source notebooks, from which every submission is rebuilt."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.preprocessors import ClearHiddenTests, ClearMarkScheme, ClearSolutions
from nbgrader.utils import compute_checksum, is_grade, is_locked, is_solution, is_task
from traitlets.config import Config

from autograder.instructor.authoring import notebook_builder
from autograder.instructor.authoring.notebook_parser import SourceError
from autograder.instructor.grading.submission_parser import NotebookIdentifiers
from autograder.spec.exercise import Exercise

TEST_PREFIX = notebook_builder.TEST_PREFIX


@dataclass(frozen=True)
class SourceCell:
    """A cell of a source notebook.

    Attributes:
        cell: the cell as in the source, with hidden tests and points.
        released: its text in the released notebook.
        exercise: exercise that a graded cell checks or a solution cell answers; None for other
            cells.
        role: "text", "code" (given code), "solution" or "graded", by the tests.
    """

    cell: NotebookNode
    released: str
    exercise: Exercise | None
    role: str

    @property
    def id(self) -> str:
        """Return the grade_id of the cell."""
        return str(self.cell.metadata.nbgrader.grade_id)

    @property
    def points(self) -> float:
        """Return the points of a cell that the tests or a person grade."""
        return float(self.cell.metadata.nbgrader.points)

    @property
    def by_hand(self) -> bool:
        """Return whether a person grades it: nbgrader's manually graded answer or task."""
        return is_task(self.cell) or (is_grade(self.cell) and is_solution(self.cell))


@dataclass(frozen=True)
class SourceNotebook:
    """A source notebook.

    Attributes:
        name: name of the notebook.
        cells: cells in order.
        metadata: metadata of the notebook.
        page: the notebook itself, as it was read.
        code_stub: code that replaces a solution in a released notebook.
    """

    name: str
    cells: tuple[SourceCell, ...]
    metadata: NotebookNode
    page: NotebookNode
    code_stub: str

    @cached_property
    def graded(self) -> tuple[SourceCell, ...]:
        """Return the cells that earn points by the tests."""
        return tuple(cell for cell in self.cells if cell.role == "graded")

    @cached_property
    def by_hand(self) -> tuple[SourceCell, ...]:
        """Return the cells that a person grades."""
        return tuple(cell for cell in self.cells if cell.by_hand)

    @cached_property
    def question_texts(self) -> frozenset[str]:
        """Return the ids of the text cells above a cell that a person grades, and of tasks."""
        found: set[str] = set()
        above: list[str] = []
        for cell in self.cells:
            if cell.by_hand:
                found |= {*above, cell.id} if cell.role == "text" else set(above)
            if cell.by_hand or cell.role in ("solution", "graded"):
                above = []
            elif cell.role == "text":
                above.append(cell.id)
        return frozenset(found)

    @cached_property
    def gradebook_cells(self) -> frozenset[tuple[str, str]]:
        """Return kind and grade_id of each cell that nbgrader's gradebook keeps."""
        found = set()
        for cell in self.cells:
            kinds = {
                "grade": is_grade(cell.cell),
                "solution": is_solution(cell.cell),
                "task": is_task(cell.cell),
            }
            kinds["source"] = any(kinds.values()) or is_locked(cell.cell)
            found |= {(kind, cell.id) for kind, is_one in kinds.items() if is_one}
        return frozenset(found)

    def list_untouched(self, page: NotebookNode) -> set[str]:
        """Return the grade_ids of solution cells that are unchanged since release, or missing."""
        texts = {c.metadata.get("nbgrader", {}).get("grade_id"): c.source for c in page.cells}
        return {
            cell.id
            for cell in self.cells
            if cell.role == "solution"
            and texts.get(cell.id, cell.released).strip() == cell.released.strip()
        }

    @cached_property
    def identifiers(self) -> NotebookIdentifiers:
        """Return what identifies a file as a submission of this notebook."""
        own = [cell for cell in self.cells if cell.role in ("solution", "graded") or cell.by_hand]
        return NotebookIdentifiers(
            frozenset(cell.id for cell in own),
            frozenset(cell.exercise.name for cell in own if cell.exercise),
            frozenset(c.released.strip() for c in own if c.role == "solution" or c.by_hand),
            frozenset(cell.id for cell in own if cell.by_hand),
        )

    @cached_property
    def modules(self) -> tuple[str, ...]:
        """Return the modules that its given code imports, so that they are imported only once."""
        given = [cell.released for cell in self.cells if cell.role == "code"]
        return tuple(dict.fromkeys(name for text in given for name in _list_imports(text)))


def _list_imports(text: str) -> Iterator[str]:
    try:
        tree = ast.parse(text)
    except SyntaxError:  # an IPython magic
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def read_sources(
    folder: Path, code_stub: str, exercises: Mapping[str, Exercise]
) -> dict[str, SourceNotebook]:
    """Return the source notebooks of an assignment, from text masters or from notebooks.

    Args:
        folder: the source folder of the assignment.
        code_stub: code that replaces a solution in a released notebook.
        exercises: the course's exercises, by name.

    Raises:
        SourceError: if one of the sources cannot be used.
    """
    found: dict[str, SourceNotebook] = {}
    if not folder.is_dir():
        return found
    for master in notebook_builder.list_masters(folder.parent):
        if master.parent.parent == folder:
            name = master.parent.name
            page = notebook_builder.make_notebook(master, exercises)
            with notebook_builder.add_path_to_errors(master):
                found[name] = parse_source(name, page, code_stub, exercises)
    for path in sorted(folder.glob("*.ipynb")):
        if path.stem not in found:
            with notebook_builder.add_path_to_errors(path):
                page = nbformat.read(path, 4)
                found[path.stem] = parse_source(path.stem, page, code_stub, exercises)
    return found


def list_exercises(sources: Mapping[str, SourceNotebook]) -> list[Exercise]:
    """Return the exercises that an assignment's notebooks grade."""
    graded = [cell.exercise for source in sources.values() for cell in source.graded]
    return [exercise for exercise in graded if exercise]


def parse_source(
    name: str, page: NotebookNode, code_stub: str, exercises: Mapping[str, Exercise]
) -> SourceNotebook:
    """Parse a notebook as a source notebook.

    Raises:
        SourceError: if a cell with tests checks none of the course's exercises.
    """
    released = copy.deepcopy(page)
    config = Config()
    config.ClearSolutions.code_stub = {"python": code_stub}
    for preprocessor in (ClearSolutions(config=config), ClearHiddenTests(), ClearMarkScheme()):
        released, _ = preprocessor.preprocess(released, {})
    cells: list[SourceCell] = []
    for cell, given in zip(page.cells, released.cells, strict=True):
        options = cell.metadata.setdefault("nbgrader", NotebookNode())
        identity = options.get("grade_id") or cell.get("id", f"cell-{len(cells)}")
        options.grade_id = identity
        for key in ("grade", "locked", "solution"):
            options.setdefault(key, False)
        exercise = exercises.get(str(identity).removeprefix(TEST_PREFIX))
        role = "text" if cell.cell_type != "code" else "code"
        if is_solution(cell):
            role = "solution"
        elif is_grade(cell):
            role = "graded"
            if exercise is None:
                raise SourceError(
                    f"{name}: the tests in the cell {identity!r} check none of the course's "
                    "exercises. Declare the exercise in autograder/exercises, or let a person "
                    'grade it: choose "Manually graded answer" in Create Assignment.'
                )
        if is_locked(cell) or is_grade(cell) or is_solution(cell) or is_task(cell):
            given.metadata.nbgrader = copy.deepcopy(options)
            options.checksum = compute_checksum(given)
        cells.append(SourceCell(cell, given.source, exercise, role))
    return SourceNotebook(name, tuple(cells), page.metadata, page, code_stub)
