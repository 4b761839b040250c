"""The exercises of the notebook `sentences/pooling`: what is called with which inputs."""

from __future__ import annotations

import torch
from torch import Tensor

from autograder.drawing import Draw, below, held
from autograder.exercise import Call, Case, Exercise
from autograder.exercises.reading import (
    KEPT,
    SECOND,
    also_others,
    both_directions,
    other,
    others,
    padded_tokens,
)

_SHORT = "all sentences shorter than the batch is wide"
_EMPTY = "a sentence without any word"
_NO_WORDS = "A sentence without any word has a vector of zeros."


def _state_cases(draw: Draw) -> list[Case]:
    call = (Call("", ("states", "lengths"), ("sentence",)),)

    def case(name: str, lengths: Tensor, n: int, d: int, note: str = "") -> Case:
        states = draw.tensor(len(lengths), n, d)
        real = below(lengths, n).unsqueeze(-1)
        inputs = {"states": torch.where(real, states, 2 * states), "lengths": lengths}
        upstream = {"sentence": draw.tensor(len(lengths), d)}
        return Case(name, inputs, call, upstream=upstream, note=note)

    b, n, d = draw.sizes(3, 3)
    return [
        case("one sentence of one word", torch.tensor([1]), 1, 2),
        case("one sentence of three words", torch.tensor([3]), 3, 2),
        case("one sentence of two words and padding", torch.tensor([2]), 4, 3),
        case("two sentences, the first one shorter", torch.tensor([2, 4]), 4, 3),
        case("sentences of different length", draw.lengths(b, n), n, d),
        case(
            _SHORT,
            draw.lengths(b, n),
            n + 2,
            d,
            "Every sentence ends in padding here; its last word stands at its own length - 1.",
        ),
        case("all sentences as long as the batch is wide", torch.full((b,), n), n, d),
        case("as many sentences as words", draw.lengths(n, n), n, d),
        case("all sizes equal", draw.lengths(b, b), b, b),
    ]


def _masks(draw: Draw, b: int, n: int) -> dict[str, Tensor]:
    """Return the masks in which sentence vectors are tried, by the name of the case."""
    lengths = draw.lengths(b, n)
    empty = below(lengths, n)
    empty[0] = False
    holes = draw.holes(b, n)
    holes[0, 0], holes[0, -1] = False, True  # not a sentence with padding behind it
    return {
        "one sentence of one word": torch.ones(1, 1, dtype=torch.bool),
        "one sentence of three words": torch.ones(1, 3, dtype=torch.bool),
        "two sentences, one with padding": below(torch.tensor([2, 3]), 3),
        "sentences of different length": below(lengths, n),
        _SHORT: below(draw.lengths(b, n), n + 2),
        _EMPTY: empty,
        "two sentences without any word": torch.zeros(2, 3, dtype=torch.bool),
        "masks with holes": holes,
    }


def _mean_cases(draw: Draw) -> list[Case]:
    call = (Call("", ("states", "mask"), ("sentence",)),)

    def case(name: str, mask: Tensor, d: int, shift: float = 0.0) -> Case:
        b, n = mask.shape
        states = draw.tensor(b, n, d, shift=shift)
        states = torch.where(mask.unsqueeze(-1), states, 4 * states)  # padding is not 0
        if name == "the first state is 0":
            states[:, 0] = 0.0
        note = _NO_WORDS if name == _EMPTY else ""
        if name == "the first state is 0":
            note = "A state of zeros is a state like any other; only the mask says what is padding."
        upstream = {"sentence": draw.tensor(b, d)}
        return Case(name, {"states": states, "mask": mask}, call, upstream=upstream, note=note)

    b, n, d = draw.sizes(3, 3)
    cases = [
        case(name, mask, d if len(mask) > 2 else 4) for name, mask in _masks(draw, b, n).items()
    ]
    return [
        *cases,
        case("the first state is 0", below(draw.lengths(b, n), n), d),
        case("as many sentences as words", below(draw.lengths(n, n), n), d),
        case("as many words as numbers in a state", below(draw.lengths(b, d), d), d),
        case("all sizes equal", below(draw.lengths(b, b), b), b),
        case("states far from 0", below(draw.lengths(b, n), n), d, shift=100.0),
    ]


