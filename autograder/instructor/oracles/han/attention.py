"""Oracle of the notebook `han/attention`: one sentence at a time, in float64."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from autograder.instructor.oracles.gates import mixture, shares, spread

Tensors = dict[str, Tensor]


def attention_pooling(inputs: dict[str, Any], weights: Tensors) -> Tensors:
    """Over the real words alone; each batch as if it were the only one."""
    found = _pool(inputs["states"], inputs["mask"], weights)
    if "other_states" in inputs:
        second = _pool(inputs["other_states"], inputs["other_mask"], weights)
        found |= {f"other_{name}": tensor for name, tensor in second.items()}
    return found


def _pool(states: Tensor, mask: Tensor, weights: Tensors) -> Tensors:
    W, b = weights["projection.weight"], weights["projection.bias"]
    vectors, alphas = [], []
    for rows, marks in zip(states, mask.tolist(), strict=True):
        places = [j for j, real in enumerate(marks) if real]
        scores = [
            torch.dot(torch.tanh(torch.mv(W, rows[j]) + b), weights["context"]) for j in places
        ]
        parts = shares(scores) if scores else []
        vectors.append(mixture(parts, [rows[j] for j in places], rows[0]))
        alphas.append(spread(parts, places, len(marks), rows))
    return {"pooled": torch.stack(vectors), "weights": torch.stack(alphas)}


ORACLES: dict[str, Any] = {"AttentionPooling": attention_pooling}
