"""Runs one notebook and tries its answers on the cases: what happens behind all walls.

Whatever a student's code does to this process, it can only change the numbers that are sent, and
those are judged elsewhere by somebody who knows the right ones.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from autograder.checking import unusable
from autograder.exercise import Case
from autograder.exercises import EXERCISES
from autograder.performing import Outcome, perform
from autograder.sandbox import shell as shells
from autograder.sandbox import walls
from autograder.sandbox.plain import DTYPES, pack_outcomes
from autograder.sandbox.wire import Channel

Cases = Mapping[str, Sequence[Case]]


def run(job: Mapping[str, Any], cases: Cases, shell: shells.GradingShell, channel: Channel) -> None:
    """Run the cells of a job in order; where an exercise stands, try the answer.

    An answer that is not there yet where its check stands, because it was written further down, is
    tried again at the end.

    Args:
        job: `cells`, a list of {"index", "source"} or {"index", "exercise", "cases"}; `skip`, the
            indexes that stopped the process in an earlier attempt; and `limits`, those of `walls`.
        cases: by the name that a cell gives.
        shell: runs the cells.
        channel: where the outputs and outcomes go.
    """
    skip, limits = set(job["skip"]), walls.Limits(**job["limits"])
    again: list[tuple[Mapping[str, Any], Any]] = []
    for cell in job["cells"]:
        if cell["index"] in skip:
            continue
        channel.send({"at": cell["index"]})
        if "exercise" not in cell:
            outputs = shells.run_cell(shell, cell["source"])
            if not walls.room_left(limits):
                os._exit(walls.OUT_OF_MEMORY)
            channel.send({"cell": cell["index"], "outputs": _sendable(outputs)})
        elif not _try(cell, cases, shell, channel):
            again.append((cell, shell.user_ns.get(cell["exercise"])))
    for cell, before in again:
        if shell.user_ns.get(cell["exercise"]) is not before:
            channel.send({"at": cell["index"]})
            _try(cell, cases, shell, channel)
    channel.send({"end": True})


def _sendable(outputs: list[shells.Output]) -> list[shells.Output]:
    """Return outputs that surely fit into a frame."""
    size, kept = 0, []
    for output in outputs:
        size += sum(len(str(value)) for value in output.values())
        if size > 4 << 20:
            break
        kept.append(output)
    return kept


def _try(
    cell: Mapping[str, Any], cases: Cases, shell: shells.GradingShell, channel: Channel
) -> bool:
    """Try an answer and send what came back; return whether there was one to try."""
    exercise = EXERCISES[cell["exercise"]]
    answer = shell.user_ns.get(exercise.name)
    if answer is None:
        channel.send({"exercise": cell["index"], "answer": "missing"})
        return False
    if sentence := unusable(answer, exercise):
        channel.send({"exercise": cell["index"], "answer": "unusable", "sentence": sentence})
        return False
    outcomes: list[tuple[int, str, Outcome]] = []
    for number, case in enumerate(cases[cell["cases"]]):
        for name, dtype in DTYPES.items():
            outcome = perform(answer, exercise, case, dtype)
            outcomes.append((number, name, outcome))
            if outcome.problem and outcome.problem[0] == "unwritten":
                _send(cell, outcomes, channel)
                return False
    _send(cell, outcomes, channel)
    return True


def _send(
    cell: Mapping[str, Any], outcomes: list[tuple[int, str, Outcome]], channel: Channel
) -> None:
    header, tensors = pack_outcomes(outcomes)
    answer = {"exercise": cell["index"], "answer": "tried", "outcomes": header}
    channel.send(answer, tensors)


def place_files(files: Mapping[str, Any], folder: str) -> None:
    """Write what else the student handed in into the working folder.

    Args:
        files: uint8 tensors by file name; a name is one part of a path, without any folder.
        folder: the working folder, which becomes the current one.
    """
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    for name, content in files.items():
        path = os.path.join(folder, os.path.basename(name))
        # A file with an impossible name is missing, which is the student's code's to find out.
        with contextlib.suppress(OSError), open(path, "wb") as page:
            page.write(bytes(content.numpy()))
    sys.path.insert(0, folder)


def calm() -> None:
    """Put the process into the state in which a kernel starts."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
