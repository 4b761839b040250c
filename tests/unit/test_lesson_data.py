"""Tests of the chapters' training data."""

from __future__ import annotations

import pytest

from coursekit import datasets
from coursekit.data import lesson_data
from coursekit.text.vocabulary import EOS, UNK


@pytest.fixture(scope="module")
def quick() -> lesson_data.LanguageData:
    return lesson_data.language_data("quick")


def test_quick_language_data(quick):
    assert [len(part) for part in (quick.train, quick.validation, quick.test)] == [12000, 500, 1000]
    for part in (quick.train, quick.validation, quick.test):
        for ids in part:
            assert ids[-1] == EOS and EOS not in ids[:-1]
            assert 4 <= len(ids) - 1 <= 26
    assert not any(UNK in ids for ids in quick.train)


def test_test_sentences_are_new(quick):
    known = set(map(tuple, quick.train))
    assert not known & set(map(tuple, quick.validation + quick.test))


def test_full_language_data_is_the_english_side(monkeypatch):
    corpus = datasets.ParallelCorpus(
        "multi30k-de-en", "", "", {},
        {
            "train": [("Zwei Hunde.", "Two dogs."), ("Zwei Katzen!", "Two cats don't sleep.")],
            "validation": [("Ein Hund.", "A dog.")],
            "test": [("Zwei.", "Two cats.")],
        },
    )  # fmt: skip
    monkeypatch.setattr(datasets, "load", {"multi30k-de-en": corpus}.__getitem__)
    data = lesson_data.language_data("full")
    assert data.vocabulary.words[4:] == ["two"]  # all others occur only once
    assert data.train == [[4, UNK, EOS], [4, UNK, UNK, UNK, EOS]]
    assert data.validation == [[UNK, UNK, EOS]]
    assert data.test == [[4, UNK, EOS]]


@pytest.mark.parametrize("joint", [False, True])
def test_everyday_sentences_are_like_those_of_the_five_translators(joint):
    data = lesson_data.everyday_data(pairs=500, max_length=9, joint=joint)
    assert [len(part) for part in (data.train, data.validation, data.test)] == [500, 200, 600]
    assert (data.source_words is data.target_words) == joint
    assert {"i", "you"} <= set(data.source_words.words)
    assert max(data.source_lengths) <= 9 and len(data.references) == 600
    assert not any(UNK in ids for pair in data.train for ids in pair)
