"""Builds the known mistakes of an exercise from the cards in `mistakes.md` and the solution."""

from __future__ import annotations

import importlib
import inspect
import io
import itertools
import re
import textwrap
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.instructor.authoring.mistake_parser import Arrow, Card, CardError, Fence, read_cards
from autograder.instructor.authoring.notebook_builder import SOLUTIONS
from autograder.spec.exercise import Exercise


@dataclass(frozen=True)
class Mistake:
    """A wrong implementation that people really write."""

    slug: str
    title: str
    hint: str
    code: Any


def load_mistakes(exercise: Exercise) -> list[Mistake]:
    """Return the known mistakes of an exercise.

    Raises:
        CardError: a card has no hint or no code, or an arrow does not fit the solution.
    """
    path = SOLUTIONS / exercise.assignment / exercise.notebook / "mistakes.md"
    cards = read_cards(path)
    module = importlib.import_module(
        f"solutions.{exercise.assignment}.{exercise.notebook}.solution"
    )
    helpers, *mine = cards.get(exercise.name, [Card()])
    space = dict(vars(module))
    for fence in (*cards[""][0].fences, *helpers.fences):
        _execute(fence.code, space, str(path), fence.line)
    text = SolutionText(inspect.getsource(module), exercise.name)
    mistakes = []
    for card in mine:
        try:
            code = build_mistake(card, text, space, path)
        except Exception as error:  # also what the card's own code raises
            kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
            raise CardError(f"{path}, card {card.slug}: {kind}{error}") from error
        mistakes.append(Mistake(card.slug, card.title, card.hint, code))
    return mistakes


def build_mistake(card: Card, text: SolutionText, space: dict[str, Any], path: Path) -> Any:
    """Return the wrong implementation that a card describes.

    Args:
        card: the card.
        text: the solution.
        space: names that its code may use.
        path: the page, for tracebacks.
    """
    if not card.title or not card.hint or not (card.arrows or card.fences):
        raise ValueError("a card needs a title, a hint, and an arrow or a fence.")
    space = {name: value for name, value in space.items() if name != card.slug}
    bodies = [fence for fence in card.fences if fence.method]
    for fence in card.fences:
        if not fence.method:
            _execute(fence.code, space, str(path), fence.line)
    if not card.arrows and not bodies:
        if card.slug not in space:
            raise ValueError(f"its fence must define {card.slug}, or change the solution.")
        return space[card.slug]
    _execute(text.change(card.arrows, bodies), space, f"{path}, {card.slug}", 1)
    return space[text.name]


def _execute(code: str, space: dict[str, Any], file: str, line: int) -> None:
    exec(compile("\n" * (line - 1) + code, file, "exec", dont_inherit=True), space)


class SolutionText:
    """The cell of an exercise without comments, and the parts of it that are the solution.

    Args:
        master: text of the notebook.
        name: name of the exercise.
    """

    def __init__(self, master: str, name: str):
        self.name = name
        cells = re.split(r"^# %%.*\n", master, flags=re.M)
        cell = next(c for c in cells if re.search(rf"^(?:def|class) {name}\b", c, re.M))
        self.text = ""
        # Start, end and method of each part of the solution.
        self.parts: list[tuple[int, int, str]] = []
        method, start = "", None
        for line, bare in zip(cell.splitlines(), _strip_comments(cell), strict=True):
            if "### BEGIN SOLUTION" in line:
                start = len(self.text)
            elif "### END SOLUTION" in line:
                assert start is not None
                self.parts.append((start, len(self.text), method))
                start = None
            elif bare.strip() or not line.strip():  # a line of nothing but a comment goes
                if start is None and (found := re.match(r" *def (\w+)", bare)):
                    method = found[1]
                self.text += f"{bare}\n"

    def change(self, arrows: list[Arrow], bodies: list[Fence]) -> str:
        """Return the cell with some of its code replaced.

        Raises:
            ValueError: an arrow does not fit, or two of them overlap.
        """
        edits = [edit for arrow in arrows for edit in self._find_edits(arrow)]
        for body in bodies:
            edits.append(self._replace_body(body))
        edits.sort()
        for (_, end, _), (start, _, _) in itertools.pairwise(edits):
            if start < end:
                raise ValueError("two arrows replace the same code.")
        text = self.text
        for start, end, new in reversed(edits):
            text = text[:start] + new + text[end:]
        return text

    def _find_edits(self, arrow: Arrow) -> Iterator[tuple[int, int, str]]:
        for method in arrow.methods or ("",):
            parts = [(a, b) for a, b, name in self.parts if method in ("", name)]
            found = [m for part in parts for m in _find(arrow, self.text, *part)]
            if len(found) != 1 and not (found and arrow.everywhere):
                inside = f"`{method}`" if method else "the solution"
                raise ValueError(f"{arrow.old!r} stands {len(found)} times in {inside}, not once.")
            for match in found:
                indent = match.groupdict().get("indent", "")
                yield match.start(), match.end(), textwrap.indent(arrow.new, indent)

    def _replace_body(self, body: Fence) -> tuple[int, int, str]:
        places = [(a, b) for a, b, name in self.parts if name == body.method]
        if len(places) != 1:
            raise ValueError(f"the solution has {len(places)} parts in `{body.method}`, not one.")
        ((start, end),) = places
        indent = re.search(r"^ *(?=\S)", self.text[start:end], re.M)
        assert indent is not None
        return start, end, textwrap.indent(body.code, indent[0])


def _find(arrow: Arrow, text: str, start: int, end: int) -> list[re.Match[str]]:
    """Return the places of an arrow's code between two positions of the text."""
    if not arrow.lines:  # `x` is not found in `max`
        old = re.sub(r"^(?=\w)|(?<=\w)$", r"\\b", re.escape(arrow.old))
        return list(re.compile(old).finditer(text, start, end))
    first, *others = arrow.old.split("\n")
    lines = [rf"^(?P<indent> *){re.escape(first)}"]
    lines += [rf"(?P=indent){re.escape(line)}" if line else "" for line in others]
    return list(re.compile("\n".join(lines) + "$", re.M).finditer(text, start, end))


def _strip_comments(code: str) -> list[str]:
    """Return the lines of a cell without comments and trailing blanks."""
    lines = code.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    return [line.rstrip() for line in lines]
