"""The general index: where terms are introduced, where exercises and papers are to be found.

Nothing of it is typed into the pages. Terms come from ``glossary.yml``, exercises from the headings
of their notebooks, papers from ``coursekit.timeline``.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from glossary_terms import MASTER, terms
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.transforms import SphinxTransform

import coursekit.timeline

APPENDIX = "Appendix"
# Sphinx files a Korean word under its first consonant, a letter made for the inside of syllables.
CONSONANTS = dict(
    zip(map(chr, range(0x1100, 0x1113)), "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ", strict=True)
)


class IndexSections(SphinxTransform):
    """Puts index entries at the sections of chapters and of exercises' notebooks."""

    default_priority = 500  # after the tables of contents are inserted, before the index is read

    def apply(self, **kwargs: Any) -> None:
        """Add the entries of this page."""
        page = self.env.docname
        found: dict[str, list[str]] = {}
        if page.startswith("exercises/"):
            found = _exercises(self.document)
        elif page.startswith("book/"):
            found = _introduced(page)
            self.env.note_dependency(str(MASTER))
            papers = _papers(page)
            if papers:
                self.env.note_dependency(str(Path(coursekit.timeline.__file__)))
                top = next(self.document.findall(nodes.section))
                found.setdefault(top["ids"][0], []).extend(papers)
        for section in self.document.findall(nodes.section):
            names = [name for address in section["ids"] for name in found.get(address, ())]
            if names:
                entries = [("single", name, section["ids"][0], "main", None) for name in names]
                section.insert(1, addnodes.index(entries=entries))


def _introduced(page: str) -> dict[str, list[str]]:
    """Return the terms that a chapter introduces, by section."""
    found: dict[str, list[str]] = {}
    for entry in terms():
        where, _, section = entry.at.partition("#")
        if f"book/{where}" == page:
            found.setdefault(section, []).append(entry.term)
    return found


def _exercises(document: nodes.document) -> dict[str, list[str]]:
    """Return the exercises of a notebook: headings that are one name in code."""
    return {
        section["ids"][0]: [section[0].astext()]
        for section in document.findall(nodes.section)
        if [type(child) for child in section[0].children] == [nodes.literal]
    }


def _papers(page: str) -> list[str]:
    """Return the papers that a chapter follows, each with its idea below it."""
    return [
        f"{entry.authors} ({entry.venue.replace('(', '').replace(')', '')}); {entry.idea}"
        for entry in coursekit.timeline.ENTRIES
        if f"book/{entry.chapter}" == page
    ]


def add_to_contents(app: Sphinx, document: nodes.document) -> None:
    """Put the index last in the table of contents' appendix; ``_toc.yml`` can only name files."""
    for tree in document.findall(addnodes.toctree):
        if tree["caption"] == APPENDIX and ("Index", "genindex") not in tree["entries"]:
            tree["entries"].append(("Index", "genindex"))


def name_the_pages(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """On the index's page, give each entry its places by their pages' titles."""
    if page != "genindex":
        return
    titles = {app.builder.get_target_uri(name): name for name in app.env.found_docs}

    def places(links: list[tuple[str, str]]) -> list[dict[str, str]]:
        named = []
        for _, address in links:
            name = titles.get(address.partition("#")[0], "")
            named.append({"address": address, "page": app.env.titles[name].astext()})
        return named

    context["letters"] = [
        {
            "letter": CONSONANTS.get(letter, letter),
            "entries": [
                {
                    "name": name,
                    "korean": re.search("[가-힣]", name) is not None,
                    "places": places(links),
                    "below": [{"name": n, "places": places(found)} for n, found in below],
                }
                for name, (links, below, _) in entries
            ],
        }
        for letter, entries in context["genindexentries"]
    ]


def find_the_template(app: Sphinx, config: Config) -> None:
    """Have Sphinx look for the index's template among ours."""
    folder = Path(__file__).parent / "templates"
    config.templates_path = [*config.templates_path, str(folder)]  # type: ignore[attr-defined]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the transform, the entry in the contents and the page."""
    app.add_transform(IndexSections)
    app.connect("config-inited", find_the_template)
    app.connect("doctree-read", add_to_contents, priority=100)  # before the contents are collected
    app.connect("html-page-context", name_the_pages)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
