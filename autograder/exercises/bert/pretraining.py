"""Test cases of the exercises of the notebook `bert/pretraining`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from autograder.exercises._padded_sequences import make_second_batch_case
from autograder.spec.exercise import Call, Case, Exercise, Fake
from autograder.spec.seeded_inputs import SeededInputs, increase_variance, length_mask


def _ids(draw: SeededInputs, lengths: Tensor, longest: int, v: int, pad_id: int) -> Tensor:
    """Return ids (B, N) with padding behind each sentence's end; all other ids are words."""
    words = draw.tokens(len(lengths), longest, vocabulary_size=v) - 1  # 0 ... v - 2
    words = torch.where(words >= pad_id, words + 1, words)  # all but pad_id
    return words.masked_fill(~length_mask(lengths, longest), pad_id)


def _segments(draw: SeededInputs, lengths: Tensor, longest: int) -> Tensor:
    """Return 0 for a first part of each sentence and 1 for the rest; padding has either."""
    first = [draw.integer(0, int(length)) for length in lengths]
    rows = (~length_mask(torch.tensor(first), longest)).long()  # (B, N)
    padding = ~length_mask(lengths, longest)
    return torch.where(padding & (torch.arange(longest) % 2 == 0), 0, rows)


def _encoder_cases(draw: SeededInputs) -> list[Case]:
    def case(
        name: str,
        lengths: Tensor,
        n: int,
        v: int,
        d: int,
        layers: int,
        mask: Tensor | None = None,
        pad_id: int | None = None,
        segments: bool = True,
        nothing_given: bool = False,
        note: str = "",
    ) -> Case:
        b, pad = len(lengths), pad_id or 0
        inputs = {"tokens": _ids(draw, lengths, n, v, pad)}
        given: dict[str, Any] = {}
        arguments: tuple[str, ...] = ("tokens",)
        if segments:
            inputs["segments"] = _segments(draw, lengths, n)
        elif mask is not None or nothing_given:
            given["segments"] = None
        if segments or given:
            arguments += ("segments",)
        if mask is not None:
            inputs["mask"] = mask
        elif nothing_given:
            given["mask"] = None
        if mask is not None or nothing_given:
            arguments += ("mask",)
        construct: dict[str, Any] = {
            "embeddings": Fake("TintedEmbeddings", (v, d)),
            "layers": Fake("NearLayers", (layers, d, 3)),
        }
        if pad_id is not None:
            construct["pad_id"] = pad_id
        weights = {"embeddings.E": draw.tensor(v, d), "embeddings.C": draw.tensor(2, d)}
        for number in range(layers):
            weights[f"layers.{number}.g"] = draw.tensor(d, scale=0.8)
            weights[f"layers.{number}.P"] = draw.tensor(3, d)
        return Case(
            name,
            inputs,
            (Call("forward", arguments, ("states",)),),
            extra_arguments=given,
            init_arguments=construct,
            weights=weights,
            valid_masks={"states": inputs["tokens"] != pad},  # on padding, what comes out is free
            upstream={"states": draw.tensor(b, n, d)},
            note=note,
        )

    b, n, d = draw.sizes(3, 3, 6)
    lengths = draw.lengths(b, n)
    empty = lengths.clone()
    empty[0] = 0
    blind = draw.random_mask(b, n)
    blind[0] = False
    at_will = "A mask that is given says everything: padding is then not looked for."
    whose = "What counts as padding is said by pad_id; 0 is then a token like any other."
    return [
        case("one sentence of one token", torch.tensor([1]), 1, 5, 2, 1),
        case("two sentences, one with padding", torch.tensor([2, 3]), 3, 5, 4, 1),
        case("all sizes different", lengths, n, 9, d, 3),
        case(
            "no layer",
            lengths,
            n,
            7,
            d,
            0,
            note="A stack without layers returns what the embeddings give.",
        ),
        case("tokens alone", lengths, n, 8, d, 2, segments=False),
        case("segments and mask are None", lengths, n, 8, d, 2, segments=False, nothing_given=True),
        case(
            "a mask of one row for each sentence",
            lengths,
            n,
            8,
            d,
            2,
            mask=draw.random_mask(b, n).unsqueeze(1),
            note=at_will,
        ),
        case(
            "a mask of its own for each token, and no segments",
            lengths,
            n,
            8,
            d,
            2,
            mask=draw.random_mask(b, n, n),
            segments=False,
            note=at_will,
        ),
        case(
            "a mask that shows nothing of one sentence",
            lengths,
            n,
            8,
            d,
            2,
            mask=blind.unsqueeze(1),
        ),
        case("padding with another id than 0", lengths, n, 8, d, 2, pad_id=3, note=whose),
        case("padding with the last id", lengths, n, 8, d, 2, pad_id=7, note=whose),
        case("a sentence of nothing but padding", empty, n, 8, d, 2),
        case("all sizes equal", draw.lengths(4, 4), 4, 5, 4, 2),
        make_second_batch_case(
            case("", torch.tensor([2, 3]), 3, 6, 4, 2), case("", torch.tensor([3, 1]), 3, 6, 4, 2)
        ),
    ]


