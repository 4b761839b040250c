"""Tests of Winograd pairs: the last word decides the antecedent of `it`, visible in French."""

import pytest

from coursekit.corpora.grammar.lexicon import ADJECTIVES, NOUNS
from coursekit.corpora.winograd_pairs import twins

SINGULAR = {noun.english: noun for noun in NOUNS}


@pytest.fixture(scope="module")
def made():
    return twins(120, seed=4)


def test_the_same_arguments_give_the_same_twins(made):
    assert twins(120, seed=4) == made
    assert twins(120, seed=5) != made
    assert len({one.first.source for one in made}) == 120


def test_twins_differ_in_the_last_word_and_in_the_antecedent(made):
    for one in made:
        first, second = one.first, one.second
        assert first.source[:-1] == second.source[:-1]
        assert first.source[-1] != second.source[-1]
        assert first.source[-3:-1] == ("it", "is")
        assert 9 <= len(first.source) <= 12
        ((it, noun),), ((other_it, other),) = first.antecedents, second.antecedents
        assert it == other_it == len(first.source) - 3
        assert noun < other < it
        assert (first.source[noun], first.source[other]) == one.nouns


def test_french_pronouns_tell_which_noun_is_meant(made):
    for one in made:
        pronouns = []
        for pair, noun in zip(one[:2], one.nouns, strict=True):
            ((it, _),) = pair.antecedents
            (pronoun,) = (pair.target[t] for s, t in pair.links if s == it)
            assert pronoun == ("il" if SINGULAR[noun].gender == "m" else "elle")
            pronouns.append(pronoun)
        assert sorted(pronouns) == ["elle", "il"]


def test_the_last_word_fits_no_other_noun(made):
    """Read from the sentence alone: singular nouns that are no person, and what suits them."""
    for one in made:
        for pair, noun in zip(one[:2], one.nouns, strict=True):
            rows = [a for a in ADJECTIVES if a.english == pair.source[-1]]
            nouns = [SINGULAR[w] for w in pair.source if w in SINGULAR]
            things = [n for n in nouns if "person" not in n.tags]
            fitting = {n.english for n in things if any(a.tags & n.tags for a in rows)}
            assert fitting == {noun}, " ".join(pair.source)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1, 1), "number must be 0 or more, not -1"),
        ((1, 1, 8, 12), "from 9 to 13 words, not 8 to 12"),
        ((1, 1, 9, 14), "from 9 to 13 words"),
    ],
)
def test_what_cannot_be_made_is_refused_in_one_sentence(arguments, message):
    with pytest.raises(ValueError, match=message):
        twins(*arguments)


def test_none_are_asked_for():
    assert twins(0, seed=1) == []
