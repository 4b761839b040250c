"""The exercises of the assignment `bahdanau`: what is called with which inputs."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from autograder.drawing import Draw, below, held
from autograder.exercise import Call, Case, Exercise, Part, StandIn
from autograder.exercises.reading import (
    KEPT,
    SECOND,
    also_others,
    both_directions,
    other,
    others,
    padded_tokens,
    recurrent,
)


def _softmax_cases(draw: Draw) -> list[Case]:
    call = (Call("", ("scores", "mask"), ("weights",)),)

    def case(name: str, scores: Tensor, mask: Tensor, note: str = "") -> Case:
        upstream = {"weights": draw.tensor(*scores.shape)}
        return Case(name, {"scores": scores, "mask": mask}, call, upstream=upstream, note=note)

    b, n, t = draw.sizes(3, 3, 7)
    lengths = draw.lengths(b, n)
    empty = below(lengths, n)
    empty[0] = False
    zeros = draw.tensor(b, n) * draw.holes(b, n)
    zeros[-1, 0], zeros[-1, 1] = 0.0, 1.5  # the last row has no padding
    return [
        case("one row of one position", draw.tensor(1, 1), torch.ones(1, 1, dtype=torch.bool)),
        case("two rows, one with padding", draw.tensor(2, 3), below(torch.tensor([2, 3]), 3)),
        case("sentences of different length", draw.tensor(b, n, scale=1.5), below(lengths, n)),
        case("a row without any real position", draw.tensor(b, n), empty),
        case("masks with holes", draw.tensor(b, n), draw.holes(b, n)),
        case(
            "three axes, one mask for all target words",
            draw.tensor(b, t, n),
            below(lengths, n).unsqueeze(1),
        ),
        # exp(1000) is too large for float64, exp(-1000) too small.
        case("large scores", draw.tensor(b, n, shift=1000.0), below(lengths, n)),
        case("very negative scores", draw.tensor(b, n, shift=-1000.0), below(lengths, n)),
        case(
            "higher scores on padding than on words",
            held(_padding_on_top(draw.tensor(b, n), lengths)),
            below(lengths, n),
            "What stands on padding must not count, however large: beware of a small number that "
            "is added to the sum, or below which the sum is cut off.",
        ),
        case(
            "some scores are exactly 0",
            zeros,
            below(lengths, n),
            "A score of 0 is a score like any other; only the mask says what is padding.",
        ),
        case(
            "three axes, a mask for each target word",
            draw.tensor(2, 3, 4),
            draw.holes(2, 3, 4),
            "The mask may differ from target word to target word.",
        ),
    ]


def _padding_on_top(scores: Tensor, lengths: Tensor) -> Tensor:
    """Put the first padded position of each row 7 above its best word, the others 2 below it.

    A row of one word then keeps exp(-7) = 0.0009 of a softmax over everything: an answer that
    divides by that share is right, also if it adds 1e-8 to it, but not if it cuts it off at 0.001.
    """
    mask = below(lengths, scores.shape[1])  # (B, N)
    best = scores.masked_fill(~mask, -torch.inf).amax(1, keepdim=True)  # (B, 1)
    first = torch.arange(scores.shape[1]) == lengths.unsqueeze(1)  # (B, N)
    return torch.where(mask, scores, torch.where(first, best + 7, best - 2))  # (B, N)


def _additive_cases(draw: Draw) -> list[Case]:
    call = (Call("", ("query", "keys", "W", "U", "v"), ("scores",)),)

    def case(name: str, b: int, n: int, d_q: int, d_k: int, d: int) -> Case:
        inputs = {
            "query": draw.tensor(b, d_q),
            "keys": draw.tensor(b, n, d_k),
            "W": draw.tensor(d, d_q, scale=0.7),
            "U": draw.tensor(d, d_k, scale=0.7),
            "v": draw.tensor(d),
        }
        return Case(name, inputs, call, upstream={"scores": draw.tensor(b, n)})

    b, n, d_q, d_k, d = draw.sizes(5)
    return [
        case("one sentence of one word", 1, 1, 2, 3, 4),
        case("all sizes different", b, n, d_q, d_k, d),
        case("as many words as sentences", b, b, d_q, d_k, d),
        case("state and annotation of one size", b, n, d_q, d_q, d),
        case("all sizes equal", b, b, b, b, b),
    ]


def _context_cases(draw: Draw) -> list[Case]:
    call = (Call("", ("weights", "values"), ("context",)),)

    def case(name: str, weights: Tensor, d_v: int) -> Case:
        b, n = weights.shape
        inputs = {"weights": weights, "values": draw.tensor(b, n, d_v)}
        return Case(name, inputs, call, upstream={"context": draw.tensor(b, d_v)})

    def weights(b: int, n: int) -> Tensor:
        return _rows_of_weights(draw.tensor(b, n))

    b, n, d_v = draw.sizes(3)
    padded = weights(b, n)
    padded[:, -1] = 0.0
    padded[0] = 0.0
    return [
        case("one word", weights(1, 1), 2),
        case("all sizes different", weights(b, n), d_v),
        case("all sizes equal", weights(b, b), b),
        case("as many words as the size of a value", weights(b, n), n),
        case("weights of 0", padded, d_v),
    ]


def _rows_of_weights(numbers: Tensor) -> Tensor:
    positive = numbers.exp()
    return held(positive / positive.sum(-1, keepdim=True))


def _attention_cases(draw: Draw) -> list[Case]:
    calls = (
        Call("project", ("keys",), ("projected_keys",)),
        Call("forward", ("query", "keys", "mask", "projected_keys"), ("context", "weights")),
        Call("forward", ("query", "keys", "mask"), ("context_again", "weights_again")),
    )
    # What a module keeps from one batch must not get into the next.
    again = Call("forward", other("query", "keys", "mask"), other("context", "weights"))

    def given(mask: Tensor, d_q: int, d_k: int) -> dict[str, Tensor]:
        b, n = mask.shape
        keys = draw.tensor(b, n, d_k)
        keys = torch.where(mask.unsqueeze(-1), keys, 2 * keys)  # what stands on padding is not 0
        return {"query": draw.tensor(b, d_q), "keys": keys, "mask": mask}

    def case(
        name: str, mask: Tensor, d_q: int, d_k: int, d: int, other_mask: Tensor | None = None
    ) -> Case:
        b, n = mask.shape
        inputs = given(mask, d_q, d_k)
        if other_mask is not None:
            inputs |= others(given(other_mask, d_q, d_k))
        return Case(
            name,
            inputs,
            calls if other_mask is None else (*calls, again),
            construct={"query_size": d_q, "key_size": d_k, "hidden_size": d},
            weights={
                "W": draw.tensor(d, d_q, scale=0.7),
                "U": draw.tensor(d, d_k, scale=0.7),
                "v": draw.tensor(d),
            },
            upstream={
                name: draw.tensor(b, size)
                for name, size in (
                    ("context", d_k),
                    ("weights", n),
                    ("context_again", d_k),
                    ("weights_again", n),
                )
            }
            | {"projected_keys": draw.tensor(b, n, d)},
            note=KEPT if other_mask is not None else "",
        )

    b, n, d_q, d_k, d = draw.sizes(5, 3)
    lengths = draw.lengths(b, n)
    empty = below(lengths, n)
    empty[0] = False
    return [
        case("one sentence of one word", torch.ones(1, 1, dtype=torch.bool), 2, 3, 4),
        case("two sentences, one with padding", below(torch.tensor([2, 3]), 3), 2, 4, 5),
        case("all sizes different", below(lengths, n), d_q, d_k, d),
        case("a sentence without any real word", empty, d_q, d_k, d),
        case("all sizes equal", below(draw.lengths(b, b), b), b, b, b),
        case(
            SECOND,
            below(torch.tensor([2, 3]), 3),
            2,
            4,
            5,
            other_mask=torch.tensor([[True, False, True], [False, True, False]]),
        ),
    ]


def _encoder_cases(draw: Draw) -> list[Case]:
    call = Call("forward", ("tokens", "lengths"), ("annotations", "first_state"))
    again = Call("forward", other("tokens", "lengths"), other("annotations", "first_state"))

    def given(lengths: Tensor, longest: int, v: int) -> dict[str, Tensor]:
        return {"tokens": padded_tokens(draw, lengths, longest, v), "lengths": lengths}

    def case(
        name: str,
        lengths: Tensor,
        longest: int,
        v: int,
        e: int,
        d: int,
        other_lengths: Tensor | None = None,
    ) -> Case:
        b = len(lengths)
        inputs, real = given(lengths, longest, v), {"annotations": below(lengths, longest)}
        if other_lengths is not None:
            inputs |= others(given(other_lengths, longest, v))
            real["other_annotations"] = below(other_lengths, longest)
        return Case(
            name,
            inputs,
            (call,) if other_lengths is None else (call, again),
            construct={"vocabulary_size": v, "embedding_size": e, "hidden_size": d},
            weights={
                "embedding.weight": draw.tensor(v, e),  # the row of padding is not 0 either
                **both_directions(draw, "rnn.", 3, e, d),
                "first_state.weight": draw.tensor(d, d, scale=0.7),
                "first_state.bias": draw.tensor(d, scale=0.3),
            },
            real=real,
            upstream={
                "annotations": draw.tensor(b, longest, 2 * d),
                "first_state": draw.tensor(b, d),
            },
            note=KEPT if other_lengths is not None else "",
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
        case(
            SECOND,
            torch.tensor([2, 3]),
            3,
            7,
            3,
            2,
            other_lengths=torch.tensor([3, 1]),
        ),
    ]


def _decoder_cases(draw: Draw) -> list[Case]:
    calls = (
        Call(
            "step",
            ("embedded", "state", "annotations", "mask"),
            ("next_state", "context", "step_weights"),
        ),
        Call("readout", ("embedded", "state", "contexts"), ("step_logits",)),
        Call("forward", ("tokens", "annotations", "mask", "state"), ("logits", "weights")),
    )
    projected_calls = (
        Call("attention.project", ("annotations",), ("projected_keys",)),
        Call(
            "step",
            ("embedded", "state", "annotations", "mask", "projected_keys"),
            ("next_state", "context", "step_weights"),
        ),
    )
    memory = other("annotations", "mask")
    other_calls = (
        Call(
            "step",
            ("embedded", "state", *memory),
            other("next_state", "context", "step_weights"),
        ),
        Call(
            "forward",
            ("other_tokens", *memory, "other_state"),
            other("logits", "weights"),
        ),
    )

    def given(mask: Tensor, t: int, v: int, d: int, a: int) -> dict[str, Tensor]:
        b, s = mask.shape
        annotations = draw.tensor(b, s, a)
        return {
            "tokens": draw.tokens(b, t, vocabulary_size=v),
            "annotations": torch.where(mask.unsqueeze(-1), annotations, 2 * annotations),
            "mask": mask,
            "state": draw.tensor(b, d, scale=0.6),
        }

    def case(
        name: str,
        mask: Tensor,
        t: int,
        v: int,
        e: int,
        d: int,
        a: int,
        d_att: int = 3,
        other_mask: Tensor | None = None,
    ) -> Case:
        b, s = mask.shape
        inputs = given(mask, t, v, d, a)
        inputs |= {"embedded": draw.tensor(b, e), "contexts": draw.tensor(b, a)}
        if other_mask is not None:
            inputs |= others(given(other_mask, t, v, d, a))
        return Case(
            name,
            inputs,
            calls if other_mask is None else (*calls, *other_calls),
            construct={
                "vocabulary_size": v,
                "embedding_size": e,
                "hidden_size": d,
                "annotation_size": a,
                "attention": StandIn("DistanceAttention", (d, a, d_att)),
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
                "logits": draw.tensor(b, t, v),
                "weights": draw.tensor(b, t, s),
            },
            note=KEPT if other_mask is not None else "",
        )

    b, s, t, d, e, a = draw.sizes(6, 2, 7)
    projected = case("", below(torch.tensor([2, 3]), 3), 1, 5, 2, 3, 4)
    step_upstream = ("next_state", "context", "step_weights")
    lengths = draw.lengths(b, s)
    empty = below(lengths, s)
    empty[0] = False
    one = torch.ones(1, 1, dtype=torch.bool)
    return [
        case("one source word, one target word", one, 1, 5, 2, 3, 4),
        case("one sentence, two target words", torch.ones(1, 3, dtype=torch.bool), 2, 5, 2, 3, 4),
        case("sentences of different length", below(lengths, s), t, 9, e, d, a),
        case("a sentence without any real word", empty, t, 9, e, d, a),
        case("state, embedding and annotation of one size", below(lengths, s), t, 9, e, e, e),
        replace(
            projected,
            name="a step with keys that were projected before",
            calls=projected_calls,
            upstream={name: projected.upstream[name] for name in step_upstream},
            note="step goes wrong only when it is given projected keys: they are "
            "attention.project(annotations) already.",
        ),
        case(
            SECOND,
            below(torch.tensor([2, 3]), 3),
            2,
            5,
            2,
            3,
            4,
            d_att=3,
            other_mask=below(torch.tensor([3, 1]), 3),
        ),
    ]


EXERCISES = [
    Exercise(
        name="masked_softmax",
        assignment="bahdanau",
        notebook="scores",
        points=2,
        signature="(scores, mask)",
        axes={"scores": "... N", "mask": "... N", "weights": "... N"},
        cases=_softmax_cases,
        weights_over={"weights": "mask"},
    ),
    Exercise(
        name="additive_score",
        assignment="bahdanau",
        notebook="scores",
        points=3,
        signature="(query, keys, W, U, v)",
        axes={
            "query": "B d_q",
            "keys": "B N d_k",
            "W": "d d_q",
            "U": "d d_k",
            "v": "d",
            "scores": "B N",
        },
        cases=_additive_cases,
    ),
    Exercise(
        name="context_vector",
        assignment="bahdanau",
        notebook="scores",
        points=1,
        signature="(weights, values)",
        axes={"weights": "B N", "values": "B N d_v", "context": "B d_v"},
        cases=_context_cases,
    ),
    Exercise(
        name="AdditiveAttention",
        assignment="bahdanau",
        notebook="scores",
        points=4,
        signature="(query, keys, mask, projected_keys=None)",
        axes=also_others(
            {
                "query": "B d_q",
                "keys": "B N d_k",
                "mask": "B N",
                "projected_keys": "B N d",
                "context": "B d_k",
                "weights": "B N",
                "context_again": "B d_k",
                "weights_again": "B N",
            }
        ),
        cases=_attention_cases,
        weights_over=also_others({"weights": "mask", "weights_again": "mask"}, values=True),
        is_class=True,
    ),
    Exercise(
        name="BidirectionalEncoder",
        assignment="bahdanau",
        notebook="translator",
        points=4,
        signature="(tokens, lengths)",
        axes=also_others(
            {
                "tokens": "B S",
                "lengths": "B",
                "annotations": "B S 2d",
                "first_state": "B d",
            }
        ),
        cases=_encoder_cases,
        is_class=True,
    ),
    Exercise(
        name="AttentionDecoder",
        assignment="bahdanau",
        notebook="translator",
        points=6,
        signature="(tokens, annotations, mask, first_state)",
        axes=also_others(
            {
                "tokens": "B T",
                "annotations": "B S a",
                "mask": "B S",
                "state": "B d",
                "embedded": "B e",
                "contexts": "B a",
                "next_state": "B d",
                "context": "B a",
                "step_weights": "B S",
                "step_logits": "B V",
                "logits": "B T V",
                "weights": "B T S",
                "projected_keys": "B S d",
            }
        ),
        cases=_decoder_cases,
        weights_over=also_others({"weights": "mask", "step_weights": "mask"}, values=True),
        is_class=True,
        parts=(
            Part("step", ("step", "attention.project"), 3),
            Part("readout", ("readout",), 1),
            Part("forward", ("forward",), 2),
        ),
    ),
]
