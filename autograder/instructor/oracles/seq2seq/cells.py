"""Oracles of the notebook `seq2seq/cells`: torch's own cells, sentence by sentence."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.func import functional_call

Tensors = dict[str, Tensor]


def _parameters(inputs: Tensors) -> Tensors:
    return {name: inputs[name] for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")}


def gru_cell(inputs: Tensors, weights: Tensors) -> Tensors:
    """nn.GRUCell."""
    x, h = inputs["x"], inputs["h"]
    cell = nn.GRUCell(x.shape[1], h.shape[1]).double()
    rows = [
        functional_call(cell, _parameters(inputs), (word[None], state[None]))
        for word, state in zip(x, h, strict=True)
    ]
    return {"h_next": torch.cat(rows)}


def lstm_cell(inputs: Tensors, weights: Tensors) -> Tensors:
    """nn.LSTMCell."""
    x, h, c = inputs["x"], inputs["h"], inputs["c"]
    cell = nn.LSTMCell(x.shape[1], h.shape[1]).double()
    rows = [
        functional_call(cell, _parameters(inputs), (word[None], (state[None], memory[None])))
        for word, state, memory in zip(x, h, c, strict=True)
    ]
    states, memories = zip(*rows, strict=True)
    return {"h_next": torch.cat(states), "c_next": torch.cat(memories)}


ORACLES = {"gru_cell": gru_cell, "lstm_cell": lstm_cell}
