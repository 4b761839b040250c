"""Hidden tests: the same cases as check(), drawn anew from a fresh seed, judged by the oracle."""

from __future__ import annotations

import inspect
import secrets
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from autograder import cards
from autograder.checking import CheckFailed, find
from autograder.comparing import Complaint, complaint, difference
from autograder.exercise import Case, Exercise
from autograder.instructor.mistakes import known_mistakes
from autograder.instructor.oracles import expected
from autograder.judging import DTYPES, Misconception, Trial, Verdict, judge
from autograder.performing import Outcome, perform

DRAWS = 3


def examine(answer: Any) -> None:
    """Judge an answer on inputs nobody has seen.

    Raises:
        CheckFailed: something is wrong, or the notebook imported the course's solutions.
    """
    exercise = find(answer)
    refuse_borrowed(answer)
    trials = _tried(answer, exercise, [secrets.randbits(64) for _ in range(DRAWS)])
    refuse_borrowed(answer)  # it may have imported them when it was called
    try:
        verdict = judge(exercise, trials, misconceptions(exercise))
    finally:
        _forget_solutions()
    cards.show(verdict)
    if not verdict.passed:
        raise CheckFailed(cards.text(verdict))


def refuse_borrowed(answer: Any) -> None:
    """Raise CheckFailed if an answer, or anything else in its notebook, comes from `solutions`.

    A hidden test forgets the solutions it needed itself, so they are loaded in a notebook only if
    one of its cells imported them. This keeps honest people honest: here a submission runs in one
    process with its judge, and one that is bent on cheating has other ways.
    """
    if not cards.in_notebook():
        return
    family = inspect.getmro(answer) if isinstance(answer, type) else (answer,)
    modules = [str(getattr(member, "__module__", "")) for member in family]
    if any(_is_solution(name) for name in (*modules, *sys.modules)):
        raise CheckFailed(
            "This notebook imports the course's solutions; only an answer of your own can be "
            "graded, so remove the import and write it yourself."
        )


def _forget_solutions() -> None:
    if cards.in_notebook():
        for name in [n for n in sys.modules if n == "solutions" or _is_solution(n)]:
            del sys.modules[name]


def _is_solution(module: str) -> bool:
    return module.startswith("solutions.")  # a file solutions.py of the student's own is no sin


def verdict_of(answer: Any, exercise: Exercise, seeds: list[int]) -> Verdict:
    """Judge an answer on the cases of the given seeds by the oracle."""
    return judge(exercise, _tried(answer, exercise, seeds), misconceptions(exercise))


def _tried(answer: Any, exercise: Exercise, seeds: list[int]) -> list[Trial]:
    trials = []
    for seed in seeds:
        for case in exercise.draw(seed):
            right = expected(exercise, case)
            for dtype in DTYPES:
                trials.append(Trial(case, dtype, right, perform(answer, exercise, case, dtype)))
    return trials


def misconceptions(exercise: Exercise) -> list[Misconception]:
    """Return the exercise's known mistakes; what they give on a case is computed when asked."""
    return [
        Misconception(
            mistake.slug,
            mistake.title,
            mistake.hint,
            outcome := _outcomes(mistake.code, exercise),
            partial(_complaint, exercise, outcome),
        )
        for mistake in known_mistakes(exercise)
    ]


def _complaint(exercise: Exercise, outcome: Callable[[Case], Outcome], case: Case) -> Complaint:
    return complaint(difference(case, outcome(case), expected(exercise, case), torch.float64))


def _outcomes(code: Any, exercise: Exercise) -> Any:
    found: dict[int, tuple[Case, Outcome]] = {}

    def outcome(case: Case) -> Outcome:
        if id(case) not in found:
            found[id(case)] = (case, perform(code, exercise, case))
        return found[id(case)][1]

    return outcome
