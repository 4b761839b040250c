"""check(): the answer to "is mine right?", in a second, with what to do if not."""

from __future__ import annotations

import difflib
from typing import Any

from torch import Tensor, nn

from autograder import cards, fixtures, progress
from autograder.exercise import Exercise
from autograder.exercises import EXERCISES
from autograder.judging import DTYPES, Trial, Verdict, judge
from autograder.performing import perform, usual_settings


class CheckFailed(AssertionError):
    """The answer is not right; the message is the card's text."""

    def _render_traceback_(self) -> list[str]:
        # IPython shows this in place of a traceback: the card stands above it already.
        return [f"CheckFailed: {str(self).splitlines()[0]}"]


def check(answer: Any) -> None:
    """Check an answer and show a card: passed, or what is wrong and where.

    Args:
        answer: the function or class itself; its `__name__` names the exercise.

    Raises:
        CheckFailed: something is wrong; the message is the card's text.
        TypeError: what was passed is not a function or class.
        LookupError: no exercise has that name.
    """
    exercise = find(answer)
    verdict = verify(answer, exercise)
    cards.show(verdict, progress.shown(exercise) if verdict.passed else "")
    if not verdict.passed:
        raise CheckFailed(cards.text(verdict))


def verify(answer: Any, exercise: Exercise) -> Verdict:
    """Judge an answer by the fixtures, without showing anything."""
    with usual_settings():  # also for what is drawn here
        return _verified(answer, exercise)


def _verified(answer: Any, exercise: Exercise) -> Verdict:
    seeds = {seed: exercise.draw(seed) for seed in fixtures.SEEDS}
    trials = []
    for seed, cases in seeds.items():
        for case in cases:
            right = fixtures.expected(exercise, seed, case)
            for dtype in DTYPES:
                trial = Trial(case, dtype, right, perform(answer, exercise, case, dtype))
                trials.append(trial)
                if trial.outcome.problem and trial.outcome.problem[0] == "unwritten":
                    return judge(exercise, trials, [])
    return judge(exercise, trials, fixtures.misconceptions(exercise, seeds))


def find(answer: Any) -> Exercise:
    """Return the exercise that an answer belongs to.

    Raises:
        TypeError: not a function or class; the sentence says what to pass.
        LookupError: no exercise has the answer's name; the sentence says which come close.
    """
    if isinstance(answer, str):
        raise _sentence(TypeError, f"Pass the function itself, without quotes: check({answer}).")
    if isinstance(answer, Tensor) or not callable(answer):
        raise _sentence(
            TypeError,
            f"check takes a function or class, not a {type(answer).__name__}: write its name "
            "without parentheses, as in check(masked_softmax).",
        )
    name = getattr(answer, "__name__", type(answer).__name__)
    if name not in EXERCISES:
        near = difflib.get_close_matches(name, EXERCISES, n=1, cutoff=0.6)
        guess = f"Did you mean {near[0]}?" if near else f"There are: {', '.join(EXERCISES)}."
        raise _sentence(
            LookupError, f"There is no exercise named {name!r}; keep the name of the stub. {guess}"
        )
    exercise = EXERCISES[name]
    if exercise.is_class and isinstance(answer, nn.Module):
        raise _sentence(TypeError, f"Pass the class itself, not an object of it: check({name}).")
    if sentence := unusable(answer, exercise):
        raise _sentence(TypeError, sentence)
    return exercise


def unusable(answer: Any, exercise: Exercise) -> str:
    """Return why what stands under an exercise's name cannot be its answer, or ""."""
    name = exercise.name
    if exercise.is_class and not isinstance(answer, type):
        return f"{name} must be a class, as in the stub: class {name}(nn.Module)."
    if not callable(answer):
        kind = type(answer).__name__
        return f"{name} is a {kind} here, not a function; is the name used for something else?"
    return ""


def _sentence(kind: type[Exception], sentence: str) -> Exception:
    """Return an error that a notebook shows as one sentence, without a traceback."""
    shown = type(
        kind.__name__,
        (kind,),
        {"_render_traceback_": lambda self: [f"{kind.__name__}: {self}"], "__module__": "builtins"},
    )
    return shown(sentence)
