"""Test cases of the exercise of the notebook `han/attention`."""

from __future__ import annotations

import torch
from torch import Tensor

from autograder.exercises._padded_sequences import make_second_batch_case
from autograder.spec.exercise import Call, Case, Exercise
from autograder.spec.seeded_inputs import SeededInputs, length_mask


def _pooling_cases(draw: SeededInputs) -> list[Case]:
    call = Call("forward", ("states", "mask"), ("pooled", "weights"))

    def case(name: str, mask: Tensor, d: int, a: int, note: str = "", large: float = 1.0) -> Case:
        b, n = mask.shape
        states = draw.tensor(b, n, d)
        # What stands on padding is not 0.
        states = torch.where(mask.unsqueeze(-1), states, 2 * states)
        return Case(
            name,
            {"states": states, "mask": mask},
            (call,),
            init_arguments={"input_size": d, "attention_size": a},
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
    empty = length_mask(lengths, n)
    empty[0] = False
    return [
        case("one sentence of one word", torch.ones(1, 1, dtype=torch.bool), 2, 3),
        case("two sentences, one with padding", length_mask(torch.tensor([2, 3]), 3), 2, 4),
        case("all sizes different", length_mask(lengths, n), d, a),
        case("all sentences shorter than the batch is wide", length_mask(lengths, n + 2), d, a),
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
            draw.random_mask(b, n),
            d,
            a,
            note="The mask may have holes: a document may have an empty sentence in its middle.",
        ),
        case("state and projection of one size", length_mask(lengths, n), d, d),
        case("all sizes equal", length_mask(draw.lengths(b, b), b), b, b),
        case(
            "a large context vector",
            length_mask(lengths, n),
            d,
            a,
            note="The scores are not scaled: u is not divided by anything.",
            large=6.0,
        ),
        make_second_batch_case(
            case("", length_mask(torch.tensor([2, 3]), 3), 4, 5),
            case("", torch.tensor([[True, False, True], [False, True, False]]), 4, 5),
        ),
    ]


ATTENTION_POOLING = Exercise(
    name="AttentionPooling",
    points=4,
    difficulty=2,
    minutes=20,
    signature="(states, mask)",
    axes={"states": "B N d", "mask": "B N", "pooled": "B d", "weights": "B N"},
    cases=_pooling_cases,
    normalized_outputs={"weights": "mask"},
    is_class=True,
)
