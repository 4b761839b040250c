"""Tests that changed lateness, extensions and manual points update penalties, by name."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from nbgrader.plugins import BasePlugin

from autograder.cli import main
from autograder.instructor.grading.late_penalties import (
    PenaltyRule,
    update_penalties,
    write_extension,
)
from tests.conftest import ROOT
from tests.grading.filled_gradebook import ALL_POINTS, ASSIGNMENT, Class, Found

LATE = "2030-05-02T18:00:00+00:00"  # 30 hours after the due date
RULE = """
from nbgrader.plugins import BasePlugin


class PerDay(BasePlugin):
    def late_submission_penalty(self, student, score, seconds):
        return 2 * -(-seconds // 86400)


c.AssignLatePenalties.plugin_class = PerDay
"""


class PerDay(BasePlugin):
    """Takes two points off for each day that has begun."""

    def late_submission_penalty(self, student, score, seconds):
        return 2 * -(-seconds // 86400)


@pytest.fixture
def late_class(tmp_path):
    group = Class(tmp_path)
    group.hand_in("ada")
    group.hand_in("bora", at=LATE)
    return group


def update(group, per_assignment=True, **more):
    changes = update_penalties(
        group.gradebook, ASSIGNMENT, PenaltyRule(PerDay(), per_assignment), **more
    )
    group.gradebook.db.commit()
    return {change.student: (change.before, change.now) for change in changes}


@pytest.mark.parametrize(("per_assignment", "taken"), [(True, 4.0), (False, 8.0)])
def test_a_penalty_counts_for_the_assignment_or_each_notebook(late_class, per_assignment, taken):
    assert update(late_class, per_assignment) == {"bora": (0.0, taken)}
    assert late_class.total("bora") == ALL_POINTS - taken
    assert late_class.total("ada") == ALL_POINTS
    assert update(late_class, per_assignment) == {}


def test_a_due_date_that_moves_changes_the_penalty(late_class):
    update(late_class)
    assignment = late_class.gradebook.find_assignment(ASSIGNMENT)
    assignment.duedate += timedelta(days=1)
    late_class.gradebook.db.commit()
    assert update(late_class) == {"bora": (4.0, 2.0)}
    assignment.duedate = None
    late_class.gradebook.db.commit()
    assert update(late_class) == {"bora": (2.0, 0.0)}


def test_a_time_stamp_that_changes_or_goes_changes_the_penalty(late_class):
    update(late_class)
    times = {"bora": datetime(2030, 5, 1, 13), "ada": datetime(2030, 5, 3)}
    assert update(late_class, timestamps=times) == {"ada": (0.0, 4.0), "bora": (4.0, 2.0)}
    assert update(late_class, timestamps={"bora": None}) == {"bora": (2.0, 0.0)}


def test_an_extension_counts_before_and_after_handing_in(late_class):
    connection = late_class.gradebook.db.connection()
    write_extension(connection, ASSIGNMENT, "chul", timedelta(days=3))
    update(late_class)
    write_extension(late_class.gradebook.db.connection(), ASSIGNMENT, "bora", timedelta(days=1))
    assert update(late_class) == {"bora": (4.0, 2.0)}
    late_class.hand_in("chul", at=LATE)
    assert update(late_class) == {}
    write_extension(late_class.gradebook.db.connection(), ASSIGNMENT, "bora", timedelta())
    assert update(late_class) == {"bora": (2.0, 4.0)}


def test_points_by_hand_change_a_penalty_that_depends_on_them(late_class):
    class Half(BasePlugin):
        def late_submission_penalty(self, student, score, seconds):
            return score / 2

    for per_assignment in (True, False):
        rule = PenaltyRule(Half(), per_assignment)
        update_penalties(late_class.gradebook, ASSIGNMENT, rule)
        late_class.by_hand("bora", "additive_score", extra_credit=1.0)
        (change,) = update_penalties(late_class.gradebook, ASSIGNMENT, rule)
        assert change.now == (ALL_POINTS + 1) / 2
        late_class.by_hand("bora", "additive_score", extra_credit=0.0)


def test_a_penalty_is_never_more_than_the_points(late_class):
    none = {name: Found() for name in ("masked_softmax", "additive_score", "context_vector")}
    late_class.hand_in("dina", none, at=LATE)
    rule = PenaltyRule(PerDay(), per_assignment=False)
    update_penalties(late_class.gradebook, ASSIGNMENT, rule, ["dina"])
    late_class.gradebook.db.commit()
    assert late_class.total("dina") >= 0
    assert late_class.gradebook.find_submission(ASSIGNMENT, "dina").late_submission_penalty <= 8
    assert late_class.gradebook.find_submission(ASSIGNMENT, "bora").late_submission_penalty == 0


@pytest.fixture
def course(tmp_path, monkeypatch):
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    shutil.copytree(ROOT / "solutions/bahdanau", tmp_path / "solutions/bahdanau")
    with open(tmp_path / "nbgrader_config.py", "a") as page:
        page.write(
            RULE + "c.Exchange.timezone = 'Asia/Seoul'\nc.Grading.penalty_per_assignment = True\n"
        )
    monkeypatch.chdir(tmp_path)
    return Class(tmp_path)


def test_the_commands_show_a_due_date_and_whose_penalty_it_changes(course, capsys, tmp_path):
    course.hand_in("bora", at="2026-11-21T10:00:00+00:00")
    assert main(["due", ASSIGNMENT, "2026-11-20", "23:59", "+0900"]) == 0
    said = capsys.readouterr().out
    assert "bahdanau is due 2026-11-20 23:59 Asia/Seoul." in said
    assert "bora: 2 points are taken off, not 0 (19 h 1 min late)" in said
    # What the export says is what the gradebook says.
    course.by_hand("bora", "additive_score", extra_credit=1.0)
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", "export", "--to=grades.csv",
         "--exporter=autograder.instructor.exports.Canvas"],
        cwd=tmp_path, env=os.environ, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert f"{ALL_POINTS + 1 - 2:g}" in (tmp_path / "grades.csv").read_text().splitlines()[-1]
    assert main(["show", "bora"]) == 0
    said = capsys.readouterr().out
    assert f"bahdanau: {ALL_POINTS - 1:g} points (1 extra, 2 off for lateness)" in said
    assert main(["extend", "bora", ASSIGNMENT, "1"]) == 0
    said = capsys.readouterr().out
    assert "bora has 1 day more for bahdanau: 2026-11-21 23:59 Asia/Seoul." in said
    assert "bora: 0 points are taken off, not 2 (not late)" in said


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["extend", "nobody", ASSIGNMENT, "2"], "There is no student 'nobody'"),
        (["extend", "ada", ASSIGNMENT, "nan"], "An extension has 0 to"),
        (["extend", "ada", ASSIGNMENT, "1e9"], "An extension has 0 to"),
        (["due", ASSIGNMENT, "tomorrow"], "is no date with a time"),
        (["due", ASSIGNMENT, "2026-11-20", "23:59", "CST"], "means several time zones"),
    ],
)
def test_a_wrong_date_or_name_gets_a_sentence(course, capsys, arguments, says):
    course.enrol("ada")
    assert main(arguments) == 2
    assert says in capsys.readouterr().err


def test_nbgraders_own_command_reads_zones(course, tmp_path):
    for zone, status, says in (("+0900", 0, ""), ("CST", 1, "means several time zones")):
        command = ["db", "assignment", "add", ASSIGNMENT, "--duedate", f"2026-11-20 23:59 {zone}"]
        done = subprocess.run(
            [Path(sys.executable).with_name("nbgrader"), *command],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert (done.returncode, says in done.stderr) == (status, True), done.stderr
    with Gradebook(f"sqlite:///{tmp_path}/gradebook.db", "attention") as gradebook:
        assert gradebook.find_assignment(ASSIGNMENT).duedate == datetime(2026, 11, 20, 14, 59)
