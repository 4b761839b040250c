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
    """A difference between an outcome and the expected values.

    Attributes:
        kind: "shape", "dtype", "finite", "value", "random" (`check_random_outputs` objects),
            "no gradient", "gradient", "changed", or the kind of a problem that ended the case.
        name: name of the output, input or weight.
        expected: the expected tensor, or None.
        actual: the actual tensor, or None.
        valid_mask: bool mask of the part that counts, or None.
        sentence: the sentence that `check_random_outputs` returned, or "".
        measured: the numbers on which the sentence rests, in words, or "".
    """

    kind: str
    name: str
    expected: Tensor | None = None
    actual: Tensor | None = None
    valid_mask: Tensor | None = None
    sentence: str = ""
    measured: str = ""


@dataclass(frozen=True)
class Expected:
    """The expected values of a case: a right answer's outputs and gradients in float64.

    For random outputs only shape and kind are meaningful.
    """

    outputs: Mapping[str, Tensor]
    gradients: Mapping[str, Tensor]


def find_difference(
    case: Case, outcome: Outcome, expected: Expected, dtype: torch.dtype
) -> Difference | None:
    """Return the first difference between an outcome and the expected values, or None.

    Values are compared before gradients. A missing gradient is accepted where zero is expected.
    """
    # Results that differ between identical calls are not compared.
    if outcome.problem and (not outcome.outputs or outcome.problem[0] == "unsteady"):
        return Difference(outcome.problem[0], "")
    tolerance = TOLERANCE[dtype]
    # Compare in the order of the calls, which a file of expected values does not preserve.
    returned = [name for call in case.calls for name in call.returned]
    for name in filter(expected.outputs.__contains__, returned):
        right = expected.outputs[name]
        wrong = _compare_output(name, outcome.outputs[name], right, case, tolerance, dtype)
        if wrong:
            return wrong
    if case.check_random_outputs and (
        said := case.check_random_outputs(case, replace(outcome, gradients={}))
    ):
        sentence, _, measured = said.partition("\n")
        return Difference("random", "", sentence=sentence, measured=measured)
    for name in case.random_outputs:
        if not torch.isfinite(outcome.outputs[name]).all():
            return Difference("finite", name, actual=outcome.outputs[name])
    if outcome.mutated:
        return Difference("changed", outcome.mutated[0])
    if outcome.problem:
        return Difference(outcome.problem[0], "")
    if case.check_random_outputs:
        return _random_gradients(case, outcome)
    # Compare in the order of the declaration, for the same reason.
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
    """Return what is wrong with gradients that depend on random draws, or None."""
    leaves = {**case.inputs, **case.weights}
    for name, gradient in outcome.gradients.items():
        if gradient is not None and not (
            gradient.shape == leaves[name].shape and torch.isfinite(gradient).all()
        ):
            return Difference("gradient", name, actual=gradient)
    said = (
        case.check_random_outputs(case, outcome)
        if case.check_random_outputs and outcome.gradients
        else ""
    )
    return Difference("gradient", "", sentence=said) if said else None


def _compare_output(
    name: str, actual: Tensor, right: Tensor, case: Case, tolerance: float, dtype: torch.dtype
) -> Difference | None:
    if name in case.non_tensors:  # bytes: their shape depends on the length of the text
        if name in case.random_outputs or (
            actual.dtype == right.dtype and torch.equal(actual, right)
        ):
            return None
        return Difference("value", name, right, actual)
    if actual.shape != right.shape:
        return Difference("shape", name, right, actual)
    numbers = {number for call in case.calls for number in call.numbers}
    exactly = not case.floating and name not in numbers
    real = case.valid_masks.get(name)
    counts = torch.ones_like(right, dtype=torch.bool) if real is None else real
    if not _kind_is_right(actual, right, dtype, exactly):
        # Where the values are wrong as well, they come first: their mistake is the one to learn.
        loose = max(tolerance, TOLERANCE[torch.float32])
        if (
            name not in case.random_outputs
            and actual.is_floating_point()
            and right.is_floating_point()
            and torch.isfinite(actual).all()
            and not are_close(actual[counts], right[counts], loose)
        ):
            return Difference("value", name, right, actual, real)
        return Difference("dtype", name, right, actual)
    if name in case.random_outputs:  # check_random_outputs judges it before the finite check
        return None
    if not torch.isfinite(actual).all():
        return Difference("finite", name, right, actual, real)
    if are_close(actual[counts], right[counts], tolerance):
        return None
    return Difference("value", name, right, actual, real)


def _kind_is_right(actual: Tensor, right: Tensor, dtype: torch.dtype, exactly: bool) -> bool:
    """Return whether a result has the expected kind: bool, integer or floating.

    A float64 result is accepted for float32 inputs. With `exactly`, the result must have exactly
    the default dtype.
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
    """Return whether two tensors agree; NaN agrees with NaN, so that mistakes can be compared."""
    return actual.shape == right.shape and bool(
        torch.allclose(
            actual.double(), right.double(), rtol=tolerance, atol=tolerance, equal_nan=True
        )
    )


@dataclass(frozen=True)
class FailureSignature:
    """The failure of a random case, described in terms that do not depend on the draw."""

    kind: str = ""
    name: str = ""
    sentence: str = ""

    @property
    def about_gradients(self) -> bool:
        """Return whether the failure is about gradients, which means that the values are right."""
        return "gradient" in self.kind


def make_failure_signature(difference: Difference | None) -> FailureSignature:
    """Return the signature of a difference in a random case; it is empty for no difference.

    Which of several numbered calls shows a mistake depends on chance, so the numbers are dropped.
    """
    if not difference:
        return FailureSignature()
    return FailureSignature(
        difference.kind, difference.name.rstrip("_0123456789"), difference.sentence
    )
