"""Detects generic error patterns (shift, scale, transpose ...) in wrong outputs.

Each detector looks at one output in all failing trials and returns a sentence that is true of every
trial, or "". Each pattern is thus implemented once for all exercises.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from autograder.diagnose.compare import are_close
from autograder.diagnose.trial import Trial
from autograder.spec.exercise import Exercise

_TIGHT = 1e-6
_POSITION_AXES = {"T", "S", "N", "L", "M", "Q", "K"}  # axes of positions


@dataclass(frozen=True)
class FailedOutput:
    """One output of one failing trial, with the expected output.

    Attributes:
        trial: the trial.
        name: name of the output.
        actual: the output of the answer.
        expected: the expected output.
    """

    trial: Trial
    name: str
    actual: Tensor
    expected: Tensor

    @property
    def valid_mask(self) -> Tensor:
        """Return a bool mask of the entries that count, in the shape of the expected output."""
        real = self.trial.case.valid_masks.get(self.name)
        if real is None:
            return torch.ones_like(self.expected, dtype=torch.bool)
        return real.reshape(*real.shape, *[1] * (self.expected.dim() - real.dim())).expand_as(
            self.expected
        )

    def is_right_if(self, mine: Tensor) -> bool:
        """Return whether another tensor would be right in place of the answer's output."""
        return self.actual.shape == self.expected.shape == mine.shape and are_close(
            mine[self.valid_mask], self.expected[self.valid_mask], _TIGHT
        )

    @property
    def wrong(self) -> Tensor:
        """Return a bool mask of the wrong entries."""
        near = torch.isclose(self.actual, self.expected, rtol=1e-5, atol=1e-5, equal_nan=True)
        return ~near & self.valid_mask


def find_error_pattern(exercise: Exercise, trials: Sequence[Trial], whole: bool = False) -> str:
    """Return a sentence about the error pattern that all failing trials share, or "".

    Args:
        exercise: the exercise.
        trials: the trials of an answer.
        whole: whether to try only patterns that explain the whole result, such as another order.
    """
    exact = [t for t in trials if t.dtype == torch.float64 and not t.case.training_mode]
    failed = [(t, t.difference) for t in exact if t.difference]
    if not failed or any(fault.kind not in ("value", "shape") for _, fault in failed):
        return ""
    groups: dict[
        str, list[FailedOutput]
    ] = {}  # by name; a method that is called twice has two result names
    for trial, fault in failed:
        name = fault.name
        if name in trial.case.non_tensors:
            return ""
        mine, right = trial.outcome.outputs[name], trial.expected.outputs[name]
        pair = FailedOutput(trial, name, mine.detach().double(), right.double())
        groups.setdefault(name, []).append(pair)
    same_shapes = all(
        p.actual.shape == p.expected.shape for pairs in groups.values() for p in pairs
    )
    families = _FAMILIES if same_shapes else _SHAPES
    if whole:
        families = _WHOLE if same_shapes else ()
    for family in families:
        said = [family(exercise, name, pairs, exact) for name, pairs in groups.items()]
        if all(said):
            return said[0]
    return ""


PatternDetector = Callable[[Exercise, str, "Sequence[FailedOutput]", "Sequence[Trial]"], str]


def _zero(exercise: Exercise, name: str, pairs: Sequence[FailedOutput], _: Sequence[Trial]) -> str:
    if all((p.actual[p.valid_mask] == 0).all() for p in pairs) and len(pairs) > 1:
        return f"Your {name} is 0 everywhere."
    return ""


def _exchanged(
    exercise: Exercise, name: str, pairs: Sequence[FailedOutput], _: Sequence[Trial]
) -> str:
    others = set.intersection(*(set(p.trial.expected.outputs) for p in pairs)) - {name}
    for other in sorted(others):
        if all(_are_exchanged(p, other) for p in pairs):
            return f"Your {name} is what {other} should be, and the other way round."
    return ""


def _are_exchanged(pair: FailedOutput, other: str) -> bool:
    outputs, right = pair.trial.outcome.outputs, pair.trial.expected.outputs
    return (
        pair.expected.numel() > 1
        and are_close(pair.actual, right[other], _TIGHT)
        and are_close(outputs[other], pair.expected, _TIGHT)
    )


def _scaled(
    exercise: Exercise, name: str, pairs: Sequence[FailedOutput], _: Sequence[Trial]
) -> str:
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
    if all(abs(f + 1) < _TIGHT for f in factors):
        return f"Your {name} has the wrong sign: it is the right one times -1."
    words = ""
    if max(factors) - min(factors) < _TIGHT * max(map(abs, factors)):
        words = _say_number(factors[0])
    for label, sizes in _sizes(exercise, pairs):
        for form, value in _POWERS.items():
            if all(
                abs(f - value(n)) < 1e-5 * abs(f) for f, n in zip(factors, sizes, strict=True)
            ) and (len(set(sizes)) > 1 or not words):
                words = form.format(label)
    return f"Your {name} is the right one times {words}, in all cases." if words else ""


