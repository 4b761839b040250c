"""Tests of the synthetic corpora: determinism, links, and independently checked grammar."""

from __future__ import annotations

import random
import re
from collections import Counter

import pytest

from coursekit.corpora import SentencePair, as_text, english_french, english_korean, splits
from coursekit.corpora.grammar import english as english_rules
from coursekit.corpora.grammar import french
from coursekit.corpora.grammar import korean as korean_rules
from coursekit.corpora.grammar.aligned_tokens import links
from coursekit.corpora.grammar.korean_morphology import (
    adjective_adnominal,
    final_consonant,
    particle,
    prospective,
    verb_adnominal,
    verb_present,
)
from coursekit.corpora.grammar.lexicon import ADJECTIVES, NOUNS, TIMES, VERBS, Noun, Phrase
from coursekit.corpora.grammar.meaning_tree import Clause, NounPhrase, Sentence, Unit
from coursekit.corpora.grammar.sentence_sampler import sample_sentence
from tests.helpers.one_line_errors import refused

MAKERS = {"korean": english_korean, "french": english_french}
SAMPLES = {name: make(1500, seed=11, min_length=4, max_length=40) for name, make in MAKERS.items()}


def noun(english: str) -> Noun:
    return next(n for n in NOUNS if n.english == english)


def verb(english: str):
    return next(v for v in VERBS if v.english == english)


def adjective(english: str):
    return next(a for a in ADJECTIVES if a.english == english)


def words(tokens) -> str:
    return " ".join(token.word for token in tokens)


def three(*units: Unit) -> tuple[str, str, str]:
    sentence = Sentence(list(units))
    english, korean, fr = (m.realise(sentence) for m in (english_rules, korean_rules, french))
    return words(english), as_text([t.word for t in korean]), as_text([t.word for t in fr])


# --- determinism ---------------------------------------------------------------------------------


def test_global_random_state_is_neither_used_nor_changed():
    random.seed(1)
    before = random.getstate()
    first = english_korean(20, seed=3)
    assert random.getstate() == before
    random.seed(2)
    assert english_korean(20, seed=3) == first
    assert english_korean(20, seed=4) != first


def test_both_languages_translate_the_same_sentences():
    assert [p.source for p in english_korean(60, 9)] == [p.source for p in english_french(60, 9)]


# --- lengths, duplicates, splits -----------------------------------------------------------------


@pytest.mark.parametrize("language", MAKERS)
def test_lengths_are_spread_evenly(language):
    counts = Counter(len(p.source) for p in MAKERS[language](3700, 2, 4, 40))
    assert sorted(counts) == list(range(4, 41))
    assert min(counts.values()) > 60 and max(counts.values()) < 145  # 100 each on average


@pytest.mark.parametrize("length", [3, 4, 5, 17, 40, 60])
def test_lengths_are_exact(length):
    assert {len(p.source) for p in english_korean(30, 1, length, length)} == {length}


def test_no_sentence_comes_twice():
    sources = [p.source for p in english_korean(4000, 7, 4, 12)]
    assert len(set(sources)) == len(sources)


def test_an_exhausted_length_still_gives_as_many_pairs_as_asked_for():
    pairs = english_french(6000, 1, 3, 3)
    assert len(pairs) == 6000
    assert 1000 < len({p.source for p in pairs}) < 6000


def test_longer_sentences_say_more():
    """No noun comes twice in a sentence, so that its content grows with its length."""
    forms = {f: n for n in NOUNS for f in (n.english, n.english_plural)}
    means = []
    for length in (8, 20, 40):
        nouns = [
            [forms[w] for w in p.source if w in forms]
            for p in english_korean(50, 3, length, length)
        ]
        assert all(len(set(used)) == len(used) for used in nouns)
        means.append(sum(map(len, nouns)) / len(nouns))
    assert means[0] * 2 < means[1] and means[1] * 1.7 < means[2]


