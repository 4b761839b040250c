"""Packs a model's weights, and ids, as text that the explorers unpack in the page."""

from __future__ import annotations

import base64
import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

# One character for each level of a weight, lowest first; none that JSON or HTML would escape.
ALPHABET = "".join(chr(i) for i in range(33, 127) if chr(i) not in "\"&'<>\\`")
MOST = len(ALPHABET)  # 87 levels
_MIDDLE = MOST // 2
_FIRST = 0x100  # the character of id 0; from here on none is a control character

Packed = dict[str, dict[str, Any]]
AnyModule = TypeVar("AnyModule", bound=nn.Module)


def pack(module: nn.Module, levels: int | None = None) -> Packed:
    """Return the parameters and buffers of a module as JSON that engine.js reads.

    Without `levels`, every number is float16: 11 bits, in 2.7 characters. With `levels`, a number
    of a matrix is one character: one of equally spaced levels from -s to s, where s is the largest
    absolute value of its row, so that the error is at most s / (levels - 1). HTTP compression needs
    less than a byte for it, because most weights are small and some characters are therefore far
    more frequent than others. Vectors are always float16.

    Args:
        module: a module on any device whose state consists of float vectors and matrices.
        levels: an odd number from 3 to 87, or None.

    Returns:
        for each name of `module.state_dict()` its "shape" and either "halves", base64 of float16
        (little-endian, row after row), or "levels", a string, and "scales", base64 of one float16
        for each row; or "same", the name of an earlier entry that shares its memory (tied weights).

    Raises:
        ValueError: `levels` is out of range, a tensor is not a float vector or matrix, or a number
            is not finite or too large for float16.
    """
    return pack_tensors(module.state_dict(), levels)


def pack_tensors(tensors: Mapping[str, Tensor], levels: int | None = None) -> Packed:
    """Return named tensors as JSON that engine.js reads.

    Args:
        tensors: name -> float vector or matrix, on any device.
        levels: as in `pack`.

    Returns:
        as `pack`.

    Raises:
        ValueError: as in `pack`.
    """
    if levels is not None and not (3 <= levels <= MOST and levels % 2):
        raise ValueError(f"levels must be an odd number from 3 to {MOST}, not {levels}.")
    packed: Packed = {}
    seen: dict[tuple[int, torch.Size], str] = {}
    for name, value in tensors.items():
        key = (value.data_ptr(), value.shape)
        if key in seen:
            packed[name] = {"same": seen[key]}
            continue
        seen[key] = name
        if value.ndim not in (1, 2) or not value.is_floating_point():
            raise ValueError(f"{name} must be a vector or a matrix of floats.")
        numbers = value.detach().cpu().float()
        if not bool((numbers.abs() <= torch.finfo(torch.float16).max).all()):
            raise ValueError(f"{name} has values that float16 cannot represent.")
        if levels is None or value.ndim == 1:
            packed[name] = {"shape": list(value.shape), "halves": _halves(numbers)}
            continue
        top = levels // 2
        # Rounded before use, so that the levels match the scales that the browser receives.
        scales = (numbers.abs().amax(dim=1) / top).clamp(min=1e-7).half().float()  # (rows,)
        steps = (numbers / scales.unsqueeze(1)).round().clamp(-top, top).long()  # (rows, columns)
        packed[name] = {
            "shape": list(value.shape),
            "levels": "".join(ALPHABET[_MIDDLE + step] for step in steps.flatten().tolist()),
            "scales": _halves(scales),
        }
    return packed


def pack_ids(sentences: Iterable[Sequence[int]]) -> str:
    """Return the ids of sentences as a text for language_models.js, one character for each id.

    Sorted sentences compress better, and their order does not matter to a model that counts.

    Args:
        sentences: ids from 0 to 50,000, each sentence with the mark that ends it.

    Raises:
        ValueError: an id is out of range.
    """
    ids = [i for sentence in sorted(map(list, sentences)) for i in sentence]
    if ids and not 0 <= min(ids) <= max(ids) <= 50_000:
        raise ValueError("ids must be from 0 to 50,000.")
    return "".join(chr(_FIRST + i) for i in ids)


def unpack(packed: Mapping[str, Mapping[str, Any]]) -> dict[str, Tensor]:
    """Return the float32 tensors, by name, that engine.js decodes from the result of `pack`."""
    found: dict[str, Tensor] = {}
    for name, entry in packed.items():
        if "same" in entry:
            found[name] = found[entry["same"]]
        elif "levels" in entry:
            steps = torch.tensor([ALPHABET.index(character) for character in entry["levels"]])
            rows = (steps - _MIDDLE).float().reshape(entry["shape"])
            found[name] = rows * _floats(entry["scales"]).unsqueeze(1)
        else:
            found[name] = _floats(entry["halves"]).reshape(entry["shape"])
    return found


def as_packed(module: AnyModule, levels: int | None = None) -> AnyModule:
    """Return a copy of a module with the browser's weights, to measure the cost of packing.

    Args:
        module: as in `pack`.
        levels: as in `pack`.

    Raises:
        ValueError: as in `pack`.
    """
    other = copy.deepcopy(module)
    other.load_state_dict(unpack(pack(module, levels)))
    return other


def _halves(values: Tensor) -> str:
    return base64.b64encode(values.half().numpy().astype("<f2").tobytes()).decode()


def _floats(text: str) -> Tensor:
    return torch.frombuffer(bytearray(base64.b64decode(text)), dtype=torch.float16).float()