_POWERS: dict[str, Callable[[float], float]] = {
    "{}": lambda n: n,
    "1 / {}": lambda n: 1 / n,
    "the square root of {}": math.sqrt,
    "1 / the square root of {}": lambda n: 1 / math.sqrt(n),
}


def _say_number(factor: float) -> str:
    for number in (2, 3, 4):
        if abs(factor - 1 / number) < _TIGHT:
            return f"1/{number}"
    return f"{factor:.4g}"


def _sizes(exercise: Exercise, pairs: Sequence[FailedOutput]) -> Iterator[tuple[str, list[int]]]:
    """Yield the name of each axis that all trials have, with its size in each trial."""
    tables = []
    for pair in pairs:
        table: dict[str, int] = {}
        case = pair.trial.case
        for name, tensor in {**case.inputs, **case.weights, pair.name: pair.expected}.items():
            axes = exercise.axes.get(name, "").split()
            if len(axes) == tensor.dim():
                table |= dict(zip(axes, tensor.shape, strict=True))
        tables.append(table)
    for label in sorted(set.intersection(*map(set, tables))):
        if label not in ("...", "1") and all(table[label] > 0 for table in tables):
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


def _last_step(
    exercise: Exercise, name: str, pairs: Sequence[FailedOutput], _: Sequence[Trial]
) -> str:
    if len({round(value, 6) for p in pairs for value in p.expected.flatten().tolist()}) < 4:
        return ""  # few distinct numbers fit many functions: 0 is the logarithm of 1
    for step, function in _LAST_STEPS.items():
        if all(p.expected.dim() and p.is_right_if(function(p.actual)) for p in pairs):
            return f"Your {name} lacks a last step: {step} of it is right."
    for step, function in _LAST_STEPS.items():
        if all(
            p.expected.dim()
            and are_close(p.actual[p.valid_mask], function(p.expected)[p.valid_mask], _TIGHT)
            for p in pairs
        ):
            return f"Your {name} has one step too many: it is {step} of the right one."
    return ""


def _detect_shift(
    exercise: Exercise, name: str, pairs: Sequence[FailedOutput], _: Sequence[Trial]
) -> str:
    for axis, label in enumerate(exercise.axes.get(name, "").split()):
        if label not in _POSITION_AXES or any(p.expected.dim() <= axis for p in pairs):
            continue
        late = [_is_shifted(p, axis, +1) for p in pairs]
        early = [_is_shifted(p, axis, -1) for p in pairs]
        for found, words in ((late, "late"), (early, "early")):
            if True in found and False not in found:
                return (
                    f"Your {name} is right, but comes one position too {words} along {label}: "
                    f"compare position 0 of yours with position {1 if words == 'early' else 0} of "
                    "the expected one."
                )
        if all(p.expected.shape[axis] > 1 and p.is_right_if(p.actual.flip(axis)) for p in pairs):
            return f"Your {name} is right, but runs backwards along {label}."
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
    return bool(counts.any()) and are_close(mine[counts], right[counts], _TIGHT)


def _reordered(
    exercise: Exercise, name: str, pairs: Sequence[FailedOutput], _: Sequence[Trial]
) -> str:
    if exercise.axes.get(name, "").split()[:1] != ["B"]:
        return ""
    for pair in pairs:
        rows = list(pair.expected.masked_fill(~pair.valid_mask, 0.0))
        for row in pair.actual.masked_fill(~pair.valid_mask, 0.0):
            found = next((i for i, right in enumerate(rows) if are_close(row, right, _TIGHT)), None)
            if found is None:
                return ""
            rows.pop(found)
    return (
        f"Your {name} has the right rows in another order: put the batch back into the order in "
        "which it came."
    )


def _detect_transpose(
    exercise: Exercise, name: str, pairs: Sequence[FailedOutput], _: Sequence[Trial]
) -> str:
    if all(
        min(p.expected.dim(), p.actual.dim()) > 1
        and are_close(p.actual.mT, p.expected, _TIGHT)
        and not are_close(p.actual, p.expected, _TIGHT)
        for p in pairs
    ):
        return f"Your {name} is transposed: its last two axes are exchanged."
    return ""


def _reshaped(
    exercise: Exercise, name: str, pairs: Sequence[FailedOutput], _: Sequence[Trial]
) -> str:
    wrong = [p for p in pairs if p.actual.shape != p.expected.shape]
    if all(are_close(p.actual.squeeze(), p.expected.squeeze(), _TIGHT) for p in pairs):
        more = wrong[0].actual.dim() > wrong[0].expected.dim()
        return f"The numbers are right; an axis of size 1 is {'too many' if more else 'missing'}."
    axes = exercise.axes.get(name, "").split()
    for axis, label in enumerate(axes):
        if label not in _POSITION_AXES or any(p.actual.dim() != p.expected.dim() for p in wrong):
            continue
        sizes = [(p.actual.shape[axis], p.expected.shape[axis]) for p in wrong]
        if all(
            n < m and are_close(p.actual, p.expected.narrow(axis, 0, n), _TIGHT)
            for p, (n, m) in zip(wrong, sizes, strict=True)
        ):
            return (
                f"It is cut off along {label}: include all of the batch's positions, even those "
                "that are padding in every row."
            )
    return ""


