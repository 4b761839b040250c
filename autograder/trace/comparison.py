"""Finds the line up to which an answer has a correct answer's values, and where they diverge.

What counts is the flow of data, not the order of lines: a tensor that no right answer has is still
right if a tensor that one has is computed from it. The first wrong one has only right ones behind
it. It explains a verdict and never makes one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from autograder.diagnose.compare import are_close
from autograder.spec.exercise import Case
from autograder.trace.matching import Kind, Match, Stage, StageIndex
from autograder.trace.recording import Record, Recording
from autograder.trace.routes import list_routes

ON_THE_WAY = "on the way to "  # begins the name of a value without a variable
_SURE = {Kind.EQUAL, Kind.MASKED}
# Operations that choose or arrange numbers and compute nothing.
_ARRANGING = {
    *("chunk", "split", "tensor_split", "unbind", "__iter__", "__getitem__", "select", "narrow"),
    *("view", "reshape", "flatten", "unflatten", "transpose", "permute", "movedim", "swapaxes"),
    *("unsqueeze", "squeeze", "expand", "expand_as", "contiguous", "clone", "__get__", "t"),
}
_LIKELY = {*_SURE, Kind.RESHAPED, Kind.PART, Kind.NEGATED}


@dataclass(frozen=True)
class Trace:
    """What a comparison has found.

    Attributes:
        reached: records whose values a right answer has, each with its name there.
        first: the first record whose value no right answer has, or that is returned in place of
            another.
        since: the first record behind the last one that is surely right; the mistake is between it
            and `first`.
        related: the name of the stage that `first` equals, or is a multiple of, or "".
        match: how `first` relates to it.
        output: name of the result for which `first` is returned, or "".
        label: name of what a right answer has next, or "".
        following: its value, or None.
        problem: the sentence about the error that ended the run, or "".
    """

    reached: tuple[tuple[Record, str], ...]
    first: Record | None
    since: Record | None
    related: str
    match: Match
    output: str
    label: str
    following: np.ndarray | None
    problem: str


def build_stages(recording: Recording) -> list[Stage]:
    """Return the stages of the solution: all that its own lines have computed."""
    labels = _label_records(recording)
    kept: dict[int, int] = {}  # index of a record: index of its stage
    stages: list[Stage] = []
    for i, record in enumerate(recording.records):
        if record.value is not None and record.value.size and not record.inside:
            parents = tuple(sorted({kept[p] for p in _list_kept(recording, record.parents, kept)}))
            kept[i] = len(stages)
            stages.append(Stage(labels.get(i, ""), record.value, parents, record.operation))
    return stages


def _list_kept(
    recording: Recording, parents: Iterable[int], kept: Mapping[int, int]
) -> Iterable[int]:
    """Yield the nearest ancestors that are kept."""
    for parent in parents:
        if parent in kept:
            yield parent
        else:
            yield from _list_kept(recording, recording.records[parent].parents, kept)


def _label_records(recording: Recording) -> dict[int, str]:
    """Return the names of tensors: a variable's, a result's, or that of what it becomes."""
    records = recording.records
    labels = {i: record.names[0] for i, record in enumerate(records) if record.names}
    for name, i in recording.outputs.items():
        labels.setdefault(i, name)
    for i, record in reversed(list(enumerate(records))):
        if i in labels:
            later = labels[i].removeprefix(ON_THE_WAY)
            for parent in record.parents:
                labels.setdefault(parent, f"{ON_THE_WAY}{later}")
    return labels


def compare_recording(
    recording: Recording, stages: Sequence[Stage], case: Case, expected: Mapping[str, Tensor]
) -> Trace | None:
    """Compare an answer's recording with the solution's stages, or return None if it says nothing.

    Args:
        recording: what the answer has computed on the case.
        stages: the solution's stages on the same case.
        case: the case.
        expected: the expected outputs.
    """
    index = StageIndex(
        [*stages, *list_routes(stages)], [mask.numpy() for mask in case.valid_masks.values()]
    )
    return _Comparison(recording, index, case, expected).explain()


class _Comparison:
    """One comparison; `explain` returns its result."""

    def __init__(
        self, recording: Recording, index: StageIndex, case: Case, expected: Mapping[str, Tensor]
    ):
        self._recording, self._records = recording, recording.records
        self._index, self._stages = index, index.stages
        self._wrong = [
            name
            for name, i in recording.outputs.items()
            if name in expected and not self._is_right(name, i, case, expected[name])
        ]
        # Where the wrong result is itself a mask or made of whole numbers, these count.
        self._plain_counts = bool(self._wrong) and all(
            not Stage("", expected[name].double().numpy()).informative for name in self._wrong
        )
        self._matches = [
            Match(Kind.PLAIN) if record.inside else self._match(record) for record in self._records
        ]
        self._children: dict[int, list[int]] = {}
        for i, record in enumerate(self._records):
            for parent in record.parents:
                self._children.setdefault(parent, []).append(i)

    def _match(self, record: Record) -> Match:
        match = self._index.match(record.value)
        empty = record.value is None or not record.value.size
        if match.kind is Kind.PLAIN and self._plain_counts and not empty:
            return Match(Kind.UNKNOWN if match.stage is None else Kind.EQUAL, match.stage)
        return match

    def _is_right(self, name: str, i: int, case: Case, right: Tensor) -> bool:
        value = self._records[i].value
        if value is None or value.shape != right.shape:
            return False
        mask = case.valid_masks.get(name)
        mine, wanted = torch.from_numpy(value), right.double()
        if mask is not None:
            mine, wanted = mine[mask], wanted[mask]
        return are_close(mine, wanted, 1e-5)

    def explain(self) -> Trace | None:
        """Return what the comparison finds, or None."""
        sure, likely = self._settle(_SURE), self._settle(_LIKELY)
        ends = [self._recording.outputs[name] for name in self._wrong]
        if self._recording.problem:
            ends = list(range(len(self._records)))
        path = self._list_ancestors(ends)
        first = next((i for i in sorted(path) if self._is_first_wrong(i, likely)), None)
        if self._comes_from_outside(path):
            return None
        reached = self._list_reached(path)
        if first is None:
            return self._explain_result(reached)
        since, pending = first, [first]
        while pending:
            i = pending.pop()
            since = min(since, i)
            pending += [
                p
                for p in self._records[i].parents
                if not sure[p] and not self._is_plain(p) and not self._records[p].is_given
            ]
        match = self._matches[first]
        following = self._find_following(self._records[first].parents)
        return Trace(
            reached,
            self._records[first],
            self._records[since],
            self._get_label(match) if match.kind is Kind.SCALED else "",
            match,
            "",
            "" if following is None else following.label,
            None if following is None else following.value,
            self._recording.problem,
        )

    def _settle(self, kinds: set[Kind]) -> list[bool]:
        """Return which records are right: those that match, and all from which such are made."""
        right = [False] * len(self._records)
        for i in reversed(range(len(self._records))):
            right[i] = (
                self._records[i].is_given
                or self._matches[i].kind in kinds
                or any(right[c] and not self._is_plain(c) for c in self._children.get(i, ()))
            )
        if kinds is _LIKELY:  # a part of what is right although no right answer has it as a whole
            for i, record in enumerate(self._records):
                right[i] |= record.operation in _ARRANGING and any(
                    right[p] and self._matches[p].kind is Kind.UNKNOWN for p in record.parents
                )
        return right

    def _is_plain(self, i: int) -> bool:
        return self._matches[i].kind is Kind.PLAIN

    def _is_first_wrong(self, i: int, right: Sequence[bool]) -> bool:
        record = self._records[i]
        return (
            not right[i]
            and not self._is_plain(i)
            and all(right[p] or self._is_plain(p) for p in record.parents)
        )

    def _comes_from_outside(self, path: set[int]) -> bool:
        """Return whether a tensor on the path was made of numbers that had left torch."""
        return self._recording.leaves_torch and any(
            not self._records[i].parents
            and not self._records[i].is_given
            and self._matches[i].kind not in (*_LIKELY, Kind.PLAIN)
            for i in path
        )

    def _list_ancestors(self, ends: Iterable[int]) -> set[int]:
        found: set[int] = set()
        pending = list(ends)
        while pending:
            i = pending.pop()
            if i not in found:
                found.add(i)
                pending += self._records[i].parents
        return found

    def _list_reached(self, path: set[int]) -> tuple[tuple[Record, str], ...]:
        """Return what is right on the path and has a name; of each name the last."""
        found: dict[str, tuple[Record, str]] = {}
        for i in sorted(path):
            record, match = self._records[i], self._matches[i]
            label = self._get_label(match)
            if match.kind in _SURE and not record.is_given and label:
                if record.operation in _ARRANGING and label in found:
                    continue  # the line that computed it says more
                found.pop(label, None)
                found[label] = record, label
        return tuple(found.values())

    def _get_label(self, match: Match) -> str:
        stage = None if match.stage is None else self._stages[match.stage]
        if stage is None or not stage.operation:
            return ""
        if stage.is_route:
            label = self._stages[stage.parents[0]].label.removeprefix(ON_THE_WAY)
            return f"{ON_THE_WAY}{label}" if label else ""
        return stage.label

    def _find_following(self, parents: Sequence[int]) -> Stage | None:
        """Return the stage that a right answer computes next from what the answer has."""
        matched = [self._matches[p].stage for p in parents]
        held = [stage for stage in matched if stage is not None]
        for stage in held:  # on another route to this one
            if self._stages[stage].is_route:
                return self._stages[self._stages[stage].parents[0]]
        done = self._list_done()
        waiting = [
            (i, stage)
            for i, stage in enumerate(self._stages)
            if i not in done and stage.informative and stage.operation and not stage.is_route
        ]
        beside = [pair for pair in waiting if set(held) & set(pair[1].parents)]
        ready = [
            pair
            for pair in waiting
            if all(
                p in done or not self._stages[p].operation or not self._stages[p].informative
                for p in pair[1].parents
            )
        ]
        found = beside or ready
        return found[0][1] if found else None

    def _list_done(self) -> set[int]:
        """Return the stages that the answer has, or has gone past."""
        done: set[int] = set()
        pending = [m.stage for m in self._matches if m.kind in _SURE and m.stage is not None]
        while pending:
            i = pending.pop()
            if i not in done and not self._stages[i].is_route:
                done.add(i)
                pending += self._stages[i].parents
        return done

    def _explain_result(self, reached: tuple[tuple[Record, str], ...]) -> Trace | None:
        """Return what is returned in place of a result, if that is all that is wrong."""
        if self._recording.problem:
            following = self._find_following(())
            label, value = (following.label, following.value) if following else ("", None)
            problem = self._recording.problem
            return Trace(reached, None, None, "", Match(Kind.UNKNOWN), "", label, value, problem)
        for name in self._wrong:
            record = self._records[self._recording.outputs[name]]
            match = self._matches[self._recording.outputs[name]]
            label = self._get_label(match)
            # Right numbers in another shape: the headline says that.
            if match.kind in _LIKELY and label and label.removeprefix(ON_THE_WAY) != name:
                return Trace(reached, record, record, label, match, name, name, None, "")
        return None
