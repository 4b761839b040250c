"""Formats a failing case: inputs, calls, expected and actual values."""

from __future__ import annotations

import torch
from torch import Tensor

from autograder.diagnose.compare import Difference
from autograder.diagnose.marked_numbers import NOT_COUNTED, RIGHT, Mark, MarkedLine, measure_errors
from autograder.diagnose.trial import Trial
from autograder.spec import byte_codec
from autograder.spec.exercise import (
    Case,
    Exercise,
    NamedDict,
    NameTree,
    format_name_tree,
    list_named_dicts,
    list_names,
)
from autograder.spec.fakes import format_argument

_MAX_RANDOM_OUTPUTS = 3  # shown if `check_random_outputs` objects
_MAX_INPUTS = 12  # whose shapes are shown
_MAX_NUMBERS = 24  # in all inputs together; if there are more, only shapes are shown
_MAX_CALLS = 4
_MAX_CALL_CHARS = 200
_MAX_ROWS, _MAX_COLUMNS = 6, 8  # of a tensor's numbers


def format_failing_case(
    exercise: Exercise, trial: Trial, fault: Difference, known: bool, failed: int, tried: int
) -> list[str]:
    """Return the lines of a card that show the failing case.

    Args:
        exercise: the exercise.
        trial: the failing trial.
        fault: how its outcome differs from the expected one.
        known: whether the mistake was recognised; if not, the mask is also shown.
        failed: number of cases that fail.
        tried: number of cases.
    """
    case = trial.case
    if fault.kind in ("unwritten", "signature", "weights", "forbidden", "protocol", "time"):
        return []
    errors = measure_errors(fault) if fault.name not in case.random_outputs else None

    def show(label: str, name: str, tensor: Tensor, start: int = 0) -> list[str]:
        if name in case.non_tensors:
            return [f"{label} {name}:", f"  {byte_codec.show(tensor)}"]
        what = f"gradient of {name}" if "gradient" in fault.kind else name
        rows = format_rows(tensor, start, errors=errors, is_expected=label == "expected")
        return [f"{label} {what} {exercise.shape(name, tensor)}:", *rows]

    # Only float32 is named: float64 is tried first, and a dtype means nothing for text.
    title = case.name.rstrip(".")  # some names end in a full stop, such as "bert."
    single = ", float32" if trial.dtype == torch.float32 else ""
    # Of wrong shapes the case is shown whose sizes differ most.
    which = "A" if fault.kind == "shape" else "Smallest"
    lines = [f"{which} failing case ({failed} of {tried} fail): {title}{single}."]
    if case.init_arguments:
        given = ", ".join(
            f"{name}={value.name + '(...)' if hasattr(value, 'arguments') else value}"
            for name, value in case.init_arguments.items()
        )
        lines.append(f"{exercise.name}({given})")
    lines += _format_inputs(exercise, case)
    lines += _format_calls(exercise, case, fault.name)
    if fault.kind == "random":
        lines += [fault.measured] if fault.measured else []
        for name in case.random_outputs[:_MAX_RANDOM_OUTPUTS]:
            lines += show("yours", name, trial.outcome.outputs[name])
        return lines
    if fault.expected is None:
        return lines
    start = 0
    if fault.name not in case.random_outputs:  # a random output has many right values
        start = _find_first_wrong_row(trial, fault)
        lines += show("expected", fault.name, fault.expected, start)
    if fault.actual is not None:
        lines += show("yours", fault.name, fault.actual, start)
        if fault.kind in ("value", "gradient") and fault.name not in case.non_tensors:
            lines.append(_format_largest_difference(fault))
    masks = [(n, t) for n, t in case.inputs.items() if t.dtype == torch.bool]
    if fault.kind in ("value", "finite") and masks and not known:
        own = exercise.normalized_outputs.get(fault.name)
        name, mask = next((pair for pair in masks if pair[0] == own), masks[0])
        lines.append(f"{name} (1 = real):")
        lines += format_rows(mask.int())
    return lines


def _format_inputs(exercise: Exercise, case: Case) -> list[str]:
    """Return lines that show the inputs: the numbers if there are few, else the shapes."""
    plain = [
        f"{name}={words}"
        for name, v in case.extra_arguments.items()
        if (words := format_argument(v))
    ]
    numbers = sum(tensor.numel() for tensor in case.inputs.values())
    if 0 < numbers <= _MAX_NUMBERS:
        shown = [
            f"  {name} {exercise.shape(name, tensor)} = {_format_inline(tensor)}"
            for name, tensor in case.inputs.items()
        ]
        return ["inputs:", *shown, *(f"  {words}" for words in plain)]
    shapes = [f"{name} {exercise.shape(name, tensor)}" for name, tensor in case.inputs.items()]
    if len(shapes) > _MAX_INPUTS:
        more = len(shapes) - _MAX_INPUTS
        shapes = [*shapes[:_MAX_INPUTS], f"and {more} more"]
    return ["inputs: " + ", ".join(shapes + plain)]


def _format_inline(tensor: Tensor) -> str:
    if tensor.dim() == 0:
        return _format_number(tensor.item()).strip()
    return f"[{', '.join(_format_inline(row) for row in tensor)}]"


