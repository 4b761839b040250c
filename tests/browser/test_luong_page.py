"""Tests of the Luong chapter's explorers: same numbers as Python, mouse and keyboard."""

from __future__ import annotations

import math
import re

import pytest
import torch

from solutions.luong.local import gaussian_weights, local_window
from solutions.luong.scores import concat_score, dot_score, general_score, scaled_dot_score
from tests.browser.conftest import explorer_states

pytestmark = pytest.mark.browser

PAGE = "book/04_luong.html"


@pytest.fixture(scope="module")
def states() -> list[dict]:
    """Return the state of each explorer from Python, in page order."""
    return explorer_states(PAGE)


def expect_scores(explorer, state: dict, query: list[float]) -> None:
    """Expect the scores and weights of the query in the four tables."""
    one, keys = torch.tensor([query]), torch.tensor([state["points"]])
    expected = {
        "dot": dot_score(one, keys),
        "scaled": scaled_dot_score(one, keys),
        "general": general_score(one, keys, torch.tensor(state["general"])),
        "concat": concat_score(one, keys, torch.tensor(state["concat"]), torch.tensor(state["v"])),
    }
    for name, scores in expected.items():
        table = explorer.locator(f"[data-score={name}]")
        shown = [numbers(table, kind) for kind in (".sx-score", ".sx-weight")]
        assert shown[0] == pytest.approx(scores[0].tolist(), abs=0.00501), name
        assert shown[1] == pytest.approx(scores[0].softmax(0).tolist(), abs=0.00501), name


def numbers(place, selector: str) -> list[float]:
    texts = place.locator(selector).all_inner_texts()
    return [float(text.replace("−", "-")) for text in texts if text != "–"]


@pytest.mark.parametrize("width", [1280, 360])
def test_scores_follow_the_query(visit, states, width):
    state = next(state for state in states if "points" in state)
    opened = visit(PAGE, width=width)
    page = opened.page
    explorer = page.locator(".scores-explorer")
    query = list(state["query"])
    expect_scores(explorer, state, query)
    handle = explorer.locator("[role=slider]")
    handle.focus()
    for key, moved in (
        ("ArrowRight", (0.1, 0)),
        ("ArrowUp", (0, 0.1)),
        ("Shift+ArrowDown", (0, -0.5)),
    ):
        page.keyboard.press(key)
        query = [value + step for value, step in zip(query, moved, strict=True)]
        expect_scores(explorer, state, query)
    assert f"length {math.hypot(*query):.2f}" in handle.get_attribute("aria-valuetext")

    cosines = explorer.locator(".sx-cosines span").nth(1).inner_text()
    explorer.get_by_role("button", name="Longer").click()
    query = [1.25 * value for value in query]
    expect_scores(explorer, state, query)
    assert explorer.locator(".sx-cosines span").nth(1).inner_text() == cosines
    explorer.get_by_role("button", name="Reset").click()
    expect_scores(explorer, state, state["query"])

    plane = explorer.locator(".sx-plane")
    plane.scroll_into_view_if_needed()
    box = plane.bounding_box()
    ring = explorer.locator(".sx-ring").bounding_box()
    page.mouse.move(ring["x"] + ring["width"] / 2, ring["y"] + ring["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 4, box["y"] + box["height"] / 4, steps=4)
    page.mouse.up()
    shown = explorer.locator(".sx-cosines span").nth(0).inner_text().replace("−", "-")
    x, y = map(float, re.search(r"\((-?[\d.]+), (-?[\d.]+)\)", shown).groups())
    assert (x, y) == pytest.approx((-1.5, 1.5), abs=0.05)
    assert opened.problems() == {}


def expect_window(explorer, state: dict, position: float, D: float, sigma: float) -> None:
    """Expect the weights of the window at this position."""
    count = len(state["words"])
    centre = torch.tensor([position])
    inside = local_window(centre, torch.tensor([count]), D, count)
    softmax = torch.tensor([state["scores"]]).masked_fill(~inside, -torch.inf).softmax(1)
    expected = gaussian_weights(softmax, centre, 2 * sigma)[inside].tolist()
    assert numbers(explorer, ".wx-product") == pytest.approx(expected, abs=0.00501)
    assert numbers(explorer, ".wx-sum") == pytest.approx([sum(expected)], abs=0.00501)
    outside = explorer.locator("tr.wx-outside").count()
    assert outside == count - int(inside.sum())


@pytest.mark.parametrize("width", [1280, 360])
def test_the_window_follows_the_sliders(visit, states, width):
    state = next(state for state in states if "position" in state and "D" in state)
    opened = visit(PAGE, width=width)
    page = opened.page
    explorer = page.locator(".window-explorer")
    position, D = state["position"], state["D"]
    expect_window(explorer, state, position, D, D / 2)
    explorer.locator("[data-name=position]").focus()
    page.keyboard.press("ArrowRight")
    position = round(position + 0.1, 1)
    expect_window(explorer, state, position, D, D / 2)
    explorer.locator("[data-name=D]").focus()
    page.keyboard.press("ArrowLeft")
    D -= 0.5
    expect_window(explorer, state, position, D, D / 2)
    sigma = explorer.locator("[data-name=sigma]")
    assert sigma.is_disabled()
    explorer.get_by_role("checkbox").check()
    sigma.focus()
    page.keyboard.press("ArrowRight")
    expect_window(explorer, state, position, D, D / 2 + 0.25)
    explorer.get_by_role("checkbox").uncheck()
    expect_window(explorer, state, position, D, D / 2)
    assert page.url.endswith(PAGE), "the arrow keys have turned the page"
    assert opened.problems() == {}
