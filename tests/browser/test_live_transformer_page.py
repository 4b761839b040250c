"""Tests of the Transformer chapter's live model: the page computes the same as torch."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from coursekit.models.attention_hooks import recorded_weights
from coursekit.models.translation import TransformerTranslator, translate
from coursekit.text.vocabulary import BOS, EOS
from coursekit.widgets.live.weight_packing import unpack
from solutions.transformer.model import Transformer
from tests.browser.conftest import explorer_states
from tests.helpers.small_models import small_transformer

pytestmark = pytest.mark.browser

PAGE = "book/08_transformer.html"
PARTS = {"encoder": "source to source", "decoder": "target to target", "memory": "target to source"}


@pytest.fixture(scope="module")
def state() -> dict[str, Any]:
    """Return the explorer's state from Python."""
    return next(state for state in explorer_states(PAGE) if "source_words" in state)


@pytest.fixture(scope="module")
def model(state) -> Transformer:
    """Return the packed model with the page's weights."""
    tensors = unpack(state["weights"])
    size, d = tensors["embedding.weight"].shape
    inner = tensors["encoder_layers.0.feed_forward.inner.bias"].shape[0]
    layers = sum(name.startswith("encoder_") and name.endswith("inner.bias") for name in tensors)
    found = small_transformer(size, d, state["heads"], inner, layers)
    found.load_state_dict(tensors)
    return found.eval()


def written(explorer: Any) -> list[str]:
    return explorer.locator(".tf-words").nth(1).locator("button > span").all_inner_texts()


def expect(explorer: Any, state: dict, model: Transformer, words: list[str]) -> list[str]:
    """Expect torch's translation, and return it."""
    ids = [*(state["words"].index(word) for word in words), EOS]
    (found,) = translate(TransformerTranslator(model), [ids])
    said = [state["words"][i] for i in found]
    assert [word for word in written(explorer) if word != "<eos>"] == said
    return said


@torch.no_grad()
def rows(state: dict, model: Transformer, words: list[str], said: list[str]) -> dict[str, Any]:
    """Return the weights of the three attentions, (L, h, rows, columns) each."""
    source = torch.tensor([[*(state["words"].index(word) for word in words), EOS]])
    previous = torch.tensor([[BOS, *(state["words"].index(word) for word in said)]])
    with recorded_weights(model) as weights:
        model(source, previous)
    parts: dict[str, list] = {"encoder": [], "decoder": [], "memory": []}
    for name, found in weights.items():
        part = "memory" if "memory" in name else name.split("_")[0]
        parts[part].append(found[-1][0])
    return parts


def shares(explorer: Any, line: int) -> list[float]:
    buttons = explorer.locator(".tf-words").nth(line).locator("button")
    return buttons.evaluate_all("all => all.map(e => Number(e.style.getPropertyValue('--share')))")


@pytest.mark.parametrize("width", [1280, 360])
def test_sentences_are_translated_as_in_torch(visit, state, model, width):
    opened = visit(PAGE, width=width)
    explorer = opened.page.locator(".transformer-explorer")
    assert explorer.count() == 1
    for i, example in enumerate(state["examples"]):
        explorer.locator("select").select_option(str(i))
        expect(explorer, state, model, example["source"])


def test_colours_are_the_weights_of_the_chosen_head(visit, state, model):
    opened = visit(PAGE)
    explorer = opened.page.locator(".transformer-explorer")
    words = state["examples"][0]["source"]
    said = expect(explorer, state, model, words)
    parts = rows(state, model, words, said)
    for part, line, looked in (("encoder", 0, 0), ("memory", 1, 0), ("decoder", 1, 1)):
        name = f"{PARTS[part]}, layer 2, head 3"
        explorer.get_by_role("radio", name=name).click()
        explorer.locator(".tf-words").nth(line).locator("button").nth(2).click()
        expected = parts[part][1][2, 2].tolist()
        shown = shares(explorer, looked)
        if part == "decoder":
            expected = expected[1:]  # <bos> is not shown
        assert shown[: len(expected)] == pytest.approx(expected, abs=2e-3)
        assert "layer 2, head 3" in explorer.locator(".tf-told").inner_text()


