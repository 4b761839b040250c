"""Test of a class in JupyterLab: an assignment's way through nbgrader's pages in a browser.

Teacher and student each have a JupyterLab with their own folder and home; files pass between them
through nbgrader's exchange. `make screens` takes the guide's screenshots of these steps.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook

from tests.browser.jupyterlab_page_objects import (
    PATIENCE,
    AssignmentList,
    Formgrader,
    Lab,
    Notebook,
    Screens,
)
from tests.browser.jupyterlab_server import desk
from tests.conftest import copy_course

pytestmark = [pytest.mark.browser, pytest.mark.slow]

RIGHT = "return scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(dim=-1) * mask"
WRONG = "return ((query @ W.T).unsqueeze(1) + keys @ U.T) @ v"
COMMENT = "You told me yourself what was missing."
NOT_WRITTEN = dict.fromkeys(["context_vector", "AdditiveAttention"], 0.0)


@dataclass(frozen=True)
class Class:
    """Both sides of the class."""

    folder: Path
    teacher: Lab
    student: Lab

    def grades(self, notebook: str) -> dict[str, Any]:
        """Return the student's grades in the gradebook, by exercise."""
        with Gradebook(f"sqlite:///{self.folder}/gradebook.db", "attention") as gradebook:
            found = gradebook.find_submission_notebook(notebook, "bahdanau", "bora").grades
            return {g.name.removeprefix("test-"): g.score for g in found}


@pytest.fixture
def classroom(tmp_path: Path, chromium: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Class]:
    """Start both JupyterLabs, and clean up after them."""
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed (apt install bubblewrap)")
    places = {name: tmp_path / name for name in ("class", "student", "exchange", "t", "s")}
    for place in places.values():
        place.mkdir()
    places["exchange"].chmod(0o777)
    copy_course(places["class"])
    exchange = f'c.Exchange.root = "{places["exchange"]}"\n'
    with (places["class"] / "nbgrader_config.py").open("a", encoding="utf-8") as settings:
        settings.write(f"\n{exchange}")
        settings.write("c.ExchangeCollect.check_owner = False  # one account is both sides\n")
    (places["student"] / "nbgrader_config.py").write_text(
        "c = get_config()\n"
        'c.CourseDirectory.course_id = "attention"\n'
        'c.CourseDirectory.student_id = "bora"\n'
        f"{exchange}",
        "utf-8",
    )
    # A new gradebook is made with alembic, which is in the folder of this Python.
    beside = str(Path(sys.executable).parent)
    monkeypatch.setenv("PATH", os.pathsep.join([beside, os.environ["PATH"]]))
    with Gradebook(f"sqlite:///{places['class']}/gradebook.db", "attention") as gradebook:
        gradebook.add_student("bora", first_name="Bora", last_name="Yılmaz")
    with (
        desk(places["class"], places["t"]) as teacher,
        desk(places["student"], places["s"]) as student,
    ):
        found = Class(places["class"], Lab(chromium, teacher), Lab(chromium, student))
        yield found
        for side in (found.teacher, found.student):
            side.context.close()


def to_the_top(element: Any) -> None:
    """Scroll so that everything above an element is hidden."""
    element.evaluate("e => e.scrollIntoView({block: 'start'})")


