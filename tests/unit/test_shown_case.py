"""Tests of the failing case that a card shows: the smallest one, with its numbers."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
import torch

from autograder import CheckFailed, check
from autograder.checking import checker
from autograder.checking.checker import verify
from autograder.diagnose.verdict import judge
from tests.answers.bahdanau.scores import masked_softmax as softmax_bank
from tests.helpers.checked_answers import SOFTMAX, solve_softmax, write_card


def squeezed(scores, mask):
    return solve_softmax(scores, mask).squeeze()


def test_smallest_failing_case_is_the_smallest():
    for wrong in (squeezed, *softmax_bank.WRONG[::6]):
        verdict = verify(wrong, SOFTMAX)
        if "Smallest failing case" not in verdict.details[0]:
            continue
        shown = verdict.details[0].split("fail): ")[1].removesuffix(".")
        failing = {}
        for seed in (1, 2):
            for case in SOFTMAX.draw(seed):
                # float32 is tried only if everything is right in float64
                if not verify_one(wrong, case, torch.float64, seed):
                    failing.setdefault(case.name, []).append(case.elements)
        smallest = min(min(sizes) for sizes in failing.values())
        assert min(failing[shown]) == smallest, wrong.__name__
        if len(failing) > 1 and wrong is squeezed:
            assert shown == "one row of one position"


def verify_one(answer, case, dtype, seed):
    from autograder import expected_values
    from autograder.diagnose.compare import find_difference
    from autograder.run.runner import run_case

    outcome = run_case(answer, SOFTMAX, case, dtype)
    return (
        find_difference(case, outcome, expected_values.read_expected(SOFTMAX, seed, case), dtype)
        is None
    )


def test_float64_is_shown_before_float32():
    lines = write_card(lambda scores, mask: solve_softmax(scores, mask) * 0.5).splitlines()
    assert lines[2].endswith("one row of one position.")
    only32 = write_card(
        lambda s, m: solve_softmax(s, m) * (0.5 if s.dtype == torch.float32 else 1.0)
    )
    assert ", float32." in only32


def test_float32_is_tried_only_where_float64_is_right():
    dtypes = []

    def masked_softmax(scores, mask):
        dtypes.append(scores.dtype)
        return solve_softmax(scores, mask) * 0.5

    verdict = verify(masked_softmax, SOFTMAX)
    assert verdict.kind == "value" and verdict.cases == len(SOFTMAX.draw(1)) * 2  # of two seeds
    assert set(dtypes) == {torch.float64}
    assert verify(solve_softmax, SOFTMAX).cases == len(SOFTMAX.draw(1)) * 2
    assert verify(solve_softmax, SOFTMAX).kind == ""


def test_a_case_that_fails_in_both_dtypes_is_one_case():
    """A grader tries both dtypes in any case."""
    _, trials, _ = checker._run_all_cases(lambda scores, mask: scores.softmax(-1) * mask, SOFTMAX)
    twice = [*trials, *(replace(trial, dtype=torch.float32) for trial in trials)]
    once, doubled = (judge(SOFTMAX, some, []).details[0] for some in (trials, twice))
    assert re.search(r"\(\d+ of \d+ fail\)", once)[0] in doubled


TWO_ANSWERS = """
def masked_softmax(scores, mask):
    fill = {fill}
    return scores.masked_fill(~mask, fill).softmax(dim=-1) * mask

def attention(query, keys, values, score, mask=None):
    scores = score(query, keys)
    weights = scores.softmax(dim=-1) if mask is None else masked_softmax(scores, mask)
    return torch.einsum("bn,bnd->bd", weights, {values}), weights
"""


@pytest.mark.parametrize(
    ("fill", "values", "blamed"),
    [
        ("-1.0", "values", True),
        ("-1.0", "values.abs()", True),
        ("torch.finfo(scores.dtype).min", "values.abs()", False),
    ],
)
def test_a_wrong_answer_to_another_exercise_is_blamed(fill, values, blamed):
    space = {"torch": torch}
    exec(TWO_ANSWERS.format(fill=fill, values=values), space)
    with pytest.raises(CheckFailed) as failure:
        check(space["attention"])
    assert "signature" not in str(failure.value)
    said = "uses masked_softmax, and your masked_softmax is not right yet" in str(failure.value)
    assert said == blamed


def test_expected_and_actual_are_shown():
    text = write_card(lambda scores, mask: solve_softmax(scores, mask) * 0.5)
    assert "inputs:\n  scores (1, N=1) = [[0.6070]]\n  mask (1, N=1) = [[True]]" in text
    assert "expected weights (1, N=1):\n    1.0000" in text
    assert "yours weights (1, N=1):\n    0.5000" in text
    assert "largest difference at [0, 0]: expected 1.0000, yours 0.5000" in text
    small = write_card(lambda scores, mask: solve_softmax(scores, mask) * (1 - 1e-4))
    assert "expected 1.00000000, yours 0.99990000" in small
