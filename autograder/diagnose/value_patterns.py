"""Detects how a whole wrong output relates to the right one: a factor, a shift, another order.

Each detector looks at one output in all failing trials and returns a sentence that is true of every
trial, or "".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor

from autograder.diagnose.compare import are_close
from autograder.diagnose.failed_output import POSITION_AXES, TIGHT, FailedOutput, name_sizes
from autograder.diagnose.trial import Trial
from autograder.spec.exercise import Exercise


def find_zeros(
    exercise: Exercise, name: str, pairs: Sequence[FailedOutput], exact: Sequence[Trial]
) -> str:
    """Return a sentence about an output that is 0 in every case, or ""."""
    passing = [t for t in exact if not t.difference and name in t.expected.outputs]
    if any(trial.expected.outputs[name].any() for trial in passing):
        return ""
    return f"The result {name} is 0 everywhere." if _are_zero(pairs) else ""


def find_zeros_where_wrong(
    exercise: Exercise, name: str, pairs: Sequence[FailedOutput], _: Sequence[Trial]
) -> str:
    """Return a sentence about an output that is 0 in every case that fails, or ""."""
    numbers = all(p.trial.expected.outputs[name].is_floating_point() for p in pairs)
    return (
        f"The result {name} is 0 in every case that fails." if _are_zero(pairs) and numbers else ""
    )


def _are_zero(pairs: Sequence[FailedOutput]) -> bool:
    return len(pairs) > 1 and all((p.actual[p.valid_mask] == 0).all() for p in pairs)


def find_equal_outputs(
    exercise: Exercise, name: str, pairs: Sequence[FailedOutput], _: Sequence[Trial]
) -> str:
    """Return a sentence about two outputs that are equal where they must differ, or ""."""
    others = set.intersection(*(set(p.trial.expected.outputs) for p in pairs)) - {name}
    for other in sorted(others):
        if all(_equals_other(p, other) for p in pairs) and max(p.actual.numel() for p in pairs) > 1:
            return f"The result {name} is the same as {other}, in all cases that fail."
    return ""


def _equals_other(pair: FailedOutput, other: str) -> bool:
    outputs, right = pair.trial.outcome.outputs, pair.trial.expected.outputs
    return (
        outputs[other].shape == pair.actual.shape
        and bool(pair.actual.any())
        and are_close(pair.actual, outputs[other].double(), TIGHT)
        and not are_close(pair.expected, right[other].double(), TIGHT)
    )


def find_exchanged_outputs(
    exercise: Exercise, name: str, pairs: Sequence[FailedOutput], _: Sequence[Trial]
) -> str:
    """Return a sentence about two outputs that have changed places, or ""."""
    others = set.intersection(*(set(p.trial.expected.outputs) for p in pairs)) - {name}
    for other in sorted(others):
        if all(_are_exchanged(p, other) for p in pairs):
            return f"The results {name} and {other} have changed places."
    return ""


def _are_exchanged(pair: FailedOutput, other: str) -> bool:
    outputs, right = pair.trial.outcome.outputs, pair.trial.expected.outputs
    return (
        pair.expected.numel() > 1
        and are_close(pair.actual, right[other], TIGHT)
        and are_close(outputs[other], pair.expected, TIGHT)
    )


def find_factor(
    exercise: Exercise, name: str, pairs: Sequence[FailedOutput], exact: Sequence[Trial]
) -> str:
    """Return a sentence about a factor that is the same, or follows a size, in all cases, or ""."""
    factors = []
    for pair in pairs:
        mine, right = pair.actual[pair.valid_mask], pair.expected[pair.valid_mask]
        total = float(right.square().sum())
        if not total or not torch.isfinite(mine).all():
            return ""
        factor = float((mine * right).sum()) / total
        if not factor or not pair.is_right_if(pair.actual / factor):
            return ""
        factors.append(factor)
    if sum(int(p.valid_mask.sum()) for p in pairs) < 4 or len(factors) < 2:
        return ""
    if all(abs(f + 1) < TIGHT for f in factors):
        return f"The result {name} has the wrong sign: it is the right one times -1."
    words = ""
    if max(factors) - min(factors) < TIGHT * max(map(abs, factors)):
        words = _format_factor(factors[0])
    for label, sizes in _list_common_sizes(exercise, pairs):
        for form, value in _POWERS.items():
            if all(
                abs(f - value(n)) < 1e-5 * abs(f) for f, n in zip(factors, sizes, strict=True)
            ) and (len(set(sizes)) > 1 or not words):
                words = form.format(label)
    passing = [t for t in exact if not t.difference and name in t.expected.outputs]
    where = "in all cases"
    if any(t.expected.outputs[name].any() for t in passing):
        where = "in every case that fails"
    return f"The result {name} is the right one times {words}, {where}." if words else ""


_POWERS: dict[str, Callable[[float], float]] = {
    "{}": lambda n: n,
    "1 / {}": lambda n: 1 / n,
    "{} squared": lambda n: n**2,
    "the square root of {}": math.sqrt,
    "1 / the square root of {}": lambda n: 1 / math.sqrt(n),
}


def _format_factor(factor: float) -> str:
    for number in (2, 3, 4):
        if abs(factor - 1 / number) < TIGHT:
            return f"1/{number}"
    return f"{factor:.4g}"


def _list_common_sizes(
    exercise: Exercise, pairs: Sequence[FailedOutput]
) -> Iterator[tuple[str, list[int]]]:
    """Yield the name of each positive size that all trials have, with its value in each."""
    tables = [name_sizes(exercise, p.trial.case, {p.name: p.expected}) for p in pairs]
    for label in sorted(set.intersection(*map(set, tables))):
        if all(table[label] > 0 for table in tables):
            yield label, [table[label] for table in tables]


_LAST_STEPS: dict[str, Callable[[Tensor], Tensor]] = {
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "relu": torch.relu,
    "softmax": lambda x: x.softmax(-1),
    "log_softmax": lambda x: x.log_softmax(-1),
    "exp": torch.exp,
    "log": torch.log,
    "square": torch.square,
    "sqrt": torch.sqrt,
}


def find_last_step(
    exercise: Exercise, name: str, pairs: Sequence[FailedOutput], _: Sequence[Trial]
) -> str:
    """Return a sentence about a last function that is missing or superfluous, or ""."""
    if len({round(value, 6) for p in pairs for value in p.expected.flatten().tolist()}) < 4:
        return ""  # few distinct numbers fit many functions: 0 is the logarithm of 1
    for step, function in _LAST_STEPS.items():
        if all(p.expected.dim() and p.is_right_if(function(p.actual)) for p in pairs):
            return f"The result {name} lacks a last step: {step} of it is right."
    for step, function in _LAST_STEPS.items():
        if all(
            p.expected.dim()
            and are_close(p.actual[p.valid_mask], function(p.expected)[p.valid_mask], TIGHT)
            for p in pairs
        ):
            return f"The result {name} has one step too many: it is {step} of the right one."
    return ""


def find_shift(
    exercise: Exercise, name: str, pairs: Sequence[FailedOutput], _: Sequence[Trial]
) -> str:
    """Return a sentence about an output that is shifted or runs backwards, or ""."""
    for axis, label in enumerate(exercise.axes.get(name, "").split()):
        if label not in POSITION_AXES or any(p.expected.dim() <= axis for p in pairs):
            continue
        late = [_is_shifted(p, axis, +1) for p in pairs]
        early = [_is_shifted(p, axis, -1) for p in pairs]
        for found, words, mine in ((late, "late", 1), (early, "early", 0)):
            if True in found and False not in found:
                return (
                    f"The result {name} is right, but comes one position too {words} along "
                    f"{label}: compare position {mine} of yours with position {1 - mine} of the "
                    "expected one."
                )
        if all(p.expected.shape[axis] > 1 and p.is_right_if(p.actual.flip(axis)) for p in pairs):
            return f"The result {name} is right, but runs backwards along {label}."
    return ""


def _is_shifted(pair: FailedOutput, axis: int, by: int) -> bool | None:
    """Return whether an output is the right one, shifted along an axis; None if unclear."""
    size = pair.expected.shape[axis]
    if size < 3:
        return None if size < 2 or pair.valid_mask.all() else False
    mine = pair.actual.narrow(axis, max(by, 0), size - 1)
    right = pair.expected.narrow(axis, max(-by, 0), size - 1)
    counts = pair.valid_mask.narrow(axis, max(-by, 0), size - 1) & pair.valid_mask.narrow(
        axis, max(by, 0), size - 1
    )
    return bool(counts.any()) and are_close(mine[counts], right[counts], TIGHT)


def find_reordered_rows(
    exercise: Exercise, name: str, pairs: Sequence[FailedOutput], _: Sequence[Trial]
) -> str:
    """Return a sentence about a batch whose right rows stand in another order, or ""."""
    if exercise.axes.get(name, "").split()[:1] != ["B"]:
        return ""
    for pair in pairs:
        rows = list(pair.expected.masked_fill(~pair.valid_mask, 0.0))
        for row in pair.actual.masked_fill(~pair.valid_mask, 0.0):
            found = next((i for i, right in enumerate(rows) if are_close(row, right, TIGHT)), None)
            if found is None:
                return ""
            rows.pop(found)
    return (
        f"The result {name} has the right rows in another order: put the batch back into the order "
        "in which it came."
    )


def find_transpose(
    exercise: Exercise, name: str, pairs: Sequence[FailedOutput], _: Sequence[Trial]
) -> str:
    """Return a sentence about an output that is transposed, or ""."""
    if all(
        min(p.expected.dim(), p.actual.dim()) > 1
        and are_close(p.actual.mT, p.expected, TIGHT)
        and not are_close(p.actual, p.expected, TIGHT)
        for p in pairs
    ):
        return f"The result {name} is transposed: its last two axes are exchanged."
    return ""


def find_complement(
    exercise: Exercise, name: str, pairs: Sequence[FailedOutput], _: Sequence[Trial]
) -> str:
    """Return a sentence about a bool output that is the opposite of the right one, or ""."""
    if all(p.trial.expected.outputs[name].dtype == torch.bool for p in pairs) and all(
        p.wrong[p.valid_mask].all() for p in pairs
    ):
        return f"The result {name} is inverted: True stands where False must, and the reverse."
    return ""


def find_scrambled_entries(
    exercise: Exercise, name: str, pairs: Sequence[FailedOutput], _: Sequence[Trial]
) -> str:
    """Return a sentence about an output that has the right numbers in other places, or ""."""
    distinct = max(len(p.expected.unique()) for p in pairs)
    if distinct > 3 and all(
        are_close(p.actual.flatten().sort().values, p.expected.flatten().sort().values, TIGHT)
        for p in pairs
    ):
        return (
            f"The result {name} has the right numbers in wrong places. A view or reshape that "
            "stands where axes must be exchanged (transpose, permute) has this effect."
        )
    return ""


def find_whole_numbers(
    exercise: Exercise, name: str, pairs: Sequence[FailedOutput], _: Sequence[Trial]
) -> str:
    """Return a sentence about an output that holds positions in place of values, or ""."""
    mine = torch.cat([p.actual[p.valid_mask] for p in pairs])
    right = torch.cat([p.expected[p.valid_mask] for p in pairs])
    if len(mine) > 4 and _are_positions(mine) and not _are_positions(right):
        return (
            f"The result {name} holds whole numbers only, as positions do (argmax): take the "
            "values at these positions."
        )
    return ""


def _are_positions(numbers: Tensor) -> bool:
    whole = bool((numbers == numbers.round()).all() and (numbers >= 0).all())
    return whole and len(numbers.unique()) > 1


def find_reshape(
    exercise: Exercise, name: str, pairs: Sequence[FailedOutput], _: Sequence[Trial]
) -> str:
    """Return a sentence about right numbers in another shape, or ""."""
    wrong = [p for p in pairs if p.actual.shape != p.expected.shape]
    if all(are_close(p.actual.squeeze(), p.expected.squeeze(), TIGHT) for p in pairs):
        more = wrong[0].actual.dim() > wrong[0].expected.dim()
        return f"The numbers are right; an axis of size 1 is {'too many' if more else 'missing'}."
    if all(
        p.actual.numel() == p.expected.numel()
        and are_close(p.actual.flatten(), p.expected.flatten(), TIGHT)
        for p in pairs
    ):
        return "The numbers are right and in the right order; only the shape is not."
    axes = exercise.axes.get(name, "").split()
    for axis, label in enumerate(axes):
        if label not in POSITION_AXES or any(p.actual.dim() != p.expected.dim() for p in wrong):
            continue
        sizes = [(p.actual.shape[axis], p.expected.shape[axis]) for p in wrong]
        if all(
            n < m and are_close(p.actual, p.expected.narrow(axis, 0, n), TIGHT)
            for p, (n, m) in zip(wrong, sizes, strict=True)
        ):
            return (
                f"It is cut off along {label}: include all of the batch's positions, even those "
                "that are padding in every row."
            )
    return ""
