"""Sphinx extension for the timeline, author-year citations, and scripts from our own site only."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass, field
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import pybtex.plugin
import pydata_sphinx_theme
from docutils import nodes
from pybtex.database import parse_file
from pybtex.style.formatting.unsrt import Style as UnsortedStyle
from pybtex.style.labels import BaseLabelStyle
from pybtex.style.sorting.author_year_title import SortingStyle
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinxcontrib.bibtex.plugin import register_plugin as register_bibtex_plugin
from sphinxcontrib.bibtex.style.referencing import BracketStyle
from sphinxcontrib.bibtex.style.referencing.author_year import AuthorYearReferenceStyle

import coursekit.data.papers
from coursekit.data.papers import PAPERS, Paper


def _round() -> BracketStyle:
    return BracketStyle(left="(", right=")", sep="; ")


@dataclass
class AuthorYearRound(AuthorYearReferenceStyle):
    """Citations as in (Bahdanau et al., 2015) and Bahdanau et al. (2015)."""

    bracket_textual: BracketStyle = field(default_factory=_round)
    bracket_parenthetical: BracketStyle = field(default_factory=_round)


class AuthorYearLabels(BaseLabelStyle):
    """Labels such as "Bahdanau et al., 2015", with the same text as the citations."""

    def format_labels(self, sorted_entries: Any) -> Any:
        """Yield the label of each entry, the same on every page; a second equal label gets a b."""
        for entry in sorted_entries:
            yield read_labels()[entry.key.lower()]


def _label(entry: Any) -> str:
    people = [" ".join(p.prelast_names + p.last_names) for p in entry.persons["author"]]
    who = people[0] if len(people) == 1 else " and ".join(people)
    if len(people) > 2:
        who = f"{people[0]} et al."
    return f"{who}, {entry.fields['year']}"


@cache
def read_labels() -> dict[str, str]:
    """Return the labels of all works by key; a single page's list does not know all works."""
    works = parse_file(str(Path(__file__).parents[1] / "references.bib")).entries.values()
    seen: dict[str, int] = {}
    labels: dict[str, str] = {}
    for entry in SortingStyle().sort(works):
        label = _label(entry)
        seen[label] = seen.get(label, 0) + 1
        labels[entry.key.lower()] = label + (
            "" if seen[label] == 1 else "abcdefgh"[seen[label] - 1]
        )
    return labels


class AuthorYearStyle(UnsortedStyle):
    """The bibliography: sorted by author and year, labelled like the citations."""

    default_label_style = AuthorYearLabels
    default_sorting_style = SortingStyle


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
        written = {e.chapter for e in PAPERS if self._exists(folder, e)}
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
        lines.append("````")
        return [figure, *self.parse_text_to_nodes("\n".join(lines))]

    def _exists(self, folder: Path, entry: Paper) -> bool:
        return (folder / entry.chapter).as_posix() in self.env.found_docs


def visit_timeline(self: Any, node: TimelineFigure) -> None:
    """Write both drawings of the timeline; the stylesheet shows the one that fits."""
    links = {
        name: self.builder.get_relative_uri(
            self.builder.current_docname, f"{node['folder']}/{name}"
        )
        for name in node["written"]
    }
    drawings = wide_drawing(PAPERS, links) + narrow_drawing(PAPERS, links)
    self.body.append(f'<figure class="course-timeline">{drawings}</figure>\n')
    raise nodes.SkipNode


def skip_timeline(self: Any, node: TimelineFigure) -> None:
    """Omit the figure in formats other than HTML; the list below it has the same content."""
    raise nodes.SkipNode


def wide_drawing(entries: tuple[Paper, ...], links: dict[str, str]) -> str:
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


def narrow_drawing(entries: tuple[Paper, ...], links: dict[str, str]) -> str:
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


def _chapter(entry: Paper, links: dict[str, str]) -> str:
    number = int(entry.chapter[:2])
    return f"Chapter {number} →" if entry.chapter in links else f"Chapter {number}, planned"


def _text(x: float, y: float, words: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x}" y="{y}">{escape(words)}</text>'


