"""The explorer sends the browser exactly what it was given, and refuses what does not fit."""

import json

import numpy as np
import pytest
import torch

from coursekit import style
from coursekit.explorers import AlignmentExplorer

SOURCE = ["the", "book"]
TARGET = ["책", "이", "있다"]
WEIGHTS = [[0.123456, 0.876544], [0.5, 0.5], [1.0, 0.0]]


def test_state_holds_words_rounded_weights_and_links():
    explorer = AlignmentExplorer(SOURCE, TARGET, WEIGHTS, links={(1, 0), (0, 2)})
    assert explorer.sentences == [
        {
            "source": SOURCE,
            "target": TARGET,
            "weights": [[0.1235, 0.8765], [0.5, 0.5], [1.0, 0.0]],
            "links": [[0, 2], [1, 0]],
        }
    ]
    state = explorer.get_state()
    assert json.loads(json.dumps(state["sentences"])) == explorer.sentences
    assert (state["sentence"], state["step"]) == (0, 0)


@pytest.mark.parametrize(
    "convert",
    [
        np.array,
        lambda w: np.array(w, dtype=np.float32),
        lambda w: torch.tensor(w, requires_grad=True),
        lambda w: torch.tensor(w, dtype=torch.float64),
        lambda w: [torch.tensor(row) for row in w],
        lambda w: tuple(map(tuple, w)),
    ],
    ids=["numpy", "float32", "torch", "float64", "rows", "tuples"],
)
def test_weights_may_be_any_kind_of_array(convert):
    rows = AlignmentExplorer(SOURCE, TARGET, convert(WEIGHTS)).sentences[0]["weights"]
    assert rows == [[0.1235, 0.8765], [0.5, 0.5], [1.0, 0.0]]
    assert all(type(value) is float for row in rows for value in row)


def test_words_may_be_tuples_and_links_numpy_numbers():
    explorer = AlignmentExplorer(tuple(SOURCE), tuple(TARGET), WEIGHTS, links=np.array([[1, 0]]))
    assert explorer.sentences[0]["links"] == [[1, 0]]
    assert explorer.sentences[0]["source"] == SOURCE


def test_several_sentences_each_with_its_own_sizes():
    explorer = AlignmentExplorer(
        [SOURCE, ["yes"]], [TARGET, ["네"]], [WEIGHTS, [[1.0]]], links=[None, {(0, 0)}]
    )
    assert [s["source"] for s in explorer.sentences] == [SOURCE, ["yes"]]
    assert [s["links"] for s in explorer.sentences] == [[], [[0, 0]]]
    explorer.sentence = 1
    with pytest.raises(ValueError, match="sentence must be from 0 to 1, not 2"):
        explorer.sentence = 2
    with pytest.raises(ValueError, match="step must be from 0 to 2, not 3"):
        explorer.step = 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("the book", TARGET, WEIGHTS), "lists of words, not one string"),
        (([], TARGET, WEIGHTS), "at least one word"),
        ((SOURCE, TARGET, np.transpose(WEIGHTS)), "one row for each of the 3 target words"),
        ((SOURCE, TARGET, WEIGHTS[:2]), "one row for each of the 3 target words"),
        ((SOURCE, TARGET, [[0.5, 0.5], [0.5], [1, 0]]), "one column for each of the 2 source"),
        ((SOURCE, TARGET, [0.5, 0.5, 1.0]), "one row for each"),
        ((SOURCE, TARGET, np.zeros((1, 3, 2))), "one row for each"),
        ((SOURCE, TARGET, [[float("nan"), 1], [0, 1], [0, 1]]), "numbers between 0 and 1"),
        ((SOURCE, TARGET, [[-0.5, 1.5], [0, 1], [0, 1]]), "numbers between 0 and 1"),
        ((SOURCE, TARGET, WEIGHTS, {(2, 0)}), r"link \(2, 0\) lies outside"),
        ((SOURCE, TARGET, WEIGHTS, {(-1, 0)}), r"link \(-1, 0\) lies outside"),
        (([SOURCE], TARGET, WEIGHTS), "as many sources, targets"),
        ((SOURCE, [TARGET], WEIGHTS), "target is several"),
        (([SOURCE], [TARGET], WEIGHTS), "1 sources"),
        (([SOURCE], [TARGET], [WEIGHTS], [None, None]), "2 collections of links"),
        (([SOURCE, SOURCE], [TARGET, TARGET], [WEIGHTS, WEIGHTS[:1]]), "of sentence 1"),
        (([SOURCE, []], [TARGET, TARGET], [WEIGHTS, WEIGHTS]), "of sentence 1"),
        ((["a", 3], TARGET, WEIGHTS), "lists of words"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(arguments, message):
    with pytest.raises(ValueError, match=message) as caught:
        AlignmentExplorer(*arguments)
    text = str(caught.value)
    assert text.endswith(".")
    assert "\n" not in text


def test_nothing_is_fetched_and_colours_come_from_the_one_master():
    explorer = AlignmentExplorer(SOURCE, TARGET, WEIGHTS)
    code = str(explorer._esm) + str(explorer._css)
    assert "import " not in str(explorer._esm)
    assert code.count("http") == code.count("http://www.w3.org/2000/svg")
    for name in ("ink", "accent", "gold"):
        assert f"--course-{name}" in code
        assert style.LIGHT[name] in code
