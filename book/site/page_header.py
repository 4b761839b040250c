"""The generated header below the title of a chapter, of its exercises or of an appendix with code.

A chapter states what it `needs` (chapters) or `assumes` (words) in its first lines. Everything else
is computed: the reading time, the exercises with their minutes, the launch links.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import nbformat
from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from book.site.launch_links import (
    ROOT,
    Chapter,
    binder,
    clone_address,
    colab,
    find_repository,
    is_exercise,
    list_appendices,
    list_chapters,
    site_address,
    source,
)

WORDS = 220  # words read per minute
EQUATION, FIGURE, CODE_LINE = 15, 20, 2  # seconds
WITHOUT_ADDRESS = "/book/how_to_use"
logger = logging.getLogger(__name__)


def count_reading_minutes(document: nodes.document) -> int:
    """Return the reading time of a page in minutes, rounded up to a multiple of five.

    Prose counts 220 words a minute, a displayed equation 15 seconds, a figure 20, and a visible
    line of code 2; the output of cells counts as prose.
    """
    words = seconds = 0
    for node in document.findall():
        if isinstance(node, nodes.math_block):
            seconds += EQUATION
        elif isinstance(node, nodes.image):
            seconds += FIGURE
        elif isinstance(node, nodes.literal_block):
            cell = _cell(node)
            hidden = cell is not None and cell.get("hide_mode") in ("input", "all")
            shown = [] if hidden else node.astext().splitlines()
            seconds += CODE_LINE * sum(bool(line.strip()) for line in shown)
        elif isinstance(node, nodes.Text) and not _in_block(node):
            words += len(node.split())
    return 5 * math.ceil((words / WORDS + seconds / 60) / 5)


def _cell(node: nodes.Node) -> Any:
    while node is not None and not (isinstance(node, nodes.container) and "nb_element" in node):
        node = node.parent
    return node


def _in_block(node: nodes.Node) -> bool:
    return any(
        isinstance(n, nodes.literal_block | nodes.math_block | nodes.math | nodes.raw)
        for n in (node.parent, node.parent.parent)
    )


def read_exercise_minutes(notebook: Path) -> dict[str, int]:
    """Return the exercises of a notebook with their minutes, from its first table."""
    title = nbformat.read(notebook, 4).cells[0].source
    rows = re.findall(r"^\| `(\w+)`.*\| (\d+) \|$", title, re.M)
    if not rows:
        raise ValueError(f"{notebook}: the title has no table of exercises with their minutes.")
    return {name: int(minutes) for name, minutes in rows}


def add_head(app: Sphinx, document: nodes.document) -> None:
    """Insert the header below the title of a page that opens as a notebook."""
    page = app.env.docname
    facts = _state_facts(app, document, page)
    if facts is None:
        return
    title = next(document.findall(nodes.title))
    head = nodes.container(classes=["course-head"])
    head += [_line(facts, "facts"), _line(list_places(page), "places")]
    section = title.parent
    section.insert(section.index(title) + 1, head)


def _state_facts(app: Sphinx, document: nodes.document, page: str) -> list[list[Any]] | None:
    root = Path(app.srcdir)
    for chapter in list_chapters(root):
        if page == chapter.page:
            return _chapter_facts(app, document, chapter)
        if page in chapter.exercises:
            return _exercise_facts(app, page, chapter)
    if page in list_appendices(root):
        return [["Appendix"], [f"{count_reading_minutes(document)} minutes to read"]]
    return None


def _chapter_facts(app: Sphinx, document: nodes.document, chapter: Chapter) -> list[list[Any]]:
    said = app.env.metadata[chapter.page]
    facts: list[list[Any]] = [
        [f"Chapter {chapter.number}"],
        [f"{count_reading_minutes(document)} minutes to read"],
    ]
    needs = [name.strip() for name in str(said.get("needs", "")).strip("[]").split(",")]
    needs = [name.strip("'\" ") for name in needs if name]
    if needs:
        links: list[Any] = ["needs "]
        for i, name in enumerate(needs):
            if i:
                links.append(" and " if i == len(needs) - 1 else ", ")
            links.append(_page(f"/book/{name}", f"Chapter {int(name[:2])}"))
        facts.append(links)
    elif said.get("assumes"):
        facts.append([f"you know {said['assumes']}"])
    else:
        logger.warning("say what the chapter `needs` or `assumes`", location=chapter.page)
    if chapter.exercises:
        links = ["exercises: "]
        for i, name in enumerate(chapter.exercises):
            minutes = sum(read_exercise_minutes(Path(app.srcdir, f"{name}.ipynb")).values())
            links += [", " if i else "", _page(f"/{name}", Path(name).name.replace("_", " "))]
            links.append(f" ({minutes} min)")
        facts.append(links)
    else:
        facts.append(["no exercises"])
    return facts


def _exercise_facts(app: Sphinx, page: str, chapter: Chapter) -> list[list[Any]]:
    minutes = read_exercise_minutes(Path(app.srcdir, f"{page}.ipynb"))
    count = f"{len(minutes)} exercise{'s' if len(minutes) > 1 else ''}"
    return [
        [f"{count}, about {sum(minutes.values())} minutes"],
        ["belongs to ", _page(f"/{chapter.page}", f"Chapter {chapter.number}")],
    ]


def list_places(page: str) -> list[list[Any]]:
    """Return the links that open a page, as parts of a line."""
    notebook, known = f"{page}.ipynb", find_repository(ROOT)
    master = notebook if is_exercise(page) else f"{page}.md"
    here = _download(page)
    if known is None:
        where = [_page(WITHOUT_ADDRESS, f"Open in {place}") for place in ("Colab", "Binder")]
        return [[link] for link in (*where, here)]
    return [
        [_link("Open in Colab", colab(known, notebook))],
        [_link("Open in Binder", binder(known, notebook))],
        [here],
        [_link("Source", source(known, master))],
    ]


def _line(parts: list[list[Any]], kind: str) -> nodes.bullet_list:
    """Return a list whose entries are shown side by side."""
    line = nodes.bullet_list(classes=[kind], bullet="*")
    for part in parts:
        paragraph = nodes.paragraph()
        paragraph += [nodes.Text(p) if isinstance(p, str) else p for p in part if p != ""]
        line += nodes.list_item("", paragraph)
    return line


def _page(target: str, words: str) -> nodes.Node:
    inner = nodes.inline("", words)
    return addnodes.pending_xref(
        "", inner, refdomain="std", reftype="doc", reftarget=target, refexplicit=True, refwarn=True
    )


def _link(words: str, address: str) -> nodes.Node:
    return nodes.reference("", words, refuri=address, internal=False)


def _download(page: str) -> nodes.Node:
    """Return a link to the notebook on the site itself, written by tools/build_site.py."""
    up = "../" * page.count("/")
    href, name = f"{up}notebooks/{page}.ipynb", f"{Path(page).name}.ipynb"
    return nodes.raw("", f'<a href="{href}" download="{name}">Download</a>', format="html")


class AtAGlance(SphinxDirective):
    """``{at-a-glance}``: chapters, exercises and their hours, the licences, the repository."""

    def run(self) -> list[nodes.Node]:
        """Return the line of facts."""
        repository = find_repository()
        listed = list_chapters(Path(self.env.srcdir))
        minutes: dict[str, int] = {}
        for page in (page for chapter in listed for page in chapter.exercises):
            path = Path(self.env.srcdir, f"{page}.ipynb")
            self.env.note_dependency(str(path))
            for name, each in read_exercise_minutes(path).items():
                minutes[f"{page}:{name}"] = each
        line = _line(
            [
                [f"{len(listed)} chapters"],
                [f"{len(minutes)} exercises, some {round(sum(minutes.values()) / 60)} hours"],
                ["no GPU needed"],
                ["text CC BY 4.0, code MIT"],
                *(
                    [[_link(f"GitHub: {repository}", clone_address(repository))]]
                    if repository
                    else []
                ),
            ],
            "facts",
        )
        return [nodes.container("", line, classes=["course-head", "course-glance"])]


def set_site_address(app: Sphinx, config: Any) -> None:
    """Give each page a preview picture for shared links, if it is known where the site will be."""
    repository = find_repository()
    config.ogp_site_url = site_address(repository) if repository else ""
    config.ogp_social_cards = {"enable": repository is not None}


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the headers and the directive."""
    app.add_directive("at-a-glance", AtAGlance)
    app.connect("config-inited", set_site_address)
    app.connect("doctree-read", add_head, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
