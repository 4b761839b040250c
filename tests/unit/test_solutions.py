"""Tests of the solutions: right in float32, with gradients that match finite differences.

Also tests of the relations of random cases, and of the cases and declarations."""

from __future__ import annotations

import inspect
from collections import Counter
from dataclasses import replace

import pytest
import torch

from autograder.diagnose.broken_properties import find_broken_property, read_mask
from autograder.diagnose.compare import find_difference
from autograder.diagnose.trial import Trial
from autograder.diagnose.verdict import DTYPES
from autograder.exercises import EXERCISES
from autograder.instructor.authoring.reference_solution import compute_expected, load_solution
from autograder.run.runner import run_case
from autograder.spec.outcome import Outcome
from autograder.spec.seeded_inputs import SeededInputs

ALL = list(EXERCISES.values())
BY_NAME = pytest.mark.parametrize("exercise", ALL, ids=lambda e: e.name)

# Inputs without a gradient although the result depends on them.
CUT = {"reinforce_loss": ("reward", "baseline"), "lora_linear": ("weight", "bias")}
STEP = 1e-6


@BY_NAME
def test_gradients_agree_with_finite_differences(exercise):
    """Along one direction, drawn for each case, in which all inputs and weights move."""
    for number, case in enumerate(exercise.draw(41)):
        if not case.upstream or case.check_random_outputs:
            continue
        draw, gradients = (
            SeededInputs(f"direction {number}"),
            compute_expected(exercise, case).gradients,
        )
        moving = gradients.keys() - set(CUT.get(exercise.name, ()))
        along = {n: draw.tensor(*gradients[n].shape) for n in sorted(moving)}

        def total(by, case=case, along=along):
            moved = [
                {n: t + by * along[n] if n in along else t for n, t in tensors.items()}
                for tensors in (case.inputs, case.weights)
            ]
            outputs = compute_expected(
                exercise, replace(case, inputs=moved[0], weights=moved[1])
            ).outputs
            parts = [
                (outputs[n] * up)[case.valid_masks.get(n, ...)].sum()
                for n, up in case.upstream.items()
            ]
            return sum(parts)

        slope = sum((gradients[n] * along[n]).sum() for n in along)
        measured = (total(STEP) - total(-STEP)) / (2 * STEP)
        torch.testing.assert_close(
            measured, slope, rtol=1e-5, atol=1e-5, msg=lambda m, case=case: f"{case.name}: {m}"
        )


@BY_NAME
def test_solution_passes_with_seeds_nobody_has_seen(exercise):
    """In float32 too, as far as rounding lets it; and what is drawn as its relation says."""
    for seed in (100, 101):
        for case in exercise.draw(seed):
            right = compute_expected(exercise, case)
            for dtype in DTYPES:
                outcome = run_case(load_solution(exercise), exercise, case, dtype)
                wrong = find_difference(case, outcome, right, dtype)
                assert wrong is None, (seed, case.name, dtype, wrong, outcome.problem)


def test_a_solution_that_does_not_get_through_is_told():
    exercise = EXERCISES["masked_softmax"]
    case = replace(exercise.draw(1)[0], calls=exercise.draw(1)[0].calls * 2)
    broken = replace(case, inputs={"scores": torch.zeros(2, 3), "mask": torch.zeros(4).bool()})
    with pytest.raises(ValueError, match=r"masked_softmax, one row.*raised RuntimeError"):
        compute_expected(exercise, broken)


@BY_NAME
def test_empty_rows_have_zeros_and_zero_gradients(exercise):
    """What the course promises about rows without any real position."""
    if not exercise.normalized_outputs:
        return
    for case in exercise.draw(51):
        right = compute_expected(exercise, case)
        for output, mask_name in exercise.normalized_outputs.items():
            weights = right.outputs.get(output)
            mask = None if weights is None else read_mask(case, mask_name, weights)
            if weights is not None and mask is not None:
                assert (weights[~mask] == 0).all()
                sums = weights.sum(-1)
                torch.testing.assert_close(sums, mask.any(-1).to(sums.dtype))
        trial = Trial(case, torch.float64, right, Outcome(dict(right.outputs)))
        assert find_broken_property(exercise, trial) == ""
        for gradient in right.gradients.values():
            assert torch.isfinite(gradient).all()


