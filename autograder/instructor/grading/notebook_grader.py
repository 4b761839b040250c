"""Grades one notebook: rebuilds it, runs it in the sandbox and judges its answers.

If a cell ends or hangs the process, the notebook is run again with only the definitions of that
cell, or without the cell if that does not help. One bad line therefore costs nothing but itself.
"""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import nbformat
from nbformat import NotebookNode
from torch import Tensor

from autograder.diagnose.verdict import Verdict
from autograder.instructor.authoring.notebook_builder import SOLUTIONS
from autograder.instructor.grading.bubblewrap import NotebookRun, ProcessEnd, Sandbox
from autograder.instructor.grading.notebook_rebuilder import RebuiltNotebook, rebuild
from autograder.instructor.grading.result_records import ExerciseResult, NotebookResult
from autograder.instructor.grading.secret_cases import (
    SecretCases,
    hash_tests,
    make_card,
    make_untried_verdict,
    name_part,
)
from autograder.instructor.grading.settings import Grading
from autograder.instructor.grading.source_notebook import SourceCell, SourceNotebook, list_exercises
from autograder.instructor.grading.submission_parser import NotebookSubmission, defines_name
from autograder.instructor.sanitize import (
    CELL_AT_MOST,
    COLOURED_AT_MOST,
    OutputBudget,
    escape_markdown,
    is_slow_to_highlight,
    sanitize_line,
    sanitize_lines,
)
from autograder.spec.exercise import Exercise

MAX_RUNS = 40  # how often a notebook is run if its cells keep ending the process
MAX_HANGS = 3  # how many of them may use their full time; the rest is then run without them
DETAILS_AT_MOST = 4_000  # recorded characters of the case in which an answer is wrong
_PART = 1_000_000  # indexes from here on stand for parts of an exercise

Answer = tuple[Mapping[str, Any], Mapping[str, Tensor]]


@dataclass(frozen=True)
class GradedNotebook:
    """A graded notebook: the result to record, and the page from which feedback is made."""

    result: NotebookResult
    page: NotebookNode


@dataclass
class _RunResults:
    """Results of several runs of a notebook."""

    outputs: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    answers: dict[int, Answer] = field(default_factory=dict)
    stopped: dict[int, str] = field(default_factory=dict)  # cells that ended the process, and how
    reduced: dict[int, str] = field(default_factory=dict)  # likewise, but definitions are run
    until: float | None = None  # when there is no time for another run

    def late(self) -> bool:
        """Tell whether the time is up."""
        return self.until is not None and time.monotonic() > self.until


