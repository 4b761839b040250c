"""Tests of every built page in light and dark mode, without requests to other hosts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from book.site.toc import read_toc
from tests.browser.conftest import ROOT, go_to, site_folder

pytestmark = pytest.mark.browser

FIRST_VIEW, FURTHER_VIEW = 1.0e6, 0.3e6  # bytes transferred
FIVE_MODELS = 1.12e6  # what the explorer at the top of one page weighs


CONTENT = [f"{entry.path}.html" for entry in read_toc(ROOT / "_toc.yml")]
PAGES = [*CONTENT, "search.html", "genindex.html"]
CHAPTERS = [page for page in CONTENT if re.match(r"book/\d\d_", page)]
SMOKE = (  # a page of each kind: root, chapter, exercises, answers, generated, search
    "book/intro", "book/03_", "exercises/bahdanau/scores", "book/solved/bahdanau", "book/catalogue",
    "search",
)  # fmt: skip


def source(page: str) -> str:
    """Return the page's HTML, or "" if there is no site (the fixture then skips)."""
    path = site_folder() / page
    return path.read_text(encoding="utf-8") if path.is_file() else ""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "path",
    [pytest.param(p, marks=[pytest.mark.smoke] if p.startswith(SMOKE) else []) for p in PAGES],
)
def test_page_is_whole(visit, path, scheme):
    opened = visit(path, scheme)
    page = opened.page
    assert opened.problems() == {}
    assert page.evaluate("document.documentElement.dataset.theme") == scheme
    missing = page.evaluate(
        "[...document.images].filter(i => i.complete && !i.naturalWidth).map(i => i.src)"
    )
    assert missing == []
    without = page.evaluate("[...document.images].filter(i => !i.hasAttribute('alt')).length")
    assert without == 0, "an image has no alt text"

    undrawn = page.locator(":is(i, span)[class*=fa-], svg.svg-inline--fa g.missing")
    assert undrawn.count() == 0, "an icon is not drawn"
    formulas = page.locator(".math").count()
    assert page.locator("mjx-container").count() >= formulas
    assert page.locator("mjx-merror, [data-mjx-error]").count() == 0
    text = page.evaluate(
        """() => {
             const copy = document.querySelector('article, main, body').cloneNode(true);
             const others = copy.querySelectorAll('pre, code, script, style, mjx-container');
             others.forEach(e => e.remove());
             return copy.textContent;
           }"""
    )
    assert re.findall(r"\\[(\[)\]]|\$\$|\\begin\{", text) == []


@pytest.mark.parametrize("path", PAGES)
def test_page_fits_a_phone(visit, path):
    opened = visit(path, width=390)
    wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert opened.page.evaluate(wider) <= 0
    assert opened.problems() == {}


@pytest.mark.parametrize("width", [1280, 1440])
@pytest.mark.parametrize("path", CHAPTERS)
def test_code_fits_its_column(visit, path, width):
    """In a wide window no line of a chapter's code has to be scrolled to."""
    too_long = visit(path, width=width).page.evaluate(
        """() => {
             document.querySelectorAll('details').forEach(e => e.open = true);
             const cut = e => e.scrollWidth > e.clientWidth;
             const code = [...document.querySelectorAll('.cell_input pre')].filter(cut);
             return code.map(e => e.textContent.trim().split('\\n')[0]);
           }"""
    )
    assert too_long == []


def test_the_root_leads_to_the_landing_page(visit, site):
    page = visit("search.html").page
    page.goto(f"{site.address}index.html", wait_until="commit")
    page.wait_for_url("**/book/intro.html")


def test_search_finds_a_page(visit):
    opened = visit("search.html?q=attention")
    opened.page.wait_for_selector("ul.search li")
    assert opened.problems() == {}


@pytest.mark.parametrize(
    ("tex", "text"),
    [
        (r"the size \(d_k\) of a key", "the size d_k of a key"),
        (r"\(\tilde h_t = \tanh(W_c [c_t; h_t])\)", "h\u0303_t = tanh(W_c [c_t; h_t])"),
        (
            r"\[\text{Attention}(Q, K, V) = \sum_j \alpha_j v_j\]",
            "Attention(Q, K, V) = Σ_j α_j v_j",
        ),
        (r"\(\text{softmax}(\frac{Q K^\top}{\sqrt{d_k}}) V\)", "softmax(Q K^⊤ / √d_k) V"),
        (r"costs 5 \$ (or less)", r"costs 5 \$ (or less)"),
    ],
)
def test_formulas_in_results_of_a_search_are_plain_text(visit, tex, text):
    page = visit("search.html").page
    assert page.evaluate("text => plainSearchText(text)", tex) == text


def test_a_result_of_a_search_quotes_no_tex(visit):
    page = visit("search.html?q=softmax").page
    page.wait_for_selector("ul.search li p.context")
    page.wait_for_timeout(1000)
    told = " ".join(page.locator("ul.search p.context").all_inner_texts())
    assert "softmax" in told and "\\(" not in told


@pytest.mark.parametrize("width", [1280, 390])
def test_timeline_links_to_the_chapters_that_exist(visit, site, width):
    page = visit("book/intro.html", width=width).page
    drawing = page.locator(".course-timeline svg:visible")
    assert drawing.count() == 1
    links = drawing.locator("a").evaluate_all("links => links.map(a => a.getAttribute('href'))")
    names = {Path(link).stem for link in links}
    assert names == {Path(p).stem for p in CHAPTERS}
    assert all((site.folder / "book" / link).is_file() for link in links)
    assert drawing.locator(".planned a").count() == 0
    drawing.locator("a").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/{links[0]}")


def extra(path: str) -> float:
    return FIVE_MODELS if path == "book/one_sentence.html" else 0


@pytest.mark.parametrize("path", CONTENT)
def test_a_first_view_is_light(visit, site, path):
    """What a browser with an empty cache transfers for a page."""
    opened = visit(path, draw=False)
    assert sum(map(site.weight, set(opened.requested))) <= FIRST_VIEW + extra(path)
    has_explorers = "vnd.jupyter.widget-view" in source(path)
    assert any("draw_explorers" in url for url in opened.requested) == has_explorers


def test_only_the_search_page_loads_the_index():
    assert [path for path in PAGES if "searchindex.js" in source(path)] == ["search.html"]


def test_each_further_view_is_light(visit, site):
    """What it transfers for one page after another, the first chapter being there."""
    opened = visit(CHAPTERS[0], draw=False)
    weights = {}
    for path in [path for path in CONTENT if path != CHAPTERS[0]]:
        known = set(opened.requested)
        go_to(opened, site.address + path, draw=False)
        weights[path] = sum(map(site.weight, set(opened.requested) - known))
    assert {p: n for p, n in weights.items() if n > FURTHER_VIEW + extra(p)} == {}
