"""Tests that checks hold answers to what the stubs promise: lengths, masks, fills."""

from __future__ import annotations

import pytest

from autograder.checking.checker import verify
from autograder.exercises import EXERCISES
from autograder.instructor.authoring.reference_solution import load_solution
from tests.helpers.checked_answers import find_headline

right = {name: load_solution(exercise) for name, exercise in EXERCISES.items()}


@pytest.mark.parametrize(
    "name", ["Encoder", "BidirectionalEncoder", "AttentionClassifier", "StructuredClassifier"]
)
def test_lengths_may_not_be_ignored(name):
    class CountsIds(right[name]):
        def forward(self, tokens, lengths):
            return super().forward(tokens, (tokens != 0).sum(1))

    assert "what stands on padding is arbitrary" in find_headline(name, CountsIds)


def test_lengths_may_not_be_ignored_when_a_source_is_encoded():
    class CountsIds(right["Seq2Seq"]):
        def encode(self, source, lengths):
            return super().encode(source, (source != 0).sum(1))

    assert "what stands on padding is arbitrary" in find_headline("Seq2Seq", CountsIds)


def test_a_fill_that_is_not_below_every_score_is_refused():
    def fills_with_a_fixed_number(scores, mask):
        return scores.masked_fill(~mask, -1e4).softmax(-1) * mask.any(-1, keepdim=True)

    assert not verify(fills_with_a_fixed_number, EXERCISES["masked_softmax"]).passed
