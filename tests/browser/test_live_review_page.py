"""Tests of the sentence chapter's live classifier: the page computes the same as torch."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from coursekit.widgets.live.weight_packing import unpack
from solutions.sentences.pooling import AttentionClassifier
from tests.browser.conftest import explorer_states

pytestmark = pytest.mark.browser

PAGE = "book/06_sentences.html"
DONE = "document.querySelector('.rv-told').textContent"


@pytest.fixture(scope="module")
def state() -> dict[str, Any]:
    """Return the explorer's state from Python."""
    return next(state for state in explorer_states(PAGE) if "classes" in state)


@pytest.fixture(scope="module")
def model(state) -> AttentionClassifier:
    """Return the packed classifier with the page's weights."""
    tensors = unpack(state["weights"])
    (size, e), a = tensors["embedding.weight"].shape, len(tensors["v"])
    found = AttentionClassifier(size, e, tensors["rnn.weight_hh_l0"].shape[1], a, 2)
    found.load_state_dict(tensors)
    return found.eval()


@torch.no_grad()
def torch_says(
    state: dict, model: AttentionClassifier, words: list[str]
) -> tuple[float, list[float]]:
    """Return torch's probability of a good review, and the weights."""
    ids = torch.tensor([[state["words"].index(word) for word in words]])
    logits, weights = model(ids, torch.tensor([len(words)]))
    return logits[0].softmax(-1)[1].item(), weights[0].tolist()


def numbers(explorer: Any) -> list[float]:
    shown = explorer.locator(".rv-word small").all_inner_texts()
    return [float(text.replace("−", "-") or 0) for text in shown]


def probability(explorer: Any) -> float:
    return float(explorer.locator(".rv-verdict").get_attribute("data-probability"))


@pytest.mark.parametrize("width", [1280, 360])
def test_reviews_are_judged_as_in_torch(visit, state, model, width):
    opened = visit(PAGE, width=width)
    explorer = opened.page.locator(".review-explorer")
    assert explorer.count() == 1
    for i, example in enumerate(state["examples"]):
        explorer.locator("select").first.select_option(str(i))
        p, weights = torch_says(state, model, example["words"])
        assert probability(explorer) == pytest.approx(p, abs=1e-3)
        kept = [weight if weight >= 0.05 else 0.0 for weight in weights]
        assert numbers(explorer) == pytest.approx(kept, abs=0.006)
        assert explorer.locator(".rv-told").inner_text().endswith(example["truth"])


def test_what_the_verdict_rests_on_and_how_it_grows(visit, state, model):
    opened = visit(PAGE)
    explorer = opened.page.locator(".review-explorer")
    words = state["examples"][0]["words"]
    whole, _ = torch_says(state, model, words)
    explorer.locator("select").nth(1).select_option("rests")
    opened.page.wait_for_function(DONE)
    changes = [
        whole - torch_says(state, model, words[:j] + words[j + 1 :])[0] for j in range(len(words))
    ]
    kept = [change if abs(change) >= 0.05 else 0.0 for change in changes]
    assert numbers(explorer) == pytest.approx(kept, abs=0.006)
    explorer.locator("select").nth(1).select_option("growing")
    opened.page.wait_for_function(DONE)
    grown = [torch_says(state, model, words[: j + 1])[0] for j in range(len(words))]
    assert numbers(explorer) == pytest.approx(grown, abs=0.006)


def test_barred_words_get_no_weight_and_the_query_can_be_switched_off(visit, state, model):
    opened = visit(PAGE)
    explorer = opened.page.locator(".review-explorer")
    words = state["examples"][0]["words"]
    _, weights = torch_says(state, model, words)
    top = weights.index(max(weights))
    explorer.locator(".rv-word").nth(top).click()
    assert numbers(explorer)[top] == 0
    assert opened.page.evaluate("document.activeElement.className").startswith("rv-word")
    explorer.locator(".rv-word").nth(top).click()
    explorer.get_by_role("checkbox").uncheck()
    with torch.no_grad():
        own = model.W.clone()
        model.W.zero_()
        p, _ = torch_says(state, model, words)
        model.W.copy_(own)
    assert probability(explorer) == pytest.approx(p, abs=1e-3)
    opened.page.wait_for_function("location.hash.includes('asks=no')")


def test_a_review_of_one_s_own_and_a_link_to_it(visit, state, model):
    opened = visit(PAGE)
    explorer = opened.page.locator(".review-explorer")
    explorer.locator("input[role=combobox]").fill("the story was not good ")
    p, _ = torch_says(state, model, ["the", "story", "was", "not", "good"])
    assert probability(explorer) == pytest.approx(p, abs=1e-3)
    opened.page.wait_for_function("location.hash.includes('not+good')")
    other = visit(PAGE + opened.page.evaluate("location.hash"))
    again = other.page.locator(".review-explorer")
    assert again.locator("input[role=combobox]").input_value() == "the story was not good"
    assert probability(again) == pytest.approx(p, abs=1e-3)
    for text, said in (
        ("", "at least one word"),
        ("it was xyzzy now", "“xyzzy”"),
        ("it was goo", "type on"),
    ):
        explorer.locator("input[role=combobox]").fill(text)
        assert said in explorer.locator(".live-note").inner_text()
        assert probability(explorer) == pytest.approx(p, abs=1e-3)
