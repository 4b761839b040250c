"""Surface realisation of a meaning tree in Korean, in plain style and present tense.

Particles (은, 를, 에서) and endings that leave the stem unchanged (-지, -고, -지만, -기) are
separate tokens, although written Korean joins them to the word: one English word then corresponds
to one Korean token ("to" to 에게, "but" to 지만). Endings that change the stem (건넌다, 여는, 도울)
stay part of the word. `as_text` in `coursekit.corpora` joins the tokens.
"""

from __future__ import annotations

from coursekit.corpora.grammar.aligned_tokens import Key, Token, Tokens, express
from coursekit.corpora.grammar.korean_morphology import (
    particle,
    prospective,
    verb_adnominal,
    verb_present,
)
from coursekit.corpora.grammar.meaning_tree import Clause, NounPhrase, Sentence

ENDINGS = {"and": "고", "but": "지만"}


def realise(sentence: Sentence) -> list[Token]:
    """Return the Korean tokens; a dependent clause comes before its main clause."""
    tokens: list[Token] = []
    for position, unit in enumerate(sentence.units):
        if unit.dependent:
            tokens += _clause(unit.dependent, "subject")
            tokens += _verb_end(unit.dependent, unit.conjunction, (unit, "conjunction"))
        tokens += _clause(unit.main, "topic")
        if position + 1 < len(sentence.units):
            following = sentence.units[position + 1]
            tokens += _verb_end(unit.main, following.connective, (following, "connective"))
        else:
            tokens += _verb_end(unit.main, "final")
    return tokens


def _clause(clause: Clause, subject_particle: str) -> list[Token]:
    """Return everything before the verb."""
    tokens: list[Token] = []
    # An adverb before a relative clause would seem to modify that clause. Time therefore follows a
    # subject that has a relative clause, and frequency stands next to the verb.
    others = (clause.object, clause.recipient, clause.destination)
    time_last = bool(clause.subject and clause.subject.relative) and not any(
        phrase and phrase.relative for phrase in others
    )
    time = express(clause.time.korean, (clause, "time")) if clause.time else ()
    if not time_last:
        tokens += time
    if clause.subject:
        tokens += _with_particle(clause.subject, subject_particle)
    if time_last:
        tokens += time
    if clause.place:
        preposition, phrase = clause.place
        tokens += _phrase(phrase)
        tokens += express(preposition.korean, (clause, "place"))
    if clause.recipient:
        tokens += _phrase(clause.recipient)
        tokens.append(Token("에게", ((clause, "to"),)))
    if clause.object:
        tokens += _with_particle(clause.object, "object")
    if clause.destination:
        tokens += _with_particle(clause.destination, "toward", (clause, "to"))
    if clause.frequency:
        tokens += express(clause.frequency.korean, (clause, "frequency"))
    if clause.manner:
        tokens += express(clause.manner.korean, (clause, "manner"))
    return tokens


def _verb_end(clause: Clause, ending: str, *keys: Key) -> Tokens:
    """Yield a predicate with its ending: final, and, but, because, when, while, adnominal."""
    if clause.verb:
        stem, irregular = clause.verb.korean, clause.verb.korean_irregular
        own: tuple[Key, ...] = ((clause, "verb"),)
    else:
        assert clause.predicate is not None and clause.predicate.korean_stem is not None
        stem, irregular = clause.predicate.korean_stem, clause.predicate.korean_irregular
        own = ((clause, "predicate"), (clause, "be"))
    if clause.negative:  # -지 않다: the negation takes the ending
        yield Token(stem, own)
        yield Token("지")
        stem, irregular, own = "않", False, ((clause, "not"),)
    if ending == "final":
        yield Token(verb_present(stem) if clause.verb else stem + "다", own)
    elif ending in ENDINGS:
        yield Token(stem, own)
        yield Token(ENDINGS[ending], keys)
    elif ending == "because":
        yield Token(stem, own)
        yield Token("기")
        yield Token("때문에", keys)
    elif ending == "when":
        yield Token(prospective(stem, irregular), own)
        yield Token("때", keys)
    else:  # while, adnominal: these never have a predicate adjective
        assert clause.verb is not None
        yield Token(verb_adnominal(stem), own)
        if ending == "while":
            yield Token("동안", keys)


def _with_particle(phrase: NounPhrase, kind: str, *keys: Key) -> Tokens:
    last = ""
    for token in _phrase(phrase):
        last = token.word
        yield token
    yield Token(particle(kind, last), keys)


def _phrase(phrase: NounPhrase) -> Tokens:
    noun: Key = (phrase, "noun")
    if phrase.is_pronoun:
        yield Token("그것", (noun,))
        return
    if phrase.relative:
        yield from _clause(phrase.relative, "subject")
        yield from _verb_end(phrase.relative, "adnominal")
    if phrase.possessor:
        yield from _phrase(phrase.possessor)
        yield Token("의", ((phrase, "of"),))
    if phrase.determiner == "many":
        yield Token("많은", ((phrase, "determiner"),))
    for adjective in phrase.adjectives:
        yield Token(adjective.korean, ((phrase, adjective.english),))
    last = phrase.noun.korean
    yield Token(last, (noun,))
    if phrase.number:  # 개 세 마리: the counter goes with the number
        last = phrase.noun.counter
        yield from express((*phrase.number.korean, last), (phrase, "determiner"))
    elif phrase.plural:
        last = "들"
        yield Token(last, (noun,))
    if phrase.joined:
        yield Token(particle("and", last), ((phrase, "and"),))
        yield from _phrase(phrase.joined)
