"""Tests each method of a class separately and lists which are correct.

What a method needs from another method comes from the expected values, so that a wrong or unwritten
method does not affect the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import torch

from autograder.diagnose.compare import Expected, find_difference
from autograder.spec.exercise import Case, Exercise, list_named_dicts
from autograder.spec.outcome import Outcome

Pair = tuple[Case, Expected]


def list_methods(exercise: Exercise, cases: Sequence[Case]) -> list[str]:
    """Return the methods that the cases call, in the order of the exercise's parts."""
    called = [call.method for case in cases for call in case.calls]
    known = [method for part in exercise.parts for method in part.methods]
    return [method for method in dict.fromkeys([*known, *called]) if method in called]


def format_method_results(
    exercise: Exercise, pairs: Sequence[Pair], act: Callable[[Case], Outcome]
) -> list[str]:
    """Return a line for each method of a class that has several methods.

    Args:
        exercise: the exercise.
        pairs: cases in evaluation mode, with their expected values.
        act: runs a case and returns the outcome.
    """
    methods = list_methods(exercise, [case for case, _ in pairs])
    if not exercise.is_class or len(methods) < 2:
        return []
    found = {method: _try_method(exercise, method, pairs, act) for method in methods}
    if sorted(set(found.values())) == ["not tried", "right"]:
        found |= _try_together(found, pairs, act)
    lines = ["Method by method:"]
    for method, state in found.items():
        mark = {"right": "✓", "not tried": "·"}.get(state, "✗")
        lines.append(f"  {mark} {method}: {state}")
    for part in exercise.parts:
        if all(found.get(method) == "right" for method in part.methods):
            lines.append(f"{part.name}: {part.points:g} of {exercise.points:g} points")
    return lines


def _try_method(
    exercise: Exercise, method: str, pairs: Sequence[Pair], act: Callable[[Case], Outcome]
) -> str:
    tried = 0
    for case, right in pairs:
        for one, wanted in _split_into_single_calls(case, right, method):
            tried += 1
            outcome = act(one)
            fault = find_difference(one, outcome, wanted, torch.float64)
            if fault and fault.kind == "unwritten":
                return "not written yet"
            if fault and outcome.problem:
                return "stopped with an error" if fault.kind == "raised" else "wrong"
            if fault:
                return f"{fault.name} is wrong" if fault.name else "wrong"
    return "right" if tried else "not tried"


def _try_together(
    found: dict[str, str], pairs: Sequence[Pair], act: Callable[[Case], Outcome]
) -> dict[str, str]:
    """Return what is wrong with a method that cannot be tried alone, if all others are right.

    It reads a state that only the answer can create, and the other methods create it correctly.
    """
    (method, *others) = [name for name, state in found.items() if state == "not tried"]
    for case, right in pairs:
        fault = find_difference(case, act(case), right, torch.float64)
        if others or not fault or case.preceding_case is not None:
            continue
        if fault.kind == "raised":
            return {method: "stopped with an error"}
        by = [call.method for call in case.calls if fault.name in call.returned]
        return {method: f"{fault.name} is wrong" if method in by else "wrong"}
    return {}


def _split_into_single_calls(case: Case, right: Expected, method: str) -> Iterator[Pair]:
    """Yield a case with only one call for each call of a method, with expected values as inputs."""
    wholes = {whole.name for call in case.calls for whole in list_named_dicts(call.returns)}
    if case.preceding_case is not None or case.check_random_outputs is not None:
        return
    for call in case.calls:
        if call.method != method or wholes.intersection(call.needed) or call.raises:
            continue
        made = [name for name in call.needed if name in right.outputs]
        one = replace(
            case,
            inputs=dict(case.inputs) | {name: right.outputs[name] for name in made},
            calls=(call,),
            valid_masks={
                name: mask for name, mask in case.valid_masks.items() if name in call.returned
            },
            upstream={},
        )
        yield one, Expected({name: right.outputs[name] for name in call.returned}, {})
