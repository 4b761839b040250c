"""Tests of the explorer of a training in the pages of chapters 3 and 8."""

from __future__ import annotations

import pytest

from tests.browser.conftest import WITHOUT_GLOSSES, explorer_states, percent

pytestmark = pytest.mark.browser

PAGES = ["book/03_bahdanau.html", "book/08_transformer.html"]


def state_of(page: str) -> dict:
    """Return the state of a page's explorer as Python gave it."""
    return next(state for state in explorer_states(page) if "losses" in state)


def expect_shown(explorer, state, sentence, snapshot, word):
    """Check what the explorer shows against the state from Python."""
    one = state["sentences"][sentence]
    frame = one["frames"][snapshot]
    names = explorer.get_by_role("radio")
    assert names.all_inner_texts() == one["target"]
    assert names.nth(word).get_attribute("aria-checked") == "true"
    chances = [percent(min(max(p, 0.5), 999.5) / 1000) for p in frame["probabilities"]]
    assert explorer.locator(".tr-chance").all_inner_texts() == chances
    cells = explorer.locator(".tr-cell").evaluate_all(
        "cells => cells.map((cell) => Number(cell.style.getPropertyValue('--weight')))"
    )
    assert cells == pytest.approx([w / 1000 for row in frame["weights"] for w in row])
    told = explorer.locator(".tr-told").inner_text()
    assert told.startswith(f"After {state['updates'][snapshot]:,} of {state['updates'][-1]:,} ")
    assert f"“{one['target'][word]}” has a probability of {chances[word]}" in told
    written = explorer.locator(".tr-written > span").last
    assert written.evaluate(WITHOUT_GLOSSES) == (frame["written"] or "nothing")


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("width", [1280, 390])
def test_it_shows_the_numbers_that_python_gave(visit, page, width):
    state = state_of(page)
    opened = visit(page, width=width)
    explorer = opened.page.locator(".training-explorer")
    begun = state["shown"]
    expect_shown(explorer, state, **begun)
    slider = explorer.locator("input[type=range]")
    for snapshot in (0, 7, len(state["updates"]) - 1):
        slider.fill(str(snapshot))
        expect_shown(explorer, state, 0, snapshot, begun["word"])
    for sentence in range(1, len(state["sentences"])):
        explorer.locator("select").select_option(index=sentence)
        expect_shown(explorer, state, sentence, len(state["updates"]) - 1, begun["word"])
    scrolls = explorer.evaluate("e => e.scrollWidth > e.clientWidth")
    assert not scrolls
    assert opened.problems() == {}


def test_mouse_touch_and_keyboard(visit):
    (page, *_) = PAGES
    state = state_of(page)
    last = len(state["updates"]) - 1
    opened = visit(page, touch=True)
    explorer = opened.page.locator(".training-explorer")
    explorer.locator("input[type=range]").focus()
    opened.page.keyboard.press("Home")
    expect_shown(explorer, state, 0, 0, state["shown"]["word"])
    explorer.get_by_role("radio").nth(2).tap()
    opened.page.keyboard.press("ArrowDown")
    expect_shown(explorer, state, 0, 0, 3)
    curve = explorer.locator("svg").first
    box = curve.bounding_box()
    curve.click(position={"x": box["width"] - 3, "y": 10})
    expect_shown(explorer, state, 0, last, 3)
    curve.click(position={"x": 3, "y": 10})
    expect_shown(explorer, state, 0, 0, 3)
    opened.page.wait_for_url("**#live=training&sentence=1&updates=0&word=4")
    assert opened.problems() == {}


def test_playing_goes_on_to_the_end_and_can_be_stopped(visit):
    state = state_of(PAGES[0])
    last = len(state["updates"]) - 1
    opened = visit(PAGES[0])
    explorer = opened.page.locator(".training-explorer")
    slider = explorer.locator("input[type=range]")
    slider.fill(str(last - 3))
    explorer.get_by_role("button", name="Play").click()
    opened.page.wait_for_function(
        "([slider, last]) => slider.value === last", arg=[slider.element_handle(), str(last)]
    )
    explorer.get_by_role("button", name="Play").wait_for()  # it has stopped by itself
    explorer.get_by_role("button", name="Play").click()  # from the beginning
    explorer.get_by_role("button", name="Stop").click()
    assert int(slider.input_value()) < last
    assert opened.problems() == {}


def test_a_link_opens_a_moment_and_a_word(visit):
    state = state_of(PAGES[1])
    opened = visit(f"{PAGES[1]}#live=training&sentence=2&updates={state['updates'][5]}&word=3")
    explorer = opened.page.locator(".training-explorer")
    expect_shown(explorer, state, 1, 5, 2)
    assert opened.problems() == {}
