"""Tests that our grader agrees with stock nbgrader on honest submissions, by exercise."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from tests.grading import stock_nbgrader
from tests.submissions.grade_by_command import Marked, grade, marks
from tests.submissions.honest import BANK, Honest
from tests.submissions.student_notebooks import ASSIGNMENT, POINTS, ROOT, lay

pytestmark = pytest.mark.slow

SHORT = [honest for honest in BANK if honest.quick]
LONG = [honest for honest in BANK if not honest.quick]

# A kernel that sends more than its client can read in time loses messages, including the last one.
# With nbgrader's default settings, this ends the grading.
STOCK = (
    stock_nbgrader.settings()
    + """
c.Execute.iopub_timeout = 20
c.Execute.raise_on_iopub_timeout = False
"""
)


@dataclass(frozen=True)
class Both:
    """The results of the same class from both graders."""

    ours: dict[str, Marked]
    stock: dict[str, dict[str, float]]


def a_course(released, folder: Path, bank: list[Honest], config: str):
    """Create a course with these submissions."""
    course = replace(released, folder=folder)
    (folder / "nbgrader_config.py").write_text(config, encoding="utf-8")
    shutil.copytree(
        released.folder / "solutions",
        folder / "solutions",
        ignore=shutil.ignore_patterns("*.ipynb", "__pycache__"),
    )
    course.nbgrader("generate_assignment", ASSIGNMENT)
    for honest in bank:
        lay(honest.files(), folder / honest.place)
    return course


def on_stock(course) -> dict[str, dict[str, float]]:
    """Grade with stock nbgrader; return the points by student and exercise."""
    course.nbgrader("autograde", ASSIGNMENT)
    with Gradebook(f"sqlite:///{course.folder / 'gradebook.db'}") as gradebook:
        return {
            submission.student.id: {
                g.cell.name.removeprefix("test-"): g.auto_score
                for page in submission.notebooks
                for g in page.grades
            }
            for submission in gradebook.assignment_submissions(ASSIGNMENT)
        }


def by_both(released, tmp_path_factory, bank: list[Honest]) -> Both:
    """Grade with both; two stock runs share the class, because nbgrader grades sequentially."""
    config = (ROOT / "nbgrader_config.py").read_text(encoding="utf-8")
    course = a_course(released, tmp_path_factory.mktemp("ours"), bank, config)
    grade(course.folder)
    courses = [  # made sequentially: Python 3.11 cannot parse in two threads
        a_course(released, tmp_path_factory.mktemp("stock"), half, STOCK)
        for half in (bank[::2], bank[1::2])
    ]
    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(on_stock, courses)
    return Both(marks(course.folder), one | other)


@pytest.fixture(scope="module")
def short(released, tmp_path_factory):
    return by_both(released, tmp_path_factory, SHORT)


@pytest.fixture(scope="module")
def long(released, tmp_path_factory):
    return by_both(released, tmp_path_factory, LONG)


def compare(honest: Honest, both: Both) -> None:
    """Compare both results with the submission's expectation and with each other."""
    mine, stock = both.ours[honest.slug], both.stock[honest.slug]
    wrong = [
        f"{name}: ours {mine.points[name]:g}: {mine.headlines[name]}"
        for name in POINTS
        if not honest.allows(name, mine.points[name])
    ]
    assert not wrong, "\n".join([honest.title, *wrong, *mine.remarks])
    assert mine.points == mine.gradebook
    apart = [
        f"{name}: ours {mine.points[name]:g}, stock {stock[name]:g}: {mine.headlines[name]}"
        for name in POINTS
        if not honest.agrees(name, mine.points[name], stock[name])
    ]
    assert not apart, "\n".join([honest.title, *apart])
    assert not mine.review
    assert not mine.by_hand


@pytest.mark.parametrize("honest", SHORT, ids=lambda h: h.slug)
def test_ours_is_as_stock(honest, short):
    compare(honest, short)


@pytest.mark.slow
@pytest.mark.parametrize("honest", LONG, ids=lambda h: h.slug)
def test_ours_is_as_stock_in_the_whole_bank(honest, long):
    compare(honest, long)
