"""Tests of grading one notebook: behaviour decides, not what an answer prints."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache

import nbformat
import pytest

from autograder.exercises import EXERCISES
from autograder.instructor.authoring.notebook_builder import SOLUTIONS
from autograder.instructor.authoring.reference_solution import load_solution
from autograder.instructor.grading.crashing_cells import keep_definitions
from autograder.instructor.grading.gradebook_results import ExerciseResult
from autograder.instructor.grading.notebook_grader import NotebookGrader, open_grader
from autograder.instructor.grading.notebook_run import NotebookRun, ProcessEnd, TimeLimits
from autograder.instructor.grading.settings import Grading
from autograder.instructor.grading.solution_import_detection import imports_solutions
from autograder.instructor.grading.source_notebook import read_sources
from autograder.instructor.grading.submission_parser import (
    NotebookSubmission,
    StudentCell,
    read_cells,
)
from tests.conftest import ROOT, needs_bubblewrap
from tests.helpers.forbidden_op_bypasses import IN_A_CELL, WAYS
from tests.submissions.student_notebooks import reference

pytestmark = needs_bubblewrap


@pytest.fixture(scope="module")
def open_for() -> Iterator[Callable[[str, str], NotebookGrader]]:
    """Open a notebook's grader once for all tests, because its sandbox takes seconds to start."""
    with ExitStack() as stack:

        @cache
        def open_for(assignment: str, notebook: str) -> NotebookGrader:
            sources = read_sources(SOLUTIONS / assignment, "raise NotImplementedError()", EXERCISES)
            mine = {notebook: sources[notebook]}
            tests = dict.fromkeys(mine[notebook].identifiers.exercises, "")
            return stack.enter_context(open_grader(assignment, mine, Grading(), tests=tests))

        yield open_for


def grade(
    open_for: Callable[[str, str], NotebookGrader],
    exercise: str,
    answers: list[str],
    beside: str = "",
    pages: list | None = None,
    reviews: list[str] | None = None,
) -> list[ExerciseResult]:
    """Grade the exercise's notebook with each of the answers in turn.

    Args:
        open_for: returns the grader of a notebook.
        exercise: name of the exercise.
        answers: texts of its cell.
        beside: code for two more cells, at the notebook's beginning and end.
        pages: receives the graded pages.
        reviews: receives the remarks for a person.
    """
    declared = EXERCISES[exercise]
    released = ROOT / "exercises" / declared.assignment / f"{declared.notebook}.ipynb"
    grader = open_for(declared.assignment, declared.notebook)
    pages = pages if pages is not None else []
    results = []
    for answer in answers:
        page = nbformat.read(released, 4)
        next(cell for cell in page.cells if cell.id == exercise).source = answer
        if beside:
            page.cells.insert(1, nbformat.v4.new_code_cell(beside))
            page.cells.append(nbformat.v4.new_code_cell(beside))
        handed = NotebookSubmission(tuple(read_cells(nbformat.writes(page).encode())))
        graded = grader.grade("ada", declared.notebook, handed, {}, only=[exercise])
        pages.append(graded.page)
        if reviews is not None:
            reviews.append(graded.result.review)
        results += [r for r in graded.result.exercises if r.exercise == exercise]
    return results


def test_points_do_not_depend_on_the_wording_of_an_exception(open_for):
    head, _ = reference("AttentionDecoder").split("    def forward(")
    sentences = ["not finished", "the loop is the whole answer, not finished"]
    unfinished = "{}    def forward(self, *given):\n        raise ValueError({!r})\n"
    results = grade(
        open_for, "AttentionDecoder", [unfinished.format(head, said) for said in sentences]
    )
    for result, said in zip(results, sentences, strict=True):
        assert said in result.headline
        assert (result.outcome, result.points) == ("part", 4.0)


@pytest.mark.parametrize("body", ["+".join("a" * 5_000), "0x" + "f" * 5_000, "-" * 5_000 + "1"])
def test_a_cell_that_can_be_parsed_and_not_be_written_again_keeps_nothing(body):
    assert keep_definitions(f"def f(a):\n    return {body}") == ""
    assert keep_definitions("x = 1\ndef f(a):\n    return a") == "def f(a):\n    return a"


