"""Tests that equal last bits reveal a forbidden operator, and accuse no other answer."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
import torch

from autograder.diagnose.trial import Trial
from autograder.diagnose.verdict import DTYPES
from autograder.exercises import EXERCISES
from autograder.instructor.authoring.reference_solution import compute_expected, load_solution
from autograder.instructor.grading import forbidden_op_detection
from autograder.run.runner import run_case
from tests.answers import entries

OPERATORS = [name for name, exercise in EXERCISES.items() if exercise.operator]
HONEST = [e for e in entries() if e.right and e.exercise in OPERATORS]


@cache
def telling(name):
    """Return cases with the operator's output in which its last bits differ from the solution's."""
    exercise = EXERCISES[name]
    found = []
    for case in exercise.draw(5) + exercise.draw(6):
        for dtype in DTYPES:
            theirs = forbidden_op_detection.compute_operator_outputs(exercise, case, dtype)
            if forbidden_op_detection.differs_from_solution(exercise, case, dtype, theirs):
                found.append((case, dtype, theirs))
    return found


def tried(answer, name):
    exercise = EXERCISES[name]
    return [
        (
            Trial(c, dtype, compute_expected(exercise, c), run_case(answer, exercise, c, dtype)),
            theirs,
        )
        for c, dtype, theirs in telling(name)
    ]


def test_only_a_forbidden_operator_is_looked_for():
    with pytest.raises(ValueError, match="only a forbidden operator"):
        replace(EXERCISES[OPERATORS[0]], forbidden=())


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_is_known_by_its_bits(name):
    exercise = EXERCISES[name]
    assert len(telling(name)) >= forbidden_op_detection.FEWEST
    trials = []
    for case, dtype, theirs in telling(name):
        outcome = run_case(load_solution(exercise), exercise, case, dtype)
        outcome.outputs.update(theirs)
        trials.append((Trial(case, dtype, compute_expected(exercise, case), outcome), theirs))
    assert forbidden_op_detection.matches_operator(trials)
    assert not forbidden_op_detection.matches_operator(
        trials[: forbidden_op_detection.FEWEST - 1]
    ), "so few are chance"


@pytest.mark.parametrize("entry", HONEST, ids=lambda e: e.name)
def test_an_honest_answer_is_not_taken_for_it(entry):
    torch.set_num_threads(1)
    trials = tried(entry.answer, entry.exercise)
    same = sum(
        forbidden_op_detection.matches_bitwise(t.outcome.outputs, theirs) for t, theirs in trials
    )
    assert same <= len(trials) / 2, "far from all of them"
