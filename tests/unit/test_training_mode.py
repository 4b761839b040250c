"""Tests of judging in training mode: where dropout acts, without randomness."""

from __future__ import annotations

import copy
import inspect

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from autograder.checking.card import format_card_text
from autograder.checking.checker import verify
from autograder.exercises import EXERCISES
from autograder.instructor.authoring.reference_solution import load_solution
from autograder.run.deterministic_dropout import DeterministicDropout
from tests.answers import cached_verdicts
from tests.answers.sandboxed_verdicts import crossed

DROPPING = {
    name: exercise
    for name, exercise in EXERCISES.items()
    if exercise.is_class and "dropout" in inspect.signature(load_solution(exercise)).parameters
}


def of_ones_own(x, p):
    """Yield custom dropouts as students write them."""
    kept = torch.bernoulli(torch.full_like(x, 1 - p))
    yield x * (torch.rand_like(x) > p) / (1 - p)
    yield x * (torch.rand(x.shape) < 1 - p).to(x.dtype) / (1 - p)
    yield x * kept / (1 - p)
    yield x * torch.empty_like(x).bernoulli_(1 - p) / (1 - p)
    yield x * torch.empty_like(x).uniform_().ge(p) / (1 - p)
    yield x * torch.distributions.Bernoulli(1 - p).sample(x.shape) / (1 - p)
    yield torch.dropout(x, p, True)
    yield F.dropout(x.clone(), p, inplace=True)
    yield nn.Dropout(p)(x)


@pytest.mark.parametrize("p", [0.25, 0.75])
def test_without_chance_all_dropouts_agree(p):
    x = torch.randn(4, 6)
    with DeterministicDropout():
        for dropped in of_ones_own(x, p):
            torch.testing.assert_close(dropped, x / (1 - p) if p < 0.5 else torch.zeros_like(x))
        assert torch.equal(F.dropout(x, p, training=False), x)
        ones = torch.ones(1, 2, 3)
        seen = F.scaled_dot_product_attention(ones, ones, ones, dropout_p=p)
        torch.testing.assert_close(seen, ones / (1 - p) if p < 0.5 else 0 * ones)
    assert not torch.equal(F.dropout(x, p), F.dropout(x, p))


@pytest.mark.parametrize("exercise", DROPPING.values(), ids=list(DROPPING))
def test_every_class_with_dropout_is_tried_in_training_mode(exercise):
    cases = exercise.draw(1)
    trained = [case.init_arguments["dropout"] for case in cases if case.training_mode == "certain"]
    assert trained == [0.25, 0.75]
    assert any(
        case.init_arguments.get("dropout", 0) > 0 for case in cases if not case.training_mode
    )


@pytest.mark.parametrize("exercise", DROPPING.values(), ids=list(DROPPING))
def test_a_card_says_that_dropout_is_missing(exercise):
    whole = load_solution(exercise)

    class Without(whole):
        def __init__(self, *given):
            super().__init__(*given)
            self.dropout = nn.Dropout(0.0)

    Without.__name__ = exercise.name
    verdict = verify(Without, exercise)
    assert not verdict.passed
    assert verdict.headline.startswith(f"Your {exercise.name} gives the same "), verdict.headline
    assert (
        ": dropout is not applied where it should be. In training, dropout acts on "
        in verdict.headline
    )


def test_a_card_says_that_dropout_acts_elsewhere():
    exercise = EXERCISES["BertEmbeddings"]

    class BertEmbeddings(load_solution(exercise)):
        def forward(self, tokens, segments=None):
            return self.dropout(super().forward(tokens, segments))

    card = format_card_text(verify(BertEmbeddings, exercise))
    assert "is right in evaluation mode, but in training mode embedded has wrong values" in card


def test_a_card_says_that_dropout_is_on_in_evaluation_mode():
    exercise = EXERCISES["TokenClassifier"]

    class TokenClassifier(load_solution(exercise)):
        def forward(self, tokens, segments=None):
            return self.output(F.dropout(self.encoder(tokens, segments), self.dropout.p))

    assert "In evaluation mode dropout does nothing" in verify(TokenClassifier, exercise).headline


@pytest.mark.parametrize("side", cached_verdicts.SIDES)
def test_a_copy_of_what_must_be_shared_is_told(side):
    exercise = EXERCISES["MaskedLanguageModelHead"]

    class MaskedLanguageModelHead(load_solution(exercise)):
        def __init__(self, embedding, *rest):
            super().__init__(copy.deepcopy(embedding), *rest)

    verdict = cached_verdicts.SIDES[side](MaskedLanguageModelHead, exercise.name)
    assert "has a copy of embedding" in verdict.headline


def test_mode_and_shared_parts_go_into_the_sandbox():
    drawn = [*EXERCISES["Encoder"].draw(1), *EXERCISES["MaskedLanguageModelHead"].draw(1)]
    there = crossed({"all": drawn})["all"]
    assert [(c.training_mode, c.tied) for c in there] == [(c.training_mode, c.tied) for c in drawn]
    assert any(c.training_mode for c in there) and any(c.tied for c in there)
