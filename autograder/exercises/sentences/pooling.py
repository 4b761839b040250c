"""Test cases of the exercises of the notebook `sentences/pooling`."""

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
from autograder.spec.exercise import Call, Case, Exercise
from autograder.spec.seeded_inputs import SeededInputs, length_mask, round_to_float32

_SHORT = "all sentences shorter than the batch is wide"
_EMPTY = "a sentence without any word"
_NO_WORDS = "A sentence without any word has a vector of zeros."


def _state_cases(draw: SeededInputs) -> list[Case]:
    call = (Call("", ("states", "lengths"), ("sentence",)),)

    def case(name: str, lengths: Tensor, n: int, d: int, note: str = "") -> Case:
        states = draw.tensor(len(lengths), n, d)
        real = length_mask(lengths, n).unsqueeze(-1)
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


LAST_STATE = Exercise(
    name="last_state",
    points=1,
    difficulty=1,
    minutes=5,
    signature="(states, lengths)",
    axes={"states": "B N d", "lengths": "B", "sentence": "B d"},
    cases=_state_cases,
)


def _masks(draw: SeededInputs, b: int, n: int) -> dict[str, Tensor]:
    """Return the masks in which sentence vectors are tried, by the name of the case."""
    lengths = draw.lengths(b, n)
    empty = length_mask(lengths, n)
    empty[0] = False
    holes = draw.random_mask(b, n)
    holes[0, 0], holes[0, -1] = False, True  # not a sentence with padding behind it
    return {
        "one sentence of one word": torch.ones(1, 1, dtype=torch.bool),
        "one sentence of three words": torch.ones(1, 3, dtype=torch.bool),
        "two sentences, one with padding": length_mask(torch.tensor([2, 3]), 3),
        "sentences of different length": length_mask(lengths, n),
        _SHORT: length_mask(draw.lengths(b, n), n + 2),
        _EMPTY: empty,
        "two sentences without any word": torch.zeros(2, 3, dtype=torch.bool),
        "masks with holes": holes,
    }


def _mean_cases(draw: SeededInputs) -> list[Case]:
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
        case("the first state is 0", length_mask(draw.lengths(b, n), n), d),
        case("as many sentences as words", length_mask(draw.lengths(n, n), n), d),
        case("as many words as numbers in a state", length_mask(draw.lengths(b, d), d), d),
        case("all sizes equal", length_mask(draw.lengths(b, b), b), b),
        case("states far from 0", length_mask(draw.lengths(b, n), n), d, shift=100.0),
    ]


MASKED_MEAN = Exercise(
    name="masked_mean",
    points=2,
    difficulty=1,
    minutes=10,
    signature="(states, mask)",
    axes={"states": "B N d", "mask": "B N", "sentence": "B d"},
    cases=_mean_cases,
)


def _max_cases(draw: SeededInputs) -> list[Case]:
    """Return cases in which no two real words share a maximum: the gradient would be open."""
    call = (Call("", ("states", "mask"), ("sentence",)),)

    def case(name: str, mask: Tensor, d: int, shift: float = 0.0, note: str = "") -> Case:
        b, n = mask.shape
        states = draw.tensor(b, n, d, shift=shift)
        # Padding is larger than all words; it would win if it took part.
        states = torch.where(mask.unsqueeze(-1), states, round_to_float32(states.abs() + 4))
        if name == "the first state is 0":
            states[:, 0] = 0.0
        upstream = {"sentence": draw.tensor(b, d)}
        return Case(name, {"states": states, "mask": mask}, call, upstream=upstream, note=note)

    b, n, d = draw.sizes(3, 3)
    cases = [
        case(name, mask, d if len(mask) > 2 else 4, note=_NO_WORDS if name == _EMPTY else "")
        for name, mask in _masks(draw, b, n).items()
    ]
    ragged = length_mask(draw.lengths(b, n), n + 1)
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
            length_mask(draw.lengths(b, n), n),
            d,
            note="A state of zeros is a state like any other; only the mask says what is padding.",
        ),
        case("as many sentences as words", length_mask(draw.lengths(n, n), n), d),
        case("as many words as numbers in a state", length_mask(draw.lengths(b, d), d), d),
        case("all sizes equal", length_mask(draw.lengths(b, b), b), b),
    ]


MASKED_MAX = Exercise(
    name="masked_max",
    points=2,
    difficulty=1,
    minutes=10,
    signature="(states, mask)",
    axes={"states": "B N d", "mask": "B N", "sentence": "B d"},
    cases=_max_cases,
)


def _classifier_cases(draw: SeededInputs) -> list[Case]:
    call = Call("forward", ("tokens", "lengths"), ("logits", "weights"))

    def case(
        name: str, lengths: Tensor, n: int, v: int, e: int, d: int, a: int, c: int, note: str = ""
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
        put_words_on_padding(draw, case("", torch.tensor([2, 4]), 4, 6, 2, 3, 5, 3), "tokens", 6),
        make_second_batch_case(
            case("", torch.tensor([2, 3]), 3, 6, 3, 2, 4, 2),
            case("", torch.tensor([3, 1]), 3, 6, 3, 2, 4, 2),
        ),
        *add_training_cases(
            case("", torch.tensor([1, 3]), 3, 5, 3, 2, 4, 2),
            "the embedded words and on the sentence vector",
        ),
    ]


ATTENTION_CLASSIFIER = Exercise(
    name="AttentionClassifier",
    points=5,
    difficulty=3,
    minutes=40,
    signature="(tokens, lengths)",
    axes={"tokens": "B N", "lengths": "B", "logits": "B C", "weights": "B N"},
    cases=_classifier_cases,
    normalized_outputs={"weights": "lengths"},
    is_class=True,
)
