"""Tests of links into the live explorers: each ends with its explorer in sight, every time."""

from __future__ import annotations

import re

import pytest

from book.site.explorer_tasks import link_to
from tests.browser.conftest import WITHOUT_GLOSSES
from tests.conftest import ROOT

pytestmark = pytest.mark.browser

LINKS = {
    "book/03_bahdanau.html#live=translator&s=the+cat+sleeps": "translator",
    "book/01_why_attention.html#live=nextword&s=the+fox+chases+the": "nextword",
    "book/06_sentences.html#live=review&s=the+story+was+good": "review",
    "book/08_transformer.html#live=transformer&s=the+cat+sleeps": "transformer",
    "book/09_bert.html#live=cloze&a=anna+has+a+kite&b=she+flies+it&gap=5": "cloze",
}

TASKS = [
    (f"book/{page.stem}.html{link_to(argument)}", argument.split()[0], shows)
    for page in sorted((ROOT / "book").glob("*.md"))
    for argument, shows in re.findall(
        r"^:::\{try\} (.+)\n(?::shows: (.+)\n)?", page.read_text(encoding="utf-8"), re.MULTILINE
    )
]


@pytest.mark.parametrize(("link", "name", "shows"), TASKS)
def test_a_task_opens_its_state_and_shows_what_its_answer_says(visit, link, name, shows):
    opened = visit(link)
    explorer = opened.page.locator(f".{name}-explorer")
    assert not any(explorer.locator(".live-note").all_inner_texts())
    shown = explorer.evaluate(WITHOUT_GLOSSES)
    assert [text for text in filter(None, shows.split(", ")) if text not in shown] == []
    assert opened.problems() == {}


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("link", LINKS)
def test_a_link_ends_at_its_explorer(visit, link, width):
    """Equations and fonts that come after the explorer move it; it stays in sight."""
    block = f".{LINKS[link]}-explorer"
    for _ in range(3):
        opened = visit(link, width=width)
        opened.page.wait_for_timeout(300)
        top, height = opened.page.locator(block).evaluate(
            "e => [e.getBoundingClientRect().top, innerHeight]"
        )
        assert -5 <= top < height / 2
        assert opened.problems() == {}
        opened.close()


def test_a_model_is_loaded_when_the_reader_comes_near_it(site, chromium):
    page = chromium.new_page(viewport={"width": 1280, "height": 800})
    fetched = []
    page.on("request", lambda request: fetched.append(request.url))

    def models() -> int:
        return sum("transformer-state" in url for url in fetched)

    page.goto(f"{site.address}book/08_transformer.html", wait_until="load")
    page.wait_for_timeout(300)
    assert models() == 0
    explorer = page.locator(".transformer-explorer:not([data-opening] *)")
    assert explorer.count() == 0
    page.locator(".transformer-explorer, [data-opening]").last.scroll_into_view_if_needed()
    explorer.locator("input").first.wait_for()
    assert models() == 1
    page.close()


def test_a_reader_who_scrolls_is_not_taken_back(visit):
    page = visit("book/intro.html").page
    page.goto(page.url.replace("intro.html", "03_bahdanau.html#live=translator&s=the+cat+sleeps"))
    page.mouse.wheel(0, -3000)
    page.wait_for_function("document.readyState === 'complete'")
    page.evaluate("window.MathJax?.startup?.promise?.then(() => null)")
    page.wait_for_timeout(500)
    top = page.locator(".translator-explorer").evaluate("e => e.getBoundingClientRect().top")
    assert top > 400
