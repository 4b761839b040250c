"""Tests that float32 rounding never rejects a right answer, whatever the draw."""

from __future__ import annotations

import pytest
import torch

from autograder.exercises import EXERCISES
from autograder.instructor.authoring.reference_solution import compute_expected
from autograder.spec.outcome import Outcome
from tests.answers import rounding_margins

# They divide by the standard deviation of a vector, or have large scores.
DELICATE = ("layer_norm", "EncoderLayer", "BertEmbeddings", "MaskedLanguageModelHead", "attention")


@pytest.mark.parametrize("exercise", DELICATE)
def test_right_answers_stay_far_from_the_tolerance(exercise):
    share = rounding_margins.worst(EXERCISES[exercise], draws=12, answers=1)
    assert share.used < 0.7, share.where


def test_share_is_that_of_the_tolerance():
    exercise = EXERCISES["layer_norm"]
    case = exercise.draw(1)[0]
    right = compute_expected(exercise, case)
    off = {"y": right.outputs["y"] + 0.5e-4 * (1 + right.outputs["y"].abs())}
    gradients = {leaf: value + 2e-3 for leaf, value in right.gradients.items()}
    found = rounding_margins.shares(case, Outcome(off, gradients), right, torch.float32)
    shares = {share.where: share.used for share in found}
    assert shares["y"] == pytest.approx(0.5)
    for leaf, value in right.gradients.items():
        used = 2e-3 / (1e-3 * (1 + value.abs().min().item()))
        assert shares[f"gradient of {leaf}"] == pytest.approx(used)
