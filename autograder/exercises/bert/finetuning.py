"""Test cases of the exercises of the notebook `bert/finetuning`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from autograder.exercises._dropout_cases import add_training_cases
from autograder.exercises._padded_sequences import make_second_batch_case
from autograder.exercises.bert import _loading
from autograder.spec.exercise import Call, Case, Exercise, Fake, Part
from autograder.spec.seeded_inputs import SeededInputs

LOAD_PRETRAINED = Exercise(
    name="load_pretrained",
    points=5,
    difficulty=3,
    minutes=45,
    signature="(model, state_dict)",
    axes=_loading.list_axes(),
    cases=_loading.draw_cases,
)


def _read(draw: SeededInputs, b: int, n: int, v: int) -> dict[str, Tensor]:
    """Return ids and segments (B, N); to the checks' encoder, no id is padding."""
    return {
        "tokens": draw.tokens(b, n, vocabulary_size=v + 1) - 1,
        "segments": draw.tokens(b, n, vocabulary_size=3) - 1,
    }


def _encoder(draw: SeededInputs, v: int, d: int) -> dict[str, Tensor]:
    """Return the weights of the checks' encoder."""
    return {"encoder.E": draw.tensor(v, d), "encoder.C": draw.tensor(2, d)}


def _classifier_cases(draw: SeededInputs, each_token: bool) -> list[Case]:
    def case(
        name: str,
        b: int,
        n: int,
        v: int,
        d: int,
        c: int,
        arguments: tuple[str, ...] = ("tokens", "segments"),
        given: dict[str, Any] | None = None,
        large: float = 1.0,
        note: str = "",
    ) -> Case:
        inputs = _read(draw, b, n, v)
        if given is not None:
            del inputs["segments"]
        weights = _encoder(draw, v, d)
        if not each_token:
            weights["pooler.weight"] = draw.tensor(d, d, scale=0.7 * large)
            weights["pooler.bias"] = draw.tensor(d, scale=0.5)
        weights["output.weight"] = draw.tensor(c, d)
        weights["output.bias"] = draw.tensor(c, scale=0.6)
        shape = (b, n, c) if each_token else (b, c)
        return Case(
            name,
            inputs,
            (Call("forward", arguments, ("logits",)),),
            extra_arguments=given or {},
            init_arguments={
                "encoder": Fake("TintedEncoder", (v, d)),
                "hidden_size": d,
                "classes": c,
            },
            weights=weights,
            upstream={"logits": draw.tensor(*shape)},
            note=note,
        )

    b, n, d, c = draw.sizes(4, 2, 7)
    whole = "Without segments the encoder is given None, and knows what to make of it."
    return [
        case("one sentence of one token", 1, 1, 5, 2, 3),
        case("one sentence of three tokens", 1, 3, 5, 4, 2),
        case("two sentences of three tokens", 2, 3, 6, 5, 4),
        case("all sizes different", b, n, 9, d, c),
        case("tokens alone", b, n, 9, d, c, arguments=("tokens",), given={}, note=whole),
        case("segments is None", b, n, 9, d, c, given={"segments": None}, note=whole),
        case("as many classes as numbers in a state", b, n, 9, d, d),
        case("as many sentences as tokens", b, b, 9, d, c),
        case("a single class", b, n, 9, d, 1),
        case("all sizes equal", 4, 4, 4, 4, 4),
        case("large weights", b, n, 9, d, c, large=4.0),
        make_second_batch_case(case("", 2, 3, 6, 4, 5), case("", 2, 3, 6, 4, 5)),
        *add_training_cases(case("", 2, 3, 6, 4, 5), "the states" if each_token else "c"),
    ]


def _sentence_cases(draw: SeededInputs) -> list[Case]:
    return _classifier_cases(draw, each_token=False)


_CLASSIFIER = {"tokens": "B N", "segments": "B N"}


