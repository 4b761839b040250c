"""Tests of the picture of attention that the comparison of interventions records."""

from __future__ import annotations

import torch

from coursekit.corpora.grammar.lexicon import NUMBERS
from experiments import bottleneck
from experiments.attention_interventions import picture
from experiments.synthetic_translation import FreshPairs


def test_the_picture_shows_the_sentence_with_the_most_crossings():
    data = FreshPairs("korean", 1500, 12).data
    weights = [torch.rand(len(target), len(source)) for source, target in data.test]
    shown = picture(weights, data)
    i = next(i for i, w in enumerate(weights) if w.tolist() == shown["weights"])
    assert shown["source"] == data.source_words.tokens(data.test[i][0])

    def crossings(gold):
        return sum(a < c and b > d for a, b in gold for c, d in gold)

    assert crossings(shown["links"]) == max(map(crossings, data.links)) > 3


def test_weights_across_an_adjective_are_those_of_its_cases(monkeypatch):
    data = FreshPairs("korean", 1500, 12).data
    words = data.source_words
    numbers = {" ".join(number.english) for number in NUMBERS}
    looks = []  # at the word right of a number; elsewhere at the first word
    for source, target in data.test:
        places = [s for s, word in enumerate(words.tokens(source)) if word in numbers]
        weights = torch.zeros(len(target), len(source))
        weights[:, places[0] + 1 if len(places) == 1 else 0] = 1
        looks.append(weights)
    monkeypatch.setattr(bottleneck, "weights_for", lambda model, pairs: looks)
    found = bottleneck.measure_across_an_adjective(torch.nn.Module(), data)
    assert found["number"] < 0.2 < 0.8 < found["adjective"] and found["noun"] == 0
