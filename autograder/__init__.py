"""Exercises declared as data, `check(answer)` for the learner, and the grading of a class."""

from autograder.checking import CheckFailed, check
from autograder.hooks import install as _install

__all__ = ["CheckFailed", "check"]

_install()
