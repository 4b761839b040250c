"""Grades one notebook: rebuilds it, runs it in the sandbox, judges the answers.

A cell that ends or hangs the process is run again with its definitions alone, or left out if that
does not help, and the rest with it; so one bad line costs nothing but itself.
"""

from __future__ import annotations

import ast
import html
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import nbformat
from nbformat import NotebookNode
from torch import Tensor

from autograder.instructor.grading.examination import (
    Examination,
    card,
    fingerprint,
    part_key,
    without_verdict,
)
from autograder.instructor.grading.rebuilding import Rebuilt, rebuild
from autograder.instructor.grading.records import ExerciseResult, NotebookResult
from autograder.instructor.grading.sandbox import End, Run, Sandbox
from autograder.instructor.grading.source import Source, SourceCell
from autograder.instructor.grading.submissions import Handed, defines
from autograder.judging import Verdict
from autograder.sandbox.wire import text_of

GOES_AT_MOST = 40  # how often a notebook is run, if its cells keep ending the process
HANGS_AT_MOST = 3  # how many of them may take their full time
_PART = 1_000_000  # indexes from here on are parts of an exercise

Answer = tuple[Mapping[str, Any], Mapping[str, Tensor]]


@dataclass(frozen=True)
class Graded:
    """A graded notebook: what is recorded, and the page that feedback is made of."""

    result: NotebookResult
    page: NotebookNode


@dataclass
class _Found:
    """What several goes at a notebook brought."""

    outputs: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    answers: dict[int, Answer] = field(default_factory=dict)
    stopped: dict[int, str] = field(default_factory=dict)  # cells that ended the process, and how
    reduced: dict[int, str] = field(default_factory=dict)  # the same, of which definitions are run
    goes: int = 0