class NotebookGrader:
    """Grades notebooks of an assignment; several threads may use it.

    Args:
        assignment: name of the assignment.
        sources: its source notebooks, by name.
        sandbox: runs the students' code, and holds the secret cases.
        secret: the secret cases, which also judge the answers.
        tests: fingerprints of the exercises' tests, by exercise.
    """

    def __init__(
        self,
        assignment: str,
        sources: Mapping[str, SourceNotebook],
        sandbox: Sandbox,
        secret: SecretCases,
        tests: Mapping[str, str],
    ):
        self.assignment = assignment
        self.sources = sources
        self._sandbox = sandbox
        self._secret = secret
        self._tests = dict(tests)

    def grade(
        self,
        student: str,
        notebook: str,
        handed: NotebookSubmission,
        beside: Mapping[str, bytes],
        only: Collection[str] | None = None,
        until: float | None = None,
    ) -> GradedNotebook:
        """Grade one notebook.

        Args:
            student: nbgrader's name of the student.
            notebook: name of the source notebook.
            handed: what the student handed in for it.
            beside: contents of the files beside it, by name.
            only: names of the exercises to grade; all of them if None.
            until: value of `time.monotonic()` after which the notebook is not run again.
        """
        started = time.monotonic()
        source = self.sources[notebook]
        rebuilt = rebuild(source, handed.cells or ())
        wanted = {c.exercise.name for c in source.graded if c.exercise}
        wanted = wanted if only is None else wanted & set(only)
        refused = _find_cells_after_solution_import(rebuilt)
        brought = _RunResults(until=until)
        if handed.cells is not None:
            self._run_until_done(rebuilt, beside, wanted, refused, brought)
        results = []
        for index, cell in rebuilt.graded.items():
            assert cell.exercise is not None
            if handed.cells is None:
                sentence = sanitize_line(handed.remarks[0])
                verdict, outcome = make_untried_verdict(cell.exercise, sentence), "missing"
            elif index in refused:
                verdict, outcome = (
                    make_untried_verdict(cell.exercise, _SOLUTION_IMPORTED_MESSAGE),
                    "refused",
                )
            elif cell.exercise.name not in wanted:
                verdict, outcome = (
                    make_untried_verdict(cell.exercise, "Not graded this time."),
                    "missing",
                )
            else:
                verdict, outcome = self._find_verdict(index, cell, rebuilt, brought)
            points = cell.exercise.points if verdict.passed else 0.0
            stubs = source.names.stubs
            begun = outcome == "unwritten" and _begun(cell.exercise.name, rebuilt, stubs)
            if (outcome == "wrong" or begun) and cell.exercise.parts:
                points, verdict = self._try_parts(index, cell, rebuilt, beside, brought, verdict)
                outcome = "part" if points else outcome
            answer = brought.answers.get(index, ({}, {}))[0].get("answer")
            # Another cell's thread may have ended the process, or written to the channel.
            ended = brought.stopped.get(index) in ("exit", "killed", "broken")
            name, review = cell.exercise.name, []
            if brought.late() and outcome in ("stopped", "missing") and name in wanted:
                review.append(f"{name}: the time for the whole submission was over.")
            lost = outcome == "stopped" and index not in brought.stopped
            if (ended and not verdict.passed) or answer == "unusable" or lost:
                review.append(f"{name}: {verdict.headline}")
            if verdict.passed and cell.exercise.forbidden:
                review += self._find_doubts(index, cell.exercise, rebuilt, brought)
            mine = _make_result(cell, points, outcome, verdict, self._tests)
            results.append(replace(mine, review=sanitize_line(" ".join(dict.fromkeys(review)))))
            rebuilt.page.cells[index].outputs = [nbformat.from_dict(make_card(verdict))]
        remarks = [*handed.remarks, *rebuilt.remarks, *_describe_stops(rebuilt, brought)]
        room = OutputBudget()
        for index, outputs in sorted(brought.outputs.items()):
            if index < _PART and index not in rebuilt.graded:
                shown = room.fit(outputs)
                rebuilt.page.cells[index].outputs = [nbformat.from_dict(o) for o in shown]
        coloured = 0
        for cell in rebuilt.page.cells:
            if cell.cell_type == "code":  # readers see exactly what was run
                cell.source = sanitize_lines(cell.source, CELL_AT_MOST)
                coloured += len(cell.source)
                if coloured > COLOURED_AT_MOST or is_slow_to_highlight(cell.source):
                    cell.metadata["magics_language"] = "text"  # nbconvert's key for the language
        if handed.cells is None:
            remarks = list(handed.remarks)
        # File names may contain bytes that are not text.
        remarks = [sanitize_line(remark) for remark in remarks]
        _add_note(rebuilt.page, remarks)
        result = NotebookResult(
            student,
            self.assignment,
            notebook,
            handed.digest,
            tuple(results),
            tuple(remarks),
            " ".join(filter(None, [sanitize_line(handed.review), *(r.review for r in results)])),
            round(time.monotonic() - started, 3),
        )
        return GradedNotebook(result, rebuilt.page)

    def fail(self, student: str, notebook: str, why: str) -> GradedNotebook:
        """Return what to record for a notebook that could not be graded; it will be tried again."""
        return make_failed_result(
            self.sources[notebook], self.assignment, student, why, self._tests
        )

    def prepare(self) -> None:
        """Compute the expected values and wait for the sandbox, before processes are forked."""
        self._secret.prepare()
        self._sandbox.prepare()

    def begin(self) -> None:
        """Continue in a process that was forked from the prepared one."""
        self._sandbox.begin_in_fork()

    def _run_until_done(
        self,
        rebuilt: RebuiltNotebook,
        beside: Mapping[str, bytes],
        wanted: Collection[str],
        refused: Collection[int],
        brought: _RunResults,
        parts: Mapping[int, tuple[int, int]] | None = None,
    ) -> None:
        """Run the notebook until it finishes or has been tried often enough."""
        goes = 0
        hangs = 0
        while goes < MAX_RUNS and hangs <= MAX_HANGS and not brought.late():
            cells = []
            for index, cell in enumerate(rebuilt.page.cells):
                graded = rebuilt.graded.get(index)
                if graded is None:
                    if cell.cell_type == "code" and cell.source.strip():
                        text = (
                            cell.source
                            if index not in brought.reduced
                            else _keep_definitions(cell.source)
                        )
                        cells.append({"index": index, "source": text})
                elif parts is not None:
                    cells += self._part_cells(graded, index, parts, brought)
                elif graded.exercise is None or graded.exercise.name not in wanted:
                    continue
                elif index not in refused and not _complete(brought.answers.get(index)):
                    name = graded.exercise.name
                    cells.append({"index": index, "exercise": name, "cases": name})
            if goes and not any("exercise" in cell for cell in cells):
                return  # only the cells after the last exercise are left
            run = self._sandbox.run(cells, beside, sorted(brought.stopped))
            goes += 1
            brought.outputs |= run.outputs
            for index, answer in run.answers.items():
                if not _complete(brought.answers.get(index)):
                    brought.answers[index] = answer
            if run.end.at is None and not run.end.why:
                return
            hangs += run.end.why == "time"
            # Code that writes to the grader's channel once does so again.
            if not _record_culprit_cell(run, rebuilt, brought) or run.end.why == "broken":
                return

    def _part_cells(
        self,
        graded: SourceCell,
        index: int,
        parts: Mapping[int, tuple[int, int]],
        brought: _RunResults,
    ) -> list[dict[str, Any]]:
        assert graded.exercise is not None
        return [
            {
                "index": key,
                "exercise": graded.exercise.name,
                "cases": name_part(graded.exercise, number),
            }
            for key, (where, number) in parts.items()
            if where == index and key not in brought.answers
        ]

    def _find_verdict(
        self, index: int, cell: SourceCell, rebuilt: RebuiltNotebook, brought: _RunResults
    ) -> tuple[Verdict, str]:
        """Return the verdict on one answer, and the kind of outcome."""
        exercise = cell.exercise
        assert exercise is not None
        if index in brought.stopped and not _complete(brought.answers.get(index)):
            sentence = _STOPPED[brought.stopped[index]].format(
                name=exercise.name, seconds=f"{self._sandbox.times.exercise:g}"
            )
            return make_untried_verdict(exercise, sentence), "stopped"
        header, tensors = brought.answers.get(index, ({"answer": "lost"}, {}))
        if header["answer"] == "tried":
            verdict = self._secret.judge(exercise, header, tensors)
            if verdict.passed:
                return verdict, "right"
            if _unwritten(header):
                return verdict, "unwritten"
            if verdict.kind == "forbidden":
                return verdict, "refused"
            return verdict, "wrong"
        if header["answer"] == "unusable":
            sentence = sanitize_line(header["sentence"], 500)
            return make_untried_verdict(exercise, sentence), "wrong"
        if header["answer"] == "missing":
            return make_untried_verdict(
                exercise, _why_missing(exercise.name, rebuilt, brought)
            ), "missing"
        sentence = (
            f"{exercise.name} could not be tried: the notebook's process kept ending before its "
            "check."
        )
        return make_untried_verdict(exercise, sentence), "stopped"

    def _find_doubts(
        self, index: int, exercise: Exercise, rebuilt: RebuiltNotebook, brought: _RunResults
    ) -> Iterator[str]:
        """Yield reasons why a right answer may have called the operator that it had to write."""
        if self._secret.looks_called(exercise, *brought.answers[index]):
            yield _CALLED.format(name=exercise.name)
        for n, cell in enumerate(rebuilt.page.cells):
            if n in rebuilt.graded or cell.cell_type != "code":
                continue
            if found := _SUSPICIOUS_CODE.search(cell.source):
                yield _MAY_HAVE_CALLED.format(name=exercise.name, found=found[0])
                return

    def _try_parts(
        self,
        index: int,
        cell: SourceCell,
        rebuilt: RebuiltNotebook,
        beside: Mapping[str, bytes],
        brought: _RunResults,
        verdict: Verdict,
    ) -> tuple[float, Verdict]:
        """Try the parts of an answer that is wrong as a whole; return points and verdict."""
        exercise = cell.exercise
        assert exercise is not None
        keys = {_PART + n: (index, n) for n in range(len(exercise.parts))}
        more = _RunResults({}, {}, dict(brought.stopped), dict(brought.reduced), brought.until)
        self._run_until_done(rebuilt, beside, (), (), more, keys)
        earned, lines = 0.0, []
        for key, (_, number) in keys.items():
            part, answer = exercise.parts[number], more.answers.get(key)
            right = (
                answer is not None
                and answer[0]["answer"] == "tried"
                and self._secret.passes(exercise, number, *answer)
            )
            earned += part.points if right else 0.0
            lines.append(f"  {part.name}: {part.points if right else 0:g} of {part.points:g}")
        if earned >= exercise.points:  # each part is right alone, and wrong with the others
            earned -= min(part.points for part in exercise.parts)
        if not earned:
            return 0.0, verdict
        head = f"Points for what is right: {earned:g} of {exercise.points:g}."
        return earned, replace(verdict, details=(*verdict.details, "", head, *lines))


