"""Runs one submitted notebook in the sandbox and tries its answers on the cases.

Whatever a student's code does to this process, it can only change the numbers that are sent.
Another process, which knows the expected values, judges them.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from autograder.checking.checker import explain_unusable
from autograder.run.forbidden_ops import (
    ForbiddenCallRecorder,
    disable_kernel_access,
    forbid_operators,
)
from autograder.run.runner import run_case
from autograder.sandbox import cell_runner as shells
from autograder.sandbox import isolation
from autograder.sandbox.framing import Channel
from autograder.sandbox.serialization import DTYPES, SENTENCE_AT_MOST, serialize_outcomes
from autograder.spec.exercise import Case, Exercise
from autograder.spec.outcome import Outcome


@dataclass
class ExerciseCases:
    """The exercises, and the cases on which answers are tried, by the names that cells use."""

    exercises: Mapping[str, Exercise] = field(default_factory=dict)
    cases: Mapping[str, Sequence[Case]] = field(default_factory=dict)


def run_notebook(
    job: Mapping[str, Any], tests: ExerciseCases, shell: shells.GradingShell, channel: Channel
) -> None:
    """Run the cells of a job in order, and try the answer at each exercise.

    An answer that is defined only after its check is tried again at the end.

    Args:
        job: `cells`, a list of {"index", "source"} or {"index", "exercise", "cases"}; `skip`, the
            indexes of cells that stopped the process in an earlier attempt; and `limits`, the
            fields of `isolation.Limits`.
        tests: exercises and cases on which answers are tried.
        shell: shell that runs the cells.
        channel: channel to which outputs and outcomes are sent.
    """
    skip, limits = set(job["skip"]), isolation.Limits(**job["limits"])
    again: list[tuple[Mapping[str, Any], Any]] = []
    for cell in job["cells"]:
        if cell["index"] in skip:
            continue
        channel.send({"at": cell["index"]})
        if "exercise" not in cell:
            outputs = shells.run_cell(shell, cell["source"])
            if not isolation.has_free_memory(limits):
                os._exit(isolation.OUT_OF_MEMORY)
            channel.send({"cell": cell["index"], "outputs": _sendable(outputs)})
        elif not _try(cell, tests, shell, channel):
            again.append((cell, shell.user_ns.get(cell["exercise"])))
    for cell, before in again:
        if shell.user_ns.get(cell["exercise"]) is not before:
            channel.send({"at": cell["index"]})
            _try(cell, tests, shell, channel)
    channel.send({"end": True})


def _sendable(outputs: list[shells.Output]) -> list[shells.Output]:
    """Return as many of the first outputs as safely fit into a frame."""
    size, kept = 0, []
    for output in outputs:
        size += sum(len(str(value)) for value in output.values())
        if size > 4 << 20:
            break
        kept.append(output)
    return kept


def _try(
    cell: Mapping[str, Any], tests: ExerciseCases, shell: shells.GradingShell, channel: Channel
) -> bool:
    """Try an answer, send the outcomes, and return whether there was an answer to try."""
    exercise = tests.exercises[cell["exercise"]]
    answer = shell.user_ns.get(exercise.name)
    if answer is None:
        channel.send({"exercise": cell["index"], "answer": "missing"})
        return False
    if sentence := explain_unusable(answer, exercise):
        why = {"answer": "unusable", "sentence": sentence[:SENTENCE_AT_MOST]}
        channel.send({"exercise": cell["index"], **why})
        return False
    with forbid_operators(exercise) as recorder:
        outcomes = list(_perform_all(answer, exercise, tests.cases[cell["cases"]], recorder))
        header, tensors = serialize_outcomes(outcomes)
        if recorder.problem:  # may be recorded late, by a thread or a Tensor subclass
            forbidden = Outcome(problem=recorder.problem)
            header, tensors = serialize_outcomes((n, name, forbidden) for n, name, _ in outcomes)
    channel.send({"exercise": cell["index"], "answer": "tried", "outcomes": header}, tensors)
    return not any(_unwritten(outcome) for _, _, outcome in outcomes)


def _perform_all(
    answer: Any, exercise: Exercise, cases: Sequence[Case], recorder: ForbiddenCallRecorder
) -> Iterator[tuple[int, str, Outcome]]:
    for number, case in enumerate(cases):
        for name, dtype in DTYPES.items():
            outcome = run_case(answer, exercise, case, dtype, recorder)
            yield number, name, outcome
            if _unwritten(outcome):
                return


def _unwritten(outcome: Outcome) -> bool:
    return outcome.problem is not None and outcome.problem[0] == "unwritten"


def place_files(names: Sequence[str], contents: Mapping[str, Any], folder: str) -> None:
    """Write the student's other files into the working folder.

    Args:
        names: names of the files; each is a single path component, without a folder.
        contents: uint8 tensors by the file's number in `names`; an empty file has no tensor.
        folder: the working folder, which becomes the current folder.
    """
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    for number, name in enumerate(names):
        path = os.path.join(folder, os.path.basename(name))
        content = contents.get(str(number))
        # Skip a file with an impossible name; the student's code will find it missing.
        with contextlib.suppress(OSError, ValueError), open(path, "wb") as page:
            page.write(b"" if content is None else bytes(content.numpy()))
    sys.path.insert(0, folder)


def reset_process_state() -> None:
    """Put the process into the state in which a Jupyter kernel starts."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    disable_kernel_access()
