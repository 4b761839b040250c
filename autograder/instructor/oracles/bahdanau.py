"""Oracles of the assignment `bahdanau`: loops over sentences and words, in float64.

Recurrent parts are torch's own (`nn.GRU`, `nn.GRUCell`), called on single sentences without any
padding.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.func import functional_call

from autograder.stand_ins import DistanceAttention

Tensors = dict[str, Tensor]


def _row(scores: Tensor, mask: Tensor) -> Tensor:
    """Softmax of one row (N,): the real positions are cut out, weighted and put back."""
    weights = torch.zeros_like(scores)
    places = mask.nonzero()[:, 0]
    if len(places) == 0:
        return weights
    return weights.index_put((places,), torch.softmax(scores[places], dim=0))


def masked_softmax(inputs: Tensors, weights: Tensors) -> Tensors:
    """Row by row."""
    scores = inputs["scores"]
    mask = inputs["mask"].expand(scores.shape).reshape(-1, scores.shape[-1])
    rows = [_row(row, m) for row, m in zip(scores.reshape(mask.shape), mask, strict=True)]
    return {"weights": torch.stack(rows).reshape(scores.shape)}


def _score(state: Tensor, key: Tensor, W: Tensor, U: Tensor, v: Tensor) -> Tensor:
    """v^T tanh(W s + U h) for one state and one annotation."""
    return torch.dot(v, torch.tanh(torch.mv(W, state) + torch.mv(U, key)))


def _scores(query: Tensor, keys: Tensor, W: Tensor, U: Tensor, v: Tensor) -> Tensor:
    return torch.stack(
        [
            torch.stack([_score(s, key, W, U, v) for key in row])
            for s, row in zip(query, keys, strict=True)
        ]
    )


def additive_score(inputs: Tensors, weights: Tensors) -> Tensors:
    """Sentence by sentence, word by word."""
    return {"scores": _scores(*(inputs[name] for name in ("query", "keys", "W", "U", "v")))}


def _average(weights: Tensor, values: Tensor) -> Tensor:
    """Sum of alpha_j h_j for one sentence."""
    context = torch.zeros_like(values[0])
    for weight, value in zip(weights, values, strict=True):
        context = context + weight * value
    return context


def context_vector(inputs: Tensors, weights: Tensors) -> Tensors:
    """Sentence by sentence."""
    pairs = zip(inputs["weights"], inputs["values"], strict=True)
    return {"context": torch.stack([_average(row, values) for row, values in pairs])}


def _batches(inputs: Tensors) -> tuple[Tensors, Tensors]:
    """Return the inputs of the first batch, and of the second, if there is one, as of a first."""
    second = _parts(inputs, "other_")
    return {name: tensor for name, tensor in inputs.items() if "other_" not in name}, second


def additive_attention(inputs: Tensors, weights: Tensors) -> Tensors:
    """Scores, weights and average of the loops above, for each batch as if it were the only one."""
    first, second = _batches(inputs)
    found = _attention(first, weights)
    return found | _prefixed("other_", _attention(second, weights) if second else {})


def _attention(inputs: Tensors, weights: Tensors) -> Tensors:
    keys, mask = inputs["keys"], inputs["mask"]
    W, U, v = weights["W"], weights["U"], weights["v"]
    projected = torch.stack([torch.stack([torch.mv(U, key) for key in row]) for row in keys])
    scores = _scores(inputs["query"], keys, W, U, v)
    alpha = torch.stack([_row(row, m) for row, m in zip(scores, mask, strict=True)])
    context = torch.stack([_average(a, row) for a, row in zip(alpha, keys, strict=True)])
    return {
        "projected_keys": projected,
        "context": context,
        "weights": alpha,
        "context_again": context,
        "weights_again": alpha,
    }


def bidirectional_encoder(inputs: Tensors, weights: Tensors) -> Tensors:
    """nn.GRU on each sentence alone, without padding: forward, and on the reversed sentence."""
    first, second = _batches(inputs)
    found = _encode(first, weights)
    return found | _prefixed("other_", _encode(second, weights) if second else {})


def _encode(inputs: Tensors, weights: Tensors) -> Tensors:
    table = weights["embedding.weight"]
    hidden = weights["first_state.bias"].shape[0]
    gru = nn.GRU(table.shape[1], hidden).double()
    forward = {n[4:]: w for n, w in weights.items() if n.startswith("rnn.") and "rev" not in n}
    backward = {
        n[4:].removesuffix("_reverse"): w for n, w in weights.items() if n.endswith("_reverse")
    }
    annotations = torch.zeros(*inputs["tokens"].shape, 2 * hidden, dtype=table.dtype)
    rows, first = [], []
    for ids, length in zip(inputs["tokens"], inputs["lengths"].tolist(), strict=True):
        words = table[ids[:length]].unsqueeze(1)  # (L, 1, e)
        ahead = functional_call(gru, forward, (words,))[0][:, 0]  # (L, d)
        back = functional_call(gru, backward, (words.flip(0),))[0][:, 0].flip(0)  # (L, d)
        blank = annotations.new_zeros(len(ids) - length, 2 * hidden)
        rows.append(torch.cat([torch.cat([ahead, back], dim=1), blank]))
        first.append(
            torch.tanh(
                torch.mv(weights["first_state.weight"], back[0]) + weights["first_state.bias"]
            )
        )
    return {"annotations": torch.stack(rows), "first_state": torch.stack(first)}


def attention_decoder(inputs: Tensors, weights: Tensors) -> Tensors:
    """One sentence after the other, one word after the other, with nn.GRUCell.

    In the second batch, the step starts from the first batch's state.
    """
    first, second = _batches(inputs)
    found = _decode(first, weights)
    R = weights["attention.R"]
    found["projected_keys"] = torch.einsum("bnk,dk->bnd", first["annotations"], R)
    if second:
        own = _decode(first | second, weights)
        moved = _decode(first | second | {"state": first["state"]}, weights)
        names = ("next_state", "context", "step_weights")
        found |= {f"other_{name}": moved[name] for name in names}
        found |= {f"other_{name}": own[name] for name in ("logits", "weights")}
    return found


def _decode(inputs: Tensors, weights: Tensors) -> Tensors:
    annotations, mask, start = inputs["annotations"], inputs["mask"], inputs["state"]
    table = weights["embedding.weight"]
    attention = DistanceAttention(start.shape[1], annotations.shape[2], 1)
    cell = nn.GRUCell(table.shape[1] + annotations.shape[2], start.shape[1]).double()

    def attend(row: int, state: Tensor) -> tuple[Tensor, Tensor]:
        given = (state[None], annotations[row, None], mask[row, None])
        context, alpha = functional_call(attention, _parts(weights, "attention."), given)
        return context[0], alpha[0]

    def move(word: Tensor, context: Tensor, state: Tensor) -> Tensor:
        given = (torch.cat([word, context])[None], state[None])
        return functional_call(cell, _parts(weights, "cell."), given)[0]

    def read(word: Tensor, state: Tensor, context: Tensor) -> Tensor:
        inside = torch.mv(weights["hidden.weight"], torch.cat([word, state, context]))
        inside = torch.tanh(inside + weights["hidden.bias"])
        return torch.mv(weights["output.weight"], inside) + weights["output.bias"]

    found: dict[str, list[Tensor]] = {
        name: []
        for name in ("next_state", "context", "step_weights", "step_logits", "logits", "weights")
    }
    for row, ids in enumerate(inputs["tokens"]):
        word, state = inputs["embedded"][row], start[row]
        context, alpha = attend(row, state)
        found["next_state"].append(move(word, context, state))
        found["context"].append(context)
        found["step_weights"].append(alpha)
        found["step_logits"].append(read(word, state, inputs["contexts"][row]))
        logits, alphas = [], []
        for i in ids.tolist():
            context, alpha = attend(row, state)
            state = move(table[i], context, state)
            logits.append(read(table[i], state, context))
            alphas.append(alpha)
        found["logits"].append(torch.stack(logits))
        found["weights"].append(torch.stack(alphas))
    return {name: torch.stack(rows) for name, rows in found.items()}


def _prefixed(prefix: str, tensors: Tensors) -> Tensors:
    return {prefix + name: tensor for name, tensor in tensors.items()}


def _parts(weights: Tensors, prefix: str) -> Tensors:
    return {n.removeprefix(prefix): w for n, w in weights.items() if n.startswith(prefix)}


ORACLES = {
    "masked_softmax": masked_softmax,
    "additive_score": additive_score,
    "context_vector": context_vector,
    "AdditiveAttention": additive_attention,
    "BidirectionalEncoder": bidirectional_encoder,
    "AttentionDecoder": attention_decoder,
}
