"""Browser tests of pages about hostile submissions: no dialog, no request, no script link."""

from __future__ import annotations

import mimetypes
import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest

from autograder.instructor.report.html_page import make_page as report
from tests.conftest import ROOT
from tests.grading.hostile_student import FORMGRADER, FRAGMENTS, facts, grade, pages, say

pytestmark = pytest.mark.browser

HERE, CDN = "http://course.test/", "https://cdnjs.cloudflare.com/ajax/libs/mathjax/2.7.7/"
# nbconvert's pages load MathJax 2 with its Safe extension from there. Here they get the book's
# MathJax 4 without that extension and with the same delimiters: it blocks nothing.
VENDOR = ROOT / "book" / "_static" / "vendor"
AS_NBCONVERT = r"""
window.MathJax = {
  tex: {
    inlineMath: [["$", "$"], ["\\(", "\\)"]],
    displayMath: [["$$", "$$"], ["\\[", "\\]"]],
    processEscapes: true,
    processEnvironments: true,
  },
  output: {font: "mathjax-tex", fontPath: "[mathjax]/mathjax-tex-font"},
  options: {
    enableMenu: false, enableExplorer: false, enableSpeech: false, enableBraille: false,
    enableEnrichment: false,
    menuOptions: {settings: {enrich: false, speech: false, braille: false, assistiveMml: false}},
  },
};
"""


@dataclass
class Visited:
    """The requests and effects of a page."""

    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    mathematics: int = 0
    elements: int = 0


def visit(chromium: Any, text: str) -> Visited:
    """Open a page and click on every clickable element."""
    found = Visited()
    context = chromium.new_context()
    page = context.new_page()

    def answer(route: Any) -> None:
        url = route.request.url
        if url == HERE:
            route.fulfill(body=text, content_type="text/html; charset=utf-8")
            return
        found.requests.append(url)
        path = urlsplit(url).path
        if url.startswith(f"{CDN}latest.js"):
            script = (VENDOR / "mathjax" / "tex-chtml-nofont.js").read_text("utf-8")
            route.fulfill(body=AS_NBCONVERT + script, content_type="text/javascript")
            return
        file = FORMGRADER / path.removeprefix("/formgrader/")
        if url.startswith(CDN):
            name = path.partition("/2.7.7/")[2]
            file = VENDOR / (name if name.startswith("mathjax-tex-font/") else f"mathjax/{name}")
        if file.is_file():
            kind = mimetypes.guess_type(file.name)[0] or "text/plain"
            route.fulfill(body=file.read_bytes(), content_type=kind)
        else:
            route.fulfill(status=404)

    def refuse(dialog: Any) -> None:
        found.dialogs.append(dialog.message)
        dialog.dismiss()

    context.route("**/*", answer)
    page.on("dialog", refuse)
    page.goto(HERE, wait_until="load")
    if CDN in text:
        page.wait_for_function("window.MathJax?.startup?.promise !== undefined")
        page.evaluate("MathJax.startup.promise.then(() => null)")
    found.links = page.evaluate(
        "[...document.querySelectorAll('[href], [src], [action]')]"
        ".map((e) => ['href', 'src', 'action'].map((n) => e.getAttribute(n)).join(' ')).sort()"
    )
    found.mathematics = page.locator("mjx-container").count()
    found.elements = page.locator("a, input, button, form, iframe, svg, img, [id]").count()
    # Links of the formgrader lead to its other pages; keep clicks on this page.
    page.evaluate("""
      window.addEventListener("click", (event) => {
        const link = event.target.closest("a");
        if (link && !link.getAttribute("href")?.startsWith("javascript:")) event.preventDefault();
      });
      for (const element of document.body.querySelectorAll("*")) {
        if (!element.isConnected || element.closest("button, .glyphicon")) continue;
        element.dispatchEvent(new MouseEvent("mouseover", {bubbles: true}));
        element.click?.();
      }
    """)
    page.wait_for_timeout(300)
    assert page.url.partition("#")[0] == HERE
    context.close()
    return found


def all_pages(things: list[str], texts: list[str]) -> dict[str, str]:
    """Return the student's feedback page, the formgrader's page and the report."""
    said = say(things)
    remarks = tuple(f"{said()} was graded as scores.ipynb." for _ in texts)
    made = pages(grade(said, texts, remarks, said()), said())
    return made | {"report": report(facts(said, [f"{n}{said()}" for n in range(2)]))}


# Each fragment alone, and several in sequence.
TEXTS = [*FRAGMENTS, *("".join(FRAGMENTS[n : n + 4]) for n in range(0, len(FRAGMENTS), 4))]


def _nobody(link: str) -> str:
    """Return a link without the student's name, which is a folder in the page's address."""
    return re.sub(r"(?s)^/notebooks/autograded/.*(?=/bahdanau/scores\.ipynb)", "", link)


@pytest.mark.parametrize("kind", ["feedback", "formgrade", "report"])
def test_nothing_of_a_students_acts_in_a_browser(chromium, kind):
    plain = all_pages(["word"], ["word"] * len(TEXTS))[kind]
    usual, seen = visit(chromium, plain), visit(chromium, all_pages(TEXTS, TEXTS)[kind])
    assert seen.dialogs == usual.dialogs == []
    assert set(seen.requests) == set(usual.requests)
    assert [_nobody(link) for link in seen.links] == [_nobody(link) for link in usual.links]
    assert (seen.mathematics, seen.elements) == (usual.mathematics, usual.elements)
    assert seen.mathematics > 10 or kind == "report"


def test_a_page_that_is_not_harmless_is_found(chromium):
    """The test above would see it."""
    text = all_pages(["word"], ["word"])["feedback"]
    usual = visit(chromium, text)
    link = visit(chromium, text.replace("</body>", "<a href='javascript:alert(1)'>x</a></body>"))
    assert set(link.dialogs) == {"1"}
    formula = visit(chromium, text.replace("</body>", "<p>$x$ and $y$</p></body>", 1))
    assert formula.mathematics == usual.mathematics + 2
    picture = visit(chromium, text + "<img src=//evil.example/b.png>")
    assert set(picture.requests) - set(usual.requests) == {"http://evil.example/b.png"}
