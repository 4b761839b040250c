"""Tests that feedback loses hidden tests, and nothing of what a student wrote."""

from __future__ import annotations

import nbformat
import pytest
from nbgrader.preprocessors import ClearHiddenTests

from autograder.instructor.nbgrader.clear_hidden_tests import ClearOwnHiddenTests

HIDDEN = "check(f)\n### BEGIN HIDDEN TESTS\nassert f(1) == 2\n### END HIDDEN TESTS"
UNCLOSED = "s = '### BEGIN HIDDEN TESTS'\ndef f(x): return x + 1"


def make_page():
    """Return a student's cell, an answer, a hidden test and an answer graded by hand."""
    page = nbformat.v4.new_notebook()
    roles = {"answer": (True, False), "test": (False, True), "by-hand": (True, True)}
    page.cells = [nbformat.v4.new_markdown_cell(HIDDEN)]
    for name, (solution, grade) in roles.items():
        cell = nbformat.v4.new_code_cell(HIDDEN if name == "test" else UNCLOSED)
        cell.metadata["nbgrader"] = {"grade_id": name, "solution": solution, "grade": grade}
        page.cells.append(cell)
    return page


def test_only_the_instructors_hidden_tests_are_removed():
    page, _ = ClearOwnHiddenTests().preprocess(make_page(), {})
    assert [cell.source for cell in page.cells] == [HIDDEN, UNCLOSED, "check(f)", UNCLOSED]


def test_nbgraders_own_step_fails_on_the_marks_of_a_student():
    """Once it does not, ours is superfluous."""
    with pytest.raises(RuntimeError):
        ClearHiddenTests().preprocess(make_page(), {})
