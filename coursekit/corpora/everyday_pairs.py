"""Generator of everyday English-French pairs with persons, the past tense and degrees."""

from __future__ import annotations

import random
from collections.abc import Iterator

from coursekit.corpora.grammar import english, french
from coursekit.corpora.grammar.aligned_tokens import pair_of
from coursekit.corpora.grammar.lexicon import DEGREES, EVERYDAY, TIMES, YESTERDAY, Noun, tags
from coursekit.corpora.grammar.meaning_tree import Clause, NounPhrase, Sentence, Unit
from coursekit.corpora.grammar.sentence_sampler import sample_sentence
from coursekit.corpora.grammar.word_choice import SHORTEST
from coursekit.corpora.sentence_pair import SentencePair
from coursekit.corpora.winograd_pairs import sample_twins

SHORTEST_EVERYDAY = 2  # she sleeps
SHORTEST_TWIN, LONGEST_TWIN = 8, 13
TWINS, PERSONAL = 0.15, 0.2  # shares of the pairs
FOLLOWED = 0.4  # of the twins: another clause follows, so that "it" is not always at the end
ATTEMPTS = 200  # at a sentence of one length; few draws describe a person in six words
DESCRIBED = 0.4  # of the personal ones: a person is tired, or was
MOST_REPEATED = 500  # known sentences in a row, before the lengths count as exhausted
MOST_PERSONAL = 18  # words of a sentence that must have a person
LIVING = tags("person animal")
OWNED = tags("person animal thing food vehicle building opening room")
SUBJECTS = ("i", "i", "i", "you", "you", "he", "she", "we", "they")
OBJECTS = ("i", "i", "you", "you", "he", "she", "we", "they")
OWNERS = ("my", "my", "your", "his", "her", "our", "their")
# A time that lasts or returns would need another French tense.
TODAY = next(time for time in TIMES if time.english == ("today",))


def everyday_english_french(
    pairs: int, seed: int, min_length: int = SHORTEST_EVERYDAY, max_length: int = 20
) -> list[SentencePair]:
    """Generate English-French pairs of everyday sentences with known word alignments.

    In addition to the words and rules of `english_french`: personal pronouns and possessives, the
    past tense, `too` and `very`, and some words that people try first, such as "love" and "mother".
    Some fifteen in a hundred are Winograd pairs, "it was too tired" beside "it was too wide".
    The same arguments give the same pairs on every machine; no source sentence is repeated.

    Args:
        pairs: number of pairs.
        seed: seed of the generator.
        min_length: shortest source sentence, in words, at least 2.
        max_length: longest source sentence, in words.

    Returns:
        The pairs, lower case and without punctuation.

    Raises:
        ValueError: a number is negative, the lengths are impossible, or too few different sentences
            of these lengths exist.
    """
    if pairs < 0:
        raise ValueError(f"pairs must be 0 or more, not {pairs}.")
    if not SHORTEST_EVERYDAY <= min_length <= max_length:
        raise ValueError(f"lengths must be from 2 words up, not {min_length} to {max_length}.")
    random_source = random.Random(seed)
    made: dict[tuple[str, ...], SentencePair] = {}
    drawn = _draw_forever(random_source, min_length, max_length)
    repeated = 0
    while len(made) < pairs:
        pair = next(drawn)
        repeated = repeated + 1 if pair.source in made else 0
        if repeated > MOST_REPEATED:
            raise ValueError(
                f"Only {len(made)} of {pairs} different sentences of {min_length} to {max_length} "
                "words could be generated: request fewer or longer ones."
            )
        made.setdefault(pair.source, pair)
    return list(made.values())


