"""Tests of the best of several submissions, and of grading a student again on request."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from autograder.instructor.grading.assignment_run import AssignmentRun, Summary
from autograder.instructor.grading.attempts import AttemptChooser
from autograder.instructor.grading.course_folder import Course
from tests.conftest import copy_course, needs_bubblewrap
from tests.grading.test_assignment_run import ASSIGNMENT, RIGHT, WRONG, grade, hand_in, kept, points

pytestmark = [pytest.mark.slow, needs_bubblewrap]
PENALTY = """
from nbgrader.plugins import BasePlugin


class TwoADay(BasePlugin):
    def late_submission_penalty(self, student, score, seconds):
        return 2 * -(-seconds // 86400)


c.AssignLatePenalties.plugin_class = TwoADay
c.Grading.penalty_per_assignment = True
"""


@pytest.fixture
def course(tmp_path):
    """Return a course that counts the best submission, with Ada's three."""
    copy_course(tmp_path)
    with (tmp_path / "nbgrader_config.py").open("a") as settings:
        settings.write("\nc.Grading.attempts = 'best'\n")
    hand_in_earlier(tmp_path, "ada", RIGHT, "2026-11-18 12:00:00 UTC")
    hand_in_earlier(tmp_path, "ada", {}, "2026-11-19 12:00:00 UTC")
    hand_in(tmp_path, "ada", WRONG, "2026-11-20 12:00:00 UTC")
    hand_in(tmp_path, "bora", RIGHT)
    return tmp_path


def hand_in_earlier(folder, student, written, time):
    there = hand_in(folder, "nobody", written, time)
    target = folder / "earlier_submissions" / student / ASSIGNMENT / time[:10]
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(there, target)
    there.parent.rmdir()


def time_of(folder, student):
    return (folder / "submitted" / student / ASSIGNMENT / "timestamp.txt").read_text()[:10]


def run(folder, *arguments):
    done = subprocess.run(
        [sys.executable, "-m", "autograder", *arguments],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stdout if done.returncode == 0 else done.stderr


def list_open_attempts(folder):
    """Return the attempts that the next run would grade."""
    work = AssignmentRun(Course(folder), ASSIGNMENT)
    summary = Summary(results=kept(folder))
    return list(AttemptChooser(work, summary).job.attempts)


def test_the_best_submission_counts_and_the_others_stay(course):
    said = grade(course)
    assert "bahdanau: 2 graded" in said
    assert "Another submission counts than before:" in said
    assert (
        "ada: the one of 2026-11-18 12:00 UTC, with 4 points; the one that counted before has 0"
    ) in said
    assert time_of(course, "ada") == "2026-11-18"
    assert points(course, "ada")["additive_score"] == 3
    earlier = course / "earlier_submissions" / "ada" / ASSIGNMENT
    times = {(folder / "timestamp.txt").read_text()[:10] for folder in earlier.iterdir()}
    assert times == {"2026-11-19", "2026-11-20"}
    assert {student for student, _ in kept(course)} == {"ada", "bora"}  # no trace of the others

    # All points are known, so that nothing is graded, until something changes.
    assert list_open_attempts(course) == []
    assert "bahdanau: 0 graded, 2 unchanged" in grade(course)
    hand_in_earlier(
        course, "bora", RIGHT | {"masked_softmax": "masked_softmax = 1"}, "2026-11-19 09:00 UTC"
    )
    hand_in(course, "bora", RIGHT, "2026-11-20 09:00 UTC")
    assert len(list_open_attempts(course)) == 1
    said = grade(course)
    assert "counts" not in said and time_of(course, "bora") == "2026-11-20"

    # A due date changes which one is best: two days late cost four points.
    with (course / "nbgrader_config.py").open("a") as settings:
        settings.write(PENALTY)
    hand_in_earlier(
        course, "bora", WRONG | {"additive_score": RIGHT["additive_score"]}, "2026-11-17 00:00 UTC"
    )
    assert "is due" in run(course, "due", ASSIGNMENT, "2026-11-18 09:00 UTC")
    said = grade(course)
    changes = said.split("Another submission counts than before:")[1]
    assert (
        "bora: the one of 2026-11-17 00:00 UTC, with 3 points; the one that counted before has 0"
    ) in changes
    assert "ada" not in changes


def test_runs_of_a_part_of_the_work_leave_the_others_alone(course):
    said = grade(course, "--exercise", "additive_score")
    assert "counts" not in said and time_of(course, "ada") == "2026-11-20"
    hand_in(course, "bora", RIGHT, "2026-11-20 12:00:00 UTC")
    hand_in_earlier(course, "bora", RIGHT, "2026-11-21 12:00:00 UTC")
    said = grade(course, "--student", "ada")
    assert "counts" in said and time_of(course, "ada") == "2026-11-18"
    assert time_of(course, "bora") == "2026-11-20"
    grade(course)  # with the same points the later one counts
    assert time_of(course, "bora") == "2026-11-21"
    assert list_open_attempts(course) == []


def test_a_damaged_attempt_has_no_points(course):
    earlier = course / "earlier_submissions" / "ada" / ASSIGNMENT
    (earlier / "2026-11-18" / "scores.ipynb").write_bytes(b"\0")
    shutil.copytree(earlier / "2026-11-19", earlier / "2026-11-17")
    (earlier / "2026-11-17" / "loop").symlink_to("loop")
    said = grade(course)
    assert "bahdanau: 2 graded" in said
    assert time_of(course, "ada") == "2026-11-20"


def test_a_run_that_ended_while_two_changed_places_is_mended(course):
    grade(course)
    shutil.move(
        course / "submitted" / "ada" / ASSIGNMENT,
        course / "earlier_submissions" / "ada" / ASSIGNMENT / "interrupted",
    )
    grade(course)
    assert time_of(course, "ada") == "2026-11-18"
    assert points(course, "ada")["additive_score"] == 3


def test_by_default_the_last_submission_counts(course):
    settings = course / "nbgrader_config.py"
    settings.write_text(settings.read_text().replace("c.Grading.attempts = 'best'", ""))
    assert "counts" not in grade(course)
    assert time_of(course, "ada") == "2026-11-20"


def test_a_regrade_is_recorded_with_its_reason(course):
    assert "give a reason, and name the student with --student" in run(
        course, "grade", ASSIGNMENT, "--why", "to see"
    )
    grade(course)
    hand_in(course, "bora", WRONG)
    said = grade(course, "--student", "bora", "--why", "He sent the \x1b[31mright file\nby mail.")
    assert "1 graded" in said
    grade(course, "--student", "bora", "--why", "Once more.")
    said = run(course, "show", "bora", ASSIGNMENT).splitlines()
    assert said[0] == "bahdanau: 0 points"
    assert said[1].endswith("(4 before, 0 after): He sent the \\x1b[31mright file by mail.")
    assert said[2].endswith("(0 before, 0 after): Once more.")
    assert "graded again" not in run(course, "show", "ada", ASSIGNMENT)
