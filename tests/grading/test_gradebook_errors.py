"""Tests of failing gradebooks, disks and settings: a clear message, and no lost data."""

from __future__ import annotations

import errno
import os
import re
import shutil
import sqlite3
from types import SimpleNamespace

import pytest
from nbgrader.api import Gradebook
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DatabaseError

from autograder.instructor.commands import run_subcommand as command_line
from autograder.instructor.grading import course_folder
from autograder.instructor.grading.course_folder import Course, CourseError, write_atomically
from autograder.instructor.grading.extra_gradebook_tables import RESULTS
from autograder.instructor.grading.gradebook_writer import LockRetrier, explain_errors
from tests.conftest import ROOT, copy_course, needs_bubblewrap
from tests.grading.test_assignment_run import ASSIGNMENT
from tests.grading.test_worker_pool import fail, graded, run  # noqa: F401  (a fixture)

pytestmark = [pytest.mark.slow, needs_bubblewrap]


def broken(folder, *settings: str):
    """Return SQLAlchemy's error for a failed write to a SQLite gradebook."""
    engine = create_engine(f"sqlite:///{folder / 'gradebook.db'}?timeout=0.1")
    with engine.begin() as connection:
        for setting in settings:
            connection.execute(text(setting))
        connection.execute(text("create table t as select randomblob(1000000) as x"))


def damage(folder):
    (folder / "gradebook.db").write_bytes(b"SQLite format 3\0" + b"x" * 5_000)
    broken(folder)


def lock(folder):
    with sqlite3.connect(folder / "gradebook.db") as database:
        database.execute("create table if not exists s (x)")
        database.execute("begin exclusive")
        broken(folder)


@pytest.mark.parametrize(
    ("happen", "sentence"),
    [
        (damage, "is damaged .*: restore a backup"),
        (lock, "has been locked for 10 minutes: close the program that uses it, then run the same"),
        (lambda folder: broken(folder, "pragma max_page_count = 3"), "disk is full: make room"),
        (lambda folder: broken(folder, "pragma query_only = 1"), "is not writable: get write"),
        (lambda folder: broken(folder / "nowhere"), "cannot be opened: get read"),
    ],
)
def test_a_gradebook_that_cannot_be_used_gets_a_sentence(tmp_path, happen, sentence):
    url = f"sqlite:///{tmp_path / 'gradebook.db'}"
    with pytest.raises(CourseError, match=f"The gradebook {url} .*{sentence}"), explain_errors(url):
        happen(tmp_path)


def test_a_lock_is_waited_for_and_said_once(tmp_path):
    path = tmp_path / "gradebook.db"
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("begin exclusive")
    said, tries = [], []

    def action():
        tries.append(1)
        if len(tries) == 3:
            other.execute("commit")
        broken(tmp_path)
        return "done"

    assert LockRetrier(said.append).retry_until_done(action) == "done"
    assert len(tries) == 3
    assert said == ["The gradebook is locked by another program; waiting until it is free."]


@pytest.mark.parametrize("how", ["gone", "empty", "emptied"])
def test_a_lost_gradebook_is_not_made_anew_without_a_word(
    graded,  # noqa: F811
    tmp_path,
    how,
    monkeypatch,
    capsys,
):
    from autograder.cli import main

    folder = shutil.copytree(graded[0], tmp_path / "course")
    path = folder / "gradebook.db"
    if how == "gone":
        path.unlink()
    elif how == "empty":
        path.write_bytes(b"")
    else:
        with sqlite3.connect(path) as database:
            for table in ("submitted_assignment", RESULTS.name):
                database.execute(f"delete from {table}")
    with pytest.raises(CourseError, match=r"graded pages of 7 students, but .* has no grades"):
        run(folder)
    if how != "emptied":  # for any command and any assignment
        shutil.copytree(ROOT / "exercises" / "luong", folder / "submitted" / "ada" / "luong")
        for arguments in (["grade", "luong"], ["feedback", ASSIGNMENT], ["show", "ada"]):
            monkeypatch.chdir(folder)
            assert main([*arguments, "--course", str(folder)]) == 2
            assert "graded pages of 7 students, but" in capsys.readouterr().err
    assert how != "empty" or path.stat().st_size == 0
    shutil.move(folder / "autograded", tmp_path / "before")
    if how == "empty":  # as the message says
        assert run(folder, ["ada"])[1].graded == ["ada"]


def stopping(write, done, at_most):
    """Return a function that writes a number of times and is then stopped."""

    def write_some(*given, **more):
        if len(done) >= at_most:
            raise KeyboardInterrupt
        done.append(given)
        return write(*given, **more)

    return write_some


