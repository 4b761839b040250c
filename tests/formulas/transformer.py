"""The assignment `transformer` in numpy."""

from __future__ import annotations

import numpy as np

from .parts import softmax


def dot_product_attention(q, k, v, mask):
    scores = np.einsum("...td,...nd->...tn", q, k) / q.shape[-1] ** 0.5
    alpha = softmax(scores, np.ones(scores.shape, dtype=bool) if mask is None else mask)
    return np.einsum("...tn,...nv->...tv", alpha, v), alpha


def named(found, mask, axes):
    """As the cases name outputs without a mask, and under one with fewer than `axes` axes."""
    prefix = "unmasked_" if mask is None else "shared_" if mask.ndim < axes else ""
    return {prefix + "output": found[0], prefix + "weights": found[1]}


def numpy_dot_product_attention(x, w):
    mask = x.get("mask")
    found = dot_product_attention(x["query"], x["key"], x["value"], mask)
    return named(found, mask, x["query"].ndim)


def numpy_padding(x, w):
    return {"real": x["tokens"] != x.get("pad_id", 0)}


def numpy_causal(x, w):
    return {"mask": np.subtract.outer(np.arange(x["length"]), np.arange(x["length"])) >= 0}


def heads_apart(x, heads):
    """(B, T, d) to (B, h, T, d / h)."""
    return np.moveaxis(x.reshape(*x.shape[:2], heads, -1), 2, 1)


def heads_together(x):
    """(B, h, T, d / h) to (B, T, d)."""
    return np.moveaxis(x, 1, 2).reshape(x.shape[0], x.shape[2], -1)


def numpy_split(x, w):
    return {"split": heads_apart(x["x"], x["heads"])}


def numpy_merge(x, w):
    return {"merged": heads_together(x["x"])}


def linear(x, w, name):
    return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]


def numpy_heads(x, w):
    found = {}
    for pre in ("", "other_"):
        if pre + "query" not in x:
            continue
        query, mask = x[pre + "query"], x.get(pre + "mask")
        q, k, v = (
            heads_apart(linear(x.get(pre + name, query), w, name), x["heads"])
            for name in ("query", "key", "value")
        )
        found |= {pre + "keys": k, pre + "values": v}
        k, v = x.get("given_keys", k), x.get("given_values", v)
        wide = mask if mask is None or mask.ndim == 2 else mask[:, None]
        mixed, alpha = dot_product_attention(q, k, v, wide)
        output = linear(heads_together(mixed), w, "output")
        found |= {pre + n: a for n, a in named((output, alpha), mask, 3).items()}
    return found


FORMULAS = {
    "scaled_dot_product_attention": numpy_dot_product_attention,
    "padding_mask": numpy_padding,
    "causal_mask": numpy_causal,
    "split_heads": numpy_split,
    "merge_heads": numpy_merge,
    "MultiHeadAttention": numpy_heads,
}
