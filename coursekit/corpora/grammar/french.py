"""Surface realisation of a meaning tree in French, in the present or the past tense.

The past is the passé composé, and the imperfect for states: être, aimer, craindre, connaître. "You"
is "tu"; speaker and hearer are masculine, as far as a participle or an adjective shows it.
Elided words (l', n', d', qu') are separate tokens; du, des, au and aux carry the keys of both words
that they contract.
"""

from __future__ import annotations

from coursekit.corpora.grammar.aligned_tokens import Token, Tokens, express
from coursekit.corpora.grammar.lexicon import MANY, Adjective, Verb, french_plural
from coursekit.corpora.grammar.meaning_tree import Clause, NounPhrase, Sentence, Unit

ELISIONS = {"le": "l'", "la": "l'", "de": "d'", "ne": "n'", "que": "qu'"}
ELISIONS |= {"je": "j'", "me": "m'", "te": "t'"}
CONTRACTIONS = {("de", "le"): "du", ("de", "les"): "des", ("à", "le"): "au", ("à", "les"): "aux"}
CONJUNCTIONS = {
    "and": ("et",),
    "but": ("mais",),
    "because": ("parce", "que"),
    "when": ("quand",),
    "while": ("pendant", "que"),
}
SUBJECTS = {"i": "je", "you": "tu", "he": "il", "she": "elle", "we": "nous", "they": "ils"}
OBJECTS = {"i": "me", "you": "te", "he": "le", "she": "la", "we": "nous", "they": "les"}
POSSESSIVES = {  # before a masculine noun, a feminine one, a plural
    "my": ("mon", "ma", "mes"),
    "your": ("ton", "ta", "tes"),
    "his": ("son", "sa", "ses"),
    "her": ("son", "sa", "ses"),
    "our": ("notre", "notre", "nos"),
    "their": ("leur", "leur", "leurs"),
}
# the forms of a verb after je, tu, il, nous, ils
PRESENT = {
    "être": ("suis", "es", "est", "sommes", "sont"),
    "avoir": ("ai", "as", "a", "avons", "ont"),
}
IMPERFECT = ("ais", "ais", "ait", "ions", "aient")


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
    if clause.object and clause.object.replaces_noun:
        person = clause.object.person or ("he" if clause.object.noun.gender == "m" else "she")
        yield Token(OBJECTS[person], ((clause.object, "noun"),))
    yield Token(_finite_verb(clause), ((clause, "verb" if clause.verb else "be"),))
    if clause.negative:
        yield Token("pas", ((clause, "not"),))
    if clause.predicate:
        if clause.degree:
            yield from express(clause.degree.french, (clause, "degree"))
        agreement = clause.agreement
        word = _agree(clause.predicate, _gender(agreement), agreement.plural_agreement)
        yield Token(word, ((clause, "predicate"),))
    if clause.frequency:
        yield from express(clause.frequency.french, (clause, "frequency"))
    if clause.past and clause.verb and clause.verb.participle:
        yield Token(_participle(clause, clause.verb), ((clause, "verb"),))
    if clause.manner:
        yield from express(clause.manner.french, (clause, "manner"))
    if clause.object and not clause.object.replaces_noun:
        yield from _phrase(clause.object, negated_object=clause.negative)
    for other in (clause.recipient, clause.destination):
        if other:
            yield Token("à", ((clause, "to"),))
            yield from _phrase(other)
    if clause.place:
        yield from express(clause.place[0].french, (clause, "place"))
        yield from _phrase(clause.place[1])


def _subject(phrase: NounPhrase) -> Tokens:
    if phrase.replaces_noun:
        person = phrase.person or ("he" if phrase.noun.gender == "m" else "she")
        yield Token(SUBJECTS[person], ((phrase, "noun"),))
    else:
        yield from _phrase(phrase)


def _finite_verb(clause: Clause) -> str:
    """Return the form that agrees with the subject: dort; a or est in the passé composé; aimait."""
    subject = clause.agreement
    which = {"i": 0, "you": 1, "we": 3}.get(subject.person, 4 if subject.plural_agreement else 2)
    verb = clause.verb
    if clause.past and verb and verb.participle:
        return PRESENT[verb.auxiliary][which]
    if clause.past:
        return (verb.imperfect_stem if verb else "ét") + IMPERFECT[which]
    if verb is None:
        return PRESENT["être"][which]
    forms = (verb.french_first, verb.french_second, verb.french, verb.french_we, verb.french_plural)
    return forms[which]


def _participle(clause: Clause, verb: Verb) -> str:
    """Return the participle; with être it agrees with the subject, else with an object before."""
    other: NounPhrase | None = None
    if verb.auxiliary == "être":
        other = clause.agreement
    elif clause.gap == "object":
        other = clause.head
    elif clause.object and clause.object.replaces_noun:
        other = clause.object
    if other is None:
        return verb.participle
    feminine = verb.participle + ("e" if _gender(other) == "f" else "")
    return french_plural(feminine) if other.plural_agreement else feminine


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
    if phrase.determiner in POSSESSIVES:
        before = next((a for a in phrase.adjectives if a.before), None)
        first = _agree(before, noun.gender, phrase.plural, words[0]) if before else words[0]
        masculine, feminine, many = POSSESSIVES[phrase.determiner]
        one = masculine if noun.gender == "m" or starts_with_vowel(first) else feminine
        determiner: tuple[str, ...] = (many if phrase.plural else one,)
    elif phrase.number:
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
    for in_front in (True, False):
        for adjective in phrase.adjectives:
            if adjective.before == in_front:
                following = words[0] if in_front else " "
                form = _agree(adjective, noun.gender, phrase.plural, following)
                yield Token(form, ((phrase, adjective.english),))
        if in_front:
            yield from express(words, (phrase, "noun"))
    if phrase.possessor:
        yield Token("de", ((phrase, "of"),))
        yield from _phrase(phrase.possessor)
    if phrase.relative:
        yield from _clause(phrase.relative)
    if phrase.joined:
        yield Token("et", ((phrase, "and"),))
        yield from _phrase(phrase.joined)
