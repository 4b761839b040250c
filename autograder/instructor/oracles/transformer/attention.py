"""Oracles of the notebook `transformer/attention`: torch's own operator, and loops, in float64."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from autograder.instructor.oracles.gates import mixture, shares, spread

Tensors = dict[str, Tensor]


def scaled_dot_product_attention(arguments: dict[str, Any], weights: Tensors) -> Tensors:
    """torch's operator, which gives the weights too if the values are the rows of I.

    Queries that may attend to nothing get all keys, and a factor of 0.
    """
    query, key, value = (arguments[name] for name in ("query", "key", "value"))
    mask = arguments.get("mask")
    prefix, allowed, real = "unmasked_", None, 1
    if mask is not None:
        prefix = "" if mask.dim() == query.dim() else "shared_"
        real = mask.any(dim=-1, keepdim=True)
        allowed = mask | ~real
    count = key.shape[-2]
    rows = torch.eye(count, dtype=key.dtype).expand(*key.shape[:-2], count, count)
    found = (F.scaled_dot_product_attention(query, key, v, allowed) for v in (value, rows))
    output, share = (real * one for one in found)
    return {f"{prefix}output": output, f"{prefix}weights": share}


def padding_mask(arguments: dict[str, Any], weights: Tensors) -> Tensors:
    """Token by token."""
    pad_id = arguments.get("pad_id", 0)
    rows = [[token != pad_id for token in row] for row in arguments["tokens"].tolist()]
    return {"real": torch.tensor(rows)}


def causal_mask(arguments: dict[str, Any], weights: Tensors) -> Tensors:
    """Row by row: so many times True, then False."""
    length = arguments["length"]
    rows = [[True] * (t + 1) + [False] * (length - t - 1) for t in range(length)]
    return {"mask": torch.tensor(rows)}


def split_heads(arguments: dict[str, Any], weights: Tensors) -> Tensors:
    """Piece by piece."""
    return {"split": torch.stack(arguments["x"].chunk(arguments["heads"], dim=-1), dim=1)}


def merge_heads(arguments: dict[str, Any], weights: Tensors) -> Tensors:
    """One head behind the other."""
    return {"merged": torch.cat(arguments["x"].unbind(dim=1), dim=-1)}


def multi_head_attention(arguments: dict[str, Any], weights: Tensors) -> Tensors:
    """Sentence by sentence, head by head, query by query; each batch as if it were the only one."""
    found = _attend(arguments, weights, "")
    if "other_query" in arguments:
        found |= {f"other_{n}": v for n, v in _attend(arguments, weights, "other_").items()}
    return found


def _projected(rows: Tensor, weights: Tensors, part: str, heads: int) -> list[list[Tensor]]:
    """Return for each head its vectors: each head has rows of the matrix of its own."""
    matrices = weights[f"{part}.weight"].chunk(heads)  # each (d / h, d)
    biases = weights[f"{part}.bias"].chunk(heads)
    return [[torch.mv(W, row) + b for row in rows] for W, b in zip(matrices, biases, strict=True)]


def _attend(arguments: dict[str, Any], weights: Tensors, which: str) -> Tensors:
    query = arguments[f"{which}query"]
    key, value = (arguments.get(f"{which}{name}", query) for name in ("key", "value"))
    heads, mask = arguments["heads"], arguments.get(f"{which}mask")
    prefix = "unmasked_" if mask is None else "shared_" if mask.dim() == 2 else ""
    found: dict[str, list[Any]] = {"output": [], "weights": [], "keys": [], "values": []}
    for b, asked in enumerate(query):
        questions = _projected(asked, weights, "query", heads)
        keys = _projected(key[b], weights, "key", heads)
        values = _projected(value[b], weights, "value", heads)
        found["keys"].append(torch.stack([torch.stack(rows) for rows in keys]))
        found["values"].append(torch.stack([torch.stack(rows) for rows in values]))
        if "given_keys" in arguments:
            keys = [list(rows) for rows in arguments["given_keys"][b]]
            values = [list(rows) for rows in arguments["given_values"][b]]
        count = len(keys[0])
        allowed = [list(range(count))] * len(asked)
        if mask is not None:
            marks = mask if mask.dim() == 2 else mask[b]
            marks = marks.expand(len(asked), count).tolist()
            allowed = [[j for j, may in enumerate(row) if may] for row in marks]
        lines, tables = [], []
        for i in range(heads):
            table, pieces = [], []
            for q, places in zip(questions[i], allowed, strict=True):
                scores = [torch.dot(q, keys[i][j]) / math.sqrt(len(q)) for j in places]
                parts = shares(scores) if scores else []
                pieces.append(mixture(parts, [values[i][j] for j in places], values[i][0]))
                table.append(spread(parts, places, count, q))
            lines.append(torch.stack(pieces))
            tables.append(torch.stack(table))
        W, bias = weights["output.weight"], weights["output.bias"]
        rows = [torch.mv(W, torch.cat(parts)) + bias for parts in zip(*lines, strict=True)]
        found["output"].append(torch.stack(rows))
        found["weights"].append(torch.stack(tables))
    outputs = {name: torch.stack(tensors) for name, tensors in found.items()}
    return {
        f"{prefix}output": outputs["output"],
        f"{prefix}weights": outputs["weights"],
        "keys": outputs["keys"],
        "values": outputs["values"],
    }


ORACLES: dict[str, Any] = {
    "scaled_dot_product_attention": scaled_dot_product_attention,
    "padding_mask": padding_mask,
    "causal_mask": causal_mask,
    "split_heads": split_heads,
    "merge_heads": merge_heads,
    "MultiHeadAttention": multi_head_attention,
}
