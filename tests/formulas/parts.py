"""What several formulas need, in numpy."""

from __future__ import annotations

import numpy as np


def softmax(scores, mask):
    mask = np.broadcast_to(mask, scores.shape)
    shifted = np.where(mask, scores, -np.inf)
    top = shifted.max(-1, keepdims=True)
    e = np.where(mask, np.exp(scores - np.where(np.isfinite(top), top, 0)), 0) * mask
    total = e.sum(-1, keepdims=True)
    return np.divide(e, total, out=np.zeros_like(e), where=total > 0)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gru(x, h, w_ih, w_hh, b_ih, b_hh):
    """(r, z, n) as in torch's documentation of GRUCell."""
    d = h.shape[-1]
    i, s = x @ w_ih.T + b_ih, h @ w_hh.T + b_hh
    r, z = sigmoid(i[..., :d] + s[..., :d]), sigmoid(i[..., d : 2 * d] + s[..., d : 2 * d])
    n = np.tanh(i[..., 2 * d :] + r * s[..., 2 * d :])
    return (1 - z) * n + z * h


def names(prefix, suffix=""):
    return [f"{prefix}{kind}{suffix}" for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]


def lstm(x, h, c, w_ih, w_hh, b_ih, b_hh):
    """(i, f, g, o) as in torch's documentation of LSTMCell."""
    i, f, g, o = np.split(x @ w_ih.T + b_ih + h @ w_hh.T + b_hh, 4, axis=-1)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


def log_softmax(x):
    shifted = x - x.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