@pytest.mark.parametrize("language", MAKERS)
def test_splits_share_no_source_sentence(language):
    made = splits(language, 800, 150, 200, seed=5, min_length=4, max_length=9)
    assert [len(part) for part in made] == [800, 150, 200]
    train, validation, test = ({p.source for p in part} for part in made)
    assert not (train & validation or train & test or validation & test)


@pytest.mark.parametrize("language", MAKERS)
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((-1, 0), "pairs must be 0 or more, not -1"),
        ((5, 0, 9, 8), r"min_length \(9\) must not be greater than max_length \(8\)"),
        ((5, 0, 2, 8), "min_length must be at least 3"),
    ],
)
def test_bad_arguments_give_one_sentence(language, arguments, said):
    with refused(said):
        MAKERS[language](*arguments)


def test_bad_splits_give_one_sentence():
    with pytest.raises(ValueError, match="korean, french, not 'german'"):
        splits("german", 1, 1, 1, 0)
    with pytest.raises(ValueError, match="test must be 0 or more, not -1"):
        splits("french", 3, 1, -1, 0)
    with pytest.raises(ValueError, match="different sentences of 3 to 3 words"):
        splits("french", 6000, 1, 1, 0, 3, 3)
    assert english_korean(0, 0) == []


# --- links ---------------------------------------------------------------------------------------

UNLINKED = {"korean": {"the", "a", "an", "do", "does", "that", "who"}, "french": {"do", "does"}}
UNLINKED_TARGETS = {"은", "는", "이", "가", "을", "를", "지", "기"}


@pytest.mark.parametrize("language", MAKERS)
def test_every_content_word_is_linked(language):
    for pair in SAMPLES[language]:
        linked = {i for i, _ in pair.links}
        for i, word in enumerate(pair.source):
            assert (i in linked) == (word not in UNLINKED[language]), (word, pair)


def test_linked_and_unlinked_target_words():
    for pair in SAMPLES["french"]:
        assert {j for _, j in pair.links} == set(range(len(pair.target)))
    for pair in SAMPLES["korean"]:
        linked = {j for _, j in pair.links}
        for j, word in enumerate(pair.target):
            assert j in linked or word in UNLINKED_TARGETS, (word, pair)


def test_nouns_are_linked_to_their_own_translation():
    """Checked against the lexicon, not against the tree the links were made from."""
    korean = {f: n.korean for n in NOUNS for f in (n.english, n.english_plural)}
    french_forms = {
        f: {*n.french, *n.french_plural} for n in NOUNS for f in (n.english, n.english_plural)
    }
    for (name, forms), check in zip(
        (("korean", korean), ("french", french_forms)),
        (lambda word, form: word in (form, "들"), lambda word, form: word in form),
        strict=True,
    ):
        for pair in SAMPLES[name]:
            for i, j in pair.links:
                if pair.source[i] in forms:
                    assert check(pair.target[j], forms[pair.source[i]]), pair


def test_korean_reorders_over_long_distances():
    """Links of one sentence cross, and more so than in French."""

    def crossings(pair: SentencePair) -> int:
        return sum(i < k and j > m for i, j in pair.links for k, m in pair.links)

    korean = sum(map(crossings, SAMPLES["korean"][:300]))
    assert korean > 10 * sum(map(crossings, SAMPLES["french"][:300]))


def test_one_word_answers_to_several():
    pair = next(p for p in SAMPLES["french"] if "not" in p.source and "because" in p.source)
    for word, expected in (("not", 2), ("because", 2)):
        i = pair.source.index(word)
        assert sum(link[0] == i for link in pair.links) == expected
    pair = next(p for p in SAMPLES["french"] if "du" in p.target)
    j = pair.target.index("du")
    assert sum(link[1] == j for link in pair.links) == 2


# --- Korean --------------------------------------------------------------------------------------


