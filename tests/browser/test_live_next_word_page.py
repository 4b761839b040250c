"""Tests of the next-word explorers of chapters 1 and 10: they compute what Python computes."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from coursekit.models.ngrams import NgramModel
from coursekit.text.vocabulary import until_eos
from coursekit.widgets.live.weight_packing import unpack
from solutions.embeddings.vectors import NeuralLanguageModel
from tests.browser.conftest import LIGHT, explorer_states

pytestmark = pytest.mark.browser

COUNTS, WRITER = "book/01_why_attention.html", "book/10_what_changed.html"


def state_of(page: str) -> dict[str, Any]:
    """Return the explorer's state from Python."""
    return next(state for state in explorer_states(page) if "beginnings" in state)


@pytest.fixture(scope="module")
def models() -> list[Any]:
    """Return chapter 1's models, from what the page has of them: history -> probabilities (V,)."""
    state = state_of(COUNTS)
    size, eos = len(state["words"]), state["eos"]
    counts, network = state["models"]
    ids = [ord(character) - 0x100 for character in counts["text"]]
    sentences = []
    while ids:
        sentences.append([*until_eos(ids), eos])
        ids = ids[len(sentences[-1]) :]
    ngrams = NgramModel(len(counts["discounts"]), size, counts["discounts"]).fit(sentences)
    tensors = unpack(network["weights"])
    (h, inputs), m = tensors["hidden.weight"].shape, tensors["embedding.weight"].shape[1]
    model = NeuralLanguageModel(size, m, inputs // m, h)
    model.load_state_dict(tensors)

    def by_network(history: list[int]) -> torch.Tensor:
        context = ([state["bos"]] * (inputs // m) + history)[-(inputs // m) :]
        return model(torch.tensor([context]))[0].softmax(-1).detach()

    def by_counts(history: list[int]) -> torch.Tensor:
        return torch.tensor([ngrams.probability(word, history) for word in range(size)])

    return [by_counts, by_network]


def expect(explorer: Any, models: list[Any], text: str, at: int) -> None:
    """Expect the text with one word chosen, and the seven best words of each model for it."""
    state, words = state_of(COUNTS), text.split()
    radios = explorer.get_by_role("radio")
    assert radios.locator("span").all_inner_texts() == [*words, "…"]
    assert radios.nth(at).get_attribute("aria-checked") == "true"
    history = [state["bos"], *(state["words"].index(word) for word in words[:at])]
    for model, panel in zip(models, explorer.locator(".nw-model").all(), strict=True):
        p = model(history)
        expected = [float(p[i]) for i in p.argsort(descending=True)[:7]]
        rows = panel.locator("li button")
        shown = [float(row.get_attribute("data-probability")) for row in rows.all()]
        assert shown[:7] == pytest.approx(expected, abs=1e-3)
        names = rows.locator("span:first-child").all_inner_texts()
        assert [float(p[state["words"].index(name)]) if name != "." else shown[i]
                for i, name in enumerate(names)] == pytest.approx(shown, abs=1e-3)  # fmt: skip
        if at < len(words):
            assert panel.locator(".nw-true span").first.inner_text() == words[at]


@pytest.mark.parametrize("width", [1280, 390])
def test_both_models_predict_what_python_predicts(visit, models, width):
    state = state_of(COUNTS)
    opened = visit(COUNTS, width=width)
    explorer = opened.page.locator(".nextword-explorer")
    for i, beginning in enumerate(state["beginnings"]):
        if i:
            explorer.locator("select").select_option(str(i))
        expect(explorer, models, " ".join(beginning["text"]), beginning["at"])
    assert explorer.evaluate("e => e.scrollWidth <= e.clientWidth")
    assert opened.problems() == {}


def test_mouse_touch_and_keyboard(visit, models):
    opened = visit(COUNTS, touch=True)
    page, explorer = opened.page, opened.page.locator(".nextword-explorer")
    words = state_of(COUNTS)["beginnings"][0]["text"]
    explorer.get_by_role("radio").nth(2).tap()
    expect(explorer, models, " ".join(words), 2)
    page.keyboard.press("ArrowRight")
    expect(explorer, models, " ".join(words), 3)
    page.keyboard.press("End")
    expect(explorer, models, " ".join(words), len(words))
    put = explorer.locator(".nw-model").last.locator("li button").nth(1)
    word = put.locator("span").first.inner_text()
    put.click()
    expect(explorer, models, " ".join([*words, word]), len(words) + 1)
    page.keyboard.press("Home")
    expect(explorer, models, " ".join([*words, word]), 0)
    explorer.locator(".nw-model").first.locator("li button").nth(2).click()
    changed = explorer.get_by_role("radio").first.locator("span").inner_text()
    expect(explorer, models, " ".join([changed, *words[1:], word]), 0)
    assert opened.problems() == {}


def test_what_is_typed_is_read_or_explained(visit, models):
    opened = visit(COUNTS)
    explorer = opened.page.locator(".nextword-explorer")
    field, note = explorer.get_by_role("combobox", name="Text"), explorer.locator(".live-note")
    field.fill("The cat sees")
    expect(explorer, models, "the cat sees", 3)
    for text, said in {
        "the cat sees a dragon": "it does not know “dragon”",
        "the cat sleeps. the dog": "one sentence: leave out what stands after the full stop",
        ". the cat": "A sentence needs a word before its full stop",
        " ".join(["the"] * 27): "These are 27 words; the model reads up to 26",
    }.items():
        field.fill(text)
        assert said in note.inner_text()
        expect(explorer, models, "the cat sees", 3)
    field.fill("")
    expect(explorer, models, "", 0)
    assert note.inner_text() == ""
    assert opened.problems() == {}


def test_a_click_into_the_field_offers_words_and_the_dice_another_example(visit):
    texts = [" ".join(one["text"]) for one in state_of(COUNTS)["beginnings"]]
    opened = visit(COUNTS)
    explorer = opened.page.locator(".nextword-explorer")
    field = explorer.get_by_role("combobox", name="Text")
    field.click()
    explorer.get_by_role("option", name="teacher", exact=True).click()
    assert field.input_value() == f"{texts[0]} teacher "
    opened.page.keyboard.type("hel")
    explorer.get_by_role("option", name="helps", exact=True).click()
    assert field.input_value() == f"{texts[0]} teacher helps "
    dice = explorer.get_by_role("button", name="Choose at random")
    dice.click()
    first = field.input_value()
    dice.click()
    assert first in texts and field.input_value() in texts and field.input_value() != first
    assert opened.problems() == {}


@pytest.mark.parametrize("page", [COUNTS, WRITER])
def test_a_model_writes_on(visit, page):
    state = state_of(page)
    opened = visit(page)
    explorer = opened.page.locator(".nextword-explorer")
    for panel in explorer.locator(".nw-model").all():
        explorer.locator("select").first.select_option(str(len(state["beginnings"]) - 1))
        panel.get_by_role("button", name="draw a word").click()
        assert explorer.get_by_role("radio").count() == 2  # the word and the next place
        panel.get_by_role("button", name="write on").click()
        words = explorer.get_by_role("radio").locator("span").all_inner_texts()
        assert words.count(".") == state["sentences"] or len(words) == state["most"] + 1
        assert {*words} <= {*state["words"][state["special"] :], ".", "…"}
    assert opened.problems() == {}


def test_the_most_probable_word_is_always_the_same(visit):
    """With top-k 1, and with a top-p that the first word reaches, drawing is greedy."""
    opened = visit(WRITER)
    explorer = opened.page.locator(".nextword-explorer")
    written = set()
    for top_k, top_p in (("1", "1"), ("1", "0.5"), ("1", "1")):
        explorer.get_by_label("Top-k").select_option(top_k)
        explorer.get_by_label("Top-p").select_option(top_p)
        explorer.get_by_role("button", name="write on").click()
        written.add(" ".join(explorer.get_by_role("radio").locator("span").all_inner_texts()))
    assert len(written) == 1
    assert "one word can be drawn here" in explorer.locator(".nw-told").inner_text()
    assert opened.problems() == {}


def test_a_link_opens_text_place_and_settings(visit):
    opened = visit(f"{WRITER}#live=nextword&s=anna+is+a+cook.+she&at=3&t=0.5&k=3&p=0.7")
    explorer = opened.page.locator(".nextword-explorer")
    assert explorer.get_by_role("combobox", name="Text").input_value() == "anna is a cook. she"
    assert explorer.get_by_role("radio").nth(2).get_attribute("aria-checked") == "true"
    for label, value in {"Temperature": "0.5", "Top-k": "3", "Top-p": "0.7"}.items():
        assert explorer.get_by_label(label).input_value() == value
    explorer.get_by_role("radio").nth(3).click()
    opened.page.wait_for_url("**#live=nextword&s=anna+is+a+cook.+she&at=4&t=0.5&k=3&p=0.7")
    assert opened.problems() == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_and_numbers_can_be_read_on_their_colours(visit, scheme):
    """The contrast of a word of the strongest colour, and of its number, is that of WCAG AA."""
    opened = visit(WRITER, scheme=scheme)
    ratios = opened.page.locator(".nextword-explorer").evaluate(
        "explorer => {"
        + LIGHT
        + """
          return [...explorer.querySelectorAll(".live-word :is(span, small)")].map((text) => {
            const word = text.closest(".live-word");
            const pair = [getComputedStyle(text).color, getComputedStyle(word).backgroundColor];
            const [high, low] = pair.map(light).sort((a, b) => b - a);
            return (high + 0.05) / (low + 0.05);
          });
        }"""
    )
    assert len(ratios) > 10 and min(ratios) >= 4.5
    assert opened.problems() == {}
