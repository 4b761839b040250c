"""Oracles of the notebook `bert/finetuning`: one text and one pair of places at a time."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

Tensors = dict[str, Tensor]


def _states(tokens: Tensor, segments: Tensor | None, weights: Tensors) -> list[list[Tensor]]:
    """What the stand-in for an encoder makes of each text, token by token."""
    table, tints = weights["encoder.E"], weights["encoder.C"]
    texts = []
    for b, ids in enumerate(tokens.tolist()):
        parts = [0] * len(ids) if segments is None else segments[b].tolist()
        x = [table[token] * tints[part] for token, part in zip(ids, parts, strict=True)]
        texts.append(
            [one + following / 2 for one, following in zip(x, [*x[1:], x[0]], strict=True)]
        )
    return texts


def _batches(inputs: dict[str, Any], weights: Tensors) -> dict[str, list[list[Tensor]]]:
    """Each batch as if it were the only one."""
    found = {"": _states(inputs["tokens"], inputs.get("segments"), weights)}
    if "other_tokens" in inputs:
        found["other_"] = _states(inputs["other_tokens"], inputs["other_segments"], weights)
    return found


def _classes(vector: Tensor, weights: Tensors) -> Tensor:
    return torch.stack(
        [
            torch.dot(row, vector) + b
            for row, b in zip(weights["output.weight"], weights["output.bias"], strict=True)
        ]
    )


def sequence_classifier(inputs: dict[str, Any], weights: Tensors) -> Tensors:
    """From the first token of each text; tanh from two exponentials."""
    found = {}
    for prefix, texts in _batches(inputs, weights).items():
        rows = []
        for first, *_ in texts:
            x = torch.mv(weights["pooler.weight"], first) + weights["pooler.bias"]
            rows.append(_classes(1 - 2 / (torch.exp(2 * x) + 1), weights))
        found[f"{prefix}logits"] = torch.stack(rows)
    return found


def token_classifier(inputs: dict[str, Any], weights: Tensors) -> Tensors:
    """From every token of each text."""
    return {
        f"{prefix}logits": torch.stack(
            [torch.stack([_classes(state, weights) for state in text]) for text in texts]
        )
        for prefix, texts in _batches(inputs, weights).items()
    }


def span_predictor(inputs: dict[str, Any], weights: Tensors) -> Tensors:
    """Scores token by token; the best answer by looking at all that are allowed."""
    found = {}
    for prefix, texts in _batches(inputs, weights).items():
        for half in ("start", "end"):
            found[f"{prefix}{half}_scores"] = torch.stack(
                [torch.stack([torch.dot(weights[half], h) for h in text]) for text in texts]
            )
    chosen = []
    longest = inputs.get("longest", 30)
    scores = zip(inputs["starts"].tolist(), inputs["ends"].tolist(), strict=True)
    for (starts, ends), marks in zip(scores, inputs["passage"].tolist(), strict=True):
        places = [i for i, real in enumerate(marks) if real]
        sums = {(i, j): starts[i] + ends[j] for i in places for j in places if 0 <= j - i < longest}
        chosen.append(max(sums, key=lambda pair: sums[pair]))
    found["first"], found["last"] = (torch.tensor(side) for side in zip(*chosen, strict=True))
    return found


ORACLES: dict[str, Any] = {
    "SequenceClassifier": sequence_classifier,
    "TokenClassifier": token_classifier,
    "SpanPredictor": span_predictor,
}
