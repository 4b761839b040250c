"""Result of one run of a notebook in the sandbox, and the time limits of a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from autograder.instructor.sanitize import sanitize_line, sanitize_output, sanitize_png

_MAX_OUTPUTS = 60  # per cell


@dataclass(frozen=True)
class TimeLimits:
    """Limits on wall time, in seconds.

    Attributes:
        cell: limit for one cell.
        exercise: limit for all calls of one answer.
        total: limit for one run of a notebook.
        start: limit for the sandbox to start.
    """

    cell: float = 30.0
    exercise: float = 30.0
    total: float = 180.0
    start: float = 120.0


@dataclass
class ProcessEnd:
    """How a submission's process ended.

    Attributes:
        at: index of the cell that was running, or None if the process finished.
        why: "", "time", "memory", "killed", "exit" or "broken".
    """

    at: int | None = None
    why: str = ""


@dataclass
class NotebookRun:
    """Results of one run of a notebook.

    Attributes:
        outputs: outputs of the cells in nbformat's form, by index.
        answers: frame with the outcomes, and its tensors, by index of the graded cell.
        end: how the process ended.
    """

    outputs: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    answers: dict[int, tuple[dict[str, Any], dict[str, Tensor]]] = field(default_factory=dict)
    end: ProcessEnd = field(default_factory=ProcessEnd)


def clean_outputs(given: Any) -> list[dict[str, Any]]:
    """Return the outputs of a cell, rebuilt from plain types and the expected fields only."""
    outputs: list[dict[str, Any]] = []
    for entry in given[:_MAX_OUTPUTS] if isinstance(given, list) else []:
        kind = entry.get("output_type") if isinstance(entry, dict) else None
        if kind == "stream":
            name = "stderr" if entry.get("name") == "stderr" else "stdout"
            outputs.append(
                {"output_type": "stream", "name": name, "text": sanitize_output(entry.get("text"))}
            )
        elif kind == "error":
            lines = entry.get("traceback")
            outputs.append(
                {
                    "output_type": "error",
                    "ename": sanitize_line(entry.get("ename"), 200),
                    "evalue": sanitize_output(entry.get("evalue"), 2_000),
                    "traceback": [sanitize_output(t, 2_000) for t in lines[:60]]
                    if isinstance(lines, list)
                    else [],
                }
            )
        elif kind in ("display_data", "execute_result"):
            data = entry.get("data")
            data = data if isinstance(data, dict) else {}
            shown = {"text/plain": sanitize_output(data.get("text/plain"))}
            if picture := sanitize_png(data.get("image/png")):
                shown["image/png"] = picture
            outputs.append({"output_type": "display_data", "data": shown, "metadata": {}})
    return outputs
