"""The notebooks `pretraining` and `finetuning` of the assignment `bert` in numpy."""

from __future__ import annotations

import math

import numpy as np

from .parts import log_softmax

erf = np.vectorize(math.erf)


def tinted(tokens, segments, w, prefix):
    """The stand-in for embeddings."""
    segments = np.zeros_like(tokens) if segments is None else segments
    return w[f"{prefix}E"][tokens] * w[f"{prefix}C"][segments]


def near_layer(x, mask, g, P):
    """The stand-in for a layer."""
    place = x @ P.T
    gap = ((place[:, :, None] - place[:, None]) ** 2).sum(-1)
    close = np.broadcast_to(mask, gap.shape) / (1 + gap)
    total = close.sum(-1, keepdims=True)
    share = np.divide(close, total, out=np.zeros_like(close), where=total > 0)
    return g * x + share @ x


def numpy_encoder(x, w):
    found = {}
    for pre in ("", "other_"):
        if pre + "tokens" not in x:
            continue
        tokens, mask = x[pre + "tokens"], x.get(pre + "mask")
        if mask is None:
            mask = (tokens != x.get("pad_id", 0))[:, None]
        states = tinted(tokens, x.get(pre + "segments"), w, "embeddings.")
        number = 0
        while f"layers.{number}.g" in w:
            states = near_layer(states, mask, w[f"layers.{number}.g"], w[f"layers.{number}.P"])
            number += 1
        found[pre + "states"] = states
    return found


def numpy_pool_first(x, w):
    return {"pooled": np.tanh(np.einsum("bd,od->bo", x["states"][:, 0], x["W"]) + x["b"])}


def numpy_head(x, w):
    def scored(h):
        t = h @ w["transform.weight"].T + w["transform.bias"]
        t = t * 0.5 * (1 + erf(t / np.sqrt(2)))
        mean, var = t.mean(-1, keepdims=True), t.var(-1, keepdims=True)
        t = (t - mean) / np.sqrt(var + x.get("eps", 1e-12))
        t = t * w["norm.weight"] + w["norm.bias"]
        return t @ w["embedding.weight"].T + w["bias"]

    found = {"logits": scored(x["states"])}
    if "tokens" in x:
        found["looked_up"] = w["embedding.weight"][x["tokens"]]
        found["tied_logits"] = scored(found["looked_up"])
    return found


def numpy_pretraining_loss(x, w):
    chosen = x["labels"] >= 0
    ids = np.where(chosen, x["labels"], 0)
    of_ids = np.take_along_axis(log_softmax(x["token_logits"]), ids[..., None], -1)[..., 0]
    which = np.where(x["is_next"], 0, 1)
    of_pairs = np.take_along_axis(log_softmax(x["next_logits"]), which[:, None], -1)
    tokens = -of_ids[chosen].mean() if chosen.any() else 0.0
    return {"loss": tokens - of_pairs.mean()}


def encoder_states(x, w, pre):
    """The stand-in for an encoder."""
    found = tinted(x[pre + "tokens"], x.get(pre + "segments"), w, "encoder.")
    return found + np.roll(found, -1, axis=1) / 2


def numpy_sequence_classifier(x, w):
    found = {}
    for pre in ("", "other_"):
        if pre + "tokens" in x:
            first = encoder_states(x, w, pre)[:, 0]
            c = np.tanh(first @ w["pooler.weight"].T + w["pooler.bias"])
            found[pre + "logits"] = c @ w["output.weight"].T + w["output.bias"]
    return found


def numpy_token_classifier(x, w):
    return {
        pre + "logits": encoder_states(x, w, pre) @ w["output.weight"].T + w["output.bias"]
        for pre in ("", "other_")
        if pre + "tokens" in x
    }


def numpy_span_predictor(x, w):
    found = {}
    for pre in ("", "other_"):
        if pre + "tokens" in x:
            h = encoder_states(x, w, pre)
            found |= {pre + "start_scores": h @ w["start"], pre + "end_scores": h @ w["end"]}
    total = x["starts"][:, :, None] + x["ends"][:, None]  # (B, N, N)
    B, N, _ = total.shape
    i, j = np.indices((N, N))
    allowed = (i <= j) & (j < i + x.get("longest", 30))
    allowed = allowed & x["passage"][:, :, None] & x["passage"][:, None]
    best = np.where(allowed, total, -np.inf).reshape(B, -1).argmax(-1)
    found["first"], found["last"] = np.unravel_index(best, (N, N))
    return found


FORMULAS = {
    "BertEncoder": numpy_encoder,
    "pool_first": numpy_pool_first,
    "MaskedLanguageModelHead": numpy_head,
    "pretraining_loss": numpy_pretraining_loss,
    "SequenceClassifier": numpy_sequence_classifier,
    "TokenClassifier": numpy_token_classifier,
    "SpanPredictor": numpy_span_predictor,
}
