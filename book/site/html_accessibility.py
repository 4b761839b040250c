"""Accessibility fixes in the built HTML, for screen readers, keyboards and phones.

Most faults come from the theme or docutils: unnamed folding arrows in the side bar, a bibliography
that is not a list, a side bar outside of all landmarks. Korean words are marked as such, so that
they get a Korean voice and a Korean font. A number and its percent sign stay on one line. Each
picture gets its size from its file, which avoids layout shifts, and a container that scrolls on a
phone, where the picture would otherwise be too small to read.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape, unescape
from pathlib import Path
from typing import Any

from PIL import Image
from sphinx.application import Sphinx

COLUMN = 720  # px, the width of the text and the maximum width of a picture
_PICTURE = re.compile(r'<img (?P<rest>[^>]*?\bsrc="(?P<src>[^":]*_images/[^"]+\.png)"[^>]*?)\s*/?>')

_FOLDER = re.compile(
    r'(<a class="[^"]*\breference internal\b[^"]*"[^>]*>)(?P<title>(?:(?!</a>).)*)</a>'
    r"(?P<details><details[^>]*>)<summary>",
    re.S,
)
_TAGS = re.compile(r"<[^>]+>")
# Elements whose text is not prose, or that may not contain other elements.
_OTHER = re.compile(
    r"<(head|script|style|pre|code|svg|textarea|option|title)\b.*?</\1>|<!--.*?-->", re.S | re.I
)
_SYLLABLES = "\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3"
_HANGUL = re.compile(rf"[{_SYLLABLES}]+(?:[\s,.?!~·]+[{_SYLLABLES}]+)*")
_KOREAN = '<span lang="ko">'
_BEFORE_PERCENT = re.compile(r"(?<=[\d)]) (?=%)")


def name_folders(html: str) -> str:
    """Name each folding arrow of the side bar after the chapter that it unfolds."""

    def name(folder: re.Match[str]) -> str:
        title = escape(" ".join(unescape(_TAGS.sub("", folder["title"])).split()), quote=True)
        link = folder[0][: folder.start("details") - folder.start()]
        return f'{link}{folder["details"]}<summary aria-label="Pages of {title}">'

    # The arrow's own text says whether it shows or hides; a fixed name would override it.
    html = html.replace('<summary aria-label="Toggle hidden content">', "<summary>")
    return _FOLDER.sub(name, html)


def mend_lists(html: str) -> str:
    """Give bibliography entries the role of list items."""
    html = html.replace('role="doc-biblioentry"', 'role="listitem"')
    return html.replace(' role="doc-backlink"', "")


def mend_landmarks(html: str) -> str:
    """Make the side bar a named region, so that the whole page is inside landmarks."""
    return html.replace(
        '<div id="pst-primary-sidebar" class=',
        '<div id="pst-primary-sidebar" role="region" aria-label="Course" class=',
    )


def mark_korean(html: str) -> str:
    """Wrap runs of Hangul in ``<span lang="ko">``, but not in code, drawings or scripts."""

    def mark(text: str, tag: str) -> str:
        if 'lang="ko"' in tag:
            return text
        return _HANGUL.sub(lambda run: f"{_KOREAN}{run[0]}</span>", text)

    return _change_prose(html, mark) if _HANGUL.search(html) else html


def join_percent_signs(html: str) -> str:
    """Let no line break come between a number and its percent sign."""
    return _change_prose(html, lambda text, _: _BEFORE_PERCENT.sub("\u00a0", text))


def _change_prose(html: str, change: Callable[[str, str], str]) -> str:
    """Change every text outside of code, drawings and scripts; `change` gets the tag before it."""
    changed: list[str] = []
    end = 0
    for other in [*_OTHER.finditer(html), None]:
        # tag, text, tag, text, ...
        pieces = ["", *re.split(r"(<[^>]*>)", html[end : other.start() if other else len(html)])]
        for tag, text in zip(pieces[::2], pieces[1::2], strict=True):
            changed += [tag, change(text, tag)]
        if other:
            changed.append(other[0])
            end = other.end()
    return "".join(changed)


def compute_width(width: int, dpi: float | None) -> int:
    """Return the intended width of a picture in CSS px, at most the width of the text.

    Args:
        width: width of the file, in pixels.
        dpi: pixels per inch (CSS has 96); None for a screenshot.
    """
    return min(round(width * 96 / dpi) if dpi else width, COLUMN)


def size_pictures(html: str, folder: Path) -> str:
    """Add sizes and containers to the pictures of a page; sized pictures are left unchanged.

    All pictures after the first are loaded when the reader comes near.
    """
    sized = 0

    def size(tag: re.Match[str]) -> str:
        nonlocal sized
        sized += 1
        if "width=" in tag["rest"]:
            return tag[0]
        with Image.open(folder / tag["src"]) as picture:
            width, height = picture.size
            dpi = picture.info.get("dpi", (None,))[0]
        style = f'style="--true-width: {compute_width(width, dpi)}px"'
        pixels = f'width="{width}" height="{height}"' + (' loading="lazy"' if sized > 1 else "")
        return f'<div class="picture" {style}><img {tag["rest"].strip()} {pixels} /></div>'

    return _PICTURE.sub(size, html)


def mend(html: str, folder: Path) -> str:
    """Return a page with all fixes; a fixed page is left unchanged.

    Args:
        html: the page.
        folder: folder of the page, to which its pictures' addresses are relative.
    """
    for step in (name_folders, mend_lists, mend_landmarks, mark_korean, join_percent_signs):
        html = step(html)
    return size_pictures(html, folder)


def mend_pages(app: Sphinx, error: Exception | None) -> None:
    """Fix all pages on disk at the end of a successful build."""
    if error is not None or app.builder.format != "html":
        return
    for path in Path(app.outdir).rglob("*.html"):
        if "_static" in path.parts:
            continue
        page = path.read_text(encoding="utf-8")
        mended = mend(page, path.parent)
        if mended != page:
            path.write_text(mended, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Fix the pages after all pages and pictures are written."""
    app.connect("build-finished", mend_pages)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
