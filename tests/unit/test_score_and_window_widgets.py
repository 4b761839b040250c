"""Tests of the score and window explorers: same numbers as Python, rejected input."""

import json

import numpy as np
import pytest
import torch

from coursekit.widgets import ScoresExplorer, WindowExplorer
from solutions.luong.local import gaussian_weights, local_window
from solutions.luong.scores import concat_score, dot_score, general_score, scaled_dot_score
from tests.helpers.javascript import javascript
from tests.helpers.one_line_errors import refused

WORDS = ["how", "are", "you"]
KEYS = [[1.0, 0.5], [-1.0, 0.25], [0.0, 2.0]]
GENERAL = [[1.0, 2.0], [-0.5, 0.5]]
CONCAT = [[1.0, 0.0, 2.0, 0.0], [0.0, 1.0, 0.0, 2.0], [0.5, 0.5, -0.5, 1.0]]
V = [1.0, -1.0, 0.5]


def scores_explorer(**changed):
    given = {
        "words": WORDS, "keys": KEYS, "query": [0.5, -1.5], "general": GENERAL, "concat": CONCAT,
        "v": V,
    }  # fmt: skip
    return ScoresExplorer(**(given | changed))


@pytest.mark.parametrize("query", [[0.5, -1.5], [3.0, 3.0], [0.0, 0.0]])
def test_the_four_scores_are_those_of_the_chapter(query):
    explorer = scores_explorer(query=query)
    state = {name: getattr(explorer, name) for name in ("general", "concat", "v")}
    keys, scores = torch.tensor([KEYS]), {}
    for i, key in enumerate(explorer.points):
        call = f"scoresOf({json.dumps(explorer.query)}, {json.dumps(key)}, {json.dumps(state)})"
        for name, value in javascript(explorer, call).items():
            scores.setdefault(name, [0.0] * len(KEYS))[i] = value
    one = torch.tensor([query])
    expected = {
        "dot": dot_score(one, keys),
        "scaled": scaled_dot_score(one, keys),
        "general": general_score(one, keys, torch.tensor(GENERAL)),
        "concat": concat_score(one, keys, torch.tensor(CONCAT), torch.tensor(V)),
    }
    assert scores.keys() == expected.keys()
    for name, values in expected.items():
        assert scores[name] == pytest.approx(values[0].tolist(), abs=1e-5), name
        weights = javascript(explorer, f"softmax({scores[name]})")
        assert weights == pytest.approx(values[0].softmax(0).tolist(), abs=1e-5)


def test_a_longer_query_keeps_its_cosine():
    explorer = scores_explorer()
    call = "[1, 1.5].map(f => cosine(stretched([0.5, -1.5], f), [1, 2]))"
    short, long = javascript(explorer, call)
    expected = torch.cosine_similarity(torch.tensor([0.5, -1.5]), torch.tensor([1.0, 2.0]), dim=0)
    assert short == pytest.approx(expected.item(), abs=1e-6)
    assert long == pytest.approx(short, abs=1e-9)
    assert javascript(explorer, "cosine([0, 0], [1, 2])") is None
    assert javascript(explorer, "stretched([0.5, -1.5], 9)") == pytest.approx([1.0, -3.0])


SCORES = [0.3, -1.0, 2.0, 0.5, 1.1, -0.2]


@pytest.mark.parametrize(("position", "D"), [(0.0, 1.0), (2.6, 2.0), (5.9, 1.5), (3.0, 6.0)])
def test_the_window_is_that_of_the_chapter(position, D):
    explorer = WindowExplorer(list("abcdef"), SCORES, position, D)
    shown = javascript(explorer, f"localWeights({SCORES}, {position}, {D}, {D / 2})")
    centre = torch.tensor([position])
    inside = local_window(centre, torch.tensor([len(SCORES)]), D, len(SCORES))
    softmax = torch.tensor([SCORES]).masked_fill(~inside, -torch.inf).softmax(1)
    assert shown["inside"] == inside[0].tolist()
    assert shown["softmax"] == pytest.approx(softmax[0].tolist(), abs=1e-6)
    weights = gaussian_weights(softmax, centre, D)
    assert shown["product"] == pytest.approx(weights[0].tolist(), abs=1e-6)
    assert sum(shown["product"]) < 1


def test_a_window_without_a_word_has_no_weight():
    explorer = WindowExplorer(["a", "b"], [1.0, 2.0], 2.0, 0.5)
    shown = javascript(explorer, "localWeights([1, 2], 2, 0.5, 0.25)")
    assert shown["softmax"] == shown["product"] == [0, 0]


@pytest.mark.parametrize("convert", [np.array, torch.tensor, lambda rows: rows])
def test_numbers_may_be_any_kind_of_array(convert):
    explorer = scores_explorer(keys=convert(KEYS), general=convert(GENERAL), v=convert(V))
    state = explorer.get_state()
    assert state["points"] == KEYS
    assert json.loads(json.dumps(state["general"])) == GENERAL
    window = WindowExplorer(WORDS, convert([1.0, 2.0, 3.0]), 1, 2)
    assert (window.scores, window.position, window.D) == ([1.0, 2.0, 3.0], 1.0, 2.0)
    assert window.sigma is None


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"words": "how"}, "words must be a list"),
        ({"words": WORDS[:2]}, r"keys must have the shape \(2, 2\)"),
        ({"keys": [[1.0, 9.0]] * 3}, "keys must lie between -3 and 3"),
        ({"query": [1.0, 2.0, 3.0]}, r"query must have the shape \(2,\)"),
        ({"query": [float("nan"), 0.0]}, "query must be an array of finite"),
        ({"general": [[1.0, 2.0]]}, "general must have the shape"),
        ({"concat": CONCAT[:2]}, r"concat must have the shape \(3, 4\)"),
        ({"v": []}, "v must be an array of finite numbers"),
    ],
)
def test_scores_that_do_not_fit_are_refused_in_one_sentence(changed, message):
    with refused(message):
        scores_explorer(**changed)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("how", [1.0], 0, 1), "words must be a list"),
        ((WORDS, [1.0, 2.0], 0, 1), "scores must be 3 finite numbers"),
        ((WORDS, [1.0, 2.0, float("inf")], 0, 1), "scores must be 3 finite numbers"),
        ((WORDS, [1.0, 2.0, 3.0], 4, 1), "position must be from 0 to 3"),
        ((WORDS, [1.0, 2.0, 3.0], 0, 0), "D must be"),
        ((WORDS, [1.0, 2.0, 3.0], 0, 0.7), "D must be"),
    ],
)
def test_a_window_that_does_not_fit_is_refused_in_one_sentence(arguments, message):
    with refused(message):
        WindowExplorer(*arguments)
