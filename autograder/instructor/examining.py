"""Hidden tests: the same cases as check(), drawn anew from a fresh seed and judged by the oracle."""

from __future__ import annotations

import secrets
from typing import Any

from autograder import cards
from autograder.checking import CheckFailed, find
from autograder.exercise import Case, Exercise
from autograder.instructor.mistakes import known_mistakes
from autograder.instructor.oracles import expected
from autograder.judging import DTYPES, Misconception, Trial, Verdict, judge
from autograder.performing import Outcome, perform

DRAWS = 3


def examine(answer: Any) -> None:
    """Judge an answer on inputs nobody has seen; raise CheckFailed if something is wrong."""
    verdict = verdict_of(answer, find(answer), [secrets.randbits(64) for _ in range(DRAWS)])
    cards.show(verdict)
    if not verdict.passed:
        raise CheckFailed(cards.text(verdict))


def verdict_of(answer: Any, exercise: Exercise, seeds: list[int]) -> Verdict:
    """Judge an answer on the cases of the given seeds by the oracle."""
    trials = []
    for seed in seeds:
        for case in exercise.draw(seed):
            right = expected(exercise, case)
            for dtype in DTYPES:
                trials.append(Trial(case, dtype, right, perform(answer, exercise, case, dtype)))
    return judge(exercise, trials, misconceptions(exercise))


def misconceptions(exercise: Exercise) -> list[Misconception]:
    """Return the exercise's known mistakes; what they give on a case is computed when asked."""
    return [
        Misconception(mistake.slug, mistake.title, mistake.hint, _outcomes(mistake.code, exercise))
        for mistake in known_mistakes(exercise)
    ]


def _outcomes(code: Any, exercise: Exercise) -> Any:
    found: dict[int, tuple[Case, Outcome]] = {}

    def outcome(case: Case) -> Outcome:
        if id(case) not in found:
            found[id(case)] = (case, perform(code, exercise, case))
        return found[id(case)][1]

    return outcome