def test_particles_follow_the_final_consonant():
    """Checked again by decomposing the syllable (Unicode NFD) instead of by its code point."""
    import unicodedata

    seen = Counter()
    after_vowel = {"는": 0, "가": 0, "를": 0, "와": 0, "은": 1, "을": 1, "과": 1}
    for pair in SAMPLES["korean"]:
        linked = {j for _, j in pair.links}
        for j, word in enumerate(pair.target):
            is_and = word in ("와", "과")
            if j and word in after_vowel and (j not in linked or is_and):
                jamo = unicodedata.normalize("NFD", pair.target[j - 1][-1])
                assert (len(jamo) == 3) == bool(after_vowel[word]), pair.target
                seen[word] += 1
            if word in ("로", "으로"):
                jamo = unicodedata.normalize("NFD", pair.target[j - 1][-1])
                assert (word == "으로") == (len(jamo) == 3 and jamo[2] != "\u11af")
                seen[word] += 1
    assert len(seen) == 9 and min(seen.values()) > 5


@pytest.mark.parametrize(
    ("stem", "irregular", "present", "adnominal", "before_when"),
    [
        ("건너", False, "건넌다", "건너는", "건널"),
        ("먹", False, "먹는다", "먹는", "먹을"),
        ("열", False, "연다", "여는", "열"),
        ("울", False, "운다", "우는", "울"),
        ("돕", True, "돕는다", "돕는", "도울"),
        ("걷", True, "걷는다", "걷는", "걸을"),
        ("닫", False, "닫는다", "닫는", "닫을"),
        ("읽", False, "읽는다", "읽는", "읽을"),
        ("무서워하", False, "무서워한다", "무서워하는", "무서워할"),
    ],
)
def test_korean_verb_forms(stem, irregular, present, adnominal, before_when):
    assert verb_present(stem) == present
    assert verb_adnominal(stem) == adnominal
    assert prospective(stem, irregular) == before_when


@pytest.mark.parametrize(
    ("stem", "irregular", "form"),
    [
        ("크", False, "큰"),
        ("넓", False, "넓은"),
        ("길", False, "긴"),
        ("무겁", True, "무거운"),
        ("아름답", True, "아름다운"),
        ("피곤하", False, "피곤한"),
    ],
)
def test_korean_adjective_forms(stem, irregular, form):
    assert adjective_adnominal(stem, irregular) == form


def test_particle_after_something_else_than_hangul():
    assert particle("toward", "마을") == "로"
    for word in ("", "abc"):
        with pytest.raises(ValueError, match="does not end in a Hangul syllable"):
            final_consonant(word)


# --- French --------------------------------------------------------------------------------------


def test_french_articles_agree_and_elide():
    """Read from the sentences alone: the noun that each article belongs to comes right after it,
    apart from adjectives."""
    forms = {n.french[0]: (n.gender, "s") for n in NOUNS}
    forms.update({n.french_plural[0]: (n.gender, "p") for n in NOUNS if n.english != "mouse"})
    both = {n.french[0] for n in NOUNS if n.french[0] == n.french_plural[0]}
    seen = Counter()
    for pair in SAMPLES["french"]:
        for j, word in enumerate(pair.target[:-1]):
            following = pair.target[j + 1]
            vowel = following[0] in "aeiouéèêhœ"
            if word.endswith("'"):
                assert vowel, pair.target
            elif word in ("le", "la", "de", "ne", "que"):
                assert not vowel, pair.target
            gender, number = forms.get(following, (None, None))
            if gender is None or following in both:
                continue
            if word in ("le", "un", "du", "au"):
                assert (gender, number) == ("m", "s"), pair.target
                seen[word] += 1
            elif word in ("la", "une"):
                assert (gender, number) == ("f", "s"), pair.target
                seen[word] += 1
            elif word in ("les", "des", "aux", "deux", "sept"):
                assert number == "p", pair.target
                seen[word] += 1
        text = as_text(pair.target)
        assert not re.search(r"\b(de les?|à les?|à le|si il|parce que il)\b", text), text
    assert len(seen) == 10  # all but des, since possessors are singular


