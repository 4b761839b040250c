"""Tests of the recorded antecedents of `it` in the corpus."""

import pytest

from coursekit.corpora import SentencePair, english_french, english_korean
from coursekit.corpora.grammar.lexicon import NOUNS

SINGULAR = {noun.english: noun for noun in NOUNS}
PRONOUNS = {"il": "m", "le": "m", "elle": "f", "la": "f"}


@pytest.fixture(scope="module")
def pairs():
    return english_french(1500, seed=11, min_length=4, max_length=30)


def test_every_it_has_one_antecedent_before_it(pairs):
    pronouns = 0
    for pair in pairs:
        places = [i for i, word in enumerate(pair.source) if word == "it"]
        assert sorted(i for i, _ in pair.antecedents) == places
        for i, noun in pair.antecedents:
            assert noun < i
            assert "person" not in SINGULAR[pair.source[noun]].tags  # a singular noun
        pronouns += len(places)
    assert pronouns > 200


def test_the_french_pronoun_has_its_gender(pairs):
    told = 0
    for pair in pairs:
        for i, noun in pair.antecedents:
            (translation,) = (pair.target[t] for s, t in pair.links if s == i)
            if translation != "l'":
                assert PRONOUNS[translation] == SINGULAR[pair.source[noun]].gender
                told += 1
    assert told > 150


def test_it_is_the_same_in_both_languages():
    both = (
        make(300, seed=3, min_length=10, max_length=20) for make in (english_french, english_korean)
    )
    assert all(a.antecedents == b.antecedents for a, b in zip(*both, strict=True))


def test_pairs_from_elsewhere_have_none():
    assert SentencePair(("a",), ("un",), frozenset({(0, 0)})).antecedents == frozenset()
