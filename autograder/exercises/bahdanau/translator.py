"""Test cases of the exercises of the notebook `bahdanau/translator`."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from autograder.exercises._dropout_cases import add_training_cases
from autograder.exercises._padded_sequences import (
    both_directions,
    make_second_batch_case,
    padded_tokens,
    put_words_on_padding,
    recurrent,
)
from autograder.spec.exercise import Call, Case, Exercise, Fake, Part
from autograder.spec.seeded_inputs import SeededInputs, length_mask


def _encoder_cases(draw: SeededInputs) -> list[Case]:
    call = Call("forward", ("tokens", "lengths"), ("annotations", "first_state"))

    def case(name: str, lengths: Tensor, longest: int, v: int, e: int, d: int) -> Case:
        b = len(lengths)
        return Case(
            name,
            {"tokens": padded_tokens(draw, lengths, longest, v), "lengths": lengths},
            (call,),
            init_arguments={"vocabulary_size": v, "embedding_size": e, "hidden_size": d},
            weights={
                "embedding.weight": draw.tensor(v, e),  # the row of padding is not 0 either
                **both_directions(draw, "rnn.", 3, e, d),
                "first_state.weight": draw.tensor(d, d, scale=0.7),
                "first_state.bias": draw.tensor(d, scale=0.3),
            },
            valid_masks={"annotations": length_mask(lengths, longest)},
            upstream={
                "annotations": draw.tensor(b, longest, 2 * d),
                "first_state": draw.tensor(b, d),
            },
        )

    b, s, e, d = draw.sizes(4, 3, 7)
    while 2 * d in (b, s, e):  # 2d is the size of an axis too
        b, s, e, d = draw.sizes(4, 3, 7)
    return [
        case("one sentence of one word", torch.tensor([1]), 1, 6, 3, 2),
        case("one sentence of three words", torch.tensor([3]), 3, 7, 2, 3),
        case("two sentences, the first one shorter", torch.tensor([2, 3]), 3, 7, 3, 2),
        case("sentences of different length", draw.lengths(b, s), s, 11, e, d),
        case("all sentences shorter than the batch is wide", draw.lengths(b, s), s + 2, 11, e, d),
        put_words_on_padding(draw, case("", torch.tensor([2, 3]), 3, 7, 3, 2), "tokens", 7),
        make_second_batch_case(
            case("", torch.tensor([2, 3]), 3, 7, 3, 2), case("", torch.tensor([3, 1]), 3, 7, 3, 2)
        ),
        *add_training_cases(
            case("", torch.tensor([1, 3]), 3, 6, 3, 2), "the embedded words and on the annotations"
        ),
    ]


BIDIRECTIONAL_ENCODER = Exercise(
    name="BidirectionalEncoder",
    points=4,
    difficulty=2,
    minutes=25,
    signature="(tokens, lengths)",
    axes={"tokens": "B S", "lengths": "B", "annotations": "B S 2d", "first_state": "B d"},
    cases=_encoder_cases,
    is_class=True,
)


def _decoder_cases(draw: SeededInputs) -> list[Case]:
    calls = (
        Call(
            "step",
            ("embedded", "state", "annotations", "mask"),
            ("next_state", "context", "step_weights"),
        ),
        Call("readout", ("embedded", "state", "contexts"), ("step_logits",)),
        Call("readout", ("words", "states", "all_contexts"), ("all_logits",)),
        Call("forward", ("tokens", "annotations", "mask", "state"), ("logits", "weights")),
    )
    projected_calls = (
        Call(
            "step",
            ("embedded", "state", "annotations", "mask", "projected_keys"),
            ("next_state", "context", "step_weights"),
        ),
    )

    def case(
        name: str, mask: Tensor, t: int, v: int, e: int, d: int, a: int, d_att: int = 3
    ) -> Case:
        b, s = mask.shape
        annotations = draw.tensor(b, s, a)
        return Case(
            name,
            {
                "tokens": draw.tokens(b, t, vocabulary_size=v),
                "annotations": torch.where(mask.unsqueeze(-1), annotations, 2 * annotations),
                "mask": mask,
                "state": draw.tensor(b, d, scale=0.6),
                "embedded": draw.tensor(b, e),
                "contexts": draw.tensor(b, a),
                "words": draw.tensor(b, t, e),
                "states": draw.tensor(b, t, d, scale=0.6),
                "all_contexts": draw.tensor(b, t, a),
            },
            calls,
            init_arguments={
                "vocabulary_size": v,
                "embedding_size": e,
                "hidden_size": d,
                "annotation_size": a,
                "attention": Fake("DistanceAttention", (d, a, d_att)),
            },
            weights={
                "attention.P": draw.tensor(d_att, d),
                "attention.R": draw.tensor(d_att, a),
                "embedding.weight": draw.tensor(v, e),
                **recurrent(draw, "cell.", 3, e + a, d),
                "hidden.weight": draw.tensor(e, e + d + a, scale=0.6),
                "hidden.bias": draw.tensor(e, scale=0.3),
                "output.weight": draw.tensor(v, e),
                "output.bias": draw.tensor(v, scale=0.3),
            },
            upstream={
                "next_state": draw.tensor(b, d),
                "context": draw.tensor(b, a),
                "step_weights": draw.tensor(b, s),
                "step_logits": draw.tensor(b, v),
                "all_logits": draw.tensor(b, t, v),
                "logits": draw.tensor(b, t, v),
                "weights": draw.tensor(b, t, s),
            },
        )

    b, s, t, d, e, a = draw.sizes(6, 2, 7)
    projected = case("", length_mask(torch.tensor([2, 3]), 3), 1, 5, 2, 3, 4)
    step_upstream = ("next_state", "context", "step_weights")
    lengths = draw.lengths(b, s)
    empty = length_mask(lengths, s)
    empty[0] = False
    one = torch.ones(1, 1, dtype=torch.bool)
    return [
        case("one source word, one target word", one, 1, 5, 2, 3, 4),
        case("one sentence, two target words", torch.ones(1, 3, dtype=torch.bool), 2, 5, 2, 3, 4),
        case("sentences of different length", length_mask(lengths, s), t, 9, e, d, a),
        case("a sentence without any real word", empty, t, 9, e, d, a),
        case("state, embedding and annotation of one size", length_mask(lengths, s), t, 9, e, e, e),
        replace(
            projected,
            name="a step with keys that were projected before",
            inputs={**projected.inputs, "projected_keys": draw.tensor(2, 3, 3)},
            calls=projected_calls,
            upstream={name: projected.upstream[name] for name in step_upstream},
            note="step goes wrong only when it is given projected keys: they are handed on to the "
            "attention as they are.",
        ),
        make_second_batch_case(
            case("", length_mask(torch.tensor([2, 3]), 3), 2, 5, 2, 3, 4),
            case("", length_mask(torch.tensor([3, 1]), 3), 2, 5, 2, 3, 4),
        ),
        *add_training_cases(
            case("", length_mask(torch.tensor([2, 3]), 3), 2, 5, 3, 2, 4),
            "the embedded words and on t",
        ),
    ]


ATTENTION_DECODER = Exercise(
    name="AttentionDecoder",
    points=6,
    difficulty=3,
    minutes=40,
    signature="(tokens, annotations, mask, first_state)",
    axes={
        "tokens": "B T",
        "annotations": "B S a",
        "mask": "B S",
        "state": "B d",
        "embedded": "B e",
        "contexts": "B a",
        "words": "B T e",
        "states": "B T d",
        "all_contexts": "B T a",
        "next_state": "B d",
        "context": "B a",
        "step_weights": "B S",
        "step_logits": "B V",
        "all_logits": "B T V",
        "logits": "B T V",
        "weights": "B T S",
        "projected_keys": "B S d",
    },
    cases=_decoder_cases,
    normalized_outputs={"weights": "mask", "step_weights": "mask"},
    is_class=True,
    parts=(
        Part("step", ("step",), 3),
        Part("readout", ("readout",), 1),
        Part("forward", ("forward",), 2),
    ),
)
