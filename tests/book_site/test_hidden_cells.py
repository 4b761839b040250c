"""Tests of the cells of pages: hidden ones check claims, and visible ones run without them."""

from __future__ import annotations

import ast
import dis
from collections.abc import Iterator
from pathlib import Path
from types import CodeType

import jupytext
import pytest

from tools.execute_pages import list_pages

PAGES = list_pages(Path(__file__).resolve().parents[2])


def hidden_and_source(page: Path) -> Iterator[tuple[bool, str]]:
    """Yield (whether it is hidden, its code) for each code cell of a page."""
    for cell in jupytext.read(page, fmt="md:myst").cells:
        if cell.cell_type == "code":
            yield "remove-cell" in cell.metadata.get("tags", []), cell.source


def names(source: str) -> tuple[set[str], set[str], set[str]]:
    """Return the global names that code binds, that it reads, and that its functions read later.

    They are taken from the byte code, since a variable of a comprehension is no name of the cell,
    but symtable lists it as one in Python 3.12 and later.
    """
    code = compile(source, "cell", "exec")
    bound = {step.argval for step in dis.get_instructions(code) if step.opname == "STORE_NAME"}
    read: set[str] = set()
    later: set[str] = set()
    open_codes = [(code, False)]
    while open_codes:
        code, called_later = open_codes.pop()
        steps = list(dis.get_instructions(code))
        found = {step.argval for step in steps if step.opname in ("LOAD_NAME", "LOAD_GLOBAL")}
        read |= found
        later |= found if called_later else set()
        for inner in code.co_consts:
            if isinstance(inner, CodeType):
                at_once = inner.co_name in ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
                open_codes.append((inner, called_later or not at_once))
    return bound, read, later


def test_names_are_those_of_the_cell():
    source = "import a as b\nc = [d for d in e]\ndef f(g):\n    return [g, h, *(i for i in j)]\n"
    assert names(source) == ({"b", "c", "f"}, {"e", "h", "j"}, {"h", "j"})


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_a_hidden_cell_asserts_claims_in_words(page):
    sources = [source for hidden, source in hidden_and_source(page) if hidden]
    assert sources, "no claim of this page is held to its numbers"
    for source in sources:
        claims = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Assert)]
        assert claims and all(claim.msg is not None for claim in claims), source


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_a_line_that_is_shown_fits_its_column(page):
    """custom.css chooses the size of the letters by this length."""
    shown = [source for hidden, source in hidden_and_source(page) if not hidden]
    assert [line for source in shown for line in source.splitlines() if len(line) > 100] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_no_shown_cell_reads_what_a_hidden_one_bound(page):
    """The notebooks of the readers leave the hidden cells out."""
    lent: set[str] = set()  # names last bound by a hidden cell
    awaited: set[str] = set()  # names that functions of visible cells read when called
    for hidden, source in hidden_and_source(page):
        bound, read, later = names(source)
        if hidden:
            assert not bound & awaited, source
            lent |= bound
        else:
            assert not lent & (read - bound), source
            lent -= bound
            awaited |= later


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_a_page_shows_at_most_350_lines_of_code(page):
    shown = "\n".join(source for hidden, source in hidden_and_source(page) if not hidden)
    assert sum(1 for line in shown.splitlines() if line.strip()) <= 350
