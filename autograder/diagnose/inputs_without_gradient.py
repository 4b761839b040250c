"""Finds inputs and parameters that a wrong result does not depend on, by their gradients."""

from __future__ import annotations

import re
from collections.abc import Sequence

from torch import Tensor

from autograder.diagnose.trial import Trial
from autograder.spec.exercise import Exercise

# Names in code that may cut the graph, or whose results have no slope.
_CUTTING = frozenset(
    re.findall(
        r"\w+",
        "detach data item no_grad inference_mode tensor as_tensor numpy tolist argmax argmin max "
        "min round floor ceil sign long int bool eq gt lt ge le ne where topk sort one_hot",
    )
)
_MANY = 3  # if more are unused than this, the gradient is lost as a whole


def find_unused_inputs(
    exercise: Exercise, trials: Sequence[Trial], identifiers: frozenset[str] | None
) -> str:
    """Return a sentence about inputs and parameters without any influence on the result, or "".

    The expected gradient says that a right result depends on them.

    Args:
        exercise: the exercise.
        trials: the trials of an answer.
        identifiers: names in the answer's code in lower case, or None if they are not known.
    """
    exact = [t for t in trials if t.is_exact and t.case.upstream and not t.case.random_outputs]
    failed = [t for t in exact if t.difference]
    if not failed or any(t.difference and t.difference.kind != "value" for t in failed):
        return ""
    used = {name for t in exact for name, g in t.outcome.gradients.items() if _is_nonzero(g)}
    needed = {n: None for t in failed for n, g in t.expected.gradients.items() if _is_nonzero(g)}
    unused = [name for name in needed if name not in used]
    # A matrix has no influence where the vector that it multiplies has none.
    batch = [n for n in unused if exercise.axes.get(n, "").startswith(("B", "..."))]
    unused = batch or unused
    if not unused or len(unused) > _MANY or not used:
        return ""
    said = f"The result does not depend on {join_names(unused)}, as it must"
    if identifiers is None or identifiers & _CUTTING:
        return f"{said}, or something cuts the graph in between, such as detach() or argmax()."
    return f"{said}."


def _is_nonzero(gradient: Tensor | None) -> bool:
    return gradient is not None and bool(gradient.abs().gt(1e-9).any())


def join_names(names: Sequence[str]) -> str:
    """Return names as an enumeration: a, b and c."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
