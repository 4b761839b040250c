"""A reader's progress, stored in the reader's browser: ``{progress}`` and "Mark as read".

Every chapter ends in a button; the page with ``{progress}`` shows all chapters, questions and
exercises. The browser code is in book/_static/progress.js and questions.js, which are loaded only
by the pages that use them.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

from book.site.questions import Question, list_names

_CHAPTER = re.compile(r"(?:.*/)?(\d\d)_\w+")


class ReadMark(nodes.General, nodes.Element):
    """The button at the end of a chapter."""


class ProgressBoard(nodes.General, nodes.Element):
    """The table of all chapters, questions and exercises, with the data that fills it."""


class Progress(SphinxDirective):
    """``{progress}``: the board of the page "Your progress"."""

    def run(self) -> list[nodes.Node]:
        """Return the board's node, which is filled when the page is written."""
        boards = _boards(self.env)
        boards.add(self.env.docname)
        return [ProgressBoard()]


def _boards(env: Any) -> set[str]:
    if not hasattr(env, "course_boards"):
        env.course_boards = set()
    boards: set[str] = env.course_boards
    return boards


def _forget(app: Sphinx, env: BuildEnvironment, page: str) -> None:
    _boards(env).discard(page)


def _merge(app: Sphinx, env: BuildEnvironment, pages: Any, other: BuildEnvironment) -> None:
    _boards(env).update(_boards(other) & set(pages))


def _write_boards_again(
    app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]
) -> list[str]:
    """Return the boards as outdated if any page changed, because they show all other pages."""
    return sorted(_boards(env)) if added | changed | removed else []


def _end_chapters(app: Sphinx, doctree: nodes.document) -> None:
    page = app.env.docname
    if _CHAPTER.fullmatch(page):
        sections = [child for child in doctree.children if isinstance(child, nodes.section)]
        (sections[0] if sections else doctree).append(ReadMark(page=page))


def _open_mark(self: Any, node: ReadMark) -> None:
    env, page = self.builder.env, node["page"]
    link = ""
    for board in sorted(_boards(env)):
        href = escape(self.builder.get_relative_uri(page, board), quote=True)
        link = f' <a href="{href}">{escape(env.titles[board].astext())}</a>'
    self.body.append(
        f'<div class="course-read" data-read="{escape(page, quote=True)}" hidden="hidden">'
        '<button type="button">Mark as read</button> '
        f'<span role="status" aria-live="polite"></span>{link}</div>\n'
    )


def _open_board(self: Any, node: ProgressBoard) -> None:
    self.body.append(write_board(self.builder))


def _nothing(self: Any, node: nodes.Node) -> None:
    pass


def _skip(self: Any, node: nodes.Node) -> None:
    raise nodes.SkipNode


def group_exercises() -> dict[str, list[str]]:
    """Return the names of each notebook's exercises."""
    from autograder.exercises import EXERCISES

    names: dict[str, list[str]] = {}
    for name, exercise in EXERCISES.items():
        names.setdefault(f"exercises/{exercise.assignment}/{exercise.notebook}", []).append(name)
    return names


def write_board(builder: Any) -> str:
    """Return the HTML of the board: a row group for each chapter with its exercises."""
    env = builder.env
    asked, left = list_names(env), group_exercises()
    groups = []
    for page in sorted(p for p in env.found_docs if _CHAPTER.fullmatch(p)):
        listed = [
            (name, notebook)
            for notebook in env.toctree_includes.get(page, [])
            for name in left.pop(notebook, [])
        ]
        title = f"{int(Path(page).name[:2])}. {escape(env.titles[page].astext())}"
        title = _link(builder, page, title)
        groups.append(_write_group(builder, title, page, asked.get(page, []), listed))
    rest = [(name, notebook) for notebook, entries in left.items() for name in entries]
    if rest:
        groups.append(_write_group(builder, "Further exercises", "", [], rest))
    return _FRAME.format(groups="".join(groups))


def _link(builder: Any, page: str, words: str) -> str:
    href = builder.get_relative_uri(builder.current_docname, page)
    return f'<a href="{escape(href, quote=True)}">{words}</a>'


def _write_group(
    builder: Any, title: str, page: str, asked: list[str], listed: list[tuple[str, str]]
) -> str:
    items = []
    for name, notebook in listed:
        label = f"<code>{escape(name)}</code>"
        if notebook in builder.env.found_docs:
            label = _link(builder, notebook, label)
        value = escape(name, quote=True)
        box = f'<input type="checkbox" value="{value}" aria-label="{value} passed" disabled/>'
        items.append(f"<li>{box} {label}</li>")
    below = f'<tr><td colspan="4"><ul>{"".join(items)}</ul></td></tr>' if items else ""
    return (
        f'<tbody data-chapter="{escape(page, quote=True)}" '
        f'data-questions="{escape(" ".join(asked), quote=True)}">'
        f'<tr><th scope="row">{title}</th><td class="cp-read">{"–" if page else ""}</td>'
        f'<td class="cp-right">{len(asked) or "–"}</td>'
        f'<td class="cp-passed">{len(listed) or "–"}</td></tr>{below}</tbody>\n'
    )


_FRAME = """\
<div class="course-progress">
<noscript>
<p>This table is filled in by JavaScript, which is switched off in your browser.</p>
</noscript>
<p class="cp-storage" role="status"></p>
<div class="cp-sum" hidden="hidden">
<progress max="100" value="0" aria-label="Done so far"></progress> <span role="status"></span>
</div>
<table class="cp-table">
<thead><tr><th scope="col">Chapter</th><th scope="col">Read</th><th scope="col">Questions</th>\
<th scope="col">Exercises</th></tr></thead>
{groups}</table>
<button type="button" hidden="hidden">Clear everything</button>
</div>
"""


def _dress(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Load the scripts and the stylesheet only on pages that use them."""
    if doctree is None:
        return
    asks = any(doctree.findall(lambda n: isinstance(n, (Question, ReadMark))))
    shows = any(doctree.findall(ProgressBoard))
    if asks or shows:
        app.add_css_file("questions.css")
        app.add_js_file("progress.js", loading_method="defer")
    if asks:
        app.add_js_file("questions.js", loading_method="defer")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive, the buttons of the chapters and the pages' scripts."""
    skip = (_skip, None)
    app.add_node(ReadMark, html=(_open_mark, _nothing), latex=skip, text=skip)
    app.add_node(ProgressBoard, html=(_open_board, _nothing), latex=skip, text=skip)
    app.add_directive("progress", Progress)
    app.connect("doctree-read", _end_chapters)
    app.connect("env-purge-doc", _forget)
    app.connect("env-merge-info", _merge)
    app.connect("env-get-outdated", _write_boards_again)
    app.connect("html-page-context", _dress)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
