"""Perturbs a case's inputs to imitate answers that ignore a mask, state or weight.

A mask that is not used acts like a mask that is True everywhere; an initial state that is forgotten
acts like a state of zeros. One change of the inputs therefore imitates a family of mistakes, for
all exercises at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import torch
from torch import Tensor

from autograder.spec.exercise import Case

Tensors = Mapping[str, Tensor]
_FEW = 24  # with more tensors than this, nobody exchanges just two


def list_input_perturbations(
    cases: Sequence[Case], axes: Mapping[str, str]
) -> Iterator[tuple[str, Callable[[Case], Case]]]:
    """Yield each perturbation: a phrase that fits after "when", and a function that changes a case.

    Args:
        cases: cases of one exercise.
        axes: names of the axes of each input, by input.
    """
    inputs = _collect([case.inputs for case in cases])
    weights = _collect([case.weights for case in cases])
    for name, tensors in inputs.items():
        named = axes.get(name, "").split()
        if all(t.dtype == torch.bool for t in tensors):
            yield f"`{name}` is True everywhere", _with_input(name, torch.ones_like)
            yield f"`{name}` is read the wrong way round", _with_input(name, torch.logical_not)
            yield f"`{name}` is transposed where it is square", _with_input(name, _transpose)
        elif all(t.is_floating_point() for t in tensors):
            yield f"`{name}` is not used (zeros stand for it)", _with_input(name, torch.zeros_like)
        elif all(len(t) and set(t.flatten().tolist()) <= {0, 1} for t in tensors if t.dim()):
            yield f"0 and 1 are exchanged in `{name}`", _with_input(name, lambda t: 1 - t)
            yield f"`{name}` is not used (zeros stand for it)", _with_input(name, torch.zeros_like)
        elif "length" in name:
            yield f"all `{name}` are the longest one", _with_input(name, _longest)
            yield f"all `{name}` are the shortest one", _with_input(name, _shortest)
            yield f"`{name}` are one too small", _with_input(name, lambda t: t - 1)
        if named[:1] == ["B"]:
            yield f"the first of `{name}` stands for the whole batch", _with_input(name, _first(0))
        if named[:2] in (["B", "T"], ["B", "S"], ["B", "N"], ["B", "L"]):
            yield f"`{name}` is read backwards", _with_input(name, lambda t: t.flip(1))
            yield f"the first position of `{name}` stands for all", _with_input(name, _first(1))
        if named[:2] == ["B", "T"]:
            yield f"`{name}` is read one position late", _with_input(name, _roll(1))
            yield f"`{name}` is read one position early", _with_input(name, _roll(-1))
            yield (
                f"the last position of `{name}` stands for all",
                _with_input(name, lambda t: t[:, -1:].expand_as(t).clone()),
            )
    for one, two in combinations(inputs, 2):
        if _alike(inputs[one], inputs[two]) and len(inputs) <= _FEW:
            exchange = _exchange_inputs({one: two, two: one})
            yield f"the arguments `{one}` and `{two}` are exchanged", exchange
    for name in weights:
        kind = "not added" if "bias" in name or name.startswith("b_") else "not used"
        yield f"`{name}` is {kind}", _with_weight(name, torch.zeros_like)
        if all(t.dim() == 2 and t.shape[0] == t.shape[1] for t in weights[name]):
            yield f"`{name}` is transposed", _with_weight(name, lambda t: t.T.clone())
    for one, two in combinations(weights, 2):
        if _alike(weights[one], weights[two]) and len(weights) <= _FEW:
            exchange = _exchange_weights({one: two, two: one})
            yield f"the parameters `{one}` and `{two}` are exchanged", exchange
    layers = _list_layers(weights)
    for one, two in combinations(layers, 2):
        pairs = {f"{one}.{end}": f"{two}.{end}" for end in layers[one]}
        if (
            len(pairs) > 1
            and layers[one] == layers[two]
            and all(_alike(weights[left], weights[right]) for left, right in pairs.items())
        ):
            back = {right: left for left, right in pairs.items()}
            exchange = _exchange_weights(pairs | back)
            yield f"the layers `{one}` and `{two}` are exchanged", exchange
    biases = [name for name in weights if name.endswith("bias")]
    if len(biases) > 1:
        yield "no bias is added anywhere", lambda case: _without(case, biases)


def _collect(tables: Sequence[Tensors]) -> dict[str, list[Tensor]]:
    """Return the tensors of all cases by name; a case without one of them stays unchanged."""
    names = dict.fromkeys(name for table in tables for name in table)
    return {name: [table[name] for table in tables if name in table] for name in names}


def _list_layers(weights: Iterable[str]) -> dict[str, list[str]]:
    """Return the endings of the weights' names by layer: "query" has "weight" and "bias"."""
    layers: dict[str, list[str]] = {}
    for name in weights:
        layer, dot, end = name.rpartition(".")
        if dot:
            layers.setdefault(layer, []).append(end)
    return layers


def _alike(one: Sequence[Tensor], two: Sequence[Tensor]) -> bool:
    return len(one) == len(two) and all(
        a.shape == b.shape and a.dtype == b.dtype for a, b in zip(one, two, strict=True)
    )


def _longest(lengths: Tensor) -> Tensor:
    return torch.full_like(lengths, int(lengths.max())) if lengths.numel() else lengths


def _shortest(lengths: Tensor) -> Tensor:
    return torch.full_like(lengths, int(lengths.min())) if lengths.numel() else lengths


def _transpose(mask: Tensor) -> Tensor:
    square = mask.dim() > 1 and mask.shape[-1] == mask.shape[-2]
    return mask.transpose(-1, -2).contiguous() if square else mask


def _first(dim: int) -> Callable[[Tensor], Tensor]:
    return lambda tensor: tensor.narrow(dim, 0, 1).expand_as(tensor).clone()


def _roll(by: int) -> Callable[[Tensor], Tensor]:
    return lambda tensor: tensor.roll(by, dims=1)


def _with_input(name: str, function: Callable[[Tensor], Tensor]) -> Callable[[Case], Case]:
    return lambda case: replace(case, inputs=_changed(case.inputs, name, function))


def _with_weight(name: str, function: Callable[[Tensor], Tensor]) -> Callable[[Case], Case]:
    return lambda case: replace(case, weights=_changed(case.weights, name, function))


def _changed(
    members: Tensors, name: str, function: Callable[[Tensor], Tensor]
) -> dict[str, Tensor]:
    return {key: function(t) if key == name else t for key, t in members.items()}


def _exchange_inputs(partners: Mapping[str, str]) -> Callable[[Case], Case]:
    return lambda case: replace(case, inputs=_swapped(case.inputs, partners))


def _exchange_weights(partners: Mapping[str, str]) -> Callable[[Case], Case]:
    return lambda case: replace(case, weights=_swapped(case.weights, partners))


def _swapped(members: Tensors, partners: Mapping[str, str]) -> Tensors:
    """Return the members with partners exchanged, or unchanged if any of them is missing."""
    if not all(name in members for name in partners):
        return members
    return {key: members[partners.get(key, key)] for key in members}


def _without(case: Case, names: Sequence[str]) -> Case:
    zeros = {name: torch.zeros_like(case.weights[name]) for name in names if name in case.weights}
    return replace(case, weights={**case.weights, **zeros})
