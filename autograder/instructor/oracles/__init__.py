"""Independent ways to compute what a right answer gives: float64, one sentence at a time.

An oracle shares nothing with the reference solution. It gets the case's arguments and returns the
outputs by name; gradients come from autograd through the oracle. Among the arguments are those of
the constructor and what is no tensor; a stand-in arrives built, except in the constructor's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from autograder.comparing import Expected
from autograder.exercise import Case, Exercise
from autograder.instructor.oracles import (
    bahdanau,
    bert,
    captioning,
    embeddings,
    han,
    luong,
    sentences,
    seq2seq,
    transformer,
)
from autograder.stand_ins import built

Oracle = Callable[[dict[str, Any], dict[str, Tensor]], dict[str, Tensor]]
ORACLES: dict[str, Oracle] = {
    **embeddings.ORACLES,
    **seq2seq.ORACLES,
    **bahdanau.ORACLES,
    **luong.ORACLES,
    **captioning.ORACLES,
    **sentences.ORACLES,
    **han.ORACLES,
    **transformer.ORACLES,
    **bert.ORACLES,
}


def _oracle(exercise: Exercise) -> Oracle:
    try:
        return ORACLES[exercise.name]
    except KeyError:
        raise LookupError(
            f"{exercise.name} has no oracle: write one in "
            f"autograder/instructor/oracles/{exercise.assignment} and name it in ORACLES there."
        ) from None


def expected(exercise: Exercise, case: Case) -> Expected:
    """Return the outputs and gradients of a right answer on a case, in float64."""
    inputs = {
        name: tensor.detach().clone().requires_grad_(tensor.is_floating_point())
        for name, tensor in case.inputs.items()
    }
    weights = {
        name: tensor.detach().clone().requires_grad_() for name, tensor in case.weights.items()
    }
    given = {name: built(value, torch.float64) for name, value in case.given.items()}
    outputs = _oracle(exercise)({**case.construct, **given, **inputs}, weights)
    total = torch.zeros((), dtype=torch.float64)
    for name, upstream in case.upstream.items():
        product = outputs[name] * upstream
        total = total + (product[case.real[name]] if name in case.real else product).sum()
    leaves = {n: t for n, t in {**inputs, **weights}.items() if t.requires_grad}
    gradients = {}
    if case.upstream:
        found = torch.autograd.grad(total, list(leaves.values()), allow_unused=True)
        for (name, leaf), gradient in zip(leaves.items(), found, strict=True):
            gradients[name] = torch.zeros_like(leaf) if gradient is None else gradient
    returned = [name for call in case.calls for name in call.returned]
    return Expected({name: outputs[name].detach() for name in returned}, gradients)
