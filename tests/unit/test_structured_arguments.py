"""Tests of exercises whose arguments and results are not just single float tensors."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from autograder.diagnose.compare import Expected
from autograder.diagnose.trial import Trial
from autograder.diagnose.verdict import judge
from autograder.exercises._fakes import TableStep
from autograder.run.runner import run_case
from autograder.spec.exercise import (
    Call,
    Case,
    Exercise,
    Fake,
    NamedDict,
    Part,
    SelectedRows,
    format_name_tree,
    list_named_dicts,
    list_names,
    resolve_names,
)
from autograder.spec.fakes import FAKES
from autograder.spec.outcome import Outcome
from tests.answers.sandboxed_verdicts import crossed

INPUTS = {
    "x": torch.tensor([1.0, 2.0]).double(),
    "h": torch.tensor([3.0, 4.0]).double(),
    "c": torch.tensor([5.0, 6.0]).double(),
}
CALL = Call(
    "",
    ("x", ("h", "c"), {"first": "x", "rest": ("h",)}, "K"),
    ("near", ("total", "position"), "score"),
    numbers=("score",),
)
CASE = Case(
    "one", INPUTS, (CALL,), extra_arguments={"K": 2}, upstream={"total": torch.ones(2).double()}
)
RIGHT = Expected(
    {
        "near": torch.tensor([True, False]),
        "total": torch.tensor([9.0, 12.0]).double(),
        "position": torch.tensor([1, 2]),
        "score": torch.tensor(4.5).double(),
    },
    {"x": torch.ones(2).double(), "h": torch.ones(2).double(), "c": torch.ones(2).double()},
)
KINDS = Exercise("kinds", 1, 1, 5, "(x, state, parts, K)", {}, lambda draw: [CASE])


def answer(x, state, parts, K):
    assert isinstance(state, tuple)
    assert set(parts) == {"first", "rest"}
    h, c = state
    return x < K, (x + h + c, torch.tensor([1, 2])), K * 2.25


def verdict(code):
    outcome = run_case(code, KINDS, CASE)
    return judge(KINDS, [Trial(CASE, torch.float64, RIGHT, outcome)], [])


def test_a_right_answer_passes():
    assert verdict(answer).passed


def test_lists_in_place_of_tuples_and_a_tensor_in_place_of_a_number_pass():
    def lists(x, state, parts, K):
        near, pair, score = answer(x, state, parts, K)
        return [near, list(pair), torch.tensor(score, dtype=x.dtype)]

    assert verdict(lists).passed


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda n, p, s: (n.double(), p, s), "near is float64; it must be bool."),
        (lambda n, p, s: (n.long(), p, s), "near is int64; it must be bool."),
        (
            lambda n, p, s: (n, (p[0], p[1].double()), s),
            "position is float64; it must be whole numbers (int64).",
        ),
        (lambda n, p, s: (n, (p[0], p[1] + 1), s), "position has wrong values."),
        (lambda n, p, s: (~n, p, s), "The result near is inverted"),
        (lambda n, p, s: (n, p, s + 1), "score has wrong values."),
        (
            lambda n, p, s: (n, *p),
            "must return 2 tensors: total, position; it returned one torch.Tensor.",
        ),
        (
            lambda n, p, s: (n, p),
            "must return 3 tensors: (near, (total, position), score); it returned 2 things.",
        ),
        (lambda n, p, s: (2.0, p, s), "must return near as a torch.Tensor; it returned a float."),
    ],
)
def test_a_wrong_kind_or_value_is_named(change, said):
    found = verdict(lambda *given: change(*answer(*given)))
    assert not found.passed
    assert said in found.headline


def test_what_is_given_stands_in_the_details():
    found = verdict(lambda *given: (answer(*given)[0], answer(*given)[1], 0.0))
    assert any("K=2" in line for line in found.details)


def test_a_part_needs_all_that_its_calls_take():
    first = Call("first", ("x", "K"), ("y",))
    second = Call("second", (("x", "y"),), ("z",))
    case = Case("two", INPUTS, (first, second), extra_arguments={"K": 1})
    assert Part("both", ("first", "second"), 1).restrict_case(case).calls == (first, second)
    assert Part("second", ("second",), 1).restrict_case(case) is None  # y comes from the first


def test_cases_cross_the_wire_as_they_are():
    stand_in = Fake("TableStep", ("dict",))
    given = {"K": 2, "D": 1.5, "none": None, "step": stand_in}
    before = Case("before", {"x": INPUTS["x"]}, (BEGIN,))
    case = Case("one", INPUTS, (CALL, STEP), extra_arguments=given, preceding_case=before)
    (back,) = crossed({"kinds": [case]})["kinds"]
    assert back.calls == case.calls
    assert back.extra_arguments == case.extra_arguments
    assert torch.equal(back.inputs["h"], case.inputs["h"])
    assert back.preceding_case is not None and back.preceding_case.calls == before.calls
    assert torch.equal(back.preceding_case.inputs["x"], INPUTS["x"])


def test_names_of_a_bundle():
    bundle = ("a", ("b", {"k": "c"}))
    assert list_names(bundle) == ["a", "b", "c"]
    assert resolve_names(bundle, {"a": 1, "b": 2, "c": 3}) == (1, (2, {"k": 3}))
    assert format_name_tree(bundle) == "(a, (b, {'k': c}))"
    assert format_name_tree(("x", SelectedRows("state", "rows"))) == "(x, state[rows])"


# Returned dicts that are passed to the next call

BEGIN = Call("", ("x",), (NamedDict("state", {"sums": "sums"}),))
STEP = Call("", ("x", SelectedRows("state", "rows")), ("y", NamedDict("next")))
LAST = Call("", ("x", "next"), ("z", {}))


class Carried:
    """Creates a state if called without one; otherwise adds to the given one."""

    def __call__(self, x, state=None):
        if state is None:
            return {"sums": x, "more": [{"kept": 2 * x}], "n": 3}
        y = x + state["sums"] + state["more"][0]["kept"] + state["n"]
        return y, {**state, "sums": y}


def carried(code, calls=(BEGIN, STEP, LAST)):
    inputs = {"x": INPUTS["x"], "rows": torch.tensor([1, 1])}
    return run_case(code, KINDS, Case("one", inputs, calls))


def test_a_dict_that_comes_back_is_handed_on_with_all_that_is_in_it():
    outcome = carried(Carried())
    assert outcome.problem is None
    assert outcome.outputs["sums"].tolist() == [1, 2]
    assert outcome.outputs["y"].tolist() == [1 + 2 + 4 + 3, 2 + 2 + 4 + 3]  # row 1, twice
    assert outcome.outputs["z"].tolist() == [1 + 10 + 4 + 3, 2 + 11 + 4 + 3]
    assert list(outcome.outputs) == ["sums", "y", "z"]
    assert [whole.name for whole in list_named_dicts(STEP.returns)] == ["next"]
    part = Part("all", ("",), 1).restrict_case(Case("one", {"x": INPUTS["x"]}, (BEGIN, STEP, LAST)))
    assert part.calls == (BEGIN,)  # without rows there is nothing to continue


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (torch.ones(2), "must return a dict with 'sums', not a torch.Tensor."),
        ({"sum": torch.ones(2)}, "must return a dict with 'sums', not one with 'sum'."),
        ({"sums": 2.0}, "must return sums as a torch.Tensor; it returned a float."),
        (
            {"sums": torch.ones(2), "one": torch.ones(1)},
            "of state: every tensor in it must have the rows on axis 0.",
        ),
        (
            {"sums": torch.ones(2), "one": torch.tensor(1)},
            "of state: every tensor in it must have the rows on axis 0.",
        ),
    ],
)
def test_a_state_of_another_form_is_named(state, said):
    def code(x, given=None):
        return state if given is None else (x, given)

    assert said in carried(code).problem[1]


def test_a_state_that_is_written_into_is_noticed():
    def code(x, state=None):
        if state is None:
            return {"sums": x.clone()}
        state["sums"] += 1
        return x, state

    step = Call("", ("x", "state"), ("y", {}))
    assert carried(code, (BEGIN, step)).mutated == ("sums",)


@pytest.mark.parametrize("tried", [torch.float32, torch.float64])
@pytest.mark.parametrize("dtype", [None, torch.float32, torch.float64])
def test_what_is_made_of_whole_numbers_has_torchs_default_dtype(dtype, tried):
    case = Case("one", {}, (Call("", ("n",), ("y",)),), extra_arguments={"n": 3})
    right = Expected({"y": torch.arange(3).double()}, {})

    def answer(n):
        return torch.arange(n).to(dtype or torch.get_default_dtype())

    outcome = run_case(answer, KINDS, case, tried)
    verdict = judge(KINDS, [Trial(case, tried, right, outcome)], [])
    assert verdict.passed == (dtype in (None, tried))
    assert verdict.passed or "torch.get_default_dtype()" in verdict.headline


@pytest.mark.parametrize("kind", ["tensor", "tuple", "dict"])
def test_the_table_model_gives_the_same_in_every_packing(kind):
    table = torch.randn(1, 5, 5).double()
    zero = torch.zeros(1, 5, 5).double()
    state = {
        "tensor": table,
        "tuple": (table - 1, zero + 1),
        "dict": {"tables": table - 2, "deep": (zero + 3, zero + 1)},
    }[kind]
    step, plain = TableStep(kind), TableStep("tensor")
    expected = table
    for token in (2, 4, 0):
        log_probs, state = step(torch.tensor([token]), state)
        wanted, expected = plain(torch.tensor([token]), expected)
        assert torch.allclose(log_probs, wanted)
        assert torch.allclose(log_probs.exp().sum(-1), torch.ones(1).double())


def test_the_table_model_remembers_all_words():
    step = TableStep("tensor")
    start = torch.randn(1, 5, 5).double()

    def after(*words):
        state = start
        for word in words:
            log_probs, state = step(torch.tensor([word]), state)
        return log_probs

    assert not torch.allclose(after(1, 3), after(2, 3))


def test_an_outcome_without_gradients_is_right_where_none_are_asked():
    case = Case("one", INPUTS, (Call("", ("x",), ("y",)),))
    right = Expected({"y": torch.tensor([1, 2])}, {})
    outcome = Outcome({"y": torch.tensor([1, 2], dtype=torch.int32)})
    assert judge(KINDS, [Trial(case, torch.float32, right, outcome)], []).passed


@pytest.mark.parametrize(
    ("stand_in", "misuse"),
    [
        (Fake("CountingScore", (2, 2)), lambda thing: thing.W),
        (Fake("NearLayers", (1, 2, 3)), lambda thing: thing[0].attention),
        (Fake("EchoLayers", (1, 2)), lambda thing: thing[0].attention),
        (Fake("PieceSet", ("a",)), list),
        (Fake("PieceIds", ("a",)), lambda thing: thing.index("a")),
        (Fake("Generator", (1,)), lambda thing: thing.random()),
    ],
    ids=lambda thing: getattr(thing, "name", ""),
)
def test_who_uses_a_stand_in_in_another_way_is_told_how(stand_in, misuse):
    case = Case("one", {}, (Call("", ("thing",), ("y",)),), extra_arguments={"thing": stand_in})
    outcome = run_case(misuse, KINDS, case)
    assert outcome.problem[0] == "raised"
    use = f"The check passes {FAKES[stand_in.name].use}; use nothing else of it."
    assert outcome.problem[1].endswith(use)


# A case that follows another one in the same module


class Adds(nn.Module):
    """Adds a parameter; subclasses define what it caches."""

    def __init__(self):
        super().__init__()
        self.b = nn.Parameter(torch.zeros(2))

    def forward(self, x):
        return x + self.b


class KeepsTheFirst(Adds):
    def forward(self, x):
        self.x = getattr(self, "x", x)
        return self.x + self.b


class KeepsItsResult(Adds):
    def forward(self, x):
        self.y = getattr(self, "y", torch.zeros(2, dtype=x.dtype))
        self.y.data.copy_(x + self.b)
        return self.y + 0 * x if torch.is_grad_enabled() else self.y


FORWARD = (Call("forward", ("x",), ("y",)),)
LATER = Case(
    "later",
    {"x": INPUTS["x"]},
    FORWARD,
    weights={"b": INPUTS["c"]},
    upstream={"y": torch.ones(2).double()},
    note="The first batch is right, a second one is not.",
    preceding_case=Case("first", {"x": INPUTS["h"]}, FORWARD),
)
ADDS = Exercise("Adds", 1, 1, 5, "(x)", {}, lambda draw: [LATER], is_class=True)


def judged_after(code):
    ones = torch.ones(2).double()
    right = Expected({"y": INPUTS["x"] + INPUTS["c"]}, {"x": ones, "b": ones})
    trial = Trial(LATER, torch.float64, right, run_case(code, ADDS, LATER))
    return judge(ADDS, [trial], [])


def test_what_comes_after_another_case_is_judged_by_itself():
    assert judged_after(Adds).passed


def test_what_is_kept_of_the_case_before_is_told():
    assert judged_after(KeepsTheFirst).headline == (
        "y has wrong values. The first batch is right, a second one is not."
    )


def test_a_result_of_the_case_before_stays_as_it_is():
    assert judged_after(KeepsItsResult).headline == (
        "Adds writes into y after it has returned it; compute a new tensor in each call."
    )


def test_a_part_keeps_its_calls_of_the_case_before():
    part = Part("forward", ("forward",), 1).restrict_case(LATER)
    assert part.preceding_case.calls == FORWARD
    assert Part("other", ("other",), 1).restrict_case(LATER) is None
    assert LATER.elements == 4


# Without gradients to compare


def test_what_cannot_work_with_parameters_that_ask_for_gradients_is_refused():
    case = Case(
        "one",
        {"x": torch.zeros(3, 2).double()},
        (Call("", ("model", "x"), ("y",)),),
        extra_arguments={"model": Fake("Embedding", (3, 2))},
    )

    def bare(model, x):
        model.weight.copy_(x)
        return x + 1

    def careful(model, x):
        with torch.no_grad():
            return bare(model, x)

    assert run_case(careful, KINDS, case).problem is None
    said = run_case(bare, KINDS, case).problem[1]
    assert "a leaf Variable that requires grad" in said
    assert "model.weight.copy_(x)" in said
    assert said.endswith("reads them under torch.no_grad().")
