"""Encodes results that are not tensors (strings, numbers, lists) as byte tensors.

Each is stored as a tensor of the bytes of its JSON, so that it takes the same path as all other
results: into the expected values, out of the sandbox, and into the comparison of answers.
"""

from __future__ import annotations

import json
from typing import Any

import torch
from torch import Tensor


def encode_plain(thing: Any) -> Tensor:
    """Return plain data as a tensor of bytes, treating tuples as lists.

    Raises:
        TypeError: if the data contains anything else; the message is the name of its type.
    """
    try:
        text = json.dumps(_plain(thing), separators=(",", ":"))
    except RecursionError as error:
        raise TypeError("a list inside itself") from error
    return torch.tensor(list(text.encode("ascii")), dtype=torch.uint8)


def _plain(thing: Any) -> Any:
    if thing is None or isinstance(thing, (str, bool, int, float)):
        return thing
    if isinstance(thing, (list, tuple)):
        return [_plain(member) for member in thing]
    if getattr(thing, "ndim", None) == 0 and hasattr(thing, "item"):  # torch and numpy scalars
        return _plain(thing.item())
    kind = type(thing)
    raise TypeError(
        kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    )


def decode_plain(tensor: Tensor) -> Any:
    """Return the plain data that `encode_plain` encoded.

    Raises:
        ValueError: if the tensor does not hold encoded plain data.
    """
    if tensor.dtype != torch.uint8 or tensor.dim() != 1:
        raise ValueError("no text")
    try:
        return json.loads(bytes(tensor.tolist()))
    except RecursionError as error:
        raise ValueError("a text too deep") from error


def show(thing: Any, at_most: int = 240) -> str:
    """Return plain data, or a tensor of its bytes, as written in code and truncated if long."""
    if isinstance(thing, Tensor):
        try:
            thing = decode_plain(thing)
        except ValueError:
            return "(unreadable)"
    text = repr(thing)
    return text if len(text) <= at_most else f"{text[:at_most]} ..."
