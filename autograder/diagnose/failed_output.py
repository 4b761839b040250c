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


def _list_axes(axes: str, dims: int) -> Sequence[str]:
    """Return the name of each axis of a tensor, "" for those that "..." covers, or nothing."""
    names = axes.split()
    if names[:1] == ["..."] and dims >= len(names) - 1:
        names = [""] * (dims - len(names) + 1) + names[1:]
    return names if len(names) == dims else ()
