"""Oracles of the notebook `bert/pretraining`: one sentence and one token at a time, in float64."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

Tensors = dict[str, Tensor]


def bert_encoder(inputs: dict[str, Any], weights: Tensors) -> Tensors:
    """Token by token; each batch as if it were the only one."""
    pad = inputs.get("pad_id", 0)
    found = {
        "states": _encoded(
            inputs["tokens"], inputs.get("segments"), inputs.get("mask"), pad, weights
        )
    }
    if "other_tokens" in inputs:
        found["other_states"] = _encoded(
            inputs["other_tokens"], inputs["other_segments"], None, pad, weights
        )
    return found


def _encoded(
    tokens: Tensor, segments: Tensor | None, mask: Tensor | None, pad: int, weights: Tensors
) -> Tensor:
    count = len({name.split(".")[1] for name in weights if name.startswith("layers.")})
    rows = []
    for b, ids in enumerate(tokens.tolist()):
        parts = [0] * len(ids) if segments is None else segments[b].tolist()
        # seen[i] lists the tokens that token i may look at
        if mask is None:
            seen = [[j for j, token in enumerate(ids) if token != pad]] * len(ids)
        else:
            marks = mask[b].tolist()
            seen = [
                [j for j, real in enumerate(marks[i if len(marks) > 1 else 0]) if real]
                for i in range(len(ids))
            ]
        states = [
            weights["embeddings.E"][token] * weights["embeddings.C"][part]
            for token, part in zip(ids, parts, strict=True)
        ]
        for number in range(count):
            states = _next(states, seen, weights, f"layers.{number}.")
        rows.append(torch.stack(states))
    return torch.stack(rows)


def _next(
    states: list[Tensor], seen: list[list[int]], weights: Tensors, prefix: str
) -> list[Tensor]:
    """What the stand-in for a layer makes of a sentence."""
    found = []
    for x, places in zip(states, seen, strict=True):
        y = weights[f"{prefix}g"] * x
        closeness = []
        for j in places:
            gap = torch.mv(weights[f"{prefix}P"], x) - torch.mv(weights[f"{prefix}P"], states[j])
            closeness.append(1 / (1 + torch.dot(gap, gap)))
        for j, close in zip(places, closeness, strict=True):
            y = y + close * states[j] / sum(closeness[1:], closeness[0])
        found.append(y)
    return found


def pool_first(inputs: Tensors, weights: Tensors) -> Tensors:
    """Sentence by sentence; tanh from two exponentials."""
    rows = []
    for states in inputs["states"]:
        x = torch.mv(inputs["W"], next(iter(states))) + inputs["b"]
        rows.append(1 - 2 / (torch.exp(2 * x) + 1))
    return {"pooled": torch.stack(rows)}


def masked_language_model_head(inputs: dict[str, Any], weights: Tensors) -> Tensors:
    """State by state; what is looked up in the table comes from the table itself."""
    eps = inputs.get("eps", 1e-12)
    found = {"logits": _scored(inputs["states"], weights, eps)}
    if "tokens" in inputs:
        table = weights["embedding.weight"]
        looked_up = torch.stack(
            [torch.stack([table[token] for token in ids]) for ids in inputs["tokens"].tolist()]
        )
        found |= {"looked_up": looked_up, "tied_logits": _scored(looked_up, weights, eps)}
    return found


def _scored(states: Tensor, weights: Tensors, eps: float) -> Tensor:
    flat = states.reshape(-1, states.shape[-1])
    rows = []
    for state in flat:
        x = torch.mv(weights["transform.weight"], state) + weights["transform.bias"]
        # GELU is x times the share of a standard normal below x.
        x = x * (1 + torch.erf(x / math.sqrt(2))) / 2
        centred = x - x.sum() / len(x)
        spread = torch.sqrt(torch.dot(centred, centred) / len(x) + eps)
        t = centred / spread * weights["norm.weight"] + weights["norm.bias"]
        rows.append(
            torch.stack(
                [
                    torch.dot(t, one) + b
                    for one, b in zip(weights["embedding.weight"], weights["bias"], strict=True)
                ]
            )
        )
    return torch.stack(rows).reshape(*states.shape[:-1], -1)


def pretraining_loss(inputs: Tensors, weights: Tensors) -> Tensors:
    """Token by token, then pair by pair."""
    of_tokens, of_pairs = [], []
    for rows, ids in zip(inputs["token_logits"], inputs["labels"].tolist(), strict=True):
        of_tokens += [_surprise(x, i) for x, i in zip(rows, ids, strict=True) if i >= 0]
    for logits, follows in zip(inputs["next_logits"], inputs["is_next"].tolist(), strict=True):
        of_pairs.append(_surprise(logits, 0 if follows else 1))
    # part of the graph, also if no token was chosen
    first = sum(of_tokens, 0 * inputs["token_logits"].sum()) / max(1, len(of_tokens))
    return {"loss": first + sum(of_pairs[1:], of_pairs[0]) / len(of_pairs)}


def _surprise(logits: Tensor, right: int) -> Tensor:
    """Return -log p of the right one: how far the sum of all exponentials lies above its own."""
    top = max(logits.tolist())
    return top + torch.log(torch.exp(logits - top).sum()) - logits[right]


ORACLES: dict[str, Any] = {
    "BertEncoder": bert_encoder,
    "pool_first": pool_first,
    "MaskedLanguageModelHead": masked_language_model_head,
    "pretraining_loss": pretraining_loss,
}
