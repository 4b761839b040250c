"""Sends frames of JSON and safetensors over a socket, and validates what arrives.

A frame consists of two lengths of four bytes, a JSON object and the bytes of a safetensors file (or
none). Nothing is ever unpickled. The reader trusts nothing: sizes are capped before memory is
allocated, and every value is rebuilt as an exact plain type.
"""

from __future__ import annotations

import json
import socket
import struct
import time
from collections.abc import Mapping
from typing import Any

import torch
from safetensors.torch import load, save
from torch import Tensor

_LENGTHS = struct.Struct(">II")
HEADER_AT_MOST = 8 << 20
PAYLOAD_AT_MOST = 64 << 20

# The dtypes that an outcome may contain: real types that a check can judge.
PLAIN_DTYPES = (
    torch.float64,
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.int64,
    torch.int32,
    torch.int16,
    torch.int8,
    torch.uint8,
    torch.bool,
)


class ProtocolError(Exception):
    """Raised when received data is not a frame or is too large."""


class ReceiveTimeout(Exception):
    """Raised when nothing arrives in time."""


def encode_frame(header: Mapping[str, Any], tensors: Mapping[str, Tensor] | None = None) -> bytes:
    """Return the bytes of a frame."""
    text = json.dumps(header, ensure_ascii=False).encode("utf-8", "replace")
    payload = save({name: t.contiguous() for name, t in tensors.items()}) if tensors else b""
    return _LENGTHS.pack(len(text), len(payload)) + text + payload


class Channel:
    """One end of a socket that carries frames.

    Args:
        connection: a connected stream socket.
        at_most: total number of bytes to read before the other side counts as broken.
    """

    def __init__(self, connection: socket.socket, at_most: int | None = None):
        self._socket = connection
        self._left = at_most

    def send(self, header: Mapping[str, Any], tensors: Mapping[str, Tensor] | None = None) -> None:
        """Send a frame."""
        self._socket.sendall(encode_frame(header, tensors))

    def receive(
        self, until: float | None = None
    ) -> tuple[dict[str, Any], dict[str, Tensor]] | None:
        """Return the next frame, or None if the connection has ended.

        Args:
            until: value of `time.monotonic()` at which to give up.

        Raises:
            ProtocolError: if the received data is not a frame.
            ReceiveTimeout: if the frame does not arrive in time.
        """
        start = self._read(_LENGTHS.size, until, may_end=True)
        if start is None:
            return None
        header_size, payload_size = _LENGTHS.unpack(start)
        if header_size > HEADER_AT_MOST or payload_size > PAYLOAD_AT_MOST:
            raise ProtocolError("a frame is too large")
        text = self._read(header_size, until)
        payload = self._read(payload_size, until) if payload_size else b""
        assert text is not None and payload is not None
        return _object(text), _tensors(payload)

    def _read(self, size: int, until: float | None, may_end: bool = False) -> bytes | None:
        if self._left is not None:
            self._left -= size
            if self._left < 0:
                raise ProtocolError("too much was sent")
        parts, missing = [], size
        while missing:
            if until is not None:
                left = until - time.monotonic()
                if left <= 0:
                    raise ReceiveTimeout
                self._socket.settimeout(left)
            try:
                part = self._socket.recv(min(missing, 1 << 20))
            except TimeoutError as error:
                raise ReceiveTimeout from error
            except OSError as error:
                raise ProtocolError(f"the connection broke: {error}") from error
            if not part:
                if may_end and missing == size:
                    return None
                raise ProtocolError("the connection ended in the middle of a frame")
            parts.append(part)
            missing -= len(part)
        return b"".join(parts)


def _object(text: bytes) -> dict[str, Any]:
    try:
        header = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ProtocolError("a frame holds no JSON") from error
    if type(header) is not dict:
        raise ProtocolError("a frame holds no JSON object")
    return header


def _tensors(payload: bytes) -> dict[str, Tensor]:
    if not payload:
        return {}
    try:
        tensors = load(payload)
    except Exception as error:  # safetensors has a separate class for each kind of error
        raise ProtocolError("a frame holds no tensors") from error
    if any(tensor.dtype not in PLAIN_DTYPES for tensor in tensors.values()):
        raise ProtocolError("a frame holds tensors of a strange type")
    return tensors


def to_plain_text(thing: Any, at_most: int) -> str:
    """Return a string as a plain str of at most `at_most` characters, or "" for anything else.

    Lone surrogates, which files and databases reject, become question marks.
    """
    if not isinstance(thing, str):
        return ""
    return str(thing)[:at_most].encode("utf-8", "replace").decode("utf-8").replace("\0", "")
