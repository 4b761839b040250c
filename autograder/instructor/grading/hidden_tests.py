"""Judges an answer on cases from a fresh random seed; the notebooks' hidden tests call it."""

from __future__ import annotations

import inspect
import secrets
import sys
from collections.abc import Callable, Mapping
from typing import Any

import torch

from autograder.checking import card
from autograder.checking.checker import CheckFailed, find_exercise
from autograder.diagnose.known_faults import KnownMistake
from autograder.diagnose.trial import Trial
from autograder.diagnose.verdict import DTYPES, Verdict, judge
from autograder.instructor.authoring.mistake_loader import load_mistakes
from autograder.instructor.authoring.reference_solution import compute_expected
from autograder.run.runner import run_case
from autograder.spec.exercise import Case, Exercise
from autograder.spec.outcome import Outcome

HIDDEN_DRAWS = 3


def examine(answer: Any, exercises: Mapping[str, Exercise]) -> None:
    """Judge an answer to one of the exercises on freshly drawn inputs.

    Raises:
        CheckFailed: if the answer is wrong, or the notebook imported the course's solutions.
    """
    exercise = find_exercise(answer, exercises)
    reject_solution_imports(answer)
    seeds = [secrets.randbits(64) for _ in range(HIDDEN_DRAWS)]
    outcomes = _try_cases(answer, exercise, seeds)
    reject_solution_imports(answer)  # again: the call may have imported them
    try:
        verdict = _judge(exercise, outcomes)
    finally:
        _forget_solutions()
    card.display_card(verdict)
    if not verdict.passed:
        raise CheckFailed(card.format_card_text(verdict))


def reject_solution_imports(answer: Any) -> None:
    """Raise CheckFailed if an answer, or anything else in its notebook, comes from `solutions`.

    A hidden test unloads the solutions that it loaded, so a notebook has solutions loaded only if
    one of its cells imported them. This keeps honest people honest: a submission runs here in the
    same process as its judge, and a determined cheat has other ways.
    """
    if not card.is_in_notebook():
        return
    family = inspect.getmro(answer) if isinstance(answer, type) else (answer,)
    modules = [str(getattr(member, "__module__", "")) for member in family]
    if any(_is_solution(name) for name in (*modules, *sys.modules)):
        raise CheckFailed(
            "This notebook imports the course's solutions; only an answer of your own can be "
            "graded, so remove the import and write it yourself."
        )


def _forget_solutions() -> None:
    if card.is_in_notebook():
        for name in [n for n in sys.modules if n == "solutions" or _is_solution(n)]:
            del sys.modules[name]


def _is_solution(module: str) -> bool:
    return module.startswith("solutions.")  # a student's own solutions.py is allowed


def judge_answer(answer: Any, exercise: Exercise, seeds: list[int]) -> Verdict:
    """Judge an answer against the solution, on the cases of the given seeds."""
    return _judge(exercise, _try_cases(answer, exercise, seeds))


Tried = list[tuple[Case, dict[torch.dtype, Outcome]]]


def _try_cases(answer: Any, exercise: Exercise, seeds: list[int]) -> Tried:
    """Run an answer on all cases, without loading the solution."""
    cases = [case for seed in seeds for case in exercise.draw(seed)]
    return [(c, {dtype: run_case(answer, exercise, c, dtype) for dtype in DTYPES}) for c in cases]


def _judge(exercise: Exercise, tried: Tried) -> Verdict:
    trials = []
    for case, outcomes in tried:
        right = compute_expected(exercise, case)
        trials += [Trial(case, dtype, right, outcome) for dtype, outcome in outcomes.items()]
    return judge(exercise, trials, load_known_mistakes(exercise))


def load_known_mistakes(exercise: Exercise) -> list[KnownMistake]:
    """Return the exercise's known mistakes; their fingerprints are computed on demand."""
    known = []
    for mistake in load_mistakes(exercise):
        trial = _trials_of(mistake.code, exercise)
        values, gradients = (
            lambda case, trial=trial: trial(case).fingerprint,
            lambda case, trial=trial: trial(case).gradient_fingerprint,
        )
        known.append(KnownMistake(mistake.slug, mistake.title, mistake.hint, values, gradients))
    return known


def _trials_of(code: Any, exercise: Exercise) -> Callable[[Case], Trial]:
    kept: dict[int, Trial] = {}

    def trial(case: Case) -> Trial:
        if id(case) not in kept:
            right = compute_expected(exercise, case)
            kept[id(case)] = Trial(case, torch.float64, right, run_case(code, exercise, case))
        return kept[id(case)]

    return trial
