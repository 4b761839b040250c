"""Tests of the landing page's explorer: its state, wording, rejected input."""

import json

import pytest
import torch

from coursekit.text.vocabulary import WordVocabulary
from coursekit.widgets import AlignmentExplorer, pack
from tests.helpers.javascript import javascript
from tests.helpers.one_line_errors import refused
from tests.helpers.small_models import small_transformer

WORDS = WordVocabulary([["the", "cat", "sleeps", "le", "chat", "dort"]])


def made(**changed):
    torch.manual_seed(0)
    given = {
        "weights": pack(small_transformer(len(WORDS), 8, heads=2, inner=12)), "words": WORDS,
        "source_words": ["the", "sleeps", "cat"], "heads": 2, "shown_head": (2, 1),
        "sentences": [("the", "cat", "sleeps"), ("the", "cat")],
    }  # fmt: skip
    return AlignmentExplorer(**(given | changed))


def test_the_browser_gets_the_model_its_words_and_sentences():
    state = json.loads(json.dumps(made().get_state()))
    assert state["words"] == WORDS.words and state["source_words"] == ["cat", "sleeps", "the"]
    assert (state["heads"], state["layer"], state["head"]) == (2, 2, 1)
    assert state["sentences"] == [["the", "cat", "sleeps"], ["the", "cat"]]


@pytest.mark.parametrize(
    ("sentences", "message"),
    [([], "at least one sentence"), ([["the", "chat"]], "'chat' is not among the source words")],
)
def test_what_does_not_fit_is_refused_in_one_sentence(sentences, message):
    with refused(message):
        made(sentences=sentences)


def test_another_model_is_refused():
    with refused("a packed Transformer"):
        made(weights=pack(torch.nn.Linear(2, 2)))


def test_what_a_word_reads_is_said_with_its_largest_weights():
    call = "inWords('chat', ['the', 'cat', 'sleeps'], [0.2, 0.79, 0.01, 0])"
    assert javascript(AlignmentExplorer, call) == "“chat” reads “cat” (0.79) and “the” (0.20)."
    call = "inWords('chat', ['the', 'cat'], [0.01, 0.02, 0.97])"
    assert "“the end”" in javascript(AlignmentExplorer, call)


def test_a_ribbon_leads_from_word_to_word():
    boxes = "{left: 0, right: 10, top: 0, bottom: 4}, {left: 20, right: 40, top: 20, bottom: 24}"
    below, beside = (
        javascript(AlignmentExplorer, f"ribbon({boxes}, {b})") for b in ("false", "true")
    )
    assert below == "M5 4 C5 12 30 12 30 20"
    assert beside == "M10 2 C15 2 15 22 20 22"
