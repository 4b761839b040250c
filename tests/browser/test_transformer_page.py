"""Tests of the Transformer chapter's explorers: they agree with Python."""

from __future__ import annotations

import math
import re

import pytest
import torch

from coursekit.training.metrics import entropy
from solutions.transformer.layers import sinusoidal_positions
from solutions.transformer.model import causal_mask, padding_mask
from tests.browser.conftest import LIGHT, explorer_states, percent

pytestmark = pytest.mark.browser

PAGE = "book/08_transformer.html"


@pytest.fixture(scope="module")
def states() -> list[dict]:
    """Return the state of each explorer from Python, in page order."""
    return explorer_states(PAGE)


def with_key(states: list[dict], key: str) -> dict:
    return next(state for state in states if key in state)


def shown_numbers(place, selector: str) -> list[float]:
    return [float(t.replace("−", "-")) for t in place.locator(selector).all_inner_texts()]


def expect_softmax(explorer, state: dict, d_k: int, scaled: bool) -> None:
    scores = torch.tensor(state["scores"]) * (1 if scaled else math.sqrt(d_k))
    weights = scores.softmax(0)
    assert shown_numbers(explorer, ".te-score") == pytest.approx(scores.tolist(), abs=0.00501)
    assert shown_numbers(explorer, ".te-weight") == pytest.approx(weights.tolist(), abs=0.00501)
    told = explorer.locator(".te-told").inner_text()
    assert told.startswith(f"d_k = {d_k}, {'divided' if scaled else 'not divided'}")
    said = float(re.search(r"entropy ([\d.]+) of", told)[1])
    assert said == pytest.approx(entropy(weights).item(), abs=0.00501)


@pytest.mark.parametrize("width", [1280, 360])
def test_temperature_follows_the_slider_and_the_box(visit, states, width):
    state = with_key(states, "d_k")
    opened = visit(PAGE, width=width)
    page = opened.page
    explorer = page.locator(".temperature-explorer")
    d_k, scaled = state["d_k"], state["scaled"]
    expect_softmax(explorer, state, d_k, scaled)
    explorer.locator("[data-name=d_k]").focus()
    page.keyboard.press("ArrowRight")
    expect_softmax(explorer, state, 2 * d_k, scaled)
    page.keyboard.press("End")
    expect_softmax(explorer, state, 1024, scaled)
    explorer.get_by_role("checkbox").check()
    expect_softmax(explorer, state, 1024, not scaled)
    assert page.url.endswith(PAGE), "the arrow keys have turned the page"
    assert opened.problems() == {}


@pytest.mark.parametrize("width", [1280, 360])
def test_positions_follow_the_sliders(visit, states, width):
    state = with_key(states, "wave")
    opened = visit(PAGE, width=width)
    page = opened.page
    explorer = page.locator(".positions-explorer")
    now = {name: state[name] for name in ("position", "step", "wave")}
    for name in now:
        explorer.locator(f"[data-name={name}]").focus()
        page.keyboard.press("ArrowRight")
        now[name] += 1
        here, there = now["position"], now["position"] + now["step"]
        waves = sinusoidal_positions(there + 1, state["size"])
        told = explorer.locator(".po-told").inner_text().replace("−", "-")
        assert told.startswith(f"Wave {now['wave']} comes back")
        pairs = re.findall(r"\((-?[\d.]+), (-?[\d.]+)\)", told)
        for p, pair in zip((here, there), pairs, strict=True):
            expected = waves[p, 2 * now["wave"] : 2 * now["wave"] + 2].tolist()
            assert list(map(float, pair)) == pytest.approx(expected, abs=0.00501)
        product = float(re.search(r"vectors is (-?[\d.]+) of", told)[1])
        assert product == pytest.approx((waves[here] @ waves[there]).item(), abs=0.00501)
    drawn = explorer.locator("canvas").evaluate(
        "c => [...c.getContext('2d').getImageData(0, 0, c.width, c.height).data]"
    )
    assert len(drawn) == 4 * state["length"] * state["size"]
    assert drawn[3] == 0, "the sine of position 0 is 0"
    assert drawn[7] == 255 and drawn[6] > drawn[4], "its cosine is 1, and blue"
    assert page.url.endswith(PAGE)
    assert opened.problems() == {}


