"""Oracles of the notebook `luong/decoder`: loops over sentences and words, in float64.

The recurrent cell is torch's own `nn.GRUCell`, called on one sentence at a time.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call

Tensors = dict[str, Tensor]


def _joined(context: Tensor, state: Tensor, W: Tensor) -> Tensor:
    """tanh(W [c; h]) of one context and one state, W cut into its two blocks."""
    of_context, of_state = W[:, : len(context)], W[:, len(context) :]
    return torch.tanh(torch.mv(of_context, context) + torch.mv(of_state, state))


def attentional_state(inputs: Tensors, weights: Tensors) -> Tensors:
    """State by state."""
    contexts, states, W = inputs["context"], inputs["state"], inputs["W"]
    pairs = zip(contexts.flatten(0, -2), states.flatten(0, -2), strict=True)
    rows = torch.stack([_joined(context, state, W) for context, state in pairs])
    return {"attentional": rows.reshape(*contexts.shape[:-1], len(W))}


def luong_decoder(inputs: dict[str, Any], weights: Tensors) -> Tensors:
    """One sentence after the other, one word after the other, each batch as if it were alone."""
    found = _decode(inputs, weights)
    if "other_keys" in inputs:
        second = {n.removeprefix("other_"): v for n, v in inputs.items() if n.startswith("other_")}
        own = _decode({**inputs, **second}, weights)
        # In the second batch, the step starts from the first batch's state.
        moved = _decode({**inputs, **second, "state": inputs["state"]}, weights)
        names = ("next_state", "next_attentional", "step_weights")
        found |= {f"other_{name}": moved[name] for name in names}
        found |= {f"other_{name}": own[name] for name in ("logits", "weights")}
    return found


def _attend(
    query: Tensor, keys: Tensor, mask: Tensor, position: int, weights: Tensors
) -> tuple[Tensor, Tensor]:
    """The stand-in for one sentence, key by key."""
    aim = torch.mv(weights["attention.P"], query)
    close = []
    for j, (key, real) in enumerate(zip(keys, mask.tolist(), strict=True)):
        gap = aim - torch.mv(weights["attention.R"], key)
        near = 1 / (1 + torch.dot(gap, gap) + abs(j - position))
        close.append(near if real else torch.zeros_like(near))
    total = sum(close, torch.zeros((), dtype=query.dtype))
    alpha = torch.stack([near / total if mask.any() else near for near in close])
    context = torch.zeros_like(keys[0])
    for weight, key in zip(alpha, keys, strict=True):
        context = context + weight * key
    return context, alpha


def _decode(inputs: dict[str, Any], weights: Tensors) -> Tensors:
    keys, mask, start = inputs["keys"], inputs["mask"], inputs["state"]
    table, fed = weights["embedding.weight"], inputs.get("input_feeding", True)
    own = {n.removeprefix("cell."): w for n, w in weights.items() if n.startswith("cell.")}
    cell = nn.GRUCell(own["weight_ih"].shape[1], start.shape[1]).double()

    def step(
        row: int, word: Tensor, state: Tensor, before: Tensor, position: int
    ) -> tuple[Tensor, Tensor, Tensor]:
        read = torch.cat([word, before]) if fed else word
        new = functional_call(cell, own, (read[None], state[None]))[0]
        context, alpha = _attend(new, keys[row], mask[row], position, weights)
        return new, _joined(context, new, weights["combine.weight"]), alpha

    found: dict[str, list[Tensor]] = {
        name: [] for name in ("next_state", "next_attentional", "step_weights", "logits", "weights")
    }
    for row, ids in enumerate(inputs["tokens"]):
        one = step(
            row, inputs["embedded"][row], start[row], inputs["attentional"][row], inputs["position"]
        )
        for name, tensor in zip(found, one, strict=False):
            found[name].append(tensor)
        state, attentional = start[row], torch.zeros_like(start[row])
        logits, alphas = [], []
        for t, i in enumerate(ids.tolist()):
            state, attentional, alpha = step(row, table[i], state, attentional, t)
            logits.append(torch.mv(weights["output.weight"], attentional))
            alphas.append(alpha)
        found["logits"].append(torch.stack(logits))
        found["weights"].append(torch.stack(alphas))
    return {name: torch.stack(rows) for name, rows in found.items()}


ORACLES: dict[str, Any] = {
    "attentional_state": attentional_state,
    "LuongDecoder": luong_decoder,
}
