"""Tests of the vocabularies: special ids, round trips, determinism."""

from __future__ import annotations

import unicodedata

import pytest

from coursekit.text.vocabulary import (
    BOS,
    EOS,
    PAD,
    UNK,
    SubwordVocabulary,
    WordVocabulary,
    until_eos,
)

SENTENCES = [
    ["the", "dog", "sees", "the", "cat"],
    ["the", "cat", "sleeps"],
    ["a", "bird", "sees", "the", "dog"],
]
TEXT = [
    "Ein kleiner Hund läuft über die grüne Straße.",
    "Zwei Hunde laufen, spielen und schlafen auf der Straße!",
    "Über dem Fluss fliegt ein Vogel; der Hund schläft.",
    'Ein Mann (mit Hut) sagt: "Wo ist mein Hund?"',
] * 5


def test_special_ids_are_the_same_everywhere():
    words, subwords = WordVocabulary(SENTENCES), SubwordVocabulary(TEXT, 120)
    assert (PAD, UNK, BOS, EOS) == (0, 1, 2, 3)
    for vocabulary in (words, subwords):
        assert vocabulary.tokens([0, 1, 2, 3]) == ["<pad>", "<unk>", "<bos>", "<eos>"]


@pytest.mark.parametrize(
    ("ids", "kept"),
    [
        ([7, 8, EOS, 9], [7, 8]),
        ([BOS, 7, PAD, 8], [7, 8]),
        ([7, EOS, PAD, PAD], [7]),
        ([EOS, 7], []),
        ([7, UNK], [7, UNK]),
        ([], []),
    ],
)
def test_until_eos(ids, kept):
    assert until_eos(ids) == kept


def test_until_eos_takes_numbers_of_tensors():
    import torch

    ids = until_eos(torch.tensor([BOS, 7, EOS, 8]))
    assert ids == [7]
    assert type(ids[0]) is int


# Words


def test_words_come_back():
    vocabulary = WordVocabulary(SENTENCES)
    for sentence in SENTENCES:
        ids = vocabulary.encode(sentence)
        assert ids[-1] == EOS
        assert min(ids[:-1]) > EOS
        assert vocabulary.decode(ids) == " ".join(sentence)
        assert vocabulary.tokens(ids) == [*sentence, "<eos>"]
        assert vocabulary.encode(sentence, eos=False) == ids[:-1]


def test_words_are_numbered_by_frequency_then_alphabet():
    vocabulary = WordVocabulary(SENTENCES)
    order = ["the", "cat", "dog", "sees", "a", "bird", "sleeps"]
    assert vocabulary.tokens(range(4, len(vocabulary))) == order


def test_word_ids_do_not_depend_on_the_order_of_the_sentences():
    assert WordVocabulary(SENTENCES).ids == WordVocabulary(SENTENCES[::-1]).ids


def test_rare_and_new_words_are_unknown():
    vocabulary = WordVocabulary(SENTENCES, minimum_count=2)
    assert len(vocabulary) == 4 + 4  # the, cat, dog, sees
    assert vocabulary.encode(["the", "bird", "whale"]) == [vocabulary.ids["the"], UNK, UNK, EOS]
    assert vocabulary.decode([vocabulary.ids["cat"], UNK]) == "cat <unk>"


def test_decoding_stops_at_the_first_eos():
    vocabulary = WordVocabulary(SENTENCES)
    cat, dog = vocabulary.ids["cat"], vocabulary.ids["dog"]
    assert vocabulary.decode([BOS, cat, EOS, dog, EOS, PAD]) == "cat"


def test_a_string_is_not_a_list_of_words():
    vocabulary = WordVocabulary(SENTENCES)
    with pytest.raises(TypeError, match="split the sentence first"):
        vocabulary.encode("the cat")


def test_training_sentences_are_not_strings_either():
    # Iterating over a string would silently give a vocabulary of letters.
    with pytest.raises(TypeError, match="split the sentence first"):
        WordVocabulary(["the cat sleeps", "a dog"])


# Subwords


@pytest.fixture(scope="module")
def subwords():
    return SubwordVocabulary(TEXT, 120)


@pytest.mark.parametrize("sentence", sorted(set(TEXT)))
def test_text_comes_back_with_punctuation_and_umlauts(subwords, sentence):
    ids = subwords.encode(sentence)
    assert ids[-1] == EOS
    assert UNK not in ids
    assert subwords.decode(ids) == sentence.lower()
    assert subwords.encode(sentence, eos=False) == ids[:-1]


def test_a_word_never_seen_is_spelt_in_pieces(subwords):
    ids = subwords.encode("Hundestraße", eos=False)
    assert len(ids) > 1
    assert UNK not in ids
    assert subwords.tokens(ids)[0].startswith("▁")
    assert subwords.decode(ids) == "hundestraße"


def test_a_character_never_seen_is_unknown(subwords):
    assert UNK in subwords.encode("한")


def test_frequent_words_are_one_token(subwords):
    assert subwords.tokens(subwords.encode("hund", eos=False)) == ["▁hund"]


def test_case_is_kept_when_asked():
    vocabulary = SubwordVocabulary(TEXT, 150, lowercase=False)
    assert vocabulary.decode(vocabulary.encode("Über Hunde")) == "Über Hunde"


def test_both_spellings_of_an_umlaut_are_one(subwords):
    decomposed = unicodedata.normalize("NFD", "über")
    assert decomposed != "über"
    assert subwords.encode(decomposed) == subwords.encode("über")


def test_the_vocabulary_has_the_size_asked_for(subwords):
    assert len(subwords) == 120
    assert max(max(subwords.encode(sentence)) for sentence in TEXT) < 120


def test_subwords_are_learnt_the_same_every_time(subwords):
    again = SubwordVocabulary(TEXT, 120)
    assert again.tokens(range(120)) == subwords.tokens(range(120))


def test_decoding_subwords_stops_at_the_first_eos(subwords):
    hund = subwords.encode("hund", eos=False)
    assert subwords.decode([BOS, *hund, EOS, *hund, PAD]) == "hund"
