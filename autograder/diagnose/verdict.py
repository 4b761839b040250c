"""Turns outcomes into a verdict: correct, or a diagnosis with a message and a hint."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from autograder.diagnose.broken_properties import find_broken_property, find_changed_state
from autograder.diagnose.case_formatting import format_failing_case
from autograder.diagnose.compare import Difference, are_close
from autograder.diagnose.failed_output import count_ambiguous_sizes
from autograder.diagnose.fingerprints import do_fingerprints_match
from autograder.diagnose.headline import format_headline
from autograder.diagnose.inputs_without_gradient import find_unused_inputs
from autograder.diagnose.known_faults import NO_MUTANTS, KnownMistake, MutantFingerprints
from autograder.diagnose.output_patterns import find_relation, find_whole_pattern, locate_failure
from autograder.diagnose.trial import Trial
from autograder.diagnose.wrong_positions import explain_overflow
from autograder.spec.exercise import Case, Exercise, list_named_dicts, list_names

DTYPES = (torch.float64, torch.float32)


@dataclass(frozen=True)
class Verdict:
    """The verdict of a check on an answer.

    Attributes:
        exercise: the exercise.
        passed: whether the answer is right in all cases.
        headline: the result in one sentence.
        kind: the kind of the `Difference` that was found, or "".
        hint: explanation of the mistake, or "".
        misconception: slug of the known mistake, or "".
        details: lines that show the smallest failing case.
        trace: sentences that say up to which line the answer is right.
        remarks: sentences about how a right answer could be better.
        cases: number of cases that were tried.
    """

    exercise: Exercise
    passed: bool
    headline: str
    kind: str = ""
    hint: str = ""
    misconception: str = ""
    details: tuple[str, ...] = ()
    trace: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    cases: int = 0
    printed: str = field(default="", compare=False)


def judge(
    exercise: Exercise,
    trials: Sequence[Trial],
    misconceptions: Sequence[KnownMistake],
    mutants: MutantFingerprints = NO_MUTANTS,
    find_unused: Callable[[Difference], str] = lambda fault: "",
) -> Verdict:
    """Judge an answer by the outcomes of its trials.

    Args:
        exercise: the exercise.
        trials: all cases in all dtypes.
        misconceptions: known mistakes; one is named only if it alone explains every float64 trial.
            Answers draw differently, so a mistake explains a random output if it fails in the same
            way.
        mutants: fingerprints of the mutants, see `_match_mutant`.
        find_unused: returns a sentence about arguments that the result does not depend on, or "".
            It may run the answer again.
    """
    failed = [trial for trial in trials if trial.difference]
    if not failed:
        return Verdict(
            exercise,
            True,
            f"{exercise.name}: right in all {_count_cases(trials)} cases.",
            remarks=tuple(_list_remarks(trials)),
            cases=_count_cases(trials),
        )
    trial = choose_failure(exercise, trials)
    fault = trial.difference
    assert fault is not None
    matching = (
        _find_matching_mistakes(trials, misconceptions)
        if fault.kind not in _KINDS_WITHOUT_VALUES
        else []
    )
    known = matching[0] if len(matching) == 1 else None
    if known:
        headline, hint = known.title, known.hint
    else:
        fault = _trace_to_mutated_input(trial, fault)
        headline, hint = format_headline(exercise, trial, fault), ""
    if trial.case.training_mode and fault.kind == "value":
        headline, hint = _explain_training_mode(exercise, trial, fault, trials, mutants)
    elif not known and fault.kind == "raised":
        if note := _find_note(trial, failed) or find_unused(fault):
            headline = f"{headline}\n{note}"
    elif not known and fault.kind in ("value", "shape", "finite", "random"):
        if note := _find_note(trial, failed):
            headline = f"{headline} {note}"
        elif found := _find_explanation(exercise, trial, fault, trials, mutants, find_unused):
            said, hint = found
            headline = f"{headline} {said}" if fault.kind in ("shape", "finite") else said
        elif (
            fault.kind == "value"
            and len(failed) < len(trials)
            and {t.case.name for t in failed} == {trial.case.name}
        ):
            headline = f"{headline} Only this case fails: {trial.case.name.rstrip('.')}."
    return Verdict(
        exercise,
        False,
        headline,
        kind=fault.kind,
        hint=hint,
        misconception=known.slug if known else "",
        details=tuple(
            format_failing_case(
                exercise, trial, fault, bool(known), _count_cases(failed), _count_cases(trials)
            )
        ),
        cases=_count_cases(trials),
        printed=next((t.outcome.printed for t in trials if t.outcome.printed), ""),
    )


def _count_cases(trials: Sequence[Trial]) -> int:
    """Return the number of different cases: each is tried in two dtypes."""
    return len({id(trial.case) for trial in trials})


def _find_note(trial: Trial, failed: Sequence[Trial]) -> str:
    """Return the note of the only case that fails, or ""."""
    alone = all(other.case.name == trial.case.name for other in failed)
    return trial.case.note if alone else ""


def _explain_training_mode(
    exercise: Exercise,
    trial: Trial,
    fault: Difference,
    trials: Sequence[Trial],
    mutants: MutantFingerprints,
) -> tuple[str, str]:
    """Return headline and hint for values that are wrong only in training mode."""
    if _ignores_training_mode(trial, fault, trials):
        headline = (
            f"Your {exercise.name} gives the same {fault.name} in training mode as in evaluation "
            f"mode: dropout is not applied where it should be. {trial.case.note}"
        )
        return headline.rstrip(), ""
    if found := _match_mutant(exercise, trials, mutants):
        return found, "It shows only in training mode."
    headline = (
        f"Your {exercise.name} is right in evaluation mode, but in training mode {fault.name} has "
        f"wrong values: dropout does not act where it should, or it acts twice. {trial.case.note}"
    )
    return headline.rstrip(), ""


def _find_explanation(
    exercise: Exercise,
    trial: Trial,
    fault: Difference,
    trials: Sequence[Trial],
    mutants: MutantFingerprints,
    find_unused: Callable[[Difference], str],
) -> tuple[str, str] | None:
    """Return headline and hint of a cause that is not a known mistake, or None.

    A pattern that explains everything comes first, then a mutant, then what has no influence, then
    what is true of all failing trials, then of the smallest, and at last where the output is wrong.
    """
    if fault.kind == "value" and (found := find_whole_pattern(exercise, trials)):
        return found, ""
    if fault.kind != "finite" and (found := _match_mutant(exercise, trials, mutants)):
        return found, "In everything else it agrees with a right answer."
    if fault.kind == "finite" and (found := explain_overflow([t for t in trials if t.is_exact])):
        return found, ""
    if fault.kind == "finite" and (fault.valid_mask is not None or exercise.normalized_outputs):
        return None  # the headline tells already where
    if fault.kind == "value":
        found = (
            find_changed_state(exercise, trial, fault.name)
            or find_unused_inputs(exercise, trials, mutants.names)
            or find_unused(fault)
            or find_relation(exercise, trials)
            or find_broken_property(exercise, trial)
            or _find_broken_elsewhere(exercise, trials)
        )
        if found:
            return found, ""
    if fault.kind == "shape" and (found := find_unused(fault)):
        return found, ""
    found = locate_failure(exercise, trials)
    return (found, "") if found else None


def _find_broken_elsewhere(exercise: Exercise, trials: Sequence[Trial]) -> str:
    """Return a sentence about weights that cannot be in another case than the smallest, or ""."""
    for trial in (t for t in trials if t.difference and t.is_exact):
        if found := find_broken_property(exercise, trial):
            return f"{found} (In the case: {trial.case.name.rstrip('.')}.)"
    return ""


def choose_failure(exercise: Exercise, trials: Sequence[Trial]) -> Trial:
    """Return the failing trial to show: the smallest, which is the easiest to reason about.

    Of wrong shapes it is the smallest one whose sizes differ most: (4, 5) says more than (1, 1).
    """
    smallest = _find_smallest_failure(trials)
    fault = smallest.difference
    if fault is None or fault.kind != "shape" or fault.expected is None:
        return smallest

    def rank(trial: Trial) -> tuple[Any, ...]:
        right = trial.expected.outputs[fault.name]
        return count_ambiguous_sizes(exercise, trial.case, fault.name, right), _measure(trial)

    alike = (
        trial
        for trial in trials
        if trial.difference
        and (trial.difference.kind, trial.difference.name) == ("shape", fault.name)
        and bool(trial.case.training_mode) == bool(smallest.case.training_mode)
    )
    return min(alike, key=rank)


def _find_smallest_failure(trials: Sequence[Trial]) -> Trial:
    """Return the failing trial with the fewest numbers.

    It is in float64 if the case fails there too. Results that differ from call to call come first,
    because they may look like any mistake. Gradients of a random draw come later, because they mean
    little if another case draws wrongly. Training mode comes last, because it says something about
    dropout only if everything else is right; a dropout that evaluation mode ignores comes last
    among the others, because its title would distract. Wrong values come before a wrong dtype.
    """

    def rank(pair: tuple[Trial, Difference]) -> tuple[Any, ...]:
        trial, fault = pair
        unsteady = fault.kind != "unsteady"
        return (
            bool(trial.case.training_mode),
            unsteady,
            _fails_only_in_random_gradients(*pair),
            fault.kind == "dtype",
            bool(trial.case.init_arguments.get("dropout")),
            _measure(trial),
        )

    return min(((t, t.difference) for t in trials if t.difference), key=rank)[0]


def _trace_to_mutated_input(trial: Trial, fault: Difference) -> Difference:
    """Return the fault, or the in-place change of an input that explains a wrong result."""
    if fault.kind != "value":
        return fault
    calls = trial.case.calls
    needed = {name for call in calls if fault.name in call.returned for name in call.needed}
    for whole in list_named_dicts(tuple(call.returns for call in calls)):
        if whole.name in needed:
            needed.update(list_names(whole))
    written = [name for name in trial.outcome.mutated if name in needed]
    return Difference("changed", written[0]) if written else fault


# Kinds of faults that rule out a comparison of values.
_KINDS_WITHOUT_VALUES = ("unwritten", "signature", "forbidden", "protocol", "time", "unsteady")


def _match_mutant(exercise: Exercise, trials: Sequence[Trial], mutants: MutantFingerprints) -> str:
    """Return a sentence about the mutants with exactly the same outcomes, or "".

    Outcomes that depend on chance are never exactly the same.
    """
    if any(trial.case.check_random_outputs and trial.difference for trial in trials):
        return ""
    phrases = mutants.find_matching_phrases(trials)  # all these mutants give the same outcomes
    if not phrases:
        return ""
    changes = ", or when ".join(_select_phrases(phrases))
    return f"Your {exercise.name} gives exactly what a right answer gives when {changes}."


def _select_phrases(phrases: Sequence[str]) -> list[str]:
    """Return the first phrase, and the next that says something else."""
    first, *others = [set(_FILLERS.sub("", phrase).split()) for phrase in phrases]
    other = next((i for i, words in enumerate(others, 1) if not words & first), 0)
    return [phrases[0], phrases[other]] if other else [phrases[0]]


_FILLERS = re.compile(r"`[^`]+`|\b(?:a|an|the|of|in|is|are|and|or)\b")


def _ignores_training_mode(trial: Trial, fault: Difference, trials: Sequence[Trial]) -> bool:
    """Return whether an output is the same in training mode as in evaluation mode."""
    assert fault.actual is not None
    for twin in trials:
        case = twin.case
        if (
            case.inputs is trial.case.inputs
            and not case.training_mode
            and twin.dtype == trial.dtype
        ):
            evaluated = twin.outcome.outputs.get(fault.name)
            if evaluated is not None and are_close(fault.actual, evaluated, 1e-9):
                return True
    return False


def _measure(trial: Trial) -> tuple[bool, int, int]:
    """Return a sort key: fewest numbers first, but empty batches last, because they show little."""
    empty = any(tensor.numel() == 0 for tensor in trial.case.inputs.values())
    return empty, trial.case.elements, -trial.dtype.itemsize


def _fails_only_in_random_gradients(trial: Trial, fault: Difference) -> bool:
    return trial.case.check_random_outputs is not None and "gradient" in fault.kind


def _find_matching_mistakes(
    trials: Sequence[Trial], mistakes: Sequence[KnownMistake]
) -> list[KnownMistake]:
    """Return the known mistakes with the same outcomes as an answer in all float64 trials.

    Args:
        trials: the trials of the answer.
        mistakes: the known mistakes to choose from.
    """
    exact = [t for t in trials if t.dtype == torch.float64 and not t.case.training_mode]
    kinds = {trial.difference.kind for trial in exact if trial.difference}
    if not kinds or "dtype" in kinds:  # no known mistake changes precision
        return []
    mine = [(trial.case, trial.fingerprint) for trial in exact]
    matching = [m for m in mistakes if _all_fingerprints_match(mine, m.values)]
    if kinds <= {"no gradient", "gradient"}:
        slopes = [(trial.case, trial.gradient_fingerprint) for trial in exact]
        matching = [m for m in matching if _all_fingerprints_match(slopes, m.gradients)]
    return matching


def _all_fingerprints_match(
    mine: Sequence[tuple[Case, float]], theirs: Callable[[Case], float | None]
) -> bool:
    """Return whether fingerprints match in all cases where both are known."""
    pairs = [(own, other) for case, own in mine if (other := theirs(case)) is not None]
    return bool(pairs) and all(do_fingerprints_match(own, other) for own, other in pairs)


def _list_remarks(trials: Sequence[Trial]) -> list[str]:
    wider = any(
        trial.dtype == torch.float32 and tensor.dtype == torch.float64
        for trial in trials
        for tensor in trial.outcome.outputs.values()
    )
    if wider:
        return [
            "Your answer returns float64 for float32 inputs; in this course the result has the "
            "dtype of the input."
        ]
    return []
