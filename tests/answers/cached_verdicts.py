"""Cached verdicts of the student's and the instructor's judge on the answer bank."""

from __future__ import annotations

import secrets
from functools import cache
from typing import Any

from autograder.checking.checker import verify
from autograder.diagnose.trial import Trial
from autograder.diagnose.verdict import DTYPES, Verdict, judge
from autograder.exercises import EXERCISES
from autograder.instructor.authoring.reference_solution import compute_expected
from autograder.instructor.grading import hidden_tests
from autograder.run.runner import run_case
from autograder.spec.exercise import Case

# One fixed seed, so that failures are reproducible, and one new seed for each run.
FRESH = secrets.randbits(32)
SEEDS = (20, FRESH)


@cache
def _drawn(name: str) -> list[tuple[Case, Any]]:
    """Return the instructor's cases with the solution's values, drawn once for all answers."""
    exercise = EXERCISES[name]
    return [(c, compute_expected(exercise, c)) for seed in SEEDS for c in exercise.draw(seed)]


@cache
def _mistakes(name: str) -> list[Any]:
    return hidden_tests.load_known_mistakes(EXERCISES[name])


@cache
def student(answer: Any, name: str) -> Verdict:
    """Return the verdict of check(), based on the expected values."""
    return verify(answer, EXERCISES[name])


@cache
def instructor(answer: Any, name: str) -> Verdict:
    """Return the verdict of `judge_answer(answer, exercise, SEEDS)`, but with shared draws."""
    exercise = EXERCISES[name]
    trials = [
        Trial(case, dtype, right, run_case(answer, exercise, case, dtype))
        for case, right in _drawn(name)
        for dtype in DTYPES
    ]
    return judge(exercise, trials, _mistakes(name))


SIDES = {"student": student, "instructor": instructor}
