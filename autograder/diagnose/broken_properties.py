"""Finds properties that an answer lacks: weights that sum to 1, a state that stays as it was."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from autograder.diagnose.compare import are_close
from autograder.diagnose.trial import Trial
from autograder.spec.exercise import Case, Exercise


def find_broken_property(exercise: Exercise, trial: Trial) -> str:
    """Return a sentence about a property that an output's rows of weights violate, or "".

    All outputs are looked at: a wrong context often follows from weights that do not sum to 1.
    """
    for name, masked_by in exercise.normalized_outputs.items():
        weights = trial.outcome.outputs.get(name)
        right = trial.expected.outputs.get(name)
        if weights is None or right is None or weights.shape != right.shape:
            continue
        mask = read_mask(trial.case, masked_by, weights)
        real = trial.case.valid_masks.get(name)
        if mask is not None and (said := _explain(name, weights, mask, real)):
            return said
    return ""


def find_changed_state(exercise: Exercise, trial: Trial, name: str) -> str:
    """Return a sentence if only the second of two calls with the same state is wrong, or "".

    Args:
        exercise: the exercise.
        trial: the failing trial.
        name: the wrong output.
    """
    calls = trial.case.calls
    later = next((i for i, call in enumerate(calls) if name in call.returned), 0)
    made = {n for call in calls[:later] for n in call.available_names}
    for earlier in calls[:later]:
        shared = made.intersection(earlier.needed, calls[later].needed)
        if earlier.method == calls[later].method and shared and _are_right(trial, earlier.returned):
            method = earlier.method or exercise.name
            return (
                f"The first call of {method} with {min(shared)} is right, and the second one with "
                f"the same {min(shared)} is not: {method} must leave the state that it is given as "
                "it is, with every list and dict in it."
            )
    return ""


def _are_right(trial: Trial, names: Sequence[str]) -> bool:
    pairs = [(trial.outcome.outputs.get(n), trial.expected.outputs.get(n)) for n in names]
    return all(
        mine is not None
        and right is not None
        and mine.shape == right.shape
        and are_close(mine.double(), right.double(), 1e-5)
        for mine, right in pairs
    )


def read_mask(case: Case, name: str, weights: Tensor) -> Tensor | None:
    """Return the mask of the weights, or None if the case has no such input.

    Args:
        case: the case.
        name: name of a bool input, of lengths, or of ids whose padding is 0; "" masks nothing.
        weights: the weights, (..., N).
    """
    if not name:
        return torch.ones_like(weights, dtype=torch.bool)
    tensor = case.inputs.get(name)
    if tensor is None:
        return None
    if tensor.dtype == torch.bool:
        mask = tensor
    elif tensor.dim() == 1:
        mask = torch.arange(weights.shape[-1]) < tensor[:, None]
    else:
        mask = tensor != 0
    while mask.dim() > weights.dim():
        mask = mask.any(-1)
    if mask.dim() < weights.dim():
        mask = mask.unsqueeze(1)
    return mask.expand(weights.shape)


def _explain(name: str, weights: Tensor, mask: Tensor, real: Tensor | None) -> str:
    rows = torch.ones(weights.shape[:-1], dtype=torch.bool)  # those that count
    if real is not None and real.dim() < weights.dim():
        rows = real.reshape(*real.shape, *[1] * (rows.dim() - real.dim())).expand_as(rows)
    if (weights < 0)[rows].any():
        return f"{name} has negative entries; weights lie between 0 and 1."
    if (weights.masked_fill(mask, 0.0) != 0)[rows].any():
        return f"Masked positions get a weight in {name}; it must be exactly 0 there."
    sums = weights.sum(-1)
    wrong = ((sums - mask.any(-1).to(sums.dtype)).abs() > 1e-4) & rows
    if not wrong.any():
        return ""
    row = tuple(wrong.nonzero()[0].tolist())
    if weights.dim() > 1 and weights.shape[-2] > 1 and (weights.sum(-2) - 1).abs().max() < 1e-6:
        return f"The columns of {name} sum to 1, and its rows must: the softmax runs along axis -2."
    return (
        f"Row {_format_place(row)} of {name} sums to {sums[row]:.4f}; each row must sum to 1 over "
        "its real positions."
    )


def _format_place(row: tuple[int, ...]) -> str:
    return str(row[0]) if len(row) == 1 else str(list(row))
