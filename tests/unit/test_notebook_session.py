"""Tests of notebook sessions: demo and play cells run, and notebooks import answers."""

from __future__ import annotations

import builtins
import os
import re
from pathlib import Path
from types import SimpleNamespace

import matplotlib.pyplot as plt
import nbformat
import pytest
import torch
from torch import nn

from autograder.exercises import EXERCISES
from autograder.instructor.authoring.notebook_builder import list_masters, make_notebook
from coursekit import training
from coursekit.notebook import session
from coursekit.plots import diagrams

ORDER = list(dict.fromkeys((e.assignment, e.notebook) for e in EXERCISES.values()))
MASTERS = {master.parts[-3:-1]: master for master in list_masters()}
ASSIGNMENTS = list(dict.fromkeys(assignment for assignment, _ in ORDER))

# Cells that download published weights; the data folder has the smaller ones.
DOWNLOADS = {"original"} if os.environ.get("COURSEKIT_DATA") else {"original", "real"}


def untrained(model, batches, loss, **settings):
    """Replace `train`: compute the loss of one batch without training."""
    model.to(training.device())
    batch = next(iter(batches(1))).to(training.device())
    value = loss(model, batch).item()
    entry = {"epoch": 1, "loss": value, "seconds": 0.0}
    return training.History([entry] * settings["epochs"], 1)


@pytest.mark.slow
@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_every_cell_runs_once_the_exercises_are_solved(assignment, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COURSEKIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    monkeypatch.setattr(training, "train", untrained)
    monkeypatch.setattr(plt, "show", lambda: None)
    names = [name for place, name in ORDER if place == assignment]
    pages = {name: make_notebook(MASTERS[assignment, name], EXERCISES) for name in names}
    for name, page in pages.items():
        nbformat.write(page, f"{name}.ipynb")
    for name, page in pages.items():
        space = {"__name__": "__main__", "display": lambda *things: None}
        shell = SimpleNamespace(user_ns=space, input_transformers_cleanup=[])
        monkeypatch.setattr(builtins, "get_ipython", lambda shell=shell: shell, raising=False)
        for cell in page.cells:
            if cell.id in DOWNLOADS:
                continue
            if cell.cell_type == "code" and not cell.metadata.nbgrader.grade:
                try:
                    exec(compile(cell.source, f"<{name}: {cell.id}>", "exec"), space)
                except Exception as error:
                    raise AssertionError(f"{assignment}/{name}, {cell.id}") from error
        plt.close("all")


@pytest.mark.parametrize("place", ORDER, ids="/".join)
def test_what_the_text_lets_one_change_is_not_locked(place):
    page = make_notebook(MASTERS[place], EXERCISES)
    play = [c for c in page.cells if c.id.startswith("play-") and c.cell_type == "code"]
    assert play
    for cell in play:
        options = cell.metadata.nbgrader
        assert not (options.locked or options.solution or options.grade)
        assert cell.source.startswith("# play")
    for cell in page.cells:
        for word in ("settings.grading", "__file__", "%run"):
            assert word not in cell.source


def page_of(tmp_path: Path, *cells: tuple[str, str, dict]) -> None:
    made = [
        nbformat.v4.new_code_cell(text, id=name, metadata={"nbgrader": options} if options else {})
        for name, text, options in cells
    ]
    nbformat.write(nbformat.v4.new_notebook(cells=made), tmp_path / "other.ipynb")


def test_every_notebook_begins_with_a_picture_that_can_be_drawn():
    drawn = [
        re.search(r'diagrams\.draw\("(.*?)"\)', cell.source)[1]
        for place in ORDER
        for cell in make_notebook(MASTERS[place], EXERCISES).cells
        if cell.id == "overview"
    ]
    assert len(drawn) == len(ORDER) and sorted(drawn) == sorted(diagrams.DIAGRAMS)
    for name in drawn:
        figure = diagrams.draw(name)
        figure.canvas.draw()
        page = figure.bbox
        for text in figure.axes[0].texts:
            if text.get_text():  # no text is cut off
                box = text.get_window_extent()
                assert box.x0 > page.x0 and box.x1 < page.x1, f"{name}: {text.get_text()}"
        plt.close(figure)


GIVEN = {"grade_id": "setup", "solution": False, "grade": False}
ANSWER = {"grade_id": "twice", "solution": True, "grade": False}
CHECK = {"grade_id": "test-twice", "solution": False, "grade": True}


def test_bring_takes_answers_and_helpers_and_runs_nothing_else(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    page_of(
        tmp_path,
        ("setup", "import math", GIVEN),
        ("own", "def helper(x):\n    return x\n\nprint(1 / 0)", {}),
        ("twice", "def twice(x):\n    return math.floor(2 * helper(x))", ANSWER),
        ("check", "check(twice)", CHECK),
        ("look", "# demo\n1 / 0", {**GIVEN, "grade_id": "look"}),
        ("play-it", "# play\n1 / 0", {**GIVEN, "grade_id": "play-it"}),
    )
    space: dict = {}
    session.import_answers("other.ipynb", into=space)
    assert space["twice"](2.2) == 4
    assert capsys.readouterr().out == "From other.ipynb: twice\n"


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (
            "def twice(x):\n    raise NotImplementedError()",
            "twice is not written yet, or not saved",
        ),
        ("def twice(x) return x", "other.ipynb fails with SyntaxError"),
        ("twice = undefined", "other.ipynb fails with NameError"),
    ],
)
def test_bring_says_in_one_sentence_what_to_do(tmp_path, monkeypatch, answer, sentence):
    monkeypatch.chdir(tmp_path)
    page_of(tmp_path, ("twice", answer, ANSWER))
    with pytest.raises(session.NotReadyError, match=sentence) as error:
        session.import_answers("other.ipynb", into={})
    assert "run this cell again" in str(error.value) and "\n" not in str(error.value)
    assert error.value._render_traceback_() == [str(error.value)]


def test_a_notebook_that_is_not_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(session.NotReadyError, match=r"no other\.ipynb in this notebook's folder"):
        session.import_answers("other.ipynb", into={})


def test_a_model_is_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSEKIT_CACHE", str(tmp_path))
    one, other = nn.Linear(3, 2), nn.Linear(3, 2)
    with pytest.raises(session.NotReadyError, match=r"run train\.ipynb to the end"):
        session.load_weights(other, "small", "train.ipynb")
    session.save_weights(one, "small")
    session.load_weights(other, "small", "train.ipynb")
    assert torch.equal(one.weight, other.weight)
    with pytest.raises(session.NotReadyError, match="not been saved yet"):
        session.load_weights(nn.Linear(4, 2), "small", "train.ipynb")


def test_demos_are_skipped_while_a_class_is_graded(monkeypatch):
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell()
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    shell.run_cell("from coursekit.notebook.session import start\nstart()\nstart()")
    shell.run_cell("# demo\nx = 1\n")
    shell.run_cell("# play: change it\nx = 1\n")
    shell.run_cell("y = 1  # demo")
    assert "x" not in shell.user_ns and shell.user_ns["y"] == 1


def test_demos_run_for_a_learner(monkeypatch):
    from IPython.core.interactiveshell import InteractiveShell

    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    shell = InteractiveShell()
    shell.run_cell("from coursekit.notebook.session import start\nstart()")
    shell.run_cell("# demo\nx = 1\n")
    assert shell.user_ns["x"] == 1
