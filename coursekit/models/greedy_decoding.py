"""Greedy decoding, and helpers for the state of a decoder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from coursekit.text.vocabulary import PAD

Step = Callable[[Tensor, Any], tuple[Tensor, Any]]


@torch.no_grad()
def greedy_decode(step: Step, state: Any, bos_id: int, eos_id: int, max_length: int) -> Tensor:
    """Decode a batch greedily, taking the most probable word at each step.

    y_i = argmax_y p(y | y_1 ... y_{i-1}, x)

    Args:
        step: `step(tokens (B,), state) -> (log_probs (B, V), state)`; the first tokens are
            `bos_id`.
        state: initial state for `step`: a tensor, or a dict, list or tuple of tensors, with the
            sentences on axis 0.
        bos_id: id that begins a sentence.
        eos_id: id that ends one.
        max_length: maximum number of tokens, `eos_id` included.

    Returns:
        tokens (B, L), L <= max_length: each row ends in `eos_id` if the sentence ended in time,
        and is padded with <pad> after it.
    """
    first = _first_tensor(state)
    size, where = first.shape[0], first.device
    tokens = torch.full((size,), bos_id, dtype=torch.long, device=where)  # (B,)
    ended = torch.zeros(size, dtype=torch.bool, device=where)  # (B,)
    sentence = []
    for _ in range(max_length):
        log_probs, state = step(tokens, state)
        tokens = log_probs.argmax(dim=-1)  # (B,)
        sentence.append(tokens.masked_fill(ended, PAD))
        ended = ended | (tokens == eos_id)
        if ended.all():
            break
    return torch.stack(sentence, dim=1)  # (B, L)


def choose(state: Any, rows: Tensor) -> Any:
    """Select sentences or hypotheses from a decoder's state, in the given order.

    Row k of the result is row `rows[k]` of the state. A row may be selected several times or never.

    Args:
        state: a tensor, or a possibly nested dict, list or tuple of tensors, with the hypotheses on
            axis 0; other values are passed through.
        rows: indices from 0, (K,), integers.

    Returns:
        the state of the selected rows, in new tensors; the given state is unchanged.
    """
    if isinstance(state, Tensor):
        return state.index_select(0, rows.to(state.device))  # (K, ...)
    if isinstance(state, dict):
        return {name: choose(member, rows) for name, member in state.items()}
    if isinstance(state, (list, tuple)):
        members = [choose(member, rows) for member in state]
        return type(state)(*members) if hasattr(state, "_fields") else type(state)(members)
    return state


def device_of(state: Any) -> torch.device:
    """Return the device of a decoder's state, on which its tokens must be.

    Args:
        state: a tensor, or a possibly nested dict, list or tuple of tensors.
    """
    return _first_tensor(state).device


def _first_tensor(state: Any) -> Tensor:
    for tensor in _tensors(state):
        return tensor
    raise ValueError("The decoder's state holds no tensor, so the batch size is unknown.")


def _tensors(state: Any) -> Iterator[Tensor]:
    if isinstance(state, Tensor):
        yield state
    elif isinstance(state, (dict, list, tuple)):
        for member in state.values() if isinstance(state, dict) else state:
            yield from _tensors(member)
