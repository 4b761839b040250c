"""Provides `check(answer)` for learners; `autograder.instructor` grades a class."""

import sys
from typing import Any

from autograder.checking import checker as _checking
from autograder.checking import name_error_hints as _hooks
from autograder.checking.checker import CheckFailed
from autograder.exercises import EXERCISES as _EXERCISES

__all__ = ["CheckFailed", "check"]


def check(answer: Any) -> None:
    """Check an answer and show a card: either it is right, or what is wrong and where.

    Args:
        answer: the function or class itself, which has the name of an exercise.

    Raises:
        CheckFailed: if the answer is wrong; the message is the text of the card.
        TypeError: if the argument is not the function or class that the exercise asks for.
        LookupError: if no exercise has this name.
    """
    _checking.check(answer, _EXERCISES, sys._getframe(1).f_globals)


check.trace = _checking.show_trace  # type: ignore[attr-defined]
check.case = _checking.find_failed_case  # type: ignore[attr-defined]
_hooks.install_name_error_hints(_EXERCISES)
