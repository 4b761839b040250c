"""Locates a mistake: in which cases, rows, positions or components an output is wrong.

A detector looks at one output in all failing trials, and at the trials that pass, and returns a
sentence that is true of all of them, or "".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from autograder.diagnose.compare import are_close
from autograder.diagnose.failed_output import POSITION_AXES, TIGHT, FailedOutput, name_sizes
from autograder.diagnose.trial import Trial
from autograder.spec.exercise import Case, Exercise


def locate_padded_rows(
    exercise: Exercise, name: str, pairs: Sequence[FailedOutput], exact: Sequence[Trial]
) -> str:
    """Return a sentence if only rows with padding, or only fully padded rows, are wrong."""
    if exercise.axes.get(name, "").split()[:1] != ["B"]:
        return ""
    for words in sorted({n for p in pairs for n in p.trial.case.inputs}):
        counts = [_count_real(exercise, p.trial.case, words) for p in pairs]
        if any(
            c is None or len(c[0]) != p.expected.shape[0]
            for p, c in zip(pairs, counts, strict=True)
        ):
            continue
        wrong = torch.cat(
            [p.wrong.flatten(1).any(-1) if p.wrong.dim() > 1 else p.wrong for p in pairs]
        )
        real = torch.cat([count[0] for count in counts if count])
        width = torch.cat([count[1] for count in counts if count])
        if not (wrong & (real > 0)).any():
            return (
                f"The result {name} is right except for rows without any real position (see "
                f"{words}): handle these rows separately."
            )
        others = [t for t in exact if t.difference is None and words in t.case.inputs]
        if not (wrong & (real == width)).any() and ((real == width).any() or others):
            full, other = (
                (f"where {words} is all True", "where it has a False")
                if pairs[0].trial.case.inputs[words].dtype == torch.bool
                else ("without padding", "that have some")
            )
            return (
                f"The result {name} is right for rows {full}, and wrong for rows {other}: {words} "
                "does not act as it should."
            )
    return ""


def _count_real(exercise: Exercise, case: Case, name: str) -> tuple[Tensor, Tensor] | None:
    """Return the number of real positions and of all positions in each row, or None."""
    tensor = case.inputs.get(name)
    if tensor is None:
        return None
    if tensor.dtype == torch.bool and tensor.dim() > 1:
        flat = tensor.flatten(1)
        return flat.sum(-1), torch.full((len(flat),), flat.shape[1])
    if "length" in name and tensor.dim() == 1 and tensor.numel():
        # The batch may be wider than its longest sentence.
        widths = [
            other.shape[1]
            for label, other in case.inputs.items()
            if exercise.axes.get(label, "").split()[:1] == ["B"]
            and exercise.axes[label].split()[1:2] in (["N"], ["S"])
        ]
        return tensor, torch.full_like(tensor, max([*widths, int(tensor.max())]))
    return None


def locate_cases(
    exercise: Exercise, name: str, pairs: Sequence[FailedOutput], exact: Sequence[Trial]
) -> str:
    """Return a sentence about what all failing cases have and no passing case has, or ""."""
    failing = [trial.difference is not None for trial in exact]
    if all(failing):
        return ""
    known = [dict(_list_features(exercise, trial)) for trial in exact]
    constant = _find_constant_axis(exercise, name, exact)
    fitting = [
        feature
        for feature in dict.fromkeys(feature for table in known for feature in table)
        if [table.get(feature, False) for table in known] == failing
        and not (constant and feature.endswith(f"one {constant}"))
    ]
    # Two sizes that are above 1 in the same cases may both be innocent.
    sizes = [feature for feature in fitting if " one " in feature]
    if fitting and not len(fitting) == len(sizes) > 1:
        return f"Every case {fitting[0]} fails, and all others pass."
    # A degenerate case, such as one whose result is 0 anyway, may pass.
    names = {trial.case.name for trial in exact if trial.difference}
    for option in dict.fromkeys(f for table in known for f in table if "=" in f):
        has = [table.get(option, False) for table in known]
        if len(names) > 2 and not any(f and not h for f, h in zip(failing, has, strict=True)):
            return f"Only cases {option} fail." if 2 * sum(failing) > sum(has) != len(has) else ""
    return ""


def explain_overflow(exact: Sequence[Trial]) -> str:
    """Return a sentence if results are infinite or NaN only where inputs are large, or ""."""
    failing = [trial.difference is not None for trial in exact]
    largest = [
        max((float(x.abs().max()) for x in t.case.inputs.values() if _has_numbers(x)), default=0.0)
        for t in exact
    ]
    wrong = [size for size, failed in zip(largest, failing, strict=True) if failed]
    if all(failing) or not wrong or min(wrong) < _LARGE:
        return ""
    return (
        f"Only cases with numbers as large as {max(wrong):.0f} fail: exp of more than 709 (of 88 "
        "in float32) is infinite, and exp of less than -745 is 0. Subtract the largest number of "
        "the row first, or call softmax, log_softmax or logsigmoid."
    )


def _has_numbers(tensor: Tensor) -> bool:
    return tensor.is_floating_point() and bool(tensor.numel())


def _list_features(exercise: Exercise, trial: Trial) -> Iterator[tuple[str, bool]]:
    """Yield features of a case in words that fit after "every case", and whether it has them."""
    case = trial.case
    options: dict[str, Any] = {**case.init_arguments, **case.extra_arguments}
    for name, value in options.items():
        if isinstance(value, str | bool):
            yield f"with {name}={value!r}", True
    for name in exercise.axes:
        if name in case.inputs or options.get(name, "") is None:
            yield f"with {name}", name in case.inputs
            yield f"without {name}", name not in case.inputs
    for name, tensor in case.inputs.items():
        if exercise.axes.get(name, "").startswith("..."):
            yield f"in which {name} has {tensor.dim()} axes", True
        if tensor.dtype == torch.bool and tensor.dim():
            yield f"in which {name} has a row of False only", bool((~tensor).all(-1).any())
            yield f"in which {name} has a False", not tensor.all()
    sizes = name_sizes(exercise, case, dict(trial.expected.outputs))
    for label, what in _SIZES.items():
        if label in sizes:
            yield f"with more than one {what}", sizes[label] > 1
            yield f"with only one {what}", sizes[label] == 1


def _find_constant_axis(exercise: Exercise, name: str, exact: Sequence[Trial]) -> str:
    """Return the word for an axis whose first position is the same in all cases, or ""."""
    axes = exercise.axes.get(name, "").split()
    rights = [t.expected.outputs[name] for t in exact if name in t.expected.outputs]
    for axis, label in enumerate(axes):
        if (
            label in _SIZES
            and label != "B"
            and all(r.dim() == len(axes) for r in rights)
            and not _differ([r.select(axis, 0) for r in rights if r.shape[axis]])
        ):
            return _SIZES[label]
    return ""


_LARGE = 700.0  # exp of this, or of its negative, leaves the range of float64
_SIZES = {
    "B": "row in the batch",
    "T": "target position",
    "N": "position",
    "S": "source position",
    "heads": "head",
    "h": "head",
}


def locate_positions(
    exercise: Exercise, name: str, pairs: Sequence[FailedOutput], _: Sequence[Trial]
) -> str:
    """Return a sentence about the positions at which a result is wrong, or ""."""
    axes = exercise.axes.get(name, "").split()
    for axis, label in enumerate(axes):
        if label not in POSITION_AXES or any(p.expected.dim() != len(axes) for p in pairs):
            continue
        long = [p for p in pairs if p.expected.shape[axis] > 1]
        steps = [
            p.wrong.movedim(axis, 0).reshape(p.wrong.shape[axis], -1).any(-1) for p in long
        ]  # (T,)
        if not steps:
            continue
        if all(not step[0] and step[1] for step in steps) and _varies(long, axis):
            return (
                f"The result {name} is right at the first position along {label} and wrong from "
                "the second."
            )
        if all(step[0] and not step[1:].any() for step in steps):
            return (
                f"The result {name} is wrong at the first position along {label} alone: look at "
                "what it begins with."
            )
        if all(step[-1] and not step[:-1].any() for step in steps):
            return f"The result {name} is wrong at the last position along {label} alone."
    return ""


def _varies(pairs: Sequence[FailedOutput], axis: int) -> bool:
    """Return whether the expected first position differs from case to case.

    If it is always the same, as a sinusoid at position 0, being right there means nothing.
    """
    return _differ([p.expected.select(axis, 0) for p in pairs])


def _differ(tensors: Sequence[Tensor]) -> bool:
    """Return whether tensors of the same number of axes, or their rows, differ from one another."""
    rows = [row for tensor in tensors for row in (tensor if tensor.dim() > 1 else [tensor])]
    shortest = min((row.shape[-1] for row in rows if row.dim()), default=0)
    cut = [row[..., :shortest] if row.dim() else row for row in rows]
    return any(not are_close(row, cut[0], TIGHT) for row in cut[1:])


def locate_components(
    exercise: Exercise, name: str, pairs: Sequence[FailedOutput], _: Sequence[Trial]
) -> str:
    """Return a sentence about the components, along the last axis, that are wrong, or ""."""
    label = (exercise.axes.get(name, "").split() or [""])[-1]
    if label in POSITION_AXES or label in ("", "B", "...") or any(p.wrong.dim() < 2 for p in pairs):
        return ""
    columns = [p.wrong.flatten(0, -2).any(0) for p in pairs if p.wrong.shape[-1] > 1]
    if max(map(len, columns), default=0) < 4:  # the halves of two are also its first and its last
        return ""
    for words, choose in _COMPONENTS.items():
        if all(
            torch.equal(wrong, choose(torch.arange(len(wrong)), len(wrong))) for wrong in columns
        ):
            return f"In {name}, {words.format(label)}; all others are right."
    first = [int(wrong.int().argmax()) for wrong in columns]
    if len(set(first)) == 1 and first[0] and all(wrong[first[0] :].all() for wrong in columns):
        right = {1: "component 0 is", 2: "components 0 and 1 are"}.get(
            first[0], f"components 0 to {first[0] - 1} are"
        )
        return f"In {name}, {right} right, and all later ones along {label} are wrong."
    return ""


_COMPONENTS: dict[str, Callable[[Tensor, int], Tensor]] = {
    "the first half of the {} components is wrong": lambda i, n: (i < n // 2) & (n % 2 == 0),
    "the second half of the {} components is wrong": lambda i, n: (i >= n // 2) & (n % 2 == 0),
    "components 0, 2, 4, ... along {} are wrong": lambda i, n: i % 2 == 0,
    "components 1, 3, 5, ... along {} are wrong": lambda i, n: i % 2 == 1,
    "only the first component along {} is wrong": lambda i, n: i == 0,
    "only the last component along {} is wrong": lambda i, n: i == n - 1,
}


def locate_diagonal(
    exercise: Exercise, name: str, pairs: Sequence[FailedOutput], _: Sequence[Trial]
) -> str:
    """Return a sentence about a square matrix that is wrong on one side of its diagonal, or ""."""
    axes = exercise.axes.get(name, "").split()
    if len(axes) < 2 or axes[-1] != axes[-2]:
        return ""
    squares = [p.wrong for p in pairs if p.wrong.dim() > 1 and p.wrong.shape[-1] > 1]
    for words, choose in _TRIANGLES.items():
        if squares and all(torch.equal(wrong, choose(wrong)) for wrong in squares):
            return f"The result {name} is wrong {words}, and right elsewhere."
    return ""


_TRIANGLES: dict[str, Callable[[Tensor], Tensor]] = {
    "on its diagonal": lambda x: torch.ones_like(x).tril() & torch.ones_like(x).triu(),
    "above its diagonal": lambda x: torch.ones_like(x).triu(1),
    "below its diagonal": lambda x: torch.ones_like(x).tril(-1),
}