def _padded_rows(
    exercise: Exercise, name: str, pairs: Sequence[FailedOutput], exact: Sequence[Trial]
) -> str:
    """Return a sentence if only rows with padding, or only fully padded rows, are wrong."""
    if exercise.axes.get(name, "").split()[:1] != ["B"]:
        return ""
    for words in sorted({n for p in pairs for n in p.trial.case.inputs if _count_real(p, n)}):
        rows = [(p, _count_real(p, words)) for p in pairs]
        if any(count is None or len(count[0]) != p.expected.shape[0] for p, count in rows):
            continue
        wrong = torch.cat(
            [p.wrong.flatten(1).any(-1) if p.wrong.dim() > 1 else p.wrong for p in pairs]
        )
        real = torch.cat([count[0] for _, count in rows if count])
        width = torch.cat([count[1] for _, count in rows if count])
        if not (wrong & (real > 0)).any():
            return (
                f"Your {name} is right except for rows without any real position (see {words}): "
                "handle these rows separately."
            )
        others = [t for t in exact if t.difference is None and words in t.case.inputs]
        if not (wrong & (real == width)).any() and ((real == width).any() or others):
            return (
                f"Your {name} is right for rows without padding, and wrong for rows that have "
                f"some: {words} does not act as it should."
            )
    return ""


def _count_real(pair: FailedOutput, name: str) -> tuple[Tensor, Tensor] | None:
    """Return the number of real positions and of all positions in each row, or None."""
    tensor = pair.trial.case.inputs.get(name)
    if tensor is None:
        return None
    if tensor.dtype == torch.bool and tensor.dim() > 1:
        flat = tensor.flatten(1)
        return flat.sum(-1), torch.full((len(flat),), flat.shape[1])
    if "length" in name and tensor.dim() == 1 and tensor.numel():
        return tensor, torch.full_like(tensor, int(tensor.max()))
    return None


def _single(
    exercise: Exercise, name: str, pairs: Sequence[FailedOutput], exact: Sequence[Trial]
) -> str:
    """Return a sentence if a result is right only where one size, such as the batch's, is 1."""
    fitting = []
    for label, what in (
        ("B", "one row alone, and wrong for a batch of several"),
        ("T", "one target position, and wrong for several"),
        ("N", "one position, and wrong for several"),
        ("S", "one source position, and wrong for several"),
        ("heads", "one head, and wrong for several"),
    ):
        failed = [size for p in pairs if (size := _size(exercise, p.trial, label)) is not None]
        passed = [
            size
            for t in exact
            if t.difference is None and (size := _size(exercise, t, label)) is not None
        ]
        if len(failed) == len(pairs) and min(failed) > 1 and passed and max(passed) == 1:
            fitting.append(what)
    return f"Your {name} is right for {fitting[0]}." if len(fitting) == 1 else ""


def _size(exercise: Exercise, trial: Trial, label: str) -> int | None:
    for name, tensor in {**trial.case.inputs, **trial.expected.outputs}.items():
        axes = exercise.axes.get(name, "").split()
        if label in axes and len(axes) == tensor.dim():
            return int(tensor.shape[axes.index(label)])
    value = trial.case.init_arguments.get(label)
    return value if isinstance(value, int) else None


def _first_steps(
    exercise: Exercise, name: str, pairs: Sequence[FailedOutput], _: Sequence[Trial]
) -> str:
    """Return a sentence about the time steps at which a result is wrong, or ""."""
    axes = exercise.axes.get(name, "").split()
    for axis, label in enumerate(axes):
        if label != "T" or any(p.expected.dim() != len(axes) for p in pairs):
            continue
        steps = [p.wrong.movedim(axis, 0).flatten(1).any(-1) for p in pairs]  # (T,)
        steps = [step for step in steps if len(step) > 1]
        if not steps:
            return ""
        if all(not step[0] and step[1] for step in steps):
            return f"Your {name} is right at the first step and wrong from the second."
        if all(step[0] and not step[1:].any() for step in steps):
            return f"Your {name} is wrong at the first step alone: look at what it begins with."
        if all(step[-1] and not step[:-1].any() for step in steps):
            return f"Your {name} is wrong at the last step alone."
    return ""


_FAMILIES: tuple[PatternDetector, ...] = (
    _zero,
    _exchanged,
    _scaled,
    _last_step,
    _detect_shift,
    _reordered,
    _detect_transpose,
    _padded_rows,
    _single,
    _first_steps,
)
_WHOLE: tuple[PatternDetector, ...] = (
    _exchanged,
    _last_step,
    _detect_shift,
    _reordered,
    _detect_transpose,
)
_SHAPES: tuple[PatternDetector, ...] = (_reshaped, _detect_transpose)
