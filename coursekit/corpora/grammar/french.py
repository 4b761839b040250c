"""Surface realisation of a meaning tree in French, in the present tense.

Elided words (l', n', d', qu') are separate tokens; du, des, au and aux carry the keys of both words
that they contract.
"""

from __future__ import annotations

from coursekit.corpora.grammar.aligned_tokens import Token, Tokens, express
from coursekit.corpora.grammar.lexicon import MANY, Adjective, french_plural
from coursekit.corpora.grammar.meaning_tree import Clause, NounPhrase, Sentence, Unit

ELISIONS = {"le": "l'", "la": "l'", "de": "d'", "ne": "n'", "que": "qu'"}
CONTRACTIONS = {("de", "le"): "du", ("de", "les"): "des", ("à", "le"): "au", ("à", "les"): "aux"}
CONJUNCTIONS = {
    "and": ("et",),
    "but": ("mais",),
    "because": ("parce", "que"),
    "when": ("quand",),
    "while": ("pendant", "que"),
}


def starts_with_vowel(word: str) -> bool:
    """Return whether le, de, ne and que elide before the word; every h in the lexicon is mute."""
    return word[0] in "aeiouyhàâéèêëîïôœùû"


def realise(sentence: Sentence) -> list[Token]:
    """Return the French words, in lower case and without punctuation."""
    return _contract(_elide([token for unit in sentence.units for token in _unit(unit)]))


def _elide(tokens: list[Token]) -> list[Token]:
    elided = []
    for i, (word, keys) in enumerate(tokens):
        following = tokens[i + 1].word if i + 1 < len(tokens) else " "
        if word in ELISIONS and starts_with_vowel(following):
            word = ELISIONS[word]
        elided.append(Token(word, keys))
    return elided


def _contract(tokens: list[Token]) -> list[Token]:
    contracted: list[Token] = []
    for token in tokens:
        last = contracted[-1] if contracted else Token("")
        short = CONTRACTIONS.get((last.word, token.word))
        if short:
            contracted[-1] = Token(short, last.keys + token.keys)
        else:
            contracted.append(token)
    return contracted


def _unit(unit: Unit) -> Tokens:
    if unit.connective:
        yield from express(CONJUNCTIONS[unit.connective], (unit, "connective"))
    if unit.dependent and unit.fronted:
        yield from express(CONJUNCTIONS[unit.conjunction], (unit, "conjunction"))
        yield from _clause(unit.dependent)
    yield from _clause(unit.main)
    if unit.dependent and not unit.fronted:
        yield from express(CONJUNCTIONS[unit.conjunction], (unit, "conjunction"))
        yield from _clause(unit.dependent)


def _clause(clause: Clause) -> Tokens:
    if clause.time:
        yield from express(clause.time.french, (clause, "time"))
    if clause.gap:
        yield Token("qui" if clause.gap == "subject" else "que", ((clause, "gap"),))
    if clause.subject:
        yield from _subject(clause.subject)
    if clause.negative:
        yield Token("ne", ((clause, "not"),))
    if clause.object and clause.object.is_pronoun:
        word = "le" if clause.object.noun.gender == "m" else "la"
        yield Token(word, ((clause.object, "noun"),))
    yield from _verb(clause)
    if clause.negative:
        yield Token("pas", ((clause, "not"),))
    if clause.predicate:
        agreement = clause.agreement
        word = _agree(clause.predicate, _gender(agreement), agreement.plural_agreement)
        yield Token(word, ((clause, "predicate"),))
    if clause.frequency:
        yield from express(clause.frequency.french, (clause, "frequency"))
    if clause.manner:
        yield from express(clause.manner.french, (clause, "manner"))
    if clause.object and not clause.object.is_pronoun:
        yield from _phrase(clause.object, negated_object=clause.negative)
    for other in (clause.recipient, clause.destination):
        if other:
            yield Token("à", ((clause, "to"),))
            yield from _phrase(other)
    if clause.place:
        yield from express(clause.place[0].french, (clause, "place"))
        yield from _phrase(clause.place[1])


def _subject(phrase: NounPhrase) -> Tokens:
    if phrase.is_pronoun:
        yield Token("il" if phrase.noun.gender == "m" else "elle", ((phrase, "noun"),))
    else:
        yield from _phrase(phrase)


def _verb(clause: Clause) -> Tokens:
    plural = clause.agreement.plural_agreement
    if clause.verb is None:
        yield Token("sont" if plural else "est", ((clause, "be"),))
    else:
        verb = clause.verb
        yield Token(verb.french_plural if plural else verb.french, ((clause, "verb"),))


def _gender(phrase: NounPhrase) -> str:
    """Return "m" if any of the joined nouns is masculine, else "f"."""
    if phrase.joined and _gender(phrase.joined) == "m":
        return "m"
    return phrase.noun.gender


def _agree(adjective: Adjective, gender: str, plural: bool, following: str = " ") -> str:
    """Return the form of an adjective: vieux, vieil before a vowel, vieille, vieilles."""
    if gender == "f":
        return french_plural(adjective.feminine) if plural else adjective.feminine
    if plural:
        return french_plural(adjective.masculine)
    return adjective.masculine_vowel if starts_with_vowel(following) else adjective.masculine


def _phrase(phrase: NounPhrase, negated_object: bool = False) -> Tokens:
    noun = phrase.noun
    words = noun.french_plural if phrase.plural else noun.french
    if phrase.number:
        determiner = phrase.number.french
    elif phrase.determiner == "many":
        determiner = MANY.french
    elif phrase.determiner == "a":  # "ne voit pas de chien"
        determiner = ("de",) if negated_object else ("un" if noun.gender == "m" else "une",)
    elif phrase.plural:
        determiner = ("les",)
    else:
        determiner = ("le" if noun.gender == "m" else "la",)
    yield from express(determiner, (phrase, "determiner"))
    for before in (True, False):
        for adjective in phrase.adjectives:
            if adjective.before == before:
                form = _agree(adjective, noun.gender, phrase.plural, words[0] if before else " ")
                yield Token(form, ((phrase, adjective.english),))
        if before:
            yield from express(words, (phrase, "noun"))
    if phrase.possessor:
        yield Token("de", ((phrase, "of"),))
        yield from _phrase(phrase.possessor)
    if phrase.relative:
        yield from _clause(phrase.relative)
    if phrase.joined:
        yield Token("et", ((phrase, "and"),))
        yield from _phrase(phrase.joined)