def test_french_adjectives_agree():
    """Every adjective beside its noun, on the right side, in the right form."""
    source, seen = random.Random(8), Counter()
    plurals = {"beau": "beaux", "nouveau": "nouveaux", "vieux": "vieux"}
    for _ in range(600):
        sentence = sample_sentence(source, 12)
        target = french.realise(sentence)
        phrases = [phrase for clause in sentence.clauses() for phrase in clause.phrases()]
        for phrase, a in [(p, a) for p in phrases for a in p.adjectives]:
            (j,) = (j for j, t in enumerate(target) if (phrase, a.english) in t.keys)
            noun_at = [j for j, t in enumerate(target) if (phrase, "noun") in t.keys]
            assert j == noun_at[0] - 1 if a.before else j == noun_at[-1] + 1
            expected = a.feminine if phrase.noun.gender == "f" else a.masculine
            if phrase.plural:
                ends = "" if expected[-1] in "sx" else "s"
                expected = plurals.get(expected, expected + ends)
            special = {"beau": "bel", "nouveau": "nouvel", "vieux": "vieil"}
            if not phrase.plural and expected in special and target[j + 1].word[0] in "aeioéhœ":
                expected = special[expected]
                seen[expected] += 1
            assert target[j].word == expected
            seen[(phrase.noun.gender, phrase.plural)] += 1
    assert seen["vieil"] and min(seen[(g, p)] for g in "mf" for p in (True, False)) > 20


def test_french_predicates_agree():
    for pair in SAMPLES["french"]:
        for pronoun, j in [(w, j) for j, w in enumerate(pair.target) if w in ("il", "elle")]:
            rest = [w for w in pair.target[j + 1 : j + 5] if w not in ("pas", "n'")]
            if rest and rest[0] == "est":
                match = [a for a in ADJECTIVES if rest[1] in (a.masculine, a.feminine)]
                assert match, pair.target
                expected = match[0].masculine if pronoun == "il" else match[0].feminine
                assert rest[1] == expected, pair.target


def test_it_takes_the_gender_of_its_antecedent():
    source = random.Random(4)
    seen = Counter()
    for _ in range(1500):
        sentence = sample_sentence(source, 8 + source.randrange(20))
        english, target = english_rules.realise(sentence), french.realise(sentence)
        pronouns = [
            (clause, phrase)
            for clause in sentence.clauses()
            for phrase in clause.arguments()
            if phrase.is_pronoun
        ]
        assert sum(token.word == "it" for token in english) == len(pronouns)
        clauses = list(sentence.clauses())
        for clause, phrase in pronouns:
            before = clauses[clauses.index(clause) - 1]
            assert phrase.antecedent in list(before.phrases()) and not before.has_pronoun
            # the predicate of `it` fits no other singular non-person noun there
            if clause.verb is None:
                suits = clause.predicate.tags
            else:
                suits = clause.verb.subjects if clause.subject is phrase else clause.verb.objects
            fitting = [
                p
                for p in before.phrases()
                if p.noun.tags & suits and not p.plural and "person" not in p.noun.tags
            ]
            assert fitting == [phrase.antecedent]
            (j,) = (j for j, t in enumerate(target) if (phrase, "noun") in t.keys)
            gender = phrase.antecedent.noun.gender
            if clause.subject is phrase:
                assert target[j].word == {"m": "il", "f": "elle"}[gender]
            else:
                assert target[j].word in ({"m": "le", "f": "la"}[gender], "l'")
            seen[target[j].word] += 1
    assert set(seen) == {"il", "elle", "le", "la", "l'"}


# --- whole sentences, as a reader would write them -----------------------------------------------


def because_it_is(what: str) -> tuple[str, str, str]:
    animal, street = NounPhrase(noun("animal")), NounPhrase(noun("street"))
    meant = animal if what == "tired" else street
    main = Clause(animal, verb("cross"), object=street, negative=True)
    it = NounPhrase(meant.noun, antecedent=meant)
    return three(Unit(main, "", Clause(it, predicate=adjective(what)), "because"))


