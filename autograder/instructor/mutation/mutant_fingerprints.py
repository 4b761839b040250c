"""Computes fingerprints of what mutants of a solution return, to diagnose answers."""

from __future__ import annotations

import random
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from threading import Event
from typing import Any

import torch

from autograder.diagnose.compare import Expected
from autograder.diagnose.fingerprints import combine_fingerprints, do_fingerprints_match
from autograder.diagnose.trial import Trial
from autograder.instructor.authoring.mistake_loader import load_mistakes
from autograder.instructor.authoring.reference_solution import load_solution
from autograder.instructor.mutation.input_perturbations import list_input_perturbations
from autograder.instructor.mutation.operators import (
    generate_mutants,
    list_helpers,
    load_solution_module,
    rebuild_with_helpers,
)
from autograder.run.runner import run_case
from autograder.spec.exercise import Case, Exercise
from autograder.spec.outcome import Outcome

_TRIED = 4  # cases; a mutant that fails in all of them is dropped
SECONDS = 3.0  # of processor time for one call, because some mutants never end


@contextmanager
def limit_run_time() -> Iterator[Event]:
    """Raise TimeoutError in a mutant that runs for too long, and set the yielded event."""
    struck = Event()
    if not hasattr(signal, "setitimer"):  # Windows
        yield struck
        return

    def end(*_: Any) -> None:
        struck.set()
        raise TimeoutError("The answer does not end.")

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        yield struck
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)


def compute_mutant_fingerprints(
    exercise: Exercise,
    exercises: Mapping[str, Exercise],
    cases: Sequence[Case],
    rights: Sequence[Expected],
) -> list[tuple[str, tuple[float, float]]]:
    """Return a phrase for each mutant's change, with the fingerprint of all its outcomes together.

    Mutants whose results are right are left out, as are those that fail in every case, because a
    student reads their error.

    Args:
        exercise: the exercise.
        exercises: all exercises; the solution may call others.
        cases: cases in evaluation mode.
        rights: expected values for these cases.
    """
    plain = [replace(case, upstream={}) for case in cases]
    right = [
        Trial(case, torch.float64, expected, Outcome(dict(expected.outputs))).fingerprint
        for case, expected in zip(plain, rights, strict=True)
    ]
    found: dict[tuple[str, tuple[float, float]], None] = {}
    for phrase, act in _generate_all(exercise, exercises, cases):
        outcomes = _perform_all(act, plain)
        if outcomes is None:
            continue
        fingerprints = [
            Trial(case, torch.float64, expected, outcome).fingerprint
            for case, expected, outcome in zip(plain, rights, outcomes, strict=True)
        ]
        if not all(map(do_fingerprints_match, fingerprints, right)):
            found[phrase, combine_fingerprints(fingerprints)] = None
    return list(found)


def _perform_all(act: Callable[[Case], Outcome], cases: Sequence[Case]) -> list[Outcome] | None:
    """Return the outcomes of all cases, or None if all fail; most mutants fail at once."""
    outcomes: list[Outcome] = []
    torch.manual_seed(1)  # some mutants draw random numbers where the solution does not
    random.seed(1)
    for case in cases:
        if len(outcomes) == _TRIED and all(outcome.problem for outcome in outcomes):
            return None
        try:
            with limit_run_time() as struck:
                outcomes.append(act(case))
        except Exception:  # the mutant's cell fails, or the time is up between two calls
            return None
        if struck.is_set():
            return None
    return None if all(outcome.problem for outcome in outcomes) else outcomes


def _generate_all(
    exercise: Exercise, exercises: Mapping[str, Exercise], cases: Sequence[Case]
) -> Iterator[tuple[str, Callable[[Case], Outcome]]]:
    answer = load_solution(exercise)
    for phrase, change in list_input_perturbations(cases, exercise.axes):
        yield phrase, partial(_perform_other, answer, exercise, change)
    for phrase, changed in _wrong_helpers(exercise, exercises):
        yield phrase, partial(run_case, changed, exercise)
    for place, code in generate_mutants(exercise, diagnostic=True):
        if not place.phrase:
            continue
        space = dict(vars(load_solution_module(exercise)))
        try:
            exec(code, space)
        except Exception:  # in a default argument, for example
            continue
        yield place.phrase, partial(run_case, space[exercise.name], exercise)


def _wrong_helpers(
    exercise: Exercise, exercises: Mapping[str, Exercise]
) -> Iterator[tuple[str, Any]]:
    """Yield a phrase for each faulty helper of the solution, and the solution that calls it."""
    for name in list_helpers(exercise, exercises):
        helper = exercises[name]
        for mistake in load_mistakes(helper):
            title = mistake.title.rstrip(".")
            phrase = f"its `{name}` has this mistake: {title[:1].lower()}{title[1:]}"
            yield phrase, rebuild_with_helpers(exercise, {name: mistake.code})
        for place, code in generate_mutants(helper):
            if place.phrase:
                space = dict(vars(load_solution_module(helper)))
                exec(code, space)
                yield (
                    f"in its `{name}` {place.phrase}",
                    rebuild_with_helpers(exercise, {name: space[name]}),
                )


def _perform_other(
    answer: Any, exercise: Exercise, change: Callable[[Case], Case], case: Case
) -> Outcome:
    return run_case(answer, exercise, change(case))
