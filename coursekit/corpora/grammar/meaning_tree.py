"""Meaning tree: the language-independent structure of a sentence.

Nodes are compared by identity: they are the keys that link words to the parts they express.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from coursekit.corpora.grammar.lexicon import Adjective, Noun, Phrase, Tags, Verb


@dataclass(eq=False)
class NounPhrase:
    """`three big dogs of the teacher that ...`, the pronoun `it`, or a personal pronoun."""

    noun: Noun
    determiner: str = "the"  # "the", "a", "many", "number", or a possessive: "my", "your", ...
    number: Phrase | None = None
    plural: bool = False
    adjectives: list[Adjective] = field(default_factory=list)
    possessor: NounPhrase | None = None
    relative: Clause | None = None
    joined: NounPhrase | None = None  # `and the cat`
    antecedent: NounPhrase | None = None  # set for `it`; `noun` is then the antecedent's
    person: str = ""  # "i", "you", "he", "she", "we" or "they"; `noun` then gives the gender

    @property
    def is_pronoun(self) -> bool:
        """Whether this is `it`."""
        return self.antecedent is not None

    @property
    def replaces_noun(self) -> bool:
        """Whether this is a pronoun, `it` or a personal one."""
        return self.is_pronoun or self.person != ""

    @property
    def plural_agreement(self) -> bool:
        """Whether a verb that agrees with it is plural."""
        return self.plural or self.joined is not None

    def parts(self) -> Iterator[NounPhrase]:
        """Yield the phrase itself and all noun phrases inside it."""
        yield self
        if self.possessor:
            yield from self.possessor.parts()
        if self.joined:
            yield from self.joined.parts()
        if self.relative:
            yield from self.relative.phrases()


@dataclass(eq=False)
class Clause:
    """Who does what to whom, where, when and how; or who is what; now or in the past.

    In a relative clause, the argument that the head noun fills is None, and `gap` names it.
    """

    subject: NounPhrase | None
    verb: Verb | None = None  # None: `is` with `predicate`
    predicate: Adjective | None = None
    object: NounPhrase | None = None
    recipient: NounPhrase | None = None
    destination: NounPhrase | None = None
    place: tuple[Phrase, NounPhrase] | None = None
    time: Phrase | None = None
    frequency: Phrase | None = None
    manner: Phrase | None = None
    negative: bool = False
    past: bool = False
    degree: Phrase | None = None  # `too`, `very` before a predicate
    gap: str = ""  # "subject" or "object" in a relative clause
    head: NounPhrase | None = None  # in a relative clause, the noun it describes
    taboo: Tags = frozenset()  # nouns with these tags would make a later `it` ambiguous

    @property
    def agreement(self) -> NounPhrase:
        """The noun phrase the verb agrees with."""
        phrase = self.head if self.gap == "subject" else self.subject
        assert phrase is not None
        return phrase

    def arguments(self) -> Iterator[NounPhrase]:
        """Yield the clause's noun phrases, without nested ones, in English order."""
        for phrase in (self.subject, self.object, self.recipient, self.destination):
            if phrase:
                yield phrase
        if self.place:
            yield self.place[1]

    def phrases(self) -> Iterator[NounPhrase]:
        """Yield all noun phrases in the clause, nested ones included."""
        for phrase in self.arguments():
            yield from phrase.parts()

    @property
    def has_pronoun(self) -> bool:
        """Whether it contains `it`."""
        return any(phrase.is_pronoun for phrase in self.arguments())


@dataclass(eq=False)
class Unit:
    """A main clause, its dependent clause, and the connective that joins it to the last unit."""

    main: Clause
    connective: str = ""  # "and", "but", "" at the start
    dependent: Clause | None = None
    conjunction: str = ""  # "because", "when", "while"
    fronted: bool = False  # the dependent clause comes first in English


@dataclass(eq=False)
class Sentence:
    """A sentence's meaning: main clauses, each with at most one dependent clause."""

    units: list[Unit]

    def clauses(self) -> Iterator[Clause]:
        """Yield main and dependent clauses in English order."""
        for unit in self.units:
            ordered = [unit.main] if unit.dependent is None else [unit.main, unit.dependent]
            yield from reversed(ordered) if unit.fronted else ordered
