"""Tests of forbidden operators, leftover settings, and parts of an exercise."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from autograder.checking.checker import verify
from autograder.diagnose.trial import Trial
from autograder.diagnose.verdict import judge
from autograder.exercises import EXERCISES
from autograder.run.forbidden_ops import _FAMILIES, forbid_operators
from autograder.run.runner import run_case
from autograder.spec.exercise import Call, Case, Exercise, Part
from tests.answers import entries
from tests.helpers.forbidden_op_bypasses import WAYS

CONTEXT = EXERCISES["context_vector"]


def normalised(x, weight, bias, eps):
    mean, variance = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, unbiased=False)
    return (x - mean) / (variance + 1e-5).sqrt() * weight + bias


def layer_norm_case() -> Case:
    given = {"x": torch.randn(2, 3).double(), "weight": torch.ones(3).double()}
    given["bias"] = torch.zeros(3).double()
    calls = (Call("", ("x", "weight", "bias"), ("normed",)),)
    return Case("one", given, calls)


def perform_without(answer, exercise, case):
    with forbid_operators(exercise) as refusal:
        return run_case(answer, exercise, case, recorder=refusal)


def exercise(*forbidden: str) -> Exercise:
    return Exercise(
        "layer_norm",
        1,
        1,
        10,
        "(x, weight, bias)",
        {},
        lambda draw: [layer_norm_case()],
        forbidden=forbidden,
    )


ITSELF = {
    "functional": lambda x, w, b: F.layer_norm(x, (3,), w, b),
    "torch": lambda x, w, b: torch.layer_norm(x, (3,), w, b),
    "module": lambda x, w, b: nn.LayerNorm(3).double()(x) * w + b,
    "inner name": lambda x, w, b: torch._C._VariableFunctions.layer_norm(x, (3,), w, b),
    "operator": lambda x, w, b: torch.ops.aten.layer_norm.default(x, (3,), w, b),
}


@pytest.mark.parametrize("name", ITSELF)
def test_an_operator_that_is_the_whole_answer_is_refused(name):
    outcome = perform_without(ITSELF[name], exercise("layer_norm"), layer_norm_case())
    assert outcome.problem is not None
    assert outcome.problem[0] == "forbidden"
    assert (
        "layer_norm calls torch's own layer_norm, which is the whole answer" in outcome.problem[1]
    )


@pytest.mark.parametrize("name", ITSELF)
def test_it_is_allowed_where_the_stub_does_not_forbid_it(name):
    assert perform_without(ITSELF[name], exercise(), layer_norm_case()).problem is None


def test_an_answer_of_ones_own_is_not_refused():
    def own(x, weight, bias):
        return normalised(x, weight, bias, 1e-5)

    assert perform_without(own, exercise("layer_norm"), layer_norm_case()).problem is None


def test_an_argument_can_be_what_is_forbidden():
    def smoothed(x, weight, bias):
        return F.cross_entropy(x, torch.tensor([0, 1]), label_smoothing=0.1)

    def plain(x, weight, bias):
        return F.cross_entropy(x, torch.tensor([0, 1]))

    made = exercise("cross_entropy.label_smoothing")
    problem = perform_without(smoothed, made, layer_norm_case()).problem
    assert problem is not None and "cross_entropy(label_smoothing=...)" in problem[1]
    assert perform_without(plain, made, layer_norm_case()).problem is None


def test_the_card_of_a_refused_answer_says_so():
    made, case = exercise("layer_norm"), layer_norm_case()
    outcome = perform_without(ITSELF["functional"], made, case)
    from autograder.diagnose.compare import Expected

    right = Expected({"normed": normalised(*case.inputs.values(), 1e-5)}, {})
    verdict = judge(made, [Trial(case, torch.float64, right, outcome)], [])
    assert not verdict.passed
    assert "the task is to write it yourself" in verdict.headline


@pytest.mark.parametrize("way", WAYS)
def test_no_way_round(way):
    name, code = WAYS[way]
    space = {"__name__": "cell"}
    exec(compile(code, way, "exec"), space)
    verdict = verify(space[name], EXERCISES[name])
    assert (verdict.passed, verdict.kind) == (False, "forbidden"), verdict.headline


def test_every_family_is_there_and_forbidden_somewhere():
    declared = {name for exercise in EXERCISES.values() for name in exercise.forbidden}
    assert declared == set(_FAMILIES)


def test_an_operator_is_there_again_afterwards(recwarn):
    x = torch.randn(2, 3, requires_grad=True)
    before = F.layer_norm(x, (3,)), F.scaled_dot_product_attention(x, x, x)
    for name in ("layer_norm", "scaled_dot_product_attention"):
        assert verify(
            next(e.answer for e in entries() if e.exercise == name and e.right), EXERCISES[name]
        ).passed
        after = F.layer_norm(x, (3,)), F.scaled_dot_product_attention(x, x, x)
        for one, other in zip(before, after, strict=True):
            assert torch.equal(one, other) and one.grad_fn.name() == other.grad_fn.name()
    assert not recwarn.list


def test_it_is_there_again_after_an_error():
    with pytest.raises(KeyboardInterrupt), forbid_operators(EXERCISES["layer_norm"]):
        raise KeyboardInterrupt
    assert F.layer_norm(torch.ones(2, 3), (3,)).shape == (2, 3)


def test_what_no_exercise_forbids_is_there_meanwhile():
    with forbid_operators(EXERCISES["layer_norm"]) as refusal:
        F.cross_entropy(torch.ones(2, 3), torch.tensor([0, 1]), label_smoothing=0.1)
        nn.GRU(2, 3)(torch.ones(1, 1, 2))
        torch.nn.functional.normalize(torch.ones(2, 3))
    assert refusal.problem is None


PLAIN_LOSSES = {
    "rows": ((4, 5), (4,), {}),
    "one row": ((5,), (), {}),
    "places": ((2, 5, 3), (2, 3), {"ignore_index": 1}),
    "shares": ((4, 5), (4, 5), {}),
    "shares of places": ((2, 5, 3), (2, 5, 3), {}),
    "shares of one row": ((5,), (5,), {}),
}


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", PLAIN_LOSSES)
def test_cross_entropy_without_smoothing_is_torchs(kind, weighted, reduction):
    shape, target_shape, more = PLAIN_LOSSES[kind]
    logits = torch.randn(shape, dtype=torch.float64, requires_grad=True)
    target = torch.rand(shape).double() if "shares" in kind else torch.randint(5, target_shape)
    weight = torch.rand(5).double() if weighted else None

    def loss():
        found = F.cross_entropy(logits, target, weight, reduction=reduction, **more)
        return found, *torch.autograd.grad(found.sum(), logits)

    right = loss()
    with forbid_operators(EXERCISES["label_smoothed_loss"]) as refusal:
        for mine, theirs in zip(loss(), right, strict=True):
            torch.testing.assert_close(mine, theirs)
    assert refusal.problem is None


# Settings that a cell leaves behind


@pytest.fixture
def restored():
    yield
    torch.set_default_dtype(torch.float32)
    torch.set_default_device("cpu")
    torch.set_grad_enabled(True)
    torch.autograd.set_detect_anomaly(False)


SETTINGS = {
    "float64 by default": lambda: torch.set_default_dtype(torch.float64),
    "another device": lambda: torch.set_default_device("meta"),
    "no gradients": lambda: torch.set_grad_enabled(False),
    "anomalies": lambda: torch.autograd.set_detect_anomaly(True),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_that_a_cell_left_on_costs_nothing(restored, name):
    SETTINGS[name]()
    assert verify(with_einsum_named(), CONTEXT).passed
    # Afterwards, the settings are as the cell left them.
    assert (torch.get_default_dtype() == torch.float64) == (name == "float64 by default")
    assert (torch.get_default_device().type == "meta") == (name == "another device")
    assert torch.is_grad_enabled() == (name != "no gradients")
    assert torch.is_anomaly_enabled() == (name == "anomalies")


def test_inference_mode_costs_nothing():
    with torch.inference_mode():
        assert verify(with_einsum_named(), CONTEXT).passed
        assert torch.is_inference_mode_enabled()


def with_einsum_named():
    def context_vector(weights, values):
        made = torch.zeros(())  # as the default device and dtype would have it
        return torch.einsum("bn,bnd->bd", weights, values) + made.to(values)

    return context_vector


# Parts

DECODER = EXERCISES["AttentionDecoder"]


def right_decoder():
    return next(e.answer for e in entries() if e.exercise == "AttentionDecoder" and e.right)


def earned(answer) -> dict[str, bool]:
    from autograder.instructor.authoring.reference_solution import compute_expected

    passed = {}
    for part in DECODER.parts:
        trials = []
        for case in DECODER.draw("parts"):
            some = part.restrict_case(case)
            if some is not None:
                outcome = run_case(answer, DECODER, some)
                trials.append(Trial(some, torch.float64, compute_expected(DECODER, some), outcome))
        assert trials
        passed[part.name] = judge(DECODER, trials, []).passed
    return passed


def test_a_right_answer_earns_every_part():
    assert earned(right_decoder()) == {"step": True, "readout": True, "forward": True}


def test_a_method_that_is_not_written_costs_its_part_alone():
    class Half(right_decoder()):
        def readout(self, *given):
            raise NotImplementedError

    found = earned(Half)
    assert found["step"] and not found["readout"]


def test_a_wrong_method_costs_its_part():
    class Wrong(right_decoder()):
        def step(self, *given):
            state, context, weights = super().step(*given)
            return state + 1, context, weights

    assert not earned(Wrong)["step"]
    assert earned(Wrong)["readout"]


def test_parts_must_add_up():
    with pytest.raises(ValueError, match="do not add up to 6 points"):
        replace(DECODER, parts=(Part("step", ("step",), 2),))


def test_a_part_keeps_what_it_needs_and_no_more():
    case = DECODER.draw(1)[0]
    part = Part("readout", ("readout",), 1).restrict_case(case)
    assert part is not None
    assert [call.method for call in part.calls] == ["readout", "readout"]
    assert set(part.upstream) == {"step_logits", "all_logits"}
    assert Part("none", ("nothing",), 1).restrict_case(case) is None
