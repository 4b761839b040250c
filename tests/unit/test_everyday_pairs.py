"""Tests of the everyday pairs: persons, possessives, tenses and degrees in English and French."""

from __future__ import annotations

from collections import Counter

import pytest

from coursekit.corpora import as_text
from coursekit.corpora.everyday_pairs import everyday_english_french, everyday_twins
from coursekit.corpora.grammar import english, french
from coursekit.corpora.grammar.aligned_tokens import links
from coursekit.corpora.grammar.lexicon import DEGREES, EVERYDAY, YESTERDAY
from coursekit.corpora.grammar.meaning_tree import Clause, NounPhrase, Sentence, Unit

ELIDED = {"j'", "m'", "t'", "l'", "d'", "n'", "qu'"}
PERSONS = {"i", "you", "he", "she", "we", "they"}


def find(kind, word):
    return next(one for one in getattr(EVERYDAY, kind) if one.english == word)


def verb(word):
    return find("verbs", word)


def adjective(word):
    return find("adjectives", word)


def np(word, determiner="the", **options):
    return NounPhrase(find("nouns", word), determiner, **options)


def person(name):
    noun = find("nouns", "woman" if name == "she" else "man")
    return NounPhrase(noun, person=name, plural=name in ("we", "they"))


def clause(subject, word, *others, **options):
    """Return a clause: a subject and a verb or an adjective, and an object."""
    subject = person(subject) if isinstance(subject, str) else subject
    if word in {v.english for v in EVERYDAY.verbs}:
        options |= {"verb": verb(word)}
    else:
        options |= {"predicate": adjective(word)}
    if others:
        (other,) = others
        options["object"] = person(other) if isinstance(other, str) else other
    return Clause(subject, **options)


def said(*units):
    """Return a sentence in English and in French."""
    sentence = Sentence([unit if isinstance(unit, Unit) else Unit(unit) for unit in units])
    source, target = english.realise(sentence), french.realise(sentence)
    return " ".join(t.word for t in source), as_text([t.word for t in target])


def relative(head, gap, word, **options):
    head.relative = Clause(options.pop("subject", None), verb(word), gap=gap, head=head, **options)
    return head


PAST = {"past": True}
CASES = [
    (clause("i", "tired"), "i am tired", "je suis fatigué"),
    (clause("you", "tired"), "you are tired", "tu es fatigué"),
    (clause("she", "tired"), "she is tired", "elle est fatiguée"),
    (clause("we", "tired"), "we are tired", "nous sommes fatigués"),
    (clause("they", "tired", negative=True), "they are not tired", "ils ne sont pas fatigués"),
    (clause("i", "sad", **PAST), "i was sad", "j'étais triste"),
    (clause("you", "sad", **PAST), "you were sad", "tu étais triste"),
    (clause("we", "sad", **PAST), "we were sad", "nous étions tristes"),
    (clause("he", "tired", degree=DEGREES[0]), "he is too tired", "il est trop fatigué"),
    (clause("i", "love", "you"), "i love you", "je t'aime"),
    (clause("you", "love", "i"), "you love me", "tu m'aimes"),
    (clause("she", "love", "he"), "she loves him", "elle l'aime"),
    (clause("we", "see", "they"), "we see them", "nous les voyons"),
    (clause("they", "help", "we"), "they help us", "ils nous aident"),
    (clause("i", "find", "she", **PAST), "i found her", "je l'ai trouvée"),
    (clause("you", "see", "they", past=True, negative=True),
     "you did not see them", "tu ne les as pas vus"),
    (clause("she", "arrive", **PAST), "she arrived", "elle est arrivée"),
    (clause("they", "arrive", past=True, negative=True), "they did not arrive",
     "ils ne sont pas arrivés"),
    (clause("i", "swim"), "i swim", "je nage"),
    (clause("we", "swim"), "we swim", "nous nageons"),
    (clause("he", "have", np("apple", "a")), "he has an apple", "il a une pomme"),
    (clause("i", "have", np("apple", "a"), negative=True), "i do not have an apple",
     "je n'ai pas de pomme"),
    (clause("i", "want", np("cake", "a"), **PAST), "i wanted a cake", "je voulais un gâteau"),
    (clause("i", "like", np("friend", "my")), "i like my friend", "j'aime mon ami"),
    (clause(np("mother", "my"), "love", np("apple", "her")), "my mother loves her apple",
     "ma mère aime sa pomme"),
    (clause("he", "sell", np("clock", "your", adjectives=[adjective("old")]), **PAST),
     "he sold your old clock", "il a vendu ta vieille horloge"),
    (clause("he", "sell", np("clock", "your"), **PAST), "he sold your clock",
     "il a vendu ton horloge"),
    (clause(np("dog", "their", plural=True), "sleep"), "their dogs sleep",
     "leurs chiens dorment"),
    (clause(np("dog"), "cross", np("street"), past=True, time=YESTERDAY),
     "yesterday the dog crossed the street", "hier le chien a traversé la rue"),
    (clause("i", "see", relative(np("key"), "object", "find", subject=person("you"), past=True)),
     "i see the key that you found", "je vois la clé que tu as trouvée"),
    (clause("i", "see", relative(np("girl"), "subject", "return", past=True)),
     "i see the girl who returned", "je vois la fille qui est retournée"),
]  # fmt: skip


