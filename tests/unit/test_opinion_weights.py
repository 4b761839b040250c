"""Tests of the exchange of verdicts in synthetic reviews."""

from __future__ import annotations

from coursekit.corpora.reviews import Review
from experiments.opinion_weights import replace_good_verdicts


def review(text, *deciding):
    sentences = tuple(tuple(line.split()) for line in text.split("."))
    return Review(sentences, 4, frozenset(deciding), frozenset(i for i, _ in deciding), "film")


def test_only_the_word_that_is_the_verdict_is_replaced():
    mixed = review("the book was good.it was very good although we came late", (1, 2), (1, 3))
    assert replace_good_verdicts([mixed], "good") == [mixed]
    (twin,) = replace_good_verdicts([mixed], "bad")
    assert twin.rating == 4 and twin.sentences[0] == mixed.sentences[0]
    assert " ".join(twin.sentences[1]) == "it was very bad although we came late"
    (without,) = replace_good_verdicts([mixed])
    assert " ".join(without.sentences[1]) == "it was very although we came late"


def test_verdicts_that_say_something_else_are_left_out():
    negated = review("it was not at all good", (0, 2), (0, 4))
    elsewhere = review("my friend found it good.it was fine", (1, 2))
    two = review("it was good.i liked it", (0, 2), (1, 1))
    assert replace_good_verdicts([negated, elsewhere, two], "bad") == []
