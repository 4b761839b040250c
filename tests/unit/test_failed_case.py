"""Tests of `check.case()`: the failing case can be had, shown and run again."""

from __future__ import annotations

import contextlib

import pytest
import torch

from autograder.checking.checker import CheckFailed, check, find_failed_case
from autograder.exercises import EXERCISES
from autograder.instructor.authoring.reference_solution import load_solution
from tests.answers import entries, handed_in
from tests.helpers.checked_answers import give_name

right = {name: load_solution(exercise) for name, exercise in EXERCISES.items()}


def test_the_failing_case_can_be_had_and_run_again():
    def additive_score(query, keys, W, U, v):
        return 3 * right["additive_score"](query, keys, W, U, v)

    with pytest.raises(CheckFailed, match=r"case = check\.case\(\)"):
        check(additive_score, EXERCISES)
    case = find_failed_case()
    again = additive_score(*case.inputs.values())
    assert torch.equal(again, case.yours["scores"])
    assert torch.allclose(again, 3 * case.expected["scores"])
    assert torch.equal(case.run()["scores"], again)
    assert "scores (1, 1)" in repr(case)


@pytest.mark.parametrize("name", EXERCISES)
def test_every_exercise_hands_its_failing_case_over(name):
    """Plain data too, and what is drawn at random, where no result is the only right one."""
    wrong = next(entry for entry in entries() if entry.exercise == name and not entry.right)
    with pytest.raises(CheckFailed, match=f"✗ {name}"):
        check(handed_in(wrong), EXERCISES)
    try:
        case = find_failed_case()
    except LookupError:
        return  # nothing to show: the answer is forbidden, or unsteady
    assert name in repr(case)
    with contextlib.suppress(Exception):  # the student's own
        case.run()


def test_the_students_own_error_comes_out_of_a_case_that_is_run():
    def additive_score(query, keys, W, U, v):
        return {}["no such key"]

    with pytest.raises(CheckFailed):
        check(additive_score, EXERCISES)
    with pytest.raises(KeyError, match="no such key"):
        find_failed_case().run()
    assert find_failed_case().yours == {}


def test_after_a_right_answer_there_is_no_failing_case():
    with pytest.raises(CheckFailed):
        check(give_name(lambda q, k: q, "dot_score"), EXERCISES)
    check(right["dot_score"], EXERCISES)
    with pytest.raises(LookupError, match="no failing case"):
        find_failed_case()
