"""Tests of the landing page's explorer: it plays, translates as recorded, and takes a sentence."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.browser

PAGE = "book/intro.html"
END = "document.querySelector('.al-told').textContent.trim()"


def words(explorer) -> list[str]:
    return explorer.locator(".al-target button:visible").all_inner_texts()


@pytest.mark.parametrize("width", [1280, 390])
def test_it_plays_one_sentence_and_then_takes_another(visit, width):
    opened = visit(PAGE, width=width)
    explorer = opened.page.locator(".alignment-explorer")
    explorer.scroll_into_view_if_needed()
    opened.page.wait_for_function(END, timeout=20_000)
    assert " ".join(words(explorer)) == "le chat traverse la rue parce qu' il est fatigué"
    explorer.locator("input").fill("the cat crosses the street because it is wide")
    assert " ".join(words(explorer)) == "le chat traverse la rue parce qu' elle est large"
    explorer.get_by_role("radio", name="elle").click()
    assert "“it”" in explorer.locator(".al-told").inner_text()
    assert explorer.locator("path.al-strong").count() > 0
    explorer.locator("input").fill("the zebra sleeps")
    assert "“zebra”" in explorer.locator(".live-note").inner_text()
    assert words(explorer)[-1] == "large"
    assert explorer.evaluate("e => e.scrollWidth - e.clientWidth") <= 1
    assert opened.problems() == {}


def test_the_explorer_and_the_way_in_are_above_the_fold(visit):
    page = visit(PAGE, width=1280).page
    assert page.locator(".alignment-explorer").bounding_box()["y"] < 500
    (start,) = page.locator(".course-start a").all()
    ink, paper = start.evaluate(
        "a => [getComputedStyle(a).color, getComputedStyle(a).backgroundColor]"
    )
    assert ink != paper
    box, facts = start.bounding_box(), page.locator(".course-glance").bounding_box()
    assert box["y"] + box["height"] <= facts["y"]


def test_the_page_describes_itself(visit):
    page = visit(PAGE).page
    for name in ("[name=description]", "[property='og:title']", "[property='og:description']"):
        assert page.locator(f"meta{name}").first.get_attribute("content")
