"""Test cases of the exercises of the notebook `luong/local`."""

from __future__ import annotations

import torch
from torch import Tensor

from autograder.exercises._padded_sequences import make_second_batch_case
from autograder.spec.exercise import Call, Case, Exercise, Fake
from autograder.spec.seeded_inputs import SeededInputs, length_mask, round_to_float32


def _whole(draw: SeededInputs, count: int, low: int, high: int) -> Tensor:
    """Return whole numbers in [low, high] as real ones, (count,)."""
    return torch.tensor([draw.integer(low, high) for _ in range(count)], dtype=torch.float64)


def _between(draw: SeededInputs, count: int, low: int, high: int) -> Tensor:
    """Return positions between two words, (count,), which rounding moves up and down in turn."""
    fractions = torch.tensor([0.7, 0.3], dtype=torch.float64)[torch.arange(count) % 2]
    return round_to_float32(
        _whole(draw, count, low, high) + fractions + draw.tensor(count, scale=0.05)
    )


def _window_cases(draw: SeededInputs) -> list[Case]:
    call = (Call("", ("position", "lengths", "D", "N"), ("window",)),)

    def case(
        name: str, position: Tensor, lengths: Tensor, D: float, n: int, note: str = ""
    ) -> Case:
        inputs = {"position": position, "lengths": lengths}
        return Case(name, inputs, call, extra_arguments={"D": D, "N": n}, note=note)

    b, n = draw.integer(3, 5), draw.integer(7, 9)
    lengths = draw.lengths(b, n)
    full = torch.full((b,), n)
    outside = torch.tensor([-1.0, -6.0, n + 1.0, n + 7.0], dtype=torch.float64)
    none = draw.lengths(b, n)
    none[0] = 0
    ends = torch.where(torch.arange(b) % 2 == 0, lengths, 0).double()
    halves = _whole(draw, b, 2, n - 3) + 0.5
    return [
        case("one sentence of one word", torch.zeros(1).double(), torch.tensor([1]), 1, 1),
        case(
            "whole positions",
            _whole(draw, b, 2, n - 3),
            full,
            2,
            n,
            "The ends p - D and p + D belong to the window.",
        ),
        case(
            "positions between two words",
            _between(draw, b, 2, n - 4),
            full,
            1,
            n,
            "A position is a real number and is not rounded.",
        ),
        case(
            "sentences of different length", round_to_float32(lengths * 0.8 + 0.07), lengths, 2, n
        ),
        case(
            "all sentences shorter than the batch is wide",
            _between(draw, b, 1, n - 2),
            draw.lengths(b, n - 2),
            3,
            n,
            "Every sentence ends in padding here; padding is never in the window.",
        ),
        case("positions at 0 and at the length", ends, lengths, 2, n),
        case(
            "positions before the sentence and behind it",
            outside,
            torch.full((4,), n),
            2,
            n,
            "A position may lie outside the sentence; it stays where it is, and its window may be "
            "empty.",
        ),
        case("a sentence without any word", _whole(draw, b, 0, 2), none, 2, n),
        case("D is no whole number", halves, full, 1.5, n, "The ends belong to the window."),
        case("D is an odd number", _between(draw, b, 2, n - 3), lengths, 3, n),
        case("as many sentences as words", _between(draw, n, 0, n - 2), draw.lengths(n, n), 2, n),
        case("a window wider than the sentence", _between(draw, b, 0, n - 1), lengths, 20, n),
    ]


LOCAL_WINDOW = Exercise(
    name="local_window",
    points=2,
    difficulty=2,
    minutes=10,
    signature="(position, lengths, D, N)",
    axes={"position": "B", "lengths": "B", "window": "B N"},
    cases=_window_cases,
)


def _position_cases(draw: SeededInputs) -> list[Case]:
    call = (Call("", ("state", "lengths", "W", "v"), ("position",)),)

    def case(name: str, lengths: Tensor, d: int, n: int, scale: float = 1.0) -> Case:
        b = len(lengths)
        inputs = {
            "state": draw.tensor(b, d, scale=scale),
            "lengths": lengths,
            "W": draw.tensor(n, d, scale=0.7),
            "v": draw.tensor(n),
        }
        return Case(name, inputs, call, upstream={"position": draw.tensor(b)})

    b, d, n = draw.sizes(3, 3)
    none = draw.lengths(b, 9)
    none[0] = 0
    return [
        case("one sentence of one word", torch.tensor([1]), 2, 3),
        case("one sentence", torch.tensor([6]), 2, 3),
        case("sentences of different length", draw.lengths(b, 9), d, n),
        case("a sentence without any word", none, d, n),
        case("large states", draw.lengths(b, 7), d, n, scale=2.5),
        case("as many sentences as numbers in a state", draw.lengths(b, 9), b, n),
        case("all sizes equal", draw.lengths(b, b), b, b),
    ]


PREDICTIVE_POSITION = Exercise(
    name="predictive_position",
    points=2,
    difficulty=1,
    minutes=10,
    signature="(state, lengths, W, v)",
    axes={"state": "B d", "lengths": "B", "W": "n d", "v": "n", "position": "B"},
    cases=_position_cases,
)


def _rows_of_weights(numbers: Tensor) -> Tensor:
    positive = numbers.exp()
    return round_to_float32(positive / positive.sum(-1, keepdim=True))


