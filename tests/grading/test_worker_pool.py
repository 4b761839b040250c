"""Tests that grading continues, and says so, when a submission breaks its worker process."""

from __future__ import annotations

import errno
import os
import re
import shutil
import signal
import sqlite3
import time

import nbformat
import pytest
from nbgrader.api import Gradebook

from autograder.instructor.commands.grading_summary import summarise
from autograder.instructor.grading import (
    assignment_run,
    gradebook_writer,
    notebook_grader,
    submission_parser,
)
from autograder.instructor.grading.assignment_run import AssignmentRun
from autograder.instructor.grading.course_folder import Course, CourseError
from autograder.instructor.grading.executors import open_local_executor
from tests.conftest import copy_course, needs_bubblewrap
from tests.grading.test_assignment_run import ASSIGNMENT, RIGHT, hand_in

pytestmark = [pytest.mark.slow, needs_bubblewrap]


def sleep() -> None:
    while True:
        time.sleep(1)


def spin() -> None:
    while True:
        pass


def take_all() -> None:
    taken = []
    while True:
        taken.append(bytes(1 << 30))  # never accessed, so that it takes no time


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def fail() -> None:
    raise ZeroDivisionError("our own, with \x1b[31mcolour")


MISHAPS = {
    "sleeps": (sleep, "took more than 8 seconds"),
    "spins": (spin, "took more than 8 seconds"),
    "hungry": (take_all, "more than 3 GB"),
    "dies": (die, "died"),
    "fails": (fail, "The grader failed: ZeroDivisionError: our own"),
}
GOOD = ("ada", "zoe")
TIME = "2030-05-01T10:00:00 UTC"


def run(folder, students=(), force=False):
    work = AssignmentRun(Course(folder), ASSIGNMENT, students, (), force)
    settings = work.course.settings
    settings.submission_seconds, settings.notebook_seconds, settings.workers = 4.0, 4.0, 2
    with open_local_executor(work) as machine:
        return work, work.grade_all(machine)


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """Return a class graded once normally, then with reading that fails badly for most."""
    folder = tmp_path_factory.mktemp("guarded")
    copy_course(folder)
    for student in (*GOOD, *MISHAPS):
        hand_in(folder, student, RIGHT, "yesterday" if student == "zoe" else TIME)
    shutil.copytree(folder / "submitted" / "ada" / ASSIGNMENT, folder / "submitted" / "dora")
    shutil.copytree(folder / "submitted" / "ada", folder / "submitted" / "eric" / "Bahdanau")
    for name in (b"__metadata__", b"\xff" * 70 + b".txt"):
        (folder / "submitted" / "zoe" / ASSIGNMENT / os.fsdecode(name)).write_bytes(b"x")
    # "fails" was graded before, and reading fails only the second time.
    run(folder, ["fails"])
    real = submission_parser.read_submission

    def read(place, names):
        for student, (happen, _) in MISHAPS.items():
            if student in place.parts:
                happen()
        return real(place, names)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(submission_parser, "read_submission", read)
        work, summary = run(folder)
    return folder, work, summary


def test_the_others_are_graded(graded):
    folder, _, summary = graded
    assert sorted(summary.graded) == sorted(GOOD)
    for student in GOOD:
        assert sum(r.points for (s, _), r in summary.results.items() if s == student) == 4.0
        assert (folder / "autograded" / student / ASSIGNMENT / "scores.ipynb").exists()
    assert "timestamp.txt contains no valid time" in summary.results["zoe", "scores"].review
    assert summary.results["ada", "scores"].review == ""


