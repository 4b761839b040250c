"""Lists alternative values by which a correct answer may reach a stage of the solution.

A softmax may be written as an exponential divided by a sum; a sum of three terms may begin with any
two of them. What stands on such a way is right, although the solution never has it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from autograder.trace.matching import Stage

_NUMBERS_AT_MOST = 4096
_TERMS_AT_MOST = 5
_SUMS = {"add", "sub", "__add__", "__sub__", "__radd__", "__rsub__", "rsub", "__iadd__", "add_"}
_PRODUCTS = {"mul", "div", "__mul__", "__truediv__", "__rmul__", "true_divide", "__imul__", "mul_"}


def list_routes(stages: Sequence[Stage]) -> list[Stage]:
    """Return the stages on other routes to the given ones."""
    found = []
    for i, stage in enumerate(stages):
        for value in _vary(stage, stages):
            if 0 < value.size <= _NUMBERS_AT_MOST:
                found.append(Stage("", value, (i,), "route", is_route=True))
    return found


def _vary(stage: Stage, stages: Sequence[Stage]) -> Iterator[np.ndarray]:
    inputs = [torch.from_numpy(stages[p].value) for p in stage.parents]
    vary = _VARIATIONS.get(stage.operation)
    if vary and inputs:
        try:
            yield from (t.numpy() for t in vary(torch.from_numpy(stage.value), inputs))
        except (RuntimeError, IndexError, ValueError):
            return  # the operation was called in a way that is not known here
    for operations, combine in ((_SUMS, np.add), (_PRODUCTS, np.multiply)):
        terms = _list_terms(stage, stages, operations)
        if 2 < len(terms) <= _TERMS_AT_MOST:
            for size in range(2, len(terms)):
                for chosen in itertools.combinations(terms, size):
                    total = chosen[0]
                    try:
                        for term in chosen[1:]:
                            total = combine(total, term)
                    except ValueError:
                        continue
                    yield np.asarray(total)


def _list_terms(stage: Stage, stages: Sequence[Stage], operations: set[str]) -> list[np.ndarray]:
    """Return the terms of a sum, or factors of a product, that was computed step by step."""
    if stage.operation not in operations or len(stage.parents) != 2:
        return [stage.value]
    one, two = (stages[p] for p in stage.parents)
    with np.errstate(all="ignore"):
        turned = -two.value if operations is _SUMS else 1 / two.value
        for other in (two.value, turned):
            try:
                both = one.value + other if operations is _SUMS else one.value * other
            except ValueError:  # another way to call the operation
                return [stage.value]
            if both.shape == stage.value.shape and np.allclose(both, stage.value, equal_nan=True):
                rest = _list_terms(two, stages, operations) if other is two.value else [other]
                return [*_list_terms(one, stages, operations), *rest]
    return [stage.value]


def _vary_softmax(result: Tensor, inputs: Sequence[Tensor]) -> list[Tensor]:
    x, found = inputs[0], []
    for axis in range(x.dim()):
        shifted = x - x.amax(axis, keepdim=True).clamp(min=-1e30)
        whole = x.softmax(axis)
        if result.shape == x.shape and not torch.allclose(
            whole, result.exp() if (result < 0).any() else result, equal_nan=True
        ):
            continue
        for exponential in (shifted.exp(), x.exp()):
            total = exponential.sum(axis)
            found += [exponential, total, total.log()]
        found += [shifted, whole, x.log_softmax(axis), x.logsumexp(axis)]
    return found


def _vary_product(result: Tensor, inputs: Sequence[Tensor]) -> list[Tensor]:
    one, two = inputs[:2]
    if two.dim() == 1:
        return [one * two]
    return [one.unsqueeze(-1) * two.unsqueeze(-3)] if min(one.dim(), two.dim()) > 1 else []


def _vary_linear(result: Tensor, inputs: Sequence[Tensor]) -> list[Tensor]:
    return [F.linear(inputs[0], inputs[1])]


def _vary_layer_norm(result: Tensor, inputs: Sequence[Tensor]) -> list[Tensor]:
    x = inputs[0]
    mean, variance = x.mean(-1, keepdim=True), x.var(-1, unbiased=False, keepdim=True)
    centred = x - mean
    found = [mean, centred, variance, variance.sqrt(), x.square().mean(-1)]
    if len(inputs) > 2:
        found += [result - inputs[2], (result - inputs[2]) / inputs[1]]
    return found


def _vary_gru(result: Tensor, inputs: Sequence[Tensor]) -> list[Tensor]:
    x, h, weight_ih, weight_hh, bias_ih, bias_hh = inputs
    from_x, from_h = F.linear(x, weight_ih), F.linear(h, weight_hh)
    (x_r, x_z, x_n), (h_r, h_z, h_n) = (
        total.chunk(3, -1) for total in (from_x + bias_ih, from_h + bias_hh)
    )
    r, z = (x_r + h_r).sigmoid(), (x_z + h_z).sigmoid()
    n = (x_n + r * h_n).tanh()
    return [
        *(from_x, from_h, from_x + bias_ih, from_h + bias_hh, x_r + h_r, x_z + h_z, r, z),
        *(r * h_n, x_n + r * h_n, n, 1 - z, z * h, (1 - z) * n, h - n, z * (h - n)),
    ]


def _vary_lstm(result: Tensor, inputs: Sequence[Tensor]) -> list[Tensor]:
    x, h, c, weight_ih, weight_hh, bias_ih, bias_hh = inputs
    from_x, from_h = F.linear(x, weight_ih, bias_ih), F.linear(h, weight_hh, bias_hh)
    gates = from_x + from_h
    i, f, g, o = gates.chunk(4, -1)
    return [
        *(from_x, from_h, gates, i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()),
        *(f.sigmoid() * c, i.sigmoid() * g.tanh()),
    ]


def _vary_sigmoid(result: Tensor, inputs: Sequence[Tensor]) -> list[Tensor]:
    return [(-inputs[0]).exp(), 1 + (-inputs[0]).exp(), -inputs[0]]


_VARIATIONS: dict[str, Callable[[Tensor, Sequence[Tensor]], list[Tensor]]] = {
    **dict.fromkeys(("softmax", "log_softmax", "logsumexp"), _vary_softmax),
    **dict.fromkeys(("matmul", "__matmul__", "mm", "bmm", "mv"), _vary_product),
    **dict.fromkeys(("sigmoid", "logsigmoid"), _vary_sigmoid),
    "linear": _vary_linear,
    "layer_norm": _vary_layer_norm,
    "gru_cell": _vary_gru,
    "lstm_cell": _vary_lstm,
}
