"""Test cases of the exercises of the notebook `transformer/attention`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from autograder.exercises._dropout_cases import add_training_cases
from autograder.exercises._padded_sequences import make_second_batch_case
from autograder.spec.binomial_bounds import is_plausible
from autograder.spec.exercise import Call, Case, Exercise, Fake, Part
from autograder.spec.outcome import Outcome
from autograder.spec.seeded_inputs import SeededInputs, length_mask

# Weights under a mask that has fewer axes than they have need a name of their own, because
# `normalized_outputs` puts a missing axis behind the batch.
_DROPPED = (
    "`dropout` is called with the weights, and the values are averaged with what it returns; the "
    "weights that are returned are those before it."
)
_SHARED = "A mask (T, N) holds for all sentences and heads: it broadcasts as it is."


def _everything(*shape: int) -> Tensor:
    return torch.ones(*shape, dtype=torch.bool)


def _earlier(length: int) -> Tensor:
    """Return bool (T, T), True on and below the diagonal."""
    places = torch.arange(length)
    return places <= places.unsqueeze(1)


def _louder(real: Tensor, tensor: Tensor) -> Tensor:
    """Return a tensor (..., N, d) twice as large where nobody may attend: padding is not 0."""
    return torch.where(real.unsqueeze(-1), tensor, 2 * tensor)


def _names(prefix: str, *names: str) -> tuple[str, ...]:
    return tuple(prefix + name for name in names)


def _dot_product_cases(draw: SeededInputs) -> list[Case]:
    """Cases with and without leading axes and masks."""

    def case(
        name: str,
        leading: tuple[int, ...],
        t: int,
        n: int,
        d_k: int,
        d_v: int,
        mask: Tensor | None = None,
        left_out: bool = False,
        shift: float = 0.0,
        dropping: bool = False,
        note: str = "",
    ) -> Case:
        inputs = {
            "query": draw.tensor(*leading, t, d_k),
            "key": draw.tensor(*leading, n, d_k),
            "value": draw.tensor(*leading, n, d_v),
        }
        given: dict[str, Any] = {}
        arguments: tuple[str, ...] = ("query", "key", "value", "mask")
        prefix = ""
        if mask is None:
            prefix = "unmasked_"
            if left_out:
                arguments = arguments[:-1]
            else:
                given["mask"] = None
        else:
            prefix = "" if mask.dim() == len(leading) + 2 else "shared_"
            inputs["mask"] = mask
            real = mask.any(-2).expand(*leading, n)
            inputs |= {part: _louder(real, inputs[part]) for part in ("key", "value")}
        if shift:  # all scores are higher by `shift`, or nearly
            # float32 knows large scores only roughly: it holds these products as they are, and
            # values that are close together don't show the rest.
            inputs |= {part: (8 * inputs[part]).round() / 8 for part in ("query", "key")}
            inputs["value"] = inputs["value"] / 2
            inputs["query"][..., 0] = 32.0
            inputs["key"][..., 0] = round(shift * math.sqrt(d_k) / 32)
        if dropping:
            given["dropout"] = Fake("Fading", ())
            arguments = (*arguments, "dropout")
        returned = _names(prefix, "output", "weights")
        upstream = {
            returned[0]: draw.tensor(*leading, t, d_v),
            returned[1]: draw.tensor(*leading, t, n),
        }
        return Case(
            name,
            inputs,
            (Call("", arguments, returned),),
            extra_arguments=given,
            upstream={} if shift else upstream,
            note=note,
        )

    b, t = draw.sizes(2, 2, 3)
    n, d_k, d_v = draw.sizes(3, 4, 6)
    ragged = length_mask(draw.lengths(b, n), n)
    empty = ragged.clone()
    empty[0] = False
    gone = draw.random_mask(b, t, n)
    gone[0, 1] = False
    gone[-1, 0] = False
    per_head = draw.random_mask(2, 3, 2, 4)
    per_head[0, 0, 1] = False
    padded = length_mask(torch.tensor([3, 4]), 4)
    leading = "Leading axes (...) may be none, (B,) or (B, h): work on the last two axes alone."
    return [
        case("one query, one key", (1,), 1, 1, 2, 3, _everything(1, 1, 1)),
        case("no batch axis", (), 2, 3, 4, 5, draw.random_mask(2, 3), note=leading),
        case("no mask (None)", (b,), t, n, d_k, d_v),
        case("no mask (left out), several heads", (2, 3), 4, 5, 3, 2, left_out=True),
        case("sentences of different length", (b,), t, n, d_k, d_v, ragged.unsqueeze(1)),
        case("a mask for each query", (b,), t, n, d_k, d_v, draw.random_mask(b, t, n)),
        case("a query that may attend to nothing", (b,), t, n, d_k, d_v, gone),
        case("a sentence without any real word", (b,), t, n, d_k, d_v, empty.unsqueeze(1)),
        case("query, key and value of one size", (b,), t, n, d_k, d_k, ragged.unsqueeze(1)),
        case("several heads", (2, 3), 2, 4, 5, 3, padded[:, None, None], note=leading),
        case("a mask for each head", (2, 3), 2, 4, 5, 3, per_head, note=leading),
        case(
            "one mask for all sentences", (b,), t, n, d_k, d_v, draw.random_mask(t, n), note=_SHARED
        ),
        case("one mask for all heads", (2, 2), 3, 3, 5, 4, _earlier(3), note=_SHARED),
        case("as many queries as keys", (2,), 4, 4, 5, 3, _earlier(4).expand(2, 4, 4).clone()),
        case("all sizes equal", (3,), 3, 3, 3, 3, draw.random_mask(3, 3, 3)),
        # Roots and other functions of a small d_k are too much alike.
        case("one query, long vectors", (1,), 1, 2, 20, 3),
        # exp(800) is too large for float64, exp(-800) too small.
        case("large scores", (b,), t, n, d_k, d_v, ragged.unsqueeze(1), shift=800.0),
        case("very negative scores", (b,), t, n, d_k, d_v, ragged.unsqueeze(1), shift=-800.0),
        case("large scores without a mask", (1,), 2, 3, d_k, 2, shift=800.0),
        case(
            "dropout", (b,), t, n, d_k, d_v, draw.random_mask(b, t, n), dropping=True, note=_DROPPED
        ),
        case("dropout without a mask", (2, 3), 2, 4, 5, 3, dropping=True, note=_DROPPED),
    ]


def _under_each_mask(axes: Mapping[str, str], *outputs: str) -> dict[str, str]:
    """Add the names that outputs have without a mask, and under one that all share."""
    more = {f"{p}_{name}": axes[name] for p in ("unmasked", "shared") for name in outputs}
    return {**axes, **more}


def _by_attention(case: Case) -> Sequence[Tensor]:
    i = case.inputs
    return [F.scaled_dot_product_attention(i["query"], i["key"], i["value"], i.get("mask"))]


SCALED_DOT_PRODUCT_ATTENTION = Exercise(
    name="scaled_dot_product_attention",
    points=4,
    difficulty=2,
    minutes=25,
    signature="(query, key, value, mask=None, dropout=None)",
    axes=_under_each_mask(
        {
            "query": "... T d_k",
            "key": "... N d_k",
            "value": "... N d_v",
            "mask": "... T N",
            "output": "... T d_v",
            "weights": "... T N",
        },
        "output",
        "weights",
    ),
    cases=_dot_product_cases,
    normalized_outputs={"weights": "mask", "unmasked_weights": ""},
    forbidden=("scaled_dot_product_attention",),
    operator=_by_attention,
)


def _apart(draw: SeededInputs) -> tuple[int, int, int, int, int]:
    """Return B, T, N, h and d / h, as small as can be, that differ from each other and from d."""
    h, piece = [(2, 3), (3, 2), (2, 4), (4, 2)][draw.integer(0, 3)]
    left = [size for size in range(2, 8) if size not in (h, piece, h * piece)]
    t, n = (left[1], left[2]) if draw.integer(0, 1) else (left[2], left[1])
    return left[0], t, n, h, piece


def _split_cases(draw: SeededInputs) -> list[Case]:
    call = (Call("", ("x", "heads"), ("split",)),)

    def case(name: str, b: int, t: int, h: int, piece: int, note: str = "") -> Case:
        return Case(
            name,
            {"x": draw.tensor(b, t, h * piece)},
            call,
            extra_arguments={"heads": h},
            upstream={"split": draw.tensor(b, h, t, piece)},
            note=note,
        )

    b, t, n, h, piece = _apart(draw)
    return [
        case("one word, two heads", 1, 1, 2, 3),
        case("one sentence, two heads", 1, 3, 2, 4),
        case("all sizes different", b, t, h, piece),
        case("another number of heads", b, t, piece, n),
        case("one head", b, t, 1, piece, "A single head gets the whole vectors: (B, 1, T, d)."),
        case("one component for each head", b, t, h, 1),
        case("as many heads as words", b, h, h, piece),
        case("as many heads as sentences", h, t, h, piece),
        case("all sizes equal", 3, 3, 3, 3),
    ]


SPLIT_HEADS = Exercise(
    name="split_heads",
    points=2,
    difficulty=2,
    minutes=15,
    signature="(x, heads)",
    axes={"x": "B T d", "split": "B h T d/h"},
    cases=_split_cases,
)


def _merge_cases(draw: SeededInputs) -> list[Case]:
    call = (Call("", ("x",), ("merged",)),)

    def case(name: str, b: int, t: int, h: int, piece: int, note: str = "") -> Case:
        return Case(
            name,
            {"x": draw.tensor(b, h, t, piece)},
            call,
            upstream={"merged": draw.tensor(b, t, h * piece)},
            note=note,
        )

    b, t, n, h, piece = _apart(draw)
    return [
        case("one word, two heads", 1, 1, 2, 3),
        case("one sentence, two heads", 1, 3, 2, 4),
        case("all sizes different", b, t, h, piece),
        case("another number of heads", b, t, piece, n),
        case("one head", b, t, 1, piece, "The pieces of a single head are the whole vectors."),
        case("one component for each head", b, t, h, 1),
        case("as many heads as words", b, h, h, piece),
        case("as many heads as sentences", h, t, h, piece),
        case("all sizes equal", 3, 3, 3, 3),
    ]


MERGE_HEADS = Exercise(
    name="merge_heads",
    points=1,
    difficulty=1,
    minutes=5,
    signature="(x)",
    axes={"x": "B h T d/h", "merged": "B T d"},
    cases=_merge_cases,
)


def _whole_values_dropped(case: Case, outcome: Outcome) -> str:
    """The weight of the only key is 1 or dropped: a head finds the whole value or nothing of it."""
    mixed = outcome.outputs["unmasked_output"].double() - case.weights["output.bias"]
    found = torch.linalg.solve(case.weights["output.weight"], mixed.flatten(0, 1).T).T
    kept = found.abs().unflatten(1, (case.init_arguments["heads"], -1)) > 0.3  # (B T, h, d / h)
    if (kept.any(-1) != kept.all(-1)).any():
        return (
            "In training, dropout acts on the weights: where the weight of the only key is "
            "dropped, the head finds nothing, and not a part of the value."
        )
    if not is_plausible(int(kept.all(-1).sum()), kept.shape[0] * kept.shape[1], 0.5):
        return "In training, each weight is dropped or kept by itself, with the given probability."
    return ""


def _heads_cases(draw: SeededInputs) -> list[Case]:
    """Cases of `MultiHeadAttention`.

    `given_keys` and `given_values` are drawn, not projected by the answer: what `forward` makes of
    `projected` is one thing, what `project` returns another.
    """

    def case(
        name: str,
        b: int,
        t: int,
        n: int,
        h: int,
        piece: int,
        mask: Tensor | None = None,
        form: str = "cross",
        note: str = "",
    ) -> Case:
        """A case in one of several forms.

        cross: three different tensors. left out: without the argument `mask`. self: the query three
        times. projected: keys and values are projected too. kept: projected keys and values, and
        None for key and value. both: those beside a key and a value that are not meant.
        """
        d = h * piece
        inputs = {"query": draw.tensor(b, t, d)}
        inputs |= {part: draw.tensor(b, n, d) for part in ("key", "value")}
        if mask is not None:
            real = mask.any(-2).expand(b, n)
            inputs |= {part: _louder(real, inputs[part]) for part in ("key", "value")}
            inputs["mask"] = mask
        prefix = "unmasked_" if mask is None else "shared_" if mask.dim() == 2 else ""
        plain: dict[str, Any] = {"mask": None} if mask is None and form != "left out" else {}
        returned = _names(prefix, "output", "weights")
        upstream = {returned[0]: draw.tensor(b, t, d), returned[1]: draw.tensor(b, h, t, n)}
        arguments: tuple[Any, ...] = ("query", "key", "value", "mask")
        calls: tuple[Call, ...] = ()
        if form == "left out":
            arguments = arguments[:-1]
        elif form == "self":
            inputs = {name: tensor for name, tensor in inputs.items() if name in ("query", "mask")}
            arguments = ("query", "query", "query", "mask")
        elif form in ("projected", "kept", "both"):
            calls = (Call("project", ("key", "value"), ("keys", "values")),)
            beside = {f"given_{part}": draw.tensor(b, h, n, piece) for part in ("keys", "values")}
            upstream |= {part: draw.tensor(b, h, n, piece) for part in ("keys", "values")}
            inputs |= {} if form == "projected" else beside
            if form == "kept":
                plain["nothing"] = None
                arguments = ("query", "nothing", "nothing", "mask", tuple(beside))
            elif form == "both":
                arguments = (*arguments, tuple(beside))
        calls = (*calls, Call("forward", arguments, returned))
        weights = {}
        for part in ("query", "key", "value", "output"):
            weights[f"{part}.weight"] = draw.tensor(d, d, scale=0.5)
            weights[f"{part}.bias"] = draw.tensor(d, scale=0.4)
        return Case(
            name,
            inputs,
            calls,
            extra_arguments=plain,
            init_arguments={"model_size": d, "heads": h},
            weights=weights,
            upstream=upstream,
            note=note,
        )

    b, t, n, h, piece = _apart(draw)
    ragged = length_mask(draw.lengths(b, n), n)
    empty = draw.random_mask(2, 1, 4)
    empty[0] = False
    gone = draw.random_mask(2, 3, 4)
    gone[0, 1] = False
    gone[-1, 0] = False
    all_heads = "A mask (B, T, N) or (B, 1, N) holds for all heads: it lacks their axis."
    before = (
        "forward goes wrong only when it is given `projected`: the keys and values in it are "
        "projected and cut into heads already, and key and value are not looked at."
    )
    one_key = case("", 2, 30, 1, 3, 2)
    one_key.weights["output.weight"].copy_(torch.eye(6) + one_key.weights["output.weight"] / 4)
    one_key.weights["value.weight"].mul_(1 / 8)
    one_key.weights["value.bias"].copy_(one_key.weights["value.bias"].sign())
    return [
        case("one query, one key, one head", 1, 1, 1, 1, 2, _everything(1, 1, 1)),
        case("one query, two keys, two heads", 1, 1, 2, 2, 2),
        case("no mask (None)", b, t, n, h, piece),
        case("no mask (left out)", 2, 3, 4, 3, 2, form="left out"),
        case("all sizes different", b, t, n, h, piece, draw.random_mask(b, t, n)),
        case("sentences of different length", b, t, n, h, piece, ragged.unsqueeze(1)),
        case("one mask for all sentences", 2, 3, 4, 3, 2, draw.random_mask(3, 4), note=_SHARED),
        case("a query that may attend to nothing", 2, 3, 4, 2, 3, gone),
        case("a sentence without any real word", 2, 3, 4, 2, 3, empty),
        case("one tensor three times", 2, 4, 4, 3, 2, _earlier(4), form="self"),
        case("one head", 2, 3, 4, 1, 5, draw.random_mask(2, 3, 4)),
        case("one component for each head", 2, 3, 4, 5, 1, draw.random_mask(2, 1, 4)),
        case(
            "as many heads as sentences", 3, 2, 4, 3, 2, draw.random_mask(3, 2, 4), note=all_heads
        ),
        case("all sizes equal", 3, 3, 3, 3, 3, draw.random_mask(3, 3, 3), note=all_heads),
        case(
            "keys and values that were projected before",
            2,
            1,
            4,
            3,
            2,
            draw.random_mask(2, 1, 4),
            "kept",
            note=before,
        ),
        case("projected keys and values beside others", 2, 3, 4, 3, 2, form="both", note=before),
        make_second_batch_case(
            case("", 2, 2, 3, 2, 3, draw.random_mask(2, 1, 3), "projected"),
            case("", 2, 2, 3, 2, 3, draw.random_mask(2, 2, 3), "projected"),
        ),
        *add_training_cases(case("", 2, 2, 3, 2, 2, draw.random_mask(2, 2, 3)), "the weights"),
        replace(
            one_key,
            name="training mode, a dropout of 0.5 of the weights of a single key",
            init_arguments={**one_key.init_arguments, "dropout": 0.5},
            upstream={},
            random_outputs=("unmasked_output",),
            check_random_outputs=_whole_values_dropped,
            training_mode="random",
        ),
    ]


_HEADS_AXES = {
    "query": "B T d",
    "key": "B N d",
    "value": "B N d",
    "mask": "... T N",
    "output": "B T d",
    "weights": "B h T N",
    "keys": "B h N d/h",
    "values": "B h N d/h",
    "given_keys": "B h N d/h",
    "given_values": "B h N d/h",
}


MULTI_HEAD_ATTENTION = Exercise(
    name="MultiHeadAttention",
    points=5,
    difficulty=3,
    minutes=35,
    signature="(query, key, value, mask=None, projected=None)",
    axes=_under_each_mask(_HEADS_AXES, "output", "weights"),
    cases=_heads_cases,
    normalized_outputs={"weights": "mask", "unmasked_weights": ""},
    is_class=True,
    parts=(Part("project", ("project",), 1), Part("forward", ("forward",), 4)),
)