def everyday_twins(
    number: int, seed: int, min_length: int = SHORTEST_TWIN, max_length: int = LONGEST_TWIN
) -> list[tuple[SentencePair, SentencePair]]:
    """Generate twins, pairs that differ in their last word: "it was too tired", or "too wide".

    Args:
        number: number of twins; no first sentence is repeated.
        seed: seed of the generator.
        min_length: shortest source sentence, in words.
        max_length: longest source sentence, in words.

    Raises:
        ValueError: the number is negative or the lengths are impossible.
    """
    if number < 0:
        raise ValueError(f"number must be 0 or more, not {number}.")
    if not SHORTEST_TWIN <= min_length <= max_length <= LONGEST_TWIN:
        raise ValueError(
            f"lengths must be from {SHORTEST_TWIN} to {LONGEST_TWIN} words, not {min_length} to "
            f"{max_length}."
        )
    random_source = random.Random(seed)
    made: dict[tuple[str, ...], tuple[SentencePair, SentencePair]] = {}
    while len(made) < number:
        twins = _draw_twins(random_source)
        if min_length <= len(twins[0].source) <= max_length:
            made.setdefault(twins[0].source, twins)
    return list(made.values())


def _draw_forever(
    random_source: random.Random, min_length: int, max_length: int
) -> Iterator[SentencePair]:
    while True:
        kind = random_source.random()
        if kind < TWINS / 2 and min_length <= LONGEST_TWIN and max_length >= SHORTEST_TWIN:
            twins = _draw_twins(random_source, followed=random_source.random() < FOLLOWED)
            if min_length <= len(twins[0].source) <= max_length:
                yield from twins
            continue
        personal = kind > 1 - PERSONAL
        longest = max(min_length, min(max_length, MOST_PERSONAL)) if personal else max_length
        length = random_source.randint(min_length, longest)
        described = personal and random_source.random() < DESCRIBED
        for _ in range(ATTEMPTS):
            pair = _draw_with_length(random_source, length, personal, described)
            if pair:
                yield pair
                break


def _draw_with_length(
    random_source: random.Random, length: int, personal: bool, described: bool
) -> SentencePair | None:
    """Return a pair whose source has this length, or None: pronouns shorten a sentence."""
    more = random_source.choice((0, 1, 2, 3) if personal or length < 6 else (-1, 0, 0, 1))
    sentence = sample_sentence(random_source, max(SHORTEST, length + more), EVERYDAY)
    _put_into_a_tense(sentence, random_source)
    _add_degrees(sentence, random_source)
    _put_in_persons(sentence, random_source, eager=2.5 if personal else 1.0)
    if personal and not any(
        phrase.person and (clause.predicate or not described)
        for clause in sentence.clauses()
        for phrase in clause.arguments()
    ):
        return None
    pair = _realise(sentence)
    return pair if len(pair.source) == length else None


def _draw_twins(
    random_source: random.Random, followed: bool = False
) -> tuple[SentencePair, SentencePair]:
    """Return two pairs that differ in one word, the last, or the last before another clause."""
    twins = None
    while twins is None:  # most sentences lack two nouns that fit
        twins = sample_twins(random_source, random_source.randint(4, 8), EVERYDAY)
    past = random_source.random() < 0.6
    degree = random_source.choice((None, DEGREES[0], *DEGREES))
    for sentence in twins.sentences:
        for clause in _all_clauses(sentence):
            clause.past = past and not _is_lasting(twins.sentences[0])
        list(sentence.clauses())[-1].degree = degree
    if followed:
        more = _draw_another_unit(random_source, twins.sentences[0])
        for sentence in twins.sentences:
            sentence.units.append(more)
    return _realise(twins.sentences[0]), _realise(twins.sentences[1])


def _draw_another_unit(random_source: random.Random, before: Sentence) -> Unit:
    """Return a main clause, to come after a sentence, with none of its nouns."""
    used = {phrase.noun for clause in before.clauses() for phrase in clause.phrases()}
    while True:
        sentence = sample_sentence(random_source, random_source.randint(3, 7), EVERYDAY)
        nouns = {phrase.noun for clause in sentence.clauses() for phrase in clause.phrases()}
        if len(sentence.units) == 1 and not sentence.units[0].dependent and not nouns & used:
            break
    _put_into_a_tense(sentence, random_source)
    _put_in_persons(sentence, random_source, eager=1.0)
    sentence.units[0].connective = random_source.choice(("and", "and", "but"))
    return sentence.units[0]


def _realise(sentence: Sentence) -> SentencePair:
    return pair_of(english.realise(sentence), french.realise(sentence))


def _all_clauses(sentence: Sentence) -> Iterator[Clause]:
    for clause in sentence.clauses():
        yield from _with_relatives(clause)


