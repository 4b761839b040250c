"""Finds the tensor of a right answer that holds the same numbers as a given one."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

_LOWEST = -9e3  # what fills masked scores differs; all numbers below this are one value
_TOLERANCE = 1e-6
_AXES_AT_MOST = 5


@dataclass
class Stage:
    """A tensor on the way of a right answer.

    Attributes:
        label: its name for a student, or "".
        value: its numbers, float64.
        parents: indexes of the stages from which it is computed.
        operation: name of torch's operation; "" for an input or parameter.
        is_route: whether it lies on another way to a stage, which right answers may take.
    """

    label: str
    value: np.ndarray
    parents: tuple[int, ...] = ()
    operation: str = ""
    is_route: bool = False
    reduced: np.ndarray = field(init=False, repr=False)
    ordered: np.ndarray = field(init=False, repr=False)
    informative: bool = field(init=False)

    def __post_init__(self) -> None:
        self.reduced = reduce_axes(self.value)
        self.ordered = np.sort(self.reduced, axis=None)
        self.informative = is_informative(self.reduced)


class Kind(Enum):
    """How a tensor relates to a stage."""

    EQUAL = "the same numbers, up to the order of the axes"
    RESHAPED = "the same numbers in the same order, cut into other axes"
    MASKED = "the same numbers where they count"
    PART = "a part of it, or parts of several"
    NEGATED = "the same numbers with the other sign"
    SCALED = "the same numbers times a factor"
    PLAIN = "too few different numbers to tell"
    UNKNOWN = "none"


@dataclass(frozen=True)
class Match:
    """The stage that a tensor matches, and how."""

    kind: Kind
    stage: int | None = None
    factor: float = 1.0


def reduce_axes(value: np.ndarray) -> np.ndarray:
    """Return a value without axes of size 1 or along which nothing changes."""
    value = np.where(value <= _LOWEST, -np.inf, value)
    for axis in range(value.ndim):
        if value.shape[axis] > 1:
            first = value.take([0], axis)
            if np.array_equal(np.broadcast_to(first, value.shape), value, equal_nan=True):
                value = first
    return value.squeeze()


def _tell(value: np.ndarray) -> np.ndarray:
    """Return a bool array of the numbers that do not agree by chance: no 0, 1, 0.25 ..., inf."""
    scaled = np.where(np.isfinite(value), value * 64, 0.0)
    return np.isfinite(value) & (np.abs(scaled - np.round(scaled)) > 1e-7)


def is_informative(value: np.ndarray) -> bool:
    """Return whether a value can be recognised by its numbers."""
    return bool(_tell(value).any())


def _is_close(one: np.ndarray, other: np.ndarray) -> bool:
    if one.shape != other.shape:
        return False
    finite = np.abs(other[np.isfinite(other)])
    scale = max(1e-3, float(finite.max())) if finite.size else 1.0
    return bool(np.allclose(one, other, rtol=0, atol=_TOLERANCE * scale, equal_nan=True))


class StageIndex:
    """The stages of a right answer on one case, to look tensors up.

    Args:
        stages: the stages, in the order of computation, and other routes behind them.
        masks: masks over the leading axes of tensors; what stands elsewhere does not count.
    """

    def __init__(self, stages: Sequence[Stage], masks: Sequence[np.ndarray] = ()):
        self.stages = stages
        self._masks = [mask for mask in masks if mask.ndim == 2 and not mask.all()]
        self._by_size: dict[int, list[int]] = {}
        for i, stage in enumerate(stages):
            self._by_size.setdefault(stage.reduced.size, []).append(i)

    def match(self, value: np.ndarray | None) -> Match:
        """Return the best match of a tensor, or one of kind UNKNOWN or PLAIN."""
        if value is None or not value.size:
            return Match(Kind.PLAIN)
        mine = reduce_axes(value)
        same_size = self._by_size.get(mine.size, [])
        if not is_informative(mine):
            equal = next((i for i in same_size if _is_close(mine, self.stages[i].reduced)), None)
            odd = bool(np.isnan(mine).any() or np.isposinf(mine).any())
            return Match(Kind.UNKNOWN if odd and equal is None else Kind.PLAIN, equal)
        telling = [i for i in same_size if self.stages[i].informative]
        ordered = np.sort(mine, axis=None)
        reshaped = None
        for i in telling:
            if _is_close(ordered, self.stages[i].ordered):
                kind = _compare_arrangement(mine, self.stages[i].reduced)
                if kind is Kind.EQUAL:
                    return Match(kind, i)
                reshaped = i if kind is Kind.RESHAPED and reshaped is None else reshaped
        if reshaped is not None:
            return Match(Kind.RESHAPED, reshaped)
        for i, stage in enumerate(self.stages):
            if stage.value.shape == value.shape and self._agrees_where_it_counts(value, stage):
                return Match(Kind.MASKED, i)
        if (part := self._find_part(mine)) is not None:
            return Match(Kind.PART, part)
        for axis in range(mine.ndim):
            pieces = [self._find_part(mine.take(k, axis)) for k in range(mine.shape[axis])]
            if len(pieces) > 1 and None not in pieces:
                return Match(Kind.PART, pieces[0])
        for i in telling:
            factor = _find_factor(mine, self.stages[i].reduced)
            if factor is not None:
                return Match(Kind.NEGATED if factor == -1.0 else Kind.SCALED, i, factor)
        return Match(Kind.UNKNOWN)

    def _agrees_where_it_counts(self, value: np.ndarray, stage: Stage) -> bool:
        for mask in self._masks:
            for axis in range(1, value.ndim):
                if mask.shape == (value.shape[0], value.shape[axis]):
                    mine, right = (np.moveaxis(x, axis, 1)[mask] for x in (value, stage.value))
                    if is_informative(right) and _is_close(mine, right):
                        return True
        return False

    def _find_part(self, mine: np.ndarray) -> int | None:
        """Return the first stage that holds all telling numbers of a value, in its order."""
        wanted = mine[_tell(mine)]
        if not wanted.size or np.isnan(mine).any():
            return None
        for i, stage in enumerate(self.stages):
            if not stage.informative or stage.reduced.size < mine.size:
                continue
            flat = stage.reduced.reshape(-1)
            order = np.argsort(flat)
            margin = _TOLERANCE * np.maximum(1e-3, np.abs(wanted))
            found = np.clip(np.searchsorted(flat[order], wanted - margin), 0, flat.size - 1)
            near = np.abs(flat[order][found] - wanted) <= margin
            if near.all() and (np.diff(order[found]) > 0).all():
                return i
        return None


def _compare_arrangement(one: np.ndarray, other: np.ndarray) -> Kind:
    """Return EQUAL, RESHAPED or UNKNOWN for two values with the same numbers."""
    if _is_close(one, other):
        return Kind.EQUAL
    for mine, right in ((one, other), (other, one)):
        for order in _list_orders(mine.ndim):
            turned = mine.transpose(order)
            if _is_close(turned.reshape(-1), right.reshape(-1)):
                return Kind.EQUAL if turned.shape == right.shape else Kind.RESHAPED
    return Kind.UNKNOWN


def _list_orders(axes: int) -> Iterator[tuple[int, ...]]:
    return itertools.permutations(range(axes)) if axes <= _AXES_AT_MOST else iter(())


def _find_factor(mine: np.ndarray, right: np.ndarray) -> float | None:
    """Return the factor that is all the difference between two values, or None."""
    for turned in (mine, mine.T) if mine.ndim == 2 else (mine,):
        if turned.shape != right.shape or (np.isfinite(turned) != np.isfinite(right)).any():
            continue
        compared = np.isfinite(right) & (np.abs(right) > 1e-12)
        if (np.abs(turned[np.isfinite(right) & ~compared]) > 1e-12).any():
            continue
        ratios = turned[compared] / right[compared]
        if ratios.size > 2 and abs(ratios[0]) > 1e-9 and np.allclose(ratios, ratios[0], 1e-6):
            return -1.0 if abs(ratios[0] + 1) < 1e-6 else float(ratios[0])
    return None
