"""Test cases of the exercises of the notebook `captioning/attention`."""

from __future__ import annotations

import torch
from torch import Tensor

from autograder.exercises._padded_sequences import make_second_batch_case
from autograder.exercises.captioning._drawn_inputs import reverse_memory_order
from autograder.exercises.captioning._hard_attention import draw_hard_attention_cases
from autograder.spec.exercise import Call, Case, Exercise, Part
from autograder.spec.seeded_inputs import SeededInputs, length_mask, round_to_float32


def _map_cases(draw: SeededInputs) -> list[Case]:
    call = (Call("", ("feature_map",), ("annotations",)),)

    def case(name: str, feature_map: Tensor, note: str = "") -> Case:
        b, c, h, w = feature_map.shape
        upstream = {"annotations": draw.tensor(b, h * w, c)}
        return Case(name, {"feature_map": feature_map}, call, upstream=upstream, note=note)

    b, c, h, w = draw.sizes(4, 2, 5)
    while h * w in (b, c):
        b, c, h, w = draw.sizes(4, 2, 5)
    return [
        case("one picture of one place", draw.tensor(1, 3, 1, 1)),
        case("one picture of two rows and three columns", draw.tensor(1, 4, 2, 3)),
        case("all sizes different", draw.tensor(b, c, h, w)),
        case("one row of places", draw.tensor(b, c, 1, w)),
        case("one column of places", draw.tensor(b, c, h, 1)),
        case("as many rows as columns", draw.tensor(b, c, h, h)),
        case("as many channels as places", draw.tensor(2, 6, 3, 2)),
        case("as many pictures as channels", draw.tensor(3, 3, h, w)),
        case("a map that is not contiguous", reverse_memory_order(draw.tensor(b, c, h, w))),
    ]


ANNOTATION_VECTORS = Exercise(
    name="annotation_vectors",
    points=1,
    difficulty=1,
    minutes=5,
    signature="(feature_map)",
    axes={"feature_map": "B C H W", "annotations": "B HW C"},
    cases=_map_cases,
)


def _attention_cases(draw: SeededInputs) -> list[Case]:
    calls = (
        Call("beta", ("query",), ("beta",)),
        Call("forward", ("query", "annotations"), ("context", "weights")),
    )

    def case(
        name: str,
        b: int,
        n: int,
        d_q: int,
        d_k: int,
        d: int,
        scale: float = 0.7,
        turned: bool = False,
    ) -> Case:
        inputs = {"query": draw.tensor(b, d_q), "annotations": draw.tensor(b, n, d_k)}
        if turned:
            inputs = {name: reverse_memory_order(tensor) for name, tensor in inputs.items()}
        upstream = {
            "beta": draw.tensor(b),
            "context": draw.tensor(b, d_k),
            "weights": draw.tensor(b, n),
        }
        return Case(
            name,
            inputs,
            calls,
            init_arguments={"query_size": d_q, "key_size": d_k, "hidden_size": d},
            weights={
                "W": draw.tensor(d, d_q, scale=scale),
                "U": draw.tensor(d, d_k, scale=scale),
                "v": draw.tensor(d, scale=1.2),
                "gate.weight": draw.tensor(1, d_q, scale=scale),
                "gate.bias": draw.tensor(1, scale=0.7),
            },
            upstream=upstream,
        )

    b, n, d_q, d_k, d = draw.sizes(5, 2, 7)
    return [
        case("one picture of one place", 1, 1, 2, 3, 4),
        case("one picture of three places", 1, 3, 2, 4, 5),
        case("all sizes different", b, n, d_q, d_k, d),
        case("as many places as pictures", b, b, d_q, d_k, d),
        case("state and annotation of one size", b, n, d_q, d_q, d),
        case("all sizes equal", b, b, b, b, b),
        case("large weights", b, n, d_q, d_k, d, scale=2.5),
        case("states and annotations that are not contiguous", b, n, d_q, d_k, d, turned=True),
        make_second_batch_case(case("", 2, 3, 2, 4, 5), case("", 2, 3, 2, 4, 5)),
    ]


SOFT_ATTENTION = Exercise(
    name="SoftAttention",
    points=4,
    difficulty=2,
    minutes=20,
    signature="(query, annotations)",
    axes={
        "query": "B d_q",
        "annotations": "B N d_k",
        "beta": "B",
        "context": "B d_k",
        "weights": "B N",
    },
    cases=_attention_cases,
    normalized_outputs={"weights": ""},
    is_class=True,
    parts=(Part("beta", ("beta",), 1), Part("forward", ("forward",), 3)),
)


def _rows_of_weights(numbers: Tensor) -> Tensor:
    positive = numbers.exp()
    return round_to_float32(positive / positive.sum(-1, keepdim=True))