SEQUENCE_CLASSIFIER = Exercise(
    name="SequenceClassifier",
    points=3,
    difficulty=1,
    minutes=15,
    signature="(tokens, segments=None)",
    axes=_CLASSIFIER | {"logits": "B C"},
    cases=_sentence_cases,
    is_class=True,
)


def _token_cases(draw: SeededInputs) -> list[Case]:
    return _classifier_cases(draw, each_token=True)


TOKEN_CLASSIFIER = Exercise(
    name="TokenClassifier",
    points=2,
    difficulty=1,
    minutes=10,
    signature="(tokens, segments=None)",
    axes=_CLASSIFIER | {"logits": "B N C"},
    cases=_token_cases,
    is_class=True,
)


def _untied(draw: SeededInputs, b: int, n: int, shift: float = 0.0) -> tuple[Tensor, Tensor]:
    """Return scores of beginnings and of ends, (B, N), of which no two pairs have the same sum.

    They are whole eighths, and each pair (i, j) adds a fraction of an eighth of its own.
    """

    def order() -> Tensor:
        left = list(range(n))
        return torch.tensor([left.pop(draw.integer(0, len(left) - 1)) for _ in range(n)])

    def eighths() -> Tensor:
        return torch.tensor([float(draw.integer(-30, 30)) for _ in range(n)]).double()

    def round_scores(rows: list[Tensor]) -> Tensor:
        """Round to what float32 holds, also when 12 is added: far less than sums differ by."""
        exact = (torch.stack(rows) / 8 * 2**18).round() / 2**18
        return (exact + shift).float().double()

    return (
        round_scores([eighths() + order() / n for _ in range(b)]),
        round_scores([eighths() + order() / n**2 for _ in range(b)]),
    )


def _tempted(scores: tuple[Tensor, Tensor], places: Sequence[tuple[int, int]]) -> None:
    """Let each row's largest sum be one that is not allowed: (beginning, end), by 12."""
    for row, (first, last) in enumerate(places):
        scores[0][row, first] += 12
        scores[1][row, last] += 12


