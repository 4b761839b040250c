"""Tests of the live Transformer explorer's Python side: state, wording, rejected input."""

import json

import pytest
import torch
from torch import nn

from coursekit.text.vocabulary import WordVocabulary
from coursekit.widgets import TransformerExplorer, pack
from tests.helpers.javascript import javascript
from tests.helpers.one_line_errors import refused
from tests.helpers.small_models import small_transformer

WORDS = WordVocabulary([["the", "cat", "sleeps", "le", "chat", "dort"]])
EXAMPLE = (["the", "cat", "sleeps"], ["le", "chat", "dort"], {"head": "encoder.2.1", "source": 1})


def model():
    torch.manual_seed(0)
    return small_transformer(len(WORDS), 8, heads=2, inner=12)


PACKED = pack(model())


def made(**changed):
    given = {
        "weights": PACKED, "words": WORDS, "source_words": ["the", "sleeps", "cat"], "heads": 2,
        "examples": [EXAMPLE], "longest": 12,
    }  # fmt: skip
    return TransformerExplorer(**(given | changed))


def test_the_browser_gets_the_model_its_words_and_examples():
    state = json.loads(json.dumps(made().get_state()))
    assert state["weights"] == PACKED and state["words"] == WORDS.words
    assert state["source_words"] == ["cat", "sleeps", "the"]
    assert (state["heads"], state["bos"], state["eos"], state["longest"]) == (2, 2, 3, 12)
    source, target, look = EXAMPLE
    assert state["examples"] == [{"source": source, "target": target, "look": look}]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"examples": []}, "at least one sentence"),
        ({"examples": [(["dog"], ["chat"], {})]}, "'dog' is not in the vocabulary"),
        ({"examples": [(["cat"], ["chien"], {})]}, "'chien' is not in the vocabulary"),
        ({"source_words": ["dog"]}, "'dog' is not in the vocabulary"),
        ({"weights": pack(nn.Linear(2, 2))}, "a packed Transformer"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(changed, message):
    with refused(message):
        made(**changed)


@pytest.mark.parametrize(("positions", "causal"), [(True, True), (False, True), (False, False)])
def test_a_link_keeps_what_is_shown(positions, causal):
    shown = {
        "words": ["the", "cat"], "head": "memory.1.2", "source": 1, "target": 0,
        "key": 3, "off": ["encoder.1.1", "memory.1.2"], "positions": positions, "causal": causal,
    }  # fmt: skip
    assert javascript(TransformerExplorer, f"fromLink(toLink({json.dumps(shown)}))") == shown


def test_a_broken_link_is_read_as_far_as_it_goes():
    found = javascript(
        TransformerExplorer, "fromLink({ s: 'The cat!', head: 'x', word: 'a', off: 'y' })"
    )
    assert found == {
        "words": ["the", "cat"], "head": "", "source": 0, "target": 0, "key": -1, "off": [],
        "positions": True, "causal": True,
    }  # fmt: skip


def test_what_is_shown_is_said_in_words():
    call = "inWords('memory.2.1', 'chat', ['the', 'cat', 'sleeps'], [0.2, 0.795, 0.005], {})"
    assert javascript(TransformerExplorer, call.format("false")) == (
        "From “chat”, target to source, layer 2, head 1: cat (0.80), the (0.20)."
    )
    assert "switched off" in javascript(TransformerExplorer, call.format("true"))
