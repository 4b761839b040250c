"""Tests of WordPiece and special tokens, against transformers if it is installed."""

from __future__ import annotations

import pytest

from coursekit import datasets
from coursekit.text.wordpiece import SPECIAL, WordPieceVocabulary

TEXTS = ["the unaffable cat sat", "the cat is affable", "a cat sat, and a hat sat"] * 3
PIECES = [*SPECIAL, "un", "##aff", "##able", "the", "cat", ",", "caf", "##e"]


@pytest.fixture(scope="module")
def learned():
    return WordPieceVocabulary(TEXTS, 60)


@pytest.fixture(scope="module")
def given():
    return WordPieceVocabulary.from_pieces(PIECES)


def test_learnt_ids_begin_with_the_marks(learned):
    assert learned.tokens(range(5)) == list(SPECIAL)
    assert (learned.pad_id, learned.unk_id, learned.cls_id, learned.sep_id, learned.mask_id) == (
        0,
        1,
        2,
        3,
        4,
    )
    assert len(learned) <= 60 and "cat" in learned and "dog" not in learned


def test_a_word_that_was_never_seen_is_spelt_in_pieces_that_join_to_it(learned):
    pieces = learned.pieces("hatable")
    assert len(pieces) > 1
    assert "".join(piece.removeprefix("##") for piece in pieces) == "hatable"


def test_pieces_case_accents_punctuation_and_the_mask(given):
    assert given.pieces("Unaffable café, THE [MASK]zebra") == [
        "un", "##aff", "##able", "caf", "##e", ",", "the", "[MASK]", "[UNK]",
    ]  # fmt: skip
    assert given.tokens(given.ids("the cat")) == ["the", "cat"]
    assert given.id("zebra") == given.unk_id
    assert len(given) == len(PIECES)


def test_one_text_and_a_pair_with_their_marks(given):
    ids, segments = given.encode("the cat")
    assert given.tokens(ids) == ["[CLS]", "the", "cat", "[SEP]"]
    assert segments == [0, 0, 0, 0]
    ids, segments = given.encode("the", "cat, the")
    assert given.tokens(ids) == ["[CLS]", "the", "[SEP]", "cat", ",", "the", "[SEP]"]
    assert segments == [0, 0, 0, 1, 1, 1, 1]
    assert given.tokens(given.encode("", "")[0]) == ["[CLS]", "[SEP]", "[SEP]"]


def test_too_much_is_cut_from_the_end_of_the_longer_text(given):
    ids, segments = given.encode("the cat the cat", "cat the", longest=8)
    assert given.tokens(ids)[1:] == ["the", "cat", "the", "[SEP]", "cat", "the", "[SEP]"]
    assert len(ids) == len(segments) == 8
    assert given.tokens(given.encode("the cat , the", longest=4)[0])[1:-1] == ["the", "cat"]


def test_a_file_of_pieces(tmp_path, given):
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join(PIECES) + "\n", encoding="utf-8")
    read = WordPieceVocabulary.from_file(path)
    assert read.ids("unaffable cat") == given.ids("unaffable cat")


def test_a_vocabulary_without_a_mark_is_refused():
    with pytest.raises(ValueError, match=r"BERT vocabulary: \[MASK\] is missing"):
        WordPieceVocabulary.from_pieces(PIECES[:4] + PIECES[5:])


@pytest.mark.real_data
def test_the_real_vocabulary_as_transformers_reads_it():
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    pieces = datasets.load("bert-base-uncased-vocabulary").split("pieces")
    ours = WordPieceVocabulary.from_pieces(pieces)
    assert (ours.pad_id, ours.unk_id, ours.cls_id, ours.sep_id, ours.mask_id) == (
        0,
        100,
        101,
        102,
        103,
    )
    theirs = transformers.BertTokenizer(vocab={piece: i for i, piece in enumerate(pieces)})
    for first, second in [
        ("Jim Henson was a puppeteer.", "Unaffable naïveté [MASK]!"),
        ("漢字", "x"),
    ]:
        expected = theirs(first, second)
        ids, segments = ours.encode(first, second)
        assert ids == expected["input_ids"]
        assert segments == expected["token_type_ids"]
