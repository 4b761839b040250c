"""The notebook `layers` of the assignment `transformer` in numpy."""

from __future__ import annotations

import numpy as np


def numpy_positions(x, w):
    t, i = np.ogrid[: x["length"], : x["size"]]
    angle = t / np.power(10_000.0, (i - i % 2) / x["size"])
    return {"positions": np.where(i % 2 == 0, np.sin(angle), np.cos(angle))}


def norm(x, gain, shift, eps):
    spread = ((x**2).mean(-1) - x.mean(-1) ** 2)[..., None]
    return gain * (x - x.mean(-1, keepdims=True)) / np.sqrt(spread + eps) + shift


def numpy_norm(x, w):
    return {"y": norm(x["x"], x["weight"], x["bias"], x.get("eps", 1e-5))}


def numpy_feed_forward(x, w):
    inside = np.maximum(0, x["x"] @ w["inner.weight"].T + w["inner.bias"])
    return {"y": inside @ w["outer.weight"].T + w["outer.bias"]}


class Layer:
    """A layer's pieces, the stand-ins among them."""

    def __init__(self, w, eps=1e-5):
        self.w, self.eps = w, eps

    def keep(self, name, vectors):
        places = np.einsum("lnd,bjd->bljn", self.w[f"{name}.R"], vectors)
        return places, np.einsum("led,bjd->blje", self.w[f"{name}.S"], vectors)

    def attend(self, name, query, vectors, mask):
        places, things = self.keep(name, vectors)
        aims = np.einsum("lnd,bid->blin", self.w[f"{name}.P"], query)
        near = 1 / (1 + ((aims[:, :, :, None] - places[:, :, None]) ** 2).sum(-1))
        near = near * mask[:, None]
        total = near.sum(-1, keepdims=True)
        shares = np.divide(near, total, out=np.zeros_like(near), where=total > 0)
        return np.einsum("blij,blje->bie", shares, things)

    def add(self, name, x, found):
        return norm(x + found, self.w[f"{name}.weight"], self.w[f"{name}.bias"], self.eps)

    def feed(self, x):
        return self.add("feed_forward_norm", x, 2 * np.sin(x @ self.w["feed_forward.A"].T))


def wide(mask, b, t, n):
    """A mask of its full shape."""
    return np.ones((b, t, n), bool) if mask is None else np.broadcast_to(mask, (b, t, n))


def numpy_encoder_layer(x, w):
    layer, found = Layer(w, x.get("eps", 1e-5)), {}
    for pre in ("", "other_"):
        if pre + "x" in x:
            h = x[pre + "x"]
            b, n, _ = h.shape
            look = layer.attend("attention", h, h, wide(x.get(pre + "mask"), b, n, n))
            found[pre + "y"] = layer.feed(layer.add("attention_norm", h, look))
    return found


def numpy_decoder_layer(x, w):
    layer = Layer(w)

    def run(y, memory, mask, memory_mask):
        b, t, _ = y.shape
        a = layer.add("attention_norm", y, layer.attend("attention", y, y, wide(mask, b, t, t)))
        seen = wide(memory_mask, b, t, memory.shape[1])
        look = layer.attend("memory_attention", a, memory, seen)
        return layer.feed(layer.add("memory_attention_norm", a, look))

    def last(words, memory, memory_mask):
        y = np.concatenate(words, axis=1)
        ahead = np.tri(y.shape[1], dtype=bool)
        return run(y, memory, ahead, memory_mask)[:, -1:]

    found = {}
    for pre in ("", "other_"):
        if pre + "y" not in x:
            continue
        memory, seen = x[pre + "memory"], x.get(pre + "memory_mask")
        first, second = x[pre + "first"], x[pre + "second"]
        keys, values = layer.keep("attention", first)
        memory_keys, memory_values = layer.keep("memory_attention", memory)
        found |= {
            pre + "z": run(x[pre + "y"], memory, x.get("mask"), seen),
            pre + "keys": keys[:, :, 1:],
            pre + "values": values[:, :, 1:],
            pre + "keys_1": keys,
            pre + "values_1": values,
            pre + "memory_keys": memory_keys,
            pre + "memory_values": memory_values,
            pre + "z_1": last([first], memory, seen),
            pre + "z_2": last([first, second], memory, seen),
        }
    r, memory, seen = x["rows"], x["memory"], x.get("memory_mask")
    found["z_chosen"] = last(
        [x["first"][r], x["third"]], memory[r], None if seen is None else seen[r]
    )
    found["z_again"] = last([x["first"], x["fourth"]], memory, seen)
    if "changed_y" in x:
        found["changed_z"] = run(x["changed_y"], memory, x["mask"], seen)
        # what the case is there for
        np.testing.assert_allclose(found["changed_z"][:, :-1], found["z"][:, :-1])
    return found


FORMULAS = {
    "sinusoidal_positions": numpy_positions,
    "layer_norm": numpy_norm,
    "PositionwiseFeedForward": numpy_feed_forward,
    "EncoderLayer": numpy_encoder_layer,
    "DecoderLayer": numpy_decoder_layer,
}
