"""Oracles of the assignment `embeddings`: loops over examples, in float64."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

Tensors = dict[str, Tensor]


def _unsure(score: Tensor) -> Tensor:
    """-log of the probability of a yes: log(1 + e^-x), with no exponent that can overflow."""
    return torch.logaddexp(torch.zeros_like(score), -score)


def negative_sampling_loss(inputs: dict[str, Any], weights: Tensors) -> Tensors:
    """Pair by pair, question by question."""
    losses = []
    for v, u, others in zip(inputs["center"], inputs["context"], inputs["negatives"], strict=True):
        loss = _unsure(torch.dot(u, v))
        for other in others:
            loss = loss + _unsure(-torch.dot(other, v))
        losses.append(loss)
    return {"loss": torch.stack(losses).mean()}


def neural_language_model(inputs: dict[str, Any], weights: Tensors) -> Tensors:
    """Context by context; H and W are cut into the blocks that belong to one place each."""
    return {
        name.replace("context", "logits"): torch.stack([_scores(ids, weights) for ids in tensor])
        for name, tensor in inputs.items()
        if name.endswith("context")
    }


def _scores(ids: Tensor, weights: Tensors) -> Tensor:
    C = weights["embedding.weight"]
    size = C.shape[1]
    inside, scores = weights["hidden.bias"], weights["output.bias"]
    for place, word in enumerate(ids.tolist()):
        block = slice(place * size, (place + 1) * size)
        inside = inside + torch.mv(weights["hidden.weight"][:, block], C[word])
        scores = scores + torch.mv(weights["direct.weight"][:, block], C[word])
    return scores + torch.mv(weights["output.weight"], torch.tanh(inside))


ORACLES = {
    "negative_sampling_loss": negative_sampling_loss,
    "NeuralLanguageModel": neural_language_model,
}
