"""Detects answers whose output equals a forbidden torch operator's output to the last bit.

While answers are tried, the student's process disables the operators
(`autograder.run.forbidden_ops`), but code in the same process can undo that. The output is
therefore compared here: each operator adds numbers in its own order, so the last bits are
characteristic of it.
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
FEWEST = 3  # minimum number of cases with telling last bits


def compute_operator_outputs(
    exercise: Exercise, case: Case, dtype: torch.dtype
) -> dict[str, Tensor]:
    """Return the operator's results for the first outputs of a case, or {} if it fails.

    A result that is not finite, as for an average over nothing, counts as a failure.
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
    """Return whether outputs equal the operator's to the last bit."""
    return all(
        name in outputs
        and outputs[name].dtype == tensor.dtype
        and torch.equal(outputs[name], tensor)
        for name, tensor in operators.items()
    )


def differs_from_solution(
    exercise: Exercise, case: Case, dtype: torch.dtype, operators: Tensors
) -> bool:
    """Return whether the solution's last bits differ from the operator's."""
    mine = run_case(load_solution(exercise), exercise, case, dtype).outputs
    return bool(operators) and not matches_bitwise(mine, operators)


def matches_operator(trials: Sequence[tuple[Trial, Tensors]]) -> bool:
    """Return whether an answer has the operator's bits in every case where they are telling.

    Args:
        trials: trials with the operator's outputs, in cases where these differ from the solution's.
    """
    return len(trials) >= FEWEST and all(
        matches_bitwise(trial.outcome.outputs, operators) for trial, operators in trials
    )
