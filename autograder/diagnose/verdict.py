"""Turns outcomes into a verdict: correct, or a diagnosis with a message and a hint."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from autograder.diagnose.compare import Difference, are_close
from autograder.diagnose.error_catalogue import NO_MUTANTS, KnownMistake, MutantFingerprints
from autograder.diagnose.error_patterns import find_error_pattern
from autograder.diagnose.fingerprints import do_fingerprints_match
from autograder.diagnose.trial import Trial
from autograder.spec import plain_codec
from autograder.spec.exercise import (
    Case,
    Exercise,
    NamedDict,
    NameTree,
    format_name_tree,
    list_members,
    list_names,
)
from autograder.spec.fakes import format_argument

DTYPES = (torch.float64, torch.float32)
_RANDOM_AT_MOST = 3  # outputs to show when a relation does not hold
_INPUTS_AT_MOST = 12  # inputs whose shapes are shown
_NUMBERS_AT_MOST = 24  # in all inputs together; if there are more, only shapes are shown
_CALLS_AT_MOST = 4
_CALL_AT_MOST = 200  # characters
_ROWS_AT_MOST = 6


@dataclass(frozen=True)
class Verdict:
    """The verdict of a check on an answer.

    Attributes:
        exercise: the exercise.
        passed: whether the answer is right in all cases.
        headline: the result in one sentence.
        kind: the kind of the `Difference` that was found, or "".
        hint: explanation of the mistake, or "".
        misconception: slug of the known mistake, or "".
        details: lines that show the smallest failing case.
        remarks: sentences about how a right answer could be better.
        cases: number of cases that were tried.
    """

    exercise: Exercise
    passed: bool
    headline: str
    kind: str = ""
    hint: str = ""
    misconception: str = ""
    details: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    cases: int = 0
    printed: str = field(default="", compare=False)


def judge(
    exercise: Exercise,
    trials: Sequence[Trial],
    misconceptions: Sequence[KnownMistake],
    mutants: MutantFingerprints = NO_MUTANTS,
) -> Verdict:
    """Judge an answer by the outcomes of its trials.

    Args:
        exercise: the exercise.
        trials: all cases in all dtypes.
        misconceptions: known mistakes; one is named only if it alone explains every float64 trial.
            Two answers draw differently, so a mistake explains a random output if the same thing is
            wrong with it.
        mutants: fingerprints of the mutants, see `_match_mutant`.
    """
    failed = [(trial, trial.difference) for trial in trials if trial.difference]
    printed = next((t.outcome.printed for t in trials if t.outcome.printed), "")
    if not failed:
        return Verdict(
            exercise,
            True,
            f"{exercise.name}: right in all {len(trials)} cases.",
            remarks=tuple(_write_remarks(trials)),
            cases=len(trials),
        )
    trial = find_smallest_failure(trials)
    fault = trial.difference
    assert fault is not None
    matching = _explain(trials, misconceptions)
    known = matching[0] if len(matching) == 1 else None
    if fault.kind in _BEFORE_VALUES:
        known = None
    if not known:
        fault = _trace_to_mutated_input(trial, fault)
    headline = known.title if known else _write_headline(exercise, trial, fault)
    hint = known.hint if known else ""
    alone = all(other.case.name == trial.case.name for other, _ in failed)
    if trial.case.training and fault.kind == "value":
        if _ignores_training_mode(trial, fault, trials):
            headline = (
                f"Your {exercise.name} gives the same {fault.name} in training mode as in "
                f"evaluation mode: dropout is not applied where it should be. {trial.case.note}"
            ).rstrip()
        elif found := _match_mutant(exercise, trials, mutants):
            headline, hint = found, "It shows in training mode alone."
        else:
            headline = (
                f"Your {exercise.name} is right in evaluation mode, but in training mode "
                f"{fault.name} has wrong values: dropout does not act where it should, or it acts "
                f"twice. {trial.case.note}"
            ).rstrip()
    elif not known and fault.kind in ("value", "shape", "finite", "random"):
        if alone and trial.case.note:
            headline = f"{headline} {trial.case.note}"
        elif fault.kind != "shape" and (found := find_error_pattern(exercise, trials, whole=True)):
            headline = found
        elif fault.kind != "finite" and (found := _match_mutant(exercise, trials, mutants)):
            headline, hint = found, "In everything else it agrees with a right answer."
        elif found := find_error_pattern(exercise, trials):
            headline = f"{headline} {found}" if fault.kind == "shape" else found
    return Verdict(
        exercise,
        False,
        headline,
        kind=fault.kind,
        hint=hint,
        misconception=known.slug if known else "",
        details=tuple(
            _write_details(exercise, trial, fault, bool(known), len(failed), len(trials))
        ),
        cases=len(trials),
        printed=printed,
    )


def find_smallest_failure(trials: Sequence[Trial]) -> Trial:
    """Return the failing trial to show: the smallest, which is the easiest to think through.

    It is in float64 if the case fails there too. Results that differ from call to call come first,
    because they may look like any mistake. Gradients of a random draw come later, because they mean
    little if another case draws wrongly. Training mode comes last, because it tells about dropout
    only if everything else is right.
    """

    def rank(pair: tuple[Trial, Difference]) -> tuple[Any, ...]:
        trial, fault = pair
        unsteady = fault.kind != "unsteady"
        return bool(trial.case.training), unsteady, _drawn_right(*pair), _measure(trial)

    return min(((t, t.difference) for t in trials if t.difference), key=rank)[0]


def _trace_to_mutated_input(trial: Trial, fault: Difference) -> Difference:
    """Return the fault, or a fault that says that a wrong result's input was written into."""
    if fault.kind != "value":
        return fault
    calls = trial.case.calls
    needed = {name for call in calls if fault.name in call.returned for name in call.needed}
    for whole in _list_whole_dicts([bundle for call in calls for bundle in call.returns]):
        if whole.name in needed:
            needed.update(list_names(whole))
    written = [name for name in trial.outcome.changed if name in needed]
    return Difference("changed", written[0]) if written else fault


