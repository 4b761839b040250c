"""Oracles of the notebook `captioning/attention`: loops over pictures and places, in float64."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

Tensors = dict[str, Tensor]


def annotation_vectors(inputs: Tensors, weights: Tensors) -> Tensors:
    """Place by place, a row of the picture at a time."""
    pictures = []
    for picture in inputs["feature_map"]:
        _, height, width = picture.shape
        places = [picture[:, i, j] for i in range(height) for j in range(width)]
        pictures.append(torch.stack(places))
    return {"annotations": torch.stack(pictures)}


def _sigmoid(number: Tensor) -> Tensor:
    return 1 / (1 + torch.exp(-number))


def soft_attention(inputs: Tensors, weights: Tensors) -> Tensors:
    """Each batch as if it were the only one."""
    found = _attended(inputs, weights)
    if "other_query" in inputs:
        second = {n.removeprefix("other_"): t for n, t in inputs.items() if n.startswith("other_")}
        found |= {f"other_{name}": t for name, t in _attended(second, weights).items()}
    return found


def _attended(inputs: Tensors, weights: Tensors) -> Tensors:
    betas, contexts, alphas = [], [], []
    for query, places in zip(inputs["query"], inputs["annotations"], strict=True):
        beta = _sigmoid(torch.dot(weights["gate.weight"][0], query) + weights["gate.bias"][0])
        asked = torch.mv(weights["W"], query)
        energies = torch.stack(
            [
                torch.dot(weights["v"], torch.tanh(asked + torch.mv(weights["U"], place)))
                for place in places
            ]
        )
        powers = torch.exp(energies - energies.max().item())
        alpha = powers / powers.sum()
        look = torch.zeros_like(places[0])
        for share, place in zip(alpha, places, strict=True):
            look = look + share * beta * place
        betas.append(beta)
        contexts.append(look)
        alphas.append(alpha)
    return {
        "beta": torch.stack(betas),
        "context": torch.stack(contexts),
        "weights": torch.stack(alphas),
    }


def doubly_stochastic_penalty(inputs: Tensors, weights: Tensors) -> Tensors:
    """Caption by caption and place by place, over the rows of real words alone."""
    total = 0 * inputs["weights"].sum()
    for rows, real in zip(inputs["weights"], inputs["mask"].tolist(), strict=True):
        kept = [row for row, there in zip(rows, real, strict=True) if there]
        for place in range(rows.shape[1] if kept else 0):
            missing = 1 - torch.stack([row[place] for row in kept]).sum()
            total = total + missing * missing
    return {"penalty": total / len(inputs["weights"])}


def hard_attention(arguments: dict[str, Any], weights: Tensors) -> Tensors:
    """Picture by picture: the first place at which the weights so far exceed a uniform number.

    A call without a generator draws with one of a fixed seed, so that an oracle repeats itself.
    """
    if "nothing" in arguments:
        own = [("", torch.Generator().manual_seed(1)), ("again_", torch.Generator().manual_seed(2))]
    elif "other" in arguments:
        own = [
            ("", arguments["generator"]),
            ("twin_", arguments["twin"]),
            ("other_", arguments["other"]),
            ("later_", arguments["generator"]),
        ]
    else:
        own = [("", arguments["generator"])]
    found: Tensors = {}
    for prefix, generator in own:
        looks = _looked(arguments["weights"], arguments["values"], generator)
        found |= {prefix + name: tensor for name, tensor in looks.items()}
    return found


def _looked(alpha: Tensor, values: Tensor, generator: torch.Generator) -> Tensors:
    places = []
    for row in alpha.tolist():
        level = torch.rand((), dtype=torch.float64, generator=generator).item()
        reached, place = 0.0, -1
        for i, share in enumerate(row):
            reached += share
            if share > 0:
                place = i
            if reached > level:
                break
        places.append(place)
    marks = [[float(i == place) for i in range(alpha.shape[1])] for place in places]
    every = list(range(len(places)))
    return {
        "context": values[every, places],
        "sample": torch.tensor(marks, dtype=torch.float64),
        "log_prob": torch.log(alpha[every, places]),
    }


def reinforce_loss(arguments: dict[str, Any], weights: Tensors) -> Tensors:
    """Caption by caption, word by word; reward and baseline are plain numbers."""
    rewards, baseline = arguments["reward"].tolist(), arguments["baseline"]
    usual = baseline.tolist() if isinstance(baseline, Tensor) else [baseline] * len(rewards)
    total = 0 * arguments["log_prob"].sum()
    rows = zip(arguments["log_prob"], arguments["mask"].tolist(), rewards, usual, strict=True)
    for logs, real, reward, expected in rows:
        for log_p, there in zip(logs, real, strict=True):
            if there:
                total = total + log_p * (expected - reward)
    return {"loss": total / len(rewards)}


ORACLES: dict[str, Any] = {
    "annotation_vectors": annotation_vectors,
    "SoftAttention": soft_attention,
    "doubly_stochastic_penalty": doubly_stochastic_penalty,
    "hard_attention": hard_attention,
    "reinforce_loss": reinforce_loss,
}