def _span_cases(draw: SeededInputs) -> list[Case]:
    scored = Call("forward", ("tokens", "segments"), ("start_scores", "end_scores"))
    unlimited = Call("best", ("starts", "ends", "passage"), ("first", "last"))
    short = Call("best", ("starts", "ends", "passage", "longest"), ("first", "last"))

    def case(
        name: str,
        passage: Tensor,
        scores: tuple[Tensor, Tensor] | None = None,
        v: int = 7,
        d: int = 3,
        longest: int | None = None,
        plain: bool = False,
        note: str = "",
    ) -> Case:
        b, n = passage.shape
        starts, ends = scores or _untied(draw, b, n)
        inputs = _read(draw, b, n, v)
        calls = [Call("forward", ("tokens",), scored.returns) if plain else scored]
        if plain:
            del inputs["segments"]
        inputs |= {"starts": starts, "ends": ends, "passage": passage}
        calls.append(unlimited if longest is None else short)
        return Case(
            name,
            inputs,
            tuple(calls),
            extra_arguments={} if longest is None else {"longest": longest},
            init_arguments={"encoder": Fake("TintedEncoder", (v, d)), "hidden_size": d},
            weights={**_encoder(draw, v, d), "start": draw.tensor(d), "end": draw.tensor(d)},
            upstream={"start_scores": draw.tensor(b, n), "end_scores": draw.tensor(b, n)},
            note=note,
        )

    def all_of(b: int, n: int) -> Tensor:
        return torch.ones(b, n, dtype=torch.bool)

    def behind(b: int, n: int) -> Tensor:
        """A passage behind a question, with padding behind it, of two tokens at least."""
        passage = torch.zeros(b, n, dtype=torch.bool)
        for row in range(b):
            begin = draw.integer(1, 2)
            passage[row, begin : draw.integer(begin + 2, n - 1)] = True
        return passage

    b, n, d = 3 + draw.integer(0, 1), 6 + draw.integer(0, 2), 5
    turned = _untied(draw, b, n)
    # The best end stands before the best beginning.
    _tempted(turned, [(draw.integer(n // 2, n - 1), draw.integer(0, n // 2 - 1)) for _ in range(b)])
    outside = _untied(draw, b, n)
    around = behind(b, n)
    _tempted(outside, [(0, n - 1)] * b)
    half = behind(b, n)  # one of the two is in the passage, the other is not
    inside = [int(row.nonzero()[0]) for row in half]
    reaching = _untied(draw, b, n)
    _tempted(reaching, [(i, n - 1) if row % 2 else (0, i) for row, i in enumerate(inside)])
    long = _untied(draw, b, n)
    _tempted(long, [(0, n - 1), (1, n - 1), *[(0, n - 2)] * b][:b])
    exact = _untied(draw, b, n)
    _tempted(exact, [(i % 2, i % 2 + 2 + i % 2) for i in range(b)])  # 3 and 4 tokens in turn
    holes = draw.random_mask(b, n)
    holes[:, 0], holes[:, n - 1], holes[:, n // 2] = True, True, False
    across = _untied(draw, b, n)
    _tempted(across, [(0, n - 1)] * b)
    into = all_of(b, n)
    into[:, n // 2] = False
    in_hole = _untied(draw, b, n)
    _tempted(in_hole, [(n // 2, n - 1) if row % 2 else (0, n // 2) for row in range(b)])
    inside_out = "The passage may have holes: what is in one is not in the passage."
    alone = torch.zeros(2, 5, dtype=torch.bool)
    alone[0, 3] = alone[1, 0] = True
    wide = _untied(draw, 2, 33)
    _tempted(wide, [(1, 32), (2, 31)])
    between = "An answer begins and ends in the passage; a token between the two need not be in it."
    count = "An answer of longest tokens is allowed: last - first + 1 may be longest, not more."
    return [
        case("one sentence of one token", all_of(1, 1), d=2),
        case("one sentence of two tokens", all_of(1, 2), d=4),
        case("two sentences of three tokens", all_of(2, 3), d=4),
        case("all sizes different", behind(b, n), d=d),
        case("tokens alone", behind(b, n), plain=True),
        case("the best end stands before the best beginning", all_of(b, n), turned),
        case("the largest sum lies outside of the passage", around, outside),
        case("the largest sum lies half in the passage", half, reaching),
        case("a passage with holes", holes, across, note=between),
        case("the largest sum begins or ends in a hole", into, in_hole, note=inside_out),
        case("a passage of one token", alone),
        case("no answer may be long", all_of(b, n), long, longest=2),
        case("answers that are just short enough", all_of(b, n), exact, longest=3, note=count),
        case("answers of one token", behind(b, n), longest=1),
        case(
            "a long passage",
            all_of(2, 33),
            wide,
            note="Unless it is told otherwise, best allows 30 tokens.",
        ),
        case("scores far below 0", behind(b, n), _untied(draw, b, n, shift=-200.0)),
        case("scores far above 0", behind(b, n), _untied(draw, b, n, shift=200.0), longest=2),
        case("all sizes equal", all_of(4, 4), d=4),
        make_second_batch_case(case("", behind(2, 6)), case("", behind(2, 6))),
    ]


_HALVES = {"start_scores": "B N", "end_scores": "B N"}


SPAN_PREDICTOR = Exercise(
    name="SpanPredictor",
    points=4,
    difficulty=3,
    minutes=40,
    signature="(tokens, segments=None)",
    axes=_CLASSIFIER
    | _HALVES
    | {"starts": "B N", "ends": "B N", "passage": "B N", "first": "B", "last": "B"},
    cases=_span_cases,
    is_class=True,
    parts=(Part("forward", ("forward",), 2), Part("best", ("best",), 2)),
)
