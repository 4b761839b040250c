"""Runs a notebook in the sandbox, and reruns it without a cell that ended or hung the process.

The definitions in such a cell are kept if that helps, so that one bad line costs nothing but
itself.
"""

from __future__ import annotations

import ast
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from torch import Tensor

from autograder.instructor.grading.notebook_rebuilder import RebuiltNotebook
from autograder.instructor.grading.notebook_run import NotebookRun
from autograder.instructor.grading.sandbox_launcher import Sandbox
from autograder.instructor.grading.secret_cases import name_part
from autograder.instructor.grading.source_notebook import SourceCell
from autograder.spec.exercise import Exercise

MAX_RUNS = 40  # of a notebook whose cells keep ending the process
MAX_HANGS = 3  # runs that may time out; after one more, the notebook is not run again
WHY_LEFT_OUT = {
    "time": "took too long",
    "killed": "crashed the process, or took too much memory",
    "memory": "took nearly all the memory that a submission may use",
    "exit": "ended the process",
    "broken": "wrote to files that it must not change",
}
_FIRST_PART = 1_000_000  # indexes from here on stand for parts of an exercise
Answer = tuple[Mapping[str, Any], Mapping[str, Tensor]]
# Returns the cells to send to the sandbox for the graded cell with this index.
ExerciseCells = Callable[[int, SourceCell], Iterable[dict[str, Any]]]


class RepeatedRuns:
    """The runs of one notebook, and their results.

    Args:
        sandbox: runs the students' code.
        rebuilt: the notebook.
        other_files: contents of the files beside it, by name.
        until: value of `time.monotonic()` after which the notebook is not run again.

    Attributes:
        outputs: outputs of the student's own cells, by index.
        answers: frames and tensors received for the exercises, by index.
        stopped: how a cell ended the process, by index; such cells are no longer run.
        reduced: likewise, for cells of which only the definitions are still run.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        rebuilt: RebuiltNotebook,
        other_files: Mapping[str, bytes],
        until: float | None = None,
    ):
        self.rebuilt = rebuilt
        self.outputs: dict[int, list[dict[str, Any]]] = {}
        self.answers: dict[int, Answer] = {}
        self.stopped: dict[int, str] = {}
        self.reduced: dict[int, str] = {}
        self._sandbox, self._other_files, self._until = sandbox, other_files, until

    def is_late(self) -> bool:
        """Return whether there is no time for another run."""
        return self._until is not None and time.monotonic() > self._until

    def run_exercises(self, wanted: Collection[str], refused: Collection[int]) -> None:
        """Run the notebook and try the wanted exercises, except those in refused cells."""

        def list_cells(index: int, graded: SourceCell) -> Iterable[dict[str, Any]]:
            name = graded.exercise.name if graded.exercise else ""
            if name in wanted and index not in refused and not self.is_complete(index):
                yield {"index": index, "exercise": name, "cases": name}

        self._run_until_done(list_cells)

    def run_parts(self, index: int, exercise: Exercise) -> list[Answer | None]:
        """Run the notebook, try each part of one exercise, and return the answers."""
        parts = range(len(exercise.parts))
        runs = RepeatedRuns(self._sandbox, self.rebuilt, self._other_files, self._until)
        runs.stopped, runs.reduced = dict(self.stopped), dict(self.reduced)

        def list_cells(where: int, graded: SourceCell) -> Iterable[dict[str, Any]]:
            for part in parts:
                if where == index and _FIRST_PART + part not in runs.answers:
                    name = name_part(exercise, part)
                    yield {"index": _FIRST_PART + part, "exercise": exercise.name, "cases": name}

        runs._run_until_done(list_cells)
        return [runs.answers.get(_FIRST_PART + part) for part in parts]

    def is_complete(self, index: int) -> bool:
        """Return whether an answer was tried completely; a missing one may still come."""
        header = self.answers.get(index, ({}, {}))[0]
        return header.get("answer") == "tried" and not is_unwritten(header)

    def describe_stops(self) -> list[str]:
        """Return sentences for the student about the cells that were left out."""
        sentences = []
        for index, why in (self.reduced | self.stopped).items():
            if index >= _FIRST_PART or index in self.rebuilt.graded:
                continue
            lines = self.rebuilt.page.cells[index].source.strip().splitlines()
            shown = lines[0][:60] if lines else ""
            what = "it was skipped, and the rest was run without it."
            if index not in self.stopped:
                what = (
                    "only its functions, classes and imports were run, and then the cells after it."
                )
            sentences.append(f"The cell that begins with {shown!r} {WHY_LEFT_OUT[why]}; {what}")
        return sentences

    def _run_until_done(self, list_exercise_cells: ExerciseCells) -> None:
        """Run the notebook until it finishes or reaches the limits on runs and time."""
        count = hangs = 0
        while count < MAX_RUNS and hangs <= MAX_HANGS and not self.is_late():
            cells = self._list_cells(list_exercise_cells)
            if count and not any("exercise" in cell for cell in cells):
                return  # only the cells after the last exercise are left
            run = self._sandbox.run(cells, self._other_files, sorted(self.stopped))
            count += 1
            self.outputs |= {i: shown for i, shown in run.outputs.items() if i < _FIRST_PART}
            self.answers |= {i: a for i, a in run.answers.items() if not self.is_complete(i)}
            if run.end.at is None and not run.end.why:
                return
            hangs += run.end.why == "time"
            # Code that wrote to the grader's channel would do so again.
            if not self._record_culprit(run) or run.end.why == "broken":
                return

    def _list_cells(self, list_exercise_cells: ExerciseCells) -> list[dict[str, Any]]:
        cells: list[dict[str, Any]] = []
        for index, cell in enumerate(self.rebuilt.page.cells):
            graded = self.rebuilt.graded.get(index)
            if graded is not None:
                cells += list_exercise_cells(index, graded)
            elif cell.cell_type == "code" and cell.source.strip():
                reduced = index in self.reduced
                source = keep_definitions(cell.source) if reduced else cell.source
                cells.append({"index": index, "source": source})
        return cells

    def _record_culprit(self, run: NotebookRun) -> bool:
        """Record which cell ended the process; return False if no cell can be left out."""
        index, why = run.end.at, run.end.why
        if index is None or index in self.stopped:
            return False
        cells = self.rebuilt.page.cells
        ordinary = index < len(cells) and index not in self.rebuilt.graded
        if ordinary and index not in self.reduced and keep_definitions(cells[index].source):
            self.reduced[index] = why
        else:
            self.stopped[index] = why
        return True


def is_unwritten(header: Mapping[str, Any]) -> bool:
    """Return whether any case of an answer ended at an unwritten stub."""
    problems = [entry["problem"] for entry in header["outcomes"]]
    return any(problem and problem[0] == "unwritten" for problem in problems)


def keep_definitions(text: str) -> str:
    """Return the functions, classes and imports of a cell, without its other statements."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
    try:
        statements = ast.parse(text).body
        kept = [ast.unparse(statement) for statement in statements if isinstance(statement, kinds)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""  # a sum of a thousand terms can be parsed but not unparsed
    return "\n".join(kept)
