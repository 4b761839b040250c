"""Writes the book's solution pages and the instructor's page of answers.

The solutions are pages of the book, one for each assignment, with each solution folded. The answers
are one page in `solutions/`, for the instructor of a class whose notebooks do not contain them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from pathlib import Path

from autograder.instructor.authoring.inline_imports import MARKERS
from autograder.instructor.authoring.notebook_builder import (
    ROOT,
    SOLUTION_PAGES,
    SOLUTIONS,
    list_masters,
)
from autograder.instructor.authoring.notebook_parser import SOLUTION, read_code, read_questions
from autograder.spec.exercise import Exercise

QUESTIONS = "QUESTIONS.md"
_ABOUT = """\
<!-- Written by `make exercises` from solutions/: change nothing here. -->
"""


def write_solution_pages(exercises: Mapping[str, Exercise], root: Path = ROOT) -> list[Path]:
    """Write all pages below a folder and return their paths."""
    written = []
    for name, text in make_pages(exercises).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        written.append(path)
    return written


def make_pages(exercises: Mapping[str, Exercise]) -> dict[str, str]:
    """Return the book's solution pages and the instructor's page, by file name."""
    order = list(dict.fromkeys(e.assignment for e in exercises.values()))
    found = {
        f"{SOLUTION_PAGES}/{assignment}.md": _solutions(
            assignment, [e for e in exercises.values() if e.assignment == assignment]
        )
        for assignment in order
    }
    found[f"{SOLUTIONS.name}/{QUESTIONS}"] = _questions(order)
    return found


def _solutions(assignment: str, exercises: list[Exercise]) -> str:
    lines = [
        _ABOUT,
        f"# Solutions: {assignment}",
        "",
        "One way to solve each exercise; any other that computes the same values is as right.",
        "Shapes stand beside the lines. Try first, and look at the hints in the notebook.",
    ]
    for notebook in dict.fromkeys(e.notebook for e in exercises):
        solution = SOLUTIONS / assignment / notebook / SOLUTION
        lines += ["", f"## Notebook [`{notebook}`](../../exercises/{assignment}/{notebook}.ipynb)"]
        for exercise in exercises:
            if exercise.notebook == notebook:
                code = write_solution(solution, exercise.name)
                lines += ["", f"### `{exercise.name}`", "", "<details><summary>Show it</summary>"]
                lines += ["", "```python", code, "```", "", "</details>"]
    return "\n".join([*lines, ""])


def write_solution(solution: Path, name: str) -> str:
    """Return the code of an exercise's cell, with each docstring cut to its first paragraph."""
    for cell in read_code(solution).values():
        if re.search(rf"^(?:def|class) {name}\b", cell, re.MULTILINE):
            lines = [line for line in cell.strip().split("\n") if line.strip() not in MARKERS]
            return shorten_docstrings("\n".join(lines))
    raise ValueError(f"{solution}: there is no {name}.")


def shorten_docstrings(code: str) -> str:
    """Return code with each docstring cut to its first paragraph, to keep a page readable."""
    lines = code.split("\n")
    kinds = (ast.FunctionDef, ast.ClassDef)
    written = [
        n for n in ast.walk(ast.parse(code)) if isinstance(n, kinds) and ast.get_docstring(n)
    ]
    for node in sorted(written, key=lambda node: -node.lineno):  # from below: line numbers hold
        docstring = node.body[0]
        first, last = docstring.lineno - 1, docstring.end_lineno or docstring.lineno
        summary = " ".join((ast.get_docstring(node) or "").split("\n\n")[0].split())
        lines[first:last] = [f'{" " * docstring.col_offset}"""{summary}"""']
    return "\n".join(lines)


def _questions(order: list[str]) -> str:
    lines = [
        _ABOUT,
        "# Questions to think about, with answers",
        "",
        "For the instructor: a class's notebooks have the questions, not the answers.",
    ]
    for master in sorted(list_masters(), key=lambda m: (order.index(m.parts[-3]), m.parts[-2])):
        asked, told = read_questions(master)
        if told:
            place = "/".join(master.parts[-3:-1])
            lines += ["", f"## {place}", "", asked, "", "### Answers", "", told]
    return "\n".join([*lines, ""])
