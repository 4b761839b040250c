"""From outcomes to a verdict: right, or what is wrong, by name where it is a known mistake."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from autograder import texts
from autograder.comparing import (
    Complaint,
    Difference,
    Expected,
    agrees,
    complaint,
    difference,
)
from autograder.exercise import Case, Exercise
from autograder.performing import Outcome
from autograder.stand_ins import described

DTYPES = (torch.float64, torch.float32)
_RANDOM_AT_MOST = 3  # outputs that are shown when a relation does not hold
_INPUTS_AT_MOST = 12  # whose shapes are shown


@dataclass(frozen=True)
class Trial:
    """One case, tried in one dtype: what was expected and what came back."""

    case: Case
    dtype: torch.dtype
    expected: Expected
    outcome: Outcome


@dataclass(frozen=True)
class Misconception:
    """A known mistake: its name and hint, and what it gives on each case (in float64).

    Attributes:
        slug: its name.
        title: one sentence.
        hint: what it is about.
        outcome: what it gives on a case without random outputs.
        complaint: what is wrong with what it gives on a case with random outputs.
    """

    slug: str
    title: str
    hint: str
    outcome: Callable[[Case], Outcome]
    complaint: Callable[[Case], Complaint]


@dataclass(frozen=True)
class Verdict:
    """What a check found.

    Attributes:
        exercise: the exercise.
        passed: whether all is right.
        headline: one sentence.
        hint: what a known mistake is about, or "".
        misconception: its slug, or "".
        details: lines that show the smallest failing case.
        remarks: sentences for a right answer that could be better.
        cases: how many cases were tried.
    """

    exercise: Exercise
    passed: bool
    headline: str
    hint: str = ""
    misconception: str = ""
    details: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    cases: int = 0
    printed: str = field(default="", compare=False)


def judge(
    exercise: Exercise, trials: Sequence[Trial], misconceptions: Sequence[Misconception]
) -> Verdict:
    """Judge what an answer gave.

    Args:
        exercise: the exercise.
        trials: all cases in all dtypes.
        misconceptions: known mistakes; named only if exactly one explains every float64 trial.
            Two answers draw differently: a random output is explained if the same is wrong with it.
    """
    failed = [
        (trial, found)
        for trial in trials
        if (found := difference(trial.case, trial.outcome, trial.expected, trial.dtype))
    ]
    printed = next((t.outcome.printed for t in trials if t.outcome.printed), "")
    if not failed:
        return Verdict(
            exercise,
            True,
            f"{exercise.name}: right in all {len(trials)} cases.",
            remarks=tuple(_remarks(trials)),
            cases=len(trials),
        )
    # The smallest case is the easiest to think through; float32 only if float64 was right.
    # Gradients of a random draw come last: they mean little if it was drawn wrongly elsewhere.
    trial, found = min(failed, key=lambda pair: (_drawn_right(*pair), _size(pair[0])))
    known = _explain(trials, misconceptions)
    if found.kind in ("unwritten", "signature", "forbidden", "protocol"):
        known = None
    headline = known.title if known else _headline(exercise, trial, found)
    alone = all(other.case.name == trial.case.name for other, _ in failed)
    if alone and not known and found.kind in ("value", "shape", "finite"):
        headline = f"{headline} {trial.case.note}".rstrip()
    return Verdict(
        exercise,
        False,
        headline,
        hint=known.hint if known else "",
        misconception=known.slug if known else "",
        details=tuple(_details(exercise, trial, found, bool(known), len(failed), len(trials))),
        cases=len(trials),
        printed=printed,
    )


def _size(trial: Trial) -> tuple[int, int]:
    return trial.case.elements, -trial.dtype.itemsize


def _drawn_right(trial: Trial, found: Difference) -> bool:
    return trial.case.relation is not None and "gradient" in found.kind


def _explain(
    trials: Sequence[Trial], misconceptions: Sequence[Misconception]
) -> Misconception | None:
    exact = [trial for trial in trials if trial.dtype == torch.float64]
    found = [complaint(difference(t.case, t.outcome, t.expected, t.dtype)) for t in exact]
    kinds = {complained.kind for complained in found} - {""}
    if not kinds or "dtype" in kinds:  # no known mistake is about precision
        return None
    values_wrong = bool(kinds - {"no gradient", "gradient"})
    matching = [
        mistake
        for mistake in misconceptions
        if all(
            _explains(mistake, trial, complained, gradients=not values_wrong)
            for trial, complained in zip(exact, found, strict=True)
        )
    ]
    return matching[0] if len(matching) == 1 else None


def _explains(mistake: Misconception, trial: Trial, found: Complaint, gradients: bool) -> bool:
    """Tell whether a mistake explains what an answer gave in one trial."""
    case = trial.case
    if case.relation is None:
        return agrees(case, trial.outcome, mistake.outcome(case), gradients)
    theirs = mistake.complaint(case)
    if not gradients:
        found, theirs = (Complaint() if c.about_gradients else c for c in (found, theirs))
    return found == theirs


def _remarks(trials: Sequence[Trial]) -> list[str]:
    wider = any(
        trial.dtype == torch.float32 and tensor.dtype == torch.float64
        for trial in trials
        for tensor in trial.outcome.outputs.values()
    )
    if wider:
        return [
            "Your answer returns float64 for float32 inputs; in this course the result has the "
            "dtype of the input."
        ]
    return []


def _headline(exercise: Exercise, trial: Trial, found: Difference) -> str:
    outcome, case = trial.outcome, trial.case
    if outcome.problem and found.kind == outcome.problem[0]:
        return outcome.problem[1]
    if found.sentence:
        return found.sentence
    name = found.name
    if found.kind == "changed":
        if isinstance(case.given.get(name), list):
            return f"{exercise.name} writes into its input {name}; make a new list instead."
        if any(name in held.values() for held in _dicts(case)):
            return (
                f"{exercise.name} changes the dict that it is given, or {name} in it; leave both "
                "as they are."
            )
        if name in case.inputs or any(name in call.needed for call in case.calls):
            return f"{exercise.name} writes into its input {name}; compute a new tensor instead."
        return (
            f"{exercise.name} writes into {name} after it has returned it; compute a new tensor in "
            "each call."
        )
    if found.kind == "shape":
        assert found.actual is not None and found.expected is not None
        return (
            f"{name} has shape {tuple(found.actual.shape)}; it must be "
            f"{exercise.shape(name, found.expected)}."
        )
    if found.kind == "dtype":
        assert found.actual is not None
        given = str(trial.dtype).removeprefix("torch.")
        got = str(found.actual.dtype).removeprefix("torch.")
        if found.expected is not None and not found.expected.is_floating_point():
            kind = "bool" if found.expected.dtype == torch.bool else "whole numbers (int64)"
            return f"{name} is {got}; it must be {kind}."
        return (
            f"{name} is {got} for inputs in {given}; the result must have the inputs' dtype. "
            "Tensors that you create need it too: x.new_zeros(...), or dtype=x.dtype."
        )
    if found.kind == "no gradient":
        return (
            f"The values are right, but no gradient reaches {name}: something cuts the graph, such "
            "as detach(), .data, .item(), no_grad() or torch.tensor() of a result."
        )
    if found.kind == "gradient":
        assert found.actual is not None
        if not torch.isfinite(found.actual).all():
            where = _empty_row(case, "gradient")
            return (
                f"The values are right, but the gradient with respect to {name} has NaN or "
                f"infinite entries{where}."
            )
        return (
            f"The values are right, but the gradient with respect to {name} is not: part of the "
            "way back is cut (detach(), .data, argmax), or there is a step too many that leaves "
            "the values as they are."
        )
    if found.kind == "finite":
        assert found.actual is not None
        if found.real is not None and torch.isfinite(found.actual[found.real]).all():
            return (
                f"{name} has NaN or infinite entries on padding; any finite number may stand there."
            )
        return f"{name} has NaN or infinite entries{_empty_row(case, 'weights')}."
    broken = _broken_property(exercise, trial, found)
    return broken or f"{name} has wrong values."


def _dicts(case: Case) -> list[Mapping[str, Any]]:
    """Return the dicts of names that the calls take."""
    return [a for call in case.calls for a in call.arguments if isinstance(a, Mapping)]


def _empty_row(case: Case, what: str) -> str:
    masks = [tensor for tensor in case.inputs.values() if tensor.dtype == torch.bool]
    if any((~mask).all(-1).any() for mask in masks):
        return f"; this case has a row without any real position, whose {what} must be 0"
    return ""


def _broken_property(exercise: Exercise, trial: Trial, found: Difference) -> str:
    """Return a sentence about a property of attention weights that does not hold, or ""."""
    masked_by = exercise.weights_over.get(found.name)
    mask = trial.case.inputs.get(masked_by) if masked_by else None
    if mask is None or found.actual is None:
        return ""
    weights = found.actual
    if mask.dim() < weights.dim():
        mask = mask.unsqueeze(1)
    mask = mask.expand(weights.shape)
    if (weights < 0).any():
        return f"{found.name} has negative entries; attention weights lie between 0 and 1."
    if (weights.masked_fill(mask, 0.0) != 0).any():
        return f"{found.name} puts weight on masked positions; it must be exactly 0 there."
    sums = weights.sum(-1)
    wrong = (sums - mask.any(-1).to(sums.dtype)).abs() > 1e-4
    if wrong.any():
        row = tuple(wrong.nonzero()[0].tolist())
        return (
            f"Row {_index(row)} of {found.name} sums to {sums[row]:.4f}; each row must sum to 1 "
            "over its real positions."
        )
    return ""


def _index(row: tuple[int, ...]) -> str:
    return str(row[0]) if len(row) == 1 else str(list(row))


def _details(
    exercise: Exercise, trial: Trial, found: Difference, known: bool, failed: int, tried: int
) -> list[str]:
    case = trial.case
    if found.kind in ("unwritten", "signature", "weights", "forbidden", "protocol"):
        return []
    lines = [
        f"Smallest failing case ({failed} of {tried} fail): {case.name}, "
        f"{str(trial.dtype).removeprefix('torch.')}."
    ]
    if case.construct:
        given = ", ".join(
            f"{name}={value.name + '(...)' if hasattr(value, 'arguments') else value}"
            for name, value in case.construct.items()
        )
        lines.append(f"{exercise.name}({given})")
    shapes = [f"{name} {exercise.shape(name, tensor)}" for name, tensor in case.inputs.items()]
    if len(shapes) > _INPUTS_AT_MOST:
        more = len(shapes) - _INPUTS_AT_MOST
        shapes = [*shapes[:_INPUTS_AT_MOST], f"and {more} more"]
    plain = [f"{name}={words}" for name, v in case.given.items() if (words := described(v))]
    lines.append("inputs: " + ", ".join(shapes + plain))
    if found.kind == "random":
        for name in case.random[:_RANDOM_AT_MOST]:
            lines += _show("yours", trial, exercise, name, trial.outcome.outputs[name], found.kind)
        return lines
    if found.expected is None:
        return lines
    if found.name not in case.random:  # there are many right ones
        lines += _show("expected", trial, exercise, found.name, found.expected, found.kind)
    if found.actual is not None:
        lines += _show("yours", trial, exercise, found.name, found.actual, found.kind)
        if found.kind in ("value", "gradient") and found.name not in case.plain:
            lines.append(_worst(found))
    masks = [(n, t) for n, t in case.inputs.items() if t.dtype == torch.bool]
    if found.kind in ("value", "finite") and masks and not known:
        name, mask = next((m for m in masks if m[0] == _mask_of(exercise, found.name)), masks[0])
        lines.append(f"{name} (1 = real):")
        lines += _rows(mask.int())
    return lines


def _mask_of(exercise: Exercise, name: str) -> str:
    second = "other_" if name.startswith("other_") else ""
    return exercise.weights_over.get(name, f"{second}mask")


def _show(
    label: str, trial: Trial, exercise: Exercise, name: str, tensor: Tensor, kind: str
) -> list[str]:
    if name in trial.case.plain:
        return [f"{label} {name}:", f"  {texts.shown(tensor)}"]
    what = f"gradient of {name}" if "gradient" in kind else name
    head = f"{label} {what} {exercise.shape(name, tensor)}:"
    return [head, *_rows(tensor)]


def _rows(tensor: Tensor, rows: int = 6, columns: int = 8) -> list[str]:
    """Return the beginning of a tensor as text, four decimals, one row a line."""
    if tensor.numel() == 0:
        return ["  (no numbers)"]
    if tensor.dim() == 0:
        return [f"  {tensor.item():.4f}"]
    flat = tensor.detach().reshape(-1, tensor.shape[-1])
    integer = not tensor.dtype.is_floating_point
    lines = []
    for row in flat[:rows].tolist():
        numbers = [f"{x:d}" if integer else f"{x:8.4f}" for x in row[:columns]]
        lines.append("  " + " ".join(numbers) + (" ..." if len(row) > columns else ""))
    if len(flat) > rows:
        lines.append(f"  ... ({len(flat)} rows)")
    return lines


def _worst(found: Difference) -> str:
    assert found.expected is not None and found.actual is not None
    gap = (found.actual.double() - found.expected.double()).abs()
    if found.real is not None:
        shape = (*found.real.shape, *[1] * (gap.dim() - found.real.dim()))
        gap = gap.masked_fill(~found.real.reshape(shape), 0.0)
    if gap.dim() == 0 or not torch.isfinite(gap).all():
        return ""
    at = tuple(int(i) for i in torch.unravel_index(gap.argmax(), gap.shape))
    right, mine = found.expected[at].item(), found.actual[at].item()
    digits = 4 if abs(right - mine) > 1e-3 else 8
    return f"largest difference at {list(at)}: expected {right:.{digits}f}, yours {mine:.{digits}f}"
