"""Tests of the cloze comparison explorer's Python side: state, wording, rejected input."""

import json

import pytest

from coursekit.widgets import FillExplorer
from tests.helpers.javascript import javascript
from tests.helpers.one_line_errors import refused

SENTENCES = [["anna", "rides"], ["she", "laughs"]]
LEFT = [
    [("tom", 0.5), ("anna", 0.3)],
    [("has", 0.6), ("rides", 0.4)],
    [("he", 0.7), ("she", 0.3)],
    [("sings", 0.9)],
]
BOTH = [
    [("anna", 0.5)],
    [("rides", 1.00004)],
    [("she", 0.99949), ("he", 0.0004)],
    [("laughs", 0.5)],
]
TEXT = {
    "sentences": SENTENCES,
    "guesses": {"left to right": LEFT, "BERT": BOTH},
    "truth": {"left to right": [0.3, 0.4, 0.3, 0.0012], "BERT": [0.5, 1.0, 0.99949, 0.5]},
}


def made(**changed):
    return FillExplorer([TEXT | changed], sees={"left to right": "left"}, hidden=2)


def test_the_browser_gets_what_python_gave():
    state = json.loads(json.dumps(made().get_state(["texts", "sees", "text", "hidden"])))
    text = state["texts"][0]
    assert text["sentences"] == SENTENCES
    assert text["guesses"]["left to right"][2] == [["he", 0.7], ["she", 0.3]]
    assert text["guesses"]["BERT"][1] == [["rides", 1.0]]
    assert text["truth"]["BERT"][2] == 0.999
    assert state["sees"] == {"left to right": "left", "BERT": "both"}
    assert (state["text"], state["hidden"]) == (0, 2)


def test_the_sentence_says_who_is_right_and_what_the_others_say():
    call = f'inWords("she", ["left", "BERT"], {json.dumps({"left": LEFT, "BERT": BOTH})}, '
    call += f"{json.dumps({'left': [0.3, 0.4, 0.3, 0.001], 'BERT': [1, 1, 1, 1]})}, 2)"
    assert javascript(made(), call) == (
        "Hidden: she. left says he with 70 %, and gives she 30 %; BERT is right with > 99 %."
    )


@pytest.mark.parametrize(
    ("p", "said"), [(0, "0 %"), (0.004, "< 1 %"), (0.006, "1 %"), (0.5, "50 %"), (1, "100 %")]
)
def test_percent(p, said):
    assert javascript(made(), f"percent({p})") == said
    assert not javascript(made(), f"percent({p}).includes(' ')"), "no break"


@pytest.mark.parametrize(
    ("key", "place", "leads"),
    [
        *(("ArrowRight", 1, 2), ("ArrowDown", 1, 2), ("ArrowLeft", 1, 0), ("ArrowUp", 1, 0)),
        *(("ArrowLeft", 0, 0), ("ArrowRight", 3, 3), ("Home", 2, 0), ("End", 1, 3)),
    ],
)
def test_keys_move_the_gap_and_stop_at_the_ends(key, place, leads):
    assert javascript(made(), f'moved("{key}", {place}, 4)') == leads
    assert javascript(made(), f'moved("a", {place}, 4) === undefined') is True


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"sentences": ["anna rides", "she laughs"]}, "split them first"),
        ({"sentences": []}, "text 0 has no words"),
        ({"guesses": {}}, "guesses and truth of text 0 must have the same models"),
        ({"guesses": {"BERT": BOTH}}, "must have the same models"),
        ({"guesses": {"left to right": LEFT[:3], "BERT": BOTH}}, "for each of the 4 words"),
        ({"truth": {"left to right": [0.1], "BERT": [0.5] * 4}}, "for each of the 4 words"),
        ({"guesses": {"left to right": [[]] * 4, "BERT": BOTH}}, "probabilities from 0 to 1"),
        ({"truth": {"left to right": [1.5] * 4, "BERT": [0.5] * 4}}, "probabilities from 0 to 1"),
        ({"truth": {"left to right": [float("nan")] * 4, "BERT": [0.5] * 4}}, "from 0 to 1"),
        (
            {"guesses": {"left to right": [[("a", 0.1), ("b", 0.2)]] * 4, "BERT": BOTH}},
            "must be sorted, the best first",
        ),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(changed, message):
    with refused(message):
        made(**changed)


def test_models_sides_and_places_are_checked():
    other = TEXT | {"guesses": {"BERT": BOTH}, "truth": {"BERT": [0.5] * 4}}
    with pytest.raises(ValueError, match="text 1 must have guesses of left to right, BERT"):
        FillExplorer([TEXT, other])
    with pytest.raises(ValueError, match='"left", "right" or "both"'):
        FillExplorer([TEXT], sees={"BERT": "up"})
    with pytest.raises(ValueError, match="text 0 has no word 4"):
        FillExplorer([TEXT], hidden=4)
    with pytest.raises(ValueError, match="at least one text"):
        FillExplorer([])


def test_the_models_keep_their_order_when_a_notebook_is_saved():
    """Saving sorts the keys of every dict."""
    names = ["right to left", "BERT"]
    text = {part: dict.fromkeys(names, TEXT[part]["BERT"]) for part in ("guesses", "truth")}
    assert FillExplorer([TEXT | text]).get_state()["models"] == names
