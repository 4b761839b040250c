"""Lexicon of the synthetic grammar: words, their forms and the nouns they combine with.

The words stand in `words/*.csv`. Nouns carry tags; verbs and adjectives list the tags they combine
with, so that people read and animals do not. A form that follows a rule is left empty. French
entries give the gender and the irregular forms, Korean ones the stem, and whether it is irregular.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coursekit.corpora.grammar.korean_morphology import adjective_adnominal

Tags = frozenset[str]
Row = dict[str, str]


def tags(names: str) -> Tags:
    """Return a set of tags from names separated by spaces."""
    return frozenset(names.split())


def english_s(word: str) -> str:
    """Return a noun's plural or a verb's third person: cat - cats, box - boxes, carry - carries."""
    if word.endswith(("s", "x", "z", "ch", "sh", "o")):
        return word + "es"
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + "s"


def english_ed(verb: str) -> str:
    """Return a regular past: walk - walked, close - closed, cry - cried."""
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ied"
    return verb + "ed"


def french_plural(word: str) -> str:
    """Return a noun's or adjective's plural: chat - chats, bateau - bateaux, bois - bois."""
    if word.endswith(("s", "x", "z")):
        return word
    return word + ("x" if word.endswith("eau") else "s")


def french_first_person(third: str) -> str:
    """Return the form after "je": il marche - je marche, il dort - je dors, il rit - je ris."""
    if third.endswith("e"):
        return third
    if third.endswith("ît"):
        return third[:-2] + "is"
    return third.removesuffix("t") + "s"


def french_second_person(third: str) -> str:
    """Return the form after "tu": il marche - tu marches, il dort - tu dors."""
    return third + "s" if third.endswith("e") else french_first_person(third)


@dataclass(frozen=True, eq=False)
class Noun:
    """A noun with its forms, French gender, Korean counter and tags."""

    english: str
    english_plural: str
    korean: str
    counter: str
    french: tuple[str, ...]  # one token or more: pomme de terre
    french_plural: tuple[str, ...]
    gender: str  # "m" or "f"
    tags: Tags


@dataclass(frozen=True, eq=False)
class Adjective:
    """An adjective with its forms and the tags of the nouns it describes.

    `korean_stem` is None for words that are only attributive (새); `predicate` is False for those
    not used after "is".
    """

    english: str
    korean: str  # before a noun
    korean_stem: str | None
    korean_irregular: bool
    masculine: str
    masculine_vowel: str  # before a vowel: vieil, bel, nouvel
    feminine: str
    before: bool  # precedes its noun in French
    tags: Tags
    predicate: bool


@dataclass(frozen=True, eq=False)
class Verb:
    """A verb with its forms, the tags of its subjects and objects, and its adverbials."""

    english: str
    english_third: str  # after "he"
    english_past: str
    korean: str  # stem
    korean_irregular: bool
    french: str  # third person singular
    french_plural: str  # third person plural
    french_first: str  # after "je"
    french_second: str  # after "tu"
    french_we: str  # after "nous"
    participle: str  # "" for a state, whose past is the imperfect
    auxiliary: str  # of the past: "avoir" or "être"
    imperfect_stem: str  # of a state: aim-
    frame: str  # "intransitive", "transitive", "ditransitive", "motion"
    subjects: Tags
    objects: Tags
    # any of "time", "frequency", "place", "speed", "quiet"; "affirmative" rules out negation,
    # for which Korean uses another verb (알다, 모르다)
    adverbials: Tags


@dataclass(frozen=True, eq=False)
class Phrase:
    """One or more words translated as a unit: an adverb, a number, a preposition."""

    english: tuple[str, ...]
    korean: tuple[str, ...]
    french: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Lexicon:
    """The nouns, adjectives and verbs that sentences are made of.

    "old" is there twice: Korean uses one word for living things and another for all else.
    """

    nouns: list[Noun]
    adjectives: list[Adjective]
    verbs: list[Verb]


def _noun(row: Row) -> Noun:
    head, *tail = row["french"].split()
    plural = row["french_plural"].split() or [french_plural(head), *tail]
    return Noun(
        english=row["english"],
        english_plural=row["english_plural"] or english_s(row["english"]),
        korean=row["korean"],
        counter=row["counter"],
        french=(head, *tail),
        french_plural=tuple(plural),
        gender=row["gender"],
        tags=tags(row["tags"]),
    )


def _adjective(row: Row) -> Adjective:
    stem, irregular = row["korean_stem"], bool(row["korean_irregular"])
    return Adjective(
        english=row["english"],
        korean=row["korean_attribute"] or adjective_adnominal(stem, irregular),
        korean_stem=stem or None,
        korean_irregular=irregular,
        masculine=row["masculine"],
        masculine_vowel=row["masculine_before_vowel"] or row["masculine"],
        feminine=row["feminine"],
        before=row["position"] == "before",
        tags=tags(row["tags"]),
        predicate=bool(stem),
    )


def _verb(row: Row) -> Verb:
    english, third = row["english"], row["french"]
    return Verb(
        english=english,
        english_third=row["english_third_person"] or english_s(english),
        english_past=row["english_past"] or english_ed(english),
        korean=row["korean_stem"],
        korean_irregular=bool(row["korean_irregular"]),
        french=third,
        french_plural=row["french_plural"],
        french_first=row["french_first_person"] or french_first_person(third),
        french_second=row["french_second_person"] or french_second_person(third),
        french_we=row["french_first_plural"] or row["french_plural"].removesuffix("ent") + "ons",
        participle=row["participle"],
        auxiliary=row["auxiliary"] or "avoir",
        imperfect_stem=row["imperfect_stem"],
        frame=row["frame"],
        subjects=tags(row["subjects"]),
        objects=tags(row["objects"]),
        adverbials=tags(row["adverbials"]),
    )


def _phrase(row: Row) -> Phrase:
    english, korean, french = (tuple(row[k].split()) for k in ("english", "korean", "french"))
    return Phrase(english, korean, french)


def _rows(name: str) -> list[Row]:
    text = (Path(__file__).parent / "words" / f"{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def _read(name: str, make: Callable[[Row], Any]) -> dict[str, list[Any]]:
    """Return the words of a file by vocabulary."""
    found: dict[str, list[Any]] = {"basic": [], "everyday": []}
    for row in _rows(name):
        found[row["vocabulary"]].append(make(row))
    return found


_WORDS = [_read("nouns", _noun), _read("adjectives", _adjective), _read("verbs", _verb)]
BASIC = Lexicon(*(found["basic"] for found in _WORDS))
# more words that people try first: love, mother, sad
EVERYDAY = Lexicon(*(found["basic"] + found["everyday"] for found in _WORDS))
NOUNS, ADJECTIVES, VERBS = BASIC.nouns, BASIC.adjectives, BASIC.verbs

_PHRASES: dict[str, list[tuple[Phrase, Tags]]] = {}
for _row in _rows("phrases"):
    _PHRASES.setdefault(_row["kind"], []).append((_phrase(_row), tags(_row["tags"])))


def _phrases(kind: str) -> list[Phrase]:
    return [phrase for phrase, _ in _PHRASES[kind]]


TIMES = _phrases("time")
(YESTERDAY,) = _phrases("past time")
FREQUENCIES = _phrases("frequency")
MANNERS = {kind: _phrases(kind) for kind in ("speed", "quiet")}
DEGREES = _phrases("degree")
# Eight and ten are missing: huit blocks elision, and 열 is also the stem of "open".
NUMBERS = _phrases("number")
(MANY,) = _phrases("many")
PLACES = _PHRASES["preposition"]  # each preposition with the tags of the places it combines with