def _list_whole_dicts(bundles: Sequence[NameTree]) -> list[NamedDict]:
    return [
        whole
        for bundle in bundles
        for whole in (
            *([bundle] if isinstance(bundle, NamedDict) else []),
            *_list_whole_dicts(list_members(bundle)),
        )
    ]


# Kinds of faults that come before any comparison of values.
_BEFORE_VALUES = ("unwritten", "signature", "forbidden", "protocol", "time", "unsteady")


def _match_mutant(exercise: Exercise, trials: Sequence[Trial], mutants: MutantFingerprints) -> str:
    """Return a sentence about the mutants that give exactly the same outcomes, or "".

    Outcomes that depend on chance are never exactly the same.
    """
    if any(trial.case.relation and trial.difference for trial in trials):
        return ""
    phrases = mutants.name(trials)[:2]  # all these mutants give the same outcomes
    if not phrases:
        return ""
    return f"Your {exercise.name} gives exactly what comes out when {', or when '.join(phrases)}."


def _ignores_training_mode(trial: Trial, fault: Difference, trials: Sequence[Trial]) -> bool:
    """Return whether an output is the same in training mode as in evaluation mode."""
    assert fault.actual is not None
    for twin in trials:
        case = twin.case
        if case.inputs is trial.case.inputs and not case.training and twin.dtype == trial.dtype:
            evaluated = twin.outcome.outputs.get(fault.name)
            if evaluated is not None and are_close(fault.actual, evaluated, 1e-9):
                return True
    return False


def _measure(trial: Trial) -> tuple[bool, int, int]:
    """Return a sort key: the fewest numbers first, but empty batches last, as they show nothing."""
    empty = any(tensor.numel() == 0 for tensor in trial.case.inputs.values())
    return empty, trial.case.elements, -trial.dtype.itemsize


def _drawn_right(trial: Trial, fault: Difference) -> bool:
    return trial.case.relation is not None and "gradient" in fault.kind


