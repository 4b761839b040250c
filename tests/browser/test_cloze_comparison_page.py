"""Tests of the BERT chapter's cloze explorer: it shows the guesses from Python."""

from __future__ import annotations

import pytest

from tests.browser.conftest import LIGHT, explorer_states, percent

pytestmark = pytest.mark.browser

PAGE = "book/09_bert.html"


@pytest.fixture(scope="module")
def state() -> dict:
    """Return the explorer's state from Python."""
    for state in explorer_states(PAGE):
        if "sees" in state:
            return state
    pytest.skip("no run with examples is recorded")


def expect_shown(explorer, state: dict, text: dict, hidden: int) -> None:
    """Expect the words with one gap, and below them every model's guesses for it."""
    words = [word for sentence in text["sentences"] for word in sentence]
    shown = explorer.locator(".fi-word").all_inner_texts()
    assert shown == [*words[:hidden], "[MASK]", *words[hidden + 1 :]]
    assert explorer.locator("[aria-pressed=true]").count() == 1
    models = explorer.locator(".fi-model")
    assert models.locator(".fi-title").all_inner_texts() == state["models"]
    for k, name in enumerate(state["models"]):
        rows = text["guesses"][name]
        guesses = models.nth(k).locator(".fi-guess")
        assert guesses.locator(".fi-name").all_inner_texts() == [w for w, _ in rows[hidden]]
        values = [float(guesses.nth(i).get_attribute("data-probability")) for i in range(2)]
        assert values == pytest.approx([p for _, p in rows[hidden][:2]], abs=0.0006)
        right = [w for w, _ in rows[hidden] if w == words[hidden]]
        assert models.nth(k).locator(".fi-true .fi-name").all_inner_texts() == right
        if not right:
            told = models.nth(k).locator(".fi-else").inner_text()
            assert told == f"{words[hidden]}: {percent(text['truth'][name][hidden])}"
    assert explorer.locator(".fi-told").inner_text().startswith(f"Hidden: {words[hidden]}. ")


@pytest.mark.parametrize("width", [1280, 360])
def test_the_reader_hides_a_word_with_the_mouse_and_with_keys(visit, state, width):
    texts = state["texts"]
    opened = visit(PAGE, width=width)
    page = opened.page
    explorer = page.locator(".fill-explorer").first
    explorer.scroll_into_view_if_needed()
    expect_shown(explorer, state, texts[0], state["hidden"])

    explorer.locator(".fi-word").nth(5).click()
    expect_shown(explorer, state, texts[0], 5)
    page.keyboard.press("ArrowRight")
    expect_shown(explorer, state, texts[0], 6)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowUp")
    expect_shown(explorer, state, texts[0], 5)
    page.keyboard.press("End")
    count = sum(map(len, texts[0]["sentences"]))
    expect_shown(explorer, state, texts[0], count - 1)
    page.keyboard.press("ArrowRight")
    expect_shown(explorer, state, texts[0], count - 1)
    page.keyboard.press("Home")
    expect_shown(explorer, state, texts[0], 0)

    explorer.get_by_role("combobox").select_option(str(len(texts) - 1))
    expect_shown(explorer, state, texts[-1], 0)
    assert page.url.endswith(PAGE), "the arrow keys have turned the page"
    assert opened.problems() == {}


def test_it_fits_a_narrow_page(visit, state):
    opened = visit(PAGE, width=360)
    wide = opened.page.locator(".fill-explorer").first.evaluate(
        "explorer => explorer.scrollWidth - explorer.clientWidth"
    )
    assert wide <= 1
    assert opened.problems() == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_can_be_read_on_their_colours(visit, state, scheme):
    """The contrast of the gap, and of a guess on the bar behind it, is that of WCAG AA."""
    opened = visit(PAGE, scheme=scheme)
    ratios = opened.page.locator(".fill-explorer").first.evaluate(
        "explorer => {"
        + LIGHT
        + """
          const ratio = (one, other) => {
            const [high, low] = [light(one), light(other)].sort((a, b) => b - a);
            return (high + 0.05) / (low + 0.05);
          };
          const gap = getComputedStyle(explorer.querySelector(".fi-gap"));
          const guess = explorer.querySelector(".fi-guess");
          const look = getComputedStyle(guess);
          const bar = look.backgroundImage.match(/color\\([^)]*\\)|rgba?\\([^)]*\\)/)[0];
          return [ratio(gap.color, gap.backgroundColor), ratio(look.color, bar)];
        }"""
    )
    assert min(ratios) >= 4.5
    assert opened.problems() == {}
