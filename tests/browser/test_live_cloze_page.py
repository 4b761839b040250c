"""Tests of the BERT chapter's live cloze: the page computes the same as torch."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from coursekit.models.bert import PretrainingModel
from coursekit.models.cloze import Filler
from coursekit.widgets.live.weight_packing import unpack
from solutions.bert.inputs import BertEmbeddings
from solutions.bert.pretraining import BertEncoder, BertLayer, MaskedLanguageModelHead, pool_first
from tests.browser.conftest import explorer_states

pytestmark = pytest.mark.browser

PAGE = "book/09_bert.html"
DONE = "document.querySelector('.cl-told').textContent"


@pytest.fixture(scope="module")
def state() -> dict[str, Any]:
    """Return the explorer's state from Python."""
    return next(state for state in explorer_states(PAGE) if "cls" in state)


@pytest.fixture(scope="module")
def model(state) -> PretrainingModel:
    """Return the packed model with the page's weights."""
    tensors = unpack(state["weights"])
    longest, d = tensors["encoder.embeddings.position.weight"].shape
    table = BertEmbeddings(len(state["words"]), d, max_length=longest)
    inner = tensors["encoder.layers.0.inner.weight"].shape[0]
    layers = sum(name.endswith(".inner.weight") for name in tensors)
    encoder = BertEncoder(table, [BertLayer(d, state["heads"], inner) for _ in range(layers)])
    found = PretrainingModel(encoder, MaskedLanguageModelHead(table.token), d, pool_first)
    found.load_state_dict(tensors)
    return found.eval()


def encoded(
    state: dict, first: list[str], second: list[str]
) -> tuple[list[int], list[int], list[int]]:
    """Return the ids, the segments and the position of each word."""
    ids = [[state["words"].index(word) for word in text] for text in (first, second)]
    tokens = [state["cls"], *ids[0], state["sep"], *([*ids[1], state["sep"]] if second else [])]
    segments = [0] * (len(first) + 2) + [1] * (len(second) + 1 if second else 0)
    count = len(first) + len(second)
    return tokens, segments, [1 + i + (i >= len(first)) for i in range(count)]


@torch.no_grad()
def torch_says(
    state: dict, model: PretrainingModel, first: list[str], second: list[str], *hidden: int
) -> tuple[Any, int, float]:
    """Return the probabilities for the hidden word, its id, and whether the second text follows."""
    tokens, segments, where = encoded(state, first, second)
    places = [where[i] for i in hidden]
    truth = tokens[places[0]]
    for place in places:
        tokens[place] = state["mask"]
    logits, follows = model(torch.tensor([tokens]), torch.tensor([segments]))
    return logits[0, places[0]].softmax(-1), truth, follows[0].softmax(-1)[0].item()


def expect(
    explorer: Any,
    state: dict,
    model: PretrainingModel,
    first: list[str],
    second: list[str],
    hidden: int,
) -> None:
    """Expect torch's guesses, probability of the second text, and effect of each word."""
    probabilities, truth, follows = torch_says(state, model, first, second, hidden)
    rows = explorer.locator(".cl-guesses").first.locator("li")
    for row, word in zip(
        rows.all(), rows.locator("span:first-child").all_inner_texts(), strict=True
    ):
        p = probabilities[state["words"].index(word)].item()
        assert float(row.get_attribute("data-probability")) == pytest.approx(p, abs=1e-3)
    best = state["words"][int(probabilities.argmax())]
    assert rows.first.locator("span").first.inner_text() == best
    marked = explorer.locator(".cl-guesses").first.locator(".cl-true span").first
    assert marked.inner_text() == state["words"][truth]
    if second:
        assert (
            f"{round(100 * follows)}\u00a0%" in explorer.locator(".cl-next").inner_text()
            or follows > 0.995
            or follows < 0.005
        )
    words = explorer.locator(".cl-word")
    for i in (0, len(first) - 1, len(first) + len(second) - 1):
        if i != hidden:
            without, _, _ = torch_says(state, model, first, second, hidden, i)
            lost = (probabilities[truth] - without[truth]).item()
            shown = words.nth(i).locator("small").inner_text()
            assert (float(shown) if shown else 0.0) == pytest.approx(
                lost if lost >= 0.05 else 0.0, abs=0.006
            )