@contextmanager
def open_grader(
    assignment: str,
    sources: Mapping[str, SourceNotebook],
    settings: Grading,
    *,
    sandbox: Sandbox | None = None,
    seeds: Sequence[int | str] | None = None,
    tests: Mapping[str, str] | None = None,
) -> Iterator[NotebookGrader]:
    """Provide an assignment's grader with secret cases and a sandbox, which is closed at the end.

    Args:
        assignment: name of the assignment.
        sources: its source notebooks, by name.
        settings: settings of the course.
        sandbox: a sandbox that is already starting, to be used if it is of the right kind.
        seeds: seeds to draw the cases from; fresh, secret seeds unless given.
        tests: fingerprints of the exercises' tests, by exercise; computed unless given.

    Raises:
        SandboxError: no sandbox can be started.
    """
    if sandbox is not None and sandbox.unsafe != settings.unsafe:
        sandbox.close()
        sandbox = None
    with sandbox or Sandbox(settings.unsafe) as sandbox:
        secret = SecretCases(list_exercises(sources), seeds)
        modules = [module for source in sources.values() for module in source.modules]
        limits, times = settings.limits(), settings.times()
        sandbox.equip(settings.exercises, modules, secret.cases, limits, times)
        tests = tests if tests is not None else digest_tests(sources)
        yield NotebookGrader(assignment, sources, sandbox, secret, tests)


