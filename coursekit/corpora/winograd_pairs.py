"""Generator of Winograd pairs: sentences whose last word decides the antecedent of `it`."""

from __future__ import annotations

import random
from itertools import combinations
from typing import NamedTuple

from coursekit.corpora.grammar import english, french
from coursekit.corpora.grammar.aligned_tokens import pair_of
from coursekit.corpora.grammar.lexicon import BASIC, Adjective, Lexicon
from coursekit.corpora.grammar.meaning_tree import Clause, NounPhrase, Sentence, Unit
from coursekit.corpora.grammar.sentence_sampler import sample_sentence
from coursekit.corpora.sentence_pair import SentencePair

TURNS = (("", "because"), ("", "because"), ("", "when"), ("but", ""))  # connective, conjunction


class WinogradPair(NamedTuple):
    """Two sentences that differ only in the last word.

    Attributes:
        first: the sentence pair in which `it` refers to the earlier noun.
        second: the sentence pair in which `it` refers to the later noun.
        nouns: both nouns, in English.
    """

    first: SentencePair
    second: SentencePair
    nouns: tuple[str, str]


class Twins(NamedTuple):
    """The meanings of a Winograd pair.

    Attributes:
        sentences: `it` refers to the earlier noun in the first, to the later one in the second.
        nouns: both nouns, in English.
    """

    sentences: tuple[Sentence, Sentence]
    nouns: tuple[str, str]


def twins(number: int, seed: int, min_length: int = 9, max_length: int = 12) -> list[WinogradPair]:
    """Generate English-French twins: "the cat crosses the street because it is tired", or "wide".

    The two nouns differ in gender, so that the French pronoun shows the chosen antecedent. Neither
    is a person, and the last word fits no other singular noun that is not a person.

    Args:
        number: number of twins; no first sentence is repeated.
        seed: seed of the generator; the same arguments give the same twins on every machine.
        min_length: shortest source sentence, in words, at least 9.
        max_length: longest source sentence, in words, at most 13: a clause and `it is tired`.

    Raises:
        ValueError: the number is negative, the lengths are impossible, or too few twins exist.
    """
    if number < 0:
        raise ValueError(f"number must be 0 or more, not {number}.")
    if not 9 <= min_length <= max_length <= 13:
        raise ValueError(f"lengths must be from 9 to 13 words, not {min_length} to {max_length}.")
    random_source = random.Random(seed)
    made: dict[tuple[str, ...], WinogradPair] = {}
    for _ in range(1000 + 200 * number):
        if len(made) == number:
            return list(made.values())
        words = random_source.randint(min_length, max_length) - 4  # "because it is tired"
        drawn = sample_twins(random_source, words)
        if drawn is not None:
            first, second = (_pair(sentence) for sentence in drawn.sentences)
            made.setdefault(first.source, WinogradPair(first, second, drawn.nouns))
    raise ValueError(
        f"Only {len(made)} of {number} different twins could be generated; request fewer."
    )


def sample_twins(
    random_source: random.Random, words: int, lexicon: Lexicon = BASIC
) -> Twins | None:
    """Sample twins, or None if the sampled sentence has no two suitable nouns.

    Args:
        random_source: the random generator.
        words: of the clause before "because it is tired"; short enough to be one clause, 4 to 9.
        lexicon: the words that may occur.
    """
    (unit,) = sample_sentence(random_source, words, lexicon).units
    nouns = [phrase for phrase in unit.main.phrases() if not phrase.plural]
    choices = [
        (one, other)
        for one, other in combinations(nouns, 2)
        if one.noun.gender != other.noun.gender
        and _only(one, nouns, lexicon)
        and _only(other, nouns, lexicon)
    ]
    if not choices or any(phrase.joined for phrase in nouns):
        return None
    phrases = random_source.choice(choices)
    last = [random_source.choice(_only(phrase, nouns, lexicon)) for phrase in phrases]
    connective, conjunction = random_source.choice(TURNS)
    made = []
    for phrase, adjective in zip(phrases, last, strict=True):
        it = NounPhrase(phrase.noun, antecedent=phrase)
        clause = Clause(it, predicate=adjective)
        units = (
            [Unit(unit.main, dependent=clause, conjunction=conjunction)]
            if conjunction
            else [unit, Unit(clause, connective)]
        )
        made.append(Sentence(units))
    return Twins((made[0], made[1]), (phrases[0].noun.english, phrases[1].noun.english))


def _only(phrase: NounPhrase, nouns: list[NounPhrase], lexicon: Lexicon) -> list[Adjective]:
    """Return the adjectives that fit this noun but no other non-person; none for a person."""
    if "person" in phrase.noun.tags:
        return []
    others = [other.noun.tags for other in nouns if other is not phrase and not _person(other)]
    return [
        adjective
        for adjective in lexicon.adjectives
        if adjective.predicate
        and adjective not in phrase.adjectives
        and adjective.tags & phrase.noun.tags
        and not any(adjective.tags & tags for tags in others)
    ]


def _person(phrase: NounPhrase) -> bool:
    return "person" in phrase.noun.tags


def _pair(sentence: Sentence) -> SentencePair:
    return pair_of(english.realise(sentence), french.realise(sentence))
