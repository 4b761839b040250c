"""Surface realisation of a meaning tree in English, in the present or the past tense."""

from __future__ import annotations

from coursekit.corpora.grammar.aligned_tokens import Token, Tokens, express
from coursekit.corpora.grammar.lexicon import Verb
from coursekit.corpora.grammar.meaning_tree import Clause, NounPhrase, Sentence, Unit

SUBJECTS = {name: name for name in ("i", "you", "he", "she", "we", "they")}
OBJECTS = {"i": "me", "you": "you", "he": "him", "she": "her", "we": "us", "they": "them"}


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
    if clause.verb is None:
        assert clause.predicate is not None
        yield Token(_be(clause), ((clause, "be"),))
        if clause.negative:
            yield Token("not", ((clause, "not"),))
        if clause.degree:
            yield from express(clause.degree.english, (clause, "degree"))
        yield Token(clause.predicate.english, ((clause, "predicate"),))
        return
    # "quickly crosses the street": after a long object, the adverb would seem to modify it
    manner_first = clause.verb.frame != "intransitive"
    if clause.frequency:
        yield from express(clause.frequency.english, (clause, "frequency"))
    if clause.manner and manner_first:
        yield from express(clause.manner.english, (clause, "manner"))
    if clause.negative:
        yield Token("did" if clause.past else "do" if _is_bare(clause) else "does")
        yield Token("not", ((clause, "not"),))
    yield Token(_form(clause, clause.verb), ((clause, "verb"),))
    if clause.object:
        yield from _phrase(clause.object, OBJECTS)
    for other in (clause.recipient, clause.destination):
        if other:
            yield Token("to", ((clause, "to"),))
            yield from _phrase(other, OBJECTS)
    if clause.manner and not manner_first:
        yield from express(clause.manner.english, (clause, "manner"))
    if clause.place:
        yield from express(clause.place[0].english, (clause, "place"))
        yield from _phrase(clause.place[1])


def _is_bare(clause: Clause) -> bool:
    """Return whether a verb in the present has no ending: i, you, we and they walk."""
    return clause.agreement.plural_agreement or clause.agreement.person in ("i", "you")


def _be(clause: Clause) -> str:
    many = clause.agreement.plural_agreement or clause.agreement.person == "you"
    if clause.past:
        return "were" if many else "was"
    return "are" if many else "am" if clause.agreement.person == "i" else "is"


def _form(clause: Clause, verb: Verb) -> str:
    if clause.negative:
        return verb.english
    if clause.past:
        return verb.english_past
    return verb.english if _is_bare(clause) else verb.english_third


def _phrase(phrase: NounPhrase, pronouns: dict[str, str] = SUBJECTS) -> Tokens:
    if phrase.person:
        yield Token(pronouns[phrase.person], ((phrase, "noun"),))
        return
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