def make_failed_result(
    source: SourceNotebook, assignment: str, student: str, why: str, tests: Mapping[str, str]
) -> GradedNotebook:
    """Return what to record for a notebook that could not be graded.

    Args:
        source: source notebook.
        assignment, student: nbgrader's names.
        why: a sentence for the instructor.
        tests: fingerprints of the exercises' tests, by exercise.
    """
    rebuilt = rebuild(source, ())
    sentence = "This notebook could not be graded; your instructor has been told."
    results = []
    for index, cell in rebuilt.graded.items():
        assert cell.exercise is not None
        verdict = make_untried_verdict(cell.exercise, sentence)
        results.append(_make_result(cell, 0.0, "stopped", verdict, tests))
        rebuilt.page.cells[index].outputs = [nbformat.from_dict(make_card(verdict))]
    _add_note(rebuilt.page, [sentence])
    review = sanitize_line(why)
    result = NotebookResult(
        student, assignment, source.name, "", tuple(results), (sentence,), review
    )
    return GradedNotebook(result, rebuilt.page)


def _make_result(
    cell: SourceCell, points: float, outcome: str, verdict: Verdict, tests: Mapping[str, str]
) -> ExerciseResult:
    assert cell.exercise is not None
    return ExerciseResult(
        cell.exercise.name,
        cell.id,
        float(points),
        float(cell.exercise.points),
        outcome,
        sanitize_line(verdict.headline.split("\n")[0]),
        verdict.misconception,
        tests[cell.exercise.name],
        cases=verdict.cases,
        details=tuple(sanitize_lines("\n".join(verdict.details), DETAILS_AT_MOST).splitlines()),
    )


def digest_tests(sources: Mapping[str, SourceNotebook]) -> dict[str, str]:
    """Return the fingerprints of the tests of all exercises, by exercise."""
    return {exercise.name: hash_tests(exercise) for exercise in list_exercises(sources)}


