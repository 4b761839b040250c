"""Oracles of the notebook `seq2seq/encoder_decoder`: loops over sentences and words, in float64.

Recurrent parts are torch's own (`nn.GRU`, `nn.GRUCell`, `nn.LSTM`), called on single sentences
without any padding.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call

Tensors = dict[str, Tensor]


def _under(weights: Tensors, prefix: str) -> Tensors:
    """Return the weights of a part, by the names they have in it."""
    return {n.removeprefix(prefix): w for n, w in weights.items() if n.startswith(prefix)}


def _other(inputs: dict[str, Any]) -> dict[str, Any]:
    """Return the inputs of the second batch as if they were a first one's; {} if there is none."""
    second = {n.removeprefix("other_"): x for n, x in inputs.items() if n.startswith("other_")}
    return inputs | second if second else {}


def encoder(inputs: dict[str, Any], weights: Tensors) -> Tensors:
    """nn.GRU on each sentence alone, for each batch as if it were the only one."""
    found = _encode(inputs, weights)
    if second := _other(inputs):
        found |= {f"other_{name}": tensor for name, tensor in _encode(second, weights).items()}
    return found


def _encode(inputs: dict[str, Any], weights: Tensors) -> Tensors:
    table = weights["embedding.weight"]
    hidden = inputs["hidden_size"]
    gru = nn.GRU(table.shape[1], hidden).double()
    rows, final = [], []
    for ids, length in zip(inputs["tokens"], inputs["lengths"].tolist(), strict=True):
        words = table[ids[:length]].unsqueeze(1)  # (L, 1, e)
        states, last = functional_call(gru, _under(weights, "rnn."), (words,))
        rows.append(torch.cat([states[:, 0], table.new_zeros(len(ids) - length, hidden)]))
        final.append(last[0, 0])
    return {"states": torch.stack(rows), "final": torch.stack(final)}


def context_decoder(inputs: dict[str, Any], weights: Tensors) -> Tensors:
    """One sentence after the other, one word after the other, with nn.GRUCell."""
    found = _decode(inputs, weights)
    if second := _other(inputs):
        again = _decode(second, weights)
        found |= {f"other_{n}": again[n] for n in ("first_state", "next_state", "logits")}
    return found


def _decode(inputs: dict[str, Any], weights: Tensors) -> Tensors:
    table = weights["embedding.weight"]
    d = inputs["hidden_size"]
    cell = nn.GRUCell(table.shape[1] + d, d).double()

    def start(context: Tensor) -> Tensor:
        inside = torch.mv(weights["first_state.weight"], context) + weights["first_state.bias"]
        return torch.tanh(inside)

    def move(word: Tensor, state: Tensor, context: Tensor) -> Tensor:
        given = (torch.cat([word, context])[None], state[None])
        return functional_call(cell, _under(weights, "cell."), given)[0]

    def read(word: Tensor, state: Tensor, context: Tensor) -> Tensor:
        inside = torch.mv(weights["hidden.weight"], torch.cat([word, state, context]))
        inside = torch.tanh(inside + weights["hidden.bias"])
        return torch.mv(weights["output.weight"], inside) + weights["output.bias"]

    found: dict[str, list[Tensor]] = {
        name: [] for name in ("first_state", "next_state", "step_logits", "all_logits", "logits")
    }
    for row, ids in enumerate(inputs["tokens"].tolist()):
        word, state, context = (inputs[name][row] for name in ("embedded", "state", "context"))
        found["first_state"].append(start(context))
        found["next_state"].append(move(word, state, context))
        found["step_logits"].append(read(word, state, context))
        triples = zip(*(inputs[name][row] for name in ("words", "states", "contexts")), strict=True)
        found["all_logits"].append(torch.stack([read(*triple) for triple in triples]))
        h, logits = start(context), []
        for i in ids:
            h = move(table[i], h, context)
            logits.append(read(table[i], h, context))
        found["logits"].append(torch.stack(logits))
    return {name: torch.stack(rows) for name, rows in found.items()}


