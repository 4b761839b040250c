"""Mends in the written pages what a screen reader or a keyboard would stumble over.

Most of it is the theme's or docutils': folders of the side bar without a name, a list of works
that is no list, a side bar outside of all landmarks. Korean words are named as such, so that they
are read out by a Korean voice and shown in a Korean font.
"""

from __future__ import annotations

import re
from html import escape, unescape
from typing import Any

from sphinx.application import Sphinx
from written import when_written

_FOLDER = re.compile(
    r'(<a class="[^"]*\breference internal\b[^"]*"[^>]*>)(?P<title>(?:(?!</a>).)*)</a>'
    r"(?P<details><details[^>]*>)<summary>",
    re.S,
)
_TAGS = re.compile(r"<[^>]+>")
# Where a text is no text of ours, or may hold no element.
_OTHER = re.compile(
    r"<(head|script|style|pre|code|svg|textarea|option|title)\b.*?</\1>|<!--.*?-->", re.S | re.I
)
_SYLLABLES = "\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3"
_HANGUL = re.compile(rf"[{_SYLLABLES}]+(?:[\s,.?!~·]+[{_SYLLABLES}]+)*")
_KOREAN = '<span lang="ko">'


def name_folders(html: str) -> str:
    """Give the side bar's folding arrows a name, that of the chapter they unfold."""

    def named(found: re.Match[str]) -> str:
        title = escape(" ".join(unescape(_TAGS.sub("", found["title"])).split()), quote=True)
        link = found[0][: found.start("details") - found.start()]
        return f'{link}{found["details"]}<summary aria-label="Pages of {title}">'

    # The words that stand in it say which way it goes; a fixed name would hide them.
    html = html.replace('<summary aria-label="Toggle hidden content">', "<summary>")
    return _FOLDER.sub(named, html)


def mend_lists(html: str) -> str:
    """Let the entries of a list of works be entries of a list."""
    html = html.replace('role="doc-biblioentry"', 'role="listitem"')
    return html.replace(' role="doc-backlink"', "")


def mend_landmarks(html: str) -> str:
    """Make the side bar a region with a name, so that nothing of the page is outside of one."""
    return html.replace(
        '<div id="pst-primary-sidebar" class=',
        '<div id="pst-primary-sidebar" role="region" aria-label="Course" class=',
    )


def mark_korean(html: str) -> str:
    """Wrap runs of Hangul in ``<span lang="ko">``, but not in code, drawings or scripts."""
    if not _HANGUL.search(html):
        return html
    parts: list[str] = []
    end = 0
    for other in _OTHER.finditer(html):
        parts += [_marked(html[end : other.start()]), other[0]]
        end = other.end()
    return "".join([*parts, _marked(html[end:])])


def _marked(html: str) -> str:
    pieces = re.split(r"(<[^>]*>)", html)  # text, tag, text, ...
    for i in range(0, len(pieces), 2):
        if i == 0 or 'lang="ko"' not in pieces[i - 1]:
            pieces[i] = _HANGUL.sub(lambda run: f"{_KOREAN}{run[0]}</span>", pieces[i])
    return "".join(pieces)


def mend(html: str) -> str:
    """Return a page without these faults; a mended page stays as it is."""
    for step in (name_folders, mend_lists, mend_landmarks, mark_korean):
        html = step(html)
    return html


def setup(app: Sphinx) -> dict[str, Any]:
    """Mend the pages when all are written."""
    when_written(app, lambda page, _: mend(page))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