_CALLED = (
    "{name}: it gives what torch's own operator gives, to the last bit. Calling that is forbidden, "
    "and was not noticed: look at the cells before it."
)
_MAY_HAVE_CALLED = (
    "{name}: it may call torch's own operator, which is forbidden: a cell with {found!r} can hide "
    "that; look at it."
)
# Code that no notebook needs, except to switch off the detection of forbidden operators.
_SUSPICIOUS_CODE = re.compile(
    r"autograder\.|EXERCISES|refus|forbid|ctypes|_dispatch|__import__|importlib|sys\.modules|\bgc\."
    r"|_getframe|f_back|f_locals|__dict__|__globals__|__builtins__|__subclasses__|inspect\.stack"
)
_SOLUTION_IMPORTED_MESSAGE = (
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
    """Tell whether an answer was tried completely; a missing one may come later."""
    if answer is None or answer[0].get("answer") != "tried":
        return False
    return not _unwritten(answer[0])


def _unwritten(header: Mapping[str, Any]) -> bool:
    """Tell whether a method only says that it is not written yet."""
    problems = [entry["problem"] for entry in header["outcomes"]]
    return any(problem and problem[0] == "unwritten" for problem in problems)


def _record_culprit_cell(run: NotebookRun, rebuilt: RebuiltNotebook, brought: _RunResults) -> bool:
    """Record which cell ended the process; return False if no cell can be left out."""
    end: ProcessEnd = run.end
    if end.at is None or end.at in brought.stopped:
        return False
    ordinary = end.at < len(rebuilt.page.cells) and end.at not in rebuilt.graded
    if (
        ordinary
        and end.at not in brought.reduced
        and _keep_definitions(rebuilt.page.cells[end.at].source)
    ):
        brought.reduced[end.at] = end.why
    else:
        brought.stopped[end.at] = end.why
    return True


def _keep_definitions(text: str) -> str:
    """Return the functions, classes and imports of a cell, without its other statements."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
    try:
        statements = ast.parse(text).body
        kept = [ast.unparse(statement) for statement in statements if isinstance(statement, kinds)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""  # a sum of a thousand terms can be parsed but not unparsed
    return "\n".join(kept)


def _describe_stops(rebuilt: RebuiltNotebook, brought: _RunResults) -> list[str]:
    """Return sentences for the student about the cells that were left out."""
    sentences = []
    for index, why in (brought.reduced | brought.stopped).items():
        if index >= _PART or index in rebuilt.graded:
            continue
        lines = rebuilt.page.cells[index].source.strip().splitlines()
        shown = lines[0][:60] if lines else ""
        what = "it was left out, and the rest was run without it."
        if index not in brought.stopped:
            what = "only its functions, classes and imports were run, and the cells after it."
        sentences.append(f"The cell that begins with {shown!r} {_LEFT_OUT[why]}; {what}")
    return sentences


def _begun(name: str, rebuilt: RebuiltNotebook, stubs: Collection[str]) -> bool:
    """Tell whether the student has written anything for an exercise."""
    texts = [c.source for n, c in enumerate(rebuilt.page.cells) if n not in rebuilt.graded]
    return any(defines_name(text, name) and text.strip() not in stubs for text in texts)


def _why_missing(name: str, rebuilt: RebuiltNotebook, brought: _RunResults) -> str:
    for index, cell in enumerate(rebuilt.page.cells):
        if (
            cell.cell_type == "code"
            and index not in rebuilt.graded
            and defines_name(cell.source, name)
        ):
            if index in brought.stopped:
                return f"{name} is not there: its cell {_LEFT_OUT[brought.stopped[index]]}."
            for output in brought.outputs.get(index, []):
                if output["output_type"] == "error":
                    message = output["evalue"].split("\n")[0][:200]
                    return (
                        f"{name} is not there, because its cell stopped with "
                        f"{output['ename']}: {message}"
                    )
            return f"{name} is not there, though a cell defines it; was it deleted again?"
    return f"{name} is not there: no cell of the notebook defines it."


def _find_cells_after_solution_import(rebuilt: RebuiltNotebook) -> set[int]:
    """Return the graded cells after a cell that imports the course's solutions."""
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
        if any(f"{name}.".startswith(_list_ours()) for name in names):
            return True
    return False


@cache
def _list_ours() -> tuple[str, ...]:
    """Return the prefixes of the course's own modules; a student may also have a solutions.py."""
    mine = sorted(f"solutions.{path.name}." for path in SOLUTIONS.iterdir() if path.is_dir())
    return *mine, "autograder.instructor."


def _add_note(page: NotebookNode, remarks: list[str]) -> None:
    """Add a note at the top of the page that says what happened to the notebook."""
    if remarks:
        lines = "\n".join(f"* {escape_markdown(remark)}" for remark in dict.fromkeys(remarks))
        text = f"**About this notebook**\n\n{lines}"
        page.cells.insert(0, nbformat.v4.new_markdown_cell(text, id="about-this-notebook"))
