"""Encodes results that are not tensors (strings, numbers, lists) as byte tensors.

They are kept as tensors all the same, the bytes of their JSON, so that they go the ways of all that
comes back: into the expected values, out of the sandbox, and to where answers are compared.
"""

from __future__ import annotations

import json
from typing import Any

import torch
from torch import Tensor


def encode_plain(thing: Any) -> Tensor:
    """Return plain data as a tensor of bytes; a tuple counts as a list.

    Raises:
        TypeError: there is something else in it; the message is the name of its type.
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
    if getattr(thing, "ndim", None) == 0 and hasattr(thing, "item"):  # torch's and numpy's numbers
        return _plain(thing.item())
    kind = type(thing)
    raise TypeError(
        kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    )


def decode_plain(tensor: Tensor) -> Any:
    """Return the plain data that `encode_plain` wrote.

    Raises:
        ValueError: it is no such tensor.
    """
    if tensor.dtype != torch.uint8 or tensor.dim() != 1:
        raise ValueError("no text")
    try:
        return json.loads(bytes(tensor.tolist()))
    except RecursionError as error:
        raise ValueError("a text too deep") from error


def show(thing: Any, at_most: int = 240) -> str:
    """Return plain data, or a tensor of its bytes, as code shows it; cut if it is long."""
    if isinstance(thing, Tensor):
        try:
            thing = decode_plain(thing)
        except ValueError:
            return "(unreadable)"
    text = repr(thing)
    return text if len(text) <= at_most else f"{text[:at_most]} ..."
