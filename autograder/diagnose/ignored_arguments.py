"""Finds arguments that a wrong result does not depend on, by running the answer on other values.

It complements `inputs_without_gradient`: no gradient reaches a number, a mask, ids or lengths.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import TypeAlias

from autograder.diagnose.compare import Difference
from autograder.diagnose.inputs_without_gradient import join_names
from autograder.diagnose.trial import Trial
from autograder.spec.argument_perturbations import (
    ArgumentChange,
    list_changed_outputs,
    propose_changes,
)
from autograder.spec.exercise import Case
from autograder.spec.outcome import Outcome

# By case and argument: indices of proposed changes, each with the outputs that must change with it.
Dependence: TypeAlias = Mapping[str, Mapping[str, Sequence[tuple[int, Sequence[str]]]]]

_CHANGES_AT_MOST = 12  # most arguments are seen to be used in the first
_MANY = 3  # if more are unused than this, the answer does something else altogether


def find_unused_arguments(
    trials: Sequence[Trial],
    fault: Difference,
    cases: Sequence[Case],
    dependence: Dependence,
    act: Callable[[Case], Outcome],
) -> str:
    """Return a sentence about arguments without any influence on the result, or "".

    Args:
        trials: the trials of an answer.
        fault: the difference that is shown.
        cases: the cases that `dependence` is known for.
        dependence: which outputs of a right answer change with an argument.
        act: runs a case and returns the outcome.
    """
    known = {id(case) for case in cases}
    completed = [
        trial
        for trial in trials
        if trial.is_exact and id(trial.case) in known and not trial.outcome.problem
    ]
    # The failing ones first; but a constant is also ignored where it happens to be right.
    completed.sort(key=lambda trial: (not trial.difference, trial.case.elements))
    arguments = {n: None for t in completed for n in dependence.get(t.case.name, {})}
    if fault.kind in ("shape", "raised"):  # sizes and errors come from numbers, not from tensors
        inputs = {name for case in cases for name in case.inputs}
        arguments = {name: None for name in arguments if name not in inputs}
    output = fault.name if fault.kind != "raised" else ""
    try:
        unused = [
            change
            for argument in arguments
            if (change := _find_ignored_change(argument, completed, output, cases, dependence, act))
        ]
    except TimeoutError:  # each further run may take as long
        return ""
    if not unused or len(unused) > _MANY:
        return ""
    names = [change.argument for change in unused]
    if len(unused) > 1:
        return f"The result does not depend on {join_names(names)}, as it must."
    return (
        f"The result does not depend on {names[0]}, as it must: yours stays the same when "
        f"{unused[0].condition}."
    )


def _find_ignored_change(
    argument: str,
    completed: Sequence[Trial],
    output: str,
    cases: Sequence[Case],
    dependence: Dependence,
    act: Callable[[Case], Outcome],
) -> ArgumentChange | None:
    """Return the first change of an argument if no output changes that must, or None.

    Raises:
        TimeoutError: if the answer took too long on a changed argument.
    """
    first = None
    telling = (
        (trial, index, outputs)
        for trial in completed
        for index, outputs in dependence.get(trial.case.name, {}).get(argument, ())
        if not output or output in outputs
    )
    for trial, index, outputs in islice(telling, _CHANGES_AT_MOST):
        change = next(islice(propose_changes(trial.case, cases), index, None))
        outcome = act(change.case)
        if outcome.problem and outcome.problem[0] == "time":
            raise TimeoutError
        if outcome.problem or outcome.mutated:
            return None
        changed = list_changed_outputs(trial.case, trial.outcome.outputs, outcome.outputs)
        if set(changed).intersection(outputs):
            return None
        first = first or change
    return first