def test_the_famous_sentence():
    assert because_it_is("tired") == (
        "the animal does not cross the street because it is tired",
        "그것이 피곤하기 때문에 동물은 거리를 건너지 않는다",
        "l'animal ne traverse pas la rue parce qu'il est fatigué",
    )
    assert because_it_is("wide") == (
        "the animal does not cross the street because it is wide",
        "그것이 넓기 때문에 동물은 거리를 건너지 않는다",
        "l'animal ne traverse pas la rue parce qu'elle est large",
    )


def test_relative_clauses_possessors_and_time():
    girl, cat = NounPhrase(noun("girl")), NounPhrase(noun("cat"), "a")
    horse = NounPhrase(noun("horse"), plural=True, adjectives=[adjective("old")])
    girl.relative = Clause(None, verb("fear"), object=horse, gap="subject", head=girl)
    cat.possessor = NounPhrase(noun("king"))
    main = Clause(girl, verb("see"), object=cat, time=Phrase(*TIMES_TONIGHT), negative=True)
    assert three(Unit(main)) == (
        "tonight the girl who fears the old horses does not see a cat of the king",
        "늙은 말들을 무서워하는 소녀는 오늘 밤 왕의 고양이를 보지 않는다",
        "ce soir la fille qui craint les vieux chevaux ne voit pas de chat du roi",
    )


TIMES_TONIGHT = next((t.english, t.korean, t.french) for t in TIMES if t.english == ("tonight",))


def test_counters_coordination_and_connectives():
    number = Phrase(("three",), ("세",), ("trois",))
    dogs = NounPhrase(noun("dog"), "number", number, plural=True)
    dogs.joined = NounPhrase(noun("mouse"))
    girl, box = NounPhrase(noun("girl")), NounPhrase(noun("box"), "a")
    first = Unit(Clause(dogs, verb("sleep")))
    second = Unit(Clause(girl, verb("open"), object=box), "but")
    it = NounPhrase(box.noun, antecedent=box)
    third = Unit(Clause(NounPhrase(noun("man"), plural=True), verb("find"), object=it), "and")
    assert three(first, second, third) == (
        "three dogs and the mouse sleep but the girl opens a box and the men find it",
        "개 세 마리와 쥐는 자지만 소녀는 상자를 열고 남자들은 그것을 발견한다",
        "trois chiens et la souris dorment mais la fille ouvre une boîte et les hommes la trouvent",
    )


def test_forms_before_vowels():
    tree, egg = NounPhrase(noun("tree")), NounPhrase(noun("egg"), "many", plural=True)
    man = NounPhrase(noun("man"), "a", adjectives=[adjective("old")])
    tree.adjectives = [adjective("beautiful")]
    main = Clause(man, verb("see"), object=tree)
    other = Clause(NounPhrase(noun("woman")), verb("buy"), object=egg)
    assert three(Unit(main, "", other, "while")) == (
        "an old man sees the beautiful tree while the woman buys many eggs",
        "여자가 많은 달걀들을 사는 동안 늙은 남자는 아름다운 나무를 본다",
        "un vieil homme voit le bel arbre pendant que la femme achète beaucoup d'œufs",
    )


def test_links_are_found_by_meaning():
    sentence = Sentence([Unit(Clause(NounPhrase(noun("dog"), "a"), verb("sleep")))])
    english = english_rules.realise(sentence)
    assert links(english, korean_rules.realise(sentence)) == {(1, 0), (2, 2)}
    assert links(english, french.realise(sentence)) == {(0, 0), (1, 1), (2, 2)}


def test_english_sentences_are_well_formed():
    plurals = {n.english_plural for n in NOUNS}
    for pair in SAMPLES["korean"]:
        assert all(word.islower() and word.isalpha() for word in pair.source)
        for word, following in zip(pair.source, pair.source[1:], strict=False):
            if word in ("a", "an"):
                assert (word == "an") == (following[0] in "aeiou")
                assert following not in plurals
            if word == "does":
                assert following == "not"
        assert pair.source[-1] not in ("the", "a", "and", "but", "not", "that", "who")
