"""Measurements of word vectors: neighbours of a kind, analogies, and the longest vectors."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from coursekit.corpora.grammar.lexicon import NOUNS
from coursekit.text.vocabulary import SPECIAL
from coursekit.training import train
from experiments import word_vectors
from experiments.perplexity_by_context import count_contexts, group_by_context, name_groups
from experiments.word_vectors import KINDS, measure_vectors, noun_kinds


@pytest.fixture(scope="module")
def data():
    return word_vectors.load()[0]


def make_vectors(data, plural, kind=3.0):
    """Vectors of nouns: a direction of their own, one of their kind, and one of the plural."""
    torch.manual_seed(1)
    vectors = 0.3 * torch.randn(len(data.vocabulary), 64)
    direction, kinds = torch.randn(64), torch.randn(len(KINDS), 64)
    for noun in NOUNS:
        found = [i for i, name in enumerate(KINDS) if name in noun.tags]
        if found and {noun.english, noun.english_plural} <= data.vocabulary.ids.keys():
            own = 0.3 * torch.randn(64) + kind * kinds[found[0]]
            vectors[data.vocabulary.ids[noun.english]] = own
            vectors[data.vocabulary.ids[noun.english_plural]] = own + plural * direction
    return vectors


def test_vectors_made_of_kind_and_number_have_neighbours_of_their_kind_and_analogies(data):
    found = measure_vectors(make_vectors(data, plural=3.0), data)
    assert found["same_kind"] == 1.0
    assert found["analogies"] > 0.6  # vectors of length 1 hold the direction only roughly
    assert found["analogies_of_the_kind"] > 0.9


def test_vectors_of_kind_and_number_alone_answer_no_more_analogies_than_a_guess(data):
    vectors = make_vectors(data, plural=3.0)
    for noun in NOUNS:  # the plurals of a kind change places
        same = [n for n in NOUNS if n.tags & set(KINDS) == noun.tags & set(KINDS)]
        if noun.english_plural in data.vocabulary.ids and same[0] is noun:
            ids = [
                data.vocabulary.ids[n.english_plural]
                for n in same
                if n.english_plural in data.vocabulary.ids
            ]
            vectors[ids] = vectors[ids[1:] + ids[:1]]
    found = measure_vectors(vectors, data)
    assert found["analogies_of_the_kind"] > 0.9
    assert found["analogies"] < 0.1 < found["analogies_guessed_from_the_kind"] < 0.2


def test_the_guess_is_that_of_the_questions_answered_in_the_kind(data):
    vectors = make_vectors(data, plural=3.0)
    for noun in NOUNS:  # of the other kinds nothing is answered
        if "person" not in noun.tags and noun.english_plural in data.vocabulary.ids:
            vectors[data.vocabulary.ids[noun.english_plural]] = torch.randn(64)
    persons = list(noun_kinds(data.vocabulary).values()).count("person")
    found = measure_vectors(vectors, data)
    assert 0 < found["analogies_of_the_kind"] < 0.2
    assert found["analogies_guessed_from_the_kind"] == pytest.approx(1 / (persons - 1), abs=0.01)


def test_vectors_without_order_are_at_chance(data):
    torch.manual_seed(1)
    found = measure_vectors(torch.randn(len(data.vocabulary), 64), data)
    assert found["same_kind"] == pytest.approx(found["same_kind_by_chance"], abs=0.06)
    assert found["analogies"] < 0.05


def test_the_dot_product_favours_the_longest_vectors_and_the_cosine_does_not(data):
    torch.manual_seed(1)
    vectors = torch.randn(len(data.vocabulary), 64)
    before = measure_vectors(vectors, data)
    vectors[len(SPECIAL) : len(SPECIAL) + len(vectors) // 10] *= 20
    after = measure_vectors(vectors, data)
    assert after["longest_by_product"] > 0.95
    assert after["longest_by_cosine"] == pytest.approx(before["longest_by_cosine"], abs=0.1)


def test_a_row_is_trained_and_measured(data, monkeypatch):
    monkeypatch.setattr(word_vectors, "EPOCHS", 1)
    found = word_vectors.train_row("neural-2-4", 1, data, train)
    assert found["metrics"]["perplexity"] < len(data.vocabulary)
    assert found["history"][0].keys() == {"epoch", "loss", "perplexity"}
    groups = found["by_context"]
    words = [group["words"] for group in groups]
    assert min(words) > 0
    assert sum(words) == sum(max(0, len(ids) - word_vectors.WINDOW) for ids in data.test)


def test_fewer_words_of_context_are_the_last_ones(data, monkeypatch):
    monkeypatch.setattr(word_vectors, "EPOCHS", 1)
    found = word_vectors.train_row("neural-16-32-window-2", 1, data, train)
    V, m, h, window = len(data.vocabulary), 16, 32, 2
    assert found["parameters"] == V * (1 + m + window * m + h) + h * (1 + window * m)


def test_contexts_are_counted_without_the_word_that_follows():
    a, b, c = 10, 11, 12
    counts = count_contexts([[a, b, c], [a, b, a]], [[a, b, b, c]], window=2)
    # The first two words have less context; then a b, which occurs twice, and b b.
    assert counts.tolist() == [-1, -1, 2, 0]


def test_groups_by_context_cover_all_words_with_a_whole_context():
    probabilities = np.array([0.5, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25])
    groups = group_by_context(probabilities, np.array([-1, 0, 3, 4, 5, 19, 20, 500]))
    assert [group["words"] for group in groups] == [1, 2, 2, 2]
    assert name_groups() == ["never", "1–4 times", "5–19 times", "20 times or more"]
    assert all(group["perplexity"] == pytest.approx(4) for group in groups)
