"""Test cases of the exercises of the notebook `luong/scores`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from autograder.spec.exercise import Call, Case, Exercise, Fake
from autograder.spec.seeded_inputs import SeededInputs, length_mask

_SEVERAL = (
    "One target word (B, d) is right, several at once (B, T, d) are not: each sentence's T queries "
    "meet that sentence's N keys."
)
_ONE = "A query (B, 1, d) is still a query of three axes: the result is (B, 1, N)."


def _score_cases(
    draw: SeededInputs, arguments: tuple[str, ...], inputs: Callable[..., dict[str, Tensor]]
) -> list[Case]:
    """The cases that all scores share.

    Args:
        draw: where numbers come from.
        arguments: names of the inputs, in order.
        inputs: inputs(b, t, n, d_q, d_k, d) draws them; without target words t is None.
    """
    call = (Call("", arguments, ("scores",)),)

    def case(
        name: str, b: int, t: int | None, n: int, d_q: int, d_k: int, d: int, note: str = ""
    ) -> Case:
        shape = (b, n) if t is None else (b, t, n)
        given = inputs(b, t, n, d_q, d_k, d)
        return Case(name, given, call, upstream={"scores": draw.tensor(*shape)}, note=note)

    b, t, n, d_q, d_k, d = _sizes(draw)
    return [
        case("one sentence of one word", 1, None, 1, 2, 3, 4),
        case("all sizes different", b, None, n, d_q, d_k, d),
        case("as many words as sentences", b, None, b, d_q, d_k, d),
        case("as many words as the query is long", b, None, d_q, d_q, d_k, d),
        case("query and keys of one size", b, None, n, d_q, d_q, d),
        case("all sizes equal", 3, None, 3, 3, 3, 3),
        case("two target words, two source words", 1, 2, 2, 3, 4, 5, _SEVERAL),
        case("several target words", b, t, n, d_q, d_k, d, _SEVERAL),
        case("one target word, with an axis of its own", b, 1, n, d_q, d_k, d, _ONE),
        case("as many target words as sentences", b, b, n, d_q, d_k, d, _SEVERAL),
        case("as many target words as source words", b, t, t, d_q, d_k, d, _SEVERAL),
        case("several target words, one source word", b, t, 1, d_q, d_q, d, _SEVERAL),
        case("several target words, all sizes equal", 3, 3, 3, 3, 3, 3, _SEVERAL),
    ]


def _sizes(draw: SeededInputs) -> list[int]:
    """Return six sizes that all differ; B and T are small, to store few expected values."""
    return [*draw.sizes(2, 2, 3), *draw.sizes(4, 4, 7)]


def _query(draw: SeededInputs, b: int, t: int | None, d: int) -> Tensor:
    return draw.tensor(b, d) if t is None else draw.tensor(b, t, d)


def _dot_cases(draw: SeededInputs) -> list[Case]:
    def inputs(b: int, t: int | None, n: int, d_q: int, d_k: int, d: int) -> dict[str, Tensor]:
        return {"query": _query(draw, b, t, d_q), "keys": draw.tensor(b, n, d_q)}

    cases = _score_cases(draw, ("query", "keys"), inputs)
    call = cases[0].calls
    upstream = {"scores": draw.tensor(1, 2)}
    # Roots and other functions of a small d are too much alike.
    return [*cases, Case("long vectors", inputs(1, None, 2, 20, 20, 0), call, upstream=upstream)]


def _axes(**more: str) -> Mapping[str, str]:
    """Axes of what several exercises have; a query has two or three."""
    return {"query": "... d_q", "keys": "B N d_k", "scores": "... N", **more}


DOT_SCORE = Exercise(
    name="dot_score",
    points=1,
    difficulty=1,
    minutes=10,
    signature="(query, keys)",
    axes=_axes(query="... d", keys="B N d"),
    cases=_dot_cases,
)


SCALED_DOT_SCORE = Exercise(
    name="scaled_dot_score",
    points=1,
    difficulty=1,
    minutes=5,
    signature="(query, keys)",
    axes=_axes(query="... d", keys="B N d"),
    cases=_dot_cases,
)


def _general_cases(draw: SeededInputs) -> list[Case]:
    def inputs(b: int, t: int | None, n: int, d_q: int, d_k: int, d: int) -> dict[str, Tensor]:
        return {
            "query": _query(draw, b, t, d_q),
            "keys": draw.tensor(b, n, d_k),
            "W": draw.tensor(d_q, d_k, scale=0.7),
        }

    return _score_cases(draw, ("query", "keys", "W"), inputs)


GENERAL_SCORE = Exercise(
    name="general_score",
    points=2,
    difficulty=2,
    minutes=10,
    signature="(query, keys, W)",
    axes=_axes(W="d_q d_k"),
    cases=_general_cases,
)


def _concat_cases(draw: SeededInputs) -> list[Case]:
    def inputs(b: int, t: int | None, n: int, d_q: int, d_k: int, d: int) -> dict[str, Tensor]:
        return {
            "query": _query(draw, b, t, d_q),
            "keys": draw.tensor(b, n, d_k),
            "W": draw.tensor(d, d_q + d_k, scale=0.7),
            "v": draw.tensor(d),
        }

    return _score_cases(draw, ("query", "keys", "W", "v"), inputs)


CONCAT_SCORE = Exercise(
    name="concat_score",
    points=2,
    difficulty=2,
    minutes=20,
    signature="(query, keys, W, v)",
    axes=_axes(W="d d_q+d_k", v="d"),
    cases=_concat_cases,
)


def _location_cases(draw: SeededInputs) -> list[Case]:
    def inputs(b: int, t: int | None, n: int, d_q: int, d_k: int, d: int) -> dict[str, Tensor]:
        return {"query": _query(draw, b, t, d_q), "W": draw.tensor(n, d_q)}

    return _score_cases(draw, ("query", "W"), inputs)


LOCATION_SCORE = Exercise(
    name="location_score",
    points=1,
    difficulty=1,
    minutes=5,
    signature="(query, W)",
    axes=_axes(W="N d_q"),
    cases=_location_cases,
)


def _attention_cases(draw: SeededInputs) -> list[Case]:
    """Cases with and without a mask.

    Without one, context and weights have names of their own: nothing masks those weights.
    """

    def case(
        name: str,
        query: Tensor,
        mask: Tensor | None,
        n: int,
        d_k: int,
        d_v: int,
        shift: float = 0.0,
        left_out: bool = False,
        note: str = "",
    ) -> Case:
        b, d_q = query.shape[0], query.shape[-1]
        keys, values = draw.tensor(b, n, d_k), draw.tensor(b, n, d_v)
        inputs = {"query": query, "keys": keys, "values": values}
        given: dict[str, Any] = {"score": Fake("CountingScore", (d_q, d_k, shift))}
        arguments: tuple[str, ...] = ("query", "keys", "values", "score", "mask")
        returned = ("context", "weights")
        if mask is None:
            returned = ("unmasked_context", "unmasked_weights")
            if left_out:
                arguments = arguments[:-1]
            else:
                given["mask"] = None
        else:
            # What stands on padding is not 0: here it is larger than what stands on words.
            real = (mask if mask.dim() == 2 else mask.any(1)).unsqueeze(-1)  # (B, N, 1)
            inputs["keys"] = torch.where(real, keys, 2 * keys)
            inputs["values"] = torch.where(real, values, 2 * values)
            inputs["mask"] = mask
        upstream = {
            returned[0]: draw.tensor(*query.shape[:-1], d_v),
            returned[1]: draw.tensor(*query.shape[:-1], n),
        }
        calls = (Call("", arguments, returned),)
        return Case(name, inputs, calls, extra_arguments=given, upstream=upstream, note=note)

    b, t, n, d_q, d_k, d_v = _sizes(draw)
    lengths = draw.lengths(b, n)
    ragged = length_mask(lengths, n)
    empty = ragged.clone()
    empty[0] = False
    tall = draw.random_mask(b, t, n)
    gone = draw.random_mask(b, t, n)
    gone[0, 1] = False
    gone[-1, 0] = False

    def one() -> Tensor:
        return draw.tensor(b, d_q)

    def several(words: int = t) -> Tensor:
        return draw.tensor(b, words, d_q)

    rows = "With several target words, a mask (B, N) holds for all T of a sentence: (B, 1, N)."
    return [
        case(
            "one sentence of one word",
            draw.tensor(1, 2),
            torch.ones(1, 1, dtype=torch.bool),
            1,
            3,
            4,
        ),
        case(
            "two sentences, one with padding",
            draw.tensor(2, 4),
            length_mask(torch.tensor([2, 3]), 3),
            3,
            5,
            2,
        ),
        case("no mask (None)", one(), None, n, d_k, d_v),
        case(
            "no mask (left out), several target words", several(), None, n, d_k, d_v, left_out=True
        ),
        case("sentences of different length", one(), ragged, n, d_k, d_v),
        case("a mask with holes", one(), draw.random_mask(b, n), n, d_k, d_v),
        case("a sentence without any real word", one(), empty, n, d_k, d_v),
        case("query, keys and values of one size", one(), ragged, n, d_q, d_q),
        case("as many words as sentences", one(), draw.random_mask(b, b), b, d_k, d_v),
        case("several target words", several(), ragged, n, d_k, d_v),
        case(
            "one target word, with an axis of its own", several(1), ragged, n, d_k, d_v, note=_ONE
        ),
        case("as many target words as sentences", several(b), ragged, n, d_k, d_v, note=rows),
        case(
            "several target words, all sizes equal",
            draw.tensor(3, 3, 3),
            draw.random_mask(3, 3),
            3,
            3,
            3,
        ),
        case(
            "several target words, a sentence without any real word", several(), empty, n, d_k, d_v
        ),
        case("a mask for each target word", several(), tall, n, d_k, d_v),
        case("a target word that may attend to nothing", several(), gone, n, d_k, d_v),
        # exp(1000) is too large for float64, exp(-1000) too small.
        case("large scores", one(), ragged, n, d_k, d_v, shift=1000.0),
        case("very negative scores", several(), ragged, n, d_k, d_v, shift=-1000.0),
        case("large scores without a mask", one(), None, n, d_k, d_v, shift=1000.0),
    ]


ATTENTION = Exercise(
    name="attention",
    points=4,
    difficulty=2,
    minutes=25,
    signature="(query, keys, values, score, mask=None)",
    axes=_axes(
        values="B N d_v",
        mask="... N",
        context="... d_v",
        weights="... N",
        unmasked_context="... d_v",
        unmasked_weights="... N",
    ),
    cases=_attention_cases,
    normalized_outputs={"weights": "mask", "unmasked_weights": ""},
)
