"""Reads the master of an exercise notebook: the text in `notebook.md`, the code in `solution.py`.

`notebook.md` is MyST Markdown, like the chapters:

    +++ {"name": "questions"}      begins a text cell, with a name where one is needed

    ```{code-cell} ipython3        code that `solution.py` does not have
    :name: look
    :tags: [demo]                  demo: no answer needs it, so it is skipped while a class is
    ```                            graded; play: likewise, but the reader may change it;
                                   notebook-only: answers may need it

    :::{given} setup               code that the reference solution has, too
    :::

    :::{exercise} gru_cell         an exercise: its stub and solution; the list holds its hints
    * One product does it.
    :::

    :::{answers}                   answers to the questions above
    1. The plain cell.
    :::

    :::{by-hand} why               a manually graded answer; the text is the model answer
    :points: 3

    Because ...
    :::

`{{ exercises }}` in a text becomes the table of exercises. `solution.py` is a module in percent
format: `# %% exercise` begins the cell of an exercise, `# %% setup` given code named `setup`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import jupytext

SOLUTION = "solution.py"  # beside notebook.md


class SourceError(ValueError):
    """Raised if a source notebook cannot be used; the message says which one and why."""


@dataclass(frozen=True)
class Part:
    """One part of a master, in the order of the notebook.

    Attributes:
        kind: text, exercise, given, answers, by-hand, or the tag of a code cell.
        name: name of the cell; of a text "" where it has none.
        text: Markdown or code; of an exercise its list of hints, or "".
        points: of an answer that is graded by hand.
    """

    kind: str
    name: str
    text: str
    points: float = 0.0


_DIRECTIVE = re.compile(
    r"^:::\{(?P<kind>[\w-]+)\}[ ]*(?P<name>.*)\n(?P<text>(?:.*\n)*?):::[ ]*$", re.MULTILINE
)
_POINTS = re.compile(r"\A:points: (\d+(?:\.\d+)?)\n")
_DIRECTIVES = ("given", "exercise", "answers", "by-hand")
_TAGS = ("notebook-only", "demo", "play")


def read_parts(master: Path) -> list[Part]:
    """Return the parts of a `notebook.md` in order.

    Raises:
        SourceError: a directive, a tag or a name is missing or unknown.
    """
    parts: list[Part] = []
    for cell in jupytext.reads(master.read_text(encoding="utf-8"), fmt="md:myst").cells:
        name = cell.metadata.get("name", "")
        if cell.cell_type == "markdown":
            parts += _divide(master, name, cell.source)
            continue
        tags = cell.metadata.get("tags", [])
        if not name:
            raise SourceError(f"{master}: a cell has no name: {cell.source[:60]!r}.")
        if len(tags) != 1 or tags[0] not in _TAGS:
            raise SourceError(
                f"{master}: give the cell {name!r} one of the tags {', '.join(_TAGS)}."
            )
        parts.append(Part(tags[0], name, cell.source.strip("\n")))
    for before, part in zip([None, *parts], parts, strict=False):
        if part.kind in ("exercise", "answers") and (before is None or before.kind != "text"):
            verb = "stands" if part.kind == "exercise" else "stand"
            raise SourceError(f"{master}: {{{part.kind}}} {verb} below a text, and nowhere else.")
    return parts


def _divide(master: Path, name: str, text: str) -> Iterator[Part]:
    """Yield the text and the directives of a text cell; only its first text has the name."""
    if open_ := re.search(r"^:::\{([\w-]+)\}", _DIRECTIVE.sub("", text), re.MULTILINE):
        raise SourceError(f"{master}: the directive {{{open_[1]}}} is never closed by a line :::.")
    start = 0
    for found in _DIRECTIVE.finditer(text):
        if before := text[start : found.start()].strip("\n"):
            yield Part("text", name, before)
            name = ""
        start = found.end()
        kind, said, inner = found["kind"], found["name"].strip(), found["text"].strip("\n")
        if kind not in _DIRECTIVES:
            raise SourceError(
                f"{master}: {{{kind}}} is not a directive of a notebook; write one of "
                f"{', '.join(_DIRECTIVES)}."
            )
        points = _POINTS.match(f"{inner}\n")
        if kind == "by-hand" and (points is None or not re.fullmatch(r"\S+", said)):
            raise SourceError(
                f"{master}: write {{by-hand}}, a name without blanks, and below it :points: and a "
                f"number, not {found[0][:60]!r}."
            )
        if points:
            inner = inner[points.end() :].strip("\n")
        yield Part(kind, said, inner, float(points[1]) if points else 0.0)
    if after := text[start:].strip("\n"):
        yield Part("text", name, after)


def read_code(solution: Path) -> dict[str, str]:
    """Return the cells of a `solution.py` by name; that of an exercise is its public name.

    Raises:
        SourceError: the cell of an exercise does not define exactly one public name.
    """
    _, *parts = re.split(r"^# %% *(.*)\n", solution.read_text(encoding="utf-8"), flags=re.M)
    cells = {}
    for label, text in zip(parts[::2], parts[1::2], strict=True):
        name = _find_public_name(solution, text) if label == "exercise" else label.strip()
        cells[name] = text.strip("\n")
    return cells


def _find_public_name(solution: Path, text: str) -> str:
    kinds = (ast.FunctionDef, ast.ClassDef)
    names = [s.name for s in ast.parse(text).body if isinstance(s, kinds) and s.name[0] != "_"]
    if len(names) != 1:
        raise SourceError(f"{solution}: an exercise's cell defines one public name, not {names}.")
    return names[0]


def read_questions(master: Path) -> tuple[str, str]:
    """Return a notebook's questions and its list of answers to them, or "" where it has none."""
    parts = read_parts(master)
    asked = next((part.text for part in parts if part.name == "questions"), "")
    told = next((part.text for part in parts if part.kind == "answers"), "")
    return asked, told
