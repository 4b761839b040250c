"""The assignment `bahdanau` in numpy."""

from __future__ import annotations

import numpy as np

from .parts import gru, names, softmax


def numpy_softmax(x, w):
    return {"weights": softmax(x["scores"], x["mask"])}


def numpy_score(x, w):
    projected = np.einsum("dq,bq->bd", x["W"], x["query"])[:, None]
    hidden = np.tanh(projected + np.einsum("dk,bnk->bnd", x["U"], x["keys"]))
    return {"scores": np.einsum("d,bnd->bn", x["v"], hidden)}


def numpy_context(x, w):
    return {"context": np.einsum("bn,bnd->bd", x["weights"], x["values"])}


def numpy_attention(x, w):
    found = {"projected_keys": np.einsum("dk,bnk->bnd", w["U"], x["keys"])}
    for pre, post in (("", ""), ("", "_again"), ("other_", "")):
        if pre + "keys" in x:
            given = {"query": x[pre + "query"], "keys": x[pre + "keys"]} | w
            alpha = softmax(numpy_score(given, {})["scores"], x[pre + "mask"])
            found[f"{pre}weights{post}"] = alpha
            found[f"{pre}context{post}"] = np.einsum("bn,bnd->bd", alpha, x[pre + "keys"])
    return found


def numpy_encoder(x, w):
    found = {}
    for pre in ("", "other_"):
        if pre + "tokens" not in x:
            continue
        words, lengths = w["embedding.weight"][x[pre + "tokens"]], x[pre + "lengths"]
        B, S, _ = words.shape
        d = w["first_state.bias"].shape[0]
        states = np.zeros((2, B, S, d))
        for way, suffix in enumerate(("_l0", "_l0_reverse")):
            weights = [w[name] for name in names("rnn.", suffix)]
            h = np.zeros((B, d))
            for j in range(S) if way == 0 else reversed(range(S)):
                h = np.where((j < lengths)[:, None], gru(words[:, j], h, *weights), h)
                states[way, :, j] = h
        states *= (np.arange(S) < lengths[:, None])[..., None]
        found[pre + "annotations"] = np.concatenate([states[0], states[1]], -1)
        inside = states[1, :, 0] @ w["first_state.weight"].T + w["first_state.bias"]
        found[pre + "first_state"] = np.tanh(inside)
    return found


def numpy_decoder(x, w):
    def attend(s, h, m):
        gap = (s @ w["attention.P"].T)[:, None] - h @ w["attention.R"].T
        near = m / (1 + (gap**2).sum(-1))
        total = near.sum(-1, keepdims=True)
        alpha = np.divide(near, total, out=np.zeros_like(near), where=total > 0)
        return np.einsum("bs,bsa->ba", alpha, h), alpha

    def step(y, s, h, m):
        c, alpha = attend(s, h, m)
        moved = gru(np.concatenate([y, c], -1), s, *(w[name] for name in names("cell.")))
        return moved, c, alpha

    def read(y, s, c):
        t = np.tanh(np.concatenate([y, s, c], -1) @ w["hidden.weight"].T + w["hidden.bias"])
        return t @ w["output.weight"].T + w["output.bias"]

    found = {"projected_keys": x["annotations"] @ w["attention.R"].T}
    found["step_logits"] = read(x["embedded"], x["state"], x["contexts"])
    for pre in ("", "other_"):
        if pre + "tokens" not in x:
            continue
        h, m, s = x[pre + "annotations"], x[pre + "mask"], x[pre + "state"]
        one = step(x["embedded"], x["state"], h, m)
        for name, value in zip(("next_state", "context", "step_weights"), one, strict=True):
            found[pre + name] = value
        logits, alphas = [], []
        for i in range(x[pre + "tokens"].shape[1]):
            y = w["embedding.weight"][x[pre + "tokens"][:, i]]
            s, c, alpha = step(y, s, h, m)
            logits.append(read(y, s, c))
            alphas.append(alpha)
        found |= {pre + "logits": np.stack(logits, 1), pre + "weights": np.stack(alphas, 1)}
    return found


FORMULAS = {
    "masked_softmax": numpy_softmax,
    "additive_score": numpy_score,
    "context_vector": numpy_context,
    "AdditiveAttention": numpy_attention,
    "BidirectionalEncoder": numpy_encoder,
    "AttentionDecoder": numpy_decoder,
}
