"""One output of a failing trial, and the names of the sizes in a case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from autograder.diagnose.compare import are_close
from autograder.diagnose.trial import Trial
from autograder.spec.exercise import Case, Exercise

POSITION_AXES = frozenset({"T", "S", "N", "L", "M", "Q", "K"})
TIGHT = 1e-6


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
            mine[self.valid_mask], self.expected[self.valid_mask], TIGHT
        )

    @property
    def wrong(self) -> Tensor:
        """Return a bool mask of the wrong entries."""
        near = torch.isclose(self.actual, self.expected, rtol=1e-5, atol=1e-5, equal_nan=True)
        return ~near & self.valid_mask


def name_sizes(exercise: Exercise, case: Case, outputs: dict[str, Tensor]) -> dict[str, int]:
    """Return the sizes in a case by name: its axes, and numbers such as `model_size` or `heads`.

    Args:
        exercise: the exercise, which names the axes.
        case: the case.
        outputs: outputs whose axes have names, too.
    """
    given = {**case.init_arguments, **case.extra_arguments}
    sizes = {n: v for n, v in given.items() if isinstance(v, int) and not isinstance(v, bool)}
    for name, tensor in {**case.weights, **case.inputs, **outputs}.items():
        axes = _list_axes(exercise.axes.get(name, ""), tensor.dim())
        sizes |= dict(zip(axes, tensor.shape, strict=True)) if axes else {}
    return {name: size for name, size in sizes.items() if name and not name[0].isdigit()}


def name_shape(exercise: Exercise, case: Case, name: str, actual: Tensor, right: Tensor) -> str:
    """Return the shape of a wrong output with the names of the sizes that it has: (B=4, N=5).

    A size that several axes have in this case, and 1, get no name.
    """
    names = group_names_by_size(exercise, case, {name: right})
    same = actual.dim() == right.dim()
    own = _list_axes(exercise.axes.get(name, ""), right.dim()) or [""] * right.dim()
    words = []
    for axis, size in enumerate(actual.shape):
        found = names.get(size, [])
        if same and size == right.shape[axis]:
            found = [own[axis]] if own[axis] and not own[axis].isdigit() else []
        words.append(f"{found[0]}={size}" if len(found) == 1 and size > 1 else str(size))
    return f"({', '.join(words)}{',' if len(words) == 1 else ''})"


def count_ambiguous_sizes(exercise: Exercise, case: Case, name: str, right: Tensor) -> int:
    """Return the number of an output's axes whose size is 1 or that of another axis too."""
    names = group_names_by_size(exercise, case, {name: right})
    return sum(size == 1 or len(names.get(size, [])) > 1 for size in right.shape)


def group_names_by_size(
    exercise: Exercise, case: Case, outputs: dict[str, Tensor]
) -> dict[int, list[str]]:
    """Return the names of each size in a case, as `name_sizes` gives them."""
    names: dict[int, list[str]] = {}
    for name, size in name_sizes(exercise, case, outputs).items():
        names.setdefault(size, []).append(name)
    return names


def _list_axes(axes: str, dims: int) -> Sequence[str]:
    """Return the name of each axis of a tensor, "" for those that "..." covers, or nothing."""
    names = axes.split()
    if names[:1] == ["..."] and dims >= len(names) - 1:
        names = [""] * (dims - len(names) + 1) + names[1:]
    return names if len(names) == dims else ()
