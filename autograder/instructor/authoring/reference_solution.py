"""Loads reference solutions and computes the expected values from them.

Three other computations confirm the values: the right answers beside each solution, one of which is
a plain loop; torch's own operators (tests/unit/test_torch_equivalence.py); and finite differences.
"""

from __future__ import annotations

import importlib
from typing import Any

import torch

from autograder.diagnose.compare import Expected
from autograder.run.runner import run_case
from autograder.spec.exercise import Case, Exercise


def load_solution(exercise: Exercise) -> Any:
    """Return the reference solution of an exercise."""
    module = importlib.import_module(f"solutions.{exercise.assignment}.{exercise.notebook}")
    return getattr(module, exercise.name)


def compute_expected(exercise: Exercise, case: Case) -> Expected:
    """Return the outputs and gradients of the solution on a case, in float64.

    A missing gradient counts as zero.

    Raises:
        ValueError: the solution fails on the case.
    """
    outcome = run_case(load_solution(exercise), exercise, case)
    if outcome.problem:
        raise ValueError(f"{exercise.name}, {case.name}: {outcome.problem[1]}")
    leaves = {**case.inputs, **case.weights}
    gradients = {
        name: torch.zeros_like(leaves[name]) if gradient is None else gradient
        for name, gradient in outcome.gradients.items()
    }
    return Expected(outcome.outputs, gradients)
