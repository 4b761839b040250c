"""Access to the built site; without one, tests are skipped with a message."""

from __future__ import annotations

import html
import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SITE = Path(os.environ.get("COURSEKIT_SITE") or ROOT / "_build" / "html").resolve()


def read_page(name: str) -> str:
    """Return a page of the built site, such as "book/07_han.html"."""
    path = SITE / name
    if not path.is_file():
        pytest.skip(f"there is no {name} in {SITE}; run: make book")
    return path.read_text(encoding="utf-8")


def list_pages() -> list[str]:
    """Return the names of all pages of the built site."""
    read_page("index.html")
    paths = [path.relative_to(SITE) for path in sorted(SITE.rglob("*.html"))]
    return [path.as_posix() for path in paths if "_static" not in path.parts]


def without_openings(page: str) -> str:
    """Return a page without its explorers' opening states, which are pictures made of mark-up."""
    opening = r'<div class="widget-subarea" data-opening.*?(?=<script type="application/vnd)'
    return re.sub(opening, "", page, flags=re.DOTALL)


def text_of(page: str) -> str:
    """Return the words of a page without its mark-up."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())