def _explain(trials: Sequence[Trial], mistakes: Sequence[KnownMistake]) -> list[KnownMistake]:
    """Return the known mistakes that give what an answer gave in all float64 trials.

    Args:
        trials: the trials of the answer.
        mistakes: the known mistakes to choose from.
    """
    exact = [t for t in trials if t.dtype == torch.float64 and not t.case.training]
    kinds = {trial.difference.kind for trial in exact if trial.difference}
    if not kinds or "dtype" in kinds:  # no known mistake is about precision
        return []
    mine = [(trial.case, trial.fingerprint) for trial in exact]
    matching = [m for m in mistakes if _fits(mine, m.values)]
    if kinds <= {"no gradient", "gradient"}:
        slopes = [(trial.case, trial.gradient_fingerprint) for trial in exact]
        matching = [m for m in matching if _fits(slopes, m.gradients)]
    return matching


def _fits(mine: Sequence[tuple[Case, float]], theirs: Callable[[Case], float | None]) -> bool:
    """Return whether fingerprints are the same wherever both are known."""
    pairs = [(own, other) for case, own in mine if (other := theirs(case)) is not None]
    return bool(pairs) and all(do_fingerprints_match(own, other) for own, other in pairs)


def _write_remarks(trials: Sequence[Trial]) -> list[str]:
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


def _write_headline(exercise: Exercise, trial: Trial, fault: Difference) -> str:
    outcome, case = trial.outcome, trial.case
    if outcome.problem and fault.kind == outcome.problem[0]:
        return outcome.problem[1]
    if fault.sentence:
        return fault.sentence
    name = fault.name
    if fault.kind == "changed":
        if isinstance(case.given.get(name), list):
            return f"{exercise.name} writes into its input {name}; make a new list instead."
        if any(name in members.values() for members in _list_dicts(case)):
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
    if fault.kind == "shape":
        assert fault.actual is not None and fault.expected is not None
        return (
            f"{name} has shape {tuple(fault.actual.shape)}; it must be "
            f"{exercise.shape(name, fault.expected)}."
        )
    if fault.kind == "dtype":
        assert fault.actual is not None
        given = str(trial.dtype).removeprefix("torch.")
        got = str(fault.actual.dtype).removeprefix("torch.")
        if fault.expected is not None and not fault.expected.is_floating_point():
            kind = "bool" if fault.expected.dtype == torch.bool else "whole numbers (int64)"
            return f"{name} is {got}; it must be {kind}."
        if not case.floating:
            return (
                f"{name} is {got} where torch's default dtype is {given}; it must have the default "
                "dtype, which torch.get_default_dtype() tells."
            )
        return (
            f"{name} is {got} for inputs in {given}; the result must have the inputs' dtype. "
            "Tensors that you create need it too: x.new_zeros(...), or dtype=x.dtype."
        )
    if fault.kind == "no gradient":
        return (
            f"The values are right, but no gradient reaches {name}: something cuts the graph, such "
            "as detach(), .data, .item(), no_grad() or torch.tensor() of a result."
        )
    if fault.kind == "gradient":
        assert fault.actual is not None
        if not torch.isfinite(fault.actual).all():
            where = _mention_empty_row(case, "gradient")
            return (
                f"The values are right, but the gradient with respect to {name} has NaN or "
                f"infinite entries{where}."
            )
        if fault.expected is not None and not fault.expected.any():
            return (
                f"The values are right, but a gradient reaches {name}, which must get none: "
                "detach() what is to be a mere number here."
            )
        return (
            f"The values are right, but the gradient with respect to {name} is not: part of the "
            "way back is cut (detach(), .data, argmax), or there is a step too many that leaves "
            "the values as they are."
        )
    if fault.kind == "finite":
        assert fault.actual is not None
        if fault.real is not None and torch.isfinite(fault.actual[fault.real]).all():
            return (
                f"{name} has NaN or infinite entries on padding; any finite number may stand there."
            )
        return f"{name} has NaN or infinite entries{_mention_empty_row(case, 'weights')}."
    broken = _find_broken_property(exercise, trial, fault)
    return broken or f"{name} has wrong values."


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
    masked_by = exercise.weights_over.get(fault.name)
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


