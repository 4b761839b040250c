"""Tests that every figure in the chapters has an alternative text."""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "book").glob("*.md"))
GENERIC = re.compile(r"\.(png|svg|jpe?g)\b|^(an? )?(image|figure|picture|plot|diagram)\b\W*$", re.I)


def cells(text):
    """Return the code cells of a page as pairs (options at their head, code)."""
    for body in re.findall(r"^```\{code-cell\}[^\n]*\n(.*?)^```$", text, re.S | re.M):
        head = re.match(r"---\n(.*?)^---\n", body, re.S | re.M)
        options = yaml.safe_load(head[1]) if head else {}
        short = re.findall(r"^:([\w-]+):\s*(.*)$", body, re.M)
        yield {**dict(short), **(options or {})}, body[head.end() :] if head else body


def alt_texts(text):
    """Return the alternative texts of a page's pictures from cells, directives and Markdown."""
    for options, _ in cells(text):
        alt = (options.get("mystnb") or {}).get("image", {}).get("alt")
        if alt is not None:
            yield alt
    for body in re.findall(r"^[`:]{3,}\{(?:figure|image)\}(.*?)^[`:]{3,}$", text, re.S | re.M):
        option = re.search(r"^:alt:\s*(.*)$", body, re.M)
        yield option[1] if option else ""
    yield from re.findall(r"!\[([^\]]*)\]\(", text)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_the_pictures_of_a_page_are_described(page):
    for alt in alt_texts(page.read_text(encoding="utf-8")):
        assert len(alt) >= 30, f"too short to say what can be seen: {alt!r}"
        assert not GENERIC.search(alt), alt


def test_the_chapters_have_pictures():
    chapters = [path for path in PAGES if re.match(r"\d\d_", path.name)]
    for page in chapters:
        assert list(alt_texts(page.read_text(encoding="utf-8"))), page.name
