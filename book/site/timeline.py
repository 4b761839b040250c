"""Sphinx extension for the timeline of the papers, a drawing with a list below it."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import coursekit.data.papers
from coursekit.data.papers import LATER_PAPERS, PAPERS

LATER = ("brown2020", "hu2022", "gu2024")  # the later papers that the last card names


@dataclass(frozen=True)
class Card:
    """One entry of the timeline: a paper, or all later papers together."""

    date: str  # a word and a year, such as "Sep 2014"
    idea: str
    authors: str
    venue: str
    chapter: str

    @property
    def reference(self) -> str:
        """Authors and venue, such as "Bahdanau et al., ICLR 2015"."""
        return f"{self.authors}, {self.venue}"


def make_cards() -> list[Card]:
    """Return a card for each paper, and one for the papers of the last chapter."""
    cards = [Card(p.date, p.idea, p.authors, p.venue, p.chapter) for p in PAPERS]
    named = ", ".join(paper.idea for paper in LATER_PAPERS if paper.key in LATER)
    return [
        *cards,
        Card(
            date=f"since {LATER_PAPERS[0].appeared.year}",
            idea="What came after",
            authors=named,
            venue=f"and {len(LATER_PAPERS) - len(LATER)} more",
            chapter=LATER_PAPERS[0].chapter,
        ),
    ]


class TimelineFigure(nodes.General, nodes.Element):
    """The timeline as a figure, drawn when the page is written, because it links to pages."""


class Timeline(SphinxDirective):
    """``{timeline}``: the papers of ``coursekit.data.papers`` as a figure with a list below it.

    An entry is a link if its chapter is in ``_toc.yml``, and "planned" otherwise.
    """

    def run(self) -> list[nodes.Node]:
        """Return the figure's node and the list, and register their dependencies."""
        self.env.note_dependency(str(Path(coursekit.data.papers.__file__)))
        self.env.note_dependency(str(Path(self.env.srcdir) / "_toc.yml"))
        folder = Path(self.env.docname).parent
        written = {card.chapter for card in make_cards() if self._exists(folder, card)}
        figure = TimelineFigure(folder=folder.as_posix(), written=sorted(written))
        lines = ["````{dropdown} The same as a list"]
        for entry in PAPERS:
            number = int(entry.chapter[:2])
            where = f"Chapter {number} (planned)."
            if entry.chapter in written:
                where = f"[Chapter {number}](/{folder.as_posix()}/{entry.chapter}.md)."
            lines.append(
                f"- {entry.idea}: {{cite:t}}`{entry.key}`, {entry.venue}; "
                f"first {entry.first_appearance}. {where}"
            )
        first, last = LATER_PAPERS[0], LATER_PAPERS[-1]
        if first.chapter in written:
            lines.append(
                f"- {len(LATER_PAPERS)} papers from {first.appeared.year} to {last.appeared.year}: "
                f"[Chapter {int(first.chapter[:2])}](/{folder.as_posix()}/{first.chapter}.md)."
            )
        lines.append("````")
        return [figure, *self.parse_text_to_nodes("\n".join(lines))]

    def _exists(self, folder: Path, entry: Card) -> bool:
        return (folder / entry.chapter).as_posix() in self.env.found_docs


def visit_timeline(self: Any, node: TimelineFigure) -> None:
    """Write both drawings of the timeline; the stylesheet shows the one that fits."""
    links = {
        name: self.builder.get_relative_uri(
            self.builder.current_docname, f"{node['folder']}/{name}"
        )
        for name in node["written"]
    }
    cards = make_cards()
    drawings = wide_drawing(cards, links) + narrow_drawing(cards, links)
    self.body.append(f'<figure class="course-timeline">{drawings}</figure>\n')
    raise nodes.SkipNode


def skip_timeline(self: Any, node: TimelineFigure) -> None:
    """Omit the figure in formats other than HTML; the list below it has the same content."""
    raise nodes.SkipNode


