"""Tests of words, sentences and batches of texts, including unusual ones."""

from __future__ import annotations

import pytest
import torch

from coursekit.data.documents import (
    document_batch,
    document_batches,
    encode_document,
    middle_cut,
    sentences,
    text_batch,
    text_batches,
    whole_texts,
    words,
)
from coursekit.text.vocabulary import UNK, WordVocabulary


def test_words():
    assert words("It's GOOD,<br />really good!") == ["it's", "good", ",", "really", "good", "!"]
    assert words("좋아요 :)") == ["좋아요", ":", ")"]
    assert words("") == words("  <br/> ") == []


def test_whole_texts_are_those_that_no_other_contains():
    phrases = [("a dog sleeps .", 1), ("dog sleeps", 1), ("a cat .", 0), ("a cat", 0), ("cat", 0)]
    assert whole_texts(phrases) == [("a dog sleeps .", 1), ("a cat .", 0)]
    assert whole_texts([("at a cat", 0), ("a cat", 1)]) == [("at a cat", 0)]
    assert whole_texts([("a", 0), ("cat a", 1), ("a a", 1)]) == [("cat a", 1), ("a a", 1)]


def test_sentences_end_at_marks_and_line_breaks():
    text = 'I laughed. "Never again!" she said<br /><br />Ten of 10... or 9.5?  Yes'
    assert [" ".join(s) for s in sentences(text)] == [
        "i laughed .",
        '" never again !',
        "she said",
        "ten of 10 . . .",
        "or 9 . 5 ?",
        "yes",
    ]
    assert sentences("") == []
    assert sentences("One word") == [["one", "word"]]


def test_no_word_of_a_text_is_lost():
    text = "A first one. And, well... a second? Yes!\nThe last"
    assert [w for s in sentences(text) for w in s] == words(text)


@pytest.fixture
def vocabulary() -> WordVocabulary:
    return WordVocabulary([["a", "b", "c", "d"]])


def test_long_sentences_are_cut_into_several(vocabulary):
    ids = encode_document([["a"] * 7, ["b"]], vocabulary, max_words=3)
    a, b = vocabulary.ids["a"], vocabulary.ids["b"]
    assert ids == [[a] * 3, [a] * 3, [a], [b]]


def test_long_documents_keep_beginning_and_end(vocabulary):
    letters = [["a"], ["b"], ["c"], ["d"], ["z"]]
    ids = encode_document(letters, vocabulary, max_sentences=3)
    assert [vocabulary.words[sentence[0]] for sentence in ids] == ["a", "d", "<unk>"]
    assert encode_document(letters, vocabulary, max_sentences=5)[-1] == [UNK]
    with pytest.raises(TypeError, match="sentences"):
        encode_document("a b", vocabulary)


def test_middle_cut():
    assert middle_cut(range(7), 7) == list(range(7))
    assert middle_cut(range(7), 5) == [0, 1, 4, 5, 6]
    assert middle_cut([], 5) == []


def test_text_batch_with_an_empty_text():
    batch = text_batch([([5, 6, 7], 1), ([], 0), ([4], 1)])
    assert batch.tokens.tolist() == [[5, 6, 7], [0, 0, 0], [4, 0, 0]]
    assert batch.lengths.tolist() == [3, 0, 1]
    assert batch.labels.tolist() == [1, 0, 1]
    assert text_batch([([], 0)]).tokens.shape == (1, 1)
    assert text_batch([([5], 0)], length=4).tokens.tolist() == [[5, 0, 0, 0]]


def test_document_batch_with_empty_parts():
    batch = document_batch([([[5, 6], [], [7, 8, 9]], 2), ([], 0), ([[4]], 1)])
    assert batch.documents.shape == (3, 3, 3)
    assert batch.documents[0].tolist() == [[5, 6, 0], [0, 0, 0], [7, 8, 9]]
    assert batch.documents[1].tolist() == [[0, 0, 0]] * 3
    assert batch.documents[2].tolist() == [[4, 0, 0], [0, 0, 0], [0, 0, 0]]
    assert document_batch([([], 1)]).documents.tolist() == [[[0]]]
    assert batch.to("cpu").labels.tolist() == [2, 0, 1]


@pytest.mark.parametrize("batches", [text_batches, document_batches])
def test_batches_hold_everything_once_and_alike_together(batches):
    wrap = (lambda n: [[4]] * n) if batches is document_batches else (lambda n: [4] * n)
    items = [(wrap(n % 40 + 1), n) for n in range(500)]
    drawn = list(batches(items, 10, seed=3))
    labels = [label for batch in drawn for label in batch.labels.tolist()]
    assert sorted(labels) == list(range(500))
    again = [label for batch in batches(items, 10, seed=3) for label in batch.labels.tolist()]
    other = [label for batch in batches(items, 10, seed=4) for label in batch.labels.tolist()]
    assert labels == again != other
    spread = [
        max(n % 40 for n in b.labels.tolist()) - min(n % 40 for n in b.labels.tolist())
        for b in drawn
    ]
    assert sum(spread) / len(spread) < 3  # unsorted batches of ten spread over more than 30
    assert torch.is_tensor(drawn[0].labels)
