"""The oracles against formulas written down once more, the solutions against the oracles, and the
fixtures, points and cases as they should be."""

from __future__ import annotations

import gzip
import importlib
import json
import re
from collections import Counter
from pathlib import Path

import jupytext
import numpy as np
import pytest
import torch
from formulas import FORMULAS
from safetensors.torch import load

from autograder import fixtures
from autograder.comparing import difference
from autograder.exercises import EXERCISES
from autograder.instructor import fixtures as writing
from autograder.instructor.oracles import ORACLES, expected
from autograder.judging import DTYPES
from autograder.performing import Outcome, perform
from autograder.stand_ins import built

ROOT = Path(__file__).parents[1]
ALL = list(EXERCISES.values())
BY_NAME = pytest.mark.parametrize("exercise", ALL, ids=lambda e: e.name)


def solution(exercise):
    module = importlib.import_module(f"solutions.{exercise.assignment}.{exercise.notebook}")
    return getattr(module, exercise.name)


# Inputs that get no gradient although the result depends on them.
CUT = {"reinforce_loss": ("reward", "baseline")}


def arguments(case):
    """What an oracle gets beside tensors: the constructor's arguments and the given ones."""
    return {**case.construct, **{name: built(value) for name, value in case.given.items()}}


@BY_NAME
def test_oracle_agrees_with_the_formula_in_numpy(exercise):
    if exercise.name == "beam_search":
        pytest.skip("test_decoding.py compares it with all sentences")
    for seed in (31, 32, 33):
        for case in exercise.draw(seed):
            inputs = arguments(case) | {n: tensor.numpy() for n, tensor in case.inputs.items()}
            weights = {name: tensor.numpy() for name, tensor in case.weights.items()}
            formula = FORMULAS[exercise.name](inputs, weights)
            right = expected(exercise, case)
            for name, tensor in right.outputs.items():
                if name in case.random:
                    continue
                found = np.asarray(formula[name], dtype=float)
                np.testing.assert_allclose(
                    tensor.double().numpy(), found, rtol=1e-9, atol=1e-11, err_msg=case.name
                )
            if case.relation:  # both have drawn as they should
                drawn = {n: torch.as_tensor(formula[n]) for n in right.outputs}
                assert case.relation(case, Outcome(drawn)) == "", case.name
                assert case.relation(case, Outcome(dict(right.outputs))) == "", case.name
                if case.upstream:
                    whole = Outcome(dict(right.outputs), dict(right.gradients))
                    assert case.relation(case, whole) == "", case.name


@BY_NAME
def test_gradients_of_the_oracle_agree_with_finite_differences(exercise):
    for case in exercise.draw(41)[:4]:
        if not case.upstream:  # ids and masks
            continue
        right = expected(exercise, case)
        tensors = {**case.inputs, **case.weights}
        leaves = {
            n: t.clone().requires_grad_()
            for n, t in tensors.items()
            if n in right.gradients and n not in CUT.get(exercise.name, ())
        }

        def total(*values, case=case, leaves=leaves):
            given = dict(zip(leaves, values, strict=True))
            outputs = ORACLES[exercise.name](
                {
                    **arguments(case),
                    **case.inputs,
                    **{n: t for n, t in given.items() if n in case.inputs},
                },
                {**case.weights, **{n: t for n, t in given.items() if n in case.weights}},
            )
            parts = [
                (outputs[n] * up)[case.real[n]] if n in case.real else outputs[n] * up
                for n, up in case.upstream.items()
            ]
            return sum(part.sum() for part in parts)

        values = tuple(leaves.values())
        assert torch.autograd.gradcheck(total, values, fast_mode=True), case.name
        # and the gradients that are compared are those of this sum
        found = torch.autograd.grad(total(*values), values, allow_unused=True)
        for (name, leaf), gradient in zip(leaves.items(), found, strict=True):
            there = torch.zeros_like(leaf) if gradient is None else gradient
            torch.testing.assert_close(there, right.gradients[name])


@BY_NAME
def test_solution_agrees_with_the_oracle_over_many_seeds(exercise):
    answer = solution(exercise)
    for seed in range(100, 106 if exercise.is_class else 120):
        for case in exercise.draw(seed):
            right = expected(exercise, case)
            for dtype in DTYPES:
                outcome = perform(answer, exercise, case, dtype)
                found = difference(case, outcome, right, dtype)
                assert found is None, (seed, case.name, dtype, found, outcome.problem)


