"""Tests of when a students' bundle is refused, and of what stays out of it."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import nbformat
import pytest

from autograder.instructor.grading.course_folder import CourseError
from autograder.instructor.nbgrader import student_bundle

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def course(tmp_path):
    """Return the folder of a course in which the clone's exercises are released."""
    folder = tmp_path / "course"
    shutil.copytree(ROOT / "exercises", folder / "exercises")
    shutil.copytree(ROOT / "solutions", folder / "solutions")
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    return folder


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def test_it_is_refused_when_a_source_has_changed_since_the_release(course, tmp_path):
    edit(course / "solutions/bahdanau/scores/notebook.md", "## See it move", "## See it turn")
    with pytest.raises(
        student_bundle.BundleError, match=r"scores\.ipynb is not what .*make exercises"
    ):
        student_bundle.write(tmp_path / "b", course)
    assert not (tmp_path / "b").exists()


def test_it_is_refused_when_somebody_has_solved_a_released_notebook(course, tmp_path):
    edit(course / "exercises/bahdanau/scores.ipynb", "raise NotImplementedError()", "return 42")
    with pytest.raises(
        student_bundle.BundleError, match=r"exercises/bahdanau/scores\.ipynb is not what"
    ):
        student_bundle.write(tmp_path / "b.zip", course)
    assert not list(tmp_path.glob("b.zip*"))


def test_it_is_refused_when_a_notebook_is_missing_broken_or_nothing_is_released(course, tmp_path):
    (course / "exercises/bahdanau/translator.ipynb").write_text("{")
    with pytest.raises(student_bundle.BundleError, match="is not what its source gives"):
        student_bundle.write(tmp_path / "b", course)
    (course / "exercises/bahdanau/translator.ipynb").unlink()
    with pytest.raises(student_bundle.BundleError, match="is missing: run"):
        student_bundle.write(tmp_path / "b", course)
    shutil.rmtree(course / "exercises")
    with pytest.raises(student_bundle.BundleError, match="Nothing is released"):
        student_bundle.write(tmp_path / "b", course)
    shutil.rmtree(course / "solutions")
    with pytest.raises(student_bundle.BundleError, match=r"There is no folder .*solutions"):
        student_bundle.write(tmp_path / "b", course)
    with pytest.raises(CourseError, match=r"no nbgrader_config\.py"):
        student_bundle.write(tmp_path / "b", tmp_path)


def test_what_is_not_released_stays_out(course):
    shutil.copytree(course / "solutions/bahdanau", course / "solutions/later")
    leftovers = course / "exercises" / "bahdanau"
    shutil.copy(course / "solutions/transformer/layers/mistakes.md", leftovers)
    shutil.copy(course / "solutions/bahdanau/scores/solution.py", leftovers / "notes.txt")
    (leftovers / ".ipynb_checkpoints").mkdir()
    shutil.copy(leftovers / "scores.ipynb", leftovers / ".ipynb_checkpoints")
    names = [name for name in student_bundle.collect_files(course) if name.startswith("exercises/")]
    released = (ROOT / "exercises").glob("*/*.ipynb")
    assert sorted(names) == sorted(path.relative_to(ROOT).as_posix() for path in released)


def test_files_that_belong_to_an_assignment_are_handed_out(course):
    (course / "solutions/bahdanau/words.csv").write_text("cat,고양이\n", "utf-8")
    with pytest.raises(student_bundle.BundleError, match=r"words\.csv is missing"):
        student_bundle.collect_files(course)
    shutil.copy(course / "solutions/bahdanau/words.csv", course / "exercises/bahdanau")
    given = student_bundle.collect_files(course)["exercises/bahdanau/words.csv"]
    assert given.decode("utf-8") == "cat,고양이\n"


def test_a_place_that_is_taken_is_left_alone(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(student_bundle.BundleError, match="is not empty: choose a new folder"):
        student_bundle.write(tmp_path)
    with pytest.raises(student_bundle.BundleError, match="is not empty"):
        student_bundle.write(tmp_path / "notes.txt")
    (tmp_path / "b.zip").write_text("mine")
    with pytest.raises(student_bundle.BundleError, match="is another file, not a bundle"):
        student_bundle.write(tmp_path / "b.zip")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "notes.txt": "mine",
        "b.zip": "mine",
    }
    bundle = student_bundle.write(tmp_path / "c.zip", only=["embeddings"])
    student_bundle.write(bundle, only=["seq2seq"])
    with zipfile.ZipFile(bundle) as archive:
        assert "attention-course/exercises/seq2seq/cells.ipynb" in archive.namelist()


def test_only_an_assignment_of_the_course_can_be_the_last(course):
    own = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("Draw.", id="draw")])
    (course / "solutions" / "project").mkdir()
    nbformat.write(own, course / "solutions" / "project" / "essay.ipynb")
    with pytest.raises(student_bundle.BundleError, match="project has no place in the order"):
        student_bundle.collect_files(course, last="project")


def test_an_empty_folder_is_a_good_place(tmp_path):
    assert student_bundle.write(tmp_path) == tmp_path
    assert (tmp_path / "README.md").is_file()
