"""Tests of the Bahdanau chapter's live translator: the page computes the same as torch."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from coursekit.data.batching import source_batch
from coursekit.models.translation import (
    AttentionTranslator,
    FixedContext,
    attention_weights,
    translate,
)
from coursekit.text.vocabulary import EOS
from coursekit.widgets.live.weight_packing import unpack
from solutions.bahdanau.scores import AdditiveAttention
from solutions.bahdanau.translator import AttentionDecoder, BidirectionalEncoder
from tests.browser.conftest import WITHOUT_GLOSSES, explorer_states, go_to

pytestmark = pytest.mark.browser

PAGE = "book/03_bahdanau.html"


@pytest.fixture(scope="module")
def state() -> dict[str, Any]:
    """Return the explorer's state from Python."""
    return next(state for state in explorer_states(PAGE) if "attention" in state)


def model(packed: dict) -> AttentionTranslator:
    """Return the packed translator with the page's weights."""
    tensors = unpack(packed)
    (source, e), (target, _) = (
        tensors[f"{part}.embedding.weight"].shape for part in ("encoder", "decoder")
    )
    d = tensors["encoder.first_state.bias"].shape[0]
    attends = "decoder.attention.W" in tensors
    attention = AdditiveAttention(d, 2 * d, d) if attends else FixedContext()
    decoder = AttentionDecoder(target, e, d, 2 * d, attention)
    translator = AttentionTranslator(BidirectionalEncoder(source, e, d), decoder)
    translator.load_state_dict(tensors)
    return translator.eval()


@pytest.fixture(scope="module")
def models(state) -> dict[str, AttentionTranslator]:
    return {name: model(state[name]) for name in ("attention", "fixed")}


def ids(state: dict, words: list[str]) -> list[int]:
    return [*(state["source_words"].index(word) for word in words), EOS]