BERT_ENCODER = Exercise(
    name="BertEncoder",
    points=3,
    difficulty=2,
    minutes=20,
    signature="(tokens, segments=None, mask=None)",
    # A mask of one row for all tokens has 1 where another has N rows.
    axes={"tokens": "B N", "segments": "B N", "mask": "B N N", "states": "B N d"},
    cases=_encoder_cases,
    is_class=True,
)


def _pool_cases(draw: SeededInputs) -> list[Case]:
    call = (Call("", ("states", "W", "b"), ("pooled",)),)

    def case(name: str, batch: int, n: int, d: int, out: int, large: float = 1.0) -> Case:
        return Case(
            name,
            {
                "states": draw.tensor(batch, n, d),
                "W": draw.tensor(out, d, scale=0.6 * large),
                "b": draw.tensor(out, scale=0.6),
            },
            call,
            upstream={"pooled": draw.tensor(batch, out)},
        )

    b, n, d, out = draw.sizes(4, 2, 7)
    return [
        case("one sentence of one token", 1, 1, 2, 3),
        case("one sentence of three tokens", 1, 3, 4, 2),
        case("two sentences of three tokens", 2, 3, 2, 4),
        case("all sizes different", b, n, d, out),
        case("as many outputs as inputs", b, n, d, d),
        case("as many sentences as tokens", b, b, d, out),
        case("all sizes equal", 4, 4, 4, 4),
        case("large weights", b, n, d, out, large=4.0),
    ]


POOL_FIRST = Exercise(
    name="pool_first",
    points=1,
    difficulty=1,
    minutes=5,
    signature="(states, W, b)",
    axes={"states": "B N d", "W": "d_out d", "b": "d_out", "pooled": "B d_out"},
    cases=_pool_cases,
)


def _head_cases(draw: SeededInputs) -> list[Case]:
    call = Call("forward", ("states",), ("logits",))

    def case(
        name: str,
        states: Tensor,
        v: int,
        small: float = 1.0,
        eps: float | None = None,
        tokens: Tensor | None = None,
        note: str = "",
    ) -> Case:
        d = states.shape[-1]
        inputs = {"states": states}
        calls: tuple[Call, ...] = (call,)
        upstream = {"logits": draw.tensor(*states.shape[:-1], v)}
        if tokens is not None:
            # What is looked up in the table goes through the head: the table is used twice.
            inputs["tokens"] = tokens
            calls += (
                Call("embedding", ("tokens",), ("looked_up",)),
                Call("forward", ("looked_up",), ("tied_logits",)),
            )
            upstream["tied_logits"] = draw.tensor(*tokens.shape, v)
        construct: dict[str, Any] = {"embedding": Fake("Embedding", (v, d))}
        if eps is not None:
            construct["eps"] = eps
        transform = draw.tensor(d, d, scale=1.2 * small)
        transform[:2] /= 16  # of the numbers that the norm gets, two are far apart, see `apart`
        return Case(
            name,
            inputs,
            calls,
            init_arguments=construct,
            tied=("embedding",),
            weights={
                "embedding.weight": draw.tensor(v, d),
                "transform.weight": transform,
                "transform.bias": increase_variance(
                    draw.tensor(d, scale=0.5 * small), by=2 * small
                ),
                "norm.weight": draw.tensor(d, scale=0.5, shift=1.0),
                "norm.bias": draw.tensor(d, scale=0.5),
                "bias": draw.tensor(v, scale=0.7),
            },
            upstream=upstream,
            note=note,
        )

    b, t, d, v = draw.sizes(4, 3, 6)
    variance = "The LayerNorm is the one that __init__ builds, with the eps that it was given."
    return [
        case("one state", draw.tensor(1, 1, 3), 4),
        case("one sentence of two tokens", draw.tensor(1, 2, 4), 5),
        case("all sizes different", draw.tensor(b, t, d), v),
        case("states without an axis of tokens", draw.tensor(b, d), v),
        case("states with one axis more", draw.tensor(2, b, t, d), v),
        case("as many words as numbers in a state", draw.tensor(b, t, d), d),
        case("all sizes equal", draw.tensor(4, 4, 4), 4),
        # Their variance is small beside the eps of other LayerNorms, large beside 1e-12.
        case("states of small variance", draw.tensor(b, t, d), v, small=5e-3, note=variance),
        case("a large eps", draw.tensor(b, t, d), v, eps=0.5, note=variance),
        case(
            "states that come from the same table",
            draw.tensor(2, 3, d),
            7 if d != 7 else 6,
            tokens=draw.tokens(2, 3, vocabulary_size=6) - 1,
            note="The table is used, not copied: gradients reach it as inputs and as outputs.",
        ),
    ]


