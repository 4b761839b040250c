"""Test cases of the exercises of the notebook `luong/decoder`."""

from __future__ import annotations

import torch
from torch import Tensor

from autograder.exercises._dropout_cases import add_training_cases
from autograder.exercises._padded_sequences import make_second_batch_case, recurrent
from autograder.spec.exercise import Call, Case, Exercise, Fake, Part
from autograder.spec.seeded_inputs import SeededInputs, length_mask


def _state_cases(draw: SeededInputs) -> list[Case]:
    call = (Call("", ("context", "state", "W"), ("attentional",)),)

    def case(name: str, leading: tuple[int, ...], a: int, d: int, n: int, note: str = "") -> Case:
        inputs = {
            "context": draw.tensor(*leading, a),
            "state": draw.tensor(*leading, d),
            "W": draw.tensor(n, a + d, scale=0.6),
        }
        upstream = {"attentional": draw.tensor(*leading, n)}
        return Case(name, inputs, call, upstream=upstream, note=note)

    b, t, a, d, n = draw.sizes(5)
    while a + d in (b, t, n):  # a + d is the size of an axis too
        b, t, a, d, n = draw.sizes(5)
    return [
        case("one sentence", (1,), 2, 3, 4),
        case("all sizes different", (b,), a, d, n),
        case("context and state of one size", (b,), a, a, n),
        case(
            "all target words at once",
            (b, t),
            a,
            d,
            n,
            "The leading axes (...) may be (B,) or (B, T): work on the last axis alone.",
        ),
        case("as many words as sentences", (b, b), a, d, n),
        case("all sizes equal", (b,), b, b, b),
    ]


ATTENTIONAL_STATE = Exercise(
    name="attentional_state",
    points=2,
    difficulty=1,
    minutes=5,
    signature="(context, state, W)",
    axes={"context": "... a", "state": "... d", "W": "n a+d", "attentional": "... n"},
    cases=_state_cases,
)


def _decoder_cases(draw: SeededInputs) -> list[Case]:
    calls = (
        Call(
            "step",
            ("embedded", "state", "attentional", "keys", "mask", "position"),
            ("next_state", "next_attentional", "step_weights"),
        ),
        Call("forward", ("tokens", "keys", "mask", "state"), ("logits", "weights")),
    )

    def case(
        name: str,
        mask: Tensor,
        t: int,
        v: int,
        e: int,
        d: int,
        a: int,
        position: int,
        feeding: bool | None = None,
        note: str = "",
    ) -> Case:
        b, s = mask.shape
        keys = draw.tensor(b, s, a)
        inputs = {
            "tokens": draw.tokens(b, t, vocabulary_size=v),
            "keys": torch.where(mask.unsqueeze(-1), keys, 2 * keys),  # padding is not 0
            "mask": mask,
            "state": draw.tensor(b, d, scale=0.6),
            "embedded": draw.tensor(b, e),
            "attentional": draw.tensor(b, d, scale=0.6),
        }
        construct = {
            "vocabulary_size": v,
            "embedding_size": e,
            "hidden_size": d,
            "key_size": a,
            "attention": Fake("PositionAttention", (d, a, 3)),
        }
        if feeding is not None:
            construct["input_feeding"] = feeding
        width = e if feeding is False else e + d
        return Case(
            name,
            inputs,
            calls,
            extra_arguments={"position": position},
            init_arguments=construct,
            weights={
                "attention.P": draw.tensor(3, d),
                "attention.R": draw.tensor(3, a),
                "embedding.weight": draw.tensor(v, e),
                **recurrent(draw, "cell.", 3, width, d),
                "combine.weight": draw.tensor(d, a + d, scale=0.6),
                "output.weight": draw.tensor(v, d),
            },
            upstream={
                "next_state": draw.tensor(b, d),
                "next_attentional": draw.tensor(b, d),
                "step_weights": draw.tensor(b, s),
                "logits": draw.tensor(b, t, v),
                "weights": draw.tensor(b, t, s),
            },
            note=note,
        )

    b, s, t, d, e, a = draw.sizes(6, 2, 7)
    lengths = draw.lengths(b, s)
    empty = length_mask(lengths, s)
    empty[0] = False
    one = torch.ones(1, 1, dtype=torch.bool)
    return [
        case("one source word, one target word", one, 1, 5, 2, 3, 4, 0),
        case(
            "one sentence, two target words", torch.ones(1, 3, dtype=torch.bool), 2, 5, 2, 3, 4, 1
        ),
        case("sentences of different length", length_mask(lengths, s), t, 9, e, d, a, 3),
        case(
            "without input feeding",
            length_mask(torch.tensor([2, 3]), 3),
            4,
            6,
            2,
            3,
            5,
            2,
            feeding=False,
            note="This decoder is built with input_feeding=False: its cell reads E y_{t-1} alone.",
        ),
        case("a sentence without any real word", empty, t, 9, e, d, a, 1),
        case(
            "state, embedding and key of one size",
            length_mask(lengths, s),
            t,
            9,
            e,
            e,
            e,
            2,
            feeding=True,
        ),
        make_second_batch_case(
            case("", length_mask(torch.tensor([2, 3]), 3), 2, 5, 2, 3, 4, 1),
            case("", length_mask(torch.tensor([3, 1]), 3), 2, 5, 2, 3, 4, 3),
        ),
        *add_training_cases(
            case("", length_mask(torch.tensor([2, 3]), 3), 2, 5, 3, 2, 4, 1, feeding=True),
            "the embedded words and on h~ before the output",
        ),
    ]


_AXES = {
    "tokens": "B T",
    "keys": "B S a",
    "mask": "B S",
    "state": "B d",
    "embedded": "B e",
    "attentional": "B d",
    "next_state": "B d",
    "next_attentional": "B d",
    "step_weights": "B S",
    "logits": "B T V",
    "weights": "B T S",
}


LUONG_DECODER = Exercise(
    name="LuongDecoder",
    points=6,
    difficulty=3,
    minutes=40,
    signature="(tokens, keys, mask, first_state)",
    axes=_AXES,
    cases=_decoder_cases,
    normalized_outputs={"weights": "mask", "step_weights": "mask"},
    is_class=True,
    parts=(Part("step", ("step",), 4), Part("forward", ("forward",), 2)),
)
