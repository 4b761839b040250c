"""Oracles of the notebook `captioning/captioner`: loops over pictures and words, in float64.

The recurrent cell is torch's own `nn.LSTMCell`, called on one picture at a time.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call

Tensors = dict[str, Tensor]


def caption_decoder(inputs: dict[str, Any], weights: Tensors) -> Tensors:
    """One picture after the other, each batch as if it were alone."""
    found = _described(inputs, weights)
    logits = [
        _scored(y, h, z, weights)
        for y, h, z in zip(inputs["embedded"], inputs["state"], inputs["contexts"], strict=True)
    ]
    found["step_logits"] = torch.stack(logits)
    flat = [inputs[f"all_{name}"].flatten(0, 1) for name in ("embedded", "states", "contexts")]
    every = torch.stack([_scored(y, h, z, weights) for y, h, z in zip(*flat, strict=True)])
    found["all_logits"] = every.reshape(*inputs["all_embedded"].shape[:2], -1)
    if "other_tokens" in inputs:
        second = {n.removeprefix("other_"): t for n, t in inputs.items() if n.startswith("other_")}
        others = _described({**inputs, **second}, weights)
        found |= {f"other_{name}": tensor for name, tensor in others.items()}
    return found


def _glance(query: Tensor, places: Tensor, weights: Tensors) -> tuple[Tensor, Tensor]:
    """The stand-in for one picture, place by place."""
    aim = torch.mv(weights["attention.P"], query)
    near = []
    for place in places:
        gap = aim - torch.mv(weights["attention.R"], place)
        near.append(1 / (1 + torch.dot(gap, gap)))
    alpha = torch.stack(near) / torch.stack(near).sum()
    look = torch.zeros_like(places[0])
    for share, place in zip(alpha, places, strict=True):
        look = look + share * place
    return look / (1 + torch.dot(aim, aim)), alpha


def _scored(word: Tensor, state: Tensor, look: Tensor, weights: Tensors) -> Tensor:
    """The logits of one word."""
    of_state = torch.mv(weights["state_output.weight"], state)
    of_look = torch.mv(weights["context_output.weight"], look)
    return torch.mv(weights["output.weight"], word + of_state + of_look) + weights["output.bias"]


def _described(inputs: dict[str, Any], weights: Tensors) -> Tensors:
    own = {n.removeprefix("cell."): w for n, w in weights.items() if n.startswith("cell.")}
    cell = nn.LSTMCell(own["weight_ih"].shape[1], inputs["state"].shape[1]).double()

    def begun(places: Tensor) -> list[Tensor]:
        middle = torch.zeros_like(places[0])
        for place in places:
            middle = middle + place / len(places)
        return [
            torch.tanh(torch.mv(weights[f"{name}.weight"], middle) + weights[f"{name}.bias"])
            for name in ("first_state", "first_memory")
        ]

    def moved(
        word: Tensor, state: Tensor, memory: Tensor, places: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        look, alpha = _glance(state, places, weights)
        read = torch.cat([word, look])
        new = functional_call(cell, own, (read[None], (state[None], memory[None])))
        return new[0][0], new[1][0], look, alpha

    names = ("first_state", "first_memory", "next_state", "next_memory", "context")
    found: dict[str, list[Tensor]] = {
        name: [] for name in (*names, "step_weights", "logits", "weights")
    }
    for row, places in enumerate(inputs["annotations"]):
        h, c = begun(places)
        one = moved(inputs["embedded"][row], inputs["state"][row], inputs["memory"][row], places)
        for name, tensor in zip(found, (h, c, *one), strict=False):
            found[name].append(tensor)
        logits, alphas = [], []
        for i in inputs["tokens"][row].tolist():
            word = weights["embedding.weight"][i]
            h, c, look, alpha = moved(word, h, c, places)
            logits.append(_scored(word, h, look, weights))
            alphas.append(alpha)
        found["logits"].append(torch.stack(logits))
        found["weights"].append(torch.stack(alphas))
    return {name: torch.stack(rows) for name, rows in found.items()}


ORACLES: dict[str, Any] = {"CaptionDecoder": caption_decoder}
