"""Proposes changes of one argument of a case that show whether a result depends on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from autograder.spec import byte_codec
from autograder.spec.exercise import Case


@dataclass(frozen=True)
class ArgumentChange:
    """A case in which one argument has changed.

    Attributes:
        argument: name of the argument.
        case: the changed case, without gradients.
        condition: the change, in words that follow "stays the same when".
    """

    argument: str
    case: Case
    condition: str


def propose_changes(case: Case, others: Sequence[Case]) -> Iterator[ArgumentChange]:
    """Yield changes of each argument whose influence no gradient shows, the most telling first.

    Whether a right answer accepts the changed argument is for the caller to find out.

    Args:
        case: the case to change.
        others: the exercise's cases; what they pass for an argument is tried, too.
    """
    has_gradients = bool(case.upstream)
    case = replace(case, upstream={})
    few = case.inputs if len(case.inputs) <= _FEW else {}  # a checkpoint's tensors are many
    for name, tensor in few.items():
        if tensor.numel() and not (has_gradients and tensor.is_floating_point()):
            for changed, condition in _change_tensor(name, tensor):
                if not torch.equal(changed, tensor):
                    inputs = dict(case.inputs) | {name: changed}
                    yield ArgumentChange(name, replace(case, inputs=inputs), condition)
    for field in ("extra_arguments", "init_arguments"):
        arguments: Mapping[str, Any] = getattr(case, field)
        for name, value in arguments.items():
            seen = [getattr(other, field).get(name) for other in others]
            for changed, how in _change_plain(value, seen):
                condition = f"{name} is {how}"
                whole: dict[str, Any] = {field: dict(arguments) | {name: changed}}
                yield ArgumentChange(name, replace(case, **whole), condition)


def list_changed_outputs(
    case: Case, before: Mapping[str, Tensor], after: Mapping[str, Tensor]
) -> list[str]:
    """Return the outputs that differ between two runs, where they count."""
    return [name for name in before if not _are_same(case, name, before[name], after.get(name))]


def _are_same(case: Case, name: str, before: Tensor, after: Tensor | None) -> bool:
    if after is None or before.shape != after.shape:
        return False
    mask = case.valid_masks.get(name)
    if mask is not None:
        before, after = before[mask], after[mask]
    return torch.allclose(before.double(), after.double(), 1e-9, 1e-12, equal_nan=True)


def _change_tensor(name: str, tensor: Tensor) -> Iterator[tuple[Tensor, str]]:
    if tensor.dtype == torch.bool:
        yield torch.ones_like(tensor), f"all of {name} is True"
        yield torch.zeros_like(tensor), f"all of {name} is False"
    for axis in range(tensor.dim()):
        yield tensor.flip(axis), f"axis {axis} of {name} is in reverse order"
    if tensor.is_floating_point():
        yield tensor / 2, f"{name} is halved"
    elif tensor.dtype != torch.bool:
        yield tensor - 1, f"each number in {name} is smaller by 1"
        yield tensor + 1, f"each number in {name} is larger by 1"


def _change_plain(value: Any, seen: Sequence[Any]) -> Iterator[tuple[Any, str]]:
    """Yield other values of the same type, each with words that follow "is"."""
    if isinstance(value, list):
        if value:
            yield value[::-1], "in reverse order"
            yield value[:-1], "without its last member"
        return
    others: list[Any] = []
    if isinstance(value, bool):
        others = [not value]
    elif isinstance(value, int):
        # Doubled first: an odd size means nothing where components come in pairs.
        others = [n for n in (2 * value, value + 1, value - 1, value // 2) if n >= 0 and n != value]
    elif isinstance(value, float):
        others = [value / 2, 2 * value, value + 0.25]
    if isinstance(value, (int, float, str)):
        others += [other for other in seen if type(other) is type(value) and other != value]
    for other in others:
        yield other, f"{byte_codec.show(other)} instead of {byte_codec.show(value)}"


_FEW = 24
