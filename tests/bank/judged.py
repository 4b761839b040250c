"""Both sides' verdicts on the bank and on the registered misconceptions, computed once."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from functools import cache
from typing import Any

from autograder import fixtures
from autograder.checking import verify
from autograder.exercise import Case, Exercise
from autograder.exercises import EXERCISES
from autograder.instructor import examining
from autograder.instructor.mistakes import known_mistakes
from autograder.instructor.oracles import expected
from autograder.judging import DTYPES, Trial, Verdict, judge
from autograder.performing import perform

from . import entries

# One seed for all time, so that a failure comes back, and one that nobody has seen.
FRESH = secrets.randbits(32)
SEEDS = (20, FRESH)


@cache
def _drawn(name: str) -> list[tuple[Case, Any]]:
    """The instructor's cases with the oracle's values: drawn once, for all answers."""
    exercise = EXERCISES[name]
    return [(c, expected(exercise, c)) for seed in SEEDS for c in exercise.draw(seed)]


@cache
def _mistakes(name: str) -> list[Any]:
    return examining.misconceptions(EXERCISES[name])


@cache
def student(answer: Any, name: str) -> Verdict:
    """What check() says, by the fixtures."""
    return verify(answer, EXERCISES[name])


@cache
def instructor(answer: Any, name: str) -> Verdict:
    """What `examining.verdict_of(answer, exercise, SEEDS)` says, with its draws shared."""
    exercise = EXERCISES[name]
    trials = [
        Trial(case, dtype, right, perform(answer, exercise, case, dtype))
        for case, right in _drawn(name)
        for dtype in DTYPES
    ]
    return judge(exercise, trials, _mistakes(name))


SIDES = {"student": student, "instructor": instructor}


def outcomes(exercise: Exercise) -> dict[str, tuple[int, int]]:
    """For an exercise, how many answers of each kind both sides judge as they should."""

    def count(good: Iterable[bool]) -> tuple[int, int]:
        listed = list(good)
        return sum(listed), len(listed)

    mine = [entry for entry in entries() if entry.exercise == exercise.name]

    def passed(answer: Any) -> list[bool]:
        return [side(answer, exercise.name).passed for side in SIDES.values()]

    return {
        "right passed": count(all(passed(e.answer)) for e in mine if e.right),
        "wrong refused": count(not any(passed(e.answer)) for e in mine if not e.right),
        "misconceptions named": count(
            all(side(m.code, exercise.name).misconception == m.slug for side in SIDES.values())
            for m in known_mistakes(exercise)
        ),
    }


def table() -> str:
    """The summary: one line for each exercise."""
    rows = [(exercise.name, outcomes(exercise)) for exercise in EXERCISES.values()]
    kinds = list(rows[0][1])
    head = f"{'exercise':<22}" + "".join(f"{kind:>22}" for kind in kinds)
    lines = [f"seeds: fixtures {fixtures.SEEDS}, instructor {SEEDS}", head, "-" * len(head)]
    total = {kind: [0, 0] for kind in kinds}
    for name, found in rows:
        lines.append(f"{name:<22}" + "".join(f"{a:>18}/{b:<3}" for a, b in found.values()))
        for kind, (a, b) in found.items():
            total[kind][0] += a
            total[kind][1] += b
    lines.append("-" * len(head))
    lines.append(f"{'all':<22}" + "".join(f"{a:>18}/{b:<3}" for a, b in total.values()))
    return "\n".join(lines)
