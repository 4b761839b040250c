"""Tests of the live cloze explorer's Python side: state, wording, rejected input."""

import json

import pytest
import torch
from torch import nn

from coursekit.models.bert import PretrainingModel
from coursekit.text.wordpiece import SPECIAL, WordPieceVocabulary
from coursekit.widgets import ClozeExplorer, pack
from solutions.bert.inputs import BertEmbeddings
from solutions.bert.pretraining import BertEncoder, BertLayer, MaskedLanguageModelHead, pool_first
from tests.helpers.javascript import javascript
from tests.helpers.one_line_errors import refused

WORDS = WordPieceVocabulary.from_pieces([*SPECIAL, "anna", "reads", "she", "sleeps"])
EXAMPLE = (["anna", "reads"], ["she", "sleeps"], 2)


def model() -> PretrainingModel:
    torch.manual_seed(0)
    table = BertEmbeddings(len(WORDS), 8, max_length=9)
    encoder = BertEncoder(table, [BertLayer(8, 2, 12) for _ in range(2)])
    return PretrainingModel(encoder, MaskedLanguageModelHead(table.token), 8, pool_first).eval()


PACKED = pack(model())


def made(**changed):
    given = {"weights": PACKED, "words": WORDS, "heads": 2, "examples": [EXAMPLE]} | changed
    return ClozeExplorer(**given)


def test_the_browser_gets_the_model_its_words_and_examples():
    state = json.loads(json.dumps(made().get_state()))
    assert state["weights"] == PACKED and state["left"] == {}
    assert made(left=PACKED).left == PACKED
    assert state["words"] == [*SPECIAL, "anna", "reads", "she", "sleeps"]
    assert (state["cls"], state["sep"], state["mask"], state["special"]) == (2, 3, 4, 5)
    assert (state["heads"], state["most"], state["eps"]) == (2, 6, 1e-12)
    assert state["examples"] == [{"first": EXAMPLE[0], "second": EXAMPLE[1], "hidden": 2}]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"examples": []}, "at least one text"),
        ({"examples": [(["anna", "runs"], [], 0)]}, "'runs' is not in the vocabulary"),
        ({"examples": [(["anna"], ["hugo"], 0)]}, "'hugo' is not in the vocabulary"),
        ({"examples": [([], ["anna"], 0)]}, "needs a first text"),
        ({"examples": [(["anna"], [], 1)]}, "the position 1 must be one of them"),
        ({"examples": [(["anna"] * 4, ["she"] * 3, 0)]}, "at most 6 words"),
        ({"weights": pack(nn.Linear(2, 2))}, "a packed PretrainingModel"),
        ({"left": pack(nn.Linear(2, 2))}, "a packed Filler"),
        ({"words": WordPieceVocabulary.from_pieces(["a", *SPECIAL])}, "must be the first ids"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(changed, message):
    with refused(message):
        made(**changed)


@pytest.mark.parametrize("texts", [(["anna", "reads"], ["she"]), (["anna"], [])])
def test_the_input_is_that_of_the_vocabulary(texts):
    ids = {word: WORDS.id(word) for word in ("anna", "reads", "she")}
    known = f"new Map(Object.entries({json.dumps(ids)}))"
    call = f"inputOf({json.dumps(texts)[1:-1]}, {known}, {{ cls: 2, sep: 3 }})"
    found = javascript(ClozeExplorer, call)
    first, second = ([WORDS.id(word) for word in text] for text in texts)
    tokens, segments = WORDS.join(first, second or None)
    assert (found["tokens"], found["segments"]) == (tokens, segments)
    assert [tokens[i] for i in found["places"]] == first + second


def test_a_link_keeps_what_is_shown():
    shown = {
        "first": ["anna", "reads"], "second": [], "hidden": 1, "off": ["1.2", "2.1"], "show": "2.2",
    }  # fmt: skip
    assert javascript(ClozeExplorer, f"fromLink(toLink({json.dumps(shown)}))") == shown
    broken = javascript(ClozeExplorer, "fromLink({ a: 'Anna!', gap: 'x', off: '1 a.b 2.2' })")
    assert broken == {"first": ["anna"], "second": [], "hidden": 0, "off": ["2.2"], "show": ""}


@pytest.mark.parametrize(
    ("best", "lost", "said"),
    [
        (
            {"word": "she", "p": 0.9},
            [0.6, 0.04, 0, 0.2],
            "Hidden: “she”. The model says so too, with 90 %. Hide one more word, and the "
            "probability of “she” falls: without “anna” by 0.60, without “sleeps” by 0.20.",
        ),
        (
            {"word": "he", "p": 0.7},
            [0, 0, 0, 0],
            "Hidden: “she”. The model says “he” with 70 %, and gives “she” 20 %. Hide any one word "
            "more, and the probability of “she” falls by less than 0.05: no single word decides.",
        ),
    ],
)
def test_what_is_shown_is_said_in_words(best, lost, said):
    words = ["anna", "reads", "she", "sleeps"]
    call = f"inWords('she', {json.dumps(best)}, 0.2, {lost}, {json.dumps(words)})"
    assert javascript(ClozeExplorer, call) == said
