"""Tests of the live classifier explorer's Python side: state, wording, rejected input."""

import json

import pytest
import torch
from torch import nn

from coursekit.text.vocabulary import WordVocabulary
from coursekit.widgets import ReviewExplorer, pack
from solutions.sentences.pooling import AttentionClassifier
from tests.helpers.javascript import javascript
from tests.helpers.one_line_errors import refused

WORDS = WordVocabulary([["it", "was", "not", "good"]])
EXAMPLE = (["it", "was", "good"], "In truth it has 4 of 5 stars.")


def packed(classes: int = 2):
    torch.manual_seed(0)
    return pack(AttentionClassifier(len(WORDS), 4, 3, 5, classes))


PACKED = packed()


def made(**changed):
    return ReviewExplorer(
        **({"weights": PACKED, "words": WORDS, "examples": [EXAMPLE], "most": 6} | changed)
    )


def test_the_browser_gets_the_model_its_words_and_examples():
    state = json.loads(json.dumps(made().get_state()))
    assert state["weights"] == PACKED and state["words"] == WORDS.words
    assert (state["special"], state["most"], state["classes"]) == (4, 6, ["bad", "good"])
    assert state["examples"] == [{"words": EXAMPLE[0], "truth": EXAMPLE[1]}]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"examples": []}, "at least one text"),
        ({"examples": [(["bad"], "")]}, "'bad' is not in the vocabulary"),
        ({"examples": [([], "")]}, "1 to 6 words"),
        ({"examples": [(["it"] * 7, "")]}, "1 to 6 words"),
        ({"weights": packed(3)}, "must have two classes"),
        ({"weights": pack(nn.Linear(2, 2))}, "a packed AttentionClassifier"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(changed, message):
    with refused(message):
        made(**changed)


def test_a_link_keeps_what_is_shown():
    shown = {"words": ["it", "was", "good"], "barred": [0, 2], "asks": False, "show": "rests"}
    assert javascript(ReviewExplorer, f"fromLink(toLink({json.dumps(shown)}))") == shown
    plain = {"words": ["it"], "barred": [], "asks": True, "show": "weight"}
    assert javascript(ReviewExplorer, f"toLink({json.dumps(plain)})")["show"] == ""
    broken = javascript(ReviewExplorer, "fromLink({ s: 'It!', bar: 'x 0', show: 'y' })")
    assert broken == plain


@pytest.mark.parametrize(
    ("show", "p", "values", "said"),
    [
        ("weight", 0.9, [0.1, 0.03, 0.8], "says good, 90 %. Most weight: good (0.80), it (0.10)."),
        ("weight", 0.3, [0, 0, 0], "says bad, 70 %. No word has any weight."),
        (
            "rests",
            0.9,
            [0.01, -0.2, 0.6],
            "Compared with the review without the word, the probability of good changes most here: "
            "“good” raises it by 0.60, “was” lowers it by 0.20.",
        ),
        ("growing", 0.9, [-0.2, -0.1, 0.4], "As the review grows, the verdict turns at: good."),
        ("growing", 0.9, [0.2, 0.1, 0.4], "The verdict is the same from the first word on."),
    ],
)
def test_what_is_shown_is_said_in_words(show, p, values, said):
    call = f"inWords({json.dumps(EXAMPLE[0])}, ['bad', 'good'], {p}, '{show}', {values})"
    assert said in javascript(ReviewExplorer, call)