@pytest.mark.parametrize("student", MISHAPS)
def test_a_submission_that_breaks_its_process_is_for_a_person(graded, student):
    folder, work, summary = graded
    why = MISHAPS[student][1]
    assert why in summary.failed[student]
    mine = [r for (s, _), r in summary.results.items() if s == student]
    assert len(mine) == 2 and all(why in r.review and r.digest == "" for r in mine)
    with sqlite3.connect(folder / "gradebook.db") as database:
        rows = database.execute(
            "select g.needs_manual_grade from grade g join submitted_notebook n on "
            "n.id = g.notebook_id join submitted_assignment s on s.id = n.assignment_id "
            "where s.student_id = ?",
            [student],
        ).fetchall()
    assert rows and set(rows) == {(1,)}
    # Points earned before are not lost.
    assert sum(r.points for r in mine) == (4.0 if student == "fails" else 0.0)
    page = nbformat.read(folder / "autograded" / student / ASSIGNMENT / "scores.ipynb", 4)
    when = folder / "autograded" / student / ASSIGNMENT / "timestamp.txt"
    assert when.read_text() == TIME, "nbgrader cannot give back what has none"
    told = any("could not be graded" in cell.source for cell in page.cells)
    assert told == (student != "fails")
    assert f"{student}: " in summarise(work, summary, 1.0).split("could not be graded")[1]


def test_the_next_run_tries_again(graded):
    folder, _, _ = graded
    _, summary = run(folder)
    assert sorted(summary.graded) == sorted(MISHAPS) and not summary.failed
    assert {r.points for (_, n), r in summary.results.items() if n == "scores"} == {4.0}


def test_every_student_is_in_the_summary_and_can_be_shown(graded, monkeypatch, capsys):
    folder, _, _ = graded
    work, summary = run(folder)
    said = summarise(work, summary, 1.0)
    assert "0 graded, 7 unchanged" in said
    assert (
        "2 have no folder 'bahdanau': dora (there is scores.ipynb), eric (there is "
        "Bahdanau)" in said
    )
    for student in (*GOOD, *MISHAPS):
        assert f"  {student:6}     4 of 20  .++..." in said
    from autograder.cli import main

    monkeypatch.chdir(folder)
    assert main(["show", "ada"]) == 0
    shown = capsys.readouterr().out
    assert "bahdanau/scores: 4 of 10 points, graded 20" in shown
    assert re.search(r"  context_vector: 1 of 1, right, tried on [1-9]\d* cases\n", shown)
    assert "masked_softmax: 0 of 2, unwritten\n    masked_softmax is not written yet" in shown
    assert main(["show", "eve"]) == 2
    assert "Nothing of eve has been graded: run autograder grade" in capsys.readouterr().err


def test_an_error_of_the_grader_leaves_what_was_earned_and_a_full_disk_ends_the_run(
    graded, monkeypatch
):
    folder, _, _ = graded
    place = folder / "autograded" / "ada" / ASSIGNMENT / "scores.ipynb"
    page = place.read_bytes()
    for error in (ValueError("our own"), OSError(errno.ENOSPC, "No space", "/tmp/x")):

        def break_down(*given, error=error):
            raise error

        monkeypatch.setattr(notebook_grader.NotebookGrader, "grade", break_down)
        if isinstance(error, OSError):
            with pytest.raises(CourseError, match="The disk is full; /tmp/x"):
                run(folder, ["ada"], force=True)
        else:
            _, summary = run(folder, ["ada"], force=True)
            assert "The grader failed: ValueError: our own" in summary.failed["ada"]
        assert summary.results["ada", "scores"].points == 4.0
        assert place.read_bytes() == page
    monkeypatch.undo()
    assert run(folder, ["ada"])[1].graded == ["ada"], "it is tried again"


def test_a_folder_without_the_right_to_read_costs_one_student(tmp_path, monkeypatch):
    copy_course(tmp_path)
    for student in ("ada", "locked"):
        hand_in(tmp_path, student, RIGHT)
    real = submission_parser.read_submission

    def read(place, names):
        if "locked" in place.parts:
            raise PermissionError(errno.EACCES, "Permission denied", str(place / "more"))
        return real(place, names)

    monkeypatch.setattr(submission_parser, "read_submission", read)
    _, summary = run(tmp_path)
    assert summary.graded == ["ada"]
    assert summary.failed["locked"].startswith(str(tmp_path / "submitted" / "locked"))
    assert "/more cannot be read: Permission denied. Make it readable" in summary.failed["locked"]
    monkeypatch.undo()
    assert run(tmp_path)[1].graded == ["locked"]