def test_an_assignment_goes_through_the_pages_of_teacher_and_student(classroom: Class) -> None:
    screens = Screens()
    teacher, student = classroom.teacher, classroom.student

    # The teacher checks the points and releases the assignment.
    teacher.open("solutions/bahdanau/scores.ipynb")
    teacher.show_files(False)
    source = Notebook(teacher)
    teacher.page.get_by_role("tab", name="Create Assignment").click()
    panel = teacher.page.locator(".nbgrader-NotebookWidget")
    total = teacher.page.locator(".nbgrader-TotalPointsInput").first
    total.wait_for()
    assert float(total.input_value()) == 10
    check = source.cell("check(additive_score)")
    check.locator(".jp-InputPrompt").click()
    chosen = panel.locator(".nbgrader-mod-active")
    assert chosen.locator(".nbgrader-CellId input").input_value() == "test-additive_score"
    assert float(chosen.locator(".nbgrader-CellPoints input").input_value()) == 3
    to_the_top(chosen)
    to_the_top(check)  # keeps the solution out of the guide
    screens.take(teacher.page, "create", 28, 560)

    teacher.open()
    teacher.show_files(False)
    formgrader = Formgrader(teacher)
    formgrader.press("bahdanau", "assign")
    formgrader.press("bahdanau", "release")
    formgrader.row("bahdanau").get_by_text("released").wait_for()
    last = formgrader.row("captioning").bounding_box()
    screens.take(teacher.page, "formgrader", 28, last["y"] + last["height"])

    # The student fetches it and writes two answers, one of them wrong.
    student.open()
    student.show_files(False)
    assignments = AssignmentList(student)
    assignments.press("released", "Fetch", then="fetched")
    screens.take(student.page, "fetched", 28, 325)
    assignments.open_notebook("scores")
    notebook = Notebook(student)
    notebook.run(notebook.cell("import torch"), cells=2)
    assert "right in all" in notebook.answer("masked_softmax", RIGHT).inner_text()
    card = notebook.answer("additive_score", WRONG)
    assert "The tanh is missing" in card.inner_text()
    to_the_top(notebook.cell("check(additive_score)"))
    box = card.bounding_box()
    screens.take(student.page, "check", 28, box["y"] + box["height"] + 40)

    dialogue = notebook.validate()
    said = dialogue.inner_text()
    for part in (
        "✗ additive_score: The tanh is missing.",
        "✗ context_vector is not written yet",
        "✗ AdditiveAttention.forward is not written yet",
    ):
        assert part in said
    assert "masked_softmax" not in said, "what is right is not to be listed as failed"
    assert "Traceback" not in said
    box = dialogue.locator(".jp-Dialog-content").bounding_box()
    screens.take(student.page, "validate", box["y"] - 20, box["y"] + box["height"] + 20)
    dialogue.get_by_role("button").last.click()
    dialogue.wait_for(state="detached")

    student.tab("Assignments")
    assignments.press("fetched", "Submit", then="submitted")

    # The teacher collects, grades, reviews, and gives a point by hand.
    formgrader.press("bahdanau", "collect")
    formgrader.row("bahdanau").locator("td.num-submissions a").click()
    formgrader.row("bora").get_by_text("needs autograding").wait_for()
    assert "GradeInSandbox" in formgrader.press("bora", "autograde"), "not our grading"
    formgrader.row("bora").get_by_text("graded", exact=True).wait_for()
    assert formgrader.row("bora").locator("td.score").inner_text() == "2 / 20"
    assert classroom.grades("scores") == NOT_WRITTEN | {"masked_softmax": 2, "additive_score": 0}
    assert set(classroom.grades("translator").values()) == {0}

    formgrader.link("Yılmaz, Bora")
    formgrader.row("translator").wait_for()
    assert "2 / 10" in formgrader.row("scores").inner_text()
    formgrader.row("scores").locator("a").first.click()
    points = formgrader.frame.locator("#test-additive_score")
    formgrader.frame.locator("#test-additive_score[placeholder='0']").wait_for()
    right = formgrader.frame.locator("#test-masked_softmax")
    assert right.get_attribute("placeholder") == "2"
    card = formgrader.frame.locator("div[role=status]", has_text="The tanh is missing")
    card.wait_for()
    formgrader.give("additive_score-comment", COMMENT, "comment")
    formgrader.give("test-additive_score_extra_credit", "1", "grade")
    points.evaluate("e => e.scrollIntoView({block: 'center'})")
    formgrader.frame.locator(".save-icon:visible").first.wait_for(state="hidden")
    top = formgrader.frame.locator("#additive_score-comment").bounding_box()["y"] - 15
    # The numbers further down in the card are random.
    screens.take(teacher.page, "graded", top, card.bounding_box()["y"] + 75)
    assert classroom.grades("scores") == NOT_WRITTEN | {"masked_softmax": 2, "additive_score": 1}

    formgrader.link("Manual Grading")
    formgrader.link("Manage Assignments")
    formgrader.press("bahdanau", "generate-feedback")
    formgrader.press("bahdanau", "release-feedback")

    # The student reads the feedback.
    student.page.locator("#refresh_assignments_list").click()
    assignments.press("submitted", "Fetch Feedback", then="submitted")
    student.page.get_by_text("(view feedback)").click()
    student.show_files(True)
    student.page.locator(".jp-DirListing-item", has_text="scores.html").dblclick()
    feedback = student.page.frame_locator(".jp-HTMLViewer iframe")
    feedback.get_by_text("Score: 3.0 / 10.0").wait_for()
    student.show_files(False)
    screens.take(student.page, "feedback", 28, 340)
    text = feedback.locator("body").inner_text(timeout=PATIENCE)
    for part in ("Score: 2.0 / 2.0", "Score: 1.0 / 3.0", "The tanh is missing", COMMENT):
        assert part in text
    assert "HIDDEN TESTS" not in text and "examine(" not in text

    for side in (teacher, student):
        assert side.broken == set()
        # nbconvert's pages load MathJax from the web; without it, they show TeX.
        assert {url for url in side.foreign if not re.search("/mathjax/", url)} == set()