class Grader:
    """Grades notebooks of an assignment; may be used by several threads.

    Args:
        assignment: its name.
        sources: its notebooks.
        sandbox: runs the students' code, and has the examination's cases.
        examination: judges.
        tests: fingerprints of the exercises' tests, by exercise; made if not given.
    """

    def __init__(
        self,
        assignment: str,
        sources: Mapping[str, Source],
        sandbox: Sandbox,
        examination: Examination,
        tests: Mapping[str, str] | None = None,
    ):
        self.assignment = assignment
        self.sources = sources
        self._sandbox = sandbox
        self._examination = examination
        self._tests = dict(tests) if tests is not None else fingerprints(sources)

    def grade(
        self,
        student: str,
        notebook: str,
        handed: Handed,
        beside: Mapping[str, bytes],
        only: Collection[str] | None = None,
    ) -> Graded:
        """Grade one notebook.

        Args:
            student: nbgrader's name of the student.
            notebook: name of the source notebook.
            handed: what was handed in for it.
            beside: the files beside it.
            only: names of the exercises to grade; all of them if None.
        """
        started = time.monotonic()
        source = self.sources[notebook]
        rebuilt = rebuild(source, handed.cells or ())
        wanted = {c.exercise.name for c in source.graded if c.exercise}
        wanted = wanted if only is None else wanted & set(only)
        refused = _borrowed_from(rebuilt)
        found = _Found()
        if handed.cells is not None:
            self._go(rebuilt, beside, wanted, refused, found)
        results, review = [], [handed.review] if handed.review else []
        for index, cell in rebuilt.graded.items():
            assert cell.exercise is not None
            if handed.cells is None:
                sentence = text_of(handed.remarks[0], 1_000)
                verdict, outcome = without_verdict(cell.exercise, sentence), "missing"
            elif index in refused:
                verdict, outcome = without_verdict(cell.exercise, _BORROWED), "refused"
            elif cell.exercise.name not in wanted:
                verdict, outcome = (
                    without_verdict(cell.exercise, "Not graded this time."),
                    "missing",
                )
            else:
                verdict, outcome = self._verdict(index, cell, rebuilt, found)
            points = cell.exercise.points if verdict.passed else 0.0
            stubs = source.names.stubs
            begun = outcome == "unwritten" and _begun(cell.exercise.name, rebuilt, stubs)
            if (outcome == "wrong" or begun) and cell.exercise.parts:
                points, verdict = self._parts(index, cell, rebuilt, beside, found, verdict)
                outcome = "part" if points else outcome
            answer = found.answers.get(index, ({}, {}))[0].get("answer")
            broken = found.stopped.get(index) == "broken" and not verdict.passed
            if broken or answer == "unusable":
                review.append(f"{cell.exercise.name}: {verdict.headline}")
            results.append(self._result(cell, points, outcome, verdict))
            rebuilt.page.cells[index].outputs = [nbformat.from_dict(card(verdict))]
        remarks = [*handed.remarks, *rebuilt.remarks, *_stops(rebuilt, found)]
        for index, outputs in found.outputs.items():
            if index < _PART and index not in rebuilt.graded:
                rebuilt.page.cells[index].outputs = [nbformat.from_dict(o) for o in outputs]
        if handed.cells is None:
            remarks = list(handed.remarks)
        # Names of files may hold what is no text.
        remarks = [text_of(remark, 1_000) for remark in remarks]
        _note(rebuilt.page, remarks)
        result = NotebookResult(
            student,
            self.assignment,
            notebook,
            handed.digest,
            tuple(results),
            tuple(remarks),
            text_of(" ".join(dict.fromkeys(review)), 2_000),
            round(time.monotonic() - started, 3),
        )
        return Graded(result, rebuilt.page)

    def failed(self, student: str, notebook: str, handed: Handed, error: Exception) -> Graded:
        """Return what is recorded of a notebook that we could not grade; it is tried again."""
        rebuilt = rebuild(self.sources[notebook], ())
        sentence = "This notebook could not be graded; your instructor has been told."
        results = []
        for index, cell in rebuilt.graded.items():
            assert cell.exercise is not None
            verdict = without_verdict(cell.exercise, sentence)
            results.append(self._result(cell, 0.0, "stopped", verdict))
            rebuilt.page.cells[index].outputs = [nbformat.from_dict(card(verdict))]
        _note(rebuilt.page, [sentence])
        review = f"The grader failed: {type(error).__name__}: {str(error)[:300]}"
        result = NotebookResult(
            student, self.assignment, notebook, "", tuple(results), (sentence,), review
        )
        return Graded(result, rebuilt.page)

    def _result(
        self, cell: SourceCell, points: float, outcome: str, verdict: Verdict
    ) -> ExerciseResult:
        assert cell.exercise is not None
        return ExerciseResult(
            cell.exercise.name,
            cell.id,
            float(points),
            float(cell.exercise.points),
            outcome,
            verdict.headline.split("\n")[0],
            verdict.misconception,
            self._tests[cell.exercise.name],
        )

    def _go(
        self,
        rebuilt: Rebuilt,
        beside: Mapping[str, bytes],
        wanted: Collection[str],
        refused: Collection[int],
        found: _Found,
        parts: Mapping[int, tuple[int, int]] | None = None,
    ) -> None:
        """Run the notebook until it comes to its end or has been tried often enough."""
        goes = 0
        hangs = 0
        while goes < GOES_AT_MOST and hangs < HANGS_AT_MOST:
            cells = []
            for index, cell in enumerate(rebuilt.page.cells):
                graded = rebuilt.graded.get(index)
                if graded is None:
                    if cell.cell_type == "code" and cell.source.strip():
                        text = cell.source if index not in found.reduced else _defined(cell.source)
                        cells.append({"index": index, "source": text})
                elif parts is not None:
                    cells += self._part_cells(graded, index, parts, found)
                elif graded.exercise is None or graded.exercise.name not in wanted:
                    continue
                elif index not in refused and not _complete(found.answers.get(index)):
                    name = graded.exercise.name
                    cells.append({"index": index, "exercise": name, "cases": name})
            if goes and not any("exercise" in cell for cell in cells):
                return  # only the cells after the last exercise are left
            run = self._sandbox.run(cells, beside, sorted(found.stopped))
            goes += 1
            found.goes += 1
            found.outputs |= run.outputs
            for index, answer in run.answers.items():
                if not _complete(found.answers.get(index)):
                    found.answers[index] = answer
            if run.end.at is None and not run.end.why:
                return
            hangs += run.end.why == "time"
            # Who writes to the grader's channel once does it again.
            if not _blame(run, rebuilt, found) or run.end.why == "broken":
                return

    def _part_cells(
        self,
        graded: SourceCell,
        index: int,
        parts: Mapping[int, tuple[int, int]],
        found: _Found,
    ) -> list[dict[str, Any]]:
        assert graded.exercise is not None
        return [
            {
                "index": key,
                "exercise": graded.exercise.name,
                "cases": part_key(graded.exercise, number),
            }
            for key, (where, number) in parts.items()
            if where == index and key not in found.answers
        ]

    def _verdict(
        self, index: int, cell: SourceCell, rebuilt: Rebuilt, found: _Found
    ) -> tuple[Verdict, str]:
        """Return the verdict on one answer, and the kind of outcome."""
        exercise = cell.exercise
        assert exercise is not None
        if index in found.stopped and not _complete(found.answers.get(index)):
            sentence = _STOPPED[found.stopped[index]].format(
                name=exercise.name, seconds=f"{self._sandbox.times.exercise:g}"
            )
            return without_verdict(exercise, sentence), "stopped"
        header, tensors = found.answers.get(index, ({"answer": "lost"}, {}))
        if header.get("answer") == "tried":
            verdict = self._examination.judge(exercise, header, tensors)
            if verdict.passed:
                return verdict, "right"
            if _unwritten(header):
                return verdict, "unwritten"
            if "is the whole answer" in verdict.headline:
                return verdict, "refused"
            return verdict, "wrong"
        if header.get("answer") == "unusable":
            sentence = text_of(header.get("sentence"), 500)
            return without_verdict(exercise, sentence), "wrong"
        if header.get("answer") == "missing":
            return without_verdict(exercise, _why_missing(exercise.name, rebuilt, found)), "missing"
        sentence = (
            f"{exercise.name} could not be tried: the notebook's process kept ending before its "
            "check."
        )
        return without_verdict(exercise, sentence), "stopped"

    def _parts(
        self,
        index: int,
        cell: SourceCell,
        rebuilt: Rebuilt,
        beside: Mapping[str, bytes],
        found: _Found,
        verdict: Verdict,
    ) -> tuple[float, Verdict]:
        """Try the parts of an answer that is not right as a whole; return the points for them."""
        exercise = cell.exercise
        assert exercise is not None
        keys = {_PART + n: (index, n) for n in range(len(exercise.parts))}
        more = _Found(stopped=dict(found.stopped), reduced=dict(found.reduced))
        self._go(rebuilt, beside, (), (), more, keys)
        earned, lines = 0.0, []
        for key, (_, number) in keys.items():
            part, answer = exercise.parts[number], more.answers.get(key)
            right = answer is not None and self._examination.passes(exercise, number, *answer)
            earned += part.points if right else 0.0
            lines.append(f"  {part.name}: {part.points if right else 0:g} of {part.points:g}")
        if earned >= exercise.points:  # each right alone, and wrong together
            earned -= min(part.points for part in exercise.parts)
        if not earned:
            return 0.0, verdict
        head = f"Points for what is right: {earned:g} of {exercise.points:g}."
        return earned, replace(verdict, details=(*verdict.details, "", head, *lines))


