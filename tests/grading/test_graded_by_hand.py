"""Tests of questions that a person grades, beside exercises that are tested."""

from __future__ import annotations

import base64
import io
import shutil
import subprocess
import sys

import nbformat
import pytest
from nbgrader.api import Gradebook
from PIL import Image

from tests.conftest import copy_course, needs_bubblewrap
from tests.grading.test_assignment_run import ASSIGNMENT, RIGHT, grade

pytestmark = [pytest.mark.slow, needs_bubblewrap]
MASTER = f"solutions/{ASSIGNMENT}/scores/notebook.md"
QUESTION = """
+++ {"name": "why"}

Why does the score have a tanh?

:::{by-hand} why-tanh
:points: 2

Without it the score is linear in query and key, so that the order of the keys
does not depend on the query.
:::
"""


@pytest.fixture
def course(tmp_path):
    """Return a course with a question in a master and a notebook made in *Create Assignment*."""
    copy_course(tmp_path)
    with (tmp_path / MASTER).open("a", encoding="utf-8") as master:
        master.write(QUESTION)
    made = nbformat.v4.new_notebook()

    def add(kind, name, text, **options):
        cell = (nbformat.v4.new_markdown_cell if kind == "markdown" else nbformat.v4.new_code_cell)(
            text, id=name
        )
        about = {"grade_id": name, "grade": False, "solution": False, "locked": False}
        about |= {"schema_version": 3, "task": False} | options
        cell.metadata = nbformat.from_dict({"nbgrader": about})
        made.cells.append(cell)

    task = "Draw the weights.\n\n### BEGIN MARK SCHEME\nA heat map: 3\n### END MARK SCHEME"
    add("markdown", "task", task, task=True, points=3, locked=True)
    add("code", "plot", "### BEGIN SOLUTION\nx = 1\n### END SOLUTION", grade=True, points=1,
        solution=True)  # fmt: skip
    nbformat.write(made, tmp_path / "solutions" / ASSIGNMENT / "essay.ipynb")
    return tmp_path


def release(course):
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", "generate_assignment", ASSIGNMENT],
        cwd=course, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return course / "exercises" / ASSIGNMENT


def hand_in(course, student, written, added=()):
    """Hand in what was released, with some cells written and others added after them."""
    folder = course / "submitted" / student / ASSIGNMENT
    folder.mkdir(parents=True, exist_ok=True)
    for path in (course / "exercises" / ASSIGNMENT).glob("*.ipynb"):
        page = nbformat.read(path, 4)
        cells = []
        for cell in page.cells:
            cell.source = written.get(cell.id, cell.source)
            cells.append(cell)
            cells += [nbformat.v4.new_code_cell(text) for after, text in added if after == cell.id]
        page.cells = cells
        nbformat.write(page, folder / path.name)
    return folder


def test_questions_that_a_person_grades(course):
    released = release(course)
    page = nbformat.read(released / "scores.ipynb", 4)
    assert next(c for c in page.cells if c.id == "why-tanh").source == "YOUR ANSWER HERE"
    assert "A heat map" not in (released / "essay.ipynb").read_text()
    hand_in(
        course, "ada", RIGHT | {"why-tanh": "Otherwise it is *linear*.", "plot": "print(40 + 2)"},
        [("task", "print('a drawing')")],
    )  # fmt: skip
    hand_in(course, "bora", RIGHT)
    question = "# Why does the score have a tanh?\n"
    why = next(c for c in page.cells if c.id == "text-why")
    hand_in(course, "chul", {"text-why": f"{why.source}\n\nIt is not linear then."})
    said = grade(course)
    assert "why-tanh" in said and question.strip("# \n") not in said
    assert _line(said, "why-tanh") == "mean 0.0 of 2  2 to grade by hand"
    assert _line(said, "plot") == "mean 0.0 of 1  1 to grade by hand"
    assert _line(said, "task") == "mean 0.0 of 3  1 to grade by hand"
    assert "2 to grade by hand, in the formgrader: ada, chul" in said
    assert " of 26  " in said

    read = nbformat.read(course / "autograded" / "ada" / ASSIGNMENT / "essay.ipynb", 4)
    assert [c.outputs[0].text for c in read.cells if c.cell_type == "code"] == [
        "a drawing\n", "42\n",
    ]  # fmt: skip

    with Gradebook(f"sqlite:///{course / 'gradebook.db'}", "attention") as gradebook:
        where = ("scores", ASSIGNMENT, "ada")
        given = gradebook.find_grade("why-tanh", *where)
        assert (given.auto_score, given.needs_manual_grade, given.max_score) == (None, True, 2)
        given.manual_score, given.needs_manual_grade = 1.5, False
        gradebook.find_comment("why-tanh", *where).manual_comment = "And in what?"
        silent = gradebook.find_grade("why-tanh", "scores", ASSIGNMENT, "bora")
        assert (silent.auto_score, silent.needs_manual_grade) == (0, False)
        assert gradebook.find_comment("why-tanh", "scores", ASSIGNMENT, "bora").comment == (
            "No response."
        )
        assert gradebook.find_comment("why-tanh", "scores", ASSIGNMENT, "chul").comment is None
        gradebook.db.commit()

    # What a person gave stands, also when the tests are run again, until the answer changes.
    said = grade(course, "--force")
    assert _line(said, "why-tanh") == "mean 0.5 of 2  1 to grade by hand"
    feedback = course / "feedback" / "ada" / ASSIGNMENT / "scores.html"
    assert "And in what?" in feedback.read_text("utf-8")
    assert "bahdanau: 0 graded, 3 unchanged" in grade(course)
    hand_in(course, "ada", RIGHT | {"why-tanh": "It is linear in the query."})
    said = grade(course)
    assert "1 graded" in said and _line(said, "why-tanh").endswith("2 to grade by hand")