@BY_NAME
def test_draws_repeat_and_differ_between_seeds(exercise):
    one, again, other = exercise.draw(1), exercise.draw(1), exercise.draw(2)
    assert [case.name for case in one] == [case.name for case in other]
    assert len({case.name for case in one}) == len(one)
    for case, twin in zip(one, again, strict=True):
        for name, tensor in case.inputs.items():
            assert torch.equal(tensor, twin.inputs[name])
            if tensor.is_floating_point():
                assert torch.equal(tensor.float().double(), tensor), "float32 must hold it"
    # A case with only numbers as arguments must have a variant with other numbers.
    assert any(
        not torch.equal(case.inputs[name], twin.inputs[name])
        for case, twin in zip(one, other, strict=True)
        for name in case.inputs
        if case.inputs[name].shape == twin.inputs[name].shape
    ) or any(
        case.extra_arguments != twin.extra_arguments
        for case, twin in zip(one, other, strict=True)
        if not case.inputs
    )


@BY_NAME
def test_no_axis_can_be_mistaken_for_another(exercise):
    """In each seed there is a case in which all named sizes differ, and every tensor is named."""
    for seed in (1, 2, 61, 62, 63):
        apart = 0
        for case in exercise.draw(seed):
            sizes: dict[str, int] = {}
            tensors = {**case.inputs, **compute_expected(exercise, case).outputs}
            for name, tensor in tensors.items():
                if name in case.non_tensors:  # not a tensor
                    continue
                axes = exercise.axes[name].split()
                if axes[:1] == ["..."]:
                    leading = ["B", "T", "H"] if len(axes) <= 2 else ["B", "H"]
                    axes = leading[: tensor.dim() - len(axes) + 1] + axes[1:]
                for axis, size in zip(axes, tensor.shape, strict=True):
                    if name not in ("mask",) or size != 1:  # a mask may be broadcast
                        assert sizes.setdefault(axis, size) == size, (case.name, name, axis)
            meant = "equal" in case.name or "one" in case.name or "as many" in case.name
            repeated = [n for n in Counter(sizes.values()).values() if n > 1]
            if not meant and not repeated:
                apart += 1
            if case.name in ("all sizes different", "sentences of different length"):
                assert not repeated, (case.name, sizes)
        assert apart >= 1, seed


def _longest(case):
    """Return the width of the batch of sentences, or 0 if there is none."""
    for name in ("source", "tokens"):
        if name in case.inputs:
            return case.inputs[name].shape[1]
    return case.extra_arguments.get("N", 0)


def test_lengths_are_ragged_and_a_row_is_empty():
    for exercise in ALL:
        for seed in (1, 2, 71, 72):
            cases = exercise.draw(seed)
            masks = [c.inputs["mask"] for c in cases if "mask" in c.inputs]
            if masks:
                assert any((~m).all(-1).any() for m in masks)
                assert any(m.any(-1).all() and not m.all() for m in masks)
            lengths = [c.inputs["lengths"] for c in cases if "lengths" in c.inputs]
            if lengths:
                assert any((n.diff() > 0).any() for n in lengths), "not sorted"
                longest = [_longest(case) for case in cases if "lengths" in case.inputs]
                shorter = [n.max() < w for n, w in zip(lengths, longest, strict=True) if w]
                assert any(shorter) or not any(longest)


@BY_NAME
def test_signature_is_that_of_the_stub(exercise):
    answer = load_solution(exercise)
    given = inspect.signature(answer.forward if exercise.is_class else answer)
    shown = ", ".join(
        name if p.default is inspect.Parameter.empty else f"{name}={p.default!r}"
        for name, p in given.parameters.items()
        if name != "self"
    )
    assert exercise.signature == f"({shown})"