def _with_relatives(clause: Clause) -> Iterator[Clause]:
    yield clause
    yield from (phrase.relative for phrase in clause.phrases() if phrase.relative)


def _is_lasting(sentence: Sentence) -> bool:
    """Return whether the past would not be a single event: every morning, while, now."""
    return any(unit.conjunction == "while" for unit in sentence.units) or any(
        clause.time not in (None, TODAY) for clause in _all_clauses(sentence)
    )


def _put_into_a_tense(sentence: Sentence, random_source: random.Random) -> None:
    """Put all clauses into the past, or some: what follows "because" or a connective."""
    if _is_lasting(sentence):
        return
    mixed = random_source.random() < 0.2
    past = random_source.random() < 0.55
    for unit in sentence.units:
        past = random_source.random() < 0.5 if mixed else past
        _set_past(unit.main, past, random_source)
        if unit.dependent:
            free = mixed and unit.conjunction == "because"
            later = random_source.random() < 0.5 if free else past
            _set_past(unit.dependent, later, random_source)


def _set_past(clause: Clause, past: bool, random_source: random.Random) -> None:
    for each in _with_relatives(clause):
        each.past = past
    if past and clause.time and random_source.random() < 0.7:
        clause.time = YESTERDAY


def _add_degrees(sentence: Sentence, random_source: random.Random) -> None:
    for clause in sentence.clauses():
        if clause.predicate and random_source.random() < 0.5:
            clause.degree = random_source.choice((DEGREES[0], *DEGREES))


def _put_in_persons(sentence: Sentence, random_source: random.Random, eager: float) -> None:
    """Replace nouns by personal pronouns, and articles by possessives."""
    taken = {p.antecedent for clause in sentence.clauses() for p in clause.phrases()}
    for clause in sentence.clauses():
        subject, other = clause.subject, clause.object
        often = 0.7 if clause.predicate else 0.22
        if subject and _is_free(subject, LIVING, taken) and random_source.random() < eager * often:
            _set_person(subject, random_source.choice(SUBJECTS))
        if (
            other
            and clause.verb
            and clause.verb.frame == "transitive"
            and _is_free(other, LIVING, taken)
            and random_source.random() < eager * 0.4
        ):
            # "I see me" and "he sees him" would be reflexive, or another person.
            own = subject.person if subject else ""
            _set_person(other, random_source.choice([p for p in OBJECTS if p != own]))
        for phrase in clause.phrases():
            if _can_be_owned(phrase) and random_source.random() < 0.12:
                phrase.determiner = random_source.choice(OWNERS)
    for clause in _all_clauses(sentence):
        if clause.past and _hides_tense(clause):
            _use_present(clause)


def _is_free(phrase: NounPhrase, suitable: frozenset[str], taken: set[NounPhrase | None]) -> bool:
    bare = not (phrase.adjectives or phrase.possessor or phrase.relative or phrase.joined)
    return (
        bare
        and not phrase.replaces_noun
        and phrase not in taken
        and bool(phrase.noun.tags & suitable)
    )


def _set_person(phrase: NounPhrase, person: str) -> None:
    phrase.person = person
    phrase.noun = WOMAN if person == "she" else MAN
    phrase.plural = person in ("we", "they")
    phrase.determiner, phrase.number = "the", None


def _can_be_owned(phrase: NounPhrase) -> bool:
    return (
        phrase.determiner == "the"
        and not phrase.possessor
        and not phrase.replaces_noun
        and bool(phrase.noun.tags & OWNED)
    )


def _hides_tense(clause: Clause) -> bool:
    """Return whether English shows no tense: "I read the book", but not "he read the book"."""
    verb, subject = clause.verb, clause.agreement
    bare = subject.plural_agreement or subject.person in ("i", "you")
    return bool(verb and verb.english_past == verb.english and bare and not clause.negative)


def _use_present(clause: Clause) -> None:
    """Put a clause into the present."""
    clause.past = False
    if clause.time is YESTERDAY:
        clause.time = TODAY


def _noun(english_word: str) -> Noun:
    return next(noun for noun in EVERYDAY.nouns if noun.english == english_word)


MAN, WOMAN = _noun("man"), _noun("woman")
