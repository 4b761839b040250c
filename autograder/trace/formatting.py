"""Writes a trace as lines of text for a card."""

from __future__ import annotations

import numpy as np
import torch

from autograder.diagnose.case_formatting import format_rows
from autograder.trace.comparison import ON_THE_WAY, Trace
from autograder.trace.matching import Kind
from autograder.trace.recording import Record

_LINES_AT_MOST = 6  # of those that are right
_CODE_AT_MOST = 70  # characters of an expression


def format_summary(trace: Trace) -> list[str]:
    """Return two or three lines: what is right so far, and where the answer leaves it."""
    place = _choose_places(trace)
    lines = []
    named = [pair for pair in trace.reached if not pair[1].startswith(ON_THE_WAY)]
    if reached := named or list(trace.reached):
        shown = reached[-_LINES_AT_MOST:]
        more = "..., " if len(reached) > len(shown) else ""
        found = ", ".join(f"{label} ({place(record)})" for record, label in shown)
        lines.append(f"Right so far: {more}{found}.")
    if trace.first is not None:
        lines.append(_describe_first(trace))
    return lines


def format_values(trace: Trace, case: str) -> list[str]:
    """Return lines that also show the values, and what a right answer computes next.

    Args:
        trace: the trace.
        case: title of the case.
    """
    place = _choose_places(trace)
    lines = [f"Your values beside those of a right answer, in the case: {case.rstrip('.')}."]
    if trace.reached:
        lines += ["", "You have what a right answer has:"]
        lines += [
            f"  {place.quote(record).rstrip(',')}: {label} {_format_shape(record.value)}"
            for record, label in trace.reached
        ]
    if trace.first is not None:
        lines += ["", _describe_first(trace), *_format_array(trace.first.value)]
    if trace.problem:
        lines += ["", trace.problem.split("\n")[0]]
    if trace.following is not None:
        name = trace.label or "a value"
        lines += ["", f"A right answer next has, {name}, {_format_shape(trace.following)}:"]
        if not name.startswith(ON_THE_WAY):
            lines[-1] = f"A right answer next has {name} {_format_shape(trace.following)}:"
        lines += _format_array(trace.following)
    return lines


def _describe_first(trace: Trace) -> str:
    first, since, match = trace.first, trace.since, trace.match
    assert first is not None and since is not None
    place = _choose_places(trace)
    where = _capitalize(place.quote(first))
    related = trace.related
    if related.startswith(ON_THE_WAY):
        related = f"what a right answer has {related}"
    if trace.output:
        where = where.rstrip(",")
        if match.kind in (Kind.EQUAL, Kind.MASKED):
            return f"{where}: you return {related} as {trace.output}."
        return f"{where}: what you return as {trace.output} has the numbers of {related}."
    if (since.function, since.line) != (first.function, first.line):
        return (
            f"Between {place.quote(since)} and {place.quote(first)} you leave the way of a right "
            "answer."
        )
    said = f"{where} is the first value that a right answer does not have"
    if related:
        return f"{said}: it is {match.factor:.4g} times {related}."
    return f"{said}."


def _choose_places(trace: Trace) -> _Places:
    records = [record for record, _ in trace.reached]
    records += [record for record in (trace.first, trace.since) if record is not None]
    return _Places(len({(record.file, record.function) for record in records}) > 1)


class _Places:
    """Names the place of a record: by its line, and its function if there are several."""

    def __init__(self, several: bool):
        self._several = several

    def __call__(self, record: Record) -> str:
        return f"line {record.line}{f' of {record.function}' if self._several else ''}"

    def quote(self, record: Record) -> str:
        """Return the place with its code, if that can be read."""
        return f"{self(record)}, {_cut(record.code)}," if record.code else self(record)


def _capitalize(text: str) -> str:
    return text[:1].upper() + text[1:]


def _cut(code: str) -> str:
    short = code if len(code) <= _CODE_AT_MOST else f"{code[:_CODE_AT_MOST]} ..."
    return f"`{short}`"


def _format_shape(value: np.ndarray | None) -> str:
    return "" if value is None else str(tuple(value.shape))


def _format_array(value: np.ndarray | None) -> list[str]:
    return [] if value is None else format_rows(torch.from_numpy(value))
