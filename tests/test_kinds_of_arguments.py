"""Exercises whose arguments and results are more than single floating tensors."""

from __future__ import annotations

import pytest
import torch

from autograder.comparing import Expected
from autograder.exercise import (
    WHOLE,
    Call,
    Case,
    Exercise,
    Part,
    StandIn,
    filled,
    names_in,
    wholes_in,
    written,
)
from autograder.judging import Trial, judge
from autograder.performing import Outcome, perform
from autograder.sandbox.plain import pack_cases, unpack_cases
from autograder.sandbox.wire import Channel, pack
from autograder.stand_ins import STAND_INS, USES, TableStep

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
CASE = Case("one", INPUTS, (CALL,), given={"K": 2}, upstream={"total": torch.ones(2).double()})
RIGHT = Expected(
    {
        "near": torch.tensor([True, False]),
        "total": torch.tensor([9.0, 12.0]).double(),
        "position": torch.tensor([1, 2]),
        "score": torch.tensor(4.5).double(),
    },
    {"x": torch.ones(2).double(), "h": torch.ones(2).double(), "c": torch.ones(2).double()},
)
KINDS = Exercise("kinds", "none", "none", 1, "(x, state, parts, K)", {}, lambda draw: [CASE])


def answer(x, state, parts, K):
    assert isinstance(state, tuple)
    assert set(parts) == {"first", "rest"}
    h, c = state
    return x < K, (x + h + c, torch.tensor([1, 2])), K * 2.25


def verdict(code):
    outcome = perform(code, KINDS, CASE)
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
        (lambda n, p, s: (~n, p, s), "near has wrong values."),
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
    case = Case("two", INPUTS, (first, second), given={"K": 1})
    assert Part("both", ("first", "second"), 1).of(case).calls == (first, second)
    assert Part("second", ("second",), 1).of(case) is None  # y comes from the first


def test_cases_cross_the_wire_as_they_are():
    stand_in = StandIn("TableStep", ("dict",))
    case = Case("one", INPUTS, (CALL,), given={"K": 2, "D": 1.5, "none": None, "step": stand_in})
    header, tensors = pack_cases({"kinds": [case]})
    import socket

    here, there = socket.socketpair()
    here.sendall(pack(header, tensors))
    received, payload = Channel(there).receive()
    back = unpack_cases(received, payload)["kinds"][0]
    assert back.calls == case.calls
    assert back.given == case.given
    assert torch.equal(back.inputs["h"], case.inputs["h"])
    outcome = perform(answer, KINDS, back)
    assert outcome.problem is None


def test_names_of_a_bundle():
    bundle = ("a", ("b", {"k": "c"}))
    assert list(names_in(bundle)) == ["a", "b", "c"]
    assert filled(bundle, {"a": 1, "b": 2, "c": 3}) == (1, (2, {"k": 3}))
    assert written(bundle) == "(a, (b, {'k': c}))"


# Dicts that come back, and go into the next call as they are

BEGIN = Call("", ("x",), ({WHOLE: "state", "sums": "sums"},))
STEP = Call("", ("x", "state[rows]"), ("y", {WHOLE: "next"}))
LAST = Call("", ("x", "next"), ("z", {}))


class Carried:
    """Called without a state it begins one; with one it adds what is in it."""

    def __call__(self, x, state=None):
        if state is None:
            return {"sums": x, "more": [{"kept": 2 * x}], "n": 3}
        y = x + state["sums"] + state["more"][0]["kept"] + state["n"]
        return y, {**state, "sums": y}


def carried(code, calls=(BEGIN, STEP, LAST)):
    inputs = {"x": INPUTS["x"], "rows": torch.tensor([1, 1])}
    return perform(code, KINDS, Case("one", inputs, calls))


def test_a_dict_that_comes_back_is_handed_on_with_all_that_is_in_it():
    outcome = carried(Carried())
    assert outcome.problem is None
    assert outcome.outputs["sums"].tolist() == [1, 2]
    assert outcome.outputs["y"].tolist() == [1 + 2 + 4 + 3, 2 + 2 + 4 + 3]  # row 1, twice
    assert outcome.outputs["z"].tolist() == [1 + 10 + 4 + 3, 2 + 11 + 4 + 3]
    assert list(outcome.outputs) == ["sums", "y", "z"]
    assert list(wholes_in(STEP.returns)) == ["next"]
    part = Part("all", ("",), 1).of(Case("one", {"x": INPUTS["x"]}, (BEGIN, STEP, LAST)))
    assert part.calls == (BEGIN,)  # without rows there is nothing to go on with


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (torch.ones(2), "must return a dict with 'sums', not a torch.Tensor."),
        ({"sum": torch.ones(2)}, "must return a dict with 'sums', not one with 'sum'."),
        ({"sums": 2.0}, "must return sums as a torch.Tensor; it returned a float."),
        ({"sums": torch.ones(2), "one": torch.ones(1)}, "have them on its axis 0."),
        ({"sums": torch.ones(2), "one": torch.tensor(1)}, "have them on its axis 0."),
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
    assert carried(code, (BEGIN, step)).changed == ("sums",)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_what_is_made_of_whole_numbers_has_any_dtype(dtype):
    case = Case("one", {}, (Call("", ("n",), ("y",)),), given={"n": 3})
    right = Expected({"y": torch.arange(3).double()}, {})
    outcome = perform(lambda n: torch.arange(n).to(dtype), KINDS, case)
    assert judge(KINDS, [Trial(case, torch.float64, right, outcome)], []).passed


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


def test_whoever_looks_into_a_stand_in_is_told_how_to_use_it():
    case = Case(
        "one",
        INPUTS,
        (Call("", ("x", "score"), ("y",)),),
        given={"score": StandIn("CountingScore", (2, 2))},
    )
    outcome = perform(lambda x, score: x @ score.W, KINDS, case)
    assert outcome.problem[0] == "raised"
    assert "a score of its own: call it with (query, keys), and use nothing" in outcome.problem[1]


def test_every_stand_in_says_how_it_is_used():
    # By the name in an error's message: that of what a list holds; torch's own layers need no word.
    named = {"NearLayers": {"NearLayer"}, "Embedding": set()}
    assert USES.keys() == set().union(*(named.get(name, {name}) for name in STAND_INS))
