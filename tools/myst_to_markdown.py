"""Converter from a page's MyST to plain Markdown, which every notebook program can show.

It supports only what the chapters use. Anything else is an error, so that no raw directive is
published.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from pybtex.backends.markdown import Backend
from pybtex.database import parse_file

from book.site.author_year_citations import AuthorYearStyle, read_labels
from book.site.exercise_lists import list_notebooks
from book.site.explorer_tasks import split_answer
from book.site.recorded import cite_result, show_provenance
from book.site.solution_code import show_solution

_FENCE = re.compile(r"(?P<fence>`{3,}|:{3,}|~{3,})(?:\{(?P<name>[\w-]+)\}[ ]*(?P<argument>.*)|.*)")
_ROLE = re.compile(r"\{(?P<name>[a-z:]+)\}`(?P<text>[^`]+)`")
_LINK = re.compile(r"(?<!!)\[(?P<text>[^\[\]]*)\]\((?P<target>[^()\s]+)\)")
_MARK = re.compile(r"\[([ xX])\]\s+")
_OPTION = re.compile(r":[\w-]+:.*")
_ADMONITIONS = ("note", "tip", "important", "warning", "admonition", "seealso")
Directive = Callable[[str, list[str]], list[str]]


def citation(keys: str, kind: str) -> str:
    """Return the text of a citation: "Yang et al. (2016)", or "(Yang et al., 2016)"."""
    names = [read_labels()[key.strip().lower()] for key in keys.split(",")]
    if kind == "cite:p":
        return f"({'; '.join(names)})"
    return ", ".join("{} ({})".format(*name.rsplit(", ", 1)) for name in names)


def references(keys: Collection[str], bibliography: Path) -> list[str]:
    """Return the cited works as lines of Markdown, in the order of the book's bibliography."""
    works = read_works(bibliography)
    cited = {key.lower() for key in keys}
    return [f"* {text}" for key, text in works.items() if key in cited]


@cache
def read_works(bibliography: Path) -> dict[str, str]:
    """Return all works of the bibliography as Markdown by key, in the order of the book's lists."""
    works = AuthorYearStyle().format_bibliography(parse_file(str(bibliography)))
    backend = Backend()
    return {entry.key.lower(): entry.text.render(backend) for entry in works}