def _entry(entry: Paper, links: dict[str, str], drawing: str) -> str:
    if entry.chapter not in links:
        return f'<g class="planned">{drawing}</g>'
    label = f"Chapter {int(entry.chapter[:2])}: {entry.idea}, {entry.reference}, {entry.date}"
    href = escape(links[entry.chapter], quote=True)
    return (
        f'<a class="written" href="{href}" aria-label="{escape(label, quote=True)}">{drawing}</a>'
    )


def _svg(
    kind: str, width: float, height: float, parts: list[str], entries: tuple[Paper, ...]
) -> str:
    first, last = entries[0].appeared.year, entries[-1].appeared.year
    description = "; ".join(f"{e.date}: {e.idea}, {e.reference}" for e in entries)
    return (
        f'<svg class="{kind}" viewBox="0 0 {width} {height}" role="group" '
        f'aria-labelledby="timeline-{kind}-title timeline-{kind}-text">'
        f'<title id="timeline-{kind}-title">Attention from {first} to {last}</title>'
        f'<desc id="timeline-{kind}-text">{escape(description)}.</desc>'
        f"{''.join(parts)}</svg>"
    )


def keep_scripts_our_own(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Drop unneeded scripts from a page: sphinx-thebe, and MathJax if it has no equations.

    Jupyter Book always adds sphinx-thebe, which refers to an external host. Sphinx adds MathJax to
    a page if any page below it in the table of contents has equations, and so to the landing page.
    """
    equations = app.env.get_domain("math").data["has_equations"].get(page, False)

    def wanted(asset: Any) -> bool:
        name = str(getattr(asset, "filename", asset) or "")
        body = str(getattr(asset, "attributes", {}).get("body", ""))
        if "mathjax" in name.lower() or "MathJax" in body:
            return equations
        return "thebe" not in name and "THEBE_JS_URL" not in body

    context["script_files"] = list(filter(wanted, context["script_files"]))
    context["css_files"] = list(filter(wanted, context["css_files"]))


_ICON = re.compile(
    r'(?:"([a-z0-9-]+)"|([a-z0-9]+)):'  # its name
    r'\[\d+,\d+,\[([^\]]*)\],"[0-9a-f]+",(?:"[^"]*"|\["[^"]*","[^"]*"\])\],?'  # aliases, shape
)


def keep_icons_in_use(app: Sphinx, error: Exception | None) -> None:
    """Reduce the theme's Font Awesome to the icons that the pages use: 17 kB of 540 kB."""
    if error is not None or app.builder.format != "html":
        return
    original = Path(pydata_sphinx_theme.__file__).parent.joinpath(
        "theme/pydata_sphinx_theme/static/scripts/fontawesome.js"
    )
    out = Path(app.outdir)
    users = [*out.rglob("*.html"), *(out / "_static").glob("*.js")]
    users += [p for p in (out / "_static" / "scripts").glob("*.js") if p.name != original.name]
    used: set[str] = set()
    for path in users:
        used.update(re.findall(r"\bfa-([a-z0-9-]+)", path.read_text(encoding="utf-8")))

    def keep(icon: re.Match[str]) -> str:
        names = {icon[1] or icon[2], *re.findall(r'"([^"]+)"', icon[3])}
        return icon[0] if names & used else ""

    # A list without its last entries ends in a comma, which JavaScript allows.
    small = _ICON.sub(keep, original.read_text(encoding="utf-8"))
    (out / "_static" / "scripts" / original.name).write_text(small, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive, the bibliography's style and the build steps."""
    pybtex.plugin.register_plugin("pybtex.style.formatting", "author_year_labels", AuthorYearStyle)
    register_bibtex_plugin(
        "sphinxcontrib.bibtex.style.referencing", "author_year_round", AuthorYearRound
    )
    app.add_node(
        TimelineFigure,
        html=(visit_timeline, None),
        latex=(skip_timeline, None),
        text=(skip_timeline, None),
    )
    app.add_directive("timeline", Timeline)
    app.connect("html-page-context", keep_scripts_our_own, priority=900)
    app.connect("build-finished", keep_icons_in_use)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