def _format_calls(exercise: Exercise, case: Case, name: str) -> list[str]:
    """Return the calls up to the one that returns an output; nothing if there is only one call."""
    if len(case.calls) < 2:
        return []
    last = next((i for i, c in enumerate(case.calls) if name in c.returned), None)
    if last is None:
        return []
    lines = []
    for call in case.calls[max(0, last + 1 - _MAX_CALLS) : last + 1]:
        called = exercise.name if not exercise.is_class else "model"
        if call.method not in ("", "forward"):
            called = f"{called}.{call.method}" if exercise.is_class else call.method
        given = ", ".join(map(_format_argument_name, call.arguments))
        returned = ", ".join(map(_format_target, call.returns))
        line = f"{returned} = {called}({given})" if returned else f"{called}({given})"
        lines.append(
            f"  {line if len(line) <= _MAX_CALL_CHARS else f'{line[:_MAX_CALL_CHARS]} ...'}"
        )
    for whole in list_named_dicts(tuple(call.returns for call in case.calls)):
        for key, member in whole.members.items():
            if member == name:
                lines.append(f"  {name} is {whole.name}[{key!r}]")
    return ["calls:", *lines]


def _format_argument_name(tree: NameTree) -> str:
    return tree.name if isinstance(tree, NamedDict) else format_name_tree(tree)


def _format_target(tree: NameTree) -> str:
    """Return results as an assignment target: a state by its name, an unused result as _."""
    if isinstance(tree, NamedDict):
        return tree.name
    return format_name_tree(tree) if list_names(tree) else "_"


def _find_first_wrong_row(trial: Trial, fault: Difference) -> int:
    """Return the index of the first wrong row if there are too many rows to show, else 0."""
    mine, right = fault.actual, fault.expected
    if mine is None or right is None or mine.shape != right.shape or mine.dim() < 2:
        return 0
    wrong = ~torch.isclose(mine.double(), right.double(), rtol=1e-5, atol=1e-5, equal_nan=True)
    if fault.valid_mask is not None:
        wrong &= fault.valid_mask.reshape(
            *fault.valid_mask.shape, *[1] * (wrong.dim() - fault.valid_mask.dim())
        )
    rows = wrong.reshape(-1, wrong.shape[-1]).any(-1)
    return int(rows.int().argmax()) if len(rows) > _MAX_ROWS and rows.any() else 0


def format_rows(
    tensor: Tensor,
    start: int = 0,
    columns: int = _MAX_COLUMNS,
    errors: Tensor | None = None,
    is_expected: bool = False,
) -> list[str]:
    """Return some rows of a tensor as text, with four decimals and one row per line.

    Args:
        tensor: the tensor, whose last axis is written from left to right.
        start: index of the first row to write; the rows before it are right.
        columns: number of entries of a row to write.
        errors: how wrong the numbers are, see `measure_errors`; None leaves the lines unmarked.
        is_expected: whether the numbers are the expected ones.
    """
    if tensor.numel() == 0:
        return ["  (no numbers)"]
    if tensor.dim() == 0:
        return [f"  {_format_number(tensor.item()).strip()}"]
    flat = tensor.detach().reshape(-1, tensor.shape[-1])
    lines = [f"  ... ({_format_row_index(start, tensor)} is the first wrong row)"] if start else []
    for i in range(start, min(start + _MAX_ROWS, len(flat))):
        row = flat[i].tolist()
        line, marks = " ", []
        for k, number in enumerate(map(_format_number, row[:columns])):
            error = RIGHT if errors is None else errors.reshape(flat.shape)[i, k].item()
            line += f" {number}"
            if error != RIGHT:
                begin = len(line) - len(number.lstrip())
                marks.append(Mark(begin, len(line), 0.0 if error == NOT_COUNTED else error))
        line += " ..." if len(row) > columns else ""
        lines.append(MarkedLine(line, marks, is_expected) if marks else line)
    if len(flat) > start + _MAX_ROWS:
        lines.append(f"  ... ({len(flat)} rows)")
    return lines


def _format_row_index(row: int, tensor: Tensor) -> str:
    """Return the index of a flattened tensor's row in the original tensor: [1, 0]."""
    at = torch.unravel_index(torch.tensor(row), tensor.shape[:-1])
    return str([int(i) for i in at])


def _format_number(x: float) -> str:
    if not isinstance(x, float):
        return f"{x}"
    return f"{x:8.4f}" if abs(x) >= 5e-5 or x != x else f"{0.0:8.4f}"  # no -0.0000


def _format_largest_difference(fault: Difference) -> str:
    assert fault.expected is not None and fault.actual is not None
    gap = (fault.actual.double() - fault.expected.double()).abs()
    if fault.valid_mask is not None:
        shape = (*fault.valid_mask.shape, *[1] * (gap.dim() - fault.valid_mask.dim()))
        gap = gap.masked_fill(~fault.valid_mask.reshape(shape), 0.0)
    if gap.dim() == 0 or not torch.isfinite(gap).all():
        return ""
    at = tuple(int(i) for i in torch.unravel_index(gap.argmax(), gap.shape))
    right, mine = fault.expected[at].item(), fault.actual[at].item()
    place = f"largest difference at {list(at)}: expected"
    if fault.expected.dtype == torch.bool == fault.actual.dtype:
        return f"{place} {right}, yours {mine}"
    digits = 4 if abs(right - mine) > 1e-3 else 8
    return f"{place} {right:.{digits}f}, yours {mine:.{digits}f}"