class PlainMarkdown:
    """Converts the text cells of one page.

    Args:
        page: path of the page, such as book/07_han, for messages and links.
        titles: titles of the pages that are notebooks too, by path without extension; links to
            other pages become plain text.
        bibliography: path of references.bib.
    """

    def __init__(self, page: str, titles: Mapping[str, str], bibliography: Path) -> None:
        self.page, self.titles, self.bibliography = page, titles, bibliography
        self.cited: dict[str, None] = {}  # in the order of the text

    def convert(self, text: str) -> str:
        """Return a text cell as plain Markdown.

        Raises:
            ValueError: it contains unsupported syntax.
        """
        return "\n".join(self._blocks(text.split("\n")))

    def _blocks(self, lines: list[str]) -> list[str]:
        converted: list[str] = []
        i = 0
        while i < len(lines):
            start = _FENCE.fullmatch(lines[i])
            if start is None:
                converted.append(lines[i])
                i += 1
                continue
            fence = start["fence"]
            end = i + 1
            closing = re.compile(re.escape(fence[0]) + f"{{{len(fence)},}}\\s*")
            while end < len(lines) and not closing.fullmatch(lines[end]):
                end += 1
            if end == len(lines):
                raise ValueError(f"{self.page}: {lines[i]!r} is never closed.")
            body = lines[i + 1 : end]
            if start["name"] is None:  # a code block, left unchanged
                converted += lines[i : end + 1]
            else:
                # Convert the text above first: a bibliography needs all citations above it.
                converted = self._inline(converted)
                converted += self._directive(start["name"], start["argument"], body)
            i = end + 1
        return self._inline(converted)

    def _directive(self, name: str, argument: str, body: list[str]) -> list[str]:
        if name == "slides":
            return []  # only the site shows them
        if name == "bibliography":
            return references(list(self.cited), self.bibliography)
        while body and (_OPTION.fullmatch(body[0]) or not body[0].strip()):
            body = body[1:]
        if name == "exercises":
            return self._blocks(list_notebooks(argument).split("\n"))
        if name == "solution":
            return self._blocks(show_solution(*argument.split()).split("\n"))
        if name == "provenance":
            return self._blocks(show_provenance(*argument.split()).split("\n"))
        if name == "code-block":
            return [f"```{argument}", *body, "```"]
        if name == "try":
            task, answer = split_answer(body)
            folded = fold("Predict first. What happens?", self._blocks(answer))
            return [*self._blocks(task), *self._inline(folded)]
        if name in ("choice", "number"):
            return self._question(name, argument, body)
        inner = self._blocks(body)
        if name == "dropdown":
            return fold(self._inline([argument])[0], inner)
        if name in _ADMONITIONS:
            title = argument or name.capitalize()
            return [f"> **{title}.**", *(f"> {line}".rstrip() for line in inner)]
        raise ValueError(
            f"{self.page}: myst_to_markdown.py does not support the directive {{{name}}}."
        )

    def _question(self, kind: str, question: str, body: list[str]) -> list[str]:
        """Return a question (see book/site/questions.py) with its answer folded below it."""
        first = next((i for i, line in enumerate(body) if _MARK.match(line)), len(body))
        offered: list[str] = []
        reasons: list[str] = []
        for line in body[first:]:
            mark = _MARK.match(line)
            if mark:
                option = line[mark.end() :]
                offered.append(f"* {option}")
                reasons += ["", f"**{'✓' if mark[1] in 'xX' else '✗'} {option}**"]
            elif line.strip():
                reasons += ["", re.sub(r"^:\s+", "", line)] if line[0] == ":" else [line.strip()]
        shown = [f"**{question}**"]
        more = "\n".join(self._blocks(body[:first])).strip()
        if more:
            shown += ["", *more.split("\n")]
        if kind == "choice":
            shown += ["", *offered]
        return self._inline([*shown, "", *fold("Answer", reasons[1:])])

    def _inline(self, lines: list[str]) -> list[str]:
        """Return lines with roles and links converted; code is left unchanged."""
        if not lines:
            return []
        text = "\n".join(lines)
        parts = re.split(r"(^(?:`{3,}|~{3,})[\s\S]*?^(?:`{3,}|~{3,})\s*$)", text, flags=re.M)
        for i in range(0, len(parts), 2):
            parts[i] = _LINK.sub(self._link, _ROLE.sub(self._role, parts[i]))
        return "".join(parts).split("\n")

    def _role(self, role: re.Match[str]) -> str:
        name, text = role["name"], role["text"]
        if name in ("cite:p", "cite:t"):
            self.cited |= dict.fromkeys(key.strip() for key in text.split(","))
            return citation(text, name)
        if name == "term":
            return re.sub(r"\s*<[^<>]*>$", "", text)
        if name == "recorded":
            return cite_result(text)
        raise ValueError(f"{self.page}: myst_to_markdown.py does not support the role {{{name}}}.")

    def _link(self, link: re.Match[str]) -> str:
        target, _, _anchor = link["target"].partition("#")
        if "://" in target or not target.endswith((".md", ".ipynb")):
            return link[0] if target else link["text"]
        folder = Path(self.page).parent
        path = _normal(folder / target)
        words = link["text"] or self.titles.get(path, Path(path).name.replace("_", " "))
        if path not in self.titles:
            return words
        return f"[{words}]({target.removesuffix('.md').removesuffix('.ipynb')}.ipynb)"


def fold(summary: str, body: list[str]) -> list[str]:
    """Return a collapsible block: a summary line to click on, with the body behind it."""
    summary = re.sub(r"`([^`]+)`", lambda code: f"<code>{escape(code[1])}</code>", summary)
    return [f"<details><summary>{summary}</summary>", "", *body, "", "</details>"]


def _normal(path: Path) -> str:
    parts: list[Any] = []
    for part in path.with_suffix("").parts:
        parts = parts[:-1] if part == ".." else [*parts, part]
    return "/".join(parts)
