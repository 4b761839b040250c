"""Tests of the word weights explorer's Python side: state, wording, rejected input."""

import json

import numpy as np
import pytest
import torch

from coursekit.widgets import WordsExplorer
from tests.helpers.javascript import javascript
from tests.helpers.one_line_errors import refused

WORDS = ["it", "was", "not", "good"]
WEIGHTS = {"attention": [0.1, 0.0, 0.3, 0.6], "hop 1": [0.25, 0.25, 0.25, 0.25]}
SENTENCES = [["it", "rained"], ["it", "was", "bad"]]


def flat(**changed):
    return WordsExplorer([{"words": WORDS, "weights": WEIGHTS} | changed])


@pytest.mark.parametrize("convert", [np.array, torch.tensor, lambda row: row, tuple])
def test_weights_may_be_any_kind_of_row(convert):
    explorer = flat(weights={name: convert(row) for name, row in WEIGHTS.items()})
    state = json.loads(json.dumps(explorer.get_state()["texts"]))
    assert state[0]["weights"] == WEIGHTS
    assert state[0]["sentences"] == [WORDS]
    assert explorer.view == "attention"


def test_sentences_and_their_weights():
    """Weights of words may come for each sentence or in one row."""
    words = [[0.5, 0.5], [0.1, 0.1, 0.8]]
    both = [
        WordsExplorer(
            [
                {
                    "words": SENTENCES,
                    "weights": {"han": given},
                    "sentence_weights": {"han": torch.tensor([0.2, 0.8])},
                    "marked": {4},
                }
            ]
        ).texts
        for given in (words, [w for row in words for w in row])
    ]
    assert both[0] == both[1]
    assert both[0][0]["weights"] == {"han": [0.5, 0.5, 0.1, 0.1, 0.8]}
    assert both[0][0]["sentence_weights"] == {"han": [0.2, 0.8]}
    assert both[0][0]["marked"] == [4]


def test_sentences_of_one_word_each():
    explorer = WordsExplorer([{"words": [["fine"], ["bad"]], "weights": {"han": [[1.0], [1.0]]}}])
    assert explorer.texts[0]["weights"] == {"han": [1.0, 1.0]}
    explorer = WordsExplorer([{"words": [["fine"], ["bad"]], "weights": {"flat": [0.4, 0.6]}}])
    assert explorer.texts[0]["weights"] == {"flat": [0.4, 0.6]}


def test_an_empty_text_is_shown_and_says_so():
    explorer = WordsExplorer([{"words": [], "weights": {"attention": []}}])
    assert explorer.texts[0]["sentences"] == [[]]
    assert "no words" in javascript(explorer, "inWords([], [])")


def test_what_stands_for_the_colours():
    explorer = flat()
    call = f"inWords({json.dumps(WORDS)}, {json.dumps(WEIGHTS['attention'])})"
    assert javascript(explorer, call) == "Most weight: good 0.60, not 0.30, it 0.10."
    assert javascript(explorer, "strongest([0.2, 0.5, 0.5, 0], 9)") == [1, 2, 0]
    assert "No word" in javascript(explorer, 'inWords(["a"], [0])')


def test_colours_reach_full_strength_at_the_strongest_word_or_at_one():
    explorer = flat()
    relative, absolute = (
        javascript(explorer, f"strengths([0.1, 0.4, 0], {flag})") for flag in ("false", "true")
    )
    assert relative == pytest.approx([0.25, 1, 0])
    assert absolute == [0.1, 0.4, 0]
    assert javascript(explorer, "strengths([0, 0], false)") == [0, 0]
    assert javascript(explorer, "strengths([], false)") == []


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"words": "it was"}, "split the text first"),
        ({"weights": {}}, "weights of at least one view"),
        ({"weights": {"a": [0.5, 0.5]}}, "'a' in text 0 must be 4 numbers from 0 to 1"),
        ({"weights": {"a": [[0.5] * 4]}}, "must be 4 numbers"),
        ({"weights": {"a": [0.5, 0.5, 0.5, 1.5]}}, "from 0 to 1"),
        ({"weights": {"a": [0.5, 0.5, -0.5, 0.5]}}, "from 0 to 1"),
        ({"weights": {"a": [float("nan")] * 4}}, "from 0 to 1"),
        ({"sentence_weights": {"a": [0.5, 0.5]}}, "must be 1 numbers from 0 to 1, one for each s"),
        ({"marked": [4]}, "text 0 has 4 words; a marked position is out of range"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(changed, message):
    with refused(message):
        flat(**changed)


def test_all_texts_have_the_same_views():
    with pytest.raises(ValueError, match="text 1 must have weights for attention, hop 1"):
        WordsExplorer(
            [
                {"words": WORDS, "weights": WEIGHTS},
                {"words": ["a"], "weights": {"attention": [1.0]}},
            ]
        )
    with pytest.raises(ValueError, match="at least one text"):
        WordsExplorer([])


def test_the_views_keep_their_order_when_a_notebook_is_saved():
    """Saving sorts the keys of every dict."""
    weights = {"later first": [1.0, 0.0], "a second": [0.0, 1.0]}
    explorer = WordsExplorer([{"words": ["fine", "bad"], "weights": weights}])
    assert explorer.get_state()["views"] == ["later first", "a second"]


@pytest.mark.parametrize(
    ("i", "said"),
    [
        (0, "“so” has the weight 0.250; 1 of 3 words has more."),
        (1, "“good” has the weight 0.700; no word has more."),
        (2, "“it” has the weight 0.050; 2 of 3 words have more."),
    ],
)
def test_a_word_that_is_pressed_tells_its_weight(i, said):
    call = f"ofWord(['so', 'good', 'it'], [0.25, 0.7, 0.05], {i})"
    assert javascript(WordsExplorer, call) == said
