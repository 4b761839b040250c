"""Tables on the built pages say which of their cells are heads."""

import os
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parent.parent
SITE = Path(os.environ.get("COURSEKIT_SITE") or ROOT / "_build" / "html")
sys.path.insert(0, str(ROOT / "book" / "_ext"))

import tables  # noqa: E402


class Heads(HTMLParser):
    """Collects for each table its head cells: scope and text."""

    def __init__(self):
        super().__init__()
        self.tables, self.open, self.cell = [], [], None

    def handle_starttag(self, tag, attrs):
        if tag == "table":
            self.open.append([])
            self.tables.append(self.open[-1])
        elif tag == "th" and self.open:
            self.cell = [dict(attrs).get("scope"), ""]
            self.open[-1].append(self.cell)
        elif tag in ("td", "tr"):
            self.cell = None

    def handle_endtag(self, tag):
        if tag == "table" and self.open:
            self.open.pop()
        elif tag == "th":
            self.cell = None

    def handle_data(self, data):
        if self.cell is not None:
            self.cell[1] += data


def heads(text):
    parser = Heads()
    parser.feed(text)
    return parser.tables


def written(body):
    context = {"body": body}
    tables.say_what_heads_belong_to(SimpleNamespace(), "page", "page.html", context, None)
    return context["body"]


def test_heads_of_the_text_get_their_scope():
    body = '<table><tr><th class="head stub"><p></p></th><th class="head"><p>a</p></th></tr>'
    body += '<tr><th class="stub"><p>b</p></th><td>1</td></tr></table>'
    assert heads(written(body)) == [[["col", "a"], ["row", "b"]]]


def test_the_nameless_first_column_of_an_output_names_the_rows():
    body = '<table><thead><tr><th scope="col"></th><th scope="col">a</th></tr></thead>'
    body += "<tbody><tr><td>b</td><td>1</td></tr><tr><td>c</td><td>2</td></tr></tbody></table>"
    assert heads(written(body)) == [[["col", "a"], ["row", "b"], ["row", "c"]]]


def test_every_table_of_the_site_has_heads_that_say_what_they_belong_to():
    if not (SITE / "index.html").is_file():
        pytest.skip("the book is not built: run make book")
    found, wrong = 0, []
    for page in sorted(SITE.rglob("*.html")):
        if "_static" in page.relative_to(SITE).parts:
            continue
        for table in heads(page.read_text(encoding="utf-8")):
            found += 1
            if not table or any(not scope or not text.strip() for scope, text in table):
                wrong.append((page.relative_to(SITE).as_posix(), table))
    assert found > 20
    assert wrong == []
