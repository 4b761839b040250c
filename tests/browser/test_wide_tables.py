"""Tests that wide tables scroll on their own and are reachable by keyboard."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.browser

PAGE = "book/scores_and_models.html"
BOXES = ".pst-scrollable-table-container:has(.wide-table)"


@pytest.mark.parametrize("width", [1280, 390])
def test_a_wide_table_scrolls_by_itself_and_by_keyboard(visit, width):
    opened = visit(PAGE, width=width)
    page = opened.page
    box = page.locator(BOXES).first
    assert box.evaluate("b => b.scrollWidth > b.clientWidth")
    assert box.get_attribute("tabindex") == "0"
    assert box.get_attribute("role") == "group"
    assert "equation" in (box.get_attribute("aria-label") or "")
    wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(wider) <= 0
    box.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("b => b.scrollLeft > 0", arg=box.element_handle())
    assert opened.problems() == {}


def test_a_table_fades_while_there_is_more_of_it(visit):
    page = visit(PAGE, width=390).page
    box = page.locator(BOXES).first
    assert box.evaluate(
        "b => [b.hasAttribute('data-more'), getComputedStyle(b).maskImage !== 'none']"
    ) == [True, True]
    box.evaluate("b => { b.scrollLeft = b.scrollWidth; }")
    page.wait_for_function("b => !b.hasAttribute('data-more')", arg=box.element_handle())
    left = box.evaluate("b => b.getBoundingClientRect().left")
    name = box.locator("tbody tr > :first-child").first
    assert abs(name.evaluate("c => c.getBoundingClientRect().left") - left) < 2, "names stay"


def test_a_table_that_fits_is_no_stop_for_the_keyboard(visit):
    page = visit(PAGE).page
    first = page.locator(".pst-scrollable-table-container").first
    assert first.get_attribute("tabindex") in (None, "-1")


def test_names_stay_whole_and_in_sight(visit):
    page = visit(PAGE).page
    box = page.locator(BOXES).first
    name = box.locator("tbody th code").first
    assert name.evaluate("c => c.getClientRects().length") == 1
    box.evaluate("b => { b.scrollLeft = b.scrollWidth; }")
    assert abs(name.bounding_box()["x"] - box.bounding_box()["x"]) < 40
