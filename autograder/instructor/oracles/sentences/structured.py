"""Oracles of the notebook `sentences/structured`: one sentence and one hop at a time."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from autograder.instructor.oracles.gates import lstm, mixture, near, shares, spread

Tensors = dict[str, Tensor]


def structured_self_attention(inputs: dict[str, Any], weights: Tensors) -> Tensors:
    """Hop by hop, over the real words alone; each batch as if it were the only one."""
    found = _look(inputs["states"], inputs["mask"], weights)
    if "other_states" in inputs:
        second = _look(inputs["other_states"], inputs["other_mask"], weights)
        found |= {f"other_{name}": tensor for name, tensor in second.items()}
    return found


def _look(states: Tensor, mask: Tensor, weights: Tensors) -> Tensors:
    matrices, alphas = [], []
    for rows, marks in zip(states, mask.tolist(), strict=True):
        places = [j for j, real in enumerate(marks) if real]
        words = [rows[j] for j in places]
        inner = [torch.tanh(torch.mv(weights["W_s1"], word)) for word in words]
        vectors, lines = [], []
        for direction in weights["W_s2"]:
            parts = shares([torch.dot(direction, u) for u in inner]) if inner else []
            vectors.append(mixture(parts, words, rows[0]))
            lines.append(spread(parts, places, len(marks), rows))
        matrices.append(torch.stack(vectors))
        alphas.append(torch.stack(lines))
    return {"matrix": torch.stack(matrices), "weights": torch.stack(alphas)}


def redundancy_penalty(inputs: Tensors, weights: Tensors) -> Tensors:
    """Pair of hops by pair of hops: their dot product, less 1 if it is one hop twice."""
    terms = []
    for hops in inputs["A"]:
        for k, one in enumerate(hops):
            for m, two in enumerate(hops):
                terms.append((torch.dot(one, two) - float(k == m)) ** 2)
    return {"penalty": sum(terms[1:], terms[0]) / len(inputs["A"])}


def structured_classifier(inputs: dict[str, Any], weights: Tensors) -> Tensors:
    """Sentence by sentence and gate by gate, each batch as if it were the only one."""
    found = _classify(inputs["tokens"], inputs["lengths"], weights)
    if "other_tokens" in inputs:
        second = _classify(inputs["other_tokens"], inputs["other_lengths"], weights)
        found |= {f"other_{name}": tensor for name, tensor in second.items()}
    return found


def _classify(tokens: Tensor, lengths: Tensor, weights: Tensors) -> Tensors:
    table, W_h, W_o = (weights[f"{part}.weight"] for part in ("embedding", "hidden", "output"))
    logits, alphas = [], []
    for ids, length in zip(tokens.tolist(), lengths.tolist(), strict=True):
        there, back = lstm([table[i] for i in ids[:length]], weights, "rnn.")
        words = [torch.cat(pair) for pair in zip(there, back, strict=True)]
        inner, lines = weights["hidden.bias"], []
        size = weights["attention.R"].shape[1]
        for k, place in enumerate(weights["attention.P"]):
            parts = near(words, place, weights["attention.R"]) if words else []
            row = mixture(parts, words, weights["attention.R"][0])
            # What this hop says goes through its own columns of W_h.
            inner = inner + torch.mv(W_h[:, k * size : (k + 1) * size], row)
            lines.append(spread(parts, list(range(length)), len(ids), table))
        positive = torch.stack([x if x > 0 else 0 * x for x in inner])
        logits.append(torch.mv(W_o, positive) + weights["output.bias"])
        alphas.append(torch.stack(lines))
    return {"logits": torch.stack(logits), "weights": torch.stack(alphas)}


ORACLES: dict[str, Any] = {
    "StructuredSelfAttention": structured_self_attention,
    "redundancy_penalty": redundancy_penalty,
    "StructuredClassifier": structured_classifier,
}
