"""Sampler of meaning trees whose English sentences have a given length.

A sentence starts as a few bare clauses and grows by one modifier of known length at a time, until
it has exactly the requested number of words. No noun occurs twice in a sentence, so no part of a
longer sentence can be guessed from the rest.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from coursekit.corpora.grammar.lexicon import (
    BASIC,
    FREQUENCIES,
    MANNERS,
    NUMBERS,
    PLACES,
    Adjective,
    Lexicon,
    Noun,
    Phrase,
    Tags,
    Verb,
    tags,
)
from coursekit.corpora.grammar.meaning_tree import Clause, NounPhrase, Sentence, Unit
from coursekit.corpora.grammar.word_choice import (
    ANIMATE,
    DESCRIBED,
    OWNED,
    PERSON,
    SIZES,
    TIMES_BY_LENGTH,
    is_durative,
    list_adjectives,
    list_nouns,
    list_verbs,
)


@dataclass(slots=True)
class _Growth:
    """One way to lengthen a sentence: number of words, sampling weight and action."""

    words: int
    weight: int
    apply: Callable[[], None]


class _DeadEnd(Exception):
    """This draw cannot reach the requested length; another one may."""


def sample_sentence(random_source: random.Random, words: int, lexicon: Lexicon = BASIC) -> Sentence:
    """Sample the meaning of a sentence whose English realisation has exactly `words` words.

    Args:
        random_source: the random generator; the same state gives the same sentence.
        words: length in English words, at least `SHORTEST`.
        lexicon: the words that may occur.

    Returns:
        The meaning tree.
    """
    while True:
        try:
            return _SentenceSampler(random_source, words, lexicon).sentence()
        except _DeadEnd:
            continue


class _SentenceSampler:
    """The state of one draw: the words used so far and the number of words left."""

    def __init__(self, random_source: random.Random, words: int, lexicon: Lexicon) -> None:
        self.random = random_source
        self.lexicon = lexicon
        self.words = words
        self.left = words
        self.used: set[Noun] = set()
        self.used_words: set[Verb | Adjective] = set()

    # --- parts ---------------------------------------------------------------------------------

    def chance(self, percent: int) -> bool:
        """Return True with a probability of `percent` percent."""
        return self.random.randrange(100) < percent

    def spend(self, words: int) -> None:
        """Take words from the budget."""
        self.left -= words
        if self.left < 0:
            raise _DeadEnd

    def noun(self, suitable: Tags, taboo: Tags = frozenset()) -> Noun:
        """Return an unused noun with one of the tags `suitable` and none of `taboo`."""
        candidates = list_nouns(self.lexicon, suitable)
        for _ in range(8):
            noun = self.random.choice(candidates)
            if noun not in self.used and not noun.tags & taboo:
                self.used.add(noun)
                return noun
        raise _DeadEnd

    def use(self, word: Verb | Adjective) -> None:
        """Mark a word as used; "big" also rules out "small", so that no big box is small."""
        self.used_words.add(word)
        if word.english in SIZES:
            self.used_words.update(a for a in self.lexicon.adjectives if a.english in SIZES)

    def verb(self, verbs: list[Verb]) -> Verb:
        """Return a verb that this sentence has not used yet."""
        for _ in range(8):
            verb = self.random.choice(verbs) if verbs else None
            if verb and verb not in self.used_words:
                self.use(verb)
                return verb
        raise _DeadEnd

    def phrase(self, suitable: Tags, taboo: Tags = frozenset()) -> NounPhrase:
        """Return a noun phrase of two words: `the dog`, `a dog`, `three dogs`, `many dogs`."""
        self.spend(2)
        noun = self.noun(suitable, taboo)
        draw = self.random.randrange(100)
        if draw < 55:
            return NounPhrase(noun)
        if draw < 75:
            return NounPhrase(noun, "a")
        if draw < 84:
            return NounPhrase(noun, "the", plural=True)
        if draw < 94:
            return NounPhrase(noun, "number", self.random.choice(NUMBERS), plural=True)
        return NounPhrase(noun, "many", plural=True)

    def object_phrase(self, verb: Verb, taboo: Tags = frozenset()) -> NounPhrase:
        """Return a noun phrase for a verb's object; a thing liked or feared is definite."""
        phrase = self.phrase(verb.objects, taboo)
        if "time" not in verb.adverbials and phrase.determiner == "a":
            phrase.determiner = "the"
        return phrase

    def definite(self, suitable: Tags, taboo: Tags = frozenset()) -> NounPhrase:
        """Return a definite singular noun phrase of two words: `the garden`."""
        self.spend(2)
        return NounPhrase(self.noun(suitable, taboo))

    # --- clauses -------------------------------------------------------------------------------

    def clause(self, room: int, lasting: bool = False) -> Clause:
        """Return a bare clause of at most `room` words with unused nouns."""
        if room >= 4 and self.chance(18):
            subject = self.phrase(DESCRIBED)
            return self.describe(subject)
        frames = ["intransitive"] * 3
        if room >= 5:
            frames = ["intransitive", "transitive", "transitive", "transitive"]
        if room >= 8:
            frames += ["ditransitive", "motion"]
        frame = self.random.choice(frames)
        verb = self.verb(
            [v for v in self.lexicon.verbs if v.frame == frame and (not lasting or is_durative(v))]
        )
        clause = Clause(self.phrase(verb.subjects), verb)
        self.spend(1)
        self.complete(clause)
        return clause

    def describe(self, subject: NounPhrase) -> Clause:
        """Return `subject is tired` with an unused adjective; the subject is already counted."""
        choices = [
            adjective
            for adjective in self.lexicon.adjectives
            if adjective.predicate
            and adjective.tags & subject.noun.tags
            and adjective not in self.used_words
        ]
        if not choices:
            raise _DeadEnd
        if subject.determiner == "a":  # "a man is famous" sounds odd
            subject.determiner = "the"
        adjective = self.random.choice(choices)
        self.use(adjective)
        self.spend(2)
        return Clause(subject, predicate=adjective)

    def complete(self, clause: Clause) -> None:
        """Add the arguments that a clause's verb needs besides the subject."""
        verb = clause.verb
        assert verb is not None
        if verb.frame in ("transitive", "ditransitive") and clause.object is None:
            clause.object = self.object_phrase(verb)
        if verb.frame == "ditransitive":
            self.spend(1)
            clause.recipient = self.phrase(PERSON)
        if verb.frame == "motion":
            self.spend(1)
            clause.destination = self.definite(verb.objects)

    def clause_with_it(self, before: Clause, room: int, lasting: bool) -> Clause:
        """Return a clause in which `it` refers to a noun of the previous clause.

        The predicate fits exactly one singular non-person noun of that clause, so that a reader
        can resolve `it`: the animal is tired, the street is wide.
        """
        candidates = [
            phrase
            for phrase in before.phrases()
            if not phrase.plural and not phrase.noun.tags & PERSON
        ]
        core = (before.subject, before.object, before.recipient)
        salient = [p for p in candidates if p in core]
        if not salient or before.has_pronoun:
            raise _DeadEnd
        antecedent = self.random.choice(salient)
        if antecedent.joined:
            raise _DeadEnd

        def only_one(suitable: Tags) -> bool:
            return [p for p in candidates if p.noun.tags & suitable] == [antecedent]

        it = NounPhrase(antecedent.noun, antecedent=antecedent)
        noun = antecedent.noun
        options: list[tuple[str, Verb | Adjective]] = [
            ("object", verb)
            for verb in list_verbs(self.lexicon, noun, "object", "transitive")
            if room >= 4 and only_one(verb.objects) and (not lasting or is_durative(verb))
        ]
        subjects: list[tuple[str, Verb | Adjective]] = [
            ("subject", verb)
            for frame, words in (("intransitive", 2), ("transitive", 4), ("motion", 5))
            for verb in list_verbs(self.lexicon, noun, "subject", frame)
            if room >= words and only_one(verb.subjects) and (not lasting or is_durative(verb))
        ]
        adjectives: list[tuple[str, Verb | Adjective]] = [
            ("predicate", adjective)
            for adjective in self.lexicon.adjectives
            if not lasting
            and room >= 3
            and adjective.predicate
            and only_one(adjective.tags)
            and adjective not in antecedent.adjectives
        ]
        # Adjectives count twice: they explain best why something happens.
        groups = [g for g in (adjectives, adjectives, options, subjects) if g]
        if not groups:
            raise _DeadEnd
        group = self.random.choice(groups)
        role, word = group[self.random.randrange(len(group))]
        if word in self.used_words:
            raise _DeadEnd
        self.use(word)
        if isinstance(word, Adjective):
            before.taboo = word.tags
            self.spend(3)
            return Clause(it, predicate=word)
        self.spend(2)
        if role == "object":
            before.taboo = word.objects
            return Clause(self.phrase(word.subjects), word, object=it)
        before.taboo = word.subjects
        clause = Clause(it, word)
        self.complete(clause)
        return clause

    # --- the sentence --------------------------------------------------------------------------

    def sentence(self) -> Sentence:
        """Draw bare clauses, then add modifiers until no word is left."""
        fewest = max(1, -(-self.words // 13))
        most = max(fewest, min(self.words // 5, 8))
        count = fewest + self.random.randrange(most - fewest + 1)
        units = self.frame(count)
        sentence = Sentence(units)
        while self.left:
            choices = [g for g in self.growths(sentence) if g.words <= self.left]
            if not choices:
                raise _DeadEnd
            draw = self.random.randrange(sum(g.weight for g in choices))
            for growth in choices:
                draw -= growth.weight
                if draw < 0:
                    self.spend(growth.words)
                    growth.apply()
                    break
        return sentence

    def frame(self, count: int) -> list[Unit]:
        """Return `count` bare clauses as main clauses with their dependent clauses."""
        units: list[Unit] = []
        before: Clause | None = None
        made = 0
        while made < count:
            waiting = count - made - 1
            connective = ""
            if units:
                self.spend(1)
                connective = "and" if self.chance(60) else "but"
            dependent = waiting > 0 and self.chance(55)
            fronted = dependent and self.chance(25)
            conjunction = self.random.choice(("because", "because", "when", "while"))
            if not dependent:
                before = self.next_clause(before, waiting)
                units.append(Unit(before, connective))
                made += 1
                continue
            self.spend(1)
            first = self.next_clause(before, waiting, conjunction if fronted else "")
            before = self.next_clause(first, waiting - 1, "" if fronted else conjunction)
            main, other = (before, first) if fronted else (first, before)
            units.append(Unit(main, connective, other, conjunction, fronted))
            made += 2
        return units

    def next_clause(self, before: Clause | None, waiting: int, conjunction: str = "") -> Clause:
        """Return a bare clause that leaves room for the `waiting` clauses after it."""
        room = self.left - 4 * waiting
        if before is not None and self.chance(45):
            left, used, used_words = self.left, set(self.used), set(self.used_words)
            try:
                return self.clause_with_it(before, room, conjunction == "while")
            except _DeadEnd:  # no suitable antecedent: use a clause without `it`
                self.left, self.used, self.used_words = left, used, used_words
                before.taboo = frozenset()
        if conjunction == "while":  # needs an action that lasts, not a state or a moment
            return self.clause(min(room, 3), lasting=True)
        return self.clause(room)

    # --- growth --------------------------------------------------------------------------------

    def growths(self, sentence: Sentence) -> Iterator[_Growth]:
        """Yield every way to extend the sentence by one modifier."""
        for unit in sentence.units:
            for clause in (unit.main, unit.dependent):
                if clause is None:
                    continue
                timeless = clause is unit.dependent or unit.fronted
                yield from self.clause_growths(clause, timeless)
                if (
                    clause.subject
                    and not clause.subject.is_pronoun
                    and not clause.subject.relative
                    and not clause.subject.possessor
                    and not clause.subject.joined
                    and not clause.taboo
                    # not after "and": "sees the cat and the boy" could be misread
                    and not (clause is unit.main and unit.connective == "and")
                    and clause.subject.noun.tags & ANIMATE
                ):
                    yield _Growth(3, 1, self.joining(clause.subject))
                for phrase in clause.arguments():
                    yield from self.phrase_growths(phrase, clause)

    def clause_growths(self, clause: Clause, timeless: bool) -> Iterator[_Growth]:
        """Yield the growths of a clause: adverbials and negation."""
        verb = clause.verb
        if verb is None:
            if not clause.negative:
                yield _Growth(1, 1, self.setting(clause, "negative", (True,)))
            return
        suits = verb.adverbials
        if not clause.negative and not clause.frequency and not clause.manner:
            # Avoid "does not see a dog because it is tired".
            vague = clause.taboo and clause.object and clause.object.determiner == "a"
            if not clause.place and not vague and "affirmative" not in suits:
                yield _Growth(2, 2, self.setting(clause, "negative", (True,)))
            if "frequency" in suits and not clause.time:
                yield _Growth(1, 2, self.setting(clause, "frequency", FREQUENCIES))
            for kind in ("speed", "quiet"):
                if kind in suits:
                    yield _Growth(1, 2, self.setting(clause, "manner", MANNERS[kind]))
        # "When the cow swims today the girl ..." is ambiguous.
        if not timeless and "time" in suits and not clause.time and not clause.frequency:
            for words, times in TIMES_BY_LENGTH.items():
                yield _Growth(words, 1, self.setting(clause, "time", times))
        if "place" in suits and not clause.place and not clause.negative:
            # After "sees the dog that sleeps", "in the garden" would modify "sleeps".
            last = (clause.object, clause.recipient, clause.destination)
            if not any(phrase and phrase.relative for phrase in last):
                yield _Growth(3, 4, self.placing(clause))

    def phrase_growths(self, phrase: NounPhrase, clause: Clause) -> Iterator[_Growth]:
        """Yield growths of a phrase and nested ones: adjectives, possessors, relative clauses."""
        if phrase.is_pronoun:
            return
        yield from self.adjective_growths(phrase, 1 if phrase.adjectives else 3)
        bare = not (phrase.relative or phrase.possessor or phrase.joined)
        is_place = clause.place is not None and phrase is clause.place[1]
        if bare and not is_place and phrase.noun.tags & OWNED:
            yield _Growth(3, 2, self.owning(phrase, clause))
        ends_clause = phrase in (clause.object, clause.recipient, clause.destination)
        relative_allowed = (
            bare
            and not is_place
            and not clause.gap
            and not (ends_clause and clause.place)
            and not (phrase is clause.object and clause.recipient)
        )
        if relative_allowed:
            if list_verbs(self.lexicon, phrase.noun, "subject", "intransitive"):
                yield _Growth(2, 1, self.relating(phrase, clause, "subject", "intransitive"))
            if list_verbs(self.lexicon, phrase.noun, "subject", "transitive"):
                yield _Growth(4, 4, self.relating(phrase, clause, "subject", "transitive"))
            if list_verbs(self.lexicon, phrase.noun, "object", "transitive"):
                yield _Growth(4, 4, self.relating(phrase, clause, "object", "transitive"))
        for inside in (phrase.possessor, phrase.joined):
            if inside:
                yield from self.adjective_growths(inside, 2)
        if phrase.relative:
            for inside in phrase.relative.arguments():
                yield from self.adjective_growths(inside, 2)
            verb = phrase.relative.verb
            if not phrase.relative.negative and verb and "affirmative" not in verb.adverbials:
                yield _Growth(2, 1, self.setting(phrase.relative, "negative", (True,)))

    def adjective_growths(self, phrase: NounPhrase, weight: int) -> Iterator[_Growth]:
        """Yield the growths of a noun by an adjective that French puts before it, or after it."""
        present = {a.before for a in phrase.adjectives}
        for before in (True, False):
            if before in present:
                continue
            suitable = list_adjectives(self.lexicon, phrase.noun, before)
            words = [a for a in suitable if a not in self.used_words]
            if words:
                yield _Growth(1, weight, self.adding(phrase, words))

    # Each of these returns the action of a growth. The caller has already spent the words, so the
    # action first refunds the words that its parts will spend.

    def setting(
        self, clause: Clause, name: str, values: Sequence[Phrase | bool]
    ) -> Callable[[], None]:
        """Set an adverbial or the negation to one of the values."""
        return lambda: setattr(clause, name, self.random.choice(values))

    def adding(self, phrase: NounPhrase, adjectives: list[Adjective]) -> Callable[[], None]:
        """Add an adjective; those that stand before the noun in French come first in English."""

        def apply() -> None:
            adjective = self.random.choice(adjectives)
            self.use(adjective)
            phrase.adjectives.append(adjective)
            phrase.adjectives.sort(key=lambda a: not a.before)

        return apply

    def joining(self, phrase: NounPhrase) -> Callable[[], None]:
        """Join `and the cat` to a subject."""

        def apply() -> None:
            self.left += 2
            phrase.joined = self.phrase(tags("person" if phrase.noun.tags & PERSON else "animal"))

        return apply

    def placing(self, clause: Clause) -> Callable[[], None]:
        """Add a place."""

        def apply() -> None:
            self.left += 2
            preposition, suitable = self.random.choice(PLACES)
            clause.place = (preposition, self.definite(suitable, clause.taboo))

        return apply

    def owning(self, phrase: NounPhrase, clause: Clause) -> Callable[[], None]:
        """Add `of the teacher`."""

        def apply() -> None:
            self.left += 2
            phrase.determiner = "the" if phrase.determiner == "a" else phrase.determiner
            phrase.possessor = self.definite(PERSON)

        return apply

    def relating(
        self, phrase: NounPhrase, clause: Clause, gap: str, frame: str
    ) -> Callable[[], None]:
        """Add a relative clause in which the noun is the subject or the object."""

        def apply() -> None:
            verb = self.verb(list_verbs(self.lexicon, phrase.noun, gap, frame))
            relative = Clause(None, verb, gap=gap, head=phrase)
            if frame == "transitive":
                self.left += 2
                if gap == "subject":
                    relative.object = self.object_phrase(verb, clause.taboo)
                else:
                    relative.subject = self.phrase(verb.subjects, clause.taboo)
            phrase.relative = relative

        return apply
