"""Reads `mistakes.md`: the cards of the mistakes that people make in a notebook's exercises.

Below the heading of an exercise, `## exercise`, each mistake is a card:

    ### slug: Title.

    The hint, in one or more paragraphs.

    `old` → `new`

The arrow replaces code of the solution, which contains `old` once. Several arrows are a list. In
front of an arrow stands where it applies, if that is not obvious: "In `forward` and `step`: " once
in each of these methods, "Everywhere: " at every place. "→ nothing" removes code. A fence `diff`
replaces whole lines, however far they are indented; its lines `@@ method` say where.

A fence `python` is a wrong implementation that has little in common with the solution: it defines a
function or class with the slug's name. With a method's name behind `python`, it is that method's
body. Above the first card of an exercise, or of the page, it defines what several cards use.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ARROW = " → "
NOTHING = "nothing"


class CardError(ValueError):
    """Raised if a page of cards has a mistake; the message says where and what to do."""


@dataclass(frozen=True)
class Arrow:
    """A replacement of code.

    Attributes:
        old: the code, one line or whole lines.
        new: the code that replaces it.
        methods: methods in which it is replaced; all of the solution if empty.
        everywhere: whether every place is replaced; otherwise there must be exactly one.
        lines: whether `old` and `new` are whole lines.
    """

    old: str
    new: str
    methods: tuple[str, ...] = ()
    everywhere: bool = False
    lines: bool = False


@dataclass(frozen=True)
class Fence:
    """A block of Python.

    Attributes:
        code: the code.
        line: its first line in the page, from 1.
        method: the method whose body it is, or "".
    """

    code: str
    line: int
    method: str = ""


@dataclass
class Card:
    """One mistake, or with an empty slug the helpers of an exercise.

    Attributes:
        slug: its name, the same for ever.
        title: headline for the student.
        hint: explanation for the student.
        arrows: what is different from the solution.
        fences: code of its own.
    """

    slug: str = ""
    title: str = ""
    hint: str = ""
    arrows: list[Arrow] = field(default_factory=list)
    fences: list[Fence] = field(default_factory=list)


@cache
def read_cards(path: Path) -> dict[str, list[Card]]:
    """Return the cards of a page by exercise, each list beginning with one that holds helpers.

    Under "" stand the helpers of the whole page.

    Raises:
        CardError: a heading is not `## exercise` or `### slug: Title`, or an arrow has a mistake.
    """
    page = {"": [Card()]}
    tokens = MarkdownIt().parse(path.read_text(encoding="utf-8"))
    for position, token in enumerate(tokens):
        exercise = list(page)[-1]
        card = page[exercise][-1]
        try:
            if token.type == "heading_open" and token.tag == "h2":
                name = tokens[position + 1].content
                if name in page:
                    raise ValueError(f"there is a second heading for {name}.")
                page[name] = [Card()]
            elif token.type == "heading_open" and token.tag == "h3":
                slug, colon, title = tokens[position + 1].content.partition(": ")
                if not colon or not slug.isidentifier():
                    raise ValueError("the heading of a card is `### slug: Title.`")
                if slug in [other.slug for other in page[exercise]]:
                    raise ValueError(f"there is a second card {slug}.")
                page[exercise].append(Card(slug, title))
            elif token.type == "fence" and token.info.strip() == "diff":
                card.arrows += read_diff(token.content)
            elif token.type == "fence":
                card.fences.append(_read_fence(token))
            elif token.type == "inline" and tokens[position - 1].type == "paragraph_open":
                if arrow := read_arrow(token):
                    if not card.slug:
                        raise ValueError("an arrow stands below the heading of a card.")
                    card.arrows.append(arrow)
                else:
                    card.hint = f"{card.hint} {' '.join(token.content.split())}".strip()
        except ValueError as error:
            line = (token.map or [0])[0] + 1
            raise CardError(f"{path}, line {line}: {error}") from error
    return page


def read_arrow(paragraph: Token) -> Arrow | None:
    """Return the arrow that a paragraph is, or None if it is text."""
    parts = paragraph.children or []
    if len(parts) == 3 and parts[1].content.strip() in ("->", "=>", "-->"):
        raise ValueError(f"the arrow between two pieces of code is {ARROW.strip()!r}.")
    place = next((i for i, part in enumerate(parts) if ARROW.strip() in part.content), None)
    if place is None or parts[place].type != "text":
        return None
    text, above, below = parts[place].content, parts[:place], parts[place + 1 :]
    old, new = [part.content for part in above[-1:]], [part.content for part in below]
    if text == f"{ARROW}{NOTHING}" and not below:
        new = [""]
    elif text != ARROW:
        return None
    if old == new:
        raise ValueError(f"an arrow must change {old[0]!r}.")
    if len(old) != 1 or above[-1].type != "code_inline" or len(new) != 1:
        return None
    where = above[:-1]
    words = "".join(part.content for part in where if part.type == "text")
    methods = tuple(part.content for part in where if part.type == "code_inline")
    if words not in ("", "Everywhere: ") and not re.fullmatch(r"In (?:, )*(?: and )?: ", words):
        raise ValueError(
            f'an arrow begins with code, "In `method`: " or "Everywhere: ", not {words!r}; if that '
            "is the hint, put an empty line between it and the arrow."
        )
    return Arrow(old[0], new[0], methods, words == "Everywhere: ")


def read_diff(text: str) -> Iterator[Arrow]:
    """Yield the replacements of a fence `diff`; a line `@@` begins another."""
    for hunk in re.split(r"^(?=@@)", text, flags=re.M):
        methods: tuple[str, ...] = ()
        sides: tuple[list[str], list[str]] = ([], [])
        for line in hunk.splitlines():
            if line.startswith("@@"):
                methods = tuple(re.findall(r"\w+", line))
            elif line and line[0] not in "+- ":
                raise ValueError(
                    f"a line of a diff begins with +, - or a blank, not with {line!r}."
                )
            else:
                for sign, side in zip("-+", sides, strict=True):
                    if line[:1] in ("", " ", sign):
                        side.append(line[1:])
        if sides[0]:
            yield Arrow("\n".join(sides[0]), "\n".join(sides[1]), methods, lines=True)


def _read_fence(token: Token) -> Fence:
    language, _, method = token.info.strip().partition(" ")
    if language != "python":
        raise ValueError(f"a fence is `python` or `diff`, not {token.info.strip()!r}.")
    assert token.map is not None
    return Fence(token.content, token.map[0] + 2, method)
