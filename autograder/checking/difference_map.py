"""Draws which numbers of a result are wrong, as a map with one square for each number."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

import torch
from torch import Tensor

from autograder.checking.card import FAILED, PASSED
from autograder.diagnose.marked_numbers import NOT_COUNTED, RIGHT, measure_errors
from autograder.diagnose.trial import Trial
from autograder.spec.exercise import Exercise

_SQUARE, _GAP = 9, 10  # pixels
_MAX_ROWS, _MAX_COLUMNS = 48, 72  # columns of all grids together
_FEWEST = 12  # numbers; fewer show no pattern


def draw_difference_map(exercise: Exercise, trials: Sequence[Trial], shown: Trial) -> str:
    """Return a map of an answer's wrong numbers as HTML, or "" where it would say nothing.

    It shows the largest failing case whose result still fits: a card's text shows the smallest,
    where there is no pattern to see. The last axis runs from left to right, the one before it from
    top to bottom; each index of the axes before these has a grid of its own.

    Args:
        exercise: the exercise.
        trials: all trials.
        shown: the trial that the text shows; the map is of the same output.
    """
    fault = shown.difference
    if fault is None or fault.kind not in ("value", "finite", "gradient"):
        return ""
    if fault.name in (*shown.case.random_outputs, *shown.case.non_tensors):
        return ""
    found: tuple[Trial, Tensor] | None = None
    for trial in trials:
        other = trial.difference
        if other is None or (other.kind, other.name) != (fault.kind, fault.name):
            continue
        errors = measure_errors(other)
        if errors is None or errors.dim() < 2 or not _fits(errors):
            continue
        if found is None or errors.numel() > found[1].numel():
            found = trial, errors
    if found is None:
        return ""
    trial, errors = found
    wrong, counted = int((errors > RIGHT).sum()), int((errors != NOT_COUNTED).sum())
    if wrong in (0, counted) or counted < _FEWEST:
        return ""
    uncounted = ", empty does not count" if counted < errors.numel() else ""
    what = f"the gradient of {fault.name}" if fault.kind == "gradient" else fault.name
    told = f"{wrong} of {counted} numbers of {what} {exercise.shape(fault.name, errors)} differ"
    return (
        f'<div style="margin-top:.5em">{_draw_grids(errors, told)}<div style="font-size:.85em">'
        f"Case “{html.escape(trial.case.name.rstrip('.'))}”: {html.escape(told)} (orange; the "
        f"stronger, the more). Green agrees{uncounted}.</div></div>"
    )


def _as_grids(errors: Tensor) -> Tensor:
    return errors.reshape(-1, *errors.shape[-2:])


def _fits(errors: Tensor) -> bool:
    count, rows, columns = _as_grids(errors).shape
    return rows <= _MAX_ROWS and count * columns <= _MAX_COLUMNS


def _draw_grids(errors: Tensor, told: str) -> str:
    grids = _as_grids(errors)
    count, rows, columns = grids.shape
    step = columns * _SQUARE + _GAP
    paths: dict[str, list[str]] = {}  # the squares of each paint, in one path to keep cards small
    for panel, row, column in torch.cartesian_prod(*map(torch.arange, grids.shape)).tolist():
        x, y, side = panel * step + column * _SQUARE, row * _SQUARE, _SQUARE - 1
        square = f"M{x} {y}h{side}v{side}h-{side}z"
        paths.setdefault(_choose_paint(grids[panel, row, column].item()), []).append(square)
    squares = "".join(f'<path {paint} d="{"".join(d)}"/>' for paint, d in paths.items())
    width, height = count * step - _GAP, rows * _SQUARE
    return (
        f'<svg role="img" aria-label="{html.escape(told, quote=True)}" width="{width}" '
        f'height="{height}" viewBox="-1 -1 {width + 1} {height + 1}" '
        f'style="max-width:100%;display:block">{squares}</svg>'
    )


def _choose_paint(error: float) -> str:
    """Return the SVG attributes of a square; the square root keeps small errors visible."""
    if error == NOT_COUNTED:
        return 'fill="none" stroke="currentColor" stroke-opacity=".35" stroke-width=".5"'
    if error == RIGHT:
        return f'fill="{PASSED}" fill-opacity=".35"'
    return f'fill="{FAILED}" fill-opacity="{0.35 + 0.65 * math.sqrt(error):.1f}"'
