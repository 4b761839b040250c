"""Builds nbgrader source notebooks from the masters in `solutions`.

A master is a folder, `solutions/<assignment>/<notebook>`: the text in `notebook.md`, the code of
the exercises in `solution.py`. `notebook_parser` says how both are written.

Everything else that a notebook needs follows from the exercises' declarations and docstrings: ids,
points and locks; source, difficulty and minutes below each text; the check; the hidden test. In
given code, an import from `solutions` is replaced by the imported code, so that nobody has to write
again what an earlier assignment has built.

There are two editions. The self-study edition also has the answers to the questions, and links to
the book and its solution pages. The edition for a class has neither, and nbgrader reads its
notebooks.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.instructor.authoring.inline_imports import inline_solution_imports
from autograder.instructor.authoring.notebook_parser import (
    SOLUTION,
    SourceError,
    read_code,
    read_parts,
)
from autograder.instructor.formatting import format_point_count
from autograder.spec.exercise import Exercise

TEST_PREFIX = "test-"
"""Beginning of the names of cells that check an exercise."""

ROOT = Path(__file__).resolve().parents[3]
SOLUTIONS = ROOT / "solutions"
SOLUTION_PAGES = "book/solved"  # folder of the book's solution pages, one for each assignment

_ANSWER = re.compile(r'\n*<details class="answer">.*?</details>', re.S)
_SOLVED_LINK = re.compile(rf" \[[^\[\]]*\]\((?:\.\./)*{SOLUTION_PAGES}/[^()]*\)")
_BOOK_LINK = re.compile(r"(?<!!)\[([^\[\]]*)\]\((?:\.\./)*book/[^()]*\)")

_METADATA = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
_GRADED = """\
check({name})
### BEGIN HIDDEN TESTS
from autograder.instructor import examine

examine({name})
### END HIDDEN TESTS"""


@contextmanager
def add_path_to_errors(path: Path) -> Iterator[None]:
    """Turn any error in a hand-written file into a SourceError that names the file."""
    try:
        yield
    except SourceError:
        raise
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise SourceError(f"{path} cannot be used: {why}; correct it.") from error


def list_masters(solutions: Path = SOLUTIONS) -> list[Path]:
    """Return the text masters of all notebooks."""
    return sorted(solutions.glob("*/*/notebook.md"))


def shows_answers() -> bool:
    """Tell whether answers are shown; the variable COURSE_ANSWERS hides them if it is "no"."""
    return os.environ.get("COURSE_ANSWERS", "yes") != "no"


def strip_answers(text: str, links: bool = False) -> str:
    """Return a text cell of the self-study edition as a class gets it.

    Answers to questions and links to solutions are removed. Links to the book are reduced to their
    words, unless `links` says that the book is there.
    """
    text = _SOLVED_LINK.sub("", _ANSWER.sub("", text))
    return text if links else _BOOK_LINK.sub(r"\1", text)


def make_notebook(
    master: Path, exercises: Mapping[str, Exercise], self_study: bool = False
) -> NotebookNode:
    """Return a master's notebook, which never varies because its `grade_id`s are its cell ids.

    Args:
        master: the text master.
        exercises: the course's exercises, by name.
        self_study: make the self-study edition, not the edition for a class.

    Raises:
        SourceError: a code cell has no name, two cells share a name, an exercise is not declared,
            or the file cannot be read as a master.
    """
    with add_path_to_errors(master):
        return _notebook(master, exercises, self_study)


def _notebook(master: Path, exercises: Mapping[str, Exercise], alone: bool) -> NotebookNode:
    cells = [*_cells(master, exercises)]
    for cell in cells:
        if cell.cell_type == "markdown" and not alone:
            cell.source = strip_answers(cell.source)
    for number, cell in enumerate(cells):
        options = cell.metadata.nbgrader
        if not options.grade_id:
            after = next((c.id for c in cells[number:] if c.cell_type == "code"), "end")
            options.grade_id = cell.id = "title" if number == 0 else f"text-{after}"
    ids = [cell.id for cell in cells]
    if twice := sorted({name for name in ids if ids.count(name) > 1}):
        raise SourceError(f"{master}: two cells are named {twice[0]!r}; give one another name.")
    return nbformat.v4.new_notebook(cells=cells, metadata=NotebookNode(_METADATA))


def _cells(master: Path, exercises: Mapping[str, Exercise]) -> Iterator[NotebookNode]:
    """Yield the cells in order; text cells without a name of their own have the id ""."""
    parts = read_parts(master)
    code = read_code(master.with_name(SOLUTION))
    if unknown := [p.name for p in parts if p.kind in ("exercise", "given") and p.name not in code]:
        raise SourceError(f"{master}: {SOLUTION} has no cell {unknown[0]!r}.")
    stubs = {p.name: _stub(code[p.name]) for p in parts if p.kind == "exercise"}
    table = _table([(_declared(master, name, exercises), stub) for name, stub in stubs.items()])
    given = ""  # code of the given cells above
    for part, after in zip(parts, [*parts[1:], None], strict=True):
        name, text = part.name, part.text
        if part.kind == "text":
            text = text.replace("{{ exercises }}", table)
            if after and after.kind == "exercise":
                text = _with_source(text, exercises[after.name], stubs[after.name])
                text += _fold("Hint", after.text)
            elif after and after.kind == "answers":
                text += _fold("Answer", after.text)
            yield _cell("markdown", f"text-{name}" if name else "", text)
        elif part.kind == "exercise":
            yield _cell("code", name, code[name], locked=False, solution=True)
            graded = _cell("code", TEST_PREFIX + name, _GRADED.format(name=name), grade=True)
            graded.metadata.nbgrader.points = exercises[name].points
            yield graded
        elif part.kind == "by-hand":
            # The release has nbgrader's stub in place of the model answer.
            place = _cell("markdown", name, text, grade=True, locked=False, solution=True)
            place.metadata.nbgrader.points = part.points
            yield place
        elif part.kind == "given":
            yield _cell("code", name, inline_solution_imports(code[name], given))
            given += f"{code[name]}\n"
        elif part.kind == "notebook-only":
            yield _cell("code", name, text)
        elif part.kind == "demo":
            yield _cell("code", name, f"# demo\n{text}")
        elif part.kind == "play":
            text = f"# play: change what you like, and run it again\n{text}"
            yield _cell("code", f"play-{name}", text, locked=False)


