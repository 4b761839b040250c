"""Oracle of the notebook `han/network`: one document, one sentence, one gate at a time."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from autograder.instructor.oracles.gates import gru, mixture, near, spread

Tensors = dict[str, Tensor]


def hierarchical_attention_network(inputs: dict[str, Any], weights: Tensors) -> Tensors:
    """Each batch as if it were the only one."""
    found = _classify(inputs["documents"], weights)
    if "other_documents" in inputs:
        second = _classify(inputs["other_documents"], weights)
        found |= {f"other_{name}": tensor for name, tensor in second.items()}
    return found


def _chosen(states: list[Tensor], weights: Tensors, prefix: str) -> list[Tensor]:
    """Return the weights that the stand-in gives to states, of which all count."""
    place, R = weights[f"{prefix}P"][0], weights[f"{prefix}R"]
    return near(states, place, R) if states else []


def _states(vectors: list[Tensor], weights: Tensors, prefix: str) -> list[Tensor]:
    """Return [forward; backward] for each of the vectors."""
    return [torch.cat(pair) for pair in zip(*gru(vectors, weights, prefix), strict=True)]


def _classify(documents: Tensor, weights: Tensors) -> Tensors:
    table = weights["embedding.weight"]
    W_c, b_c = weights["output.weight"], weights["output.bias"]
    nothing = torch.zeros_like(W_c[0])  # (2d,)
    found: dict[str, list[Tensor]] = {"logits": [], "word_weights": [], "sentence_weights": []}
    for document in documents.tolist():
        vectors, lines, places = [], [], []
        for number, sentence in enumerate(document):
            ids = [i for i in sentence if i != 0]
            words = _states([table[i] for i in ids], weights, "word_rnn.")
            parts = _chosen(words, weights, "word_attention.")
            vectors.append(mixture(parts, words, nothing))
            lines.append(spread(parts, list(range(len(ids))), len(sentence), table))
            if ids:
                places.append(number)
        read = vectors[: places[-1] + 1] if places else []
        states = _states(read, weights, "sentence_rnn.")
        kept = [states[i] for i in places]
        parts = _chosen(kept, weights, "sentence_attention.")
        found["logits"].append(torch.mv(W_c, mixture(parts, kept, nothing)) + b_c)
        found["word_weights"].append(torch.stack(lines))
        found["sentence_weights"].append(spread(parts, places, len(document), table))
    return {name: torch.stack(rows) for name, rows in found.items()}


ORACLES: dict[str, Any] = {"HierarchicalAttentionNetwork": hierarchical_attention_network}
