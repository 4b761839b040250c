"""Test cases of the exercises of the notebook `seq2seq/cells`."""

from __future__ import annotations

from torch import Tensor

from autograder.spec.exercise import Call, Case, Exercise
from autograder.spec.seeded_inputs import SeededInputs

_WEIGHTS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


def _weights(draw: SeededInputs, gates: int, i: int, d: int) -> dict[str, Tensor]:
    """Weights of so many gates; biases are large enough for a forgotten one to show."""
    return {
        "weight_ih": draw.tensor(gates * d, i, scale=0.6),
        "weight_hh": draw.tensor(gates * d, d, scale=0.6),
        "bias_ih": draw.tensor(gates * d, scale=0.5),
        "bias_hh": draw.tensor(gates * d, scale=0.5),
    }


def _sizes(draw: SeededInputs, gates: int) -> list[int]:
    """Return B, i and d that differ from each other and from the stacked gates' size."""
    b, i, d = draw.sizes(3, 2, 7)
    while gates * d in (b, i):
        b, i, d = draw.sizes(3, 2, 7)
    return [b, i, d]


def _gru_cases(draw: SeededInputs) -> list[Case]:
    call = (Call("", ("x", "h", *_WEIGHTS), ("h_next",)),)

    def case(name: str, b: int, i: int, d: int, old: float = 0.6) -> Case:
        inputs = {"x": draw.tensor(b, i), "h": draw.tensor(b, d, scale=old)}
        inputs |= _weights(draw, 3, i, d)
        return Case(name, inputs, call, upstream={"h_next": draw.tensor(b, d)})

    b, i, d = _sizes(draw, 3)
    return [
        case("one sentence, one unit", 1, 2, 1),
        case("one sentence, two units", 1, 3, 2),
        case("all sizes different", b, i, d),
        case("input and state of one size", b, d, d),
        case("as many sentences as units", d, i, d),
        case("as many sentences as stacked gates", 3 * 2, 3, 2),
        case("all sizes equal", b, b, b),
        case("the first word, the state still 0", b, i, d, old=0.0),
    ]


GRU_CELL = Exercise(
    name="gru_cell",
    points=3,
    difficulty=2,
    minutes=20,
    signature="(x, h, weight_ih, weight_hh, bias_ih, bias_hh)",
    axes={
        "x": "B i",
        "h": "B d",
        "weight_ih": "3d i",
        "weight_hh": "3d d",
        "bias_ih": "3d",
        "bias_hh": "3d",
        "h_next": "B d",
    },
    cases=_gru_cases,
    forbidden=("gru",),
)


def _lstm_cases(draw: SeededInputs) -> list[Case]:
    call = (Call("", ("x", ("h", "c"), *_WEIGHTS), ("h_next", "c_next")),)

    def case(name: str, b: int, i: int, d: int, old: float = 0.6) -> Case:
        inputs = {
            "x": draw.tensor(b, i),
            "h": draw.tensor(b, d, scale=old),
            "c": draw.tensor(b, d, scale=2 * old),  # a memory may be larger than 1
        }
        inputs |= _weights(draw, 4, i, d)
        upstream = {"h_next": draw.tensor(b, d), "c_next": draw.tensor(b, d)}
        return Case(name, inputs, call, upstream=upstream)

    b, i, d = _sizes(draw, 4)
    return [
        case("one sentence, one unit", 1, 2, 1),
        case("one sentence, two units", 1, 3, 2),
        case("all sizes different", b, i, d),
        case("input and state of one size", b, d, d),
        case("as many sentences as units", d, i, d),
        case("as many sentences as stacked gates", 4 * 2, 3, 2),
        case("all sizes equal", b, b, b),
        case("the first word, state and memory still 0", b, i, d, old=0.0),
    ]


LSTM_CELL = Exercise(
    name="lstm_cell",
    points=3,
    difficulty=2,
    minutes=20,
    signature="(x, state, weight_ih, weight_hh, bias_ih, bias_hh)",
    axes={
        "x": "B i",
        "h": "B d",
        "c": "B d",
        "weight_ih": "4d i",
        "weight_hh": "4d d",
        "bias_ih": "4d",
        "bias_hh": "4d",
        "h_next": "B d",
        "c_next": "B d",
    },
    cases=_lstm_cases,
    forbidden=("lstm",),
)
