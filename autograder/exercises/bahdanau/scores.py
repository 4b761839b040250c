"""Test cases of the exercises of the notebook `bahdanau/scores`."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from autograder.exercises._padded_sequences import make_second_batch_case
from autograder.spec.exercise import Call, Case, Exercise
from autograder.spec.seeded_inputs import SeededInputs, length_mask, round_to_float32


def _softmax_cases(draw: SeededInputs) -> list[Case]:
    call = (Call("", ("scores", "mask"), ("weights",)),)

    def case(name: str, scores: Tensor, mask: Tensor, note: str = "") -> Case:
        upstream = {"weights": draw.tensor(*scores.shape)}
        return Case(name, {"scores": scores, "mask": mask}, call, upstream=upstream, note=note)

    b, n, t = draw.sizes(3, 3, 7)
    lengths = draw.lengths(b, n)
    empty = length_mask(lengths, n)
    empty[0] = False
    zeros = draw.tensor(b, n) * draw.random_mask(b, n)
    zeros[-1, 0], zeros[-1, 1] = 0.0, 1.5  # the last row has no padding
    return [
        case("one row of one position", draw.tensor(1, 1), torch.ones(1, 1, dtype=torch.bool)),
        case("two rows, one with padding", draw.tensor(2, 3), length_mask(torch.tensor([2, 3]), 3)),
        case(
            "sentences of different length", draw.tensor(b, n, scale=1.5), length_mask(lengths, n)
        ),
        case("a row without any real position", draw.tensor(b, n), empty),
        case("masks with holes", draw.tensor(b, n), draw.random_mask(b, n)),
        case(
            "three axes, one mask for all target words",
            draw.tensor(b, t, n),
            length_mask(lengths, n).unsqueeze(1),
        ),
        # exp(1000) is too large for float64, exp(-30000) too small, and people fill in -10000.
        case("large scores", draw.tensor(b, n, shift=1000.0), length_mask(lengths, n)),
        case("very negative scores", draw.tensor(b, n, shift=-30000.0), length_mask(lengths, n)),
        case(
            "higher scores on padding than on words",
            round_to_float32(_padding_on_top(draw.tensor(b, n), lengths)),
            length_mask(lengths, n),
            "What stands on padding must not count, however large: beware of a small number that "
            "is added to the sum, or below which the sum is cut off.",
        ),
        case(
            "far higher scores on padding than on words",
            round_to_float32(draw.tensor(b, n).masked_fill(~length_mask(lengths, n), 1000.0)),
            length_mask(lengths, n),
            "The largest score that is subtracted must be one of a word: subtract that of padding, "
            "and all exponentials of words are 0.",
        ),
        case(
            "some scores are exactly 0",
            zeros,
            length_mask(lengths, n),
            "A score of 0 is a score like any other; only the mask says what is padding.",
        ),
        case(
            "three axes, a mask for each target word",
            draw.tensor(2, 3, 4),
            draw.random_mask(2, 3, 4),
            "The mask may differ from target word to target word.",
        ),
    ]


MASKED_SOFTMAX = Exercise(
    name="masked_softmax",
    points=2,
    difficulty=1,
    minutes=10,
    signature="(scores, mask)",
    axes={"scores": "... N", "mask": "... N", "weights": "... N"},
    cases=_softmax_cases,
    normalized_outputs={"weights": "mask"},
)


def _padding_on_top(scores: Tensor, lengths: Tensor) -> Tensor:
    """Put the first padded position of each row 7 above its best word, the others 2 below it.

    A row of one word then keeps exp(-7) = 0.0009 of a softmax over everything: an answer that
    divides by that share is right, also if it adds 1e-8 to it, but not if it cuts it off at 0.001.
    """
    mask = length_mask(lengths, scores.shape[1])  # (B, N)
    best = scores.masked_fill(~mask, -torch.inf).amax(1, keepdim=True)  # (B, 1)
    first = torch.arange(scores.shape[1]) == lengths.unsqueeze(1)  # (B, N)
    return torch.where(mask, scores, torch.where(first, best + 7, best - 2))  # (B, N)


def _additive_cases(draw: SeededInputs) -> list[Case]:
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


ADDITIVE_SCORE = Exercise(
    name="additive_score",
    points=3,
    difficulty=2,
    minutes=15,
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
)


def _context_cases(draw: SeededInputs) -> list[Case]:
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


CONTEXT_VECTOR = Exercise(
    name="context_vector",
    points=1,
    difficulty=1,
    minutes=5,
    signature="(weights, values)",
    axes={"weights": "B N", "values": "B N d_v", "context": "B d_v"},
    cases=_context_cases,
)


def _rows_of_weights(numbers: Tensor) -> Tensor:
    positive = numbers.exp()
    return round_to_float32(positive / positive.sum(-1, keepdim=True))


def _attention_cases(draw: SeededInputs) -> list[Case]:
    calls = (
        # Without projected keys first: those of another batch must not stand in for them.
        Call("forward", ("query", "keys", "mask"), ("context", "weights")),
        Call("project", ("keys",), ("projected_keys",)),
        Call(
            "forward",
            ("query", "keys", "mask", "projected_keys"),
            ("context_again", "weights_again"),
        ),
    )
    given = Call(
        "forward", ("query", "keys", "mask", "given_projected"), ("context_given", "weights_given")
    )

    def case(name: str, mask: Tensor, d_q: int, d_k: int, d: int) -> Case:
        b, n = mask.shape
        keys = draw.tensor(b, n, d_k)
        keys = torch.where(mask.unsqueeze(-1), keys, 2 * keys)  # what stands on padding is not 0
        return Case(
            name,
            {"query": draw.tensor(b, d_q), "keys": keys, "mask": mask},
            calls,
            init_arguments={"query_size": d_q, "key_size": d_k, "hidden_size": d},
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
        )

    b, n, d_q, d_k, d = draw.sizes(5, 3)
    lengths = draw.lengths(b, n)
    empty = length_mask(lengths, n)
    empty[0] = False
    other = case("", length_mask(torch.tensor([2, 3]), 3), 2, 4, 5)
    return [
        case("one sentence of one word", torch.ones(1, 1, dtype=torch.bool), 2, 3, 4),
        case("two sentences, one with padding", length_mask(torch.tensor([2, 3]), 3), 2, 4, 5),
        case("all sizes different", length_mask(lengths, n), d_q, d_k, d),
        case("a sentence without any real word", empty, d_q, d_k, d),
        case("all sizes equal", length_mask(draw.lengths(b, b), b), b, b, b),
        make_second_batch_case(
            case("", length_mask(torch.tensor([2, 3]), 3), 2, 4, 5),
            case("", torch.tensor([[True, False, True], [False, True, False]]), 2, 4, 5),
        ),
        replace(
            other,
            name="projected keys of another origin",
            inputs={**other.inputs, "given_projected": draw.tensor(2, 3, 5)},
            calls=(given,),
            upstream={"context_given": draw.tensor(2, 4), "weights_given": draw.tensor(2, 3)},
            note="The projected keys that are given take the place of U h: they are not computed "
            "again.",
        ),
    ]


ADDITIVE_ATTENTION = Exercise(
    name="AdditiveAttention",
    points=4,
    difficulty=2,
    minutes=20,
    signature="(query, keys, mask, projected_keys=None)",
    axes={
        "query": "B d_q",
        "keys": "B N d_k",
        "mask": "B N",
        "projected_keys": "B N d",
        "context": "B d_k",
        "weights": "B N",
        "context_again": "B d_k",
        "weights_again": "B N",
        "given_projected": "B N d",
        "context_given": "B d_k",
        "weights_given": "B N",
    },
    cases=_attention_cases,
    normalized_outputs={"weights": "mask", "weights_again": "mask", "weights_given": "mask"},
    is_class=True,
)