MASKED_LANGUAGE_MODEL_HEAD = Exercise(
    name="MaskedLanguageModelHead",
    points=3,
    difficulty=2,
    minutes=20,
    signature="(states)",
    axes={
        "states": "... d",
        "logits": "... V",
        "tokens": "B T",
        "looked_up": "... d",
        "tied_logits": "... V",
    },
    cases=_head_cases,
    is_class=True,
)


def _loss_cases(draw: SeededInputs) -> list[Case]:
    call = (Call("", ("token_logits", "next_logits", "labels", "is_next"), ("loss",)),)

    def case(
        name: str,
        logits: Tensor,
        chosen: Tensor,
        is_next: list[bool],
        next_logits: Tensor | None = None,
        note: str = "",
    ) -> Case:
        b, n, v = logits.shape
        # id 0 is there, and is an id like any other
        ids = draw.tokens(b, n, vocabulary_size=v + 1) - 1
        ids[0, -1] = 0
        if next_logits is None:
            next_logits = draw.tensor(b, 2)
        return Case(
            name,
            {
                "token_logits": logits,
                "next_logits": next_logits,
                "labels": ids.masked_fill(~chosen, -100),
                "is_next": torch.tensor(is_next),
            },
            call,
            upstream={"loss": draw.tensor(shift=3.0)},
            note=note,
        )

    def coins(count: int) -> list[bool]:
        """More of one than of the other, so that a swap shows."""
        return [i % 3 != 1 for i in range(count)]

    def some(b: int, n: int) -> Tensor:
        """Chosen positions, more in one sentence than in another, the last of the first too."""
        chosen = length_mask(draw.lengths(b, n - 1), n) & draw.random_mask(b, n)
        chosen[0] = False
        chosen[0, -1] = True
        chosen[-1, :2] = True
        return chosen

    b, n, v = draw.sizes(3, 3, 7)
    part = some(b, n)
    rows = part.clone()
    rows[1] = False
    none = torch.zeros(b, n, dtype=torch.bool)
    nothing = (
        "If nothing was chosen, the first part is 0: a mean over nothing would be 0 / 0. The "
        "second part counts as always."
    )
    return [
        case("one pair, one token", draw.tensor(1, 1, 4), torch.tensor([[True]]), [True]),
        case(
            "one pair of three tokens, one chosen",
            draw.tensor(1, 3, 4),
            torch.tensor([[False, False, True]]),
            [False],
        ),
        case(
            "two pairs, two tokens chosen",
            draw.tensor(2, 3, 4),
            torch.tensor([[False, False, True], [True, False, False]]),
            [True, False],
        ),
        case("all sizes different", draw.tensor(b, n, v), part, coins(b)),
        case("every token chosen", draw.tensor(b, n, v), ~none, coins(b)),
        case("a pair without a chosen token", draw.tensor(b, n, v), rows, coins(b)),
        case("no token chosen", draw.tensor(b, n, v), none, coins(b), note=nothing),
        case(
            "one pair without a chosen token",
            draw.tensor(1, 2, 5),
            torch.zeros(1, 2, dtype=torch.bool),
            [True],
            note=nothing,
        ),
        case("all pairs follow each other", draw.tensor(b, n, v), part, [True] * b),
        case("no pair follows each other", draw.tensor(b, n, v), part, [False] * b),
        case("two ids in the vocabulary", draw.tensor(3, 4, 2), some(3, 4), coins(3)),
        case("all sizes equal", draw.tensor(4, 4, 4), some(4, 4), coins(4)),
        # exp(1000) is too large for float64, exp(-1000) too small.
        case(
            "large logits",
            draw.tensor(b, n, v, scale=300.0),
            part,
            coins(b),
            next_logits=draw.tensor(b, 2, scale=300.0),
        ),
        case(
            "logits far below 0",
            draw.tensor(b, n, v, shift=-1000.0),
            part,
            coins(b),
            next_logits=draw.tensor(b, 2, shift=-1000.0),
        ),
    ]


PRETRAINING_LOSS = Exercise(
    name="pretraining_loss",
    points=3,
    difficulty=2,
    minutes=20,
    signature="(token_logits, next_logits, labels, is_next)",
    axes={
        "token_logits": "B N V",
        "next_logits": "B 2",
        "labels": "B N",
        "is_next": "B",
        "loss": "",
    },
    cases=_loss_cases,
)
