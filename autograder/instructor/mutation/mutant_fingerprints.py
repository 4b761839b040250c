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
from autograder.instructor.authoring.known_mistakes import load_mistakes
from autograder.instructor.authoring.reference_solution import load_solution
from autograder.instructor.mutation.input_perturbations import list_input_perturbations
from autograder.instructor.mutation.operators import (
    generate_mutants,
    list_helpers,
    load_notebook_module,
    rebuild_with_helpers,
)
from autograder.run.runner import run_case
from autograder.spec.exercise import Case, Exercise
from autograder.spec.outcome import Outcome

_TRIED = 4  # cases, after which a mutant that failed in all of them is given up
SECONDS = 3.0  # of processor time for one call: some mutants never end


@contextmanager
def limit_run_time() -> Iterator[Event]:
    """Raise TimeoutError where a mutant goes on for ever, and set what is given."""
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
    """Return what is other in a mutant, in words, and the total of what it then gives.

    Left out are those that give what is right, and those that fail in every case, of which a
    student reads the error.

    Args:
        exercise: the exercise.
        exercises: all that there are; the solution may call others.
        cases: in evaluation mode.
        rights: what is expected on them.
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
    """Return what comes of all cases, or None where nothing does: most fail in the very first."""
    outcomes: list[Outcome] = []
    torch.manual_seed(1)  # some mutants draw where the solution does not
    random.seed(1)
    for case in cases:
        if len(outcomes) == _TRIED and all(outcome.problem for outcome in outcomes):
            return None
        try:
            with limit_run_time() as struck:
                outcomes.append(act(case))
        except Exception:  # the mutant's cell fails, or the limit strikes between two calls
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
    for place, code in generate_mutants(exercise, slips=True):
        if not place.phrase:
            continue
        space = dict(vars(load_notebook_module(exercise)))
        try:
            exec(code, space)
        except Exception:  # a default argument, say
            continue
        yield place.phrase, partial(run_case, space[exercise.name], exercise)


def _wrong_helpers(
    exercise: Exercise, exercises: Mapping[str, Exercise]
) -> Iterator[tuple[str, Any]]:
    """Yield what is wrong with a function that the answer calls, and the answer with it."""
    for name in list_helpers(exercise, exercises):
        helper = exercises[name]
        for mistake in load_mistakes(helper):
            title = mistake.title.rstrip(".")
            phrase = f"its `{name}` has this mistake: {title[:1].lower()}{title[1:]}"
            yield phrase, rebuild_with_helpers(exercise, {name: mistake.code})
        for place, code in generate_mutants(helper):
            if place.phrase:
                space = dict(vars(load_notebook_module(helper)))
                exec(code, space)
                yield (
                    f"in its `{name}` {place.phrase}",
                    rebuild_with_helpers(exercise, {name: space[name]}),
                )


def _perform_other(
    answer: Any, exercise: Exercise, change: Callable[[Case], Case], case: Case
) -> Outcome:
    return run_case(answer, exercise, change(case))
