"""Writes the release notebooks in `exercises/` without touching a gradebook.

python -m autograder.instructor.nbgrader.release [ASSIGNMENT ...]

It also writes the book's solution pages and the instructor's page of answers to the questions. With
COURSE_ANSWERS=no in the environment, it writes the notebooks that a class gets.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbgrader.converters import GenerateAssignment
from nbgrader.preprocessors import IncludeHeaderFooter, InstantiateTests, SaveCells
from traitlets.config import Config

from autograder.instructor.authoring.notebook_builder import (
    ROOT,
    list_masters,
    make_notebook,
    shows_answers,
)
from autograder.instructor.authoring.solution_pages import write_solution_pages
from autograder.instructor.grading.course_folder import Course
from autograder.spec.exercise import Exercise

RELEASED = ROOT / "exercises"
# These need a gradebook or a running kernel, and do not change our cells.
NOT_NEEDED = (IncludeHeaderFooter, InstantiateTests, SaveCells)


def release(
    exercises: Mapping[str, Exercise],
    destination: Path = RELEASED,
    names: Sequence[str] = (),
    alone: bool | None = None,
) -> None:
    """Write the students' notebooks into `destination`.

    Args:
        exercises: the course's exercises, by name.
        destination: the folder that gets a subfolder for each assignment.
        names: names of the assignments to write; all of them if empty.
        alone: True for the self-study edition, which has answers to the questions; False for the
            class edition; None to follow the variable COURSE_ANSWERS.

    Raises:
        ValueError: if a master is faulty, or there is no such assignment.
    """
    alone = shows_answers() if alone is None else alone
    pages: dict[str, dict[str, NotebookNode]] = {}
    for master in list_masters():
        assignment, name = master.parts[-3:-1]
        pages.setdefault(assignment, {})[name] = make_notebook(master, exercises, alone)
    if unknown := sorted(set(names) - set(pages)):
        raise ValueError(f"There is no assignment {unknown[0]}; there are: {', '.join(pages)}.")
    config = Course(ROOT).app.config
    for assignment in names or pages:
        folder = destination / assignment
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for name, page in pages[assignment].items():
            text = strip_solutions(page, config)
            (folder / f"{name}.ipynb").write_text(text, encoding="utf-8")


def strip_solutions(page: NotebookNode, config: Config) -> str:
    """Return the text of a source notebook without solutions and hidden tests."""
    exporter = NotebookExporter(config=config)
    for step in GenerateAssignment(config=config).preprocessors:
        if step not in NOT_NEEDED:
            exporter.register_preprocessor(step, enabled=True)
    text, _ = exporter.from_notebook_node(page)
    return text


if __name__ == "__main__":
    from autograder.exercises import EXERCISES

    try:
        release(EXERCISES, names=sys.argv[1:])
        write_solution_pages(EXERCISES)
    except ValueError as error:
        sys.exit(str(error))