@pytest.mark.parametrize(("meaning", "in_english", "in_french"), CASES, ids=lambda c: str(c)[:40])
def test_a_meaning_in_both_languages(meaning, in_english, in_french):
    assert said(meaning) == (in_english, in_french)


def test_a_dependent_clause_has_a_tense_of_its_own():
    unit = Unit(
        clause("i", "tired"), dependent=clause("i", "run", past=True), conjunction="because"
    )
    assert said(unit) == ("i am tired because i ran", "je suis fatigué parce que j'ai couru")


@pytest.mark.parametrize("word", [v.english for v in EVERYDAY.verbs])
def test_the_past_of_every_verb_can_be_told_from_its_present(word):
    """Third person: "he read" has no -s."""
    each = [said(clause("he", word, past=past)) for past in (False, True)]
    assert each[0][0] != each[1][0] and each[0][1] != each[1][1]


def test_the_lexicon_has_what_the_past_needs():
    for each in EVERYDAY.verbs:
        assert bool(each.participle) != bool(each.imperfect_stem), each.english


def test_a_pronoun_and_a_past_are_linked_to_what_they_say():
    sentence = Sentence([Unit(clause("i", "find", "she", past=True))])
    source, target = english.realise(sentence), french.realise(sentence)
    assert [t.word for t in target] == ["je", "l'", "ai", "trouvée"]
    assert links(source, target) == {(0, 0), (2, 1), (1, 2), (1, 3)}


@pytest.fixture(scope="module")
def made():
    return everyday_english_french(2500, seed=5)


def test_the_same_arguments_give_the_same_pairs(made):
    assert everyday_english_french(300, seed=5) == made[:300]
    assert everyday_english_french(300, seed=6) != made[:300]


def test_lengths_are_spread_and_no_source_comes_twice(made):
    counts = Counter(len(pair.source) for pair in made)
    assert sorted(counts) == list(range(2, 21))
    assert max(counts.values()) < 4 * min(counts.values())
    assert len({pair.source for pair in made}) == len(made)


def test_all_that_is_everyday_occurs(made):
    words = Counter(word for pair in made for word in set(pair.source))
    everyday = [*PERSONS, "me", "him", "her", "us", "them", "my", "your", "his", "our", "their"]
    assert all(words[word] >= 15 for word in [*everyday, "too", "very", "did", "was", "yesterday"])
    assert 0.2 < sum(bool(PERSONS & set(pair.source)) for pair in made) / len(made) < 0.6


def test_french_elides_agrees_and_never_doubles(made):
    for pair in made:
        for word, following in zip(pair.target, pair.target[1:], strict=False):
            assert (word in ELIDED) <= (following[0] in "aeiouyhàâéèêëîïôœùû"), pair
            assert word != following or word in ("nous", "vous"), pair
        assert pair.target[-1] not in ELIDED


def test_no_tense_is_hidden(made):
    """ "I read the book" may be present or past; the present alone is generated."""
    participle = verb("read").participle
    for pair in made:
        for s, t in pair.links:
            bare = pair.source[s] == "read" and pair.source[s - 1] in PERSONS - {"he", "she"}
            assert not (bare and pair.target[t].startswith(participle)), pair


@pytest.mark.parametrize(("number", "lengths"), [(-1, (2, 20)), (5, (1, 20)), (5, (9, 8))])
def test_impossible_numbers_are_named(number, lengths):
    with pytest.raises(ValueError, match="must be"):
        everyday_english_french(number, 1, *lengths)


def test_too_few_different_sentences_are_named():
    with pytest.raises(ValueError, match="of 5000 different sentences of 2 to 2 words could"):
        everyday_english_french(5000, 1, 2, 2)


@pytest.mark.parametrize(("number", "lengths"), [(-1, (8, 13)), (5, (7, 13)), (5, (8, 14))])
def test_impossible_twins_are_named(number, lengths):
    with pytest.raises(ValueError, match="must be"):
        everyday_twins(number, 1, *lengths)


def test_twins_differ_in_the_last_word_and_in_the_pronoun():
    twins = everyday_twins(60, seed=2)
    assert len(twins) == 60
    for first, second in twins:
        assert first.source[:-1] == second.source[:-1]
        pronouns = []
        for pair in (first, second):
            ((it, _),) = pair.antecedents
            assert pair.source[it] == "it"
            pronouns += [pair.target[t] for s, t in pair.links if s == it]
        assert sorted(pronouns) == ["elle", "il"]
    assert any("too" in first.source for first, _ in twins)
    assert any({"was", "were"} & set(first.source) for first, _ in twins)
