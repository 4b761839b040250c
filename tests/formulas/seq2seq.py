"""The assignment `seq2seq` in numpy; `beam_search` is compared with all sentences elsewhere."""

from __future__ import annotations

import numpy as np

from .parts import gru, log_softmax, lstm, names


def numpy_gru(x, w):
    return {"h_next": gru(x["x"], x["h"], *(x[name] for name in names("")))}


def numpy_lstm(x, w):
    h, c = lstm(x["x"], x["h"], x["c"], *(x[name] for name in names("")))
    return {"h_next": h, "c_next": c}


def numpy_encoder(x, w):
    found = {}
    for pre in ("", "other_"):
        if pre + "tokens" not in x:
            continue
        words, lengths = w["embedding.weight"][x[pre + "tokens"]], x[pre + "lengths"]
        B, S, _ = words.shape
        h = np.zeros((B, w["rnn.weight_hh_l0"].shape[1]))
        states = np.zeros((B, S, h.shape[1]))
        for j in range(S):
            moved = gru(words[:, j], h, *(w[name] for name in names("rnn.", "_l0")))
            h = np.where((j < lengths)[:, None], moved, h)
            states[:, j] = np.where((j < lengths)[:, None], moved, 0)
        found |= {pre + "states": states, pre + "final": h}
    return found


def numpy_context_decoder(x, w):
    def start(c):
        return np.tanh(c @ w["first_state.weight"].T + w["first_state.bias"])

    def step(y, h, c):
        return gru(np.concatenate([y, c], -1), h, *(w[name] for name in names("cell.")))

    def read(y, h, c):
        u = np.tanh(np.concatenate([y, h, c], -1) @ w["hidden.weight"].T + w["hidden.bias"])
        return u @ w["output.weight"].T + w["output.bias"]

    found = {
        "step_logits": read(x["embedded"], x["state"], x["context"]),
        "all_logits": read(x["words"], x["states"], x["contexts"]),
    }
    for pre in ("", "other_"):
        if pre + "context" not in x:
            continue
        c = x[pre + "context"]
        h = start(c)
        found |= {pre + "first_state": h, pre + "next_state": step(x["embedded"], x["state"], c)}
        logits = []
        for t in range(x[pre + "tokens"].shape[1]):
            y = w["embedding.weight"][x[pre + "tokens"][:, t]]
            h = step(y, h, c)
            logits.append(read(y, h, c))
        found[pre + "logits"] = np.stack(logits, 1)
    return found


def numpy_reversal(x, w):
    turned = x["tokens"].copy()
    for row, length in zip(turned, x["lengths"], strict=True):
        row[:length] = row[:length][::-1].copy()
    return {"turned": turned}


def numpy_seq2seq(x, w):
    def encode(source, lengths):
        words = w["source_embedding.weight"][source]
        h = c = np.zeros((len(source), w["encoder.weight_hh_l0"].shape[1]))
        for j in range(source.shape[1]):
            moved = lstm(words[:, j], h, c, *(w[name] for name in names("encoder.", "_l0")))
            real = (j < lengths)[:, None]
            h, c = np.where(real, moved[0], h), np.where(real, moved[1], c)
        return h, c

    def step(tokens, h, c):
        y = w["target_embedding.weight"][tokens]
        h, c = lstm(y, h, c, *(w[name] for name in names("decoder.", "_l0")))
        return h @ w["output.weight"].T + w["output.bias"], h, c

    logits, next_h, next_c = step(x["tokens"], x["state_h"], x["state_c"])
    found = {"log_probs": log_softmax(logits), "next_h": next_h, "next_c": next_c}
    if "more_tokens" in x:
        logits, last_h, last_c = step(x["more_tokens"], next_h, next_c)
        found |= {"more_log_probs": log_softmax(logits), "last_h": last_h, "last_c": last_c}
    if "other_tokens" in x:
        logits, h, c = step(x["other_tokens"], x["state_h"], x["state_c"])
        found |= {"other_log_probs": log_softmax(logits), "other_next_h": h, "other_next_c": c}
    for pre in ("", "other_"):
        if pre + "source" not in x:
            continue
        h, c = encode(x[pre + "source"], x[pre + "lengths"])
        found |= {pre + "h": h, pre + "c": c}
        rows = []
        for t in range(x[pre + "previous"].shape[1]):
            logits, h, c = step(x[pre + "previous"][:, t], h, c)
            rows.append(logits)
        found[pre + "logits"] = np.stack(rows, 1)
    return found


def numpy_loss(x, w):
    real = x["targets"] != x.get("pad_id", 0)
    log_p = np.take_along_axis(log_softmax(x["logits"]), x["targets"][..., None], -1)[..., 0]
    return {"loss": -(log_p * real).sum() / real.sum()}


FORMULAS = {
    "gru_cell": numpy_gru,
    "lstm_cell": numpy_lstm,
    "Encoder": numpy_encoder,
    "ContextDecoder": numpy_context_decoder,
    "reverse_source": numpy_reversal,
    "Seq2Seq": numpy_seq2seq,
    "sequence_loss": numpy_loss,
}
