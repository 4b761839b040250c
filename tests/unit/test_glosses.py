"""Tests of the word-by-word English glosses of the synthetic translations."""

from __future__ import annotations

import pytest

from coursekit import corpora
from coursekit.data import lesson_data


@pytest.fixture(scope="module")
def korean() -> corpora.Splits:
    return corpora.splits("korean", 3_000, 100, 200, seed=1, min_length=4, max_length=20)


@pytest.mark.parametrize("language", ["korean", "french"])
def test_every_word_has_a_meaning(language):
    parts = corpora.splits(language, 3_000, 100, 200, seed=1, min_length=4, max_length=20)
    known = corpora.meanings(parts.train)
    assert set(known) == {word for pair in parts.train for word in pair.target}
    assert all(known.values())


def test_words_mean_what_they_are_linked_to(korean):
    known = corpora.meanings(korean.train)
    assert corpora.gloss(["고양이", "가", "쥐", "를", "쫓는다"], known) == (
        "cat (subject) mouse (object) chases"
    )
    assert corpora.gloss(["고양이", "<unk>"], known) == "cat ?"
    assert corpora.glossed(["고양이", "는", "<eos>"], known) == [
        "고양이 cat",
        "는 (topic)",
        "<eos>",
    ]


def test_after_a_number_comes_a_counter(korean):
    known = corpora.meanings(korean.train)
    assert corpora.gloss(["개", "두", "마리"], known) == "dog two (counter)"
    assert corpora.gloss(["문", "두", "개"], known) == "door two (counter)"
    assert corpora.glossed(["문", "두", "개"], known)[-1] == "개 (counter)"


def test_before_a_verb_the_article_is_a_pronoun():
    pairs = corpora.english_french(2_000, seed=3, min_length=4, max_length=20)
    known = corpora.meanings(pairs)
    assert corpora.glossed(["les", "femmes", "la", "vendent"], known)[2] == "la it"
    pronouns = 0
    for pair in pairs:
        for j, label in enumerate(corpora.glossed(pair.target, known)):
            if pair.target[j] in ("le", "la", "l'"):
                linked = {pair.source[i] for i, k in pair.links if k == j}
                assert (label.split()[1] == "it") == bool(linked & {"it", "them", "him", "her"})
                pronouns += label.split()[1] == "it"
    assert pronouns > 20


def test_data_of_a_lesson_explain_their_words():
    data = lesson_data.translation_data("quick", pairs=2_000, max_length=8)
    ids = data.test[0][1]
    labels, words = data.glossed(ids), data.target_words.tokens(ids)
    assert [label.split()[0] for label in labels] == words and labels[-1] == "<eos>"
    assert "?" not in data.gloss(data.references[0])


def test_without_known_links_nothing_is_said(monkeypatch):
    data = lesson_data.translation_data("quick", pairs=500, max_length=6)
    bare = lesson_data.TranslationData(
        data.name, data.source_words, data.target_words, [], [], data.test, [], data.references
    )
    assert bare.gloss(bare.references[0]) == ""
    assert bare.glossed(data.test[0][1]) == data.target_words.tokens(data.test[0][1])
