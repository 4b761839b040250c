"""Print the built site as one PDF, with the chapters in the order of _toc.yml.

    python -m tools.pdf [--exercises] [--code] [--site FOLDER] [--out FILE]

Each page is opened in Chromium, which renders its equations and explorers. The results are joined
into one document, so that links between pages work, the outline is complete and the PDF is tagged.
The page numbers in the contents come from a first printing. No other host is contacted.

Needs the built site, Chromium, and the extra "pdf" (playwright, pikepdf). The variable COURSE_URL
is the address of the published site, if there is one: links to pages outside the PDF go there.
"""

from __future__ import annotations

import argparse
import base64
import io
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import yaml

from book.site.toc import read_toc
from tools.site_browser import FLAGS, find_chromium, open_page, serve

ROOT = Path(__file__).resolve().parents[1]
HERE = Path(__file__).resolve().parent
PAPER, TURNED = 658, 986  # widths of A4 portrait and landscape without margins, in CSS pixels
PATIENCE = 1_200_000  # milliseconds; a whole book is slow on a busy machine


class CannotPrint(Exception):
    """The PDF cannot be printed; the message says what is missing and what to do."""


@dataclass
class Page:
    """A page of the site and its position in the book."""

    path: str  # without extension, such as book/07_han
    part: str
    title: str = ""
    html: str = ""
    sections: list[dict[str, str]] = field(default_factory=list)

    @property
    def slug(self) -> str:
        """The page's id in the document."""
        return self.path.replace("/", "-")

    @property
    def number(self) -> str:
        """The chapter's number, from its file name, or "" if it is not a chapter."""
        first = Path(self.path).name.split("_")[0]
        return str(int(first)) if first.isdigit() else ""


def list_pages(toc: Path, exercises: bool) -> list[Page]:
    """Return the pages of _toc.yml in order, with or without exercises and their solutions."""
    left_out = () if exercises else ("exercises/", "book/solved/")
    return [Page(e.path, e.part) for e in read_toc(toc) if not e.path.startswith(left_out)]


def take_stills(browser_page: Any) -> list[str]:
    """Mark each explorer and take a screenshot of it; return the screenshots as data URLs."""
    pictures = []
    explorers = browser_page.locator("article [class$='-explorer']")
    for explorer in explorers.all():
        explorer.evaluate("element => { element.dataset.still = '1'; }")
        picture = base64.b64encode(explorer.screenshot(animations="disabled")).decode()
        pictures.append(f"data:image/png;base64,{picture}")
    return pictures


def write_contents(pages: Sequence[Page]) -> str:
    """Return the table of contents, without page numbers."""
    parts = ['<nav class="book-contents"><h1>Contents</h1>']
    last = ""
    for page in pages[1:]:
        if page.part != last:
            last = page.part
            parts.append(f'<p class="part">{escape(page.part)}</p>')
        inner = "".join(f"<li>{_line('', s['title'], s['id'])}</li>" for s in page.sections)
        parts.append(
            f"<ol><li>{_line(page.number, page.title, page.slug)}"
            + (f"<ol>{inner}</ol>" if inner and page.number else "")
            + "</li></ol>"
        )
    return "".join([*parts, "</nav>"])


def _line(number: str, title: str, target: str) -> str:
    before = f'<span class="nr">{number}</span>' if number else ""
    return (
        f'<a href="#{escape(target, quote=True)}">{before}<span>{escape(title)}</span>'
        '<span class="dots"></span><span class="on">000</span></a>'
    )


