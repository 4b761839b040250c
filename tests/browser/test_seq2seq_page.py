"""Tests of chapter 2's explorers in the built page."""

from __future__ import annotations

import re

import pytest

from tests.browser.conftest import explorer_states

pytestmark = pytest.mark.browser

PAGE = "book/02_seq2seq.html"


@pytest.fixture(scope="module")
def states():
    """Return the state of each explorer from Python, by a key that only it has."""
    keys = ("examples", "searches")
    return {key: state for state in explorer_states(PAGE) for key in keys if key in state}


@pytest.mark.parametrize("width", [1280, 390, 360])
def test_the_state_explorer_shows_the_numbers_that_python_gave(visit, states, width):
    opened = visit(PAGE, width=width)
    explorer = opened.page.locator(".state-explorer")
    for i, example in enumerate(states["examples"]["examples"]):
        explorer.locator("select").select_option(index=i)
        assert explorer.locator("li .sx-word").all_inner_texts() == example["words"]
        for position in (0, len(example["words"]) - 1, 1):
            explorer.locator("input[type=range]").fill(str(position + 1))
            expect_state(explorer, example, position)
    assert opened.problems() == {}


def test_the_state_explorer_works_with_keyboard_buttons_and_click(visit, states):
    opened = visit(PAGE)
    explorer = opened.page.locator(".state-explorer")
    example = states["examples"]["examples"][0]
    last = len(example["words"]) - 1
    explorer.locator("input[type=range]").focus()
    opened.page.keyboard.press("End")
    expect_state(explorer, example, last)
    opened.page.keyboard.press("ArrowRight")  # there is no next word
    expect_state(explorer, example, last)
    opened.page.keyboard.press("ArrowLeft")
    expect_state(explorer, example, last - 1)
    explorer.get_by_role("button", name="Next").click()
    expect_state(explorer, example, last)
    explorer.get_by_role("button", name="Back").click()
    expect_state(explorer, example, last - 1)
    explorer.locator("li").first.locator(".sx-cell").nth(2).click()
    expect_state(explorer, example, 2)
    explorer.locator("input[type=range]").fill(str(last + 1))
    explorer.get_by_role("button", name="Play").click()  # starts again at the first word
    explorer.get_by_role("button", name="Stop").click()
    assert explorer.locator("input[type=range]").input_value() != str(last + 1)
    assert opened.problems() == {}


def expect_state(explorer, example: dict, position: int) -> None:
    """Expect the state after a word: numbers, count and description in words."""
    row = example["left"][position]
    shown = explorer.locator("li .sx-number").all_inner_texts()
    assert [float(text) for text in shown[: position + 1]] == pytest.approx(row, abs=0.00501)
    assert set(shown[position + 1 :]) <= {"–"}
    words = example["words"]
    assert explorer.locator(".sx-count").inner_text() == (
        f"{position + 1} of {len(words)} words read"
    )
    told = explorer.locator("[aria-live]").inner_text()
    assert told.startswith(f"State after “{words[position]}”: {words[0]} ")


@pytest.mark.parametrize("width", [1280, 390, 360])
def test_the_beam_explorer_shows_the_search_that_python_recorded(visit, states, width):
    opened = visit(PAGE, width=width)
    explorer = opened.page.locator(".beam-explorer")
    sentences, sizes = explorer.locator("select").all()
    back = explorer.get_by_role("button", name="Back")
    following = explorer.get_by_role("button", name="Next")
    for i, search in enumerate(states["searches"]["searches"]):
        sentences.select_option(index=i)
        whole = search["beams"][int(sizes.input_value())]
        expect_search(explorer, whole, len(whole["steps"]))  # opens with the whole tree
        for k in (0, len(search["beams"]) - 1):
            beam = search["beams"][k]
            sizes.select_option(index=k)
            while back.get_attribute("aria-disabled") == "false":
                back.click()
            for position in range(len(beam["steps"])):
                expect_search(explorer, beam, position)
                following.click()
            expect_search(explorer, beam, len(beam["steps"]))
            explorer.get_by_role("button", name="Again").click()
            expect_search(explorer, beam, 0)
    overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert opened.page.evaluate(overflow) <= 0
    assert opened.problems() == {}


def test_the_beam_explorer_works_with_the_keyboard(visit, states):
    opened = visit(PAGE)
    page = opened.page
    explorer = page.locator(".beam-explorer")
    beam = states["searches"]["searches"][0]["beams"][1]
    explorer.get_by_role("button", name="Again").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    page.keyboard.press("Space")
    expect_search(explorer, beam, 2)
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    expect_search(explorer, beam, 1)
    explorer.locator(".bx-view").focus()
    page.keyboard.press("ArrowRight")  # scrolls the tree, does not turn the page
    assert page.url.endswith(PAGE)
    assert opened.problems() == {}


def expect_search(explorer, beam: dict, position: int) -> None:
    """Expect the first steps of a search: boxes, their fates and the words."""
    boxes = sum(len(step) for step in beam["steps"][:position])
    assert explorer.locator(".bx-box").count() == boxes + 1  # and <bos>
    for fate in ("cut", "finished"):
        expected = sum(e["fate"] == fate for step in beam["steps"][:position] for e in step)
        assert explorer.locator(f".bx-box.bx-{fate}").count() == expected
    told = explorer.locator("[aria-live]").inner_text()
    if position == 0:
        assert told.startswith("Before the first step")
        return
    assert told.startswith(f"Step {position}: ")
    step = told.split(" The search ends")[0]
    shown = [(word, float(total)) for word, total in re.findall(r"(\S+)” (-?[\d.]+\d)", step)]
    assert len(shown) == len(beam["steps"][position - 1])
    for extension in beam["steps"][position - 1]:
        totals = [total for word, total in shown if word.strip("“") == extension["word"]]
        assert any(total == pytest.approx(extension["total"], abs=0.00501) for total in totals)
    ended = position == len(beam["steps"])
    assert ("The search ends" in told) == ended
    if ended:
        finished = [e for step in beam["steps"] for e in step if e["fate"] == "finished"]
        best = max(e["total"] for e in finished)
        assert float(told.split()[-1].rstrip(".")) == pytest.approx(best, abs=0.00501)
        assert explorer.locator(".bx-box.bx-won").count() <= len(beam["steps"])
