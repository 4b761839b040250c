"""Lexicon queries for the sampler: nouns by tag, adjectives and verbs by noun."""

from __future__ import annotations

from functools import cache

from coursekit.corpora.grammar.lexicon import TIMES, Adjective, Lexicon, Noun, Tags, Verb, tags

SHORTEST = 3  # the dog sleeps
OWNED = tags("thing vehicle animal food")
PERSON = tags("person")
ANIMATE = tags("animate")
DESCRIBED = tags("animate thing building road spot vehicle food")  # what "is tired" or "is wide"
TIMES_BY_LENGTH = {n: [t for t in TIMES if len(t.english) == n] for n in (1, 2)}
SIZES = ("big", "small")


@cache
def list_nouns(lexicon: Lexicon, suitable: Tags) -> list[Noun]:
    """Return the nouns that have one of the tags."""
    return [noun for noun in lexicon.nouns if noun.tags & suitable]


@cache
def list_adjectives(lexicon: Lexicon, noun: Noun, before: bool) -> list[Adjective]:
    """Return a noun's adjectives that precede it in French, or those that follow it."""
    return [a for a in lexicon.adjectives if a.before == before and a.tags & noun.tags]


@cache
def list_verbs(lexicon: Lexicon, noun: Noun, role: str, frame: str) -> list[Verb]:
    """Return the verbs of a frame that take the noun as subject or object."""
    return [
        verb
        for verb in lexicon.verbs
        if verb.frame == frame
        and noun.tags & (verb.subjects if role == "subject" else verb.objects)
    ]


def is_durative(verb: Verb) -> bool:
    """Return whether the verb is an action that lasts: sleep, but not arrive or like."""
    return "place" in verb.adverbials