def fingerprints(sources: Mapping[str, Source]) -> dict[str, str]:
    """Return the fingerprints of the tests of all exercises."""
    graded = [cell.exercise for source in sources.values() for cell in source.graded]
    return {exercise.name: fingerprint(exercise) for exercise in graded if exercise}


_BORROWED = (
    "This notebook imports the course's solutions; only an answer of your own can be graded, so "
    "remove the import and write it yourself."
)
_STOPPED = {
    "time": "{name} did not come to its end in {seconds} seconds; is there a loop without end?",
    "killed": "{name} ended the process it ran in: a crash in compiled code, or too much memory.",
    "memory": "{name} took all the memory that a submission may use.",
    "exit": "{name} ended the process it ran in, as os._exit() does; return the result instead.",
    "broken": "{name} sent something that is no answer; it has to return tensors, no more.",
}
_LEFT_OUT = {
    "time": "took too long",
    "killed": "crashed the process, or took too much memory",
    "memory": "took nearly all the memory that a submission may use",
    "exit": "ended the process",
    "broken": "wrote to files that are not its own",
}


def _complete(answer: Answer | None) -> bool:
    """Tell whether an answer was tried to its end; one that was not there may come later."""
    if answer is None or answer[0].get("answer") != "tried":
        return False
    return not _unwritten(answer[0])


