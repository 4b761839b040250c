"""Tests of fingerprints, which compare an answer with known mistakes."""

from __future__ import annotations

import torch

from autograder.diagnose import fingerprints
from autograder.diagnose.fingerprints import compute_fingerprint, do_fingerprints_match
from autograder.spec.exercise import Call, Case
from autograder.spec.outcome import Outcome

CASE = Case("one", {}, (Call("", (), ("x",)),))


def of(tensor: torch.Tensor) -> float:
    return compute_fingerprint(CASE, Outcome({"x": tensor}), None)


def test_sketches_differ_where_outputs_do():
    x = torch.arange(6.0).reshape(2, 3)
    others = [x + 1e-2, x.flip(0), x.reshape(3, 2), x * torch.inf, x * torch.nan, x[:, :2]]
    assert do_fingerprints_match(of(x), of(x.double())) and do_fingerprints_match(
        of(x), of(x + 1e-9)
    )
    assert not any(do_fingerprints_match(of(x), of(other)) for other in others)


def test_what_an_answer_returns_by_the_million_is_not_kept():
    """Only the shape counts: else a class of such answers would take all memory."""
    kept = fingerprints._weights.cache_info().currsize
    large = torch.zeros(fingerprints._NUMBERS_AT_MOST + 1, dtype=torch.uint8)
    assert do_fingerprints_match(of(large), of(large + 1)) and not do_fingerprints_match(
        of(large), of(large[:-1])
    )
    assert fingerprints._weights.cache_info().currsize <= kept + 1
