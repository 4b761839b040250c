"""Collects all exercises by name from the modules of this package."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from dataclasses import replace

from autograder.exercises import _fakes  # noqa: F401 - cases refer to fakes by name
from autograder.spec.exercise import Exercise

# The order of the course; a notebook that is not listed here comes last.
_ORDER = (
    "embeddings.vectors",
    "seq2seq.cells",
    "seq2seq.encoder_decoder",
    "seq2seq.decoding",
    "seq2seq.bleu",
    "bahdanau.scores",
    "bahdanau.translator",
    "luong.scores",
    "luong.decoder",
    "luong.local",
    "captioning.attention",
    "captioning.captioner",
    "sentences.pooling",
    "sentences.structured",
    "han.attention",
    "han.network",
    "transformer.attention",
    "transformer.layers",
    "transformer.model",
    "bert.inputs",
    "bert.pretraining",
    "bert.finetuning",
    "modern.block",
)


def _collect() -> Iterator[Exercise]:
    """Yield the exercises of all modules except helpers, whose names begin with _."""
    packages = pkgutil.walk_packages(__path__, f"{__name__}.")
    names = [info.name.removeprefix(f"{__name__}.") for info in packages if not info.ispkg]
    for name in sorted(names, key=lambda n: _ORDER.index(n) if n in _ORDER else len(_ORDER)):
        assignment, _, notebook = name.rpartition(".")
        if not notebook.startswith("_"):
            module = importlib.import_module(f"{__name__}.{name}")
            for thing in vars(module).values():
                if isinstance(thing, Exercise):
                    yield replace(thing, assignment=assignment, notebook=notebook)


EXERCISES: dict[str, Exercise] = {exercise.name: exercise for exercise in _collect()}