EVERY_WAY = WAYS | IN_A_CELL
SOONER = ("layer_norm", "lstm_cell", "rms_norm")  # `make check` tests the others


@pytest.mark.parametrize(
    "exercise",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name not in SOONER))
        for name in sorted({exercise for exercise, _ in EVERY_WAY.values()})
    ],
)
def test_an_operator_that_is_the_whole_answer_is_refused(exercise, open_for):
    ways = {way: code for way, (name, code) in EVERY_WAY.items() if name == exercise}
    results = grade(open_for, exercise, list(ways.values()))
    for way, result in zip(ways, results, strict=True):
        assert result.points == 0.0, way
        # If a cell's preparation is blocked, the answer lacks it.
        assert (result.outcome == "refused") == (way in WAYS), (way, result)


class HangingSandbox:
    """A sandbox in which every cell with "endless" reaches the time limit unless it is skipped."""

    times = TimeLimits()

    def run(self, cells, beside, skip):
        for cell in cells:
            if "endless" in cell.get("source", "") and cell["index"] not in skip:
                return NotebookRun(end=ProcessEnd(cell["index"], "time"))
        return NotebookRun(
            answers={c["index"]: ({"answer": "missing"}, {}) for c in cells if "cases" in c}
        )


@pytest.mark.parametrize(("slow", "reached"), [(3, True), (4, False)])
def test_what_comes_after_slow_cells_is_tried_or_looked_at(slow, reached):
    sources = read_sources(SOLUTIONS / "bahdanau", "raise NotImplementedError()", EXERCISES)
    tests = dict.fromkeys(sources["scores"].identifiers.exercises, "")
    grader = NotebookGrader("bahdanau", sources, HangingSandbox(), None, tests)
    handed = NotebookSubmission(tuple(StudentCell("code", f"endless({n})") for n in range(slow)))
    result = grader.grade("ada", "scores", handed, {}).result
    assert {e.outcome for e in result.exercises} == {"missing" if reached else "stopped"}
    assert ("could not be tried" in result.review) != reached


def test_a_students_own_module_is_not_the_courses():
    assert not imports_solutions("from solutions import helper")
    for text in ("from solutions import bahdanau", "import solutions.bahdanau.scores as s"):
        assert imports_solutions(text)


OFF = "import autograder.run.forbidden_ops as look\nlook._FAMILIES[{!r}] = look._Family('x^')"
CALLS = {
    "layer_norm": "def layer_norm(x, weight, bias, eps=1e-5):\n"
    "    return torch.nn.functional.layer_norm(x, weight.shape, weight, bias, eps)",
    "rms_norm": "def rms_norm(x, weight, eps=1e-6):\n"
    "    return torch.nn.functional.rms_norm(x, weight.shape, weight, eps)",
}


@pytest.mark.parametrize("exercise", CALLS)
def test_who_switches_the_look_out_off_is_looked_at(exercise, open_for):
    reviews: list[str] = []
    (result,) = grade(open_for, exercise, [CALLS[exercise]], OFF.format(exercise), reviews=reviews)
    assert ("to the last bit" in reviews[0]) == (EXERCISES[exercise].operator is not None), result
    assert "A cell containing 'autograder.' could hide the call" in reviews[0]
    (result,) = grade(
        open_for, exercise, [inspect.getsource(load_solution(EXERCISES[exercise]))], reviews=reviews
    )
    assert result.points == result.max_points and reviews[1] == ""


@pytest.mark.parametrize("exercise", ["layer_norm", "scaled_dot_product_attention"])
def test_other_cells_may_use_the_operator(open_for, exercise):
    compare = (
        "import torch, torch.nn.functional as F\nx = torch.arange(6.0).reshape(2, 3)\n"
        "print(F.layer_norm(x, (3,)).tolist(), F.scaled_dot_product_attention(x, x, x).tolist())"
    )
    pages: list = []
    answer = inspect.getsource(load_solution(EXERCISES[exercise]))
    (result,) = grade(open_for, exercise, [answer], compare, pages)
    assert (result.outcome, result.points) == ("right", result.max_points)
    shown = [c.outputs for c in pages[0].cells if c.cell_type == "code" and c.source == compare]
    assert len(shown) == 2 and shown[0] == shown[1]
    assert shown[0][0]["output_type"] == "stream" and "1.22" in shown[0][0]["text"]
