"""Tests of the n-gram models, by hand-computed values and as distributions."""

from __future__ import annotations

import math
import random
from collections import Counter

import numpy as np
import pytest
import torch

from coursekit.models.ngrams import NgramModel, context_windows, perplexity
from coursekit.text.vocabulary import BOS, EOS

A, B, C, D = 4, 5, 6, 7
V = 8
TEXT = [[A, B, EOS], [A, C, EOS]]


def drawn(sentences: int, seed: int) -> list[list[int]]:
    """Return sentences in which a word depends on the previous one."""
    source = random.Random(seed)
    made = []
    for _ in range(sentences):
        words = [source.choice((A, B))]
        for _ in range(source.randrange(6)):
            words.append(min(words[-1] + source.choice((0, 1)), D))
        made.append([*words, EOS])
    return made


def test_bigram_by_hand():
    model = NgramModel(2, V, discounts=[0.5, 0.25]).fit(TEXT)
    # Different words before a: <bos>; b: a; c: a; <eos>: b and c. Five in all, of four kinds.
    shorter = {word: (n - 0.5) / 5 + 0.5 * 4 / 5 / V for word, n in {A: 1, B: 1, EOS: 2}.items()}
    shorter[D] = 0.5 * 4 / 5 / V  # unseen
    assert model.probability(B, [BOS, A]) == pytest.approx(0.75 / 2 + 0.25 * 2 / 2 * shorter[B])
    assert model.probability(D, [BOS, A]) == pytest.approx(0.25 * shorter[D])
    assert model.probability(A, [BOS]) == pytest.approx(1.75 / 2 + 0.25 / 2 * shorter[A])
    assert model.probability(EOS, [BOS, D]) == pytest.approx(shorter[EOS])  # d was never seen
    assert model.stored_counts == 4 + 5


def test_unigram_without_discount_is_the_relative_frequency():
    text = drawn(50, seed=1)
    counts = Counter(word for sentence in text for word in sentence)
    model = NgramModel(1, V, discounts=0).fit(text)
    for word in (A, B, C, D, EOS):
        assert model.probability(word, []) == pytest.approx(counts[word] / counts.total())
    frequencies = [counts[word] / counts.total() for sentence in text for word in sentence]
    assert model.perplexity(text) == pytest.approx(math.exp(-np.log(frequencies).mean()))


def test_longest_ngrams_count_how_often_shorter_ones_after_how_many_words():
    text = [[A, B, C, EOS]] * 9 + [[A, C, EOS]]
    model = NgramModel(2, V, discounts=0).fit(text)
    assert model.probability(C, [BOS, A]) == pytest.approx(1 / 10)
    # Of the five pairs (<bos> a, a b, b c, a c, c <eos>) two end in c and one in b.
    assert model.probability(C, [BOS, D]) == pytest.approx(2 / 5)
    assert model.probability(B, [BOS, D]) == pytest.approx(1 / 5)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("discount", [0.0, 0.3, 1.0])
def test_probabilities_of_all_words_sum_to_one(order, discount):
    model = NgramModel(order, V, discount).fit(drawn(60, seed=2))
    for history in ([BOS], [BOS, A], [BOS, A, B, C], [D, D, D], [BOS, 0, 1, A], [A, B]):
        total = sum(model.probability(word, history) for word in range(V))
        assert total == pytest.approx(1)


def test_all_probabilities_at_once_are_those_of_each_word():
    model = NgramModel(3, V).fit(drawn(60, seed=3))
    text = drawn(5, seed=4)
    one_by_one = [
        model.probability(word, [BOS, *sentence[:i]])
        for sentence in text
        for i, word in enumerate(sentence)
    ]
    assert model.probabilities(text) == pytest.approx(one_by_one)
    assert model.perplexity(text) == pytest.approx(math.exp(-np.log(one_by_one).mean()))


def test_only_the_last_words_of_a_history_matter():
    model = NgramModel(3, V).fit(drawn(60, seed=5))
    assert model.probability(C, [BOS, A, A, B]) == model.probability(C, [A, B])
    assert model.probability(C, [A, B]) != model.probability(C, [B, B])


def test_context_helps_and_tuning_helps():
    text, held_out = drawn(300, seed=6), drawn(100, seed=7)
    one, two = NgramModel(1, V, 0.99).fit(text), NgramModel(2, V, 0.99).fit(text)
    assert two.perplexity(held_out) < one.perplexity(held_out)
    before = two.perplexity(held_out)
    assert two.tune(held_out).perplexity(held_out) < before
    assert all(0 < discount < 1 for discount in two.discounts)


def test_stored_counts_are_the_different_ngrams():
    text = drawn(80, seed=8)
    different = {
        tuple(words[i : i + k])
        for words in ([BOS, *sentence] for sentence in text)
        for k in (1, 2, 3)
        for i in range(len(words) - k + 1)
    } - {(BOS,)}
    assert NgramModel(3, V).fit(text).stored_counts == len(different)


def test_an_impossible_word_and_no_word():
    model = NgramModel(1, V, discounts=0).fit(TEXT)
    assert model.probability(D, []) == 0
    assert model.perplexity([[D, EOS]]) > 1e100
    assert perplexity(np.array([0.25, 0.25])) == pytest.approx(4)
    with pytest.raises(ValueError, match="at least one word"):
        model.perplexity([])


@pytest.mark.parametrize(
    "arguments", [(0, V), (2, 0), (2, V, 1.5), (2, V, [0.5]), (2, V, [0.5, -0.1])]
)
def test_arguments_out_of_range(arguments):
    with pytest.raises(ValueError):
        NgramModel(*arguments)


def test_a_model_that_counted_nothing_says_what_to_do():
    with pytest.raises(ValueError, match="call fit first"):
        NgramModel(2, V).probability(A, [BOS])


def test_windows():
    contexts, words = context_windows([[A, B, EOS], [C, EOS]], 2)
    expected = [[BOS, BOS], [BOS, A], [A, B], [BOS, BOS], [BOS, C]]
    assert torch.equal(contexts, torch.tensor(expected))
    assert torch.equal(words, torch.tensor([A, B, EOS, C, EOS]))
    with pytest.raises(ValueError, match="at least 1 word"):
        context_windows(TEXT, 0)
    with pytest.raises(ValueError, match="no words"):
        context_windows([], 2)
