"""Tests of the live translator explorer's Python side: state, wording, rejected input."""

import json

import pytest
import torch
from torch import nn

from coursekit.models.translation import AttentionTranslator, FixedContext
from coursekit.text.vocabulary import WordVocabulary
from coursekit.widgets import TranslatorExplorer, pack
from solutions.bahdanau.scores import AdditiveAttention
from solutions.bahdanau.translator import AttentionDecoder, BidirectionalEncoder
from tests.helpers.javascript import javascript
from tests.helpers.one_line_errors import refused

ENGLISH = WordVocabulary([["the", "queen", "quietly", "reads"]])
KOREAN = WordVocabulary([["여왕", "은", "읽는다"]])
EXAMPLE = (["the", "queen", "reads"], ["여왕", "은", "읽는다"], {(2, 2), (1, 0)})


def packed(attention: nn.Module):
    torch.manual_seed(0)
    encoder = BidirectionalEncoder(len(ENGLISH), 4, 3)
    return pack(AttentionTranslator(encoder, AttentionDecoder(len(KOREAN), 4, 3, 6, attention)))


WITH, WITHOUT = packed(AdditiveAttention(3, 6, 5)), packed(FixedContext())


def made(**changed):
    given = {"examples": [EXAMPLE], "fixed": WITHOUT, "glosses": {"여왕": "queen"}} | changed
    return TranslatorExplorer(WITH, ENGLISH, KOREAN, **given)


def test_the_browser_gets_models_words_and_examples():
    state = json.loads(json.dumps(made(longest=9).get_state()))
    assert state["attention"] == WITH and state["fixed"] == WITHOUT
    assert state["source_words"] == ENGLISH.words and state["target_words"] == KOREAN.words
    assert state["examples"] == [
        {"source": EXAMPLE[0], "target": EXAMPLE[1], "links": [[1, 0], [2, 2]]}
    ]
    assert (state["bos"], state["eos"], state["special"], state["longest"]) == (2, 3, 4, 9)
    assert made(fixed=None).fixed == {}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"examples": []}, "at least one sentence"),
        ({"examples": [(["the", "king"], ["은"], None)]}, "'king' is not in the vocabulary"),
        ({"examples": [(["the"], ["왕"], None)]}, "'왕' is not in the vocabulary"),
        ({"fixed": pack(nn.Linear(2, 2))}, "fixed must be a packed AttentionTranslator"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(changed, message):
    with refused(message):
        made(**changed)


def test_a_model_without_attention_is_no_model_with_attention():
    with pytest.raises(ValueError, match="must have an AdditiveAttention"):
        TranslatorExplorer(WITHOUT, ENGLISH, KOREAN, [EXAMPLE])


SHOWN = {
    "words": ["the", "queen"],
    "step": 2,
    "barred": [0, 2],
    "forced": {"1": "은", "3": "<eos>"},
    "hand": {"0": [100, 0, 25]},
    "key": 1,
}


def test_a_link_opens_what_was_seen():
    there = f"fromLink(Object.fromEntries(new URLSearchParams(toLink({json.dumps(SHOWN)}))))"
    assert javascript(TranslatorExplorer, there) == SHOWN
    assert javascript(TranslatorExplorer, "fromLink({ s: 'The queen!' })") == {
        "words": ["the", "queen"], "step": 0, "barred": [], "forced": {}, "hand": {},
            "key": -1,
    }  # fmt: skip
    broken = "fromLink({ at: 'x', bar: 'y', force: 'z', hand: '1:a,-3' })"
    assert javascript(TranslatorExplorer, broken)["hand"] == {"0": [0, 0]}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("the queen", ""),
        ("The Queen.", ""),
        ("", "Write at least one word"),
        (" ,. ", "Write at least one word"),
        ("the king", "it does not know “king”"),
        ("a b c d", "it does not know “a”, “b”, “c”."),
        ("the " * 41, "These are 41 words; the model reads up to 40"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_sentence(text, said):
    ids = json.dumps([[word, i] for i, word in enumerate(ENGLISH.words)])
    call = f"complaint(wordsOf({json.dumps(text)}), new Map({ids}), MOST)"
    found = javascript(TranslatorExplorer, call)
    assert said in found and bool(said) == bool(found)


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("kat", "cat"), ("cats", "cat"), ("sleps", "sleeps"), ("selep", "sleep"), ("xyz", ""),
        ("te", "the"), ("a", ""), ("slowly", ""),
    ],
)  # fmt: skip
def test_an_unknown_word_is_answered_with_the_known_one_that_is_near(word, meant):
    known = json.dumps(["the", "cat", "sleeps", "sleep", "king"])
    assert javascript(TranslatorExplorer, f"nearestWord({json.dumps(word)}, {known})") == meant


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("the qu", ["queen", "quietly"]),
        ("queen", []),
        ("the ", ["queen", "quietly", "reads", "the"]),
        ("Q", ["queen", "quietly"]),
        ("x", []),
    ],
)
def test_the_last_word_is_completed(text, words):
    known = json.dumps(sorted(ENGLISH.words[4:]))
    assert javascript(TranslatorExplorer, f"completions({json.dumps(text)}, {known})") == words


def test_a_step_is_told_in_words():
    call = "inWords(['the', 'queen', '<eos>'], [0.125, 0.87, 0.005], '여왕 (queen)', 0.998, false)"
    assert javascript(TranslatorExplorer, call) == (
        "For “여왕 (queen)”: queen 0.87, the 0.13; the model gives it > 99 %."
    )
    nothing = "inWords(['the'], [0], '은', 0.2, true)"
    assert javascript(TranslatorExplorer, nothing) == (
        "For “은”: no weight anywhere, so the context is 0; forced; the model gives it 20 %."
    )
