"""Oracles of the notebook `luong/scores`: loops over sentences and words, in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

Tensors = dict[str, Tensor]
# One number for one query (d_q,) and one key (d_k,).
Pair = Callable[[Tensor, Tensor], Tensor]


def _for_each_query(query: Tensor, row: Callable[[int, Tensor], Tensor]) -> Tensor:
    """Stack row(sentence, q) over the queries: (B, d_q) gives (B, ...), (B, T, d_q) (B, T, ...)."""
    sentences = []
    for b, given in enumerate(query):
        if given.dim() == 1:
            sentences.append(row(b, given))
        else:
            sentences.append(torch.stack([row(b, q) for q in given]))
    return torch.stack(sentences)


def _scores(query: Tensor, keys: Tensor, pair: Pair) -> Tensors:
    def row(b: int, q: Tensor) -> Tensor:
        return torch.stack([pair(q, key) for key in keys[b]])

    return {"scores": _for_each_query(query, row)}


def _dot(one: Tensor, other: Tensor) -> Tensor:
    total = torch.zeros((), dtype=one.dtype)
    for a, b in zip(one, other, strict=True):
        total = total + a * b
    return total


def dot_score(arguments: dict[str, Any], weights: Tensors) -> Tensors:
    """Number by number."""
    return _scores(arguments["query"], arguments["keys"], _dot)


def scaled_dot_score(arguments: dict[str, Any], weights: Tensors) -> Tensors:
    """The dot product of two vectors that are each divided by the fourth root of their size."""

    def pair(q: Tensor, key: Tensor) -> Tensor:
        root = float(len(key)) ** 0.25
        return _dot(q / root, key / root)

    return _scores(arguments["query"], arguments["keys"], pair)


def general_score(arguments: dict[str, Any], weights: Tensors) -> Tensors:
    """The sum over i of q_i times the dot product of row i of W and the key."""
    W = arguments["W"]

    def pair(q: Tensor, key: Tensor) -> Tensor:
        return _dot(q, torch.stack([_dot(row, key) for row in W]))

    return _scores(arguments["query"], arguments["keys"], pair)


def concat_score(arguments: dict[str, Any], weights: Tensors) -> Tensors:
    """The network on [q; k], for one pair at a time."""
    W, v = arguments["W"], arguments["v"]

    def pair(q: Tensor, key: Tensor) -> Tensor:
        return torch.dot(v, torch.tanh(torch.mv(W, torch.cat([q, key]))))

    return _scores(arguments["query"], arguments["keys"], pair)


def location_score(arguments: dict[str, Any], weights: Tensors) -> Tensors:
    """The dot product of the query with row j of W, for one position at a time."""
    W = arguments["W"]
    return {
        "scores": _for_each_query(
            arguments["query"], lambda b, q: torch.stack([_dot(row, q) for row in W])
        )
    }


def attention(arguments: dict[str, Any], weights: Tensors) -> Tensors:
    """Query by query: real positions are cut out, weighted, put back, and their values added up."""
    query, keys, values = (arguments[name] for name in ("query", "keys", "values"))
    score, mask = arguments["score"], arguments.get("mask")
    prefix = "unmasked_" if mask is None else ""
    contexts, rows = [], []
    for b, given in enumerate(query):
        for t, q in enumerate(given.reshape(-1, given.shape[-1])):
            real = torch.ones(keys.shape[1], dtype=torch.bool)
            if mask is not None:
                real = mask[b] if mask.dim() == 2 else mask[b, t]
            places = real.nonzero()[:, 0].tolist()
            found = score(q[None], keys[b, None])[0]  # (N,)
            alpha = [torch.zeros((), dtype=query.dtype)] * len(real)
            if places:
                highest = max(found[j].item() for j in places)
                powers = {j: torch.exp(found[j] - highest) for j in places}
                total = torch.stack(list(powers.values())).sum()
                for j in places:
                    alpha[j] = powers[j] / total
            context = torch.zeros_like(values[b, 0])
            for j in places:
                context = context + alpha[j] * values[b, j]
            rows.append(torch.stack(alpha))
            contexts.append(context)
    leading = query.shape[:-1]
    return {
        f"{prefix}context": torch.stack(contexts).reshape(*leading, -1),
        f"{prefix}weights": torch.stack(rows).reshape(*leading, -1),
    }


ORACLES: dict[str, Any] = {
    "dot_score": dot_score,
    "scaled_dot_score": scaled_dot_score,
    "general_score": general_score,
    "concat_score": concat_score,
    "location_score": location_score,
    "attention": attention,
}
