"""Oracles of the notebook `transformer/layers`: word by word, in float64.

Norms are torch's own; masks are not used: what may not be attended to is left out.
"""

from __future__ import annotations

import cmath
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

Tensors = dict[str, Tensor]


def sinusoidal_positions(inputs: dict[str, Any], weights: Tensors) -> Tensors:
    """Sine and cosine as the parts of a turning complex number."""
    length, size = inputs["length"], inputs["size"]
    turned = [
        [cmath.exp(1j * at * 10_000.0 ** (-2 * wave / size)) for wave in range(size // 2)]
        for at in range(length)
    ]
    rows = [[part for point in points for part in (point.imag, point.real)] for points in turned]
    return {"positions": torch.tensor(rows, dtype=torch.float64)}


def layer_norm(inputs: dict[str, Any], weights: Tensors) -> Tensors:
    """Torch's own."""
    x, gain, shift = (inputs[name] for name in ("x", "weight", "bias"))
    return {"y": F.layer_norm(x, x.shape[-1:], gain, shift, inputs.get("eps", 1e-5))}


def position_wise_feed_forward(inputs: dict[str, Any], weights: Tensors) -> Tensors:
    """Vector by vector, unit by unit: only units above 0 are added."""
    x = inputs["x"]
    rows = []
    for vector in x.flatten(0, -2):
        out = weights["outer.bias"]
        pairs = zip(weights["inner.weight"], weights["inner.bias"], strict=True)
        for unit, (row, bias) in enumerate(pairs):
            level = torch.dot(row, vector) + bias
            if level > 0:
                out = out + level * weights["outer.weight"][:, unit]
        rows.append(out)
    return {"y": torch.stack(rows).reshape(x.shape)}


class _Parts:
    """The stand-ins and norms of a layer, for one vector at a time."""

    def __init__(self, weights: Tensors, eps: float):
        self._weights = weights
        self._eps = eps

    def norm(self, name: str, x: Tensor) -> Tensor:
        gain, shift = self._weights[f"{name}.weight"], self._weights[f"{name}.bias"]
        return F.layer_norm(x, x.shape, gain, shift, self._eps)

    def network(self, x: Tensor) -> Tensor:
        return 2 * torch.sin(torch.mv(self._weights["feed_forward.A"], x))

    def look(self, name: str, query: Tensor, seen: list[Tensor]) -> Tensor:
        """What the stand-in finds for one query in the vectors that it may see."""
        if not seen:
            return torch.zeros_like(query)
        P, R, S = (self._weights[f"{name}.{letter}"] for letter in "PRS")
        vectors = torch.stack(seen).T  # (d, N)
        far = 1 + ((P @ query).unsqueeze(-1) - R @ vectors).square().sum(1)  # (2, N)
        shares = torch.stack([one.reciprocal() / one.reciprocal().sum() for one in far])  # (2, N)
        return torch.einsum("ldn,ln->d", S @ vectors, shares)

    def projected(self, name: str, vectors: Tensor) -> tuple[Tensor, Tensor]:
        """What the stand-in keeps of vectors (B, N, d)."""
        both = []
        for letter in "RS":
            matrices = self._weights[f"{name}.{letter}"]
            rows = [torch.stack([one @ matrix.T for matrix in matrices]) for one in vectors]
            both.append(torch.stack(rows))
        return both[0], both[1]


def _allowed(vectors: Tensor, mask: Tensor | None) -> list[Tensor]:
    marks = [True] * len(vectors) if mask is None else mask.tolist()
    return [vector for vector, mark in zip(vectors, marks, strict=True) if mark]


def encoder_layer(inputs: dict[str, Any], weights: Tensors) -> Tensors:
    """Word by word, each batch as if it were alone."""
    parts = _Parts(weights, inputs.get("eps", 1e-5))

    def batch(x: Tensor, mask: Tensor | None) -> Tensor:
        rows = []
        for b, words in enumerate(x):
            row = []
            for i, word in enumerate(words):
                own = None if mask is None else mask[b].expand(len(words), len(words))[i]
                seen = _allowed(words, own)
                a = parts.norm("attention_norm", word + parts.look("attention", word, seen))
                row.append(parts.norm("feed_forward_norm", a + parts.network(a)))
            rows.append(torch.stack(row))
        return torch.stack(rows)

    found = {"y": batch(inputs["x"], inputs.get("mask"))}
    if "other_x" in inputs:
        found["other_y"] = batch(inputs["other_x"], inputs["other_mask"])
    return found


def decoder_layer(inputs: dict[str, Any], weights: Tensors) -> Tensors:
    """Word by word; a step is told all words before it, and nothing is kept."""
    parts = _Parts(weights, 1e-5)

    def word(y: Tensor, seen: list[Tensor], memory: list[Tensor]) -> Tensor:
        a = parts.norm("attention_norm", y + parts.look("attention", y, seen))
        found = parts.look("memory_attention", a, memory)
        b = parts.norm("memory_attention_norm", a + found)
        return parts.norm("feed_forward_norm", b + parts.network(b))

    def memories(memory: Tensor, mask: Tensor | None) -> list[list[Tensor]]:
        return [_allowed(row, None if mask is None else mask[b, 0]) for b, row in enumerate(memory)]

    def whole(y: Tensor, known: list[list[Tensor]], mask: Tensor | None) -> Tensor:
        rows = []
        for b, words in enumerate(y):
            marks = None if mask is None else mask.expand(len(y), -1, -1)[b]
            row = [
                word(one, _allowed(words, None if marks is None else marks[t]), known[b])
                for t, one in enumerate(words)
            ]
            rows.append(torch.stack(row))
        return torch.stack(rows)

    def last(words: list[Tensor], known: list[list[Tensor]]) -> Tensor:
        """The state of the last of some words, each given as (B, 1, d)."""
        rows = []
        for b in range(len(words[-1])):
            said = [one[b, 0] for one in words]
            rows.append(word(said[-1], said, known[b]).unsqueeze(0))
        return torch.stack(rows)

    found: Tensors = {}
    for pre in ("", "other_"):
        if f"{pre}y" not in inputs:
            continue
        memory = inputs[f"{pre}memory"]
        known = memories(memory, inputs.get(f"{pre}memory_mask"))
        first, second = inputs[f"{pre}first"], inputs[f"{pre}second"]
        keys, values = parts.projected("attention", first)
        memory_keys, memory_values = parts.projected("memory_attention", memory)
        found |= {
            f"{pre}z": whole(inputs[f"{pre}y"], known, inputs.get("mask")),
            f"{pre}keys": keys[:, :, :0],
            f"{pre}values": values[:, :, :0],
            f"{pre}memory_keys": memory_keys,
            f"{pre}memory_values": memory_values,
            f"{pre}keys_1": keys,
            f"{pre}values_1": values,
            f"{pre}z_1": last([first], known),
            f"{pre}z_2": last([first, second], known),
        }
        if pre:
            continue
        rows = inputs["rows"].tolist()
        chosen = torch.stack([first[row] for row in rows])
        found["z_chosen"] = last([chosen, inputs["third"]], [known[row] for row in rows])
        found["z_again"] = last([first, inputs["fourth"]], known)
        if "changed_y" in inputs:
            found["changed_z"] = whole(inputs["changed_y"], known, inputs.get("mask"))
    return found


ORACLES: dict[str, Any] = {
    "sinusoidal_positions": sinusoidal_positions,
    "layer_norm": layer_norm,
    "PositionwiseFeedForward": position_wise_feed_forward,
    "EncoderLayer": encoder_layer,
    "DecoderLayer": decoder_layer,
}
