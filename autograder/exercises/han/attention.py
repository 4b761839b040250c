"""The exercise of the notebook `han/attention`: what is called with which inputs."""

from __future__ import annotations

import torch
from torch import Tensor

from autograder.drawing import Draw, below
from autograder.exercise import Call, Case, Exercise
from autograder.exercises.reading import KEPT, SECOND, also_others, other, others


def _pooling_cases(draw: Draw) -> list[Case]:
    call = Call("forward", ("states", "mask"), ("pooled", "weights"))
    # What a module keeps from one batch must not get into the next.
    again = Call("forward", other("states", "mask"), other("pooled", "weights"))

    def given(mask: Tensor, d: int) -> dict[str, Tensor]:
        states = draw.tensor(*mask.shape, d)
        # What stands on padding is not 0.
        return {"states": torch.where(mask.unsqueeze(-1), states, 2 * states), "mask": mask}

    def case(
        name: str,
        mask: Tensor,
        d: int,
        a: int,
        other_mask: Tensor | None = None,
        note: str = "",
        large: float = 1.0,
    ) -> Case:
        b, n = mask.shape
        inputs = given(mask, d)
        if other_mask is not None:
            inputs |= others(given(other_mask, d))
        return Case(
            name,
            inputs,
            (call,) if other_mask is None else (call, again),
            construct={"input_size": d, "attention_size": a},
            weights={
                "projection.weight": draw.tensor(a, d, scale=0.7),
                "projection.bias": draw.tensor(a, scale=0.6),
                "context": draw.tensor(a, scale=large),
            },
            upstream={"pooled": draw.tensor(b, d), "weights": draw.tensor(b, n)},
            note=note,
        )

    b, n, d, a = draw.sizes(4, 3)
    lengths = draw.lengths(b, n)
    empty = below(lengths, n)
    empty[0] = False
    return [
        case("one sentence of one word", torch.ones(1, 1, dtype=torch.bool), 2, 3),
        case("two sentences, one with padding", below(torch.tensor([2, 3]), 3), 2, 4),
        case("all sizes different", below(lengths, n), d, a),
        case("all sentences shorter than the batch is wide", below(lengths, n + 2), d, a),
        case(
            "a sentence without any word",
            empty,
            d,
            a,
            note="A sentence without any word has weights of 0 and a vector of 0.",
        ),
        case("two sentences without any word", torch.zeros(2, 3, dtype=torch.bool), 2, 4),
        case(
            "masks with holes",
            draw.holes(b, n),
            d,
            a,
            note="The mask may have holes: a document may have an empty sentence in its middle.",
        ),
        case("state and projection of one size", below(lengths, n), d, d),
        case("all sizes equal", below(draw.lengths(b, b), b), b, b),
        case(
            "a large context vector",
            below(lengths, n),
            d,
            a,
            note="The scores are not scaled: u is not divided by anything.",
            large=6.0,
        ),
        case(
            SECOND,
            below(torch.tensor([2, 3]), 3),
            4,
            5,
            other_mask=torch.tensor([[True, False, True], [False, True, False]]),
            note=KEPT,
        ),
    ]


EXERCISES: list[Exercise] = [
    Exercise(
        name="AttentionPooling",
        assignment="han",
        notebook="attention",
        points=4,
        signature="(states, mask)",
        axes=also_others({"states": "B N d", "mask": "B N", "pooled": "B d", "weights": "B N"}),
        cases=_pooling_cases,
        weights_over={"weights": "mask", "other_weights": "other_mask"},
        is_class=True,
    ),
]