@pytest.mark.parametrize("written", [0, 1, 5, 9, 12])
def test_an_assignment_of_which_a_killed_run_wrote_a_part_is_written_whole(
    tmp_path, monkeypatch, written
):
    copy_course(tmp_path)
    here = Course(tmp_path)
    sources = here.sources(ASSIGNMENT)
    cells = {(name, *cell) for name, source in sources.items() for cell in source.gradebook_cells}
    assert {kind for _, kind, _ in cells} == {"grade", "solution", "source"}
    done = []
    for name in ("grade", "solution", "source"):
        method = f"update_or_create_{name}_cell"
        monkeypatch.setattr(Gradebook, method, stopping(getattr(Gradebook, method), done, written))
    with pytest.raises(KeyboardInterrupt):
        here.register_assignment(ASSIGNMENT, sources)
    monkeypatch.undo()
    for _ in range(2):  # the second run finds everything done
        here.register_assignment(ASSIGNMENT, sources)
        with Gradebook(here.db_url, here.course_id) as known:
            assert {
                (notebook.name, kind, cell.name)
                for notebook in known.find_assignment(ASSIGNMENT).notebooks
                for kind in ("grade", "solution", "source")
                for cell in getattr(notebook, f"{kind}_cells")
            } == cells
        monkeypatch.setattr(course_folder.GenerateAssignmentApp, "start", fail)


@pytest.mark.parametrize("mask", [0o077, 0o022])
def test_a_file_of_points_is_no_more_open_than_the_users_umask_allows(tmp_path, mask):
    before = os.umask(mask)
    try:
        write_atomically(tmp_path / "grades.csv", b"ada,4")
        assert os.umask(mask) == mask, "it is as it was"
    finally:
        os.umask(before)
    assert (tmp_path / "grades.csv").stat().st_mode & 0o777 == 0o666 & ~mask


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("this is no Python", "nbgrader_config.py cannot be used: SyntaxError"),
        ("c.Grading.workers = many", "nbgrader_config.py cannot be used: NameError"),
        ("c.Grading.cell_seconds = '60'", "A setting in nbgrader_config.py is wrong: "),
        ("c.Grading.exercises = 'no.such'", "is wrong: No module named 'no'"),
        ("c.CourseDirectory.db_url = 'gradebook'", "is wrong: Could not parse"),
    ],
)
def test_a_mistake_in_the_settings_gets_a_sentence(tmp_path, line, sentence):
    copy_course(tmp_path)
    with (tmp_path / "nbgrader_config.py").open("a") as page:
        page.write(f"\n{line}\n")
    with pytest.raises(CourseError, match=re.escape(sentence)):
        Course(tmp_path)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            ("solution.py", lambda text: text.replace("### END SOLUTION", "# end")),
            "scores/notebook.md cannot be used",
        ),
        (
            ("notebook.md", lambda text: text.replace("+++ {", "+++ {{", 1)),
            "scores/notebook.md cannot be used",
        ),
        (
            ("notebook.md", lambda text: text.encode("utf-16").decode("latin-1")),
            "scores/notebook.md cannot be used",
        ),
        ("{", "extra.ipynb cannot be used: NotJSONError"),
        ("{}", "extra.ipynb cannot be used: "),
    ],
)
def test_a_mistake_in_a_source_notebook_gets_a_sentence(tmp_path, change, sentence, capsys):
    copy_course(tmp_path)
    folder = tmp_path / "solutions" / ASSIGNMENT
    if isinstance(change, str):
        (folder / "extra.ipynb").write_text(change)
    else:
        name, spoil = change
        master = folder / "scores" / name
        master.write_text(spoil(master.read_text(encoding="utf-8")), encoding="utf-8")
    given = SimpleNamespace(command="feedback", course=tmp_path, db=None, workers=0)
    given.assignment, given.student = ASSIGNMENT, []
    assert command_line.run(given, None) == 2
    said = capsys.readouterr().err
    assert sentence in said and said.endswith("; correct it.\n") and said.count("\n") == 1


def test_a_folder_that_cannot_be_read_gets_a_sentence(tmp_path, monkeypatch, capsys):
    copy_course(tmp_path)
    folder = tmp_path / "autograded"
    folder.mkdir()
    real = course_folder.Path.iterdir

    def refuse(path):
        if path == folder:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(course_folder.Path, "iterdir", refuse)
    given = SimpleNamespace(command="feedback", course=tmp_path, db=None, workers=0)
    given.assignment, given.student = ASSIGNMENT, []
    assert command_line.run(given, None) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"autograder: {folder}: Permission denied. Fix this and run")
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (DatabaseError("", {}, ValueError("no such column: x")), "run nbgrader db upgrade, then"),
        (FileNotFoundError(errno.ENOENT, "No usable temporary directory"), "make room there"),
    ],
)
def test_what_is_not_damaged_is_not_called_so(error, sentence):
    with pytest.raises(CourseError, match=sentence), explain_errors("sqlite:///gradebook.db"):
        raise error


def test_a_lost_gradebook_is_named_without_its_password():
    here = SimpleNamespace(db_url="postgresql://ada:secret@host/grades")
    assert "ada:***@host" in Course.lost_gradebook(here, 2)


def test_a_full_disk_leaves_the_old_page_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("old")
    real = course_folder.tempfile.mkstemp

    def full(**given):
        handle, name = real(**given)
        os.close(handle)
        return os.open("/dev/full", os.O_WRONLY), name

    monkeypatch.setattr(course_folder.tempfile, "mkstemp", full)
    with (
        pytest.raises(CourseError, match=f"disk is full; {path} could not be written: make room"),
        explain_errors("sqlite://"),
    ):
        write_atomically(path, b"new", 0o644)
    assert [p.name for p in tmp_path.iterdir()] == ["page.html"] and path.read_text() == "old"