def _penalty_cases(draw: SeededInputs) -> list[Case]:
    call = (Call("", ("weights", "mask"), ("penalty",)),)

    def case(name: str, weights: Tensor, mask: Tensor, note: str = "") -> Case:
        inputs = {"weights": weights, "mask": mask}
        return Case(name, inputs, call, upstream={"penalty": draw.tensor()}, note=note)

    def weights(b: int, t: int, n: int) -> Tensor:
        return _rows_of_weights(draw.tensor(b, t, n, scale=1.3))

    b, t, n = draw.sizes(3, 3, 7)
    lengths = draw.lengths(b, t)
    empty = length_mask(lengths, t)
    empty[0] = False
    ragged = length_mask(lengths, t)
    padded = torch.where(ragged.unsqueeze(-1), weights(b, t, n), draw.tensor(b, t, n, scale=3.0))
    one = torch.ones(1, 1, dtype=torch.bool)
    sparse = weights(b, t, n) * draw.random_mask(b, t, n)
    sparse = round_to_float32(sparse / sparse.sum(-1, keepdim=True))
    nothing = "A caption without any real word has a penalty of 0, and counts in the mean."
    return [
        case("one picture of one place, one word", torch.ones(1, 1, 1).double(), one),
        case("one picture of three places, one word", weights(1, 1, 3), one),
        case("one picture, two words", weights(1, 2, 3), torch.ones(1, 2, dtype=torch.bool)),
        case("captions of different length", weights(b, t, n), ragged),
        case("all sizes different", weights(b, t, n), torch.ones(b, t, dtype=torch.bool)),
        case(
            "any numbers where a caption has ended",
            padded,
            ragged,
            "Where a caption has ended anything may stand; it must not count.",
        ),
        case("a caption without any real word", weights(b, t, n), empty, nothing),
        case("no caption with a real word", weights(2, t, n), torch.zeros(2, t).bool(), nothing),
        case("weights that are exactly 0", sparse, length_mask(draw.lengths(b, t), t)),
        case("as many words as pictures", weights(b, b, n), length_mask(draw.lengths(b, b), b)),
        case("as many places as words", weights(b, t, t), length_mask(draw.lengths(b, t), t)),
        case("all sizes equal", weights(b, b, b), length_mask(draw.lengths(b, b), b)),
        case(
            "weights that are not contiguous",
            weights(t, b, n).transpose(0, 1),
            length_mask(draw.lengths(b, t), t),
        ),
    ]


DOUBLY_STOCHASTIC_PENALTY = Exercise(
    name="doubly_stochastic_penalty",
    points=2,
    difficulty=2,
    minutes=15,
    signature="(weights, mask)",
    axes={"weights": "B T N", "mask": "B T", "penalty": ""},
    cases=_penalty_cases,
)


_LOOK = {"context": "B d_v", "sample": "B N", "log_prob": "B"}


HARD_ATTENTION = Exercise(
    name="hard_attention",
    points=3,
    difficulty=2,
    minutes=20,
    signature="(weights, values, generator=None)",
    axes={"weights": "B N", "values": "B N d_v"}
    | {
        prefix + name: axes
        for prefix in ("", "twin_", "other_", "later_", "again_")
        for name, axes in _LOOK.items()
    },
    cases=draw_hard_attention_cases,
)


def _reinforce_cases(draw: SeededInputs) -> list[Case]:
    call = (Call("", ("log_prob", "reward", "baseline", "mask"), ("loss",)),)

    def case(
        name: str,
        mask: Tensor,
        baseline: float | None = None,
        log_prob: Tensor | None = None,
        note: str = "",
    ) -> Case:
        b, t = mask.shape
        inputs = {
            "log_prob": _logs(b, t) if log_prob is None else log_prob,
            "reward": draw.tensor(b, scale=0.6, shift=0.8),
        }
        given = {}
        if baseline is None:
            inputs["baseline"] = draw.tensor(b, scale=0.5, shift=0.4)
        else:
            given["baseline"] = baseline
        return Case(
            name,
            inputs | {"mask": mask},
            call,
            extra_arguments=given,
            upstream={"loss": draw.tensor()},
            note=note,
        )

    def _logs(b: int, t: int) -> Tensor:
        return round_to_float32(-draw.tensor(b, t, scale=1.2).exp())

    b, t = draw.sizes(2, 3, 7)
    lengths = draw.lengths(b, t)
    ragged = length_mask(lengths, t)
    empty = ragged.clone()
    empty[0] = False
    padded = torch.where(ragged, _logs(b, t), draw.tensor(b, t, scale=9.0))
    one = torch.ones(1, 1, dtype=torch.bool)
    several = "The baseline may be one number for all pictures or one for each, (B,)."
    nothing = "A caption without any real word adds 0 to the sum, and counts in the mean."
    return [
        case("one picture, one word", one, 0.25),
        case("one picture, one word, a baseline of its own", one),
        case("one picture, three words", torch.ones(1, 3, dtype=torch.bool), 0.5),
        case("captions of different length", ragged, 0.375, note=several),
        case("a baseline for each picture", length_mask(draw.lengths(b, t), t), note=several),
        case("all sizes different", torch.ones(b, t, dtype=torch.bool)),
        case("no baseline, which is a baseline of 0", length_mask(draw.lengths(b, t), t), 0.0),
        case("a whole number for a baseline", length_mask(draw.lengths(b, t), t), 1),
        case(
            "any numbers where a caption has ended",
            ragged,
            0.625,
            padded,
            "Where a caption has ended anything may stand; it must not count.",
        ),
        case("a caption without any real word", empty, note=nothing),
        case("no caption with a real word", torch.zeros(2, t).bool(), 0.5, note=nothing),
        case("as many words as pictures", length_mask(draw.lengths(b, b), b)),
        case(
            "numbers that are not contiguous",
            length_mask(draw.lengths(b, t), t),
            log_prob=reverse_memory_order(_logs(b, t)),
        ),
    ]


REINFORCE_LOSS = Exercise(
    name="reinforce_loss",
    points=3,
    difficulty=2,
    minutes=15,
    signature="(log_prob, reward, baseline, mask)",
    axes={"log_prob": "B T", "reward": "B", "baseline": "B", "mask": "B T", "loss": ""},
    cases=_reinforce_cases,
)
