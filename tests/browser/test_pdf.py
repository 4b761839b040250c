"""Tests of the PDF, printed once from the built site and read back."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from typing import Any

import pytest
import yaml

from tests.browser.conftest import ROOT, site_folder
from tools import pdf as printing

pytestmark = [pytest.mark.browser, pytest.mark.slow]
ABOUT = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


def words(text: str) -> str:
    """Return a text without spaces, so that the PDF's line breaks do not matter."""
    return "".join(text.split())


@pytest.fixture(scope="module")
def pages() -> list[printing.Page]:
    """Return the pages in the site's table of contents."""
    toc = site_folder().parents[1] / "_toc.yml"
    return printing.list_pages(toc, exercises=False)


@pytest.fixture(scope="module")
def printed(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return the PDF, read back."""
    pypdf = pytest.importorskip("pypdf", reason="pypdf is not installed")
    if not (site_folder() / "index.html").is_file():
        pytest.skip("there is no built site; run: make book")
    if os.environ.get("COURSEKIT_PDF"):  # already printed
        return pypdf.PdfReader(os.environ["COURSEKIT_PDF"])
    # In a separate process, since two Playwright loops cannot run in one thread.
    out = tmp_path_factory.mktemp("pdf") / "book.pdf"
    toc = site_folder().parents[1] / "_toc.yml"
    command = [sys.executable, "-m", "tools.pdf", "--site", str(site_folder())]
    done = subprocess.run(
        [*command, "--toc", str(toc), "--out", str(out)], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == "", "a link leads nowhere"
    return pypdf.PdfReader(io.BytesIO(out.read_bytes()))


@pytest.fixture(scope="module")
def texts(printed: Any) -> list[str]:
    """Return the text of each page."""
    return [page.extract_text() for page in printed.pages]


def site_title(page: printing.Page) -> str:
    html = (site_folder() / f"{page.path}.html").read_text(encoding="utf-8")
    title = re.search(r"<h1>((?:(?!<h1>).)*?)<a class=\"headerlink\"", html, re.S)
    assert title
    return re.sub(r"<[^>]+>", "", title[1]).replace("&amp;", "&")


def test_every_page_of_the_book_is_in_it_and_in_its_outline(printed, texts, pages):
    outline: dict[str, int] = {}

    def walk(entries: list) -> None:
        for entry in entries:
            if isinstance(entry, list):
                walk(entry)
            else:
                number = printed.get_destination_page_number(entry)
                outline.setdefault(words(str(entry.title)), number)

    walk(printed.outline)
    for page in pages:
        title = words(page.number + site_title(page))
        assert title in outline, title
        assert title in words(texts[outline[title]])


def test_the_contents_name_the_pages_on_which_chapters_begin(printed, texts, pages):
    front = words("".join(texts[1 : min(8, len(texts))]))
    targets = printed.named_destinations
    for page in pages[1:]:
        number = printed.get_destination_page_number(targets[f"/{page.slug}"]) + 1
        assert words(page.number + site_title(page)) + str(number) in front


def test_links_lead_into_the_document_or_out_to_the_world(printed):
    own, foreign, names = 0, 0, set(printed.named_destinations)
    for page in printed.pages:
        for note in page.get("/Annots", []):
            link = note.get_object()
            if link.get("/Subtype") != "/Link":
                continue
            address = str(link.get("/A", {}).get("/URI", ""))
            assert "127.0.0.1" not in address
            if address:
                foreign += 1
            else:
                own += 1
                target = link.get("/Dest") or link["/A"]["/D"]
                assert not isinstance(target, str) or target in names or f"/{target}" in names
    assert own > 100
    assert foreign > 10


def test_nothing_is_raw_empty_or_too_long(printed, texts):
    for number, (page, text) in enumerate(zip(printed.pages, texts, strict=True), 1):
        empty = len(words(text)) < 10 and not page.images
        assert not empty, f"page {number} is blank"
        assert not re.search(r"\\\(|\\\[|\$\$|\\begin\{", text), f"page {number}"
        assert "headerlink" not in text
    assert 20 < len(texts) < 600


def test_korean_can_be_copied_out(texts, pages):
    if any(page.path == "book/03_bahdanau" for page in pages):
        assert "잘지내" in words("".join(texts))


def test_the_document_says_what_it_is(printed):
    assert printed.metadata.title == ABOUT["title"]
    assert ABOUT["authors"][0]["name"] in printed.metadata.author
    root = printed.trailer["/Root"]
    assert root["/Lang"] == "en"
    assert root["/MarkInfo"]["/Marked"]
    assert "/StructTreeRoot" in root
    assert printed.stream.getbuffer().nbytes < 25e6


def test_fonts_are_embedded(printed):
    seen = set()
    for page in printed.pages:
        for font in page["/Resources"].get("/Font", {}).values():
            inner = font.get_object()
            if inner["/Subtype"] == "/Type0":
                inner = inner["/DescendantFonts"][0].get_object()
            if inner["/Subtype"] == "/Type3":
                assert inner["/CharProcs"]
                continue
            files = {"/FontFile", "/FontFile2", "/FontFile3"} & set(inner["/FontDescriptor"])
            assert files, inner
            seen.add(str(inner["/BaseFont"]))
    assert seen