@BY_NAME
def test_empty_rows_have_zeros_and_zero_gradients(exercise):
    """Of the oracle too: what the course promises about rows without any real position."""
    if not exercise.weights_over:
        return
    for case in exercise.draw(51):
        right = expected(exercise, case)
        for output, mask_name in exercise.weights_over.items():
            if output in right.outputs and mask_name in case.inputs:
                mask = case.inputs[mask_name]
                weights = right.outputs[output]
                mask = mask.unsqueeze(1) if mask.dim() < weights.dim() else mask
                mask = mask.expand(weights.shape)
                assert (weights[~mask] == 0).all()
                sums = weights.sum(-1)
                torch.testing.assert_close(sums, mask.any(-1).to(sums.dtype))
        for gradient in right.gradients.values():
            assert torch.isfinite(gradient).all()


def test_fixtures_have_not_drifted(tmp_path):
    for assignment in writing.assignments():
        writing.write(assignment, tmp_path)
        name = f"{assignment}.safetensors.gz"
        fresh, kept = (
            load(gzip.decompress((tmp_path / name).read_bytes())),
            load(gzip.decompress((fixtures.FOLDER / name).read_bytes())),
        )
        assert fresh.keys() == kept.keys()
        for key, tensor in fresh.items():
            assert tensor.dtype == kept[key].dtype
            # what is kept in float32 may differ in its last bit between processors
            tolerance = 1e-9 if tensor.dtype == torch.float64 else 1e-6
            assert torch.allclose(
                tensor, kept[key], rtol=tolerance, atol=tolerance, equal_nan=True
            ), key
        texts = [
            json.loads((folder / f"{assignment}.json").read_text(encoding="utf-8"))
            for folder in (tmp_path, fixtures.FOLDER)
        ]
        assert texts[0] == texts[1]


def test_fixtures_are_small():
    assert sum(path.stat().st_size for path in fixtures.FOLDER.iterdir()) < 5_000_000
    assert (fixtures.FOLDER / "bahdanau.safetensors.gz").stat().st_size < 500_000


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
    # What takes numbers only is tried with other numbers.
    assert any(
        not torch.equal(case.inputs[name], twin.inputs[name])
        for case, twin in zip(one, other, strict=True)
        for name in case.inputs
        if case.inputs[name].shape == twin.inputs[name].shape
    ) or any(
        case.given != twin.given for case, twin in zip(one, other, strict=True) if not case.inputs
    )


@BY_NAME
def test_no_axis_can_be_mistaken_for_another(exercise):
    """In each seed there is a case in which all named sizes differ, and every tensor is named."""
    for seed in (1, 2, 61, 62, 63):
        apart = 0
        for case in exercise.draw(seed):
            sizes: dict[str, int] = {}
            tensors = {**case.inputs, **expected(exercise, case).outputs}
            for name, tensor in tensors.items():
                if name in case.plain:  # no tensor
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
    """How wide the batch of sentences is, or 0 if there is none."""
    for name in ("source", "tokens"):
        if name in case.inputs:
            return case.inputs[name].shape[1]
    return case.given.get("N", 0)


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


def _masters():
    return sorted(p for p in (ROOT / "solutions").glob("*/*.py") if "grade_id" in p.read_text())


def test_points_stand_in_one_graded_cell_per_exercise():
    graded: Counter[str] = Counter()
    for master in _masters():
        for cell in jupytext.read(master).cells:
            grading = cell.metadata.get("nbgrader", {})
            if not grading.get("grade"):
                continue
            called = re.findall(r"(?m)^(?:#\s*)?check\((\w+)\)", cell.source)
            assert len(called) == 1, (master, grading)
            exercise = EXERCISES[called[0]]
            assert grading["points"] == exercise.points
            assert grading["grade_id"] == f"test-{exercise.name}"
            assert (master.parent.name, master.stem) == (exercise.assignment, exercise.notebook)
            assert f"examine({exercise.name})" in cell.source
            graded[exercise.name] += 1
    assert graded == Counter(dict.fromkeys(EXERCISES, 1))


@BY_NAME
def test_signature_is_that_of_the_stub(exercise):
    import inspect

    answer = solution(exercise)
    given = inspect.signature(answer.forward if exercise.is_class else answer)
    shown = ", ".join(
        name if p.default is inspect.Parameter.empty else f"{name}={p.default!r}"
        for name, p in given.parameters.items()
        if name != "self"
    )
    assert exercise.signature == f"({shown})"
