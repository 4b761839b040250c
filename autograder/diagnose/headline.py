"""Writes the sentence that says how an outcome differs from the expected one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from autograder.diagnose.compare import Difference
from autograder.diagnose.trial import Trial
from autograder.spec.exercise import Case, Exercise


def format_headline(exercise: Exercise, trial: Trial, fault: Difference) -> str:
    """Return a sentence about a failing trial.

    Args:
        exercise: the exercise.
        trial: the trial.
        fault: how its outcome differs from the expected one.
    """
    problem = trial.outcome.problem
    if problem and fault.kind == problem[0]:
        return problem[1]
    format_sentence = _SENTENCES.get(fault.kind, _format_wrong_values)
    return fault.sentence or format_sentence(exercise, trial, fault)


def _format_mutation(exercise: Exercise, trial: Trial, fault: Difference) -> str:
    name, case = fault.name, trial.case
    if isinstance(case.extra_arguments.get(name), list):
        return f"{exercise.name} writes into its input {name}; make a new list instead."
    if any(name in members.values() for members in _list_dicts(case)):
        return (
            f"{exercise.name} changes the dict that it is given, or {name} in it; leave both as "
            "they are."
        )
    if name in case.inputs or any(name in call.needed for call in case.calls):
        return f"{exercise.name} writes into its input {name}; compute a new tensor instead."
    return (
        f"{exercise.name} writes into {name} after it has returned it; compute a new tensor in "
        "each call."
    )


def _format_shape(exercise: Exercise, trial: Trial, fault: Difference) -> str:
    assert fault.actual is not None and fault.expected is not None
    return (
        f"{fault.name} has shape {tuple(fault.actual.shape)}; it must be "
        f"{exercise.shape(fault.name, fault.expected)}."
    )


def _format_dtype(exercise: Exercise, trial: Trial, fault: Difference) -> str:
    assert fault.actual is not None
    name = fault.name
    given = str(trial.dtype).removeprefix("torch.")
    got = str(fault.actual.dtype).removeprefix("torch.")
    if fault.expected is not None and not fault.expected.is_floating_point():
        kind = "bool" if fault.expected.dtype == torch.bool else "whole numbers (int64)"
        return f"{name} is {got}; it must be {kind}."
    if not trial.case.floating:
        return (
            f"{name} is {got} where torch's default dtype is {given}; it must have the default "
            "dtype, which torch.get_default_dtype() tells."
        )
    return (
        f"{name} is {got} for inputs in {given}; the result must have the inputs' dtype. "
        "Tensors that you create need it too: x.new_zeros(...), or dtype=x.dtype."
    )


def _format_missing_gradient(exercise: Exercise, trial: Trial, fault: Difference) -> str:
    return (
        f"The values are right, but no gradient reaches {fault.name}: something cuts the graph, "
        "such as detach(), .data, .item(), no_grad() or torch.tensor() of a result."
    )


def _format_wrong_gradient(exercise: Exercise, trial: Trial, fault: Difference) -> str:
    assert fault.actual is not None
    if not torch.isfinite(fault.actual).all():
        where = _mention_empty_row(trial.case, "gradient")
        return (
            f"The values are right, but the gradient with respect to {fault.name} has NaN or "
            f"infinite entries{where}."
        )
    if fault.expected is not None and not fault.expected.any():
        return (
            f"The values are right, but a gradient reaches {fault.name}, which must get none: "
            "detach() what must act as a constant here."
        )
    return (
        f"The values are right, but the gradient with respect to {fault.name} is not: part of the "
        "backward path is cut (detach(), .data, argmax), or an extra step leaves the values "
        "unchanged."
    )


def _format_not_finite(exercise: Exercise, trial: Trial, fault: Difference) -> str:
    assert fault.actual is not None
    name = fault.name
    if fault.valid_mask is not None and torch.isfinite(fault.actual[fault.valid_mask]).all():
        return f"{name} has NaN or infinite entries on padding; any finite number may stand there."
    return f"{name} has NaN or infinite entries{_mention_empty_row(trial.case, 'weights')}."


def _format_wrong_values(exercise: Exercise, trial: Trial, fault: Difference) -> str:
    broken = _find_broken_property(exercise, trial, fault)
    return broken or f"{fault.name} has wrong values."


_SENTENCES = {
    "changed": _format_mutation,
    "shape": _format_shape,
    "dtype": _format_dtype,
    "no gradient": _format_missing_gradient,
    "gradient": _format_wrong_gradient,
    "finite": _format_not_finite,
}


def _list_dicts(case: Case) -> list[Mapping[str, Any]]:
    """Return the dicts of names among the calls' arguments."""
    return [a for call in case.calls for a in call.arguments if isinstance(a, Mapping)]


def _mention_empty_row(case: Case, what: str) -> str:
    masks = [tensor for tensor in case.inputs.values() if tensor.dtype == torch.bool]
    if any((~mask).all(-1).any() for mask in masks):
        return f"; this case has a row without any real position, whose {what} must be 0"
    return ""


def _find_broken_property(exercise: Exercise, trial: Trial, fault: Difference) -> str:
    """Return a sentence about a property that the weights violate, or ""."""
    masked_by = exercise.normalized_outputs.get(fault.name)
    mask = trial.case.inputs.get(masked_by) if masked_by else None
    if mask is None or fault.actual is None:
        return ""
    weights = fault.actual
    if mask.dim() < weights.dim():
        mask = mask.unsqueeze(1)
    mask = mask.expand(weights.shape)
    if (weights < 0).any():
        return f"{fault.name} has negative entries; weights lie between 0 and 1."
    if (weights.masked_fill(mask, 0.0) != 0).any():
        return f"{fault.name} puts weight on masked positions; it must be exactly 0 there."
    sums = weights.sum(-1)
    wrong = (sums - mask.any(-1).to(sums.dtype)).abs() > 1e-4
    if wrong.any():
        row = tuple(wrong.nonzero()[0].tolist())
        return (
            f"Row {_place(row)} of {fault.name} sums to {sums[row]:.4f}; each row must sum to 1 "
            "over its real positions."
        )
    return ""


def _place(row: tuple[int, ...]) -> str:
    return str(row[0]) if len(row) == 1 else str(list(row))
