"""Grades one notebook: rebuilds it, runs it in the sandbox and judges its answers."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import nbformat
from nbformat import NotebookNode

from autograder.diagnose.verdict import Verdict
from autograder.instructor.grading.crashing_cells import WHY_LEFT_OUT, RepeatedRuns, is_unwritten
from autograder.instructor.grading.gradebook_results import (
    ExerciseResult,
    HandGradedAnswer,
    NotebookResult,
)
from autograder.instructor.grading.graded_notebook_page import add_note, finish_page
from autograder.instructor.grading.notebook_rebuilder import RebuiltNotebook, rebuild
from autograder.instructor.grading.sandbox_launcher import Sandbox
from autograder.instructor.grading.secret_cases import (
    SecretCases,
    hash_tests,
    make_card,
    make_untried_verdict,
)
from autograder.instructor.grading.settings import Grading
from autograder.instructor.grading.solution_import_detection import find_cells_after_solution_import
from autograder.instructor.grading.source_notebook import SourceCell, SourceNotebook, list_exercises
from autograder.instructor.grading.submission_parser import NotebookSubmission, defines_name
from autograder.instructor.sanitize import sanitize_line, sanitize_lines
from autograder.spec.exercise import Exercise

DETAILS_AT_MOST = 4_000  # recorded characters of the failing case


@dataclass(frozen=True)
class GradedNotebook:
    """A graded notebook: the result to record, and the page to make feedback from."""

    result: NotebookResult
    page: NotebookNode


@dataclass(frozen=True)
class Finding:
    """The result of judging one answer.

    Attributes:
        verdict: the verdict.
        outcome: kind of the result, see `ExerciseResult`.
        points: points that the answer earns.
        review: reasons for manual review, as sentences for the instructor, or "".
    """

    verdict: Verdict
    outcome: str
    points: float = 0.0
    review: str = ""


class NotebookGrader:
    """Grades notebooks of an assignment; several threads may use it.

    Args:
        assignment: name of the assignment.
        sources: its source notebooks, by name.
        sandbox: runs the students' code on the secret cases.
        secret: draws the secret cases and judges the answers.
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
        submission: NotebookSubmission,
        other_files: Mapping[str, bytes],
        only: Collection[str] | None = None,
        until: float | None = None,
    ) -> GradedNotebook:
        """Grade one notebook.

        Args:
            student: nbgrader's name of the student.
            notebook: name of the source notebook.
            submission: the student's submission of it.
            other_files: contents of the other submitted files, by name.
            only: names of the exercises to grade; all of them if None.
            until: value of `time.monotonic()` after which the notebook is not run again.
        """
        started = time.monotonic()
        source = self.sources[notebook]
        rebuilt = rebuild(source, submission.cells or ())
        mine = {c.exercise.name for c in source.graded if c.exercise}
        wanted = mine if only is None else mine & set(only)
        refused = find_cells_after_solution_import(rebuilt)
        runs = RepeatedRuns(self._sandbox, rebuilt, other_files, until)
        remarks = list(submission.remarks)
        if submission.cells is not None:
            runs.run_exercises(wanted, refused)
            remarks += [*rebuilt.remarks, *runs.describe_stops()]
        results = []
        for index, cell in rebuilt.graded.items():
            exercise = cell.exercise
            assert exercise is not None
            if submission.cells is None:
                sentence = sanitize_line(submission.remarks[0])
                found = Finding(make_untried_verdict(exercise, sentence), "missing")
            elif index in refused:
                found = Finding(make_untried_verdict(exercise, _SOLUTION_IMPORTED), "refused")
            elif exercise.name not in wanted:
                verdict = make_untried_verdict(exercise, "Not graded this time.")
                found = Finding(verdict, "missing")
            else:
                found = self._judge(index, exercise, source, runs)
            results.append(_make_result(cell, found, self._tests))
            rebuilt.page.cells[index].outputs = [nbformat.from_dict(make_card(found.verdict))]
        remarks = [sanitize_line(remark) for remark in remarks]
        finish_page(rebuilt, runs.outputs, remarks)
        reviews = [sanitize_line(submission.review), *(result.review for result in results)]
        result = NotebookResult(
            student,
            self.assignment,
            notebook,
            submission.digest,
            tuple(results),
            tuple(remarks),
            " ".join(filter(None, reviews)),
            round(time.monotonic() - started, 3),
            by_hand=_list_answers_by_hand(source, rebuilt, other_files),
        )
        return GradedNotebook(result, rebuilt.page)

    def fail(self, student: str, notebook: str, why: str) -> GradedNotebook:
        """Return what to record for a notebook that could not be graded; it will be tried again."""
        return make_failed_result(
            self.sources[notebook], self.assignment, student, why, self._tests
        )

    def prepare(self) -> None:
        """Compute the expected values and wait for the sandbox, before any process is forked."""
        self._secret.prepare()
        self._sandbox.prepare()

    def start_in_worker(self) -> None:
        """Continue in a process that was forked from the prepared one."""
        self._sandbox.begin_in_fork()

    def _judge(
        self, index: int, exercise: Exercise, source: SourceNotebook, runs: RepeatedRuns
    ) -> Finding:
        """Judge one answer, or its parts, and note reasons for manual review."""
        found = self._judge_whole(index, exercise, runs)
        stubs = source.identifiers.stubs
        begun = found.outcome == "unwritten" and _is_begun(exercise.name, runs.rebuilt, stubs)
        if (found.outcome == "wrong" or begun) and exercise.parts:
            found = self._judge_parts(index, exercise, runs, found)
        answer = runs.answers.get(index, ({}, {}))[0].get("answer")
        # A thread of another cell may have ended the process, or written to the channel.
        ended = runs.stopped.get(index) in ("exit", "killed", "broken")
        review = []
        if runs.is_late() and found.outcome in ("stopped", "missing"):
            review.append(f"{exercise.name}: the time limit for the whole submission was reached.")
        passed = found.verdict.passed
        lost = found.outcome == "stopped" and index not in runs.stopped
        if (ended and not passed) or answer == "unusable" or lost:
            review.append(f"{exercise.name}: {found.verdict.headline}")
        if passed and exercise.forbidden:
            review += self._find_doubts(index, exercise, runs)
        return replace(found, review=" ".join(dict.fromkeys(review)))

    def _judge_whole(self, index: int, exercise: Exercise, runs: RepeatedRuns) -> Finding:
        if index in runs.stopped and not runs.is_complete(index):
            sentence = _STOPPED[runs.stopped[index]].format(
                name=exercise.name, seconds=f"{self._sandbox.times.exercise:g}"
            )
            return Finding(make_untried_verdict(exercise, sentence), "stopped")
        header, tensors = runs.answers.get(index, ({"answer": "lost"}, {}))
        if header["answer"] == "tried":
            verdict = self._secret.judge(exercise, header, tensors)
            if verdict.passed:
                return Finding(verdict, "right", exercise.points)
            if is_unwritten(header):
                return Finding(verdict, "unwritten")
            return Finding(verdict, "refused" if verdict.kind == "forbidden" else "wrong")
        if header["answer"] == "unusable":
            sentence = sanitize_line(header["sentence"], 500)
            return Finding(make_untried_verdict(exercise, sentence), "wrong")
        if header["answer"] == "missing":
            sentence = _explain_missing(exercise.name, runs)
            return Finding(make_untried_verdict(exercise, sentence), "missing")
        sentence = (
            f"{exercise.name} could not be tried: the notebook's process kept ending before its "
            "check."
        )
        return Finding(make_untried_verdict(exercise, sentence), "stopped")

    def _judge_parts(
        self, index: int, exercise: Exercise, runs: RepeatedRuns, whole: Finding
    ) -> Finding:
        """Judge the parts of an answer that is wrong as a whole."""
        earned, lines = 0.0, []
        for number, answer in enumerate(runs.run_parts(index, exercise)):
            part = exercise.parts[number]
            right = (
                answer is not None
                and answer[0]["answer"] == "tried"
                and self._secret.passes(exercise, number, *answer)
            )
            earned += part.points if right else 0.0
            lines.append(f"  {part.name}: {part.points if right else 0:g} of {part.points:g}")
        if earned >= exercise.points:  # each part is right alone, but not together
            earned -= min(part.points for part in exercise.parts)
        if not earned:
            return whole
        head = f"Points for what is right: {earned:g} of {exercise.points:g}."
        verdict = replace(whole.verdict, details=(*whole.verdict.details, "", head, *lines))
        return Finding(verdict, "part", earned)

    def _find_doubts(self, index: int, exercise: Exercise, runs: RepeatedRuns) -> Iterator[str]:
        """Yield signs that a right answer called the operator that it had to implement."""
        if self._secret.matches_operator(exercise, *runs.answers[index]):
            yield _CALLED.format(name=exercise.name)
        for n, cell in enumerate(runs.rebuilt.page.cells):
            if n in runs.rebuilt.graded or cell.cell_type != "code":
                continue
            if found := _SUSPICIOUS_CODE.search(cell.source):
                yield _MAY_HAVE_CALLED.format(name=exercise.name, found=found[0])
                return


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
        sandbox: a sandbox that is already starting; used if its `unsafe` matches the settings.
        seeds: seeds to draw the cases from; by default, fresh secret ones.
        tests: fingerprints of the exercises' tests, by exercise; by default, computed.

    Raises:
        SandboxError: if no sandbox can be started.
    """
    if sandbox is not None and sandbox.unsafe != settings.unsafe:
        sandbox.close()
        sandbox = None
    with sandbox or Sandbox(settings.unsafe) as sandbox:
        secret = SecretCases(list_exercises(sources), seeds)
        modules = [module for source in sources.values() for module in source.modules]
        limits, times = settings.limits(), settings.times()
        sandbox.configure(settings.exercises, modules, secret.cases, limits, times)
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
        results.append(_make_result(cell, Finding(verdict, "stopped"), tests))
        rebuilt.page.cells[index].outputs = [nbformat.from_dict(make_card(verdict))]
    add_note(rebuilt.page, [sentence])
    review = sanitize_line(why)
    result = NotebookResult(
        student,
        assignment,
        source.name,
        "",
        tuple(results),
        (sentence,),
        review,
        by_hand=_list_answers_by_hand(source, rebuilt, {}),
    )
    return GradedNotebook(result, rebuilt.page)


def _make_result(cell: SourceCell, found: Finding, tests: Mapping[str, str]) -> ExerciseResult:
    assert cell.exercise is not None
    verdict = found.verdict
    return ExerciseResult(
        cell.exercise.name,
        cell.id,
        float(found.points),
        float(cell.exercise.points),
        found.outcome,
        sanitize_line(verdict.headline.split("\n")[0]),
        verdict.misconception,
        tests[cell.exercise.name],
        cases=verdict.cases,
        review=sanitize_line(found.review),
        details=tuple(sanitize_lines("\n".join(verdict.details), DETAILS_AT_MOST).splitlines()),
    )


_DOCUMENTS = (
    ".pdf", ".docx", ".doc", ".odt", ".rtf", ".md", ".tex", ".html",
    ".png", ".jpg", ".jpeg", ".heic", ".gif", ".svg", ".tif", ".tiff", ".webp",
)  # fmt: skip


def _list_answers_by_hand(
    source: SourceNotebook, rebuilt: RebuiltNotebook, beside: Mapping[str, bytes]
) -> tuple[HandGradedAnswer, ...]:
    """Return the answers that a person grades; a document beside the notebook may be one."""
    others = sorted(name for name in beside if name.lower().endswith(_DOCUMENTS))
    files = b"\0".join(hashlib.sha256(beside[name]).digest() for name in others)
    handed = hashlib.sha256(files).hexdigest() if others else ""
    return tuple(
        HandGradedAnswer(cell.id, rebuilt.by_hand[cell.id] or handed) for cell in source.by_hand
    )


def digest_tests(sources: Mapping[str, SourceNotebook]) -> dict[str, str]:
    """Return the fingerprints of the tests of all exercises, by exercise."""
    return {exercise.name: hash_tests(exercise) for exercise in list_exercises(sources)}


_CALLED = (
    "{name}: its result equals torch's own operator to the last bit. Calling the operator is "
    "forbidden, but no call was detected: check the cells before it."
)
_MAY_HAVE_CALLED = (
    "{name}: it may call torch's own operator, which is forbidden. A cell containing {found!r} "
    "could hide the call: check that cell."
)
# Code that a notebook needs only to evade the detection of forbidden operators.
_SUSPICIOUS_CODE = re.compile(
    r"autograder\.|EXERCISES|refus|forbid|ctypes|_dispatch|__import__|importlib|sys\.modules|\bgc\."
    r"|_getframe|f_back|f_locals|__dict__|__globals__|__builtins__|__subclasses__|inspect\.stack"
)
_SOLUTION_IMPORTED = (
    "This notebook imports the course's solutions. Only your own answer can be graded: remove "
    "the import and write it yourself."
)
_STOPPED = {
    "time": "{name} did not finish within {seconds} seconds; is there an infinite loop?",
    "killed": "{name} ended its process: a crash in compiled code, or too much memory.",
    "memory": "{name} exceeded the memory limit for a submission.",
    "exit": "{name} ended its process, as os._exit() does; return the result instead.",
    "broken": "{name} sent invalid data; an answer must only return tensors.",
}


def _is_begun(name: str, rebuilt: RebuiltNotebook, stubs: Collection[str]) -> bool:
    """Return whether the student has written anything for an exercise."""
    texts = [c.source for n, c in enumerate(rebuilt.page.cells) if n not in rebuilt.graded]
    return any(defines_name(text, name) and text.strip() not in stubs for text in texts)


def _explain_missing(name: str, runs: RepeatedRuns) -> str:
    """Return a sentence that says why a notebook has no answer with this name."""
    for index, cell in enumerate(runs.rebuilt.page.cells):
        graded = index in runs.rebuilt.graded
        if cell.cell_type != "code" or graded or not defines_name(cell.source, name):
            continue
        if index in runs.stopped:
            return f"{name} is not there: its cell {WHY_LEFT_OUT[runs.stopped[index]]}."
        for output in runs.outputs.get(index, []):
            if output["output_type"] == "error":
                message = output["evalue"].split("\n")[0][:200]
                return (
                    f"{name} is not there, because its cell stopped with {output['ename']}: "
                    f"{message}"
                )
        return f"{name} was not found although a cell defines it; was it deleted later?"
    return f"{name} was not found: no cell of the notebook defines it."
