"""Tests of what the vectors of sentences say about their words."""

from __future__ import annotations

from itertools import product

import pytest
import torch

from experiments.sentence_vectors import divide_variance, measure_exchange, project

SENTENCES = list(product(("a", "b", "c"), ("sees", "calls"), ("x", "y")))
SUBJECT = {"a": [2.0, 0, 0], "b": [-1.0, 0, 0], "c": [-1.0, 0, 0]}
VERB = {"sees": [0, 1.0, 0], "calls": [0, -1.0, 0]}
OBJECT = {"x": [0, 0, 1.0], "y": [0, 0, -1.0]}


def vectors(*tables):
    return torch.tensor(
        [
            [
                sum(column)
                for column in zip(
                    *(table[word] for table, word in zip(tables, sentence, strict=True)),
                    strict=True,
                )
            ]
            for sentence in SENTENCES
        ]
    )


def test_a_sum_of_words_has_no_rest():
    shares = divide_variance(vectors(SUBJECT, VERB, OBJECT) + 7, SENTENCES)
    expected = {"subject": 0.5, "verb": 0.25, "object": 0.25, "rest": 0}
    assert shares == pytest.approx(expected, abs=1e-6)


def test_what_words_say_only_together_is_the_rest():
    sign = {"sees": 1, "calls": -1, "x": 1, "y": -1}
    together = torch.tensor([[float(sign[verb] * sign[thing])] for _, verb, thing in SENTENCES])
    shares = divide_variance(together, SENTENCES)
    assert shares == pytest.approx({"subject": 0, "verb": 0, "object": 0, "rest": 1}, abs=1e-6)


def test_a_bag_of_words_does_not_move_when_two_words_are_exchanged():
    nouns = ("a", "b", "c")
    sentences = [way for way in product(nouns, ("sees",), nouns) if way[0] != way[2]]
    bag = torch.tensor([[float(way.count(noun)) for noun in nouns] for way in sentences])
    assert measure_exchange(bag, sentences) == 0
    first_only = torch.tensor([[float(way[0] == noun) for noun in nouns] for way in sentences])
    assert measure_exchange(first_only, sentences) > 1


def test_points_of_a_plane_lie_in_it():
    flat = torch.tensor([[1.0, 1, 0, 0], [-1, -1, 0, 0], [0, 0, 1, 0], [0, 0, -1, 0]])
    plane, share = project(flat + 3)
    assert plane.shape == (4, 2) and share == pytest.approx(1)
    assert torch.cdist(plane, plane).allclose(torch.cdist(flat, flat), atol=1e-5)
