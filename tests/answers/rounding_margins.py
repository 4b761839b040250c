"""Measure how close float32 rounding brings right answers to rejection.

A check also compares in float32, where right answers differ in their last digits. An
ill-conditioned case, such as a LayerNorm of nearly equal numbers, magnifies the differences, and
chance rejects a right answer. For each exercise, this program tries the bank's right answers on
many draws and prints the share of the tolerance that they use: 1 is a rejection.

python -m tests.answers.rounding_margins [EXERCISE ...] [--draws 20] [--answers 3]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from autograder.diagnose.compare import Expected
from autograder.diagnose.verdict import DTYPES
from autograder.exercises import EXERCISES
from autograder.instructor.authoring.reference_solution import compute_expected
from autograder.run.runner import run_case
from autograder.spec.exercise import Case, Exercise
from autograder.spec.outcome import Outcome
from autograder.spec.tolerances import GRADIENT_FACTOR, TOLERANCE
from tests.answers import entries


class Share(NamedTuple):
    """The share of a tolerance used by a right answer's difference, and its location."""

    used: float
    where: str


def worst(exercise: Exercise, draws: int, answers: int) -> Share:
    """Return the largest share of the tolerance that right answers used in the given draws."""
    right = [e for e in entries() if e.exercise == exercise.name and e.right][:answers]
    return max(
        (
            Share(share.used, f"{case.name}, {name(dtype)}, {share.where}, draw {seed}")
            for seed in range(draws)
            for case in exercise.draw(seed)
            if case.check_random_outputs is None  # random outputs are judged by their relation
            for oracle in (compute_expected(exercise, case),)
            for entry in right
            for dtype in DTYPES
            for share in shares(case, run_case(entry.answer, exercise, case, dtype), oracle, dtype)
        ),
        default=Share(0.0, "nothing there is rounded"),
    )


def shares(case: Case, outcome: Outcome, oracle: Expected, dtype: torch.dtype) -> Iterator[Share]:
    """Yield the share of the tolerance used by each floating-point output and gradient."""
    for output, value in oracle.outputs.items():
        actual = outcome.outputs.get(output)
        if actual is not None and output not in case.non_tensors and value.is_floating_point():
            real = case.valid_masks.get(output, ...)
            yield Share(_share(actual[real], value[real], TOLERANCE[dtype]), output)
    for leaf, value in oracle.gradients.items():
        gradient = outcome.gradients.get(leaf)
        if gradient is not None:
            share = _share(gradient, value, GRADIENT_FACTOR * TOLERANCE[dtype])
            yield Share(share, f"gradient of {leaf}")


def _share(actual: Tensor, value: Tensor, tolerance: float) -> float:
    finite = torch.isfinite(value)  # infinities are not compared
    allowed = tolerance * (1 + value[finite].abs())
    found = ((actual.double()[finite] - value[finite]).abs() / allowed).flatten().tolist()
    return max(found, default=0.0)


def name(dtype: torch.dtype) -> str:
    """Return a dtype's name without the prefix "torch."."""
    return str(dtype).removeprefix("torch.")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("exercise", nargs="*", help="names of exercises (default: all)")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--answers", type=int, default=3, help="right answers of each exercise")
    wanted = parser.parse_args()
    if unknown := set(wanted.exercise) - set(EXERCISES):
        parser.error(f"there is no exercise {sorted(unknown)[0]}")
    torch.set_num_threads(1)
    for title in wanted.exercise or EXERCISES:
        share = worst(EXERCISES[title], wanted.draws, wanted.answers)
        print(f"{title:<30}{share.used:8.3f}  {share.where}", flush=True)


if __name__ == "__main__":
    main()
