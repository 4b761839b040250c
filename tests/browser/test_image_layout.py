"""Tests of pictures: no layout shift while loading, and whole on a phone."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from tests.browser.test_pages import CHAPTERS

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


@pytest.mark.parametrize("path", CHAPTERS)
def test_every_picture_is_whole_on_a_phone(visit, path):
    """No text in a figure has fewer than 9 points; at 480 pixels they become 9 pixels."""
    page = visit(path, width=390).page
    pictures = page.locator(".picture").evaluate_all(
        """all => all.map(box => ({
             hidden: box.scrollWidth - box.clientWidth,
             shown: box.querySelector("img").clientWidth,
             natural: parseFloat(getComputedStyle(box).getPropertyValue("--true-width"))}))"""
    )
    assert pictures
    assert [p for p in pictures if p["hidden"] > 1 or p["shown"] > 390 or p["natural"] > 481] == []


def test_a_wide_page_shows_a_picture_larger(visit):
    page = visit(PAGE).page
    [shown, natural] = page.locator(".picture").first.evaluate(
        """box => [box.querySelector("img").clientWidth,
                   parseFloat(getComputedStyle(box).getPropertyValue("--true-width"))]"""
    )
    assert shown == pytest.approx(1.25 * natural, abs=2)


@pytest.mark.parametrize("page", [PAGE, "book/01_why_attention.html", "book/05_captioning.html"])
def test_no_picture_stands_in_a_white_box_on_a_dark_page(visit, page):
    pictures = visit(page, scheme="dark").page.locator(".cell_output img")
    assert pictures.count()
    for i in range(pictures.count()):
        shown = Image.open(io.BytesIO(pictures.nth(i).screenshot())).convert("L")
        across, down = shown.width - 1, shown.height - 1
        corners = [shown.getpixel((x, y)) for x in (2, across - 2) for y in (2, down - 2)]
        assert max(corners) < 60, (i, corners)