def test_a_question_that_is_added_later_reaches_those_who_have_handed_in(course):
    shutil.copy(course / MASTER, course / "kept.md")
    text = (course / MASTER).read_text("utf-8")
    (course / MASTER).write_text(text.replace(QUESTION, ""), "utf-8")
    release(course)
    hand_in(course, "ada", RIGHT)
    assert "why-tanh" not in grade(course)
    shutil.copy(course / "kept.md", course / MASTER)
    said = grade(course)
    assert "1 graded" in said
    assert _line(said, "why-tanh") == "mean 0.0 of 2  nothing left to grade by hand"


def test_an_answer_may_be_a_picture_a_file_or_stand_in_place_of_its_question(course):
    release(course)
    photograph, text, written, nothing = (
        hand_in(course, student, RIGHT) for student in ("ada", "bora", "chul", "dana")
    )
    page = nbformat.read(photograph / "scores.ipynb", 4)
    (cell,) = (cell for cell in page.cells if cell.id == "why-tanh")
    cell.source = "![proof](attachment:proof.jpg)"
    cell.attachments = {"proof.jpg": {"image/jpeg": draw("jpeg")}, "b.gif": {"image/gif": "R0l"}}
    nbformat.write(page, photograph / "scores.ipynb")
    (text / "answers.pdf").write_bytes(b"%PDF-1.4")
    page = nbformat.read(written / "scores.ipynb", 4)
    (cell,) = (cell for cell in page.cells if cell.id == "text-why")
    cell.source = "It would be linear."
    nbformat.write(page, written / "scores.ipynb")
    said = grade(course)
    assert "3 to grade by hand, in the formgrader: ada, bora, chul" in said
    shown = {
        student: (course / "feedback" / student / ASSIGNMENT / "scores.html").read_text("utf-8")
        for student in ("ada", "chul")
    }
    assert f"data:image/jpeg;base64,{draw('jpeg')}" in shown["ada"]
    assert "picture 1 is not shown: it is no PNG or JPEG" in shown["ada"]
    assert "It would be linear." in shown["chul"]
    assert "Why does the score have a tanh?" in shown["chul"]
    assert nothing.is_dir()


def test_a_question_that_is_removed_is_worth_nothing(course):
    release(course)
    hand_in(course, "ada", RIGHT | {"why-tanh": "Otherwise it is linear."})
    assert _line(grade(course), "why-tanh") == "mean 0.0 of 2  1 to grade by hand"
    text = (course / MASTER).read_text("utf-8")
    (course / MASTER).write_text(text.replace(QUESTION, ""), "utf-8")
    release(course)
    said = grade(course)
    assert "why-tanh" not in said and "1 to grade by hand" not in said
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}", "attention") as gradebook:
        assert gradebook.find_submission(ASSIGNMENT, "ada").max_score == 24


@pytest.mark.parametrize(
    ("right", "wrong"),
    [(":points: 2\n", ""), (" why-tanh\n", " why tanh\n"), (":points: 2", ":points: two")],
)
def test_a_question_that_is_mistyped_is_refused(course, right, wrong):
    text = (course / MASTER).read_text("utf-8")
    mistyped = QUESTION.replace(right, wrong)
    assert mistyped != QUESTION
    (course / MASTER).write_text(text.replace(QUESTION, mistyped), "utf-8")
    assert "write {by-hand}, a name without blanks, and below it :points:" in read_refusal(course)


def read_refusal(course):
    done = subprocess.run(
        [sys.executable, "-m", "autograder", "grade", ASSIGNMENT],
        cwd=course, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    return done.stderr


def draw(kind):
    """Return a picture in base64."""
    page = io.BytesIO()
    Image.new("RGB", (40, 30), "orange").save(page, kind)
    return base64.b64encode(page.getvalue()).decode()


def _line(said, name):
    return next(line for line in said.splitlines() if line.split()[:1] == [name]).split(None, 1)[1]
