"""Oracles of the notebook `luong/local`: loops over sentences and words, in float64."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

Tensors = dict[str, Tensor]


def _inside(position: Tensor, length: int, D: float) -> list[int]:
    """The real words from p - D to p + D, counted."""
    low, high = math.ceil(position.item() - D), math.floor(position.item() + D)
    return [s for s in range(low, high + 1) if 0 <= s < length]


def local_window(inputs: dict[str, Any], weights: Tensors) -> Tensors:
    """Sentence by sentence, the words of the window one after the other."""
    window = torch.zeros(len(inputs["position"]), inputs["N"], dtype=torch.bool)
    for row, (p, length) in enumerate(
        zip(inputs["position"], inputs["lengths"].tolist(), strict=True)
    ):
        for s in _inside(p, length, inputs["D"]):
            window[row, s] = True
    return {"window": window}


def _aim(state: Tensor, length: int, W: Tensor, v: Tensor) -> Tensor:
    """S / (1 + exp(-v^T tanh(W h))) for one sentence."""
    return length / (1 + torch.exp(-torch.dot(v, torch.tanh(torch.mv(W, state)))))


def predictive_position(inputs: Tensors, weights: Tensors) -> Tensors:
    """Sentence by sentence."""
    pairs = zip(inputs["state"], inputs["lengths"].tolist(), strict=True)
    return {"position": torch.stack([_aim(h, n, inputs["W"], inputs["v"]) for h, n in pairs])}


def _bell(s: int, position: Tensor, D: float) -> Tensor:
    """exp(-((s - p) / sigma)^2 / 2) with sigma = D / 2."""
    steps = (s - position) / (D / 2)
    return torch.exp(-steps * steps / 2)


def gaussian_weights(inputs: dict[str, Any], weights: Tensors) -> Tensors:
    """Weight by weight."""
    rows = [
        torch.stack([weight * _bell(s, p, inputs["D"]) for s, weight in enumerate(row)])
        for row, p in zip(inputs["weights"], inputs["position"], strict=True)
    ]
    return {"weighted": torch.stack(rows)}


def local_attention(inputs: dict[str, Any], weights: Tensors) -> Tensors:
    """Each batch as if it were the only one."""
    found = _attended(inputs, weights)
    if "other_keys" in inputs:
        second = {n.removeprefix("other_"): v for n, v in inputs.items() if n.startswith("other_")}
        others = _attended({**inputs, **second}, weights)
        found |= {f"other_{name}": tensor for name, tensor in others.items()}
    return found


def _attended(inputs: dict[str, Any], weights: Tensors) -> Tensors:
    contexts, alphas = [], []
    predicted = inputs["kind"] == "predictive"
    for query, keys, mask in zip(inputs["query"], inputs["keys"], inputs["mask"], strict=True):
        length = int(mask.sum())
        if predicted:
            p = _aim(query, length, weights["W"], weights["v"])
        else:
            p = torch.tensor(float(inputs["position"]), dtype=query.dtype)
        aim = torch.sin(torch.mv(weights["score.P"], query))
        places = _inside(p, length, inputs["D"])
        alpha = torch.zeros_like(keys[:, 0])
        if places:
            scores = [torch.dot(aim, torch.mv(weights["score.R"], keys[s])) for s in places]
            shares = torch.softmax(torch.stack(scores), dim=0)
            for s, share in zip(places, shares, strict=True):
                kept = share * _bell(s, p, inputs["D"]) if predicted else share
                alpha = alpha.index_put((torch.tensor(s),), kept)
        context = torch.zeros_like(keys[0])
        for weight, key in zip(alpha, keys, strict=True):
            context = context + weight * key
        contexts.append(context)
        alphas.append(alpha)
    return {"context": torch.stack(contexts), "weights": torch.stack(alphas)}


ORACLES: dict[str, Any] = {
    "local_window": local_window,
    "predictive_position": predictive_position,
    "gaussian_weights": gaussian_weights,
    "LocalAttention": local_attention,
}
