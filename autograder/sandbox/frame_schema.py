"""Validates the frames that come out of the sandbox against a JSON schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import fastjsonschema
from torch import Tensor

from autograder.sandbox.framing import ProtocolError
from autograder.sandbox.serialization import (
    DTYPES,
    KINDS,
    NUMBERS_AT_MOST,
    PRINTED_AT_MOST,
    SENTENCE_AT_MOST,
)

_TRUE = {"const": True}
_INDEX = {"type": "integer", "minimum": 0, "maximum": 1 << 31}


def _text(at_most: int) -> dict[str, Any]:
    return {"type": "string", "maxLength": at_most}


def _list(of: Mapping[str, Any], at_most: int) -> dict[str, Any]:
    return {"type": "array", "items": of, "maxItems": at_most}


def _object(**members: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": members,
        "required": list(members),
        "additionalProperties": False,
    }


_PROBLEM = {
    "type": "array",
    "items": [{"enum": sorted(KINDS)}, _text(SENTENCE_AT_MOST)],
    "minItems": 2,
    "maxItems": 2,
}
_OUTCOME = _object(
    case=_INDEX,
    dtype={"enum": list(DTYPES)},
    problem={"anyOf": [{"type": "null"}, _PROBLEM]},
    changed=_list(_text(200), 1_000),
    printed=_text(PRINTED_AT_MOST),
)
FRAME = {
    "anyOf": [
        _object(ready=_TRUE),
        _object(end=_TRUE),
        _object(at=_INDEX),
        # The outputs of a cell are sanitized elsewhere.
        _object(cell=_INDEX, outputs=_list({"type": "object"}, 10_000)),
        _object(exercise=_INDEX, answer={"const": "missing"}),
        _object(exercise=_INDEX, answer={"const": "unusable"}, sentence=_text(SENTENCE_AT_MOST)),
        _object(exercise=_INDEX, answer={"const": "tried"}, outcomes=_list(_OUTCOME, 10_000)),
    ]
}
_fits = fastjsonschema.compile(FRAME)


def check_frame(
    header: Mapping[str, Any], tensors: Mapping[str, Tensor], cells: Mapping[int, int | None]
) -> None:
    """Validate a frame against the schema and the cells that are run.

    Args:
        header: header of the frame.
        tensors: tensors of the frame.
        cells: for each cell that is run, by index, the number of its cases if it is an exercise,
            else None.

    Raises:
        ProtocolError: if the frame is not valid.
    """
    try:
        _fits(header)
    except fastjsonschema.JsonSchemaException as error:
        raise ProtocolError("a frame of no known form") from error
    about = next((header[kind] for kind in ("at", "cell", "exercise") if kind in header), None)
    if about is not None and about not in cells:
        raise ProtocolError("a frame about a cell that is not run")
    count = cells[about] if about is not None else None
    if ("exercise" in header and count is None) or ("cell" in header and count is not None):
        raise ProtocolError("a frame about an exercise that is none, or the other way round")
    if any(entry["case"] >= (count or 0) for entry in header.get("outcomes", ())):
        raise ProtocolError("a frame about a case that there is not")
    if any(tensor.numel() > NUMBERS_AT_MOST for tensor in tensors.values()):
        raise ProtocolError("a frame with a tensor that is far too large")