def reverse_source(inputs: dict[str, Any], weights: Tensors) -> Tensors:
    """Lists: the words of each sentence from the last to the first, then the rest of the row."""
    rows = []
    for ids, length in zip(inputs["tokens"].tolist(), inputs["lengths"].tolist(), strict=True):
        rows.append([*reversed(ids[:length]), *ids[length:]])
    return {"turned": torch.tensor(rows)}


def seq2seq(inputs: dict[str, Any], weights: Tensors) -> Tensors:
    """nn.LSTM on each sentence alone, without padding; the decoder word by word."""
    found = _translate(inputs, weights)
    if second := _other(inputs):
        again = _translate(second, weights)
        names = ("h", "c", "log_probs", "next_h", "next_c", "logits")
        found |= {f"other_{name}": again[name] for name in names}
    return found


def _translate(inputs: dict[str, Any], weights: Tensors) -> Tensors:
    source_table = weights["source_embedding.weight"]
    target_table = weights["target_embedding.weight"]
    lstm = nn.LSTM(source_table.shape[1], inputs["hidden_size"]).double()

    def encode(ids: Tensor) -> tuple[Tensor, Tensor]:
        words = source_table[ids].unsqueeze(1)  # (L, 1, e)
        _, (h, c) = functional_call(lstm, _under(weights, "encoder."), (words,))
        return h[0, 0], c[0, 0]

    def move(i: int, h: Tensor, c: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        given = (target_table[i].reshape(1, 1, -1), (h.reshape(1, 1, -1), c.reshape(1, 1, -1)))
        _, (h, c) = functional_call(lstm, _under(weights, "decoder."), given)
        h, c = h[0, 0], c[0, 0]
        return torch.mv(weights["output.weight"], h) + weights["output.bias"], h, c

    def log_probability(logits: Tensor) -> Tensor:
        return logits - torch.logsumexp(logits, dim=0)

    found: dict[str, list[Tensor]] = {
        name: []
        for name in (
            *("h", "c", "log_probs", "next_h", "next_c"),
            *("more_log_probs", "last_h", "last_c", "logits"),
        )
    }
    for row, length in enumerate(inputs["lengths"].tolist()):
        h, c = encode(inputs["source"][row, :length])
        found["h"].append(h)
        found["c"].append(c)
        logits = []
        for i in inputs["previous"][row].tolist():
            scores, h, c = move(i, h, c)
            logits.append(scores)
        found["logits"].append(torch.stack(logits))
        h, c = inputs["state_h"][row], inputs["state_c"][row]
        for tokens, scored, moved in (
            ("tokens", "log_probs", ("next_h", "next_c")),
            ("more_tokens", "more_log_probs", ("last_h", "last_c")),
        ):
            scores, h, c = move(int(inputs[tokens][row]), h, c)
            found[scored].append(log_probability(scores))
            found[moved[0]].append(h)
            found[moved[1]].append(c)
    return {name: torch.stack(rows) for name, rows in found.items()}


def sequence_loss(inputs: dict[str, Any], weights: Tensors) -> Tensors:
    """Word by word: log of the sum of exponentials, less the label's own logit."""
    logits, targets, pad = inputs["logits"], inputs["targets"], inputs.get("pad_id", 0)
    total = 0 * logits.sum()  # part of the graph, also if no word counts
    count = 0
    for row, ids in zip(logits, targets.tolist(), strict=True):
        for scores, i in zip(row, ids, strict=True):
            if i != pad:
                total = total + torch.logsumexp(scores, dim=0) - scores[i]
                count += 1
    return {"loss": total / max(count, 1)}


ORACLES: dict[str, Any] = {
    "Encoder": encoder,
    "ContextDecoder": context_decoder,
    "reverse_source": reverse_source,
    "Seq2Seq": seq2seq,
    "sequence_loss": sequence_loss,
}