def _max_cases(draw: Draw) -> list[Case]:
    """Return cases in which no two real words share a maximum: the gradient would be open."""
    call = (Call("", ("states", "mask"), ("sentence",)),)

    def case(name: str, mask: Tensor, d: int, shift: float = 0.0, note: str = "") -> Case:
        b, n = mask.shape
        states = draw.tensor(b, n, d, shift=shift)
        # Padding is larger than all words; it would win if it took part.
        states = torch.where(mask.unsqueeze(-1), states, held(states.abs() + 4))
        if name == "the first state is 0":
            states[:, 0] = 0.0
        upstream = {"sentence": draw.tensor(b, d)}
        return Case(name, {"states": states, "mask": mask}, call, upstream=upstream, note=note)

    b, n, d = draw.sizes(3, 3)
    cases = [
        case(name, mask, d if len(mask) > 2 else 4, note=_NO_WORDS if name == _EMPTY else "")
        for name, mask in _masks(draw, b, n).items()
    ]
    ragged = below(draw.lengths(b, n), n + 1)
    negative = (
        "All words are negative here: a 0 that stands for padding is larger than any of them."
    )
    return [
        *cases,
        case("all states negative", ragged, d, -2.0, negative),
        case("all states positive", ragged, d, 2.0),
        case(
            "states far below 0",
            ragged,
            d,
            -2000.0,
            "Padding has to lose against every word, also against very small numbers.",
        ),
        case(
            "the first state is 0",
            below(draw.lengths(b, n), n),
            d,
            note="A state of zeros is a state like any other; only the mask says what is padding.",
        ),
        case("as many sentences as words", below(draw.lengths(n, n), n), d),
        case("as many words as numbers in a state", below(draw.lengths(b, d), d), d),
        case("all sizes equal", below(draw.lengths(b, b), b), b),
    ]


def _classifier_cases(draw: Draw) -> list[Case]:
    call = Call("forward", ("tokens", "lengths"), ("logits", "weights"))
    # What a module keeps from one batch must not get into the next.
    again = Call("forward", other("tokens", "lengths"), other("logits", "weights"))

    def case(
        name: str,
        lengths: Tensor,
        n: int,
        v: int,
        e: int,
        d: int,
        a: int,
        c: int,
        other_lengths: Tensor | None = None,
        note: str = "",
    ) -> Case:
        b = len(lengths)
        inputs = {"tokens": padded_tokens(draw, lengths, n, v), "lengths": lengths}
        if other_lengths is not None:
            tokens = padded_tokens(draw, other_lengths, n, v)
            inputs |= others({"tokens": tokens, "lengths": other_lengths})
        return Case(
            name,
            inputs,
            (call,) if other_lengths is None else (call, again),
            construct={
                "vocabulary_size": v,
                "embedding_size": e,
                "hidden_size": d,
                "attention_size": a,
                "classes": c,
            },
            weights={
                "embedding.weight": draw.tensor(v, e),  # the row of padding is not 0 either
                **both_directions(draw, "rnn.", 4, e, d),
                "W": draw.tensor(a, 2 * d, scale=1.2),
                "U": draw.tensor(a, 2 * d, scale=1.2),
                "v": draw.tensor(a, scale=1.5),
                "output.weight": draw.tensor(c, 2 * d),
                "output.bias": draw.tensor(c, scale=0.5),
            },
            upstream={"logits": draw.tensor(b, c), "weights": draw.tensor(b, n)},
            note=note,
        )

    b, n, c = draw.sizes(3, 3, 6)
    e, d, a = draw.sizes(3, 2, 4)
    empty = draw.lengths(b, n)
    empty[0] = 0
    nothing = (
        "A length may be 0, and pack_padded_sequence does not take that. The weights of such a "
        "sentence are 0, and its logits are the bias."
    )
    return [
        case("one sentence of one word", torch.tensor([1]), 1, 5, 3, 2, 4, 2),
        case("one sentence of three words", torch.tensor([3]), 3, 6, 2, 3, 4, 5),
        case("two sentences, the first one shorter", torch.tensor([2, 4]), 4, 6, 2, 3, 5, 3),
        case("sentences of different length", draw.lengths(b, n), n, 9, e, d, a, c),
        case(_SHORT, draw.lengths(b, n), n + 2, 9, e, d, a, c),
        case(_EMPTY, empty, n, 9, e, d, a, c, note=nothing),
        case("one sentence, without any word", torch.tensor([0]), 2, 5, 2, 3, 4, 2, note=nothing),
        case("all sizes equal", draw.lengths(4, 4), 4, 6, 4, 4, 4, 4),
        case(
            SECOND,
            torch.tensor([2, 3]),
            3,
            6,
            3,
            2,
            4,
            2,
            other_lengths=torch.tensor([3, 1]),
            note=KEPT,
        ),
    ]


EXERCISES: list[Exercise] = [
    Exercise(
        name="last_state",
        assignment="sentences",
        notebook="pooling",
        points=1,
        signature="(states, lengths)",
        axes={"states": "B N d", "lengths": "B", "sentence": "B d"},
        cases=_state_cases,
    ),
    Exercise(
        name="masked_mean",
        assignment="sentences",
        notebook="pooling",
        points=2,
        signature="(states, mask)",
        axes={"states": "B N d", "mask": "B N", "sentence": "B d"},
        cases=_mean_cases,
    ),
    Exercise(
        name="masked_max",
        assignment="sentences",
        notebook="pooling",
        points=2,
        signature="(states, mask)",
        axes={"states": "B N d", "mask": "B N", "sentence": "B d"},
        cases=_max_cases,
    ),
    Exercise(
        name="AttentionClassifier",
        assignment="sentences",
        notebook="pooling",
        points=5,
        signature="(tokens, lengths)",
        axes=also_others({"tokens": "B N", "lengths": "B", "logits": "B C", "weights": "B N"}),
        cases=_classifier_cases,
        is_class=True,
    ),
]
