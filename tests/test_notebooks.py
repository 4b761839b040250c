"""The notebooks students open: made from the masters, without any answer, and never out of date."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import nbformat
import pytest
from IPython.core.inputtransformer2 import TransformerManager

from autograder.exercises import EXERCISES
from autograder.instructor.notebooks import masters, notebook, write_sources

ROOT = Path(__file__).resolve().parent.parent
MASTERS = masters()
each_master = pytest.mark.parametrize("master", MASTERS, ids=lambda p: f"{p.parent.name}/{p.stem}")

HEADER = MASTERS[0].read_text("utf-8").split("# %%")[0]
LOCKED = '# %% nbgrader={"grade": false, "grade_id": "setup", "locked": true, "solution": false}\n'


def test_there_is_a_master_for_every_exercise():
    found = {(master.parent.name, master.stem) for master in MASTERS}
    assert found == {(e.assignment, e.notebook) for e in EXERCISES.values()}


@each_master
def test_a_master_becomes_a_valid_notebook(master):
    page = notebook(master)
    nbformat.validate(page)
    ids = [cell.id for cell in page.cells]
    assert ids == [cell.metadata.nbgrader.grade_id for cell in page.cells]
    assert len(set(ids)) == len(ids)
    assert "jupytext" not in page.metadata
    for cell in page.cells:
        assert set(cell.metadata) <= {"nbgrader", "tags"}
        assert "active-ipynb" not in cell.metadata.get("tags", [])
        if cell.cell_type == "code":
            assert (cell.outputs, cell.execution_count) == ([], None)


@each_master
def test_graded_cells_carry_the_points_of_the_declared_exercises(master):
    points = {c.id: c.metadata.nbgrader.points for c in notebook(master).cells if is_graded(c)}
    assert points == {
        f"test-{e.name}": e.points
        for e in EXERCISES.values()
        if (e.assignment, e.notebook) == (master.parent.name, master.stem)
    }


@each_master
def test_every_graded_cell_checks_and_examines_its_own_exercise(master):
    for cell in filter(is_graded, notebook(master).cells):
        name = cell.id.removeprefix("test-")
        assert cell.source.splitlines()[0] == f"check({name})"
        assert f"\nexamine({name})\n### END HIDDEN TESTS" in cell.source
        assert cell.metadata.nbgrader.locked


@each_master
def test_locked_code_that_is_only_for_the_notebook_is_active_there(master):
    # jupytext keeps these cells as comments in the module; forgotten comments would check nothing.
    for cell in notebook(master).cells:
        if cell.cell_type == "code" and cell.metadata.nbgrader.locked:
            compile(TransformerManager().transform_cell(cell.source), cell.id, "exec")
            lines = [line for line in cell.source.splitlines() if not line.startswith("###")]
            assert any(line and not line.startswith("#") for line in lines), cell.id


@each_master
def test_two_conversions_are_identical(master):
    assert nbformat.writes(notebook(master)) == nbformat.writes(notebook(master))


def test_sources_are_written_once_and_only_where_asked(tmp_path):
    folder = tmp_path / "solutions" / "some"
    folder.mkdir(parents=True)
    (folder / "one.py").write_text(f"{HEADER}{LOCKED}import torch\n")
    (folder / "misconceptions.py").write_text('"""No notebook."""\n')
    assert write_sources(tmp_path / "solutions") == [folder / "one.ipynb"]
    written = (folder / "one.ipynb").stat()
    write_sources(tmp_path / "solutions")
    assert (folder / "one.ipynb").stat().st_mtime_ns == written.st_mtime_ns
    (folder / "one.py").write_text(f"{HEADER}{LOCKED}import math\n")
    write_sources(tmp_path / "solutions")
    assert nbformat.read(folder / "one.ipynb", 4).cells[0].source == "import math"


@pytest.mark.parametrize(
    ("cells", "sentence"),
    [
        ("# %%\nimport torch\n", "a cell has no grade_id: 'import torch'"),
        (f"{LOCKED}import torch\n\n{LOCKED}import math\n", "two cells have the grade_id 'setup'"),
        (
            LOCKED.replace('"grade": false', '"grade": true, "points": 1').replace(
                "setup", "test-no_such_thing"
            )
            + "pass\n",
            "the graded cell 'test-no_such_thing' names no exercise",
        ),
    ],
    ids=["no grade_id", "twice", "no exercise"],
)
def test_a_faulty_master_is_refused_in_one_sentence(tmp_path, cells, sentence):
    master = tmp_path / "one.py"
    master.write_text(HEADER + cells)
    with pytest.raises(ValueError, match=re.escape(sentence)) as error:
        notebook(master)
    assert str(master) in str(error.value)


# What is released


def test_the_committed_exercises_are_what_the_masters_give(released):
    fresh = tree(released.folder / "exercises")
    committed = tree(ROOT / "exercises")
    changed = sorted(name for name in fresh | committed if fresh.get(name) != committed.get(name))
    assert not changed, f"run `make exercises`; out of date: {', '.join(changed)}"


def test_the_release_holds_one_notebook_per_master_and_nothing_else(released):
    wanted = {f"{m.parent.name}/{m.stem}.ipynb" for m in MASTERS}
    assert set(tree(released.folder / "exercises")) == wanted


@each_master
def test_a_released_notebook_holds_no_line_of_a_solution(released, master):
    released_text = source_of(released, master)
    given, answers = split_solution(master.read_text("utf-8"))
    secret = {line for line in answers if len(line) > 15} - set(given)
    assert len(secret) >= 5, "the test would compare nothing"
    leaked = sorted(line for line in secret if line in released_text)
    assert not leaked


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
    assert [c.id for c in page.cells] == [c.id for c in notebook(master).cells]


# The student's side


def test_a_students_check_loads_nothing_of_the_instructors_side(tmp_path):
    # The packages without what students do not get, as in the students' bundle.
    for package in ("autograder", "coursekit"):
        shutil.copytree(
            ROOT / package,
            tmp_path / package,
            ignore=shutil.ignore_patterns("__pycache__", "instructor"),
        )
    right = function_text("bahdanau/scores.py", "additive_score")
    wrong = right.replace("torch.tanh(", "(")
    script = f"""
    import sys

    sys.path.insert(0, {str(tmp_path)!r})
    import torch
    from torch import Tensor
    import autograder, autograder.checking
    from autograder import CheckFailed, check

    assert autograder.__file__.startswith({str(tmp_path)!r}), autograder.__file__
    given = {{"torch": torch, "Tensor": Tensor}}
    exec({right!r}, given)
    assert check(given["additive_score"]) is None
    exec({wrong!r}, given)
    try:
        check(given["additive_score"])
    except CheckFailed as failed:
        assert "tanh" in str(failed).splitlines()[0], failed
    else:
        raise SystemExit("a wrong answer passed")
    loaded = [m for m in sys.modules if m.split(".")[0] == "solutions" or "instructor" in m]
    assert not loaded, loaded
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_file_of_the_students_side_names_the_instructors_side():
    # The command itself is the instructor's; students are not given it.
    command = ROOT / "autograder" / "command.py"
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
    return course.folder / "exercises" / master.parent.name / f"{master.stem}.ipynb"


def source_of(course, master: Path) -> str:
    cells = nbformat.read(released_path(course, master), 4).cells
    return "\n".join(cell.source for cell in cells)


def split_solution(text: str) -> tuple[list[str], list[str]]:
    """Return the stripped lines outside and inside the solution's marks."""
    given, answers, inside = [], [], False
    for line in map(str.strip, text.splitlines()):
        if "### BEGIN SOLUTION" in line or "### BEGIN HIDDEN TESTS" in line:
            inside = True
        elif "### END SOLUTION" in line or "### END HIDDEN TESTS" in line:
            inside = False
        else:
            (answers if inside else given).append(line)
    assert not inside
    return given, answers


def function_text(master: str, name: str) -> str:
    text = (ROOT / "solutions" / master).read_text("utf-8")
    body = text.split(f"def {name}(", 1)[1].split("    ### END SOLUTION", 1)[0]
    return f"def {name}({body}"
