"""Test cases of the exercises of the notebook `sentences/structured`."""

from __future__ import annotations

import torch
from torch import Tensor

from autograder.exercises._dropout_cases import add_training_cases
from autograder.exercises._padded_sequences import (
    both_directions,
    make_second_batch_case,
    padded_tokens,
    put_words_on_padding,
)
from autograder.spec.exercise import Call, Case, Exercise, Fake
from autograder.spec.seeded_inputs import SeededInputs, length_mask, round_to_float32

_SHORT = "all sentences shorter than the batch is wide"
_EMPTY = "a sentence without any word"


def _attention_cases(draw: SeededInputs) -> list[Case]:
    call = Call("forward", ("states", "mask"), ("matrix", "weights"))

    def case(name: str, mask: Tensor, d: int, a: int, r: int, note: str = "") -> Case:
        b, n = mask.shape
        states = draw.tensor(b, n, d)
        # What stands on padding is not 0.
        states = torch.where(mask.unsqueeze(-1), states, 2 * states)
        return Case(
            name,
            {"states": states, "mask": mask},
            (call,),
            init_arguments={"hidden_size": d, "attention_size": a, "hops": r},
            weights={"W_s1": draw.tensor(a, d, scale=0.7), "W_s2": draw.tensor(r, a)},
            upstream={"matrix": draw.tensor(b, r, d), "weights": draw.tensor(b, r, n)},
            note=note,
        )

    b, n, d, a, r = draw.sizes(5, 3, 7)
    lengths = draw.lengths(b, n)
    empty = length_mask(lengths, n)
    empty[0] = False
    return [
        case("one sentence of one word", torch.ones(1, 1, dtype=torch.bool), 2, 3, 4),
        case("two sentences, one with padding", length_mask(torch.tensor([2, 3]), 3), 2, 4, 5),
        case("all sizes different", length_mask(lengths, n), d, a, r),
        case("one hop", length_mask(lengths, n), d, a, 1),
        case(_SHORT, length_mask(lengths, n + 2), d, a, r),
        case(
            _EMPTY,
            empty,
            d,
            a,
            r,
            note="A sentence without any word has weights of 0 in every hop, and a matrix of 0.",
        ),
        case("masks with holes", draw.random_mask(b, n), d, a, r),
        case("as many hops as words", length_mask(draw.lengths(b, n), n), d, a, n),
        case("all sizes equal", length_mask(draw.lengths(b, b), b), b, b, b),
        make_second_batch_case(
            case("", length_mask(torch.tensor([2, 3]), 3), 4, 5, 2),
            case("", torch.tensor([[True, False, True], [False, True, False]]), 4, 5, 2),
        ),
    ]


STRUCTURED_SELF_ATTENTION = Exercise(
    name="StructuredSelfAttention",
    points=4,
    difficulty=2,
    minutes=25,
    signature="(states, mask)",
    axes={"states": "B N d", "mask": "B N", "matrix": "B r d", "weights": "B r N"},
    cases=_attention_cases,
    normalized_outputs={"weights": "mask"},
    is_class=True,
)


def _penalty_cases(draw: SeededInputs) -> list[Case]:
    call = (Call("", ("A",), ("penalty",)),)

    def case(name: str, A: Tensor, note: str = "") -> Case:
        return Case(name, {"A": A}, call, upstream={"penalty": draw.tensor(shift=3.0)}, note=note)

    def weights(b: int, r: int, n: int) -> Tensor:
        positive = draw.tensor(b, r, n, scale=1.5).exp()
        return round_to_float32(positive / positive.sum(-1, keepdim=True))

    b, r, n = draw.sizes(3, 3)
    padded = weights(b, r, n + 2) * length_mask(draw.lengths(b, n), n + 2).unsqueeze(1)
    padded = round_to_float32(padded / padded.sum(-1, keepdim=True))
    empty = padded.clone()
    empty[0] = 0.0
    apart = torch.eye(n, dtype=torch.float64)[:3].expand(b, 3, n).clone()
    return [
        case("one word, one hop", torch.ones(1, 1, 1, dtype=torch.float64)),
        case("one sentence, one hop", weights(1, 1, 3)),
        case("one sentence, two hops", weights(1, 2, 3)),
        case("all sizes different", weights(b, r, n)),
        case("more hops than words", weights(b, n, 2)),
        case(
            "sentences with padding",
            padded,
            "Padding has weights of 0, and adds nothing to the overlap.",
        ),
        case(
            "each hop on a word of its own",
            apart,
            "Hops that look at one word each, all at different ones, have no penalty.",
        ),
        case("all hops the same", weights(b, 1, n).expand(b, r, n).clone()),
        case(
            "a sentence without any word",
            empty,
            "A sentence without any word has weights of 0; its term is ||0 - I||^2 = r.",
        ),
        case("as many hops as words", weights(b, n, n)),
        case("all sizes equal", weights(b, b, b)),
    ]


