"""The instructor side: authoring, hidden tests, grading, reports; never given to students."""

from typing import Any

from autograder.exercises import EXERCISES as _EXERCISES
from autograder.instructor.grading import hidden_tests as _hidden_tests

__all__ = ["examine"]


def examine(answer: Any) -> None:
    """Judge an answer on freshly drawn inputs.

    Raises:
        CheckFailed: if the answer is wrong, or the notebook imported the course's solutions.
    """
    _hidden_tests.examine(answer, _EXERCISES)