def _gaussian_cases(draw: SeededInputs) -> list[Case]:
    call = (Call("", ("weights", "position", "D"), ("weighted",)),)

    def case(name: str, weights: Tensor, position: Tensor, D: float, note: str = "") -> Case:
        inputs = {"weights": weights, "position": position}
        upstream = {"weighted": draw.tensor(*weights.shape)}
        return Case(name, inputs, call, extra_arguments={"D": D}, upstream=upstream, note=note)

    b, n = draw.integer(3, 5), draw.integer(6, 8)
    cut = _rows_of_weights(draw.tensor(b, n)) * draw.random_mask(b, n)
    cut[0] = 0.0
    outside = torch.tensor([-1.25, -3.5, n + 0.5, n + 2.0], dtype=torch.float64)

    def weights(rows: int) -> Tensor:
        return _rows_of_weights(draw.tensor(rows, n))

    def near(rows: int) -> Tensor:
        return _between(draw, rows, 1, n - 3)

    whole = "The position is a whole number here: the weight at p itself stays what it was."
    return [
        case(
            "one sentence of one word",
            torch.full((1, 1), 0.75, dtype=torch.float64),
            torch.full((1,), 0.25, dtype=torch.float64),
            1,
        ),
        case("all sizes different", weights(b), near(b), 3),
        case("whole positions", weights(b), _whole(draw, b, 0, n - 1), 5, whole),
        case("D is no whole number", weights(b), near(b), 2.5),
        case("a narrow window", weights(b), near(b), 1),
        case("D is an even number", weights(b), near(b), 4),
        case(
            "positions before the sentence and behind it",
            weights(4),
            outside,
            3,
            "A position may lie outside the sentence; it stays where it is.",
        ),
        case(
            "weights of 0", cut, near(b), 3, "Weights of 0 stay 0, also in a row of nothing else."
        ),
        case("as many sentences as words", weights(n), near(n), 3),
    ]


GAUSSIAN_WEIGHTS = Exercise(
    name="gaussian_weights",
    points=2,
    difficulty=2,
    minutes=10,
    signature="(weights, position, D)",
    axes={"weights": "B N", "position": "B", "weighted": "B N"},
    cases=_gaussian_cases,
)


def _attention_cases(draw: SeededInputs) -> list[Case]:
    call = Call("forward", ("query", "keys", "mask", "position"), ("context", "weights"))

    def case(
        name: str,
        kind: str,
        mask: Tensor,
        d_q: int,
        d_k: int,
        d: int,
        D: float,
        position: int,
        note: str = "",
    ) -> Case:
        b, n = mask.shape
        keys = draw.tensor(b, n, d_k)
        keys = torch.where(mask.unsqueeze(-1), keys, 2 * keys)  # what stands on padding is not 0
        weights = {"score.P": draw.tensor(3, d_q), "score.R": draw.tensor(3, d_k, scale=0.7)}
        if kind == "predictive":
            weights |= {"W": draw.tensor(d, d_q, scale=0.7), "v": draw.tensor(d)}
        return Case(
            f"{kind}: {name}",
            {"query": draw.tensor(b, d_q), "keys": keys, "mask": mask},
            (call,),
            extra_arguments={"position": position},
            init_arguments={
                "kind": kind,
                "score": Fake("RippleScore", (d_q, d_k, 3)),
                "query_size": d_q,
                "hidden_size": d,
                "D": D,
            },
            weights=weights,
            upstream={"context": draw.tensor(b, d_k), "weights": draw.tensor(b, n)},
            note=note,
        )

    b, d_q, d_k, d = draw.sizes(4, 3, 6)
    n = draw.integer(7, 9)
    lengths = draw.lengths(b, n)
    empty = length_mask(lengths, n)
    empty[0] = False
    short = length_mask(draw.lengths(b, n - 2), n)
    two = length_mask(torch.tensor([2, 3]), 3)
    ones = torch.ones(1, 1, dtype=torch.bool)

    def again(kind: str) -> Case:
        first = case("", kind, two, 2, 3, 4, 1, 0)
        second = case("", kind, length_mask(torch.tensor([3, 1]), 3), 2, 3, 4, 1, 1)
        return make_second_batch_case(
            first, second, f"{kind}: a second batch through the same module"
        )

    return [
        case("one sentence of one word", "monotonic", ones, 2, 3, 4, 1, 0),
        case("one sentence of three words", "monotonic", two[1:], 2, 3, 4, 1, 0),
        case(
            "sentences of different length", "monotonic", length_mask(lengths, n), d_q, d_k, d, 2, 2
        ),
        case(
            "the target goes on when the source has ended",
            "monotonic",
            short,
            d_q,
            d_k,
            d,
            2,
            n - 2,
            note="A window without a real word gives weights and a context of 0.",
        ),
        case("a sentence without any real word", "monotonic", empty, d_q, d_k, d, 3, 1),
        again("monotonic"),
        case("one sentence of one word", "predictive", ones, 2, 3, 4, 2, 0),
        case("one sentence of three words", "predictive", two[1:], 2, 3, 4, 1, 4),
        case(
            "sentences of different length",
            "predictive",
            length_mask(lengths, n),
            d_q,
            d_k,
            d,
            3,
            1,
        ),
        case("D is no whole number", "predictive", short, d_q, d_k, d, 1.5, 5),
        case("a sentence without any real word", "predictive", empty, d_q, d_k, d, 3, 2),
        case(
            "a window so narrow that it may hold no word",
            "predictive",
            length_mask(lengths, n),
            d_q,
            d_k,
            d,
            0.25,
            0,
            note="A window without a real word gives weights and a context of 0.",
        ),
        case("all sizes equal", "predictive", length_mask(draw.lengths(b, b), b), b, b, b, 1, 1),
        again("predictive"),
    ]


_AXES = {"query": "B d_q", "keys": "B N d_k", "mask": "B N", "context": "B d_k", "weights": "B N"}


LOCAL_ATTENTION = Exercise(
    name="LocalAttention",
    points=5,
    difficulty=2,
    minutes=30,
    signature="(query, keys, mask, position)",
    axes=_AXES,
    cases=_attention_cases,
    is_class=True,
)