@pytest.mark.parametrize("width", [1280, 360])
def test_masks_are_those_of_the_exercises(visit, states, width):
    state = with_key(states, "use")
    opened = visit(PAGE, width=width)
    page = opened.page
    explorer = page.locator(".masks-explorer")
    source, target = state["source"], state["target"]
    real = {
        name: padding_mask(torch.tensor([[int(w != state["pad"]) for w in words]]))[0]
        for name, words in (("source", source), ("target", target))
    }
    expected = {
        "encoder": real["source"].expand(len(source), -1),
        "decoder": causal_mask(len(target)) & real["target"],
        "memory": real["source"].expand(len(target), -1),
    }
    for use, mask in expected.items():
        explorer.locator(f"input[value={use}]").check()
        rows = explorer.locator("tbody tr")
        assert rows.count() == len(mask)
        for t, row in enumerate(mask.tolist()):
            marks = rows.nth(t).locator("td").all_inner_texts()
            assert [mark != "·" for mark in marks] == row, (use, t)
            scores = torch.tensor(state["scores"][use][t])
            weights = scores.masked_fill(~mask[t], float("-inf")).softmax(-1)
            shown = torch.tensor([0.0 if mark == "·" else float(mark) for mark in marks])
            assert (shown - weights).abs().max() <= 0.006, (use, t)
    explorer.locator("input[value=decoder]").check()
    explorer.locator("[data-name=row]").fill("0")
    explorer.locator("[data-name=row]").focus()
    page.keyboard.press("ArrowRight")
    told = explorer.locator(".ma-told").inner_text()
    assert told.endswith(f"“{target[1]}” may look at 2 of {len(target)}: {target[0]}, {target[1]}.")
    explorer.get_by_label("without the mask").check()
    assert "·" not in explorer.locator("tbody").inner_text()
    weights = torch.tensor(state["scores"]["decoder"][1]).softmax(-1)
    leaked = percent(weights[2:].sum().item())
    assert f"“{target[1]}” gives {leaked} of" in explorer.locator(".ma-told").inner_text()
    explorer.get_by_label("without the mask").uncheck()
    assert "·" in explorer.locator("tbody").inner_text()
    assert page.url.endswith(PAGE)
    assert opened.problems() == {}


def expect_head(explorer, state: dict, chosen: dict) -> None:
    """Expect the attended words with the weights from Python."""
    sentence = state["sentences"][chosen["sentence"]]
    part = chosen["part"]
    keys = sentence["target" if part == "decoder" else "source"]
    row = sentence["weights"][part][chosen["layer"]][chosen["head"]][chosen["word"]]
    shown = explorer.locator(".he-key")
    assert shown.all_inner_texts() == keys
    weights = shown.evaluate_all("spans => spans.map(span => Number(span.dataset.weight))")
    assert weights == pytest.approx([value / 1000 for value in row])
    best = max(range(len(keys)), key=lambda i: (row[i], -i))
    told = explorer.locator(".he-told").inner_text()
    assert told.startswith(f"Layer {chosen['layer'] + 1}, head {chosen['head'] + 1}: ")
    said = re.search(rf"looks at {re.escape(keys[best])} (\d\.\d\d)", told)
    assert said, told
    assert float(said[1]) == pytest.approx(row[best] / 1000, abs=0.00501)


@pytest.mark.parametrize("width", [1280, 360])
def test_the_reader_picks_sentence_attention_head_and_word(visit, states, width):
    state = next(s for s in states if "sentences" in s and "head" in s)
    opened = visit(PAGE, width=width)
    page = opened.page
    explorer = page.locator(".heads-explorer")
    explorer.scroll_into_view_if_needed()
    names = ("sentence", "part", "layer", "head", "word")
    chosen = {name: state[name] for name in names}
    expect_head(explorer, state, chosen)

    heads = len(state["sentences"][0]["weights"]["encoder"][0])
    explorer.locator(".he-grid [aria-checked=true]").focus()
    for key, name, moved in (
        ("ArrowDown", "layer", 1), ("ArrowUp", "layer", -1),
        ("ArrowRight", "head", 1), ("ArrowLeft", "head", -1),
    ):  # fmt: skip
        page.keyboard.press(key)
        last = heads - 1 if name == "head" else len(state["sentences"][0]["weights"]["encoder"]) - 1
        chosen[name] = max(0, min(last, chosen[name] + moved))
        expect_head(explorer, state, chosen)
    explorer.locator(".he-words [aria-checked=true]").focus()
    page.keyboard.press("ArrowLeft")
    chosen["word"] -= 1
    expect_head(explorer, state, chosen)

    for part in ("decoder", "memory", "encoder"):
        explorer.locator(f"input[value={part}]").check()
        chosen |= {"part": part, "word": 0}
        if part == "encoder":
            chosen["word"] = state["sentences"][chosen["sentence"]]["word"]
        expect_head(explorer, state, chosen)
    explorer.get_by_role("combobox").select_option("1")
    chosen |= {"sentence": 1, "word": state["sentences"][1]["word"]}
    expect_head(explorer, state, chosen)
    assert page.url.endswith(PAGE), "the arrow keys have turned the page"
    assert opened.problems() == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_word_can_be_read_on_its_colour(visit, scheme):
    """The contrast of the strongest word with its background is that of WCAG AA."""
    opened = visit(PAGE, scheme=scheme)
    ratio = opened.page.locator(".heads-explorer").evaluate(
        "explorer => {"
        + LIGHT
        + """
          const words = [...explorer.querySelectorAll(".he-key")];
          const strongest = words.reduce((a, b) =>
            Number(a.dataset.weight) >= Number(b.dataset.weight) ? a : b);
          const look = getComputedStyle(strongest);
          const pair = [light(look.color), light(look.backgroundColor)].sort((a, b) => b - a);
          return (pair[0] + 0.05) / (pair[1] + 0.05);
        }"""
    )
    assert ratio >= 4.5
    assert opened.problems() == {}
