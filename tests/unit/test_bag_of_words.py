"""Tests of the n-gram classifiers, by hand-computed values and where word order matters."""

from __future__ import annotations

import math
import random

import pytest

from coursekit.models.bag_of_words import KINDS, bag_classifier

DOCUMENTS = [["good", "film"], ["good", "good", "plot"], ["bad", "film"], ["bad", "plot", "bad"]]
LABELS = [1, 1, 0, 0]


def negated(number: int, seed: int) -> tuple[list[list[str]], list[int]]:
    """Return documents in which single words are uninformative, but "not good" is decisive."""
    source = random.Random(seed)
    documents, labels = [], []
    for _ in range(number):
        label = source.randrange(2)
        said = ["good", "not", "bad"] if label else ["bad", "not", "good"]
        filler = [source.choice(("the", "film", "was", "room")) for _ in range(4)]
        documents.append([*filler, *said])
        labels.append(label)
    return documents, labels


@pytest.mark.parametrize("kind", KINDS)
def test_words_that_tell(kind):
    model = bag_classifier(kind).fit(DOCUMENTS, LABELS)
    assert model.predict([["good"], ["bad", "film"], ["plot", "good"]]) == [1, 0, 1]
    assert model.accuracy(DOCUMENTS, LABELS) == 1
    assert model.weight("good", 1) > 0 > model.weight("bad", 1)
    assert model.weight("good", 1) == pytest.approx(-model.weight("good", 0))
    assert model.weight("film", 1) == pytest.approx(0, abs=0.05)


def test_naive_bayes_by_hand():
    model = bag_classifier("naive bayes").fit(DOCUMENTS, LABELS)
    # Documents of class 1 with the word: good 2, film 1, plot 1; plus 1 for each of four words.
    assert model.weight("good", 1) == pytest.approx(math.log(3 / 8) - math.log(1 / 8))
    assert model.weight("film", 1) == pytest.approx(math.log(2 / 8) - math.log(2 / 8))
    assert model.parameters == 2 * 4 + 2


@pytest.mark.parametrize("kind", KINDS)
def test_pairs_see_what_words_do_not(kind):
    train, test = negated(400, seed=1), negated(200, seed=2)
    words, pairs = (bag_classifier(kind, n).fit(*train).accuracy(*test) for n in (1, 2))
    assert words < 0.65
    assert pairs == 1


def test_parameters():
    model = bag_classifier("logistic regression", ngrams=2).fit(DOCUMENTS, LABELS)
    pairs = {"good film", "good good", "good plot", "bad film", "bad plot", "plot bad"}
    assert model.parameters == 4 + len(pairs) + 1
    assert model.weight("good film", 1) > 0
    rare = bag_classifier("logistic regression", 2, minimum_documents=2).fit(DOCUMENTS, LABELS)
    assert rare.parameters == 4 + 1


@pytest.mark.parametrize("kind", KINDS)
def test_more_than_two_classes_with_names(kind):
    documents = [["goal", "team"], ["vote", "law"], ["film", "star"]] * 3
    labels = ["sport", "politics", "entertainment"] * 3
    model = bag_classifier(kind).fit(documents, labels)
    assert model.predict([["goal"], ["law", "vote"], ["star"]]) == labels[:3]
    assert model.weight("goal", "sport") > 0 > model.weight("goal", "politics")
    assert model.parameters == 3 * (6 + 1)


@pytest.mark.parametrize("kind", KINDS)
def test_stronger_regularisation_weighs_less(kind):
    weak, strong = (
        bag_classifier(kind, regularisation=r).fit(DOCUMENTS, LABELS).weight("good", 1)
        for r in (0.1, 10)
    )
    assert 0 < strong < weak


@pytest.mark.parametrize("kind", KINDS)
def test_empty_documents_and_unknown_words(kind):
    documents, labels = [*DOCUMENTS, ["bad"], []], [*LABELS, 0, 0]
    model = bag_classifier(kind, ngrams=2, regularisation=0.1).fit(documents, labels)
    assert model.predict([]) == []
    assert model.predict([[], ["zebra"], ["zebra", "yak"]]) == [0, 0, 0]
    assert model.predict([["good"]]) == [1]


def test_what_cannot_be_fitted_says_why():
    with pytest.raises(ValueError, match="not 'forest'"):
        bag_classifier("forest")
    for wrong in ({"ngrams": 0}, {"minimum_documents": 0}, {"regularisation": 0}):
        with pytest.raises(ValueError, match="at least 1"):
            bag_classifier("naive bayes", **wrong)
    model = bag_classifier("naive bayes")
    with pytest.raises(ValueError, match="call fit first"):
        model.predict([["good"]])
    with pytest.raises(ValueError, match="call fit first"):
        _ = model.parameters
    with pytest.raises(ValueError, match="4 documents but 3 labels"):
        model.fit(DOCUMENTS, LABELS[:3])
    with pytest.raises(ValueError, match="two classes"):
        model.fit(DOCUMENTS, [1, 1, 1, 1])
    with pytest.raises(ValueError, match="No n-gram is left"):
        model.fit([[], []], [0, 1])
    with pytest.raises(ValueError, match="No n-gram is left"):
        bag_classifier("naive bayes", minimum_documents=9).fit(DOCUMENTS, LABELS)
    with pytest.raises(TypeError, match="list of words"):
        model.fit(["good film", "bad film"], [1, 0])
    model.fit(DOCUMENTS, LABELS)
    with pytest.raises(KeyError, match="zebra"):
        model.weight("zebra", 1)
    with pytest.raises(ValueError, match="at least one"):
        model.accuracy([], [])
