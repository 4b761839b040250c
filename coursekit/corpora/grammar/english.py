"""Surface realisation of a meaning tree in English."""

from __future__ import annotations

from coursekit.corpora.grammar.aligned_tokens import Token, Tokens, express
from coursekit.corpora.grammar.lexicon import english_s
from coursekit.corpora.grammar.meaning_tree import Clause, NounPhrase, Sentence, Unit


def realise(sentence: Sentence) -> list[Token]:
    """Return the English words, in lower case and without punctuation."""
    tokens = [token for unit in sentence.units for token in _unit(unit)]
    return [
        Token("an", token.keys) if token.word == "a" and tokens[i + 1].word[0] in "aeiou" else token
        for i, token in enumerate(tokens)
    ]


def _unit(unit: Unit) -> Tokens:
    if unit.connective:
        yield Token(unit.connective, ((unit, "connective"),))
    if unit.dependent and unit.fronted:
        yield Token(unit.conjunction, ((unit, "conjunction"),))
        yield from _clause(unit.dependent)
    yield from _clause(unit.main)
    if unit.dependent and not unit.fronted:
        yield Token(unit.conjunction, ((unit, "conjunction"),))
        yield from _clause(unit.dependent)


def _clause(clause: Clause) -> Tokens:
    if clause.time:
        yield from express(clause.time.english, (clause, "time"))
    if clause.gap:
        person = clause.head and "person" in clause.head.noun.tags and clause.gap == "subject"
        yield Token("who" if person else "that", ((clause, "gap"),))
    if clause.subject:
        yield from _phrase(clause.subject)
    plural = clause.agreement.plural_agreement
    if clause.verb is None:
        assert clause.predicate is not None
        yield Token("are" if plural else "is", ((clause, "be"),))
        if clause.negative:
            yield Token("not", ((clause, "not"),))
        yield Token(clause.predicate.english, ((clause, "predicate"),))
        return
    # "quickly crosses the street": after a long object, the adverb would seem to modify it
    manner_first = clause.verb.frame != "intransitive"
    if clause.frequency:
        yield from express(clause.frequency.english, (clause, "frequency"))
    if clause.manner and manner_first:
        yield from express(clause.manner.english, (clause, "manner"))
    if clause.negative:
        yield Token("do" if plural else "does")
        yield Token("not", ((clause, "not"),))
    bare = plural or clause.negative
    yield Token(
        clause.verb.english if bare else english_s(clause.verb.english), ((clause, "verb"),)
    )
    if clause.object:
        yield from _phrase(clause.object)
    for other in (clause.recipient, clause.destination):
        if other:
            yield Token("to", ((clause, "to"),))
            yield from _phrase(other)
    if clause.manner and not manner_first:
        yield from express(clause.manner.english, (clause, "manner"))
    if clause.place:
        yield from express(clause.place[0].english, (clause, "place"))
        yield from _phrase(clause.place[1])


def _phrase(phrase: NounPhrase) -> Tokens:
    if phrase.is_pronoun:
        yield Token("it", ((phrase, "noun"),))
        return
    words = phrase.number.english if phrase.number else (phrase.determiner,)
    yield from express(words, (phrase, "determiner"))
    for adjective in phrase.adjectives:
        yield Token(adjective.english, ((phrase, adjective.english),))
    noun = phrase.noun
    yield Token(noun.english_plural if phrase.plural else noun.english, ((phrase, "noun"),))
    if phrase.possessor:
        yield Token("of", ((phrase, "of"),))
        yield from _phrase(phrase.possessor)
    if phrase.relative:
        yield from _clause(phrase.relative)
    if phrase.joined:
        yield Token("and", ((phrase, "and"),))
        yield from _phrase(phrase.joined)
