"""Both sides' verdicts on the bank and on the registered misconceptions, computed once."""

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

# One seed for all time, so that a failure comes back, and one that nobody has seen.
FRESH = secrets.randbits(32)
SEEDS = (20, FRESH)


@cache
def _drawn(name: str) -> list[tuple[Case, Any]]:
    """The instructor's cases with the solution's values: drawn once, for all answers."""
    exercise = EXERCISES[name]
    return [(c, compute_expected(exercise, c)) for seed in SEEDS for c in exercise.draw(seed)]


@cache
def _mistakes(name: str) -> list[Any]:
    return hidden_tests.load_known_mistakes(EXERCISES[name])


@cache
def student(answer: Any, name: str) -> Verdict:
    """What check() says, by the expected values."""
    return verify(answer, EXERCISES[name])


@cache
def instructor(answer: Any, name: str) -> Verdict:
    """What `hidden_tests.judge_answer(answer, exercise, SEEDS)` says, with its draws shared."""
    exercise = EXERCISES[name]
    trials = [
        Trial(case, dtype, right, run_case(answer, exercise, case, dtype))
        for case, right in _drawn(name)
        for dtype in DTYPES
    ]
    return judge(exercise, trials, _mistakes(name))


SIDES = {"student": student, "instructor": instructor}
