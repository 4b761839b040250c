"""Tests of the students' notebooks: built from the masters, without answers, up to date."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from IPython.core.inputtransformer2 import TransformerManager

from autograder.exercises import EXERCISES
from autograder.instructor.authoring.notebook_builder import (
    format_minutes,
    list_masters,
    make_notebook,
    strip_answers,
    write_sources,
)
from autograder.instructor.authoring.notebook_parser import read_questions
from autograder.instructor.authoring.solution_pages import make_pages
from autograder.instructor.nbgrader.release import release
from book.site import complete_model_code

ROOT = Path(__file__).resolve().parents[2]
MASTERS = list_masters()
each_master = pytest.mark.parametrize("master", MASTERS, ids=lambda p: "/".join(p.parts[-3:-1]))


GIVEN, EXERCISE = ":::{given} setup\n:::\n", "Do it.\n\n:::{exercise} one\n:::\n"


def demo(name=":name: look\n", tags="[demo]"):
    return f"```{{code-cell}} ipython3\n{name}:tags: {tags}\n\nimport math\n```\n"


def write_master(folder, text, code):
    master = folder / "one" / "notebook.md"
    master.parent.mkdir(parents=True)
    master.write_text(text)
    master.with_name("solution.py").write_text(code)
    return master


def test_there_is_a_master_for_every_exercise():
    places = {master.parts[-3:-1] for master in MASTERS}
    assert places == {(e.assignment, e.notebook) for e in EXERCISES.values()}


@each_master
def test_a_master_becomes_a_valid_notebook(master):
    page = make_notebook(master, EXERCISES)
    nbformat.validate(page)
    ids = [cell.id for cell in page.cells]
    assert ids == [cell.metadata.nbgrader.grade_id for cell in page.cells]
    assert len(set(ids)) == len(ids)
    for cell in page.cells:
        if cell.cell_type == "code":
            assert (cell.outputs, cell.execution_count) == ([], None)


@each_master
def test_graded_cells_carry_the_points_of_the_declared_exercises(master):
    points = {
        c.id: c.metadata.nbgrader.points
        for c in make_notebook(master, EXERCISES).cells
        if is_graded(c)
    }
    assert points == {
        f"test-{e.name}": e.points
        for e in EXERCISES.values()
        if (e.assignment, e.notebook) == master.parts[-3:-1]
    }


@each_master
def test_every_graded_cell_checks_and_examines_its_own_exercise(master):
    for cell in filter(is_graded, make_notebook(master, EXERCISES).cells):
        name = cell.id.removeprefix("test-")
        assert cell.source.splitlines()[0] == f"check({name})"
        assert f"\nexamine({name})\n### END HIDDEN TESTS" in cell.source
        assert cell.metadata.nbgrader.locked


@each_master
def test_locked_code_that_is_only_for_the_notebook_is_active_there(master):
    # Code that is only a comment would check nothing.
    for cell in make_notebook(master, EXERCISES).cells:
        if cell.cell_type == "code" and cell.metadata.nbgrader.locked:
            compile(TransformerManager().transform_cell(cell.source), cell.id, "exec")
            lines = [line for line in cell.source.splitlines() if not line.startswith("###")]
            assert any(line and not line.startswith("#") for line in lines), cell.id


def test_sources_are_written_beside_the_folders_and_only_when_they_change(tmp_path):
    folder = tmp_path / "solutions" / "bahdanau"
    solution = write_master(folder, GIVEN, "# %% setup\nimport torch\n").with_name("solution.py")
    assert write_sources(EXERCISES, tmp_path / "solutions") == [folder / "one.ipynb"]
    before = (folder / "one.ipynb").stat()
    write_sources(EXERCISES, tmp_path / "solutions")
    assert (folder / "one.ipynb").stat().st_mtime_ns == before.st_mtime_ns
    solution.write_text("# %% setup\nimport math\n")
    write_sources(EXERCISES, tmp_path / "solutions")
    assert nbformat.read(folder / "one.ipynb", 4).cells[0].source == "import math"


@pytest.mark.parametrize(
    ("text", "code", "sentence"),
    [
        (demo(name=""), "", "a cell has no name: 'import math'"),
        (demo(tags="[]"), "", "give the cell 'look' one of the tags notebook-only, demo, play"),
        (
            demo(tags="[demos]"),
            "",
            "give the cell 'look' one of the tags notebook-only, demo, play",
        ),
        (f"{demo()}\n{demo()}", "", "two cells are named 'look'; give one another name"),
        (GIVEN, "", "solution.py has no cell 'setup'"),
        (EXERCISE, "# %% exercise\ndef other():\n    pass\n", "solution.py has no cell 'one'"),
        (EXERCISE, "# %% exercise\ndef one():\n    pass\n", "'one' is not declared; declare it in"),
        (EXERCISE, "# %% exercise\nx = 1\n", "an exercise's cell defines one public name, not []"),
        (
            ":::{hints}\n* Think.\n:::\n",
            "",
            "{hints} is not a directive of a notebook; write one of",
        ),
        ("Text\n\n:::{exercise} one\n* Think.\n", "", "the directive {exercise} is never closed"),
        (":::{answers}\n1. Yes.\n:::\n", "", "{answers} stand below a text"),
        (
            f"{demo()}\n:::{{exercise}} one\n:::\n",
            "# %% exercise\ndef one():\n    pass\n",
            "{exercise} stands below a text",
        ),
    ],
)
def test_a_faulty_master_is_refused_in_one_sentence(tmp_path, text, code, sentence):
    master = write_master(tmp_path, text, code)
    with pytest.raises(ValueError, match=re.escape(sentence)) as error:
        make_notebook(master, EXERCISES)
    assert str(master.parent) in str(error.value)


def test_a_notebook_says_of_an_exercise_what_its_declaration_and_docstring_say():
    cells = {c.id: c.source for c in make_notebook(MASTERS[0], EXERCISES).cells}
    assert (
        "| `masked_softmax` | Softmax over the last axis that gives masked positions a weight of "
        "exactly 0 | ●○○ | 2 | 10 |" in cells["title"]
    )
    assert cells["text-masked_softmax"].endswith(
        "\n\n*Bahdanau et al. (2015), equation 6. Difficulty ●○○, 2 points, 5 to 15 minutes.*"
    )


# Hints


HINT = re.compile(r"<details><summary>Hint (\d)</summary>\n\n(.*?)\n\n</details>", re.S)


@each_master
def test_exercises_of_two_dots_and_more_have_two_or_three_hints(master):
    cells = {c.id: c.source for c in make_notebook(master, EXERCISES).cells}
    for exercise in EXERCISES.values():
        if (exercise.assignment, exercise.notebook) == master.parts[-3:-1]:
            hints = HINT.findall(cells[f"text-{exercise.name}"])
            assert [int(number) for number, _ in hints] == list(range(1, len(hints) + 1))
            assert len(hints) in ((2, 3) if exercise.difficulty > 1 else (0, 2, 3)), exercise.name
            assert all(len(text) > 40 and "```" not in text for _, text in hints)


@each_master
def test_every_question_has_an_answer_that_only_who_learns_alone_sees(master):
    asked, told = read_questions(master)
    numbers = re.findall(r"^(\d+)\. ", asked, re.M)
    assert numbers == re.findall(r"^(\d+)\. ", told, re.M)
    alone = {c.id: c.source for c in make_notebook(master, EXERCISES, self_study=True).cells}
    for_all = {c.id: c.source for c in make_notebook(master, EXERCISES).cells}
    assert alone.get("text-questions", "").count("<summary>Answer") == len(numbers)
    assert alone.keys() == for_all.keys()
    for text in for_all.values():
        assert "<summary>Answer" not in text and "book/" not in text
    assert {name: strip_answers(text) for name, text in alone.items()} == for_all


def test_the_switch_leaves_answers_out_of_a_release(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_ANSWERS", "no")
    release(EXERCISES, tmp_path / "class", ["han"])
    monkeypatch.delenv("COURSE_ANSWERS")
    release(EXERCISES, tmp_path / "alone", ["han"])
    texts = {
        name: "".join(p.read_text("utf-8") for p in (tmp_path / name).rglob("*.ipynb"))
        for name in ("class", "alone")
    }
    assert "Answer 1" in texts["alone"] and "book/solved" in texts["alone"]
    assert "Answer 1" not in texts["class"] and "book/" not in texts["class"]
    assert texts["class"].count("Hint 1") == texts["alone"].count("Hint 1") > 0


def test_the_switch_leaves_answers_out_of_a_site(monkeypatch):
    page = nbformat.writes(make_notebook(MASTERS[0], EXERCISES, self_study=True))
    solved = make_pages(EXERCISES)["book/solved/bahdanau.md"]

    def read(name, text):
        source = [text]
        complete_model_code.leave_out(None, name, source)
        return source[0]

    assert read("exercises/bahdanau/scores", page) == page
    assert read("book/solved/bahdanau", solved) == solved
    monkeypatch.setenv("COURSE_ANSWERS", "no")
    left = read("exercises/bahdanau/scores", page)
    assert "<summary>Hint 1" in left and "solved" not in left and "<summary>Answer" not in left
    assert "def " not in read("book/solved/bahdanau", solved)
    assert read("book/03_bahdanau", solved) == solved


@pytest.mark.parametrize("name", make_pages(EXERCISES))
def test_pages_of_solutions_and_answers_are_what_the_masters_give(name):
    assert (ROOT / name).read_text("utf-8") == make_pages(EXERCISES)[name], "run `make exercises`"


def test_every_exercise_has_a_solution_that_can_be_read():
    found = "".join(make_pages(EXERCISES).values())
    for exercise in EXERCISES.values():
        assert f"### `{exercise.name}`" in found
    assert "SOLUTION" not in found
    for code in re.findall(r"```python\n(.*?)```", found, re.S):
        compile(code, "page", "exec")


def test_minutes_are_a_range():
    assert format_minutes(EXERCISES["masked_softmax"]) == "5 to 15 minutes"
    assert format_minutes(EXERCISES["beam_search"]) == "20 to 70 minutes"


@each_master
def test_given_code_from_a_notebook_is_of_an_earlier_assignment(master):
    order = list(dict.fromkeys(e.assignment for e in EXERCISES.values()))
    here = master.parent.parent.name
    for node in ast.walk(ast.parse(master.with_name("solution.py").read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("solutions."):
            there = str(node.module).split(".")[1]
            assert order.index(there) < order.index(here), f"{here} shows answers to {there}"


def test_the_code_of_all_notebooks_passes_the_linter(tmp_path):
    """Cells of notebook.md are no modules, so `make lint` does not see them."""
    for master in MASTERS:
        page = tmp_path / "_".join(master.parts[-3:-1])
        nbformat.write(make_notebook(master, EXERCISES), page.with_suffix(".ipynb"))
    # Names of earlier notebooks are loaded by `start`; a cell may import again what it needs.
    rules = ["--select=E9,F", "--ignore=F821,F811,F402"]
    command = [sys.executable, "-m", "ruff", "check", "--isolated", *rules, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@each_master
def test_a_notebooks_given_code_runs_alone(master):
    """What an import from `solutions` became needs nothing that the notebook does not have."""
    space: dict = {"__name__": "__main__"}
    for cell in make_notebook(master, EXERCISES).cells:
        options = cell.metadata.nbgrader
        if cell.cell_type == "code" and not options.grade:
            assert "solutions." not in cell.source
            if cell.id in ("setup", "earlier"):
                exec(compile(cell.source, cell.id, "exec"), space)


# Release


def test_the_committed_exercises_are_what_the_masters_give(released):
    fresh = tree(released.folder / "exercises")
    committed = tree(ROOT / "exercises")
    changed = sorted(name for name in fresh | committed if fresh.get(name) != committed.get(name))
    assert not changed, f"run `make exercises`; out of date: {', '.join(changed)}"


def test_the_release_holds_one_notebook_per_master_and_nothing_else(released):
    wanted = {f"{'/'.join(m.parts[-3:-1])}.ipynb" for m in MASTERS}
    assert set(tree(released.folder / "exercises")) == wanted


@each_master
def test_a_released_notebook_has_stubs_and_no_hidden_test_and_no_output(released, master):
    path = released_path(released, master)
    text = path.read_text("utf-8")
    for word in ("HIDDEN", "examine", "BEGIN SOLUTION", "END SOLUTION", "instructor", "solutions."):
        assert word not in text
    page = nbformat.read(path, 4)
    nbformat.validate(page)
    for cell in page.cells:
        assert cell.get("outputs", []) == []
        if cell.metadata.nbgrader.solution:
            assert "raise NotImplementedError()" in cell.source
            compile(cell.source, cell.id, "exec")
            assert '"""' in cell.source
        if is_graded(cell):
            assert cell.source.strip() == f"check({cell.id.removeprefix('test-')})"
    assert [c.id for c in page.cells] == [c.id for c in make_notebook(master, EXERCISES).cells]


# The student's side


def test_no_file_of_the_students_side_names_the_instructors_side():
    # The command itself is for instructors and not released to students.
    command = ROOT / "autograder" / "cli.py"
    files = [
        path
        for package in ("autograder", "coursekit")
        for path in (ROOT / package).rglob("*.py")
        if "instructor" not in path.relative_to(ROOT).parts and path != command
    ]
    assert len(files) > 20
    pattern = re.compile(r"^\s*(from|import)\s+(solutions|autograder\.instructor)\b", re.M)
    assert [str(path) for path in files if pattern.search(path.read_text("utf-8"))] == []


def is_graded(cell) -> bool:
    return cell.metadata.nbgrader.grade


def tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and ".ipynb_checkpoints" not in path.parts
    }


def released_path(course, master: Path) -> Path:
    assignment, name = master.parts[-3:-1]
    return course.folder / "exercises" / assignment / f"{name}.ipynb"
