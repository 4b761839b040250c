"""Tests of pictures: no layout shift while loading, and large enough on a phone."""

from __future__ import annotations

import io

import pytest
from PIL import Image

pytestmark = pytest.mark.browser

PAGE = "book/09_bert.html"


def test_a_picture_has_its_place_before_it_is_there(visit):
    page = visit(PAGE).page
    sizes = page.locator(".picture img").evaluate_all(
        """all => all.map(i => ({given: i.getAttribute('width') / i.getAttribute('height'),
                                shown: i.clientWidth / i.clientHeight,
                                broad: i.clientWidth - i.parentElement.clientWidth}))"""
    )
    assert sizes
    for size in sizes:
        assert size["shown"] == pytest.approx(size["given"], rel=0.02)
        assert size["broad"] <= 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_wide_picture_is_not_made_small_on_a_phone_but_scrolls(visit, scheme):
    opened = visit(PAGE, width=390, scheme=scheme)
    page = opened.page
    box = page.locator(".picture").first
    image = box.locator("img")
    true = box.evaluate("b => parseFloat(getComputedStyle(b).getPropertyValue('--true-width'))")
    assert image.bounding_box()["width"] == pytest.approx(0.8 * true, abs=2)
    assert true > 600
    page.wait_for_function("b => b.tabIndex === 0", arg=box.element_handle())
    assert "Picture" in box.get_attribute("aria-label")
    box.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("b => b.scrollLeft > 0", arg=box.element_handle())
    wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(wider) <= 0
    assert opened.problems() == {}


@pytest.mark.parametrize("page", [PAGE, "book/01_why_attention.html", "book/05_captioning.html"])
def test_no_picture_stands_in_a_white_box_on_a_dark_page(visit, page):
    pictures = visit(page, scheme="dark").page.locator(".cell_output img")
    assert pictures.count()
    for i in range(pictures.count()):
        shown = Image.open(io.BytesIO(pictures.nth(i).screenshot())).convert("L")
        across, down = shown.width - 1, shown.height - 1
        corners = [shown.getpixel((x, y)) for x in (2, across - 2) for y in (2, down - 2)]
        assert max(corners) < 60, (i, corners)
