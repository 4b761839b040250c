"""Tests that `autograder feedback` and `nbgrader generate_feedback` write the same pages."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from autograder.cli import main
from autograder.instructor.grading.course_folder import Course
from autograder.instructor.nbgrader import feedback_pages
from autograder.instructor.nbgrader.feedback_pages import improve_frame, write_pages
from tests.conftest import copy_course, needs_bubblewrap
from tests.grading.test_assignment_run import ASSIGNMENT, RIGHT, WRONG, grade, hand_in

pytestmark = [pytest.mark.slow, needs_bubblewrap]
LIKE_NBGRADERS = ("ada", "bora", "chul", "Zoë O'Neil & Co")
GLOB, HOSTILE = "dana [2]", "eve"
STOPPED = {
    "context_vector": "def context_vector(weights, values):\n    while True:\n        pass\n"
}
NOTE = "My *note*: $a < b$ & <b>so on</b>.\n\n```python\nx = 1\n```\n![](figure.png)"
ENDLESS = "</div></div></div><script>"


def add_cell(folder: Path, source: str) -> None:
    """Insert a student's own cell before the others."""
    page = nbformat.read(folder / "scores.ipynb", 4)
    page.cells.insert(1, nbformat.v4.new_markdown_cell(source))
    nbformat.write(page, folder / "scores.ipynb")


def feedback(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "autograder", "feedback", ASSIGNMENT, *more],
        cwd=folder,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )


def pages(folder: Path) -> dict[str, bytes]:
    """Return the files in the folder, by name."""
    found = (folder / "feedback").rglob("*")
    return {
        str(p.relative_to(folder / "feedback")): p.read_bytes()
        for p in found
        if p.is_file() and not p.name.startswith(".")
    }


