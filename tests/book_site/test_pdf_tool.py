"""Tests of the PDF tool: which pages it prints, and its messages when it cannot print."""

import pytest

from tests.helpers.built_site import ROOT
from tools import pdf as printing

pytestmark = pytest.mark.book

TOC = ROOT / "_toc.yml"


def test_the_pages_stand_in_the_order_of_the_contents():
    pages = printing.list_pages(TOC, exercises=False)
    assert pages[0].path == "book/intro"
    chapters = [page for page in pages if page.number]
    assert [int(page.number) for page in chapters] == list(range(1, len(chapters) + 1))
    assert not any(page.path.startswith("exercises/") for page in pages)
    assert len({page.slug for page in pages}) == len(pages)


def test_exercises_stand_after_their_chapter_when_asked_for():
    paths = [page.path for page in printing.list_pages(TOC, exercises=True)]
    assert paths.index("exercises/han/network") < paths.index("book/08_transformer")
    assert paths.index("exercises/han/network") > paths.index("book/07_han")


def test_without_a_site_it_says_how_to_build_one(tmp_path, capsys):
    assert printing.main(["--site", str(tmp_path), "--out", str(tmp_path / "x.pdf")]) == 1
    said = capsys.readouterr().err
    assert "make book" in said
    assert said.count("\n") == 1


def test_without_chromium_it_says_what_to_install(tmp_path, capsys, monkeypatch):
    (tmp_path / "index.html").write_text("")
    monkeypatch.setattr(printing, "find_chromium", lambda: None)
    assert printing.main(["--site", str(tmp_path), "--out", str(tmp_path / "x.pdf")]) == 1
    assert "install" in capsys.readouterr().err
    assert not (tmp_path / "x.pdf").exists()


def test_the_contents_have_a_line_for_each_page_and_section():
    pages = [
        printing.Page("book/intro", "", title="Home"),
        printing.Page(
            "book/01_one", "Part", title="One & all", sections=[{"title": "A", "id": "i"}]
        ),
    ]
    told = printing.write_contents(pages)
    assert 'href="#book-01_one"' in told
    assert "One &amp; all" in told
    assert 'href="#i"' in told
    assert "Home" not in told
