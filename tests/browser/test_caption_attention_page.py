"""Tests of the captioning chapter's explorer: Python's values, mouse and keyboard."""

from __future__ import annotations

import re

import pytest

from tests.browser.conftest import explorer_states

pytestmark = pytest.mark.browser

PAGE = "book/05_captioning.html"


@pytest.fixture(scope="module")
def state() -> dict:
    """Return the explorer's state from Python."""
    states = explorer_states(PAGE)
    (only,) = [state for state in states if "scenes" in state and "word" in state]
    return only


def expect_word(explorer, scene: dict, word: int) -> None:
    """Expect the explorer to show this word: selection, numbers and darkened picture."""
    checked = explorer.locator("[role=radio][aria-checked=true]")
    assert checked.all_inner_texts() == [scene["words"][word]]
    weights, region = scene["weights"][word], scene["regions"][word]
    told = explorer.locator(".gx-told").inner_text()
    assert f"Largest weight: {max(weights):.2f}" in told
    if region:
        share = 100 * sum(weights[place] for place in region)
        said = float(re.search(r"(\d+)\s% of the weight", told)[1])
        assert said == pytest.approx(share, abs=0.51)
    else:
        assert "is about no place" in told
    assert told in explorer.locator("svg").get_attribute("aria-label")
    shades = explorer.locator(".gx-shade").evaluate_all(
        "rects => rects.map(rect => Number(rect.getAttribute('fill-opacity')))"
    )
    expected = [0.75 * (1 - weight / max(weights)) for weight in weights]
    assert shades == pytest.approx(expected, abs=0.001)
    outline = explorer.locator(".gx-region").get_attribute("d")
    assert bool(outline) == bool(region)


@pytest.mark.parametrize("width", [1280, 360])
def test_every_scene_shows_where_the_model_looked(visit, state, width):
    opened = visit(PAGE, width=width)
    explorer = opened.page.locator(".gaze-explorer")
    for chosen, scene in enumerate(state["scenes"]):
        explorer.locator("select").select_option(str(chosen))
        words = explorer.locator("[role=radio]")
        assert words.all_inner_texts() == scene["words"]
        for word in (0, len(scene["words"]) - 1, 2):
            words.nth(word).click()
            expect_word(explorer, scene, word)
        truth = explorer.locator(".gx-truth").inner_text()
        same = scene["truth"] == " ".join(scene["words"])
        assert truth.endswith("the same." if same else scene["truth"])
        assert explorer.locator("image").get_attribute("href").startswith("data:image/png")
    explorer.get_by_role("checkbox").check()
    shades = explorer.locator(".gx-shade").evaluate_all(
        "rects => rects.map(rect => Number(rect.getAttribute('fill-opacity')))"
    )
    assert set(shades) == {0}
    box = explorer.bounding_box()
    assert box["width"] <= width
    assert opened.problems() == {}


def test_the_explorer_works_with_the_keyboard(visit, state):
    opened = visit(PAGE)
    page = opened.page
    explorer = page.locator(".gaze-explorer")
    scene = state["scenes"][0]
    last = len(scene["words"]) - 1
    explorer.locator("[role=radio][tabindex='0']").focus()
    for key, word in (
        ("Home", 0), ("ArrowLeft", 0), ("ArrowRight", 1), ("End", last), ("ArrowDown", last),
        ("ArrowUp", last - 1),
    ):  # fmt: skip
        page.keyboard.press(key)
        expect_word(explorer, scene, word)
        assert page.evaluate("document.activeElement.textContent") == scene["words"][word]
    assert page.url.endswith(PAGE), "the arrow keys have turned the page"
    assert opened.problems() == {}
