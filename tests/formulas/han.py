"""The assignment `han` in numpy."""

from __future__ import annotations

import numpy as np

from .parts import gru, names, softmax


def both_ways(x, lengths, w, prefix):
    """States [forward; backward] (B, N, 2d) of a GRU, 0 on padding."""
    B, N, _ = x.shape
    d = w[f"{prefix}weight_hh_l0"].shape[1]
    states = np.zeros((B, N, 2 * d))
    for way, suffix in enumerate(("_l0", "_l0_reverse")):
        weights = [w[name] for name in names(prefix, suffix)]
        h = np.zeros((B, d))
        for j in range(N) if way == 0 else reversed(range(N)):
            real = (j < lengths)[:, None]
            h = np.where(real, gru(x[:, j], h, *weights), h)
            states[:, j, way * d : (way + 1) * d] = h * real
    return states


def numpy_pooling(x, w):
    found = {}
    for pre in ("", "other_"):
        if pre + "states" not in x:
            continue
        h = x[pre + "states"]
        u = np.tanh(h @ w["projection.weight"].T + w["projection.bias"])
        alpha = softmax(u @ w["context"], x[pre + "mask"])
        found |= {pre + "weights": alpha, pre + "pooled": np.einsum("bn,bnd->bd", alpha, h)}
    return found


def pool(h, mask, w, prefix):
    """The stand-in: (B, d) and (B, N)."""
    gap = w[f"{prefix}P"][0] - h @ w[f"{prefix}R"].T
    near = mask / (1 + (gap**2).sum(-1))
    total = near.sum(-1, keepdims=True)
    alpha = np.divide(near, total, out=np.zeros_like(near), where=total > 0)
    return np.einsum("bn,bnd->bd", alpha, h), alpha


def numpy_network(x, w):
    found = {}
    for pre in ("", "other_"):
        if pre + "documents" not in x:
            continue
        documents = x[pre + "documents"]
        B, L, T = documents.shape
        flat = documents.reshape(B * L, T)
        words = both_ways(w["embedding.weight"][flat], (flat != 0).sum(1), w, "word_rnn.")
        s, alpha = pool(words, flat != 0, w, "word_attention.")
        some = (documents != 0).any(-1)
        behind = L - np.argmax(some[:, ::-1], axis=1)  # where the last sentence with words ends
        read = np.where(some.any(1), behind, 0)
        h = both_ways(s.reshape(B, L, -1), read, w, "sentence_rnn.")
        v, beta = pool(h, some, w, "sentence_attention.")
        found |= {
            pre + "logits": v @ w["output.weight"].T + w["output.bias"],
            pre + "word_weights": alpha.reshape(B, L, T),
            pre + "sentence_weights": beta,
        }
    return found


FORMULAS = {"AttentionPooling": numpy_pooling, "HierarchicalAttentionNetwork": numpy_network}
