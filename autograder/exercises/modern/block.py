"""Test cases of the exercises of the notebook `modern/block`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from autograder.spec.exercise import Call, Case, Exercise
from autograder.spec.seeded_inputs import SeededInputs, length_mask


def _norm_cases(draw: SeededInputs) -> list[Case]:
    def case(
        name: str,
        *shape: int,
        eps: float | None = None,
        scale: float = 1.0,
        shift: float = 0.0,
        note: str = "",
    ) -> Case:
        arguments = ("x", "weight") if eps is None else ("x", "weight", "eps")
        return Case(
            name,
            {
                "x": draw.tensor(*shape, scale=scale, shift=shift),
                "weight": draw.tensor(shape[-1], scale=0.4, shift=1.0),
            },
            (Call("", arguments, ("y",)),),
            extra_arguments={} if eps is None else {"eps": eps},
            upstream={"y": draw.tensor(*shape)},
            note=note,
        )

    b, t, d = sorted([*draw.sizes(2, 2, 4), draw.integer(5, 7)])
    zeros = case("a vector of zeros", b, d, eps=0.04)
    zeros.inputs["x"][0] = 0.0
    one = case("one vector of two numbers", 1, 2)
    one.inputs["x"][0] += torch.tensor([1.0, -1.0])
    return [
        one,
        case("one vector of four numbers", 1, 4),
        case("one vector without other axes", 5),
        case("all sizes different", b, t, d),
        case("four axes", 2, 3, 4, d, note="The leading axes (...) may be any."),
        case("as many vectors as numbers", d, d, note="The mean is over the last axis."),
        case("numbers far from 0", b, d, shift=3.0, note="No mean is taken off."),
        case(
            "small numbers", b, d, scale=2e-3, note="eps is added to the mean square: it matters."
        ),
        case("a large eps", b, t, d, eps=0.75, note="eps is given here: add it, whatever it is."),
        case("a large eps, small numbers", b, d, eps=0.25, scale=0.25),
        zeros,
    ]


RMS_NORM = Exercise(
    name="rms_norm",
    points=2,
    difficulty=1,
    minutes=10,
    signature="(x, weight, eps=1e-06)",
    axes={"x": "... d", "weight": "d", "y": "... d"},
    cases=_norm_cases,
    forbidden=("rms_norm",),
)


def _rotary_cases(draw: SeededInputs) -> list[Case]:
    def case(
        name: str,
        leading: tuple[int, ...],
        places: list[int],
        d: int,
        base: float | None = None,
        note: str = "",
    ) -> Case:
        arguments = ("x", "positions") if base is None else ("x", "positions", "base")
        shape = (*leading, len(places), d)
        return Case(
            name,
            {"x": draw.tensor(*shape), "positions": torch.tensor(places)},
            (Call("", arguments, ("y",)),),
            extra_arguments={} if base is None else {"base": base},
            upstream={"y": draw.tensor(*shape)},
            note=note,
        )

    b, h, n = draw.sizes(3, 2, 5)
    d = 2 * draw.integer(3, 5)
    start = draw.integer(9, 17)
    given = "Positions are given: they need not begin at 0, and may come in any order."
    return [
        case("one vector at position 0, one pair", (), [0], 2, note="At position 0 nothing turns."),
        case("one vector at position 1, one pair", (), [1], 2),
        case("one vector at position 1, two pairs", (), [1], 4),
        case("three positions", (), [0, 1, 2], 4),
        case("batch and heads", (b, h), list(range(n)), d, note="Leading axes (...) may be any."),
        case("a batch without heads", (b,), list(range(n)), d),
        case("positions that begin later", (b, h), list(range(start, start + n)), d, note=given),
        case("positions in any order, one of them twice", (b,), [7, 2, 30, 2], d, note=given),
        case("another base", (b,), list(range(n)), d, base=100.0, note="The base is given here."),
        case("as many positions as numbers", (2,), list(range(d)), d),
        case("as many heads as positions", (n, n), list(range(n)), d),
    ]


ROTARY_POSITIONS = Exercise(
    name="rotary_positions",
    points=3,
    difficulty=2,
    minutes=20,
    signature="(x, positions, base=10000.0)",
    axes={"x": "... N d", "positions": "N", "y": "... N d"},
    cases=_rotary_cases,
)


def _grouped_cases(draw: SeededInputs) -> list[Case]:
    def case(
        name: str,
        b: int,
        heads: tuple[int, int],
        t: int,
        n: int,
        sizes: tuple[int, int],
        mask: Tensor | None = None,
        left_out: bool = False,
        note: str = "",
    ) -> Case:
        (h, groups), (d_k, d_v) = heads, sizes
        inputs = {
            "query": draw.tensor(b, h, t, d_k),
            "key": draw.tensor(b, groups, n, d_k),
            "value": draw.tensor(b, groups, n, d_v),
        }
        given: dict[str, Any] = {}
        arguments: tuple[str, ...] = ("query", "key", "value", "mask")
        if mask is not None:
            inputs["mask"] = mask
        elif left_out:
            arguments = arguments[:-1]
        else:
            given["mask"] = None
        return Case(
            name,
            inputs,
            (Call("", arguments, ("output", "weights")),),
            extra_arguments=given,
            upstream={"output": draw.tensor(b, h, t, d_v), "weights": draw.tensor(b, h, t, n)},
            note=note,
        )

    b, t = draw.sizes(2, 2, 3)
    n, d_k, d_v = draw.sizes(3, 4, 6)
    texts, queries, keys, d_query, d_value = (  # none of them 6 or 2
        (3, 4, 5, 7, 8)[place - 1] for place in draw.sizes(5, 1, 5)
    )
    places = torch.arange(n)
    earlier = places <= places[-t:].unsqueeze(1)  # (T, N)
    ragged = length_mask(draw.lengths(b, n), n)[:, None, None]  # (B, 1, 1, N)
    gone = draw.random_mask(b, 1, t, n)
    gone[0, 0, 1] = False
    per_head = draw.random_mask(2, 4, 3, 5)
    per_head[1, 2, 0] = False
    neighbours = (
        "Neighbouring heads of queries share a head: with h = 4 and G = 2 they are 0, 0, 1, 1."
    )
    return [
        case("one query, one key, one group for two heads", 1, (2, 1), 1, 1, (2, 3)),
        case("two groups for four heads", 1, (4, 2), 1, 2, (2, 3), note=neighbours),
        case(
            "all sizes different", texts, (6, 2), queries, keys, (d_query, d_value), note=neighbours
        ),
        case("three groups for six heads, left out mask", b, (6, 3), t, n, (d_k, d_v), None, True),
        case("one group for all heads", b, (4, 1), t, n, (d_k, d_v)),
        case("as many groups as heads", b, (3, 3), t, n, (d_k, d_v)),
        case("one mask for all", b, (4, 2), t, n, (d_k, d_v), earlier),
        case("texts of different length", b, (4, 2), t, n, (d_k, d_v), ragged),
        case("a query that may attend to nothing", b, (4, 2), t, n, (d_k, d_v), gone),
        case("a mask for each head", 2, (4, 2), 3, 5, (4, 2), per_head),
        case("keys and values of one size", b, (6, 2), t, n, (d_k, d_k), ragged),
        case("all sizes equal", 2, (2, 2), 2, 2, (2, 2)),
    ]


def _by_grouped_attention(case: Case) -> Sequence[Tensor]:
    i = case.inputs
    given = i["query"], i["key"], i["value"], i.get("mask")
    return [F.scaled_dot_product_attention(*given, enable_gqa=True)]


GROUPED_QUERY_ATTENTION = Exercise(
    name="grouped_query_attention",
    points=3,
    difficulty=2,
    minutes=20,
    signature="(query, key, value, mask=None)",
    axes={
        "query": "B h T d_k",
        "key": "B G N d_k",
        "value": "B G N d_v",
        "mask": "... T N",
        "output": "B h T d_v",
        "weights": "B h T N",
    },
    cases=_grouped_cases,
    forbidden=("scaled_dot_product_attention",),
    operator=_by_grouped_attention,
)


def _swiglu_cases(draw: SeededInputs) -> list[Case]:
    def case(name: str, d: int, m: int, *leading: int, note: str = "") -> Case:
        return Case(
            name,
            {
                "x": draw.tensor(*leading, d),
                "gate": draw.tensor(m, d),
                "up": draw.tensor(m, d),
                "down": draw.tensor(d, m),
            },
            (Call("", ("x", "gate", "up", "down"), ("y",)),),
            upstream={"y": draw.tensor(*leading, d)},
            note=note,
        )

    b, t, d, m = draw.sizes(4, 2, 7)
    return [
        case("one vector of two numbers, one unit", 2, 1, 1),
        case("one vector without other axes", 3, 4),
        case("one text of three words", 3, 4, 1, 3),
        case("all sizes different", d, m, b, t),
        case("as many units as numbers", d, d, b, t),
        case("fewer units than numbers", 6, 2, b, t),
        case("all sizes equal", b, b, b, b),
        case("four axes", d, m, 2, b, t, note="The leading axes (...) may be any."),
    ]


SWIGLU = Exercise(
    name="swiglu",
    points=2,
    difficulty=1,
    minutes=10,
    signature="(x, gate, up, down)",
    axes={"x": "... d", "gate": "m d", "up": "m d", "down": "d m", "y": "... d"},
    cases=_swiglu_cases,
)


def _lora_cases(draw: SeededInputs) -> list[Case]:
    def case(
        name: str,
        leading: tuple[int, ...],
        d: int,
        m: int,
        r: int,
        scale: float = 2.0,
        biased: bool = True,
        first: bool = False,
        note: str = "",
    ) -> Case:
        inputs = {
            "x": draw.tensor(*leading, d),
            "weight": draw.tensor(m, d),
            "A": draw.tensor(r, d),
            "B": torch.zeros(m, r, dtype=torch.float64) if first else draw.tensor(m, r),
        }
        given: dict[str, Any] = {"scale": scale}
        if biased:
            inputs["bias"] = draw.tensor(m)
        else:
            given["bias"] = None
        return Case(
            name,
            inputs,
            (Call("", ("x", "weight", "bias", "A", "B", "scale"), ("y",)),),
            extra_arguments=given,
            upstream={"y": draw.tensor(*leading, m)},
            note=note,
        )

    b, t, d, m = draw.sizes(4, 3, 7)
    return [
        case("one vector, rank 1", (1,), 2, 3, 1),
        case("one vector without other axes", (), d, m, 2),
        case("all sizes different", (b, t), d, m, 2, 8.0),
        case("no bias (None)", (b,), d, m, 2, biased=False, note="The bias may be None."),
        case("B is 0, as before the first step", (b,), d, m, 2, first=True),
        case("another scale", (b, t), d, m, 2, 0.5, note="The scale is given, and divided by r."),
        case("a whole number for a scale", (b,), d, m, 3, 6),
        case("as many outputs as inputs", (b,), d, d, 2),
        case("rank as large as the matrix", (b,), d, d, d),
        case("all sizes equal", (3, 3), 3, 3, 3),
        case("four axes", (2, 3, b), d, m, 2, note="The leading axes (...) may be any."),
    ]


LORA_LINEAR = Exercise(
    name="lora_linear",
    points=2,
    difficulty=1,
    minutes=15,
    signature="(x, weight, bias, A, B, scale)",
    axes={"x": "... d", "weight": "m d", "bias": "m", "A": "r d", "B": "m r", "y": "... m"},
    cases=_lora_cases,
)
