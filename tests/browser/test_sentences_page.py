"""Tests of the sentence chapter's explorer: it shows the weights from Python."""

from __future__ import annotations

import pytest

from tests.browser.conftest import LIGHT, explorer_states

pytestmark = pytest.mark.browser

PAGE = "book/06_sentences.html"


@pytest.fixture(scope="module")
def states() -> list[dict]:
    """Return the state of each explorer from Python, in page order."""
    return explorer_states(PAGE)


def expect_shown(explorer, text: dict, view: str) -> None:
    """Expect the words of the text with their weights, and the description in words."""
    words = [word for sentence in text["sentences"] for word in sentence]
    weights = text["weights"][view]
    shown = explorer.locator(".wo-word")
    assert shown.all_inner_texts() == words
    numbers = shown.evaluate_all("spans => spans.map(span => Number(span.dataset.weight))")
    assert numbers == pytest.approx(weights, abs=0.0006)
    strong = shown.evaluate_all(
        "spans => spans.map(span => Number(span.style.getPropertyValue('--weight')))"
    )
    assert strong == pytest.approx([w / max(weights) for w in weights], abs=0.0006)
    best = max(range(len(words)), key=lambda i: (weights[i], -i))
    told = explorer.locator(".wo-told").inner_text()
    assert told.startswith(f"Most weight: {words[best]} {weights[best]:.2f}")
    if text["told"].get(view):
        assert explorer.locator(".wo-said").inner_text() == text["told"][view]


@pytest.mark.parametrize("width", [1280, 360])
def test_the_reader_picks_the_review_and_who_looks(visit, states, width):
    state = next(state for state in states if "texts" in state)
    texts = state["texts"]
    views = state["views"]
    opened = visit(PAGE, width=width)
    page = opened.page
    explorer = page.locator(".words-explorer").first
    explorer.scroll_into_view_if_needed()
    expect_shown(explorer, texts[0], views[0])
    assert explorer.locator(".wo-marked").count() == len(texts[0]["marked"])

    explorer.get_by_role("radio").first.focus()
    page.keyboard.press("ArrowRight")
    expect_shown(explorer, texts[0], views[1])
    explorer.get_by_role("radio", name=views[-1], exact=True).check()
    expect_shown(explorer, texts[0], views[-1])

    choose = explorer.get_by_role("combobox")
    choose.focus()
    page.keyboard.press("ArrowDown")
    expect_shown(explorer, texts[1], views[-1])
    choose.select_option(str(len(texts) - 1))
    expect_shown(explorer, texts[-1], views[-1])
    assert explorer.locator(".wo-marked").count() == len(texts[-1]["marked"])
    assert page.url.endswith(PAGE), "the arrow keys have turned the page"
    assert opened.problems() == {}


def test_a_word_is_read_by_mouse_touch_and_keyboard(visit, states):
    state = next(state for state in states if "texts" in state)
    text, view = state["texts"][0], state["view"]
    words, weights = [word for s in text["sentences"] for word in s], text["weights"][view]
    opened = visit(PAGE, width=390, touch=True)
    explorer = opened.page.locator(".words-explorer").first
    told = explorer.locator(".wo-told")

    def expect_told(i):
        more = sum(weight > weights[i] for weight in weights)
        assert told.inner_text().startswith(f"“{words[i]}” has the weight {weights[i]:.3f}; ")
        assert (
            f"{more} of {len(words)} words" if more else "no word has more"
        ) in told.inner_text()

    explorer.locator(".wo-word").nth(3).tap()
    expect_told(3)
    opened.page.keyboard.press("ArrowRight")
    expect_told(4)
    opened.page.keyboard.press("End")
    expect_told(len(words) - 1)
    assert opened.page.evaluate("document.activeElement.textContent") == words[-1]
    explorer.get_by_role("radio").last.check()
    weights = text["weights"][state["views"][-1]]
    expect_told(len(words) - 1)
    assert opened.problems() == {}


def test_colours_on_a_scale_from_nought_to_one(visit, states):
    state = next(state for state in states if "texts" in state)
    opened = visit(PAGE)
    explorer = opened.page.locator(".words-explorer").first
    explorer.get_by_role("checkbox").check()
    weights = state["texts"][0]["weights"][state["view"]]
    strong = explorer.locator(".wo-word").evaluate_all(
        "spans => spans.map(span => Number(span.style.getPropertyValue('--weight')))"
    )
    assert strong == pytest.approx(weights, abs=0.0006)
    assert opened.problems() == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_word_can_be_read_on_its_colour(visit, scheme):
    """The contrast of the strongest word with its background is that of WCAG AA."""
    opened = visit(PAGE, scheme=scheme)
    ratio = opened.page.locator(".words-explorer").first.evaluate(
        "explorer => {"
        + LIGHT
        + """
          const words = [...explorer.querySelectorAll(".wo-word")];
          const strongest = words.reduce((a, b) =>
            Number(a.style.getPropertyValue("--weight")) >=
            Number(b.style.getPropertyValue("--weight")) ? a : b);
          const look = getComputedStyle(strongest);
          const pair = [light(look.color), light(look.backgroundColor)].sort((a, b) => b - a);
          return (pair[0] + 0.05) / (pair[1] + 0.05);
        }"""
    )
    assert ratio >= 4.5
    assert opened.problems() == {}