def test_the_model_that_reads_from_left_to_right_says_what_torch_says(visit, state):
    tensors = unpack(state["left"])
    longest, d = tensors["encoder.embeddings.position.weight"].shape
    table = BertEmbeddings(len(state["words"]), d, max_length=longest)
    inner = tensors["encoder.layers.0.inner.weight"].shape[0]
    layers = [BertLayer(d, state["heads"], inner) for _ in range(2)]
    model = Filler(BertEncoder(table, layers), MaskedLanguageModelHead(table.token), "left")
    model.load_state_dict(tensors)
    example = state["examples"][0]
    opened = visit(PAGE)
    rows = opened.page.locator(".cloze-explorer .cl-left li")
    tokens, segments, places = encoded(state, example["first"], example["second"])
    place = places[example["hidden"]]
    with torch.no_grad():
        given = torch.tensor([tokens]), torch.tensor([segments])
        probabilities = model.eval()(*given)[0, place].softmax(-1)
    for row, word in zip(
        rows.all(), rows.locator("span:first-child").all_inner_texts(), strict=True
    ):
        p = probabilities[state["words"].index(word)].item()
        assert float(row.get_attribute("data-probability")) == pytest.approx(p, abs=1e-3)


@pytest.mark.parametrize("width", [1280, 360])
def test_gaps_are_filled_as_in_torch(visit, state, model, width):
    opened = visit(PAGE, width=width)
    explorer = opened.page.locator(".cloze-explorer")
    assert explorer.count() == 1
    for i, example in enumerate(state["examples"][:4]):
        explorer.locator("select").first.select_option(str(i))
        opened.page.wait_for_function(DONE)
        expect(explorer, state, model, example["first"], example["second"], example["hidden"])
    explorer.locator(".cl-word").nth(1).click()
    opened.page.wait_for_function(DONE)
    expect(explorer, state, model, example["first"], example["second"], 1)
    opened.page.keyboard.press("ArrowRight")
    opened.page.wait_for_function(DONE)
    expect(explorer, state, model, example["first"], example["second"], 2)


def test_a_text_of_one_s_own_and_a_link_to_it(visit, state, model):
    opened = visit(PAGE)
    explorer = opened.page.locator(".cloze-explorer")
    first, second = explorer.locator("input").all()
    first.fill("max is a singer ")
    second.fill("")
    opened.page.wait_for_function(DONE)
    expect(explorer, state, model, ["max", "is", "a", "singer"], [], 3)
    assert explorer.locator(".cl-next").inner_text() == ""
    explorer.get_by_role("button", name="Head 1.2").click()
    explorer.locator("select").nth(1).select_option("2.1")
    assert "head 2.1 attends most to" in explorer.locator(".cl-told").inner_text()
    opened.page.wait_for_function("location.hash.includes('show=2.1')")
    address = opened.page.evaluate("location.hash")
    assert "a=max+is+a+singer" in address and "off=1.2" in address
    other = visit(PAGE + address)
    again = other.page.locator(".cloze-explorer")
    assert again.locator("input").first.input_value() == "max is a singer"
    assert again.get_by_role("button", name="Head 1.2").get_attribute("aria-pressed") == "true"
    assert again.locator(".cl-told").inner_text() == explorer.locator(".cl-told").inner_text()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "Write at least one word"),
        ("max is xyzzy now", "does not know “xyzzy”"),
        ("max is a singe", "type on, or choose a word"),
        ("max " * 80, "These are 80 words"),
    ],
)
def test_what_cannot_be_read_is_said_and_the_text_before_stays(visit, state, text, said):
    opened = visit(PAGE)
    explorer = opened.page.locator(".cloze-explorer")
    second = explorer.locator("input").nth(1)
    second.fill("")
    before = explorer.locator(".cl-word").count()
    explorer.locator("input").first.fill(text)
    assert said in explorer.locator(".live-note").inner_text()
    assert explorer.locator(".cl-word").count() == before