def test_what_an_assignment_gets_later_is_graded_too(tmp_path):
    copy_course(tmp_path)
    hand_in(tmp_path, "ada", RIGHT)
    run(tmp_path)
    url = f"sqlite:///{tmp_path / 'gradebook.db'}"
    forget_a_part(url)
    assert run(tmp_path, force=True)[1].graded == ["ada"]
    assert_whole(url)


def forget_a_part(url):
    """Remove a notebook and a cell from a gradebook, as if they had never existed."""
    with Gradebook(url, "attention") as known:
        known.remove_notebook("translator", ASSIGNMENT)
        cell = known.find_grade_cell("test-context_vector", "scores", ASSIGNMENT)
        for entry in (*cell.grades, cell):
            known.db.delete(entry)
        known.db.commit()


def assert_whole(url):
    """Check that the notebook and the cell are back in the gradebook, graded."""
    with Gradebook(url, "attention") as known:
        submission = known.find_submission(ASSIGNMENT, "ada")
        found = {(p.name, g.name): g.auto_score for p in submission.notebooks for g in p.grades}
        comments = {(p.name, c.name) for p in submission.notebooks for c in p.comments}
        assert submission.score == 4.0
    assert found["scores", "test-context_vector"] == 1.0
    assert found["translator", "test-AttentionDecoder"] == 0.0
    assert ("translator", "AttentionDecoder") in comments


def test_a_page_that_cannot_be_recorded_costs_one_student(graded, monkeypatch):
    folder, _, _ = graded
    real = gradebook_writer.GradebookWriter.write

    def write(writer, student, *given):
        if student == "ada":
            raise ValueError("a plugin for penalties")
        real(writer, student, *given)

    monkeypatch.setattr(gradebook_writer.GradebookWriter, "write", write)
    _, summary = run(folder, force=True)
    assert "It could not be recorded: ValueError: a plugin" in summary.failed["ada"]
    assert "zoe" in summary.graded


@pytest.mark.parametrize("number", [errno.ENAMETOOLONG, errno.EISDIR, errno.ENOSPC, errno.EROFS])
def test_a_file_that_cannot_be_written_costs_one_student_and_a_full_disk_all(
    graded, monkeypatch, number
):
    folder, _, _ = graded
    real = assignment_run.replace_folder_contents

    def put(place, files, permissions):
        if "ada" in place.parts and any(not name.endswith(".ipynb") for name in files):
            raise OSError(number, "it cannot be written", str(place))
        real(place, files, permissions)

    (folder / "submitted" / "ada" / ASSIGNMENT / "notes.txt").write_text("x")
    monkeypatch.setattr(assignment_run, "replace_folder_contents", put)
    if number in (errno.ENOSPC, errno.EROFS):
        with pytest.raises(CourseError):
            run(folder, force=True)
    else:
        _, summary = run(folder, force=True)
        assert "It could not be recorded" in summary.failed["ada"] and "zoe" in summary.graded


@pytest.mark.parametrize(
    ("name", "why"),
    [
        (os.fsdecode(b"\xb1\xe8"), "not UTF-8"),
        ("a\nb", "line break"),
        (".hidden", "with a dot"),
        ("<b>ada", "as HTML"),
        ("ada ", "with a space"),
    ],
)
def test_a_folder_that_can_be_no_student_is_named(tmp_path, name, why):
    copy_course(tmp_path)
    hand_in(tmp_path, name, RIGHT)
    hand_in(tmp_path, "ada", {})
    work = AssignmentRun(Course(tmp_path), ASSIGNMENT)
    assert work.students == ["ada"]
    assert list(work.skipped) == [name] and why in work.skipped[name]
    said = summarise(work, assignment_run.Summary(), 1.0)
    assert "1 folders were skipped" in said and said.encode() and "\nb" not in said