def expect(explorer: Any, state: dict, models: dict, words: list[str]) -> list[str]:
    """Expect torch's translations and some steps' weights; return the translation."""
    source = ids(state, words)
    lines = explorer.locator(".tr-outputs dd > span").all()
    shown = [line.evaluate(WITHOUT_GLOSSES) for line in lines]
    for k, name in enumerate(models):
        (found,) = translate(models[name], [source])
        assert shown[k] == " ".join(state["target_words"][i] for i in found)
    (found,) = translate(models["attention"], [source])
    said = [state["target_words"][i] for i in [*found, EOS]]
    choices = explorer.get_by_role("radio")
    assert choices.locator("span").all_inner_texts() == said
    assert explorer.locator(".tr-word").all_inner_texts() == [*words, "<eos>"]
    (weights,) = attention_weights(models["attention"], [source], [[*found, EOS]])
    for step in sorted({0, len(said) // 2, len(said) - 1}):
        choices.nth(step).click()
        numbers = [float(text) for text in explorer.locator(".tr-weight").all_inner_texts()]
        assert numbers == pytest.approx(weights[step].tolist(), abs=0.00501)
        assert explorer.locator(".tr-told").inner_text().startswith(f"For “{said[step]}")
        assert explorer.locator(".tr-count").inner_text() == f"word {step + 1} of {len(said)}"
    return said


@pytest.mark.parametrize("width", [pytest.param(1280, marks=pytest.mark.smoke), 390, 360])
def test_both_models_translate_as_in_torch(visit, state, models, width):
    opened = visit(PAGE, width=width)
    explorer = opened.page.locator(".translator-explorer")
    assert explorer.count() == 1
    for i, example in enumerate(state["examples"]):
        explorer.get_by_label("Example").select_option(str(i))
        said = expect(explorer, state, models, example["source"])
        gold = explorer.locator(".tr-gold").count()
        linked = sum(t == len(said) - 1 for _, t in example["links"])
        assert gold == linked * (said[:-1] == example["target"])
    explorer.get_by_label("English").fill("The old queen sees a small cat.")
    expect(explorer, state, models, ["the", "old", "queen", "sees", "a", "small", "cat"])
    wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert opened.page.evaluate(wider) <= 0
    assert opened.problems() == {}


@pytest.mark.parametrize("width", [1280, 390])
def test_the_strongest_ribbon_joins_the_middles_of_its_rows(visit, width):
    page = visit(PAGE, width=width).page
    explorer = page.locator(".translator-explorer")
    for step in (0, 4):
        explorer.get_by_role("radio").nth(step).click()
        apart = explorer.evaluate(
            """(explorer) => {
              const middle = (element) => {
                const { top, bottom } = element.getBoundingClientRect();
                return (top + bottom) / 2;
              };
              const all = [...explorer.querySelectorAll(".tr-weight")];
              const weights = all.map((element) => Number(element.textContent));
              const largest = weights.indexOf(Math.max(...weights));
              const source = explorer.querySelectorAll(".tr-source li")[largest];
              const target = explorer.querySelector(".tr-target [aria-checked=true]");
              const widths = [...explorer.querySelectorAll(".tr-strong")];
              const width = (path) => Number(path.getAttribute("stroke-width"));
              const ribbon = widths.reduce((a, b) => (width(a) > width(b) ? a : b));
              const top = ribbon.ownerSVGElement.getBoundingClientRect().top;
              const numbers = ribbon.getAttribute("d").match(/[0-9.]+/g).map(Number);
              return [numbers[1] + top - middle(source), numbers.at(-1) + top - middle(target)];
            }"""
        )
        assert apart == pytest.approx([0, 0], abs=2)


def test_words_are_completed_with_the_keyboard_and_what_cannot_be_read_is_said(visit, state):
    page = visit(PAGE).page
    explorer = page.locator(".translator-explorer")
    field, note = explorer.get_by_label("English"), explorer.get_by_role("status")
    options = explorer.locator("ul [role=option]:visible")
    before = explorer.locator(".tr-word").all_inner_texts()
    field.fill("")
    assert note.inner_text().startswith("Write at least one word")
    assert explorer.locator(".tr-word").all_inner_texts() == before
    field.type("the qu")
    assert note.inner_text() == "“qu…”: type on, or choose a word from the list."
    offered = options.all_inner_texts()
    assert offered == sorted(w for w in state["source_words"] if w.startswith("qu"))[:8]
    field.press("ArrowDown")
    field.press("ArrowDown")
    chosen = explorer.locator("ul [aria-selected=true]")
    assert chosen.all_inner_texts() == [offered[1]]
    field.press("Enter")
    assert field.input_value() == f"the {offered[1]} "
    assert note.inner_text() == ""
    assert explorer.locator(".tr-word").all_inner_texts() == ["the", offered[1], "<eos>"]
    field.press("ArrowDown")
    assert options.count() == len(state["source_words"]) - state["special"]
    field.press("Escape")
    assert options.count() == 0
    field.type("qu")
    assert options.count() > 0
    field.press("Enter")
    assert options.count() == 0
    field.fill("the xylophone reads")
    assert "it does not know “xylophone”" in note.inner_text()
    field.fill(" ".join(["the"] * 50))
    assert note.inner_text() == "These are 50 words; the model reads up to 40 here."
    assert explorer.locator(".tr-word").all_inner_texts() == ["the", offered[1], "<eos>"]
    field.fill(" ".join(["the old cat sees"] * 8))
    assert "longer than any that the model was trained on" in note.inner_text()
    assert explorer.locator(".tr-word").count() == 33


def test_the_reader_bars_forces_and_weighs_and_undoes_it(visit, state, models):
    opened = visit(PAGE)
    explorer = opened.page.locator(".translator-explorer")
    words = state["examples"][0]["source"]
    told = explorer.locator(".tr-told")
    said = expect(explorer, state, models, words)
    explorer.get_by_role("radio").first.click()
    first = max(range(len(words)), key=lambda j: float(weight_texts(explorer)[j]))
    explorer.locator(".tr-word").nth(first).click()
    assert f"“{words[first]}” is barred: the translation" in told.inner_text()
    assert weight_texts(explorer)[first] == "0.00"
    assert explorer.locator(".tr-word[aria-pressed=true]").all_inner_texts() == [words[first]]
    focused = opened.page.evaluate("document.activeElement.textContent")
    assert focused == words[first], "the focus stays on the word"

    explorer.get_by_role("button", name="Undo all changes").click()
    assert explorer.get_by_role("radio").locator("span").all_inner_texts() == said
    second = explorer.locator(".tr-guesses button").nth(1)
    word = second.locator("span").first.inner_text()
    second.click()
    assert explorer.get_by_role("radio").first.locator("span").inner_text() == word
    assert f"“{word}” is forced as word 1" in told.inner_text()
    expect_forced(explorer, state, models["attention"], words, word)
    explorer.locator(".tr-guesses button[aria-pressed=true]").click()
    assert explorer.get_by_role("radio").locator("span").all_inner_texts() == said

    explorer.get_by_label("Set this step's weights by hand").check()
    sliders = explorer.get_by_role("slider")
    for j in range(sliders.count()):
        sliders.nth(j).fill("50" if j < 2 else "0")
    assert f"{words[0]} 0.50, {words[1]} 0.50" in told.inner_text()
    for j in range(2):
        sliders.nth(j).fill("0")
    assert "no weight anywhere, so the context is 0" in told.inner_text()
    explorer.get_by_label("Set this step's weights by hand").uncheck()
    assert explorer.get_by_role("radio").locator("span").all_inner_texts() == said
    assert opened.problems() == {}


def weight_texts(explorer: Any) -> list[str]:
    return explorer.locator(".tr-weight").all_inner_texts()


@torch.no_grad()
def expect_forced(explorer: Any, state: dict, model: Any, words: list[str], word: str) -> None:
    """Expect the same words after the forced one as torch writes."""
    forced = state["target_words"].index(word)
    read = model.encode(*source_batch([ids(state, words)]))
    _, read = model.step(torch.tensor([2]), read)
    tokens = [forced]
    while tokens[-1] != EOS and len(tokens) < 40:
        log_p, read = model.step(torch.tensor([tokens[-1]]), read)
        tokens.append(int(log_p.argmax()))
    shown = explorer.get_by_role("radio").locator("span").all_inner_texts()
    assert shown == [state["target_words"][i] for i in tokens]


def test_a_link_holds_what_is_seen(visit, site, state):
    opened = visit(PAGE)
    page = opened.page
    explorer = page.locator(".translator-explorer")
    explorer.get_by_label("English").fill("the old queen sees a small cat")
    explorer.locator(".tr-word").nth(2).click()
    explorer.get_by_role("radio").nth(1).click()
    explorer.get_by_label("Force another word").select_option("의사")
    told = explorer.locator(".tr-told").inner_text().split(". ")[-1]
    page.wait_for_function("location.hash.includes('force')")
    address = page.url
    said = explorer.get_by_role("radio").all_inner_texts()

    other = visit(PAGE)
    go_to(other, address)
    again = other.page.locator(".translator-explorer")
    assert again.get_by_label("English").input_value() == "the old queen sees a small cat"
    assert again.get_by_role("radio").all_inner_texts() == said
    assert again.locator(".tr-word[aria-pressed=true]").all_inner_texts() == ["queen"]
    assert again.locator(".tr-told").inner_text().endswith(told)
    assert other.page.evaluate("scrollY") > 500, "the page opens at the explorer"
    other.page.evaluate("location.hash = '#live=translator&s=the+king+xyz'")
    status = again.get_by_role("status")
    other.page.wait_for_function("document.querySelector('.live-note').textContent.includes('xyz')")
    assert "it does not know “xyz”" in status.inner_text()
    assert opened.problems() == {} and other.problems() == {}


def test_steps_go_with_keys_and_buttons(visit, state):
    opened = visit(PAGE)
    page = opened.page
    explorer = page.locator(".translator-explorer")
    count = explorer.locator(".tr-count")
    last = explorer.get_by_role("radio").count()
    explorer.locator("[role=radio][tabindex='0']").focus()
    for key, step in (("End", last), ("ArrowRight", last), ("ArrowUp", last - 1), ("Home", 1)):
        page.keyboard.press(key)
        assert count.inner_text() == f"word {step} of {last}"
    explorer.get_by_role("button", name="Next").click()
    explorer.get_by_role("button", name="Back").click()
    assert count.inner_text() == f"word 1 of {last}"
    page.keyboard.press("ArrowLeft")
    assert page.url.split("#")[0].endswith(PAGE), "the arrow keys turn no pages here"
    explorer.get_by_role("button", name="Play").click()
    explorer.get_by_role("button", name="Stop").click()
    assert opened.problems() == {}


@pytest.mark.parametrize("width", [1280, 390])
def test_the_microscope_follows_the_step_and_what_is_done_to_it(visit, width):
    opened = visit(PAGE, width=width)
    explorer = opened.page.locator(".translator-explorer")
    panel = explorer.locator(".microscope")
    panel.locator("summary").click()
    panel.locator(".ms-cell[data-row='1'][data-key='2']").click()
    explorer.get_by_text("word 2 of").wait_for()
    shown = explorer.locator(".tr-source .tr-weight").all_inner_texts()
    assert panel.locator(".ms-key small").all_inner_texts() == shown
    score = explorer.locator(".tr-source .tr-score").all_inner_texts()[2]
    assert f"products sum to {score}." in panel.locator(".ms-lines").inner_text()
    explorer.locator(".tr-source button").nth(2).click()
    assert "The mask bars this word" in panel.locator(".ms-lines").inner_text()
    explorer.get_by_label("Set this step's weights by hand").check()
    assert "set by hand" in panel.locator(".ms-lines").inner_text()
    wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert opened.page.evaluate(wider) <= 0
    assert opened.problems() == {}
