"""Detects answers whose output equals a forbidden torch operator's to the last bit.

While answers are tried, a look-out in the student's process takes the operators away
(`autograder.run.forbidden_ops`). Code in the same process can switch it off. What comes back is
therefore compared here: an operator adds in an order of its own, so that its last bits are its own,
too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from autograder.diagnose.trial import Trial
from autograder.instructor.authoring.reference_solution import load_solution
from autograder.run.runner import run_case
from autograder.spec.exercise import Case, Exercise

Tensors = Mapping[str, Tensor]
FEWEST = 3  # cases in which the last bits tell


def compute_operator_outputs(
    exercise: Exercise, case: Case, dtype: torch.dtype
) -> dict[str, Tensor]:
    """Return what the operator gives on a case, its first outputs only; {} where it fails.

    It also fails where it gives no numbers: an average over nothing.
    """
    assert exercise.operator is not None
    given = {n: t.to(dtype) if t.is_floating_point() else t for n, t in case.inputs.items()}
    try:
        found = exercise.operator(replace(case, inputs=given))
    except (KeyError, RuntimeError, ValueError, TypeError):
        return {}
    if not all(tensor.isfinite().all() for tensor in found):
        return {}
    names = [name for call in case.calls for name in call.returned]
    return dict(zip(names, found, strict=False))


def matches_bitwise(outputs: Tensors, operators: Tensors) -> bool:
    """Tell whether outputs are the operator's to the last bit."""
    return all(
        name in outputs
        and outputs[name].dtype == tensor.dtype
        and torch.equal(outputs[name], tensor)
        for name, tensor in operators.items()
    )


def differs_from_solution(
    exercise: Exercise, case: Case, dtype: torch.dtype, operators: Tensors
) -> bool:
    """Tell whether the solution gives other last bits than the operator."""
    mine = run_case(load_solution(exercise), exercise, case, dtype).outputs
    return bool(operators) and not matches_bitwise(mine, operators)


def matches_operator(trials: Sequence[tuple[Trial, Tensors]]) -> bool:
    """Tell whether an answer gives the operator's bits wherever they tell.

    Args:
        trials: each with the operator's outputs, of cases in which they differ from the solution's.
    """
    return len(trials) >= FEWEST and all(
        matches_bitwise(trial.outcome.outputs, operators) for trial, operators in trials
    )
