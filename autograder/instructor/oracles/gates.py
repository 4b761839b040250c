"""Recurrent networks written out gate by gate, for one sentence at a time, in float64."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

Tensors = dict[str, Tensor]


def _sigma(x: Tensor) -> Tensor:
    return 1 / (1 + torch.exp(-x))


def _lines(weights: Tensors, prefix: str, way: str, kind: str, gates: int) -> list[Tensor]:
    """Return a weight or bias cut into the blocks of its gates."""
    return list(weights[f"{prefix}{kind}{way}"].chunk(gates))


def _lstm(words: list[Tensor], weights: Tensors, prefix: str, way: str) -> list[Tensor]:
    """States h after each of the words, which come in the order in which they are read."""
    into, back, b_into, b_back = (
        _lines(weights, prefix, way, kind, 4)
        for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    )
    h = c = torch.zeros_like(b_into[0])
    states = []
    for word in words:
        i, f, g, o = (
            torch.mv(W, word) + p + torch.mv(U, h) + q
            for W, U, p, q in zip(into, back, b_into, b_back, strict=True)
        )
        c = _sigma(f) * c + _sigma(i) * torch.tanh(g)
        h = _sigma(o) * torch.tanh(c)
        states.append(h)
    return states


def _gru(words: list[Tensor], weights: Tensors, prefix: str, way: str) -> list[Tensor]:
    """States h after each of the words, which come in the order in which they are read."""
    into, back, b_into, b_back = (
        _lines(weights, prefix, way, kind, 3)
        for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    )
    h = torch.zeros_like(b_into[0])
    states = []
    for word in words:
        r = _sigma(torch.mv(into[0], word) + b_into[0] + torch.mv(back[0], h) + b_back[0])
        z = _sigma(torch.mv(into[1], word) + b_into[1] + torch.mv(back[1], h) + b_back[1])
        memory = torch.mv(back[2], h) + b_back[2]
        h = h + (1 - z) * (torch.tanh(torch.mv(into[2], word) + b_into[2] + r * memory) - h)
        states.append(h)
    return states


def _both(
    read: Callable[[list[Tensor], Tensors, str, str], list[Tensor]],
    words: list[Tensor],
    weights: Tensors,
    prefix: str,
) -> tuple[list[Tensor], list[Tensor]]:
    there = read(words, weights, prefix, "_l0")
    back = read(words[::-1], weights, prefix, "_l0_reverse")[::-1]
    return there, back


def lstm(words: list[Tensor], weights: Tensors, prefix: str) -> tuple[list[Tensor], list[Tensor]]:
    """Return the states of both directions, each at the words' own places."""
    return _both(_lstm, words, weights, prefix)


def gru(words: list[Tensor], weights: Tensors, prefix: str) -> tuple[list[Tensor], list[Tensor]]:
    """Return the states of both directions, each at the words' own places."""
    return _both(_gru, words, weights, prefix)


def shares(scores: list[Tensor]) -> list[Tensor]:
    """Return exp(e) / sum of exp(e) for scores of which all count."""
    top = max(score.item() for score in scores)
    powers = [torch.exp(score - top) for score in scores]
    return [power / sum(powers[1:], powers[0]) for power in powers]


def near(states: list[Tensor], place: Tensor, R: Tensor) -> list[Tensor]:
    """Return the weights of the stand-ins for one look: the nearer to the place, the more."""
    close = []
    for state in states:
        gap = place - torch.mv(R, state)
        close.append(1 / (1 + torch.dot(gap, gap)))
    return [one / sum(close[1:], close[0]) for one in close]


def mixture(parts: list[Tensor], vectors: list[Tensor], like: Tensor) -> Tensor:
    """Return the sum of the vectors, each times its part; zeros like `like` if there are none."""
    total = 0 * like  # part of the graph, also if no word counts
    for part, vector in zip(parts, vectors, strict=True):
        total = total + part * vector
    return total


def spread(parts: list[Tensor], places: list[int], count: int, like: Tensor) -> Tensor:
    """Return a row of `count` numbers with the parts at their places and 0 elsewhere."""
    row = [0 * like.sum()] * count
    for part, place in zip(parts, places, strict=True):
        row[place] = part
    return torch.stack(row)
