"""Test cases of the exercise `load_pretrained` of the notebook `bert/finetuning`.

A model of the checks' own, which only holds parameters, and checkpoints of many kinds.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import torch

from autograder.exercises._bert_fakes import BertShell
from autograder.spec.exercise import Call, Case, Fake
from autograder.spec.seeded_inputs import SeededInputs

# The entries of a checkpoint, with the axes of each.
_EMBEDDINGS = {
    "embeddings.word_embeddings.weight": "V d",
    "embeddings.position_embeddings.weight": "P d",
    "embeddings.token_type_embeddings.weight": "S d",
    "embeddings.LayerNorm.weight": "d",
    "embeddings.LayerNorm.bias": "d",
}
_SQUARES = ("attention.self.query", "attention.self.key", "attention.self.value")
_LAYER = {
    **{
        f"{name}.{kind}": "d d" if kind == "weight" else "d"
        for name in _SQUARES
        for kind in ("weight", "bias")
    },
    "attention.output.dense.weight": "d d",
    "attention.output.dense.bias": "d",
    "attention.output.LayerNorm.weight": "d",
    "attention.output.LayerNorm.bias": "d",
    "intermediate.dense.weight": "m d",
    "intermediate.dense.bias": "m",
    "output.dense.weight": "d m",
    "output.dense.bias": "d",
    "output.LayerNorm.weight": "d",
    "output.LayerNorm.bias": "d",
}
_POOLER = {"pooler.dense.weight": "d d", "pooler.dense.bias": "d"}
_HEADS = {
    "cls.predictions.bias": "V",
    "cls.predictions.transform.dense.weight": "d d",
    "cls.predictions.transform.dense.bias": "d",
    "cls.predictions.transform.LayerNorm.weight": "d",
    "cls.predictions.transform.LayerNorm.bias": "d",
    "cls.seq_relationship.weight": "C d",
    "cls.seq_relationship.bias": "C",
}
_DECODER = {"cls.predictions.decoder.weight": "V d", "cls.predictions.decoder.bias": "V"}
_OTHERS = {
    "classifier.weight": "K d",
    "classifier.bias": "K",
    "qa_outputs.weight": "C d",
    "pooler.dense.scale": "d",
}
_POSITIONS = "embeddings.position_ids"  # whole numbers, in checkpoints of older libraries

# Of the model's parameters, by the end of their names.
_AXES = {
    "token.weight": "V d",
    "segment.weight": "S d",
    "position.weight": "P d",
    "embedding.weight": "V d",
    "inner.weight": "m d",
    "inner.bias": "m",
    "outer.weight": "d m",
    "next.weight": "C d",
    "next.bias": "C",
    "head.bias": "V",
    "head.norm.weight": "d",
    "model.output.weight": "K d",
    "model.output.bias": "K",
}
_LAYERS_AT_MOST = 11
_MISSING = {"missing": "a list of names"}
_WHOLE = ("encoder", "head", "pooler", "next")
Renamed = Callable[[str], str]


def _layers(count: int) -> dict[str, str]:
    return {f"encoder.layer.{i}.{name}": a for i in range(count) for name, a in _LAYER.items()}


def _same(name: str) -> str:
    return name


def _with_prefix(name: str) -> str:
    return name if name.startswith("cls.") else f"bert.{name}"


def _old(name: str) -> str:
    weight, bias = "LayerNorm.weight", "LayerNorm.bias"
    return name.replace(weight, "LayerNorm.gamma").replace(bias, "LayerNorm.beta")


def _old_with_prefix(name: str) -> str:
    return _with_prefix(_old(name))


@lru_cache
def _parameters(shell: tuple[Any, ...]) -> tuple[str, ...]:
    """Return the names of the parameters that a model of the checks' has, in its order."""
    members = BertShell(*shell).named_parameters(remove_duplicate=False)
    return tuple(name for name, _ in members)