def _write_details(
    exercise: Exercise, trial: Trial, fault: Difference, known: bool, failed: int, tried: int
) -> list[str]:
    case = trial.case
    if fault.kind in ("unwritten", "signature", "weights", "forbidden", "protocol", "time"):
        return []
    # Only float32 is named: float64 is tried first, and a dtype means nothing for text.
    title = case.name.rstrip(".")  # some names end in a full stop, such as "bert."
    single = ", float32" if trial.dtype == torch.float32 else ""
    lines = [f"Smallest failing case ({failed} of {tried} fail): {title}{single}."]
    if case.construct:
        given = ", ".join(
            f"{name}={value.name + '(...)' if hasattr(value, 'arguments') else value}"
            for name, value in case.construct.items()
        )
        lines.append(f"{exercise.name}({given})")
    lines += _write_inputs(exercise, case)
    lines += _write_calls(exercise, case, fault.name)
    if fault.kind == "random":
        for name in case.random[:_RANDOM_AT_MOST]:
            lines += _show("yours", trial, exercise, name, trial.outcome.outputs[name], fault.kind)
        return lines
    if fault.expected is None:
        return lines
    start = 0
    if fault.name not in case.random:  # a random output has many right values
        start = _find_first_wrong_row(trial, fault)
        lines += _show("expected", trial, exercise, fault.name, fault.expected, fault.kind, start)
    if fault.actual is not None:
        lines += _show("yours", trial, exercise, fault.name, fault.actual, fault.kind, start)
        if fault.kind in ("value", "gradient") and fault.name not in case.plain:
            lines.append(_write_worst(fault))
    masks = [(n, t) for n, t in case.inputs.items() if t.dtype == torch.bool]
    if fault.kind in ("value", "finite") and masks and not known:
        own = exercise.weights_over.get(fault.name)
        name, mask = next((pair for pair in masks if pair[0] == own), masks[0])
        lines.append(f"{name} (1 = real):")
        lines += _write_rows(mask.int())
    return lines


def _write_inputs(exercise: Exercise, case: Case) -> list[str]:
    """Return lines that show the inputs: the numbers if there are few, else the shapes."""
    plain = [f"{name}={words}" for name, v in case.given.items() if (words := format_argument(v))]
    numbers = sum(tensor.numel() for tensor in case.inputs.values())
    if 0 < numbers <= _NUMBERS_AT_MOST:
        shown = [
            f"  {name} {exercise.shape(name, tensor)} = {_write_inline(tensor)}"
            for name, tensor in case.inputs.items()
        ]
        return ["inputs:", *shown, *(f"  {words}" for words in plain)]
    shapes = [f"{name} {exercise.shape(name, tensor)}" for name, tensor in case.inputs.items()]
    if len(shapes) > _INPUTS_AT_MOST:
        more = len(shapes) - _INPUTS_AT_MOST
        shapes = [*shapes[:_INPUTS_AT_MOST], f"and {more} more"]
    return ["inputs: " + ", ".join(shapes + plain)]


def _write_inline(tensor: Tensor) -> str:
    if tensor.dim() == 0:
        return _write_number(tensor.item()).strip()
    return f"[{', '.join(_write_inline(row) for row in tensor)}]"


def _write_calls(exercise: Exercise, case: Case, name: str) -> list[str]:
    """Return the calls up to the one that returns an output, if the output's name is unclear."""
    if len(case.calls) < 2:
        return []
    last = next((i for i, c in enumerate(case.calls) if name in c.returned), None)
    if last is None:
        return []
    lines = []
    for call in case.calls[max(0, last + 1 - _CALLS_AT_MOST) : last + 1]:
        called = exercise.name if not exercise.is_class else "model"
        if call.method not in ("", "forward"):
            called = f"{called}.{call.method}" if exercise.is_class else call.method
        given = ", ".join(map(_write_argument, call.arguments))
        returned = ", ".join(map(_write_returned, call.returns))
        line = f"{returned} = {called}({given})" if returned else f"{called}({given})"
        lines.append(f"  {line if len(line) <= _CALL_AT_MOST else f'{line[:_CALL_AT_MOST]} ...'}")
    states = [w for call in case.calls for w in _list_whole_dicts(call.returns)]
    for whole in states:
        for key, member in whole.members.items():
            if member == name:
                lines.append(f"  {name} is {whole.name}[{key!r}]")
    return ["calls:", *lines]


