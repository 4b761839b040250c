"""Tests that broken submissions earn the right points, with reasons, and harm nobody else."""

from __future__ import annotations

import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.submissions.broken import BANK, KINDS, Broken
from tests.submissions.grade_by_command import Marked, grade, marks
from tests.submissions.student_notebooks import (
    ASSIGNMENT,
    POINTS,
    ROOT,
    Handed,
    lay,
    reference,
    stub,
)

pytestmark = pytest.mark.slow

OFTEN = (
    "moved_cells",
    "damaged_files",
    "file_names",
    "cell_metadata",
)  # kinds of which more are in the short run
ALWAYS = ("folder-with-the-name", "kill-parent-above", "killpg-above")  # these once harmed others
BYSTANDERS = {
    "aaa": dict(POINTS),
    "mmm": POINTS | {"additive_score": 0.0, "BidirectionalEncoder": 0.0},
    "zzz": dict.fromkeys(POINTS, 0.0),
}


def quick() -> list[Broken]:
    """Return the submissions of the short run: some of every kind, none that hits a limit."""
    found = []
    for kind, bank in KINDS.items():
        fast = [broken for broken in bank if not broken.slow]
        found += fast[:: 6 if kind in OFTEN else 9]
    return found + [b for b in BANK if b.slug in ALWAYS and b not in found]


SHORT = quick()
LONG = [broken for broken in BANK if not broken.slow and broken not in SHORT]
SLOW = [broken for broken in BANK if broken.slow]
# These end only at a limit, so short limits keep the test fast.
LIMITS = """
c.Grading.cell_seconds = c.Grading.exercise_seconds = 8.0
c.Grading.notebook_seconds = 60.0
"""


def bystander(points: dict[str, float]) -> Handed:
    hand = Handed()
    if not any(points.values()):
        hand.write(**{name: stub(name) for name in POINTS})
    elif points != POINTS:
        wrong = reference("additive_score").replace("torch.tanh(", "(")
        hand.write(additive_score=wrong, BidirectionalEncoder=stub("BidirectionalEncoder"))
    return hand


def graded(released, folder: Path, bank: list[Broken], limits: str = "") -> dict[str, Marked]:
    """Grade a class with these submissions and the bystanders in a new course."""
    course = replace(released, folder=folder)
    config = (ROOT / "nbgrader_config.py").read_text(encoding="utf-8")
    (folder / "nbgrader_config.py").write_text(config + limits, encoding="utf-8")
    shutil.copytree(
        released.folder / "solutions",
        folder / "solutions",
        ignore=shutil.ignore_patterns("*.ipynb", "__pycache__"),
    )
    course.nbgrader("generate_assignment", ASSIGNMENT)
    for student, points in BYSTANDERS.items():
        lay(bystander(points).files(), folder / "submitted" / student / ASSIGNMENT)
    for broken in bank:
        lay(broken.files(), folder / broken.place)
    log = grade(folder, seconds=2400)
    assert "Traceback" not in log
    return marks(folder)


@pytest.fixture(scope="module")
def short(released, tmp_path_factory):
    return graded(released, tmp_path_factory.mktemp("short"), SHORT)


@pytest.fixture(scope="module")
def long(released, tmp_path_factory):
    return graded(released, tmp_path_factory.mktemp("long"), LONG)


@pytest.fixture(scope="module")
def slow(released, tmp_path_factory):
    return graded(released, tmp_path_factory.mktemp("slow"), SLOW, LIMITS)


def examine(broken: Broken, mine: Marked) -> None:
    """Compare the result of a broken submission with the bank's expectation."""
    points = {name: mine.points.get(name, 0.0) for name in POINTS}
    unfair = [
        f"{name}: {points[name]:g}, not {broken.expected(name)} ({mine.headlines.get(name)})"
        for name in POINTS
        if not broken.allows(name, points[name])
    ]
    assert not unfair, "\n".join([broken.title, *unfair, *mine.remarks])
    assert {name: mine.gradebook.get(name, 0.0) for name in POINTS} == points
    assert not mine.by_hand or mine.review, "nbgrader waits for a person"

    lost = [name for name in POINTS if points[name] < POINTS[name]]
    unsaid = [name for name in lost if not mine.headlines.get(name)]
    assert not unsaid, "points are lost without a word"
    if lost and broken.says:
        assert re.search(broken.says, mine.told, re.I), f"{broken.says}\nnot in\n{mine.told}"
    if broken.remark:
        assert re.search(broken.remark, "\n".join(mine.remarks), re.I), mine.remarks
    if broken.review is not None:
        assert bool(mine.review) is broken.review, mine.review or mine.told
    if broken.review_if_lost and any(name in broken.maybe for name in lost):
        assert mine.review, f"a person should look: {broken.why}"

    words = "\n".join([*mine.remarks, *mine.headlines.values()])
    assert "Traceback" not in words
    for place in (str(ROOT), sys.prefix, "/tmp/", "autograder/"):
        assert place not in words, words


@pytest.mark.parametrize("broken", SHORT, ids=lambda b: b.slug)
def test_earns_what_it_should(broken, short):
    assert broken.owner in short, "not graded"
    examine(broken, short[broken.owner])


@pytest.mark.slow
@pytest.mark.parametrize("broken", LONG, ids=lambda b: b.slug)
def test_earns_what_it_should_in_the_whole_bank(broken, long):
    assert broken.owner in long, "not graded"
    examine(broken, long[broken.owner])


@pytest.mark.slow
@pytest.mark.parametrize("broken", SLOW, ids=lambda b: b.slug)
def test_earns_what_it_should_when_stopped(broken, slow):
    assert broken.owner in slow, "not graded"
    examine(broken, slow[broken.owner])


def untouched(student: str, marked: dict[str, Marked]) -> None:
    """Check that a bystander got the earned points and no remarks."""
    assert marked[student].points == marked[student].gradebook == BYSTANDERS[student]
    assert not marked[student].review
    assert not marked[student].remarks


@pytest.mark.parametrize("student", BYSTANDERS)
def test_the_rest_of_the_class_is_not_touched(student, short):
    untouched(student, short)


@pytest.mark.slow
@pytest.mark.parametrize("student", BYSTANDERS)
def test_the_rest_of_the_class_is_not_touched_by_the_whole_bank(student, long):
    untouched(student, long)


@pytest.mark.slow
@pytest.mark.parametrize("student", BYSTANDERS)
def test_the_rest_of_the_class_is_not_touched_by_the_stopped(student, slow):
    untouched(student, slow)
