"""Finds the line up to which a wrong answer computes the values of a correct one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from autograder import expected_values
from autograder.diagnose.trial import Trial
from autograder.spec.exercise import Case, Exercise
from autograder.trace.comparison import Trace, compare_recording
from autograder.trace.recording import record_answer

_FEW = 4
_TRACEABLE = ("value", "shape", "finite", "raised")


def trace_answer(
    answer: Any,
    exercise: Exercise,
    cases: Sequence[Case],
    trials: Sequence[Trial],
    limit: Callable[[], AbstractContextManager[None]],
) -> tuple[Trace, Case] | None:
    """Return the trace of an answer and its case, or None if it says nothing.

    The case is the smallest failing one whose results have more than a few numbers, because few
    numbers agree by chance.

    Args:
        answer: the answer.
        exercise: the exercise.
        cases: the cases of the first seed, of which the solution's values are recorded.
        trials: its trials.
        limit: returns a context manager that interrupts the answer after some time.
    """
    recorded = {id(case) for case in cases}
    failed = [
        trial
        for trial in trials
        if trial.is_exact
        and id(trial.case) in recorded
        and trial.difference
        and trial.difference.kind in _TRACEABLE
    ]
    for trial in sorted(failed, key=_rank):
        if stages := expected_values.read_stages(exercise, trial.case):
            with limit():
                recording = record_answer(answer, exercise, trial.case)
            trace = compare_recording(recording, stages, trial.case, trial.expected.outputs)
            return None if trace is None else (trace, trial.case)
    return None


def _rank(trial: Trial) -> tuple[bool, int]:
    name = trial.difference.name if trial.difference else ""
    output = trial.expected.outputs.get(name)
    few = output is not None and output.dim() > 0 and output.numel() < _FEW
    return few, trial.case.elements