def test_knobs_change_the_translation_as_in_torch(visit, state, model, monkeypatch):
    opened = visit(PAGE)
    explorer = opened.page.locator(".transformer-explorer")
    words = state["examples"][0]["source"]
    expect(explorer, state, model, words)
    explorer.get_by_role("radio", name="target to source, layer 2, head 1").click()
    explorer.get_by_role("button", name="Switch this layer’s whole attention off").click()
    weight = model.decoder_layers[1].memory_attention.output.weight
    kept = weight.detach().clone()
    try:
        with torch.no_grad():
            weight.zero_()
        expect(explorer, state, model, words)
    finally:  # other tests share the model
        with torch.no_grad():
            weight.copy_(kept)
    told = explorer.locator(".tf-told").inner_text()
    assert told.startswith("The attention target to source of layer 2 is off: the translation")
    explorer.get_by_role("button", name="Undo all changes").click()
    expect(explorer, state, model, words)
    explorer.get_by_label("without positions").check()
    monkeypatch.setattr(model, "positions", lambda length, size: torch.zeros(length, size))
    expect(explorer, state, model, words)
    opened.page.wait_for_function("location.hash.includes('without=positions')")


def test_a_sentence_of_one_s_own_and_a_link_to_it(visit, state, model):
    opened = visit(PAGE)
    explorer = opened.page.locator(".transformer-explorer")
    words = state["examples"][0]["source"][:-1]
    explorer.locator("input[role=combobox]").fill(" ".join(words) + " ")
    expect(explorer, state, model, words)
    opened.page.wait_for_function("location.hash.includes('live=transformer')")
    before = opened.page.evaluate("location.hash")
    explorer.locator(".tf-words").first.locator("button").first.press("ArrowRight")
    assert opened.page.evaluate("document.activeElement.getAttribute('aria-checked')") == "true"
    opened.page.wait_for_function("before => location.hash !== before", arg=before)
    other = visit(PAGE + opened.page.evaluate("location.hash"))
    again = other.page.locator(".transformer-explorer")
    assert again.locator("input[role=combobox]").input_value() == " ".join(words)
    assert again.locator(".tf-told").inner_text() == explorer.locator(".tf-told").inner_text()
    for text, said in (
        ("", "at least one word"),
        ("the xyzzy now", "“xyzzy”"),
        ("the " * 30, "30 words"),
    ):
        explorer.locator("input[role=combobox]").fill(text)
        assert said in explorer.locator(".live-note").inner_text()
        expect(explorer, state, model, words)


def open_microscope(explorer: Any) -> Any:
    panel = explorer.locator(".microscope")
    panel.locator("summary").click()
    panel.locator(".ms-key").first.wait_for()
    return panel


def key_weights(panel: Any) -> list[float]:
    return [float(text) for text in panel.locator(".ms-key small").all_inner_texts()]


@pytest.mark.parametrize("width", [1280, 390])
def test_the_microscope_shows_the_weights_of_the_chosen_head(visit, state, model, width):
    opened = visit(PAGE, width=width)
    explorer = opened.page.locator(".transformer-explorer")
    words = state["examples"][0]["source"]
    parts = rows(state, model, words, expect(explorer, state, model, words))
    explorer.get_by_role("radio", name="target to source, layer 1, head 2").click()
    panel = open_microscope(explorer)
    expected = parts["memory"][0][1]  # (target, source)
    panel.locator(".ms-cell[data-row='2'][data-key='1']").click()
    assert key_weights(panel) == pytest.approx(expected[2].tolist(), abs=6e-3)
    chosen = panel.locator(".ms-key[aria-checked=true]")
    assert words[1] in chosen.inner_text()
    chosen.press("ArrowRight")
    focused = opened.page.evaluate("document.activeElement.innerText")
    assert words[2] in focused and words[2] in panel.locator("summary").inner_text()
    component = panel.get_by_label("Component")
    before = panel.locator(".ms-product").inner_text()
    component.press("ArrowRight")
    assert panel.locator(".ms-product").inner_text() != before
    wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert opened.page.evaluate(wider) <= 0
    opened.page.wait_for_function("location.hash.includes('key=3')")
    panel.locator("summary").click()
    opened.page.wait_for_function("!location.hash.includes('key=')")
    assert opened.problems() == {}


def test_the_microscope_shows_what_the_causal_mask_hides(visit):
    opened = visit(PAGE)
    explorer = opened.page.locator(".transformer-explorer")
    explorer.get_by_role("radio", name="target to target, layer 1, head 1").click()
    panel = open_microscope(explorer)
    panel.locator(".ms-cell[data-row='1'][data-key='3']").click()
    assert "The mask bars this word" in panel.locator(".ms-lines").inner_text()
    explorer.get_by_label("without the causal mask").check()
    assert "The mask bars this word" not in panel.locator(".ms-lines").inner_text()
    explorer.get_by_role("button", name="Switch this head off").click()
    assert "the head is off" in panel.inner_text()
