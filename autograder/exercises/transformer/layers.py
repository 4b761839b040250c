"""Test cases of the exercises of the notebook `transformer/layers`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from autograder.exercises._dropout_cases import add_training_cases
from autograder.exercises._padded_sequences import make_second_batch_case
from autograder.spec.exercise import Call, Case, Exercise, Fake, NamedDict, Part, SelectedRows
from autograder.spec.seeded_inputs import SeededInputs, increase_variance, length_mask


def _norm(draw: SeededInputs, prefix: str, d: int) -> dict[str, Tensor]:
    return {
        f"{prefix}.weight": draw.tensor(d, scale=0.4, shift=1.0),
        f"{prefix}.bias": draw.tensor(d, scale=0.4),
    }


def _attention(draw: SeededInputs, prefix: str, d: int, n: int) -> dict[str, Tensor]:
    """Return the weights of a `PairAttention(d, n)`, small enough for float32 to be sure."""
    return {
        f"{prefix}.P": draw.tensor(2, n, d, scale=0.5),
        f"{prefix}.R": draw.tensor(2, n, d, scale=0.5),
        f"{prefix}.S": draw.tensor(2, d, d, scale=0.4),
    }


def _positions_cases(draw: SeededInputs) -> list[Case]:
    call = (Call("", ("length", "size"), ("positions",)),)

    def case(name: str, length: int, size: int, note: str = "") -> Case:
        return Case(name, {}, call, extra_arguments={"length": length, "size": size}, note=note)

    half, length = draw.sizes(2, 3, 9)
    return [
        case("one position, one wave", 1, 2, "At position 0 every sine is 0, every cosine 1."),
        case("three positions, one wave", 3, 2),
        case("four positions, two waves", 4, 4),
        case("all sizes different", 2 * length + 5, 2 * half),
        case("as many positions as numbers", 2 * half, 2 * half),
        case("more numbers than positions", 3, 4 * half),
        case("forty positions", 40, 6),
    ]


SINUSOIDAL_POSITIONS = Exercise(
    name="sinusoidal_positions",
    points=3,
    difficulty=2,
    minutes=15,
    signature="(length, size)",
    axes={"positions": "T d"},
    cases=_positions_cases,
)


def _norm_cases(draw: SeededInputs) -> list[Case]:
    plain = (Call("", ("x", "weight", "bias"), ("y",)),)
    with_eps = (Call("", ("x", "weight", "bias", "eps"), ("y",)),)

    def case(
        name: str,
        *shape: int,
        eps: float | None = None,
        scale: float = 1.0,
        shift: float = 0.0,
        note: str = "",
    ) -> Case:
        inputs = {
            "x": increase_variance(draw.tensor(*shape, scale=scale, shift=shift), by=2 * scale),
            "weight": draw.tensor(shape[-1], scale=0.4, shift=1.0),
            "bias": draw.tensor(shape[-1], scale=0.4),
        }
        return Case(
            name,
            inputs,
            plain if eps is None else with_eps,
            extra_arguments={} if eps is None else {"eps": eps},
            upstream={"y": draw.tensor(*shape)},
            note=note,
        )

    b, t, d = sorted([*draw.sizes(2, 2, 4), draw.integer(5, 7)])
    equal = case("a vector of equal numbers, not one of them 0", b, d)
    equal.inputs["x"][0] = 0.5
    return [
        case("one vector of two numbers", 1, 2),
        case("one vector of four numbers", 1, 4),
        case("one vector without other axes", 5),
        case("all sizes different", b, t, d),
        case("four axes", 2, 3, 4, d),
        case("as many vectors as numbers", d, d, note="Mean and variance are over the last axis."),
        case("numbers far from 0", b, d, shift=3.0),
        case("small numbers", b, d, scale=2e-3, note="eps is added to the variance: it matters."),
        case("a large eps", b, t, d, eps=0.75, note="eps is given here: add it, whatever it is."),
        case("a large eps, small numbers", b, d, eps=0.25, scale=0.25),
        equal,
    ]


def _by_layer_norm(case: Case) -> Sequence[Tensor]:
    i, eps = case.inputs, case.extra_arguments.get("eps", 1e-5)
    return [F.layer_norm(i["x"], i["x"].shape[-1:], i["weight"], i["bias"], eps)]


LAYER_NORM = Exercise(
    name="layer_norm",
    points=2,
    difficulty=1,
    minutes=10,
    signature="(x, weight, bias, eps=1e-05)",
    axes={"x": "... d", "weight": "d", "bias": "d", "y": "... d"},
    cases=_norm_cases,
    forbidden=("layer_norm",),
    operator=_by_layer_norm,
)


def _feed_forward_cases(draw: SeededInputs) -> list[Case]:
    call = (Call("forward", ("x",), ("y",)),)

    def case(name: str, d: int, m: int, *leading: int, note: str = "") -> Case:
        return Case(
            name,
            {"x": draw.tensor(*leading, d)},
            call,
            init_arguments={"model_size": d, "inner_size": m},
            weights={
                "inner.weight": draw.tensor(m, d),
                "inner.bias": draw.tensor(m, scale=0.5),
                "outer.weight": draw.tensor(d, m),
                "outer.bias": draw.tensor(d, scale=0.5),
            },
            upstream={"y": draw.tensor(*leading, d)},
            note=note,
        )

    b, t, d, m = draw.sizes(4, 2, 7)
    return [
        case("one position", 2, 5, 1, 1),
        case("one sentence of three words", 3, 4, 1, 3),
        case("all sizes different", d, m, b, t),
        case("inner and outer layer of one size", d, d, b, t),
        case("a smaller inner layer", 6, 2, b, t),
        case("all sizes equal", b, b, b, b),
        case("four axes", d, m, 2, b, t, note="The leading axes (...) may be any."),
    ]


POSITIONWISE_FEED_FORWARD = Exercise(
    name="PositionwiseFeedForward",
    points=2,
    difficulty=1,
    minutes=5,
    signature="(x)",
    axes={"x": "... d", "y": "... d"},
    cases=_feed_forward_cases,
    is_class=True,
)


def _encoder_cases(draw: SeededInputs) -> list[Case]:
    masked, bare = (Call("forward", args, ("y",)) for args in (("x", "mask"), ("x",)))

    def case(
        name: str,
        mask: Tensor | None,
        b: int,
        s: int,
        d: int,
        n: int,
        eps: float | None = None,
        note: str = "",
    ) -> Case:
        inputs, real = {"x": draw.tensor(b, s, d)}, {}
        inputs |= {} if mask is None else {"mask": mask}
        if "mask" in inputs and inputs["mask"].shape[1] == 1:
            # Only padding is masked: what stands on it does not count.
            real["y"] = inputs["mask"][:, 0]
            inputs["x"] = torch.where(real["y"].unsqueeze(-1), inputs["x"], 2 * inputs["x"])
        construct: dict[str, Any] = {
            "model_size": d,
            "attention": Fake("PairAttention", (d, n)),
            "feed_forward": Fake("WaveNetwork", (d,)),
        }
        if eps is not None:
            construct |= {"dropout": 0.0, "eps": eps}
        return Case(
            name,
            inputs,
            (bare if mask is None else masked,),
            init_arguments=construct,
            weights={
                **_attention(draw, "attention", d, n),
                **_norm(draw, "attention_norm", d),
                "feed_forward.A": draw.tensor(d, d, scale=0.4),
                **_norm(draw, "feed_forward_norm", d),
            },
            valid_masks=real,
            upstream={"y": draw.tensor(b, s, d)},
            note=note,
        )

    b, s, n, d = sorted(draw.sizes(4, 3, 7), key=lambda size: size >= 6)
    empty = length_mask(draw.lengths(b, s), s).unsqueeze(1)
    empty[0] = False
    holes = draw.random_mask(b, s, s)
    holes[0, 1] = False
    return [
        case("one sentence of one word, no mask", None, 1, 1, 6, 3),
        case("one sentence of three words, no mask", None, 1, 3, 6, 4),
        case("two sentences, one of them shorter", _row([2, 3], 3), 2, 3, 7, 5),
        case("sentences of different length", _row(draw.lengths(b, s), s), b, s, d, n),
        case("all sizes different, no mask", None, b, s, d, n),
        case("all sizes equal", _row([1, 2, 5, 4, 3], 5), 5, 5, 5, 5),
        case(
            "a large eps",
            _row(draw.lengths(b, s), s),
            b,
            s,
            d,
            n,
            eps=0.75,
            note="This layer is made with eps=0.75: both of its norms need it.",
        ),
        case(
            "another mask for each word",
            holes,
            b,
            s,
            d,
            n,
            note="The mask is handed on to the attention as it is, here of shape (B, N, N).",
        ),
        case("a sentence without any real word", empty, b, s, d, n),
        make_second_batch_case(
            case("", _row([2, 3], 3), 2, 3, 6, 4), case("", _row([3, 1], 3), 2, 3, 6, 4)
        ),
        *add_training_cases(
            case("", _row([2, 3], 3), 2, 3, 6, 4),
            "what each of the two parts returns, before it is added",
        ),
    ]


ENCODER_LAYER = Exercise(
    name="EncoderLayer",
    points=4,
    difficulty=2,
    minutes=15,
    signature="(x, mask=None)",
    axes={"x": "B N d", "mask": "B N N", "y": "B N d"},
    cases=_encoder_cases,
    is_class=True,
)


def _row(lengths: Tensor | list[int], longest: int) -> Tensor:
    """Return a padding mask of shape (B, 1, S)."""
    return length_mask(torch.as_tensor(lengths), longest).unsqueeze(1)


def _causal(t: int) -> Tensor:
    """Return (1, T, T), True up to the diagonal; made as no answer would be."""
    return torch.tensor([[[j <= i for j in range(t)] for i in range(t)]])


_CACHE = ("keys", "values", "memory_keys", "memory_values")


def _decoder_cases(draw: SeededInputs) -> list[Case]:
    begun = NamedDict("cache", {key: key for key in _CACHE})
    moved = NamedDict("cache_1", {key: f"{key}_1" for key in _CACHE[:2]})

    def steps(masked: bool) -> tuple[Call, ...]:
        """A whole sentence; its first two words, step by step; then other words from one state."""
        seen = ("memory_mask",) if masked else ()
        chosen = (SelectedRows("memory_mask", "rows"),) if masked else ()
        forward = ("y", "memory", "mask", *seen)[: None if masked else 2]
        return (
            Call("forward", forward, ("z",)),
            Call("start", ("memory",), (begun,)),
            Call("step", ("first", "cache", *seen), ("z_1", moved)),
            Call("step", ("second", "cache_1", *seen), ("z_2", {})),
            Call("step", ("third", SelectedRows("cache_1", "rows"), *chosen), ("z_chosen", {})),
            Call("step", ("fourth", "cache_1", *seen), ("z_again", {})),
        )

    def case(
        name: str,
        memory_mask: Tensor,
        mask: Tensor | None,
        b: int,
        t: int,
        d: int,
        n: tuple[int, int],
        masked: bool = True,
        later: bool = False,
        note: str = "",
    ) -> Case:
        s = memory_mask.shape[-1]
        k = 9 if d == 8 else 3  # all sizes different; a beam may become wider
        memory = draw.tensor(b, s, d)
        real = memory_mask[:, 0].unsqueeze(-1)
        inputs = {
            "y": draw.tensor(b, t, d),
            "memory": torch.where(real, memory, 2 * memory),  # padding is not 0
            "memory_mask": memory_mask,
            "first": draw.tensor(b, 1, d),
            "second": draw.tensor(b, 1, d),
            "third": draw.tensor(k, 1, d),
            "fourth": draw.tensor(b, 1, d),
            "rows": torch.tensor([draw.integer(0, b - 1) for _ in range(k)]),
        }
        calls = steps(masked)
        inputs |= {} if mask is None else {"mask": mask}
        if not masked:
            del inputs["memory_mask"]
        if later:  # a later word is another one
            changed = inputs["y"].clone()
            changed[:, -1] = draw.tensor(b, d)
            inputs["changed_y"] = changed
            again = ("changed_y", "memory", "mask", "memory_mask")
            calls = (*calls, Call("forward", again, ("changed_z",)))
        return Case(
            name,
            inputs,
            calls,
            init_arguments={
                "model_size": d,
                "attention": Fake("PairAttention", (d, n[0])),
                "memory_attention": Fake("PairAttention", (d, n[1])),
                "feed_forward": Fake("WaveNetwork", (d,)),
            },
            weights={
                **_attention(draw, "attention", d, n[0]),
                **_norm(draw, "attention_norm", d),
                **_attention(draw, "memory_attention", d, n[1]),
                **_norm(draw, "memory_attention_norm", d),
                "feed_forward.A": draw.tensor(d, d, scale=0.4),
                **_norm(draw, "feed_forward_norm", d),
            },
            upstream={
                "z": draw.tensor(b, t, d),
                "z_1": draw.tensor(b, 1, d),
                "z_2": draw.tensor(b, 1, d),
                "z_chosen": draw.tensor(k, 1, d),
                "memory_keys": draw.tensor(b, 2, s, n[1]),
            },
            note=note,
        )

    b, s, t, n, m, d = sorted(draw.sizes(6, 3, 8), key=lambda size: size == 8)
    empty = _row([1, 3, 4], 4)
    empty[0] = False
    # Also a mask that looks at nothing in one row and at later words in another: it is handed on.
    free = draw.random_mask(2, 4, 4)
    free[-1, 0] = False
    padded = _causal(t) & _row(draw.lengths(b, t), t)
    return [
        case("one sentence of two words", _row([3], 3), _causal(2), 1, 2, 6, (3, 5)),
        case("no masks", _row([4, 4], 4), None, 2, 3, 6, (3, 3), masked=False),
        case("two sentences, one of them shorter", _row([2, 3], 3), _causal(2), 2, 2, 7, (3, 5)),
        case("sentences of different length", _row(draw.lengths(b, s), s), padded, b, t, d, (n, m)),
        case(
            "a later word is another one",
            _row([3, 2], 3),
            _causal(4),
            2,
            4,
            6,
            (3, 2),
            later=True,
            note="Only the last word differs (changed_y): nothing before it may differ in z.",
        ),
        case(
            "any mask between the words",
            _row([3, 5], 5),
            free,
            2,
            4,
            6,
            (2, 3),
            note="The mask is handed on to the attention as it is: here it is not a causal one.",
        ),
        case("a source without any real word", empty, _causal(2), 3, 2, 6, (2, 2)),
        case("all sizes equal", _row([4, 2, 1, 5, 3], 5), _causal(5), 5, 5, 5, (5, 5)),
        make_second_batch_case(
            case("", _row([2, 3], 3), _causal(2), 2, 2, 6, (3, 2)),
            case("", _row([3, 1], 3), _causal(2), 2, 2, 6, (3, 2)),
        ),
        *add_training_cases(
            case("", _row([2, 3], 3), _causal(2), 2, 2, 6, (3, 2)),
            "what each of the three parts returns, before it is added",
        ),
    ]


_DECODER_AXES = {
    "y": "B T d",
    "memory": "B S d",
    "mask": "B T T",
    "memory_mask": "B 1 S",
    "first": "B 1 d",
    "second": "B 1 d",
    "third": "K 1 d",
    "fourth": "B 1 d",
    "rows": "K",
    "z": "B T d",
    "changed_y": "B T d",
    "changed_z": "B T d",
    "z_1": "B 1 d",
    "z_2": "B 1 d",
    "z_chosen": "K 1 d",
    "z_again": "B 1 d",
    "keys": "B h 0 n",
    "values": "B h 0 d",
    "keys_1": "B h 1 n",
    "values_1": "B h 1 d",
    "memory_keys": "B h S m",
    "memory_values": "B h S d",
}


DECODER_LAYER = Exercise(
    name="DecoderLayer",
    points=6,
    difficulty=3,
    minutes=40,
    signature="(y, memory, mask=None, memory_mask=None)",
    axes=_DECODER_AXES,
    cases=_decoder_cases,
    is_class=True,
    parts=(Part("forward", ("forward",), 3), Part("start and step", ("start", "step"), 3)),
)