def wide_drawing(entries: list[Card], links: dict[str, str]) -> str:
    """Return the timeline from left to right, with cards alternately above and below it."""
    pitch, half, height, axis = 84, 80, 118, 152
    width = pitch * (len(entries) - 1) + 2 * half + 4
    parts = [f'<path class="axis" d="M2 {axis}H{width - 2}"/>']
    for i, entry in enumerate(entries):
        x = half + 2 + i * pitch
        top = 12 if i % 2 == 0 else axis + 34
        stem = f"M{x} {axis}V{top + height if i % 2 == 0 else top}"
        left = x - half + 10
        idea = textwrap.wrap(entry.idea, 15)  # at most two lines, whatever the reader's font
        lines = [
            _text(left, top + 20, entry.date, "date"),
            *(_text(left, top + 40 + 17 * k, words, "idea") for k, words in enumerate(idea)),
            _text(left, top + 75, entry.authors, "small"),
            _text(left, top + 91, entry.venue, "small"),
            _text(left, top + 109, _chapter(entry, links), "chapter"),
        ]
        box = f'<rect x="{x - half}" y="{top}" width="{2 * half - 2}" height="{height}" rx="6"/>'
        marks = f'<path class="stem" d="{stem}"/><circle cx="{x}" cy="{axis}" r="5"/>'
        parts.append(_entry(entry, links, marks + box + "".join(lines)))
    return _svg("wide", width, 2 * axis, parts, entries)


def narrow_drawing(entries: list[Card], links: dict[str, str]) -> str:
    """Return the timeline from top to bottom, for a phone."""
    pitch, width, line = 78, 350, 62
    height = pitch * len(entries)
    parts = [f'<path class="axis" d="M{line} 10V{height - 10}"/>']
    for i, entry in enumerate(entries):
        y = i * pitch
        month, year = entry.date.split()
        lines = [
            _text(4, y + 32, month, "small"),
            _text(4, y + 49, year, "date"),
            _text(line + 24, y + 23, entry.idea, "idea"),
            _text(line + 24, y + 42, entry.reference, "small"),
            _text(line + 24, y + 60, _chapter(entry, links), "chapter"),
        ]
        box = (
            f'<rect x="{line + 14}" y="{y + 4}" width="{width - line - 16}" '
            f'height="{pitch - 10}" rx="6"/>'
        )
        marks = f'<circle cx="{line}" cy="{y + 39}" r="5"/>'
        parts.append(_entry(entry, links, marks + box + "".join(lines)))
    return _svg("narrow", width, height, parts, entries)


def _chapter(entry: Card, links: dict[str, str]) -> str:
    number = int(entry.chapter[:2])
    return f"Chapter {number} →" if entry.chapter in links else f"Chapter {number}, planned"


def _text(x: float, y: float, words: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x}" y="{y}">{escape(words)}</text>'


def _entry(entry: Card, links: dict[str, str], drawing: str) -> str:
    if entry.chapter not in links:
        return f'<g class="planned">{drawing}</g>'
    label = f"Chapter {int(entry.chapter[:2])}: {entry.idea}, {entry.reference}, {entry.date}"
    href = escape(links[entry.chapter], quote=True)
    return (
        f'<a class="written" href="{href}" aria-label="{escape(label, quote=True)}">{drawing}</a>'
    )


def _svg(kind: str, width: float, height: float, parts: list[str], entries: list[Card]) -> str:
    first = entries[0].date.split()[1]
    description = "; ".join(f"{e.date}: {e.idea}, {e.reference}" for e in entries)
    return (
        f'<svg class="{kind}" viewBox="0 0 {width} {height}" role="group" '
        f'aria-labelledby="timeline-{kind}-title timeline-{kind}-text">'
        f'<title id="timeline-{kind}-title">The papers of the course, since {first}</title>'
        f'<desc id="timeline-{kind}-text">{escape(description)}.</desc>'
        f"{''.join(parts)}</svg>"
    )


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_node(
        TimelineFigure,
        html=(visit_timeline, None),
        latex=(skip_timeline, None),
        text=(skip_timeline, None),
    )
    app.add_directive("timeline", Timeline)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
