"""The appendix names every exercise once, with the arguments and points that are declared."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from autograder.exercises import EXERCISES

PAGE = Path(__file__).resolve().parent.parent / "book" / "catalogue.md"
ROWS = re.findall(
    r"^\| `(\w+)\((.*?)\)` \|(?:.*\|)? ([\d.]+) \|$", PAGE.read_text(encoding="utf-8"), re.M
)


def test_every_exercise_has_one_row_and_no_row_is_left_over():
    assert Counter(name for name, *_ in ROWS) == Counter(EXERCISES.keys())


@pytest.mark.parametrize(("name", "arguments", "points"), ROWS, ids=[row[0] for row in ROWS])
def test_arguments_and_points_are_the_declared_ones(name, arguments, points):
    assert float(points) == EXERCISES[name].points
    declared = EXERCISES[name].signature
    if not EXERCISES[name].is_class:
        assert f"({arguments})" == declared.replace("'", '"')