def draw_cases(draw: SeededInputs) -> list[Case]:
    """Return the cases of a draw."""

    def case(
        name: str,
        entries: dict[str, str],
        parts: tuple[str, ...] = _WHOLE,
        layers: int = 1,
        sizes: tuple[int, ...] = (7, 4, 6, 5, 2),
        renamed: Renamed = _same,
        positions: bool = False,
        odd: str = "",
        odd_shape: tuple[int, ...] = (),
        refused: bool = False,
        note: str = "",
    ) -> Case:
        """Return a case.

        Args:
            name: of the case.
            entries: of the checkpoint, with their axes.
            parts: of the model.
            layers: of the model.
            sizes: V, d, m, P, S.
            renamed: how the checkpoint calls an entry.
            positions: whether it also holds the numbers of all positions.
            odd: an entry of another shape.
            odd_shape: that shape.
            refused: whether an error is right.
            note: for the student.
        """
        size = dict(zip("VdmPS", sizes, strict=True), C=2, K=3)
        inputs = {
            entry: draw.tensor(*(size[axis] for axis in axes.split()))
            for entry, axes in entries.items()
            if entry != odd
        }
        if positions:
            inputs[_POSITIONS] = torch.arange(size["P"]).unsqueeze(0)
        checkpoint = {renamed(entry): entry for entry in inputs}
        if odd:
            inputs["odd"] = draw.tensor(*odd_shape)
            checkpoint[renamed(odd)] = "odd"
        shell = (layers, *sizes, *parts)
        names = _parameters(shell)
        load = Call("", ("model", checkpoint), ("missing",), non_tensors=_MISSING, intact=True)
        if refused:
            # By its name in the model or in the checkpoint, whichever one comes to first.
            named = (*names, *_layers(layers), *entries, *base)
            load = Call(
                "", ("model", checkpoint), (), raises="ValueError", intact=True, mentions=named
            )
        return Case(
            name,
            inputs,
            (
                load,
                Call("model.copy_parameters", (), names),
                Call("model.take_step", (), ("still_trainable", "still_tied")),
            ),
            extra_arguments={"model": Fake("BertShell", shell)},
            note=note,
        )

    d, m, v, p = draw.sizes(4, 5, 11)
    base = _EMBEDDINGS | _layers(1)
    model = base | _POOLER
    whole = model | _HEADS
    two = whole | _layers(2)
    last = "encoder.layer.1.output.LayerNorm.bias"
    missing = "A parameter of the encoder that is missing is a ValueError, before anything changes."
    shape = "A tensor of another shape is a ValueError, before anything changes."
    return [
        case("one layer, and nothing but an encoder", base, ("encoder",)),
        case("all sizes different", two | _DECODER, layers=2, sizes=(v, d, m, p, 4)),
        case("no decoder weights", whole),
        case("names that begin with bert.", whole, renamed=_with_prefix),
        case("old names, gamma and beta", whole | _DECODER, renamed=_old),
        case("old names that begin with bert.", whole, renamed=_old_with_prefix),
        case("a checkpoint without heads", model),
        case("a checkpoint without heads and without a pooler", base, renamed=_with_prefix),
        case("a model with a layer of its own", whole, ("encoder", "pooler", "output")),
        case(
            "the model's own layer comes first",
            model,
            ("output", "encoder", "pooler", "head", "next"),
            note="What is missing is named in the model's order.",
        ),
        case("a model without layers", whole, layers=0, note="The encoder's layers may be 0."),
        case(
            "eleven layers",
            base | _layers(_LAYERS_AT_MOST),
            ("encoder",),
            _LAYERS_AT_MOST,
            (3, 2, 3, 2, 2),
            note="Layer 10 is not layer 1 with something behind it.",
        ),
        case("more layers in the checkpoint than in the model", whole | _layers(3)),
        case(
            "entries that the model does not need",
            whole | _DECODER | _OTHERS,
            renamed=_with_prefix,
            positions=True,
            note="What the model does not need is left out.",
        ),
        case("an encoder for a checkpoint with everything", whole | _DECODER, ("encoder",)),
        case(
            "more layers in the model than in the checkpoint",
            whole,
            layers=2,
            refused=True,
            note=missing,
        ),
        case(
            "a bias is missing in the last layer",
            {entry: axes for entry, axes in two.items() if entry != last},
            layers=2,
            refused=True,
            note=missing,
        ),
        case(
            "the first embedding is missing",
            {entry: axes for entry, axes in whole.items() if "word_embeddings" not in entry},
            refused=True,
            note=missing,
        ),
        case("nothing but heads", _HEADS | _POOLER, refused=True, note=missing),
        case(
            "another number of tokens",
            whole,
            odd="embeddings.word_embeddings.weight",
            odd_shape=(8, 4),
            refused=True,
            note=shape,
        ),
        case(
            "fewer positions in the checkpoint",
            whole,
            odd="embeddings.position_embeddings.weight",
            odd_shape=(3, 4),
            renamed=_with_prefix,
            refused=True,
            note=shape,
        ),
        case(
            "a turned matrix in the last layer",
            two,
            layers=2,
            odd="encoder.layer.1.output.dense.weight",
            odd_shape=(6, 4),
            refused=True,
            note=shape,
        ),
        case(
            "one number in place of many",
            two,
            layers=2,
            odd=last,
            odd_shape=(1,),
            renamed=_old_with_prefix,
            refused=True,
            note=f"{shape} copy_ would repeat it.",
        ),
        case(
            "another shape in a head",
            whole,
            odd="cls.seq_relationship.weight",
            odd_shape=(3, 4),
            refused=True,
            note=f"{shape} Also in a head.",
        ),
        case(
            "another shape that is not needed",
            whole | _DECODER,
            odd="cls.predictions.decoder.weight",
            odd_shape=(9, 4),
            note="Of what the model does not need, the shape says nothing.",
        ),
    ]


def _axes_of(name: str) -> str:
    """Return the axes of a parameter of the model."""
    axes = next((a for end, a in _AXES.items() if f"model.{name}".endswith(f".{end}")), "")
    if f"model.{name}" in _AXES:
        axes = _AXES[f"model.{name}"]
    return axes or ("d d" if name.endswith("weight") and "norm" not in name else "d")


def list_axes() -> dict[str, str]:
    """Return the axes of all entries and parameters."""
    entries = _EMBEDDINGS | _layers(_LAYERS_AT_MOST) | _POOLER | _HEADS | _DECODER | _OTHERS
    shell = BertShell(_LAYERS_AT_MOST, 1, 1, 1, 1, 1, *_WHOLE, "output")
    names = [name for name, _ in shell.named_parameters(remove_duplicate=False)]
    return {
        **entries,
        _POSITIONS: "one P",
        "odd": "...",
        **{name: _axes_of(name) for name in names},
        "still_trainable": "parameters",
        "still_tied": "",
    }
