"""Tests of the picture of attention that the comparison of interventions records."""

from __future__ import annotations

import torch

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
