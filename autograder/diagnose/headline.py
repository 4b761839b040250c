"""Writes the sentence that says how an outcome differs from the expected one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from autograder.diagnose.compare import Difference
from autograder.diagnose.failed_output import name_shape
from autograder.diagnose.size_errors import explain_sizes
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
        if problem[0] == "raised" and (sizes := explain_sizes(exercise, trial.case, problem[1])):
            return f"{problem[1]}\n{sizes}"
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
    mine, right = fault.actual, fault.expected
    if mine.dim() == right.dim() == 1 and not (
        mine.is_floating_point() or right.is_floating_point()
    ):
        return (  # ids, whose number depends on the values
            f"You return {fault.name} = {mine.tolist()}; expected {right.tolist()}."
        )
    return (
        f"{fault.name} has shape {name_shape(exercise, trial.case, fault.name, mine, right)}; it "
        f"must be {exercise.shape(fault.name, fault.expected)}."
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
    name, actual = fault.name, fault.actual
    for weights in exercise.normalized_outputs:  # from which NaN spreads into everything else
        own = trial.outcome.outputs.get(weights)
        if own is not None and own.isnan().any() and name not in exercise.normalized_outputs:
            return f"{weights} has NaN entries{_mention_empty_row(trial.case, 'weights')}."
    what = "NaN" if actual.isnan().any() else "infinite"
    if fault.valid_mask is not None and torch.isfinite(actual[fault.valid_mask]).all():
        return f"{name} has {what} entries on padding; any finite number may stand there."
    if actual.isneginf().any() and not actual.isnan().any():
        masks = [t for t in trial.case.inputs.values() if t.dtype == torch.bool]
        if any(m.shape == actual.shape and torch.equal(actual.isneginf(), ~m) for m in masks):
            return (
                f"{name} is -inf at the masked positions: fill in -inf before the softmax, not "
                "after it."
            )
    return f"{name} has {what} entries{_mention_empty_row(trial.case, 'weights')}."


def _format_wrong_values(exercise: Exercise, trial: Trial, fault: Difference) -> str:
    return f"{fault.name} has wrong values."


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
