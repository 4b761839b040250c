"""A graded class for export tests, and the export itself."""

from __future__ import annotations

import csv
import json
import logging
from pathlib import Path

import pytest
from traitlets.config import Config

from tests.grading.filled_gradebook import ASSIGNMENT, POINTS, Class, Found

EVIL = "=cmd|'/c calc'!A1"
WRONG = {
    "additive_score": Found(points=1.0, outcome="part", headline='Half; "right",\nhalf wrong.')
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Class:
    """Return a class with all kinds of students, and a second assignment with two submissions."""
    made = Class(tmp_path_factory.mktemp("course"))
    made.release("empty")
    made.release("second")
    made.hand_in("ada", about={"first_name": "Ada", "last_name": "Lovelace", "email": "a@x.org"})
    made.hand_in("ben", WRONG, about={"first_name": 'Ben; "B"', "last_name": "O'Neill, Jr"})
    made.hand_in("chulsoo", about={"first_name": "철수", "last_name": "김", "lms_user_id": "77"})
    made.hand_in(
        "dora",
        WRONG,
        at="2030-05-02T14:30:00+00:00",
        penalty=2.5,
        about={"first_name": EVIL, "email": "dora@x.org"},
        remarks=("A cell was there twice.",),
        review="Only for the instructor.",
    )
    made.hand_in("evan", dict.fromkeys(POINTS, Found()), penalty=4.0)  # nothing to deduct
    made.enrol("fay", first_name="Fay", last_name="Absent", email="fay@x.org")
    made.hand_in("gil", {"masked_softmax": Found(points=1 / 3, outcome="part")})
    made.by_hand("ada", "masked_softmax", extra_credit=1.5)
    made.by_hand("chulsoo", "context_vector", manual_score=0.25)
    made.by_hand("gil", "AdditiveAttention", needs_manual_grade=True)
    made.hand_in("ada", assignment="second")
    made.hand_in("fay", WRONG, assignment="second", penalty=1.0)
    return made


def export(plugin: type, graded: Class, to: Path, **settings):
    """Run an export like `nbgrader export`; return its output."""
    settings.setdefault("assignment", [ASSIGNMENT])
    made = plugin(**settings, to=str(to), config=Config())
    made.log = logging.getLogger("exports")
    made.export(graded.gradebook)
    return to


def rows_of(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def results_of(folder: Path, student: str, assignment: str = ASSIGNMENT) -> dict:
    return json.loads((folder / student / assignment / "results.json").read_text("utf-8"))