def _unwritten(header: Mapping[str, Any]) -> bool:
    """Tell whether a method was found that says only that it is not written yet."""
    outcomes = header.get("outcomes")
    problems = [
        entry.get("problem")
        for entry in (outcomes if isinstance(outcomes, list) else [])
        if isinstance(entry, dict)
    ]
    return any(isinstance(p, list) and p[:1] == ["unwritten"] for p in problems)


def _blame(run: Run, rebuilt: Rebuilt, found: _Found) -> bool:
    """Note which cell ended the process; False if it was none that can be left out."""
    end: End = run.end
    if end.at is None or end.at in found.stopped:
        return False
    ordinary = end.at < len(rebuilt.page.cells) and end.at not in rebuilt.graded
    if ordinary and end.at not in found.reduced and _defined(rebuilt.page.cells[end.at].source):
        found.reduced[end.at] = end.why
    else:
        found.stopped[end.at] = end.why
    return True


def _defined(text: str) -> str:
    """Return the functions, classes and imports of a cell, without what it does with them."""
    try:
        statements = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
    kept = [ast.unparse(statement) for statement in statements if isinstance(statement, kinds)]
    return "\n".join(kept)


def _stops(rebuilt: Rebuilt, found: _Found) -> list[str]:
    """Return what to tell the student about cells that were left out."""
    sentences = []
    for index, why in (found.reduced | found.stopped).items():
        if index >= _PART or index in rebuilt.graded:
            continue
        lines = rebuilt.page.cells[index].source.strip().splitlines()
        shown = lines[0][:60] if lines else ""
        what = "it was left out, and the rest was run without it."
        if index not in found.stopped:
            what = "only its functions, classes and imports were run, and the cells after it."
        sentences.append(f"The cell that begins with {shown!r} {_LEFT_OUT[why]}; {what}")
    return sentences


def _begun(name: str, rebuilt: Rebuilt, stubs: Collection[str]) -> bool:
    """Tell whether anything was written where an exercise is to be."""
    texts = [c.source for n, c in enumerate(rebuilt.page.cells) if n not in rebuilt.graded]
    return any(defines(text, name) and text.strip() not in stubs for text in texts)


def _why_missing(name: str, rebuilt: Rebuilt, found: _Found) -> str:
    for index, cell in enumerate(rebuilt.page.cells):
        if cell.cell_type == "code" and index not in rebuilt.graded and defines(cell.source, name):
            if index in found.stopped:
                return f"{name} is not there: its cell {_LEFT_OUT[found.stopped[index]]}."
            for output in found.outputs.get(index, []):
                if output["output_type"] == "error":
                    message = output["evalue"].split("\n")[0][:200]
                    return (
                        f"{name} is not there, because its cell stopped with "
                        f"{output['ename']}: {message}"
                    )
            return f"{name} is not there, though a cell defines it; was it deleted again?"
    return f"{name} is not there: no cell of the notebook defines it."


def _borrowed_from(rebuilt: Rebuilt) -> set[int]:
    """Return the graded cells that come after a cell which imports the course's solutions."""
    refused: set[int] = set()
    seen = False
    for index, cell in enumerate(rebuilt.page.cells):
        if index in rebuilt.graded:
            if seen:
                refused.add(index)
        elif cell.cell_type == "code" and not seen:
            seen = _imports_solutions(cell.source)
    return refused


def _imports_solutions(text: str) -> bool:
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
        if any(f"{name}.".startswith(_OURS) and name != "solutions" for name in names):
            return True
    return False


_OURS = ("solutions.", "autograder.instructor.")


def _note(page: NotebookNode, remarks: list[str]) -> None:
    """Say at the top of the page what happened to the notebook."""
    if remarks:
        lines = "\n".join(f"* {html.escape(remark)}" for remark in dict.fromkeys(remarks))
        text = f"**About this notebook**\n\n{lines}"
        page.cells.insert(0, nbformat.v4.new_markdown_cell(text, id="about-this-notebook"))
