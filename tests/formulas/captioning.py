"""The assignment `captioning` in numpy."""

from __future__ import annotations

import numpy as np
import torch

from .parts import lstm, names, sigmoid, softmax


def numpy_annotations(x, w):
    maps = x["feature_map"]
    return {"annotations": np.moveaxis(maps, 1, -1).reshape(len(maps), -1, maps.shape[1])}


def numpy_soft_attention(x, w):
    found = {}
    for pre in ("", "other_"):
        if pre + "query" not in x:
            continue
        q, a = x[pre + "query"], x[pre + "annotations"]
        e = np.tanh((q @ w["W"].T)[:, None] + a @ w["U"].T) @ w["v"]
        alpha = softmax(e, np.ones_like(e, dtype=bool))
        beta = sigmoid(q @ w["gate.weight"].T + w["gate.bias"])  # (B, 1)
        z = beta * np.einsum("bn,bnd->bd", alpha, a)
        found |= {pre + "beta": beta[:, 0], pre + "context": z, pre + "weights": alpha}
    return found


def numpy_penalty(x, w):
    looks = (x["weights"] * x["mask"][..., None]).sum(1)
    each = ((1 - looks) ** 2).sum(-1) * x["mask"].any(-1)
    return {"penalty": each.mean()}


def numpy_hard_attention(x, w):
    """Draws with the generators of the case, in its calls' order, by a uniform number each."""
    alpha, values = x["weights"], x["values"]

    def look(generator):
        u = torch.rand(len(alpha), 1, dtype=torch.float64, generator=generator).numpy()
        places = (np.cumsum(alpha, -1) <= u).sum(-1)
        rows = np.arange(len(alpha))
        return values[rows, places], np.eye(alpha.shape[1])[places], np.log(alpha[rows, places])

    if "nothing" in x:
        drawn = {"": look(None), "again_": look(None)}
    else:
        drawn = {"": look(x["generator"])}
        if "other" in x:
            drawn |= {"twin_": look(x["twin"]), "other_": look(x["other"])}
            drawn["later_"] = look(x["generator"])
    outputs = ("context", "sample", "log_prob")
    return {p + n: t for p, d in drawn.items() for n, t in zip(outputs, d, strict=True)}


def numpy_reinforce(x, w):
    looks = np.where(x["mask"], x["log_prob"], 0).sum(-1)
    return {"loss": -np.mean((x["reward"] - x["baseline"]) * looks)}


def numpy_captioner(x, w):
    def start(a):
        mean = a.mean(1)
        kinds = ("first_state", "first_memory")
        return [np.tanh(mean @ w[f"{k}.weight"].T + w[f"{k}.bias"]) for k in kinds]

    def step(y, h, c, a):
        aim = h @ w["attention.P"].T
        near = 1 / (1 + ((aim[:, None] - a @ w["attention.R"].T) ** 2).sum(-1))
        alpha = near / near.sum(-1, keepdims=True)
        z = np.einsum("bn,bnd->bd", alpha, a) / (1 + (aim**2).sum(-1, keepdims=True))
        h, c = lstm(np.concatenate([y, z], -1), h, c, *(w[n] for n in names("cell.")))
        return h, c, z, alpha

    def read(y, h, z):
        mixed = y + h @ w["state_output.weight"].T + z @ w["context_output.weight"].T
        return mixed @ w["output.weight"].T + w["output.bias"]

    found = {
        "step_logits": read(x["embedded"], x["state"], x["contexts"]),
        "all_logits": read(x["all_embedded"], x["all_states"], x["all_contexts"]),
    }
    for pre in ("", "other_"):
        if pre + "tokens" not in x:
            continue
        a = x[pre + "annotations"]
        one = step(x["embedded"], x["state"], x["memory"], a)
        returned = ("next_state", "next_memory", "context", "step_weights")
        found |= {pre + n: value for n, value in zip(returned, one, strict=True)}
        h, c = start(a)
        found |= {pre + "first_state": h, pre + "first_memory": c}
        logits, alphas = [], []
        for t in range(x[pre + "tokens"].shape[1]):
            y = w["embedding.weight"][x[pre + "tokens"][:, t]]
            h, c, z, alpha = step(y, h, c, a)
            logits.append(read(y, h, z))
            alphas.append(alpha)
        found |= {pre + "logits": np.stack(logits, 1), pre + "weights": np.stack(alphas, 1)}
    return found


FORMULAS = {
    "annotation_vectors": numpy_annotations,
    "SoftAttention": numpy_soft_attention,
    "doubly_stochastic_penalty": numpy_penalty,
    "hard_attention": numpy_hard_attention,
    "reinforce_loss": numpy_reinforce,
    "CaptionDecoder": numpy_captioner,
}
