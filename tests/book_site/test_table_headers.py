"""Tests that the tables on the built pages mark their header cells."""

from html.parser import HTMLParser
from types import SimpleNamespace

import pytest

from book.site import table_headers
from tests.helpers.built_site import list_pages, read_page, without_openings

pytestmark = pytest.mark.book


class Heads(HTMLParser):
    """Collects the header cells of each table, with scope and text."""

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


def read_heads(text):
    parser = Heads()
    parser.feed(text)
    return parser.tables


def write(body):
    context = {"body": body}
    table_headers.say_what_heads_belong_to(SimpleNamespace(), "page", "page.html", context, None)
    return context["body"]


def test_heads_of_the_text_get_their_scope():
    body = '<table><tr><th class="head stub"><p></p></th><th class="head"><p>a</p></th></tr>'
    body += '<tr><th class="stub"><p>b</p></th><td>1</td></tr></table>'
    assert read_heads(write(body)) == [[["col", "a"], ["row", "b"]]]


def test_the_nameless_first_column_of_an_output_names_the_rows():
    body = '<table><thead><tr><th scope="col"></th><th scope="col">a</th></tr></thead>'
    body += "<tbody><tr><td>b</td><td>1</td></tr><tr><td>c</td><td>2</td></tr></tbody></table>"
    assert read_heads(write(body)) == [[["col", "a"], ["row", "b"], ["row", "c"]]]


@pytest.mark.smoke
def test_every_table_of_the_site_has_heads_that_say_what_they_belong_to():
    seen, wrong = 0, []
    for name in list_pages():
        if name == "genindex.html":  # Sphinx lays it out with a table without headers
            continue
        for table in read_heads(without_openings(read_page(name))):
            seen += 1
            if not table or any(not scope or not text.strip() for scope, text in table):
                wrong.append((name, table))
    assert seen > 20
    assert wrong == []
