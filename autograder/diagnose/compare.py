"""Compares an outcome with the expected outputs and gradients, within tolerances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from autograder.spec.exercise import Case
from autograder.spec.outcome import Outcome
from autograder.spec.tolerances import GRADIENT_FACTOR, TOLERANCE


@dataclass(frozen=True)
class Difference:
    """Where an outcome is not what was expected.

    Attributes:
        kind: "shape", "dtype", "finite", "value", "random" (what a case's relation says),
            "no gradient", "gradient", "changed", or the kind of a problem that ended the case.
        name: of the output, input or weight.
        expected: what it should be, or None.
        actual: what it is, or None.
        real: bool mask of the part that counts, or None.
        sentence: what a case's relation says, or "".
    """

    kind: str
    name: str
    expected: Tensor | None = None
    actual: Tensor | None = None
    real: Tensor | None = None
    sentence: str = ""


@dataclass(frozen=True)
class Expected:
    """What a right answer returns: outputs and gradients in float64.

    Of random outputs only shape and kind are meant.
    """

    outputs: Mapping[str, Tensor]
    gradients: Mapping[str, Tensor]


def find_difference(
    case: Case, outcome: Outcome, expected: Expected, dtype: torch.dtype
) -> Difference | None:
    """Return the first difference between an outcome and what was expected, or None.

    Values come before gradients. A gradient that did not arrive counts as zero where zero is
    expected.
    """
    # What differs from call to call is not compared.
    if outcome.problem and (not outcome.outputs or outcome.problem[0] == "unsteady"):
        return Difference(outcome.problem[0], "")
    tolerance = TOLERANCE[dtype]
    # In the order of the calls, which a file of expected values does not keep.
    returned = [name for call in case.calls for name in call.returned]
    for name in filter(expected.outputs.__contains__, returned):
        right = expected.outputs[name]
        wrong = _compare_output(name, outcome.outputs[name], right, case, tolerance, dtype)
        if wrong:
            return wrong
    if case.relation and (said := case.relation(case, replace(outcome, gradients={}))):
        return Difference("random", "", sentence=said)
    for name in case.random:
        if not torch.isfinite(outcome.outputs[name]).all():
            return Difference("finite", name, actual=outcome.outputs[name])
    if outcome.changed:
        return Difference("changed", outcome.changed[0])
    if outcome.problem:
        return Difference(outcome.problem[0], "")
    if case.relation:
        return _random_gradients(case, outcome)
    # In the order of the declaration, for the same reason.
    for name in filter(expected.gradients.__contains__, (*case.inputs, *case.weights)):
        right = expected.gradients[name]
        gradient = outcome.gradients.get(name)
        if gradient is None:
            if right.numel() and right.abs().max() > tolerance:
                return Difference("no gradient", name, right)
        elif not are_close(gradient, right, GRADIENT_FACTOR * tolerance):
            return Difference("gradient", name, right, gradient)
    return None


def _random_gradients(case: Case, outcome: Outcome) -> Difference | None:
    """Let the case's relation judge gradients that depend on what was drawn."""
    leaves = {**case.inputs, **case.weights}
    for name, gradient in outcome.gradients.items():
        if gradient is not None and not (
            gradient.shape == leaves[name].shape and torch.isfinite(gradient).all()
        ):
            return Difference("gradient", name, actual=gradient)
    said = case.relation(case, outcome) if case.relation and outcome.gradients else ""
    return Difference("gradient", "", sentence=said) if said else None


def _compare_output(
    name: str, actual: Tensor, right: Tensor, case: Case, tolerance: float, dtype: torch.dtype
) -> Difference | None:
    if name in case.plain:  # the bytes of a text: as many as it has letters
        if name in case.random or (actual.dtype == right.dtype and torch.equal(actual, right)):
            return None
        return Difference("value", name, right, actual)
    if actual.shape != right.shape:
        return Difference("shape", name, right, actual)
    numbers = {number for call in case.calls for number in call.numbers}
    exactly = not case.floating and name not in numbers
    if not _kind_is_right(actual, right, dtype, exactly):
        return Difference("dtype", name, right, actual)
    real = case.real.get(name)
    if name in case.random:  # the relation comes first
        return None
    if not torch.isfinite(actual).all():
        return Difference("finite", name, right, actual, real)
    if real is not None:
        if are_close(actual[real], right[real], tolerance):
            return None
    elif are_close(actual, right, tolerance):
        return None
    return Difference("value", name, right, actual, real)


def _kind_is_right(actual: Tensor, right: Tensor, dtype: torch.dtype, exactly: bool) -> bool:
    """Tell whether a result is of the kind expected: bool, whole numbers, or floating.

    Where floating numbers go in, float64 may come out of float32; a default is a default exactly.
    """
    if not right.dtype.is_floating_point:
        return (actual.dtype == torch.bool) == (right.dtype == torch.bool) and not (
            actual.dtype.is_floating_point
        )
    if exactly:
        return actual.dtype == dtype
    return actual.dtype.is_floating_point and (
        dtype != torch.float64 or actual.dtype == torch.float64
    )


def are_close(actual: Tensor, right: Tensor, tolerance: float) -> bool:
    """Tell whether two tensors agree; NaN agrees with NaN, so that mistakes can be compared."""
    return actual.shape == right.shape and bool(
        torch.allclose(
            actual.double(), right.double(), rtol=tolerance, atol=tolerance, equal_nan=True
        )
    )


@dataclass(frozen=True)
class FailureSignature:
    """What is wrong with an outcome of a random case, in terms that two draws have in common."""

    kind: str = ""
    name: str = ""
    sentence: str = ""

    @property
    def about_gradients(self) -> bool:
        """Whether the values are right."""
        return "gradient" in self.kind


def make_failure_signature(difference: Difference | None) -> FailureSignature:
    """Return what a difference says of a random case; an empty one if there is none.

    Which one of several numbered calls shows a mistake is chance, so that numbers are left out.
    """
    if not difference:
        return FailureSignature()
    return FailureSignature(
        difference.kind, difference.name.rstrip("_0123456789"), difference.sentence
    )
