"""The assignment `sentences` in numpy."""

from __future__ import annotations

import numpy as np

from .parts import lstm, names, softmax


def both_ways(x, lengths, w, prefix):
    """States of an LSTM (B, N, 2d), forward first, 0 on padding, and the final ones (B, 2d)."""
    B, N, _ = x.shape
    d = w[f"{prefix}weight_hh_l0"].shape[1]
    states, final = np.zeros((B, N, 2 * d)), np.zeros((B, 2 * d))
    for way, suffix in enumerate(("_l0", "_l0_reverse")):
        weights = [w[name] for name in names(prefix, suffix)]
        part = slice(way * d, (way + 1) * d)
        h = c = np.zeros((B, d))
        for j in range(N) if way == 0 else reversed(range(N)):
            real = (j < lengths)[:, None]
            moved = lstm(x[:, j], h, c, *weights)
            h, c = np.where(real, moved[0], h), np.where(real, moved[1], c)
            states[:, j, part] = h * real
        final[:, part] = h
    return states, final


def numpy_last_state(x, w):
    at = (x["lengths"] - 1)[:, None, None]
    return {"sentence": np.take_along_axis(x["states"], at, axis=1)[:, 0]}


def numpy_mean(x, w):
    total = np.einsum("bn,bnd->bd", x["mask"], x["states"])
    return {"sentence": total / np.maximum(x["mask"].sum(1, keepdims=True), 1)}


def numpy_max(x, w):
    shown = np.where(x["mask"][..., None], x["states"], -np.inf).max(1)
    return {"sentence": np.where(np.isfinite(shown), shown, 0)}


def numpy_attention_classifier(x, w):
    found = {}
    for pre in ("", "other_"):
        if pre + "tokens" not in x:
            continue
        tokens, lengths = x[pre + "tokens"], x[pre + "lengths"]
        h, q = both_ways(w["embedding.weight"][tokens], lengths, w, "rnn.")
        scores = np.tanh((q @ w["W"].T)[:, None] + h @ w["U"].T) @ w["v"]
        alpha = softmax(scores, np.arange(tokens.shape[1]) < lengths[:, None])
        s = np.einsum("bn,bnd->bd", alpha, h)
        logits = s @ w["output.weight"].T + w["output.bias"]
        found |= {pre + "logits": logits, pre + "weights": alpha}
    return found


def numpy_structured(x, w):
    found = {}
    for pre in ("", "other_"):
        if pre + "states" not in x:
            continue
        h, mask = x[pre + "states"], x[pre + "mask"]
        scores = np.einsum("ra,bna->brn", w["W_s2"], np.tanh(h @ w["W_s1"].T))
        A = softmax(scores, mask[:, None])
        found |= {pre + "weights": A, pre + "matrix": np.einsum("brn,bnd->brd", A, h)}
    return found


def numpy_penalty(x, w):
    A = x["A"]
    overlap = np.einsum("bkn,bmn->bkm", A, A) - np.eye(A.shape[1])
    return {"penalty": (np.linalg.norm(overlap, ord="fro", axis=(1, 2)) ** 2).mean()}


def hops(h, mask, P, R):
    """The stand-in: (B, r, d) and (B, r, N)."""
    gap = P[None, :, None] - (h @ R.T)[:, None]
    near = mask[:, None] / (1 + (gap**2).sum(-1))
    total = near.sum(-1, keepdims=True)
    A = np.divide(near, total, out=np.zeros_like(near), where=total > 0)
    return np.einsum("brn,bnd->brd", A, h), A


def numpy_structured_classifier(x, w):
    found = {}
    for pre in ("", "other_"):
        if pre + "tokens" not in x:
            continue
        tokens, lengths = x[pre + "tokens"], x[pre + "lengths"]
        h, _ = both_ways(w["embedding.weight"][tokens], lengths, w, "rnn.")
        real = np.arange(tokens.shape[1]) < lengths[:, None]
        M, A = hops(h, real, w["attention.P"], w["attention.R"])
        inner = M.reshape(len(M), -1) @ w["hidden.weight"].T + w["hidden.bias"]
        logits = np.maximum(inner, 0) @ w["output.weight"].T + w["output.bias"]
        found |= {pre + "logits": logits, pre + "weights": A}
    return found


FORMULAS = {
    "last_state": numpy_last_state,
    "masked_mean": numpy_mean,
    "masked_max": numpy_max,
    "AttentionClassifier": numpy_attention_classifier,
    "StructuredSelfAttention": numpy_structured,
    "redundancy_penalty": numpy_penalty,
    "StructuredClassifier": numpy_structured_classifier,
}