def _fold(title: str, text: str) -> str:
    """Return a list of hints or answers with each entry folded, to append to a text."""
    lines: list[str] = []
    kind = ' class="answer"' if title == "Answer" else ""
    entries = re.split(r"^(?:\* |\d+\. )", text.strip(), flags=re.MULTILINE)[1:]
    for number, entry in enumerate(entries, 1):
        # The lines after an entry's first are indented as Markdown requires, by two or three.
        inner = re.sub(r"^ {2,3}", "", entry.strip(), flags=re.MULTILINE)
        summary = f"<details{kind}><summary>{title} {number}</summary>"
        lines += ["", summary, "", *inner.split("\n"), "", "</details>"]
    return "".join(f"\n{line}".rstrip(" ") for line in lines)


@dataclass(frozen=True)
class Stub:
    """Contents of an exercise's docstring: its first sentence, and the source at its end."""

    name: str
    summary: str
    source: str


def _stub(code: str) -> Stub:
    """Return the stub of the one public function or class in an exercise's cell."""
    kinds = (ast.FunctionDef, ast.ClassDef)
    public = next(s for s in ast.parse(code).body if isinstance(s, kinds) and s.name[0] != "_")
    first, *others = (ast.get_docstring(public) or "").split("\n\n")
    sources = [part for part in others if part.startswith("Source: ")]
    return Stub(
        public.name,
        " ".join(first.split()).rstrip("."),
        " ".join("".join(sources[-1:]).removeprefix("Source: ").split()),
    )


def _declared(master: Path, name: str, exercises: Mapping[str, Exercise]) -> Exercise:
    if name not in exercises:
        raise SourceError(
            f"{master}: the exercise {name!r} is not declared; declare it in "
            f"autograder/exercises/{master.parent.parent.name}/{master.parent.name}.py."
        )
    return exercises[name]


def _cell(
    kind: str,
    name: str,
    text: str,
    grade: bool = False,
    locked: bool = True,
    solution: bool = False,
) -> NotebookNode:
    make = nbformat.v4.new_markdown_cell if kind == "markdown" else nbformat.v4.new_code_cell
    options = NotebookNode(
        grade=grade,
        grade_id=name,
        locked=locked,
        solution=solution,
        schema_version=3,
        task=False,
        cell_type=kind,
    )
    return make(text, id=name or "text", metadata=NotebookNode(nbgrader=options))


def _table(exercises: list[tuple[Exercise, Stub]]) -> str:
    """Return the table of exercises at the top of a notebook."""
    rows = [
        "| exercise | what it does | difficulty | points | minutes |",
        "| --- | --- | --- | --- | --- |",
    ]
    for exercise, stub in exercises:
        what = stub.summary.replace("|", "\\|")
        worth = f"{format_difficulty(exercise)} | {exercise.points:g} | {exercise.minutes}"
        rows.append(f"| `{exercise.name}` | {what} | {worth} |")
    return "\n".join(rows)


def _with_source(text: str, exercise: Exercise, stub: Stub) -> str:
    """Return an exercise's text with a line that gives its source, difficulty, points and duration.

    It ends with a link to the solution.
    """
    points = format_point_count(exercise.points)
    worth = f"Difficulty {format_difficulty(exercise)}, {points}, {format_minutes(exercise)}."
    line = f"*{' '.join(filter(None, [stub.source, worth]))}*"
    solved = f"[Solution](../../{SOLUTION_PAGES}/{exercise.assignment}.md)"
    return f"{text}\n\n{line} {solved}"


def format_minutes(exercise: Exercise) -> str:
    """Return how long an exercise takes, as a range, since solvers differ by a factor of three."""
    low, high = exercise.minutes / 2, exercise.minutes * 1.5
    if exercise.minutes > 10:
        low, high = 5 * (low // 5), 5 * -(-high // 5)
    return f"{low:.0f} to {high:.0f} minutes"


def format_difficulty(exercise: Exercise) -> str:
    """Return the difficulty as readers see it: ●●○."""
    return "●" * exercise.difficulty + "○" * (3 - exercise.difficulty)


def write_sources(exercises: Mapping[str, Exercise], solutions: Path = SOLUTIONS) -> list[Path]:
    """Write each master's notebook, `solutions/<assignment>/<notebook>.ipynb`, if it changed."""
    written = []
    for master in list_masters(solutions):
        path = master.parent.with_suffix(".ipynb")
        content = master.read_bytes() + master.with_name(SOLUTION).read_bytes()
        text = _page(master, content, exercises)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
        written.append(path)
    return written


_PAGES: dict[Path, tuple[bytes, str]] = {}


def _page(master: Path, content: bytes, exercises: Mapping[str, Exercise]) -> str:
    """Return a notebook file's text, cached because a server reloads its settings for each page."""
    if master not in _PAGES or _PAGES[master][0] != content:
        _PAGES[master] = content, nbformat.writes(make_notebook(master, exercises)) + "\n"
    return _PAGES[master][1]
