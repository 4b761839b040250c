"""The assignment `luong` in numpy."""

from __future__ import annotations

import numpy as np
import torch

from .parts import gru, names, sigmoid, softmax


def numpy_dot(x, w):
    return {"scores": np.einsum("b...d,bnd->b...n", x["query"], x["keys"])}


def numpy_scaled_dot(x, w):
    return {"scores": numpy_dot(x, w)["scores"] / np.sqrt(x["query"].shape[-1])}


def numpy_general(x, w):
    return {"scores": np.einsum("b...q,qk,bnk->b...n", x["query"], x["W"], x["keys"])}


def numpy_concat(x, w):
    several = x["query"] if x["query"].ndim == 3 else x["query"][:, None]
    shape = (*several.shape[:2], x["keys"].shape[1])
    pairs = np.concatenate(
        [
            np.broadcast_to(several[:, :, None], (*shape, several.shape[-1])),
            np.broadcast_to(x["keys"][:, None], (*shape, x["keys"].shape[-1])),
        ],
        -1,
    )
    scores = np.tanh(pairs @ x["W"].T) @ x["v"]
    return {"scores": scores if x["query"].ndim == 3 else scores[:, 0]}


def numpy_location(x, w):
    return {"scores": x["query"] @ x["W"].T}


def numpy_any_attention(x, w):
    scores = x["score"](torch.from_numpy(x["query"]), torch.from_numpy(x["keys"])).numpy()
    mask, prefix = x.get("mask"), ""
    if mask is None:
        mask, prefix = np.ones(scores.shape, dtype=bool), "unmasked_"
    alpha = softmax(scores, mask[:, None] if mask.ndim < scores.ndim else mask)
    context = np.einsum("b...n,bnv->b...v", alpha, x["values"])
    return {f"{prefix}context": context, f"{prefix}weights": alpha}


def numpy_attentional_state(x, w):
    return {"attentional": np.tanh(np.concatenate([x["context"], x["state"]], -1) @ x["W"].T)}


def numpy_luong_decoder(x, w):
    def step(y, h, fed, keys, mask, t):
        inputs = np.concatenate([y, fed], -1) if x.get("input_feeding", True) else y
        h = gru(inputs, h, *(w[n] for n in names("cell.")))
        gap = (h @ w["attention.P"].T)[:, None] - keys @ w["attention.R"].T
        near = mask / (1 + (gap**2).sum(-1) + np.abs(np.arange(keys.shape[1]) - t))
        total = near.sum(-1, keepdims=True)
        alpha = np.divide(near, total, out=np.zeros_like(near), where=total > 0)
        c = np.einsum("bs,bsa->ba", alpha, keys)
        return h, np.tanh(np.concatenate([c, h], -1) @ w["combine.weight"].T), alpha

    found = {}
    for pre in ("", "other_"):
        if pre + "tokens" not in x:
            continue
        memory = x[pre + "keys"], x[pre + "mask"]
        one = step(x["embedded"], x["state"], x["attentional"], *memory, x[pre + "position"])
        returned = ("next_state", "next_attentional", "step_weights")
        found |= {pre + n: value for n, value in zip(returned, one, strict=True)}
        h = x[pre + "state"]
        fed, logits, alphas = np.zeros_like(h), [], []
        for t in range(x[pre + "tokens"].shape[1]):
            h, fed, alpha = step(w["embedding.weight"][x[pre + "tokens"][:, t]], h, fed, *memory, t)
            logits.append(fed @ w["output.weight"].T)
            alphas.append(alpha)
        found |= {pre + "logits": np.stack(logits, 1), pre + "weights": np.stack(alphas, 1)}
    return found


def window(p, lengths, D, N):
    s = np.arange(N)
    return (np.abs(s - p[:, None]) <= D) & (s < lengths[:, None])


def numpy_window(x, w):
    return {"window": window(x["position"], x["lengths"], x["D"], x["N"])}


def numpy_position(x, w):
    return {"position": x["lengths"] * sigmoid(np.tanh(x["state"] @ x["W"].T) @ x["v"])}


def bell(p, D, N):
    return np.exp(-2 * ((np.arange(N) - p[:, None]) / D) ** 2)


def numpy_gaussian(x, w):
    return {"weighted": x["weights"] * bell(x["position"], x["D"], x["weights"].shape[1])}


def numpy_local_attention(x, w):
    found = {}
    for pre in ("", "other_"):
        if pre + "keys" not in x:
            continue
        query, keys, mask = (x[pre + n] for n in ("query", "keys", "mask"))
        p = np.full(len(query), float(x[pre + "position"]))
        if x["kind"] == "predictive":
            p = numpy_position({"state": query, "lengths": mask.sum(1)} | w, {})["position"]
        scores = np.einsum("bd,bnd->bn", np.sin(query @ w["score.P"].T), keys @ w["score.R"].T)
        alpha = softmax(scores, window(p, mask.sum(1), x["D"], mask.shape[1]))
        if x["kind"] == "predictive":
            alpha = alpha * bell(p, x["D"], mask.shape[1])
        found |= {pre + "weights": alpha, pre + "context": np.einsum("bn,bnk->bk", alpha, keys)}
    return found


FORMULAS = {
    "dot_score": numpy_dot,
    "scaled_dot_score": numpy_scaled_dot,
    "general_score": numpy_general,
    "concat_score": numpy_concat,
    "location_score": numpy_location,
    "attention": numpy_any_attention,
    "attentional_state": numpy_attentional_state,
    "LuongDecoder": numpy_luong_decoder,
    "local_window": numpy_window,
    "predictive_position": numpy_position,
    "gaussian_weights": numpy_gaussian,
    "LocalAttention": numpy_local_attention,
}