def write_document(
    pages: Sequence[Page], about: dict[str, Any], sheets: list[str], styles: list[str]
) -> str:
    """Return the whole book as one HTML document."""
    title, released = escape(about["title"]), about.get("date-released", "")
    links = "".join(f'<link rel="stylesheet" href="{escape(s, quote=True)}">' for s in sheets)
    chapters = "".join(
        f'<div class="book-page" id="{page.slug}">{page.html}</div>' for page in pages
    )
    own = (HERE / "pdf.css").read_text(encoding="utf-8")
    rules = "\n".join(styles)
    return (
        '<!DOCTYPE html><html lang="en" data-theme="light" data-mode="light"><head>'
        f'<meta charset="utf-8"><title>{title}</title>{links}<style>{rules}</style>'
        f"<style>{own}</style></head>"
        '<body><main class="bd-content"><div class="bd-article-container">'
        '<article class="bd-article"><div class="cover">'
        f'<p class="title">{title}</p>'
        '<p class="subtitle">An executable course in Python and PyTorch</p>'
        f'<p class="small">Version {escape(str(about.get("version", "")))}, {released}</p>'
        '<p class="small">Text and figures: CC BY 4.0. Code: MIT.</p></div>'
        f"{write_contents(pages)}{chapters}</article></div></main></body></html>"
    )


def find_page_numbers(pdf: bytes) -> dict[str, int]:
    """Return the page, counted from 1, of each link target."""
    import pikepdf

    with pikepdf.open(io.BytesIO(pdf)) as document:
        number = {page.obj.objgen: i for i, page in enumerate(document.pages, 1)}
        targets: Any = document.Root.get("/Dests", {})
        return {name.lstrip("/"): number[target[0].objgen] for name, target in targets.items()}


def walk_outline(entry: Any) -> Iterator[Any]:
    """Yield an entry of a PDF's outline, its children and all that follow, in the text's order."""
    while entry is not None:
        yield entry
        yield from walk_outline(entry.get("/First"))
        entry = entry.get("/Next")


def finish(pdf: bytes, about: dict[str, Any], headings: Sequence[str]) -> bytes:
    """Return the PDF, compressed, with metadata and a corrected outline, which is shown on opening.

    Chromium duplicates the text of a heading at the top of a page, so all entries are rewritten.
    It also writes each tag as an object of its own, uncompressed, a third of the file.
    """
    import pikepdf
    from pikepdf import Dictionary, Name, ObjectStreamMode

    with pikepdf.open(io.BytesIO(pdf)) as document:
        root = document.Root
        document.docinfo["/Title"] = about["title"]
        document.docinfo["/Author"] = ", ".join(str(a["name"]) for a in about["authors"])
        document.docinfo["/Subject"] = "The attention mechanism in Python and PyTorch"
        document.docinfo["/Keywords"] = "attention, seq2seq, Transformer, BERT, PyTorch"
        entries = list(walk_outline(root.Outlines.get("/First")))
        if len(entries) != len(headings):
            raise CannotPrint(
                f"The outline has {len(entries)} entries for {len(headings)} headings."
            )
        for entry, heading in zip(entries, headings, strict=True):
            entry.Title = heading
        root.Lang = "en"
        root.PageMode = Name.UseOutlines
        root.ViewerPreferences = Dictionary(DisplayDocTitle=True)
        out = io.BytesIO()
        document.save(out, object_stream_mode=ObjectStreamMode.generate, compress_streams=True)
    return out.getvalue()


def collect(
    browser_page: Any, address: str, pages: Sequence[Page], code: bool
) -> tuple[list[str], list[str]]:
    """Fill the pages from the site; return the style sheets and MathJax rules of all pages."""
    script = (HERE / "pdf.js").read_text(encoding="utf-8")
    slugs = {f"/{page.path}.html": page.slug for page in pages}
    sheets: dict[str, None] = {}
    styles: dict[str, None] = {}
    for page in pages:
        open_page(browser_page, f"{address}{page.path}.html")
        given = {
            "slug": page.slug,
            "number": page.number,
            "pages": slugs,
            "site": os.environ.get("COURSE_URL", "").strip(),
            "stills": take_stills(browser_page),
            "code": code,
        }
        content = browser_page.evaluate(script, given)
        page.html, page.title = content["html"], content["title"]
        page.sections = content["sections"]
        sheets.update(dict.fromkeys(content["sheets"]))
        styles.update(dict.fromkeys(content["styles"]))
    return list(sheets), list(styles)


