"""Tests of the glossary search: entries, questions and ranks."""

from __future__ import annotations

import torch

from experiments.glossary_search import QUESTIONS, compute_ranks, cosines_by_words, read_entries


def test_entries_are_plain_text_with_their_names_first():
    known = read_entries()
    assert len(known) > 100
    assert known["alignment error rate"].startswith("alignment error rate, AER: How far")
    assert not [text for text in known.values() if "{term}" in text or "{ref}" in text]


def test_questions_are_for_entries_and_do_not_name_them():
    known = read_entries()
    for question, term in QUESTIONS.items():
        assert term in known
        assert term.lower() not in question.lower()


def test_words_that_are_rare_count_more_and_strangers_match_nothing():
    texts = ["a gate keeps the state", "a loss of the state", "beam"]
    cosines = cosines_by_words(texts, ["the state of the gate", "zebra"])
    assert cosines[0].argsort(descending=True).tolist() == [0, 1, 2]
    assert cosines[1].tolist() == [0, 0, 0]


def test_a_place_is_one_more_than_what_is_better_and_equal_ones_come_first():
    cosines = torch.tensor([[0.2, 0.9, 0.5], [0.0, 0.0, 0.0]])
    assert compute_ranks(cosines, [2, 1]) == [2, 3]
