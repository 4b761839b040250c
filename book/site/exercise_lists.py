"""Directives that list exercises from their declarations and stubs.

    ```{exercises} bahdanau
    ```

lists an assignment's notebooks with their exercises; `{catalogue}` shows the stubs of all
exercises, `{solution-pages}` lists the pages with their solutions.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
from sphinx.application import Sphinx

from book.site.generated_markdown import GeneratedMarkdown
from book.site.launch_links import list_chapters

# The exercises import torch, which must not happen before Sphinx has inspected all objects.
if TYPE_CHECKING:
    from autograder.spec.exercise import Exercise

ROOT = Path(__file__).resolve().parents[2]


def read_exercises() -> list[Exercise]:
    """Return all exercises, in the order of the course."""
    from autograder.exercises import EXERCISES

    return list(EXERCISES.values())


def group_by_notebook(assignment: str) -> dict[str, list[Exercise]]:
    """Return an assignment's exercises by notebook, in the order of the course.

    Raises:
        ValueError: there is no such assignment.
    """
    places: dict[str, list[Exercise]] = {}
    for exercise in read_exercises():
        if exercise.assignment == assignment:
            places.setdefault(exercise.notebook, []).append(exercise)
    if not places:
        raise ValueError(f"There is no assignment {assignment!r}.")
    return places


def list_notebooks(assignment: str) -> str:
    """Return the list of an assignment's notebooks as Markdown."""
    lines = []
    for number, (name, exercises) in enumerate(group_by_notebook(assignment).items(), 1):
        shown = ", ".join(f"`{e.name}`" for e in exercises)
        minutes = sum(e.minutes for e in exercises)
        link = f"[`{name}`](../exercises/{assignment}/{name}.ipynb)"
        lines.append(f"{number}. {link}, about {minutes} minutes: {shown}.")
    return "\n".join(lines)


def read_chapter_titles() -> dict[str, str]:
    """Return the number and title of each chapter with exercises, by assignment, in order."""
    titles = {}
    for chapter in list_chapters(ROOT):
        title = _read_title((ROOT / f"{chapter.page}.md").read_text(encoding="utf-8"))
        for notebook in chapter.exercises:
            titles[Path(notebook).parent.name] = f"{chapter.number}. {title}"
    return titles


def read_notebook_title(notebook: str) -> str:
    """Return the title of an exercise notebook, such as bahdanau/scores."""
    page = nbformat.read(ROOT / "exercises" / f"{notebook}.ipynb", as_version=4)
    return _read_title(next(cell.source for cell in page.cells if cell.cell_type == "markdown"))


def _read_title(text: str) -> str:
    """Return the first heading of a text."""
    title = re.search(r"^# (.+)$", text, re.MULTILINE)
    if title is None:
        raise ValueError(f"no heading in a text that begins: {text[:80]}")
    return title[1]


def list_solution_pages() -> str:
    """Return links from a page in book/solved to the solutions of each chapter as Markdown."""
    return "\n".join(f"- [{title}]({name}.md)" for name, title in read_chapter_titles().items())


def show_catalogue() -> str:
    """Return the stubs of all exercises as Markdown."""
    from autograder.instructor.authoring.notebook_builder import format_difficulty
    from autograder.instructor.formatting import format_point_count

    lines: list[str] = []
    for assignment, chapter in read_chapter_titles().items():
        lines += [f"## {chapter}", ""]
        for name, exercises in group_by_notebook(assignment).items():
            place = f"exercises/{assignment}/{name}.ipynb"
            title = read_notebook_title(f"{assignment}/{name}")
            lines += [f"### {title}", "", f"[Open the notebook `{name}`](../{place}).", ""]
            page = nbformat.read(ROOT / place, as_version=4)
            stubs = {cell.id: cell.source for cell in page.cells}
            for exercise in exercises:
                parts = ", ".join(f"{part.name} {part.points:g}" for part in exercise.parts)
                worth = format_point_count(exercise.points)
                said = f"`{exercise.name}`: {worth}{f' ({parts})' if parts else ''}"
                lines += [
                    f"{said}; {format_difficulty(exercise)}, about {exercise.minutes} minutes.",
                    "",
                ]
                lines += ["```python", stubs[exercise.name], "```", ""]
    return "\n".join(lines)


class Exercises(GeneratedMarkdown):
    """``{exercises}``: the notebooks of an assignment with their exercises."""

    required_arguments = 1

    def write(self) -> str:
        """Return the list."""
        return list_notebooks(self.arguments[0])


class Catalogue(GeneratedMarkdown):
    """``{catalogue}``: the stubs of all exercises."""

    def write(self) -> str:
        """Return the stubs by notebook."""
        return show_catalogue()


def name_chapter(app: Sphinx, page: str, source: list[str]) -> None:
    """Write a chapter's number and title into the title of its page of solutions."""
    folder, _, assignment = page.rpartition("/")
    if folder == "book/solved" and assignment in (titles := read_chapter_titles()):
        source[0] = source[0].replace(
            f"# Solutions: {assignment}\n", f"# Solutions: {titles[assignment]}\n", 1
        )


class SolutionPages(GeneratedMarkdown):
    """``{solution-pages}``: the pages with the solutions of each chapter."""

    def write(self) -> str:
        """Return the list."""
        return list_solution_pages()


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the directives."""
    app.add_directive("exercises", Exercises)
    app.add_directive("catalogue", Catalogue)
    app.add_directive("solution-pages", SolutionPages)
    app.connect("source-read", name_chapter)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
