"""Tests of the synthetic reviews: deterministic, without repeats, with right deciding words."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from coursekit.corpora.reviews import Review, generator, reviews, splits
from coursekit.corpora.reviews.lexicon import AWFUL, BAD, GOOD, GREAT, TOPICS

SAMPLE = reviews(3000, seed=11)
PRAISE, BLAME = {*GREAT, *GOOD}, {*AWFUL, *BAD}


def decisive(review: Review, i: int) -> list[str]:
    """Return the deciding words of one sentence, in order."""
    return [w for j, w in enumerate(review.sentences[i]) if (i, j) in review.deciding_words]


def verdict(words: list[str]) -> int:
    """Return the verdict of the deciding words (above, at or below 3), without generator tables."""
    negated = bool({"not", "never", "far", "anything", "hardly"} & {*words})
    if {"average", "ordinary", "neither"} & {*words} or words.count("not") == 2:
        return 0
    sides = {
        +1: {*PRAISE, "loved", "liked", "like", "enjoyed", "enjoy", "better"},
        -1: {*BLAME, "hated", "hate", "bored", "regret", "worse"},
    }
    (side,) = (s for s, members in sides.items() if members & {*words})
    if {"better", "worse"} & {*words}:  # "never ... a better": the best
        return side
    return -side if negated else side


def test_lengths():
    assert {len(r.sentences) for r in SAMPLE} == set(range(1, 9))
    lengths = [len(sentence) for r in SAMPLE for sentence in r.sentences]
    assert min(lengths) >= 3 and max(lengths) <= 20
    fixed = reviews(50, 1, min_sentences=3, max_sentences=3)
    assert {len(r.sentences) for r in fixed} == {3}


def test_no_template_is_left_open():
    for review in SAMPLE:
        for word in review.words:
            assert word.isalpha() and word.islower(), review


def test_articles():
    for review in SAMPLE:
        for sentence in review.sentences:
            for word, following in pairwise(sentence):
                if word in ("a", "an"):
                    assert (following[0] in "aeiou") == (word == "an"), sentence


def test_ratings_and_topics_are_even():
    for counts, kinds in (
        (Counter(r.rating for r in SAMPLE), 5),
        (Counter(r.topic for r in SAMPLE), len(TOPICS)),
    ):
        assert len(counts) == kinds
        assert min(counts.values()) > 0.8 * len(SAMPLE) / kinds


def test_label_is_a_rating_above_three():
    assert {(r.rating, r.label) for r in SAMPLE} == {(1, 0), (2, 0), (3, 0), (4, 1), (5, 1)}


def test_deciding_words_stand_in_deciding_sentences():
    for review in SAMPLE:
        assert review.deciding_words
        assert {i for i, _ in review.deciding_words} == review.deciding_sentences
        assert all(j < len(review.sentences[i]) for i, j in review.deciding_words)
        flat = {review.words[k] for k in review.deciding_positions}
        assert flat == {review.sentences[i][j] for i, j in review.deciding_words}


def test_deciding_words_decide():
    for review in SAMPLE:
        for i in review.deciding_sentences:
            side = verdict(decisive(review, i))
            assert side == (review.rating > 3) - (review.rating < 3), review


def test_deciding_sentences_stand_everywhere():
    long = reviews(600, 3, min_sentences=6, max_sentences=6)
    places = Counter(i for r in long for i in r.deciding_sentences)
    assert len(places) == 6 and min(places.values()) > 60


@pytest.mark.parametrize("words", [PRAISE, BLAME])
def test_opinion_words_also_stand_where_they_decide_nothing(words):
    """Every opinion word occurs in verdicts and beside them, in good and in bad reviews."""
    deciding: set[tuple[str, int]] = set()
    idle: set[tuple[str, int]] = set()
    for review in SAMPLE:
        if review.rating == 3:
            continue
        for k, word in enumerate(review.words):
            if word in words:
                counted = deciding if k in review.deciding_positions else idle
                counted.add((word, review.label))
    expected = {(word, label) for word in words for label in (0, 1)}
    assert idle == expected
    # Verdicts negate "excellent", but never say "not awful at all".
    strong = {(w, label) for w in GREAT for label in (0, 1)} | {(w, 1) for w in AWFUL}
    assert deciding >= expected - strong


def test_single_words_do_not_tell_the_label():
    """The best threshold on any one word's presence is far from the labels."""
    half = [r for r in SAMPLE if r.rating != 3]
    for word in {w for r in half for w in r.words}:
        agree = sum((word in r.words) == r.label for r in half) / len(half)
        assert 0.35 < agree < 0.65, word


def test_no_review_twice_and_splits_share_none():
    parts = splits(600, 150, 150, seed=2, ratings=(1, 2, 4, 5))
    assert [len(part) for part in parts] == [600, 150, 150]
    texts = [r.sentences for part in parts for r in part]
    assert len(set(texts)) == len(texts)
    assert 3 not in {r.rating for r in parts.train}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"number": -1}, "number must be 0 or more"),
        ({"min_sentences": 0}, "min_sentences must be at least 1"),
        ({"min_sentences": 5, "max_sentences": 4}, "not greater than max_sentences"),
        ({"ratings": (6,)}, "ratings must be some of 1, 2, 3, 4, 5"),
        ({"ratings": ()}, "ratings must be some of"),
        ({"topics": ("opera",)}, "topics must be some of film, book"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        reviews(**{"number": 5, "seed": 0} | arguments)
    with pytest.raises(ValueError, match="test must be 0 or more"):
        splits(1, 1, -1, seed=0)


def test_too_many_short_ones_are_refused(monkeypatch):
    monkeypatch.setattr(generator, "ATTEMPTS", 1)
    with pytest.raises(ValueError, match=r"Only .* of 5000 .*: request fewer or longer ones"):
        reviews(5000, 0, max_sentences=1, ratings=(3,), topics=("film",))