RULE = """
from nbgrader.plugins import BasePlugin


class Late(BasePlugin):
    def late_submission_penalty(self, student, score, seconds):
        return 0.125


c.AssignLatePenalties.plugin_class = Late
"""


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """Return a graded class with a person's additions."""
    folder = tmp_path_factory.mktemp("graded")
    copy_course(folder)
    with (folder / "nbgrader_config.py").open("a") as config:
        config.write("c.Grading.exercise_seconds = 3\n" + RULE)
    add_cell(hand_in(folder, "ada", RIGHT, beside="2030-05-01T10:00:00 UTC"), NOTE)
    hand_in(folder, "bora", WRONG)
    late = hand_in(folder, "chul", STOPPED, beside="2030-05-02T10:00:00 UTC")
    (late / "translator.ipynb").unlink()
    hand_in(folder, "Zoë O'Neil & Co", {})
    hand_in(folder, GLOB, RIGHT)
    hand_in(folder, HOSTILE, RIGHT)
    grade(folder, "--no-feedback")
    page = folder / "autograded" / HOSTILE / ASSIGNMENT / "scores.ipynb"
    page.chmod(0o644)
    add_cell(page.parent, ENDLESS)  # our grading would have made it harmless
    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}", "attention") as gradebook:
        one = gradebook.find_grade("test-context_vector", "scores", ASSIGNMENT, "bora")
        one.manual_score, one.extra_credit = 0.5, 0.25
        said = gradebook.find_comment("context_vector", "scores", ASSIGNMENT, "bora")
        said.manual_comment = "Nearly: see *chapter 2*, $w_i$ & <b>try again</b>."
        right = gradebook.find_grade("test-masked_softmax", "scores", ASSIGNMENT, "chul")
        right.manual_score = 2.0
        gradebook.db.commit()
    assert main(["due", ASSIGNMENT, "2030-05-01", "12:00", "UTC", "--course", str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
def both(graded, tmp_path_factory):
    """Return our pages and nbgrader's."""
    ours, theirs = (tmp_path_factory.mktemp(name) / "course" for name in ("ours", "theirs"))
    shutil.copytree(graded, ours)
    shutil.copytree(graded, theirs)
    done = feedback(ours)
    assert done.returncode == 0, done.stdout + done.stderr
    subprocess.run(
        [sys.executable, "-m", "nbgrader", "generate_feedback", ASSIGNMENT], cwd=theirs, check=True
    )
    return ours, theirs


@pytest.fixture
def course(graded, tmp_path):
    folder = tmp_path / "course"
    shutil.copytree(graded, folder)
    return folder


def improved(found):
    """Return nbgrader's pages with what is better in ours."""
    return {
        name: improve_frame(page.decode()).encode() if name.endswith(".html") else page
        for name, page in found.items()
    }


def test_but_for_the_contents_pages_are_nbgraders_byte_for_byte(both):
    ours, theirs = (
        {name: text for name, text in pages(f).items() if name.startswith(LIKE_NBGRADERS)}
        for f in both
    )
    assert ours == improved(theirs)
    contents = ours["bora/bahdanau/scores.html"].decode()
    assert '<a href="#test-context_vector"><code>context_vector</code></a> (Score' in contents
    assert "Comment on <code>" in contents and "Test cell</a>" not in contents
    assert sorted(n for n in ours if n.startswith(("ada", "chul"))) == [
        "ada/bahdanau/scores.html",
        "ada/bahdanau/timestamp.txt",
        "ada/bahdanau/translator.html",
        "chul/bahdanau/scores.html",
        "chul/bahdanau/timestamp.txt",
        "chul/bahdanau/translator.html",
    ]
    bora = ours["bora/bahdanau/scores.html"].decode()
    assert "Nearly: see <em>chapter 2</em>" in bora
    assert "(Score: 0.75 / 1.0)" in bora
    assert "Late submission penalty (Score: -0.12)" in ours["chul/bahdanau/scores.html"].decode()
    ours, theirs = (
        [(f / "feedback" / s / ASSIGNMENT / "scores.html").stat().st_mode for s in LIKE_NBGRADERS]
        for f in both
    )
    assert ours == theirs


def test_where_they_differ_nbgrader_is_wrong(both):
    ours, theirs = map(pages, both)
    theirs = improved(theirs)
    different = {n for n in ours | theirs if ours.get(n) != theirs.get(n)}
    assert different == {
        # nbgrader reads the brackets as a glob pattern and finds no notebook.
        *(f"{GLOB}/bahdanau/{name}.html" for name in ("scores", "translator")),
        # A student's unclosed <script> hides the rest of nbgrader's page, points included.
        f"{HOSTILE}/bahdanau/scores.html",
    }
    end = b'<a name="test-context_vector"></a><div class="panel-heading">'
    assert not [name for name in ours if name.endswith(".ipynb")]
    page = ours[f"{HOSTILE}/bahdanau/scores.html"]
    assert page.count(b"<script") == page.count(b"</script>")
    assert page.index(b"</script>", page.index(b'<div class="cell')) < page.index(end)


def test_only_what_has_changed_is_written_anew(course):
    assert "12 pages written, 0 unchanged, 0 failed" in feedback(course).stdout
    assert "0 pages written, 12 unchanged" in feedback(course).stdout
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}", "attention") as gradebook:
        gradebook.find_grade("test-context_vector", "scores", ASSIGNMENT, "bora").manual_score = 1.0
        gradebook.db.commit()
    (course / "feedback" / "ada" / ASSIGNMENT / "scores.html").write_text("mine")
    (course / "autograded" / "eve" / ASSIGNMENT / "translator.ipynb").unlink()
    before = pages(course)
    assert "2 pages written, 9 unchanged" in feedback(course).stdout
    now = pages(course)
    assert {n for n in before if before[n] != now.get(n)} == {
        "ada/bahdanau/scores.html",
        "bora/bahdanau/scores.html",
        "eve/bahdanau/translator.html",
    }
    assert "2 pages written, 0 unchanged" in feedback(course, "--force", "--student", "ada").stdout
    done = feedback(course, "--student", "nobody")
    assert done.returncode == 2
    assert "'nobody' has no graded notebooks" in done.stderr


def test_nothing_that_a_browser_runs_is_put_beside_the_pages_or_in_place_of_one(course):
    folder = course / "autograded" / "ada" / ASSIGNMENT
    for name in ("scores.html", "evil.SVG", "notes.txt"):
        (folder / name).write_text("a student's own")
    to = course / "feedback" / "ada" / ASSIGNMENT
    for place in (
        folder / "translator.html",
        to / "scores.html",
        to / "old.html",
        to / "notes.txt",
    ):
        place.mkdir(parents=True)
        (place / "a.txt").write_text("a student's own")
    done = feedback(course)
    assert "12 pages written, 0 unchanged, 0 failed" in done.stdout, done
    to = course / "feedback" / "ada" / ASSIGNMENT
    assert sorted(path.name for path in to.iterdir()) == [
        "notes.txt",
        "scores.html",
        "timestamp.txt",
        "translator.html",
    ]
    assert b"a student's own" not in (to / "scores.html").read_bytes()
    assert (to / "notes.txt").read_text() == "a student's own"


def test_a_page_that_fails_is_told_and_the_others_are_written(course):
    (course / "feedback" / "ada" / ASSIGNMENT).mkdir(parents=True)
    old = course / "feedback" / "ada" / ASSIGNMENT / "scores.html"
    old.write_text("of other grades")
    folder = course / "autograded"
    broken, other = (folder / name / ASSIGNMENT / "scores.ipynb" for name in ("ada", "bora"))
    text = other.read_text("utf-8").replace('"test-context_vector"', '"other"')
    for path in (broken, other):
        path.chmod(0o644)
    broken.write_text("{")
    other.write_text(text, "utf-8")
    shutil.copytree(folder / "chul", folder / "new\nline")
    shutil.copytree(folder / "chul", folder / "unknown")
    done = feedback(course)
    assert done.returncode == 1
    assert "10 pages written, 0 unchanged, 5 failed" in done.stdout
    assert "  ada, scores: The grader failed: NotJSONError" in done.stdout
    assert "the gradebook has no cell 'other'; grade it again" in done.stdout
    assert "  'new\\nline': nbgrader does not accept a name with such characters" in done.stdout
    assert "  unknown, scores: there are no grades in the gradebook" in done.stdout
    assert not old.exists(), "a page of other grades would be wrong"
    assert not list((course / "feedback").rglob(".writing-*"))


def test_a_page_that_takes_too_long_or_kills_its_process_stops_no_other(course, monkeypatch):
    """`autograder grade` calls the same function with those whom it has graded."""

    def write(exporter, assignment, page, really=feedback_pages.write_page):
        if page.student == "ada" and page.notebook == "scores":
            time.sleep(600)
        if page.student == "bora" and page.notebook == "scores":
            os._exit(3)
        really(exporter, assignment, page)

    monkeypatch.setattr(feedback_pages, "write_page", write)
    opened = Course(course)
    opened.settings.page_seconds = 5.0
    ticks = []
    written = write_pages(
        opened, ASSIGNMENT, ["ada", "bora", "chul"], tick=lambda *done: ticks.append(done)
    )
    assert written.pages == 4
    slow, dead = sorted(written.failed)
    assert slow.startswith("ada, scores: It took more than 5 seconds")
    assert dead.startswith("bora, scores: The process that graded it died")
    assert ticks == [(n, 6) for n in range(1, 7)]
    assert len(pages(course)) == 6, "with the time stamps that lie beside ada's and chul's"
