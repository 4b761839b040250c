"""The notebook `model` of the assignment `transformer` in numpy."""

from __future__ import annotations

import numpy as np

from .parts import log_softmax


def average(things, mask):
    """Means of (B, N, d) over what a mask (B, T, N) allows, 0 where it allows nothing."""
    return mask @ things / np.maximum(mask.sum(-1, keepdims=True), 1)


def numpy_transformer(x, w):
    E, pad = w["embedding.weight"], x.get("pad_id", 0)
    d = E.shape[1]

    def layers(side):
        return range(len({name.split(".")[1] for name in w if name.startswith(side)}))

    def embed(ids, first=0):
        t, i = np.ogrid[first : first + ids.shape[1], :d]
        return np.sqrt(d) * E[ids] + ((t + 1) * (2 * i + 3) % 11 - 5) / 8

    def encode(source):
        h, mask = embed(source), (source != pad)[:, None]
        for k in layers("encoder_layers"):
            place = h @ w[f"encoder_layers.{k}.P"].T
            near = mask / (1 + ((place[:, :, None] - place[:, None]) ** 2).sum(-1))
            total = near.sum(-1, keepdims=True)
            share = np.divide(near, total, out=np.zeros_like(near), where=total > 0)
            h = w[f"encoder_layers.{k}.g"] * h + share @ h
        return h, mask

    def decode(ids, memory, mask):
        y = embed(ids)
        ahead = np.tri(ids.shape[1], dtype=bool) & (ids != pad)[:, None]
        for k in layers("decoder_layers"):
            A, D = (w[f"decoder_layers.{k}.{name}"] for name in "AD")
            y = np.sin(y) + average(y @ A.T, ahead) + y * average(memory @ D.T, mask)
        return y @ E.T

    found = {}
    for pre in ("", "other_"):
        if pre + "source" not in x:
            continue
        memory, mask = encode(x[pre + "source"])
        found |= {pre + "memory": memory, pre + "memory_mask": mask}
        found[pre + "logits"] = decode(x[pre + "previous"], memory, mask)
        for n in range(3):
            found[f"{pre}memory_mask_{n}"] = mask
            found[f"{pre}position_{n}"] = np.full(len(mask), n)
        words = [x[pre + "first"], x[pre + "second"]]
        for n in (1, 2):
            said = decode(np.stack(words[:n], 1), memory, mask)
            found[f"{pre}log_probs_{n}"] = log_softmax(said[:, -1])
        if not pre:
            ids, rows = x["previous"], x["rows"]
            found |= {"embedded": embed(ids), "embedded_later": embed(ids, x["at"])}
            many = [word[rows] for word in words] + [x["third"], x["fourth"]]
            for name, n in (("chosen", 3), ("further", 4)):
                said = decode(np.stack(many[:n], 1), memory[rows], mask[rows])
                found[f"log_probs_{name}"] = log_softmax(said[:, -1])
            said = decode(np.stack([words[0], x["other_word"]], 1), memory, mask)
            found["log_probs_again"] = log_softmax(said[:, -1])
            if "changed" in x:
                found["changed_logits"] = decode(x["changed"], memory, mask)
                # what the case is there for
                before, after = found["logits"], found["changed_logits"]
                assert (x["changed"][:, -1] != ids[:, -1]).all()
                np.testing.assert_allclose(after[:, :-1], before[:, :-1])
    # The oracle reads what is real alone, and puts zeros where padding is.
    for name, ids in (("memory", "source"), ("logits", "previous"), ("changed_logits", "changed")):
        for pre in ("", "other_"):
            if pre + ids in x:
                found[pre + name] = np.where((x[pre + ids] != pad)[..., None], found[pre + name], 0)
    for name in ("embedded", "embedded_later"):
        found[name] = np.where((x["previous"] != pad)[..., None], found[name], 0)
    return found


def numpy_smoothed_loss(x, w):
    V = x["logits"].shape[-1]
    q = (1 - x["smoothing"]) * np.eye(V)[x["targets"]] + x["smoothing"] / V
    real = x["targets"] != x.get("pad_id", 0)
    each = -(q * log_softmax(x["logits"])).sum(-1)
    return {"loss": (each * real).sum() / max(1, real.sum())}


def numpy_rate(x, w):
    step, size, warmup = (np.float64(x[name]) for name in ("step", "model_size", "warmup"))
    return {"rate": np.minimum(step**-0.5, step * warmup**-1.5) / np.sqrt(size)}


FORMULAS = {
    "Transformer": numpy_transformer,
    "label_smoothed_loss": numpy_smoothed_loss,
    "noam_learning_rate": numpy_rate,
}
