"""Detects generic error patterns (a shift, a factor, wrong rows ...) in wrong outputs.

Each pattern is implemented once for all exercises, in `value_patterns.py` (how the whole output
relates to the right one) or `wrong_positions.py` (where it is wrong).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from autograder.diagnose import value_patterns, wrong_positions
from autograder.diagnose.failed_output import FailedOutput
from autograder.diagnose.trial import Trial
from autograder.spec.exercise import Exercise

PatternDetector = Callable[[Exercise, str, Sequence[FailedOutput], Sequence[Trial]], str]

# Patterns that explain the whole result.
_WHOLE: tuple[PatternDetector, ...] = (
    value_patterns.find_exchanged_outputs,
    value_patterns.find_equal_outputs,
    value_patterns.find_last_step,
    value_patterns.find_shift,
    value_patterns.find_reordered_rows,
    value_patterns.find_transpose,
)
# A change in one place of a right answer may explain these better.
_RELATIONS: tuple[PatternDetector, ...] = (
    value_patterns.find_zeros,
    value_patterns.find_factor,
    value_patterns.find_complement,
    value_patterns.find_scrambled_entries,
    value_patterns.find_whole_numbers,
)
_LOCATIONS: tuple[PatternDetector, ...] = (
    wrong_positions.locate_padded_rows,
    wrong_positions.locate_diagonal,
    wrong_positions.locate_components,
    wrong_positions.locate_cases,
    wrong_positions.locate_positions,
    value_patterns.find_zeros_where_wrong,
)
_SHAPES: tuple[PatternDetector, ...] = (
    value_patterns.find_transpose,
    value_patterns.find_reshape,
    wrong_positions.locate_cases,
)
_CASES: tuple[PatternDetector, ...] = (wrong_positions.locate_cases,)


def find_whole_pattern(exercise: Exercise, trials: Sequence[Trial]) -> str:
    """Return a sentence about a pattern that explains all failing trials completely, or ""."""
    groups = _group_outputs(trials, ("value",))
    return "" if _differ_in_shape(groups) else _find(exercise, groups, trials, _WHOLE)


def find_relation(exercise: Exercise, trials: Sequence[Trial]) -> str:
    """Return a sentence about how all wrong outputs relate to the right ones, or ""."""
    groups = _group_outputs(trials, ("value",))
    if _differ_in_shape(groups) or not (said := _find(exercise, groups, trials, _RELATIONS)):
        return ""
    return f"{said} {_find(exercise, groups, trials, _CASES)}".rstrip()


def locate_failure(exercise: Exercise, trials: Sequence[Trial]) -> str:
    """Return a sentence about where the outputs are wrong in all failing trials, or ""."""
    groups = _group_outputs(trials, ("value", "shape"))
    detectors = _SHAPES if _differ_in_shape(groups) else _LOCATIONS
    if not groups:
        groups, detectors = _group_outputs(trials, ("value", "shape", "finite")), _CASES
    return _find(exercise, groups, trials, detectors)


def _find(
    exercise: Exercise,
    groups: dict[str, list[FailedOutput]],
    trials: Sequence[Trial],
    detectors: Sequence[PatternDetector],
) -> str:
    exact = _select_exact(trials)
    for detect in detectors if groups else ():
        said = [detect(exercise, name, pairs, exact) for name, pairs in groups.items()]
        if all(said):
            return said[0]
    return ""


def _select_exact(trials: Sequence[Trial]) -> list[Trial]:
    return [trial for trial in trials if trial.is_exact]


def _group_outputs(trials: Sequence[Trial], kinds: Sequence[str]) -> dict[str, list[FailedOutput]]:
    """Return the wrong outputs by name, or nothing if a trial fails in another way.

    A method that is called twice has two names of results.
    """
    groups: dict[str, list[FailedOutput]] = {}
    for trial in _select_exact(trials):
        fault = trial.difference
        if fault is None or fault.kind == "dtype":  # its values are right
            continue
        if fault.kind not in kinds or fault.name in trial.case.non_tensors:
            return {}
        mine, right = trial.outcome.outputs[fault.name], trial.expected.outputs[fault.name]
        pair = FailedOutput(trial, fault.name, mine.detach().double(), right.double())
        groups.setdefault(fault.name, []).append(pair)
    return groups


def _differ_in_shape(groups: dict[str, list[FailedOutput]]) -> bool:
    return any(p.actual.shape != p.expected.shape for pairs in groups.values() for p in pairs)
