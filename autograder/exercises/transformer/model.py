"""Test cases of the exercises of the notebook `transformer/model`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from autograder.exercises._dropout_cases import add_training_cases
from autograder.exercises._padded_sequences import make_second_batch_case
from autograder.spec.exercise import Call, Case, Exercise, Fake, NamedDict, Part, SelectedRows
from autograder.spec.seeded_inputs import SeededInputs, length_mask, round_to_float32


def _padding_cases(draw: SeededInputs) -> list[Case]:
    def case(name: str, tokens: Tensor, pad_id: int | None, note: str = "") -> Case:
        """Without a `pad_id` it is left out."""
        given = {} if pad_id is None else {"pad_id": pad_id}
        call = Call("", ("tokens", *given), ("real",))
        return Case(name, {"tokens": tokens}, (call,), extra_arguments=given, note=note)

    b, s = draw.integer(3, 4), draw.integer(5, 7)
    real = length_mask(draw.lengths(b, s), s)
    words = draw.tokens(b, s, vocabulary_size=9)
    nothing = real.clone()
    nothing[0] = False
    none = "The id of padding is an argument; in this case 0 is the id of a real word."
    return [
        case("one word", torch.tensor([[5]]), None),
        case("two words and padding", torch.tensor([[4, 1, 0]]), None),
        case("sentences of different length", words * real, None),
        case("the id of padding given", words * real, 0),
        case("a sentence without any real word", words * nothing, None),
        case(
            "padding before the words and among them",
            words * draw.random_mask(b, s),
            None,
            "Padding is where its id stands, wherever that is.",
        ),
        case("another id for padding", torch.where(real, words - 1, 9), 9, none),
        case("1 is the id of padding", torch.where(real, 2 * (words - 1), 1), 1, none),
        case("padding has the largest id but one", torch.where(real, 8 * (words % 2), 7), 7, none),
        case("as many sentences as words", draw.tokens(s, s, vocabulary_size=3) - 1, None),
    ]


PADDING_MASK = Exercise(
    name="padding_mask",
    points=1,
    difficulty=1,
    minutes=5,
    signature="(tokens, pad_id=0)",
    axes={"tokens": "B S", "real": "B S"},
    cases=_padding_cases,
)


def _causal_cases(draw: SeededInputs) -> list[Case]:
    call = (Call("", ("length",), ("mask",)),)
    lengths = [1, 2, 3, draw.integer(4, 6), draw.integer(7, 12), draw.integer(13, 30)]
    names = ["one word", "two words", "three words", "a few words", "a sentence", "a long sentence"]
    return [
        Case(name, {}, call, extra_arguments={"length": length})
        for name, length in zip(names, lengths, strict=True)
    ]


CAUSAL_MASK = Exercise(
    name="causal_mask",
    points=1,
    difficulty=1,
    minutes=5,
    signature="(length)",
    axes={"mask": "T T"},
    cases=_causal_cases,
)


def _ids(
    draw: SeededInputs, lengths: Tensor | list[int], longest: int, v: int, pad_id: int
) -> Tensor:
    """Return ids (B, L), padded at the end; every other id than pad_id is a word."""
    lengths = torch.as_tensor(lengths)
    tokens = _words(draw, len(lengths), longest, v=v, pad_id=pad_id)
    return tokens.masked_fill(~length_mask(lengths, longest), pad_id)


def _words(draw: SeededInputs, *shape: int, v: int, pad_id: int) -> Tensor:
    tokens = draw.tokens(*shape, vocabulary_size=v)
    return tokens.masked_fill(tokens == pad_id, 0) if pad_id else tokens


def _state(number: int, layers: int) -> NamedDict:
    """Return the names of what `start` or the number-th `step` returns."""
    return NamedDict(
        f"state_{number}",
        {
            "memory_mask": f"memory_mask_{number}",
            "position": f"position_{number}",
            "caches": ({},) * layers,  # as many as layers; what is in them is theirs
        },
    )


def _model_cases(draw: SeededInputs) -> list[Case]:
    def calls(layers: int) -> tuple[Call, ...]:
        return (
            Call("embed", ("previous",), ("embedded",)),
            Call("embed", ("previous", "at"), ("embedded_later",)),
            Call("encode", ("source",), ("memory", "memory_mask")),
            Call("forward", ("source", "previous"), ("logits",)),
            Call("start", ("source",), (_state(0, layers),)),
            Call("step", ("first", "state_0"), ("log_probs_1", _state(1, layers))),
            Call("step", ("second", "state_1"), ("log_probs_2", _state(2, layers))),
            Call(
                "step",
                ("third", SelectedRows("state_2", "rows")),
                ("log_probs_chosen", NamedDict("chosen")),
            ),
            Call("step", ("fourth", "chosen"), ("log_probs_further", {})),
            Call("step", ("other_word", "state_1"), ("log_probs_again", {})),
        )

    def case(
        name: str,
        lengths: Tensor | list[int],
        s: int,
        previous_lengths: Tensor | list[int],
        t: int,
        v: int,
        d: int,
        layers: tuple[int, int],
        n: int = 3,
        pad_id: int | None = None,
        later: bool = False,
        among: bool = False,
        note: str = "",
    ) -> Case:
        b, k, pad = len(lengths), len(lengths) + 1, pad_id or 0

        def words(*shape: int) -> Tensor:
            return _words(draw, *shape, v=v, pad_id=pad)

        inputs = {
            "source": _ids(draw, lengths, s, v, pad),
            "previous": _ids(draw, previous_lengths, t, v, pad),
            "first": words(b),
            "second": words(b),
            "rows": torch.tensor([draw.integer(0, b - 1) for _ in range(k)]),
            "third": words(k),
            "fourth": words(k),
            "other_word": words(b),
        }
        if among:
            for tokens in (inputs["source"], inputs["previous"]):
                tokens[:2, 1] = tokens[0, 2] = pad
        real = dict.fromkeys(("embedded", "embedded_later", "logits"), inputs["previous"] != pad)
        real["memory"] = inputs["source"] != pad
        made = calls(layers[1])
        if later:  # the last words are others
            changed = inputs["previous"].clone()
            changed[:, -1] = (changed[:, -1] + draw.integer(0, v - 3)) % (v - 1) + 1
            inputs["changed"] = changed
            made = (*made, Call("forward", ("source", "changed"), ("changed_logits",)))
            real["changed_logits"] = changed != pad
        construct: dict[str, Any] = {
            "vocabulary_size": v,
            "model_size": d,
            "positions": Fake("RulerPositions", ()),
            "encoder_layers": Fake("NearLayers", (layers[0], d, n)),
            "decoder_layers": Fake("EchoLayers", (layers[1], d)),
        }
        if pad_id is not None:
            construct |= {"dropout": 0.0, "pad_id": pad_id}
        weights = {"embedding.weight": draw.tensor(v, d, scale=0.6)}  # padding's row is not 0
        for i in range(layers[0]):
            weights[f"encoder_layers.{i}.g"] = draw.tensor(d, scale=0.6)
            weights[f"encoder_layers.{i}.P"] = draw.tensor(n, d, scale=0.6)
        for i in range(layers[1]):
            weights[f"decoder_layers.{i}.A"] = draw.tensor(d, d, scale=0.6)
            weights[f"decoder_layers.{i}.D"] = draw.tensor(d, d, scale=0.6)
        return Case(
            name,
            inputs,
            made,
            extra_arguments={"at": draw.integer(2, 5)},
            init_arguments=construct,
            weights=weights,
            valid_masks=real,
            upstream={
                "embedded": draw.tensor(b, t, d),
                "memory": draw.tensor(b, s, d),
                "logits": draw.tensor(b, t, v),
                "log_probs_1": draw.tensor(b, v),
                "log_probs_2": draw.tensor(b, v),
                "log_probs_further": draw.tensor(k, v),
            },
            note=note,
        )

    b, s, t, d = draw.sizes(4, 2, 6)
    while b < 3 or b + 1 in (s, t, d):  # the size of an axis too
        b, s, t, d = draw.sizes(4, 2, 6)
    empty = draw.lengths(3, 4)
    empty[0] = 0
    return [
        case("one word, one layer each", [1], 1, [1], 1, 5, 2, (1, 1)),
        case("no layers", [3], 3, [2], 2, 6, 3, (0, 0), note=_EMPTY),
        case("one sentence", [3], 3, [4], 4, 5, 2, (1, 1)),
        case("two sentences, one of them shorter", [2, 4], 4, [3, 2], 3, 6, 4, (1, 1)),
        case(
            "sentences of different length",
            draw.lengths(b, s),
            s,
            draw.lengths(b, t),
            t,
            9,
            d,
            (3, 2),
        ),
        case("three layers of the decoder alone", [2, 3], 3, [3, 1], 3, 6, 2, (0, 3), note=_EMPTY),
        case("two layers of the encoder alone", [2, 3], 3, [2, 1], 2, 6, 3, (2, 0), note=_EMPTY),
        case(
            "a later word is another one",
            [3, 2],
            3,
            [4, 4],
            4,
            6,
            2,
            (1, 2),
            later=True,
            note="Only the last word differs (changed): no earlier logit may differ.",
        ),
        case(
            "padding with another id than 0",
            [4, 2, 1],
            4,
            [1, 3, 2],
            3,
            7,
            2,
            (1, 1),
            pad_id=draw.integer(1, 6),
            note="This model is made with another pad_id: 0 is a word like any other here.",
        ),
        case("a source without any real word", empty, 4, [2, 3, 1], 3, 7, 2, (1, 1)),
        case(
            "padding among the words",
            [4, 4, 4],
            4,
            [4, 4, 4],
            4,
            7,
            2,
            (1, 2),
            among=True,
            note="Padding is never attended to, wherever it stands: the mask of the target's words "
            "is the causal one and that of padding.",
        ),
        case("all sizes equal", [3, 1, 2], 3, [2, 3, 1], 3, 3, 3, (1, 1)),
        make_second_batch_case(
            case("", [2, 3], 3, [2, 1], 2, 6, 3, (1, 1)),
            case("", [3, 1], 3, [1, 2], 2, 6, 3, (1, 1)),
        ),
        *add_training_cases(
            case("", [2, 3], 3, [2, 1], 2, 5, 3, (1, 1)), "the sums of embeddings and positions"
        ),
    ]


_MODEL_AXES = {
    "source": "B S",
    "previous": "B T",
    "changed": "B T",
    "first": "B",
    "second": "B",
    "other_word": "B",
    "rows": "K",
    "third": "K",
    "fourth": "K",
    "embedded": "B T d",
    "embedded_later": "B T d",
    "memory": "B S d",
    "memory_mask": "B 1 S",
    "logits": "B T V",
    "changed_logits": "B T V",
    "log_probs_chosen": "K V",
    "log_probs_further": "K V",
    "log_probs_again": "B V",
    **{f"memory_mask_{number}": "B 1 S" for number in range(3)},
    **{f"position_{number}": "B" for number in range(3)},
    **{f"log_probs_{number}": "B V" for number in (1, 2)},
}


TRANSFORMER = Exercise(
    name="Transformer",
    points=8,
    difficulty=3,
    minutes=50,
    signature="(source, previous)",
    axes=_MODEL_AXES,
    cases=_model_cases,
    is_class=True,
    parts=(
        Part("embed and encode", ("embed", "encode"), 2),
        Part("forward", ("forward",), 3),
        Part("start and step", ("start", "step"), 3),
    ),
)


_EMPTY = "Here an encoder or decoder without any layer hands on what it is given."


def _loss_cases(draw: SeededInputs) -> list[Case]:
    names = ("logits", "targets", "smoothing", "pad_id")

    def case(
        name: str,
        lengths: Tensor | list[int],
        t: int,
        v: int,
        smoothing: float,
        pad_id: int | None = None,
        scale: float = 2.0,
        on_padding: float = 3.0,
        note: str = "",
    ) -> Case:
        b, pad = len(lengths), pad_id or 0
        targets = _ids(draw, lengths, t, v, pad)
        logits = draw.tensor(b, t, v, scale=scale)
        louder = round_to_float32(on_padding * logits)
        given: dict[str, Any] = {"smoothing": smoothing}
        if pad_id is not None:
            given["pad_id"] = pad_id
        return Case(
            name,
            {
                "logits": torch.where((targets == pad).unsqueeze(-1), louder, logits),
                "targets": targets,
            },
            (Call("", names[: 2 + len(given)], ("loss",)),),
            extra_arguments=given,
            upstream={"loss": draw.tensor(shift=1.5, scale=0.3)},
            note=note,
        )

    b, t, v = draw.sizes(3, 3, 8)
    holes = case("padding between the words", [5, 5], 5, 6, 0.2)
    holes.inputs["targets"][0, 1] = holes.inputs["targets"][1, 3] = 0
    return [
        case("one word", [1], 1, 4, 0.1),
        case("two words", [2], 2, 5, 0.25),
        case("sentences of different length", draw.lengths(b, t), t, v, 0.1),
        case("no smoothing", draw.lengths(b, t), t, v, 0.0, note="With e = 0 it is cross entropy."),
        case(
            "nothing but smoothing",
            draw.lengths(b, t),
            t,
            v,
            1.0,
            note="With e = 1 the target is uniform over all V words.",
        ),
        case("a large smoothing", draw.lengths(b, t), t, v, 0.6),
        case("as many words as positions", draw.lengths(4, 4), 4, 4, 0.3),
        case(
            "padding with another id than 0",
            draw.lengths(b, t),
            t,
            v,
            0.15,
            pad_id=draw.integer(1, v - 1),
            note="Targets equal to pad_id do not count, and 0 is a word like any other here.",
        ),
        holes,
        case("large logits", draw.lengths(b, t), t, v, 0.1, scale=400.0, note=_LARGE),
        case("large logits on padding", [1, 3], 4, 5, 0.1, on_padding=1e4, note=_LARGE),
        case(
            "nothing but padding", [0, 0], 3, 5, 0.1, note="No target counts here: the loss is 0."
        ),
        case("a sentence without any word", [0, 3], 3, 5, 0.2),
    ]


def _by_cross_entropy(case: Case) -> Sequence[Tensor]:
    logits, targets = case.inputs["logits"], case.inputs["targets"]
    real, smoothing = (
        targets != case.extra_arguments.get("pad_id", 0),
        case.extra_arguments["smoothing"],
    )
    return [F.cross_entropy(logits[real], targets[real], label_smoothing=smoothing)]


LABEL_SMOOTHED_LOSS = Exercise(
    name="label_smoothed_loss",
    points=3,
    difficulty=2,
    minutes=15,
    signature="(logits, targets, smoothing, pad_id=0)",
    axes={"logits": "B T V", "targets": "B T", "loss": ""},
    cases=_loss_cases,
    forbidden=("cross_entropy.label_smoothing",),
    operator=_by_cross_entropy,
)


_LARGE = "The logarithm of a softmax that is rounded to 0 is infinite: use log_softmax."


def _rate_cases(draw: SeededInputs) -> list[Case]:
    names = ("step", "model_size", "warmup")
    call = (Call("", names, ("rate",), numbers=("rate",)),)

    def case(name: str, step: int, model_size: int, warmup: int, note: str = "") -> Case:
        # Small numbers: rates of a real training are smaller than what is compared.
        given = dict(zip(names, (step, model_size, warmup), strict=True))
        return Case(name, {}, call, extra_arguments=given, note=note)

    size, warmup = draw.integer(2, 6), draw.integer(5, 9)
    return [
        case("the first step", 1, size, 4, "Before the warmup's end the rate rises in a line."),
        case("the first step, no warmup", 1, size + 1, 1),
        case("during the warmup", draw.integer(2, 4), size, warmup),
        case("at the end of the warmup", warmup, size, warmup),
        case("a step after the warmup", warmup + 1, size, warmup),
        case("after the warmup", warmup + draw.integer(3, 9), size + 2, warmup),
        case("long after the warmup", 10 * warmup, size, warmup),
        case("step, size and warmup equal", warmup, warmup, warmup),
    ]


NOAM_LEARNING_RATE = Exercise(
    name="noam_learning_rate",
    points=1,
    difficulty=1,
    minutes=5,
    signature="(step, model_size, warmup)",
    axes={"rate": ""},
    cases=_rate_cases,
)