def print_book(site: Path, pages: Sequence[Page], about: dict[str, Any], code: bool) -> bytes:
    """Return the book as PDF.

    Raises:
        CannotPrint: there is no site, no Chromium, or a package is missing.
    """
    if not (site / "index.html").is_file():
        raise CannotPrint(f"There is no built site in {site}; run: make book")
    chromium = find_chromium()
    if chromium is None:
        raise CannotPrint("Chromium prints the book; install it, such as: apt install chromium")
    try:
        import pikepdf  # noqa: F401
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        raise CannotPrint(f"{error.name} is needed; run: pip install -e '.[pdf]'") from error

    with serve(site) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        context = browser.new_context(
            color_scheme="light",
            viewport={"width": 760, "height": 1000},
            device_scale_factor=2,
            reduced_motion="reduce",
        )
        context.set_default_timeout(PATIENCE)
        book = ""

        def own_only(route: Any) -> None:
            url = route.request.url
            if url == f"{address}book.html":
                route.fulfill(body=book, content_type="text/html; charset=utf-8")
            elif url.startswith((address, "data:", "blob:")):
                route.continue_()
            else:
                route.abort()

        context.route("**/*", own_only)
        reading = context.new_page()
        sheets, styles = collect(reading, address, pages, code)
        reading.close()
        book = write_document(pages, about, sheets, styles)
        whole = context.new_page()
        whole.set_viewport_size({"width": PAPER, "height": 1000})
        whole.emulate_media(media="print", color_scheme="light")
        whole.goto(f"{address}book.html", wait_until="load")
        whole.evaluate("document.fonts.ready.then(() => null)")
        lost = whole.evaluate((HERE / "pdf_fit.js").read_text(encoding="utf-8"), TURNED)
        for text in lost:
            print(f"broken link, printed as plain text: {text}", file=sys.stderr)
        first = _pdf(whole)
        whole.evaluate(
            """numbers => document.querySelectorAll(".book-contents a").forEach((link) => {
                 const number = numbers[decodeURIComponent(link.getAttribute("href").slice(1))];
                 link.querySelector(".on").textContent = number ?? "";
               })""",
            find_page_numbers(first),
        )
        last = _pdf(whole)
        headings = whole.evaluate(
            """() => [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")]
                 .map((heading) => heading.dataset.words ?? heading.textContent)
                 .filter(Boolean)"""
        )
        browser.close()
    if find_page_numbers(first) != find_page_numbers(last):
        raise CannotPrint(
            "The page numbers differ between the two printings; this is a bug in tools/pdf.py."
        )
    return finish(last, about, headings)


def _pdf(browser_page: Any) -> bytes:
    """Return a page as a tagged PDF with an outline."""
    return browser_page.pdf(
        prefer_css_page_size=True, print_background=True, tagged=True, outline=True
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the PDF and print its length."""
    parser = argparse.ArgumentParser(description="Print the built site as one PDF.")
    parser.add_argument("--site", type=Path, default=ROOT / "_build" / "html")
    parser.add_argument("--out", type=Path, default=ROOT / "_build" / "attention.pdf")
    parser.add_argument("--toc", type=Path, default=ROOT / "_toc.yml")
    parser.add_argument("--exercises", action="store_true", help="with the exercises' pages")
    parser.add_argument("--code", action="store_true", help="with the code that the site folds")
    chosen = parser.parse_args(arguments)
    about = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    try:
        pdf = print_book(
            chosen.site.resolve(), list_pages(chosen.toc, chosen.exercises), about, chosen.code
        )
    except CannotPrint as error:
        print(error, file=sys.stderr)
        return 1
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    chosen.out.write_bytes(pdf)
    import pikepdf

    with pikepdf.open(io.BytesIO(pdf)) as document:
        pages = len(document.pages)
    print(f"wrote {chosen.out}: {pages} pages, {len(pdf) / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