def _write_argument(bundle: NameTree) -> str:
    return bundle.name if isinstance(bundle, NamedDict) else format_name_tree(bundle)


def _write_returned(bundle: NameTree) -> str:
    """Return results as an assignment target: a state by its name, an unused result as _."""
    if isinstance(bundle, NamedDict):
        return bundle.name
    return format_name_tree(bundle) if list_names(bundle) else "_"


def _find_first_wrong_row(trial: Trial, fault: Difference) -> int:
    """Return the index of the first wrong row if there are too many rows to show, else 0."""
    mine, right = fault.actual, fault.expected
    if mine is None or right is None or mine.shape != right.shape or mine.dim() < 2:
        return 0
    wrong = ~torch.isclose(mine.double(), right.double(), rtol=1e-5, atol=1e-5, equal_nan=True)
    if fault.real is not None:
        wrong &= fault.real.reshape(*fault.real.shape, *[1] * (wrong.dim() - fault.real.dim()))
    rows = wrong.reshape(-1, wrong.shape[-1]).any(-1)
    return int(rows.int().argmax()) if len(rows) > _ROWS_AT_MOST and rows.any() else 0


def _show(
    label: str,
    trial: Trial,
    exercise: Exercise,
    name: str,
    tensor: Tensor,
    kind: str,
    start: int = 0,
) -> list[str]:
    if name in trial.case.plain:
        return [f"{label} {name}:", f"  {plain_codec.show(tensor)}"]
    what = f"gradient of {name}" if "gradient" in kind else name
    head = f"{label} {what} {exercise.shape(name, tensor)}:"
    return [head, *_write_rows(tensor, start)]


def _write_rows(tensor: Tensor, start: int = 0, columns: int = 8) -> list[str]:
    """Return some rows of a tensor as text, with four decimals and one row per line.

    Args:
        tensor: the tensor, whose last axis is written from left to right.
        start: index of the first row to write; the rows before it are right.
        columns: how many numbers of a row to write.
    """
    if tensor.numel() == 0:
        return ["  (no numbers)"]
    if tensor.dim() == 0:
        return [f"  {_write_number(tensor.item()).strip()}"]
    flat = tensor.detach().reshape(-1, tensor.shape[-1])
    lines = [f"  ... ({_place_of(start, tensor)} is the first wrong row)"] if start else []
    for row in flat[start : start + _ROWS_AT_MOST].tolist():
        numbers = map(_write_number, row[:columns])
        lines.append("  " + " ".join(numbers) + (" ..." if len(row) > columns else ""))
    if len(flat) > start + _ROWS_AT_MOST:
        lines.append(f"  ... ({len(flat)} rows)")
    return lines


def _place_of(row: int, tensor: Tensor) -> str:
    """Return the index of a flattened tensor's row in the original tensor: [1, 0]."""
    at = torch.unravel_index(torch.tensor(row), tensor.shape[:-1])
    return str([int(i) for i in at])


def _write_number(x: float) -> str:
    if not isinstance(x, float):
        return f"{x}"
    return f"{x:8.4f}" if abs(x) >= 5e-5 or x != x else f"{0.0:8.4f}"  # no -0.0000


def _write_worst(fault: Difference) -> str:
    assert fault.expected is not None and fault.actual is not None
    gap = (fault.actual.double() - fault.expected.double()).abs()
    if fault.real is not None:
        shape = (*fault.real.shape, *[1] * (gap.dim() - fault.real.dim()))
        gap = gap.masked_fill(~fault.real.reshape(shape), 0.0)
    if gap.dim() == 0 or not torch.isfinite(gap).all():
        return ""
    at = tuple(int(i) for i in torch.unravel_index(gap.argmax(), gap.shape))
    right, mine = fault.expected[at].item(), fault.actual[at].item()
    place = f"largest difference at {list(at)}: expected"
    if fault.expected.dtype == torch.bool == fault.actual.dtype:
        return f"{place} {right}, yours {mine}"
    digits = 4 if abs(right - mine) > 1e-3 else 8
    return f"{place} {right:.{digits}f}, yours {mine:.{digits}f}"
