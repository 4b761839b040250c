"""Converts what a call returned to tensors, or explains what it should have returned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor

from autograder.run.guarded_call import CaseError
from autograder.spec import byte_codec
from autograder.spec.exercise import (
    Call,
    NamedDict,
    NameTree,
    format_name_tree,
    list_members,
    list_names,
)


def keep_named_dicts(returned: Any, wanted: NameTree) -> dict[str, Any]:
    """Return the `NamedDict`s among the results, by name, exactly as the answer returned them."""
    if isinstance(wanted, str):
        return {}
    kept: dict[str, Any] = {}
    if isinstance(wanted, NamedDict):
        kept[wanted.name], wanted = returned, wanted.members
    keys = list(wanted) if isinstance(wanted, Mapping) else range(len(list_members(wanted)))
    for key, part in zip(keys, list_members(wanted), strict=True):
        kept |= keep_named_dicts(returned[key], part)
    return kept


def convert_to_tensors(
    returned: Any, call: Call, shown: str, dtype: torch.dtype
) -> tuple[Tensor, ...]:
    """Return what a call returned as tensors, in the order of the call's names.

    Args:
        returned: what the call returned.
        call: the call.
        shown: name of the called function in messages.
        dtype: dtype for results that are plain numbers.

    Raises:
        CaseError: if the call returned something other than it must.
    """
    if returned is None:
        raise CaseError("returned", f"{shown} returned None; does it end in a return statement?")
    wanted = call.result
    members = tuple(_members(returned, wanted, call, shown, dtype))
    for name, member in zip(list_names(wanted), members, strict=True):
        if not isinstance(member, Tensor):
            raise CaseError(
                "returned",
                f"{shown} must return {name} as a torch.Tensor; it returned a "
                f"{_type_name(member)}.",
            )
    return members


def _members(
    returned: Any, wanted: NameTree, call: Call, shown: str, dtype: torch.dtype
) -> Iterator[Any]:
    """Yield the returned values in the order of the names, with plain numbers as tensors."""
    if isinstance(wanted, str):
        number = wanted in call.numbers and isinstance(returned, (int, float))
        if wanted in call.non_tensors:
            yield _pack_plain(returned, wanted, call, shown)
        else:
            yield torch.tensor(returned, dtype=dtype) if number else returned
        return
    if isinstance(wanted, NamedDict):
        wanted = wanted.members
    if isinstance(wanted, Mapping):
        if not isinstance(returned, dict) or not returned.keys() >= wanted.keys():
            said = " and ".join(", ".join(map(repr, wanted)).rsplit(", ", 1))
            got = f"a {_type_name(returned)}"
            if isinstance(returned, dict):
                got = f"one with {', '.join(map(repr, returned)) or 'nothing'}"
            raise CaseError("returned", f"{shown} must return a dict with {said}, not {got}.")
        for key, part in wanted.items():
            yield from _members(returned[key], part, call, f"{shown}, under {key!r},", dtype)
        return
    parts = list_members(wanted)
    if not (isinstance(returned, (tuple, list)) and len(returned) == len(parts)):
        got = (
            f"{len(returned)} thing{'' if len(returned) == 1 else 's'}"
            if isinstance(returned, (tuple, list))
            else f"one {_type_name(returned)}"
        )
        nested = not all(isinstance(part, str) for part in parts)
        things = format_name_tree(wanted) if nested else ", ".join(list_names(wanted))
        if not list_names(wanted):  # only their number is compared
            raise CaseError(
                "returned", f"{shown} must return {len(parts)} of these; it returned {got}."
            )
        raise CaseError(
            "returned", f"{shown} must return {len(parts)} tensors: {things}; it returned {got}."
        )
    for member, part in zip(returned, parts, strict=True):
        yield from _members(member, part, call, shown, dtype)


def _pack_plain(returned: Any, name: str, call: Call, shown: str) -> Tensor:
    try:
        return byte_codec.encode_plain(returned)
    except TypeError as error:
        inside = isinstance(returned, (list, tuple))
        got = f"a {_type_name(returned)}{f' that holds a {error}' if inside else ''}"
        raise CaseError(
            "returned",
            f"{shown} must return {name} as {call.non_tensors[name]}; it returned {got}.",
        ) from error


def _type_name(thing: Any) -> str:
    kind = type(thing)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
