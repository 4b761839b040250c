"""Oracles of the notebook `sentences/pooling`: one sentence at a time, in float64."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from autograder.instructor.oracles.gates import lstm, mixture, shares, spread

Tensors = dict[str, Tensor]


def last_state(inputs: Tensors, weights: Tensors) -> Tensors:
    """The last of each sentence's own states."""
    pairs = zip(inputs["states"], inputs["lengths"].tolist(), strict=True)
    return {"sentence": torch.stack([list(rows)[:length][-1] for rows, length in pairs])}


def _real(inputs: Tensors) -> list[list[Tensor]]:
    """Return the states of the real words of each sentence."""
    return [
        [state for state, real in zip(rows, marks, strict=True) if real]
        for rows, marks in zip(inputs["states"], inputs["mask"].tolist(), strict=True)
    ]


def masked_mean(inputs: Tensors, weights: Tensors) -> Tensors:
    """Word by word: each adds its part of the whole."""
    means = []
    for words in _real(inputs):
        mean = 0 * inputs["states"][0, 0]  # part of the graph, also if no word counts
        for word in words:
            mean = mean + word / len(words)
        means.append(mean)
    return {"sentence": torch.stack(means)}


def masked_max(inputs: Tensors, weights: Tensors) -> Tensors:
    """Number by number, the larger of what is known and what comes."""
    rows = []
    for words in _real(inputs):
        best = list(words[0] if words else 0 * inputs["states"][0, 0])
        for word in words[1:]:
            best = [x if x > y else y for x, y in zip(word, best, strict=True)]
        rows.append(torch.stack(best))
    return {"sentence": torch.stack(rows)}


def attention_classifier(inputs: dict[str, Any], weights: Tensors) -> Tensors:
    """Sentence by sentence and gate by gate, each batch as if it were the only one."""
    found = _classify(inputs["tokens"], inputs["lengths"], weights)
    if "other_tokens" in inputs:
        second = _classify(inputs["other_tokens"], inputs["other_lengths"], weights)
        found |= {f"other_{name}": tensor for name, tensor in second.items()}
    return found


def _classify(tokens: Tensor, lengths: Tensor, weights: Tensors) -> Tensors:
    table, bias = weights["embedding.weight"], weights["output.bias"]
    logits, alphas = [], []
    for ids, length in zip(tokens.tolist(), lengths.tolist(), strict=True):
        there, back = lstm([table[i] for i in ids[:length]], weights, "rnn.")
        states = [torch.cat(pair) for pair in zip(there, back, strict=True)]
        alpha: list[Tensor] = []
        if states:
            asked = torch.mv(weights["W"], torch.cat([there[-1], back[0]]))
            alpha = shares(
                [
                    torch.dot(weights["v"], torch.tanh(asked + torch.mv(weights["U"], state)))
                    for state in states
                ]
            )
        vector = mixture(alpha, states, weights["W"][0])
        logits.append(torch.mv(weights["output.weight"], vector) + bias)
        alphas.append(spread(alpha, list(range(length)), len(ids), bias))
    return {"logits": torch.stack(logits), "weights": torch.stack(alphas)}


ORACLES: dict[str, Any] = {
    "last_state": last_state,
    "masked_mean": masked_mean,
    "masked_max": masked_max,
    "AttentionClassifier": attention_classifier,
}
