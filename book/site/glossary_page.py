"""The glossary page: terms with their Korean names, and the symbols of the equations.

Both are defined only in ``book/glossary.yml``. ``{terms}`` and ``{symbols}`` show them and add them
to Sphinx's index.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.domains.std import make_glossary_term
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_refnode

MASTER = Path(__file__).resolve().parents[1] / "glossary.yml"
HEAD = "| symbol | meaning | shape | first in |\n| --- | --- | --- | --- |\n"
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Term:
    """A term with its section, definition, Korean names and other English names.

    ``written`` is the section's wording, if that differs from the term.
    """

    term: str
    at: str
    text: str
    korean: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    written: str = ""


@dataclass(frozen=True)
class Symbol:
    """A symbol of the equations in LaTeX, with its typable name, meaning, shape and section."""

    symbol: str
    name: str
    meaning: str
    at: str
    group: str
    shape: str = ""
    elsewhere: str = ""
    written: str = ""


@cache
def _read(changed: float) -> dict[str, Any]:
    master: dict[str, Any] = yaml.safe_load(MASTER.read_text(encoding="utf-8"))
    return master


def list_terms() -> list[Term]:
    """Return the terms in the order of the file."""
    return [
        Term(
            entry["term"],
            entry["at"],
            entry["is"].strip(),
            tuple(entry.get("korean", ())),
            tuple(entry.get("also", ())),
            entry.get("as", ""),
        )
        for entry in _read(MASTER.stat().st_mtime)["terms"]
    ]


def list_symbols() -> list[Symbol]:
    """Return the symbols in the order of the file."""
    return [
        Symbol(
            row["symbol"],
            str(row["name"]),
            row["is"],
            row["at"],
            group["group"],
            row.get("shape", ""),
            row.get("elsewhere", ""),
            row.get("as", row["symbol"]),
        )
        for group in _read(MASTER.stat().st_mtime)["symbols"]
        for row in group["rows"]
    ]


class Korean(nodes.inline):
    """Korean words, marked as such for fonts and screen readers."""


def _visit_korean(self: Any, node: Korean) -> None:
    self.body.append(self.starttag(node, "span", "", lang="ko", CLASS="korean"))


def _depart_korean(self: Any, node: Korean) -> None:
    self.body.append("</span>")


def _pass(self: Any, node: nodes.Node) -> None:
    """Add nothing: other builders write only the content."""


class SectionLink(nodes.Inline, nodes.TextElement):
    """A link to a section of another page; its text is resolved after all pages are read."""


def _section_link(at: str, *, short: bool) -> SectionLink:
    page, _, section = at.partition("#")
    return SectionLink("", "", page=f"book/{page}", section=section, short=short)


class ResolveSectionLinks(SphinxPostTransform):
    """Replaces section links by references, and warns about missing sections."""

    default_priority = 5

    def run(self, **kwargs: Any) -> None:
        """Replace all section links of the page."""
        for node in list(self.document.findall(SectionLink)):
            node.replace_self(self._reference(node["page"], node["section"], node["short"]))

    def _reference(self, page: str, section: str, short: bool) -> nodes.Node:
        number = re.match(r"book/(\d\d)_", page)
        chapter = self.env.titles[page].astext() if page in self.env.titles else page
        name = f"Chapter {int(number[1])}" if number else chapter
        if page not in self.env.found_docs:  # a partial build
            return nodes.inline("", name)
        title = self._title(page, section)
        if title is None:
            logger.warning("%s has no section %r", page, section, location=self.env.docname)
            return nodes.inline("", name)
        words = name if short else f"{name}: {title}"
        builder = self.app.builder
        return make_refnode(builder, self.env.docname, page, section, nodes.inline("", words))

    def _title(self, page: str, section: str) -> str | None:
        for reference in self.env.tocs[page].findall(nodes.reference):
            if reference["anchorname"] == f"#{section}":
                return reference.astext()
        return None


class Terms(SphinxDirective):
    """``{terms}``: all terms as Sphinx's own glossary, so that ``{term}`` links to them."""

    def run(self) -> list[nodes.Node]:
        """Return the glossary node."""
        self.env.note_dependency(str(MASTER))
        listed = nodes.definition_list(classes=["simple", "glossary"])
        for entry in list_terms():
            listed += self._item(entry)
        return [addnodes.glossary("", listed, sorted=False)]

    def _item(self, entry: Term) -> nodes.definition_list_item:
        source, line = self.get_source_info()
        words = [nodes.Text(entry.term)]
        term = make_glossary_term(self.env, words, None, source, line, None, self.state.document)
        names = [("single", name, term["ids"][0], "main", None) for name in entry.korean]
        names += [("single", name, term["ids"][0], "", None) for name in entry.also]
        term.insert(0, addnodes.index(entries=names))
        definition = nodes.definition()
        if entry.korean:
            term += [nodes.Text(" "), Korean("", ", ".join(entry.korean))]
        definition += self.parse_text_to_nodes(entry.text)
        definition[-1] += [nodes.Text(" "), _section_link(entry.at, short=False)]
        return nodes.definition_list_item("", term, definition)


class Symbols(SphinxDirective):
    """``{symbols}`` with a group's name: its symbols as a table, with an anchor for each row."""

    has_content = False
    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Make the table, then add the anchors, index entries and links of its rows."""
        self.env.note_dependency(str(MASTER))
        chosen = [entry for entry in list_symbols() if entry.group == self.arguments[0]]
        if not chosen:
            raise self.error(f"glossary.yml has no group of symbols {self.arguments[0]!r}")
        made = self.parse_text_to_nodes(HEAD + "".join(map(self._line, chosen)))
        body = next(made[0].findall(nodes.tbody))
        for row, entry in zip(body, chosen, strict=True):
            number = [s.name for s in list_symbols()].index(entry.name) + 1
            row["ids"].append(f"symbol-{number}")
            index = addnodes.index(entries=list_entries(entry, row["ids"][0]))
            row[0].insert(0, index)
            row[3].clear()
            row[3] += nodes.paragraph("", "", _section_link(entry.at, short=True))
        return made

    def _line(self, entry: Symbol) -> str:
        more = f". *Elsewhere:* {entry.elsewhere}" if entry.elsewhere else ""
        shape = f"${entry.shape}$" if entry.shape else ""
        return f"| ${entry.symbol}$ | {entry.meaning}{more} | {shape} | |\n"


def list_entries(entry: Symbol, address: str) -> list[tuple[str, str, str, str, None]]:
    """Return the index entries of a symbol: its typable names, each with its meaning below."""
    names = [entry.name] if "[" in entry.name else entry.name.split()
    meaning = re.sub(r"[$`\\{}]", "", entry.meaning).replace(";", ",")
    return [("single", f"{name.replace(';', ',')}; {meaning}", address, "", None) for name in names]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the two directives and the section links."""
    app.add_node(
        Korean, html=(_visit_korean, _depart_korean), latex=(_pass, _pass), text=(_pass, _pass)
    )
    app.add_directive("terms", Terms)
    app.add_directive("symbols", Symbols)
    app.add_post_transform(ResolveSectionLinks)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