REDUNDANCY_PENALTY = Exercise(
    name="redundancy_penalty",
    points=2,
    difficulty=1,
    minutes=10,
    signature="(A)",
    axes={"A": "B r N", "penalty": ""},
    cases=_penalty_cases,
)


def _classifier_cases(draw: SeededInputs) -> list[Case]:
    call = Call("forward", ("tokens", "lengths"), ("logits", "weights"))

    def case(
        name: str,
        lengths: Tensor,
        n: int,
        v: int,
        e: int,
        d: int,
        r: int,
        m: int,
        c: int,
        note: str = "",
    ) -> Case:
        b = len(lengths)
        return Case(
            name,
            {"tokens": padded_tokens(draw, lengths, n, v), "lengths": lengths},
            (call,),
            init_arguments={
                "vocabulary_size": v,
                "embedding_size": e,
                "hidden_size": d,
                "attention": Fake("HopAttention", (2 * d, 3, r)),
                "hops": r,
                "inner_size": m,
                "classes": c,
            },
            weights={
                "attention.P": draw.tensor(r, 3, scale=1.5),
                "attention.R": draw.tensor(3, 2 * d, scale=3.0),
                "embedding.weight": draw.tensor(v, e),  # the row of padding is not 0 either
                **both_directions(draw, "rnn.", 4, e, d),
                "hidden.weight": draw.tensor(m, r * 2 * d, scale=0.8),
                "hidden.bias": draw.tensor(m, scale=0.4),
                "output.weight": draw.tensor(c, m),
                "output.bias": draw.tensor(c, scale=0.5),
            },
            upstream={"logits": draw.tensor(b, c), "weights": draw.tensor(b, r, n)},
            note=note,
        )

    b, n, r, c = draw.sizes(4, 2, 5)
    e, d = draw.sizes(2, 2, 3)
    m = 6 + draw.integer(0, 1)
    empty = draw.lengths(b, n)
    empty[0] = 0
    nothing = (
        "A length may be 0, and pack_padded_sequence does not take that. The attention gets a mask "
        "that is False everywhere in such a sentence."
    )
    return [
        case("one sentence of one word", torch.tensor([1]), 1, 5, 3, 2, 4, 6, 2),
        case("one sentence of three words", torch.tensor([3]), 3, 6, 4, 2, 2, 7, 5),
        case("two sentences, the first one shorter", torch.tensor([2, 4]), 4, 6, 2, 3, 5, 7, 3),
        case("sentences of different length", draw.lengths(b, n), n, 9, e, d, r, m, c),
        case("one hop", draw.lengths(b, n), n, 9, e, d, 1, m, c),
        case(_SHORT, draw.lengths(b, n), n + 2, 9, e, d, r, m, c),
        case(_EMPTY, empty, n, 9, e, d, r, m, c, note=nothing),
        case(
            "one sentence, without any word", torch.tensor([0]), 2, 5, 2, 3, 3, 5, 2, note=nothing
        ),
        case("all sizes equal", draw.lengths(4, 4), 4, 6, 4, 4, 4, 4, 4),
        put_words_on_padding(
            draw, case("", torch.tensor([2, 4]), 4, 6, 2, 3, 5, 7, 3), "tokens", 6
        ),
        make_second_batch_case(
            case("", torch.tensor([2, 3]), 3, 6, 3, 2, 2, 6, 4),
            case("", torch.tensor([3, 1]), 3, 6, 3, 2, 2, 6, 4),
        ),
        *add_training_cases(
            case("", torch.tensor([1, 3]), 3, 5, 3, 2, 2, 6, 4),
            "the embedded words and on flatten(M)",
        ),
    ]


STRUCTURED_CLASSIFIER = Exercise(
    name="StructuredClassifier",
    points=4,
    difficulty=2,
    minutes=25,
    signature="(tokens, lengths)",
    axes={"tokens": "B N", "lengths": "B", "logits": "B C", "weights": "B r N"},
    cases=_classifier_cases,
    normalized_outputs={"weights": "lengths"},
    is_class=True,
)
