"""Collects the identifiers in an answer's code, and filters out hints that name others.

"There is a `relu` too many around what goes into `full_like`" is true of the solution's code, but
meaningless to a student who wrote neither.
"""

from __future__ import annotations

import dis
import inspect
import re
from collections.abc import Container, Iterator
from types import CodeType, FunctionType
from typing import Any


def collect_identifiers(answer: Any) -> frozenset[str]:
    """Return the names used in the code of a function or class and its helpers.

    Names are in lower case and include their parts: code that calls `masked_softmax` also has
    "softmax".
    """
    found = {name.lower() for name in _names(answer, set())}
    return frozenset(found.union(*(name.split("_") for name in found)))


def find_used_globals(answer: Any, names: Container[str]) -> dict[str, Any]:
    """Return the global functions and classes, of the given names, that an answer's code uses."""
    functions: list[Any] = list(vars(answer).values()) if isinstance(answer, type) else [answer]
    found = {}
    for function in functions:
        function = inspect.unwrap(function) if callable(function) else function
        if isinstance(function, FunctionType):
            for name in _list_globals(function.__code__):
                thing = function.__globals__.get(name)
                if name in names and callable(thing) and thing is not answer:
                    found[name] = thing
    return found


def _list_globals(code: CodeType) -> Iterator[str]:
    for instruction in dis.get_instructions(code):
        if instruction.opname == "LOAD_GLOBAL":
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _list_globals(constant)


def mentions_only_known_names(phrase: str, names: frozenset[str]) -> bool:
    """Return whether a phrase is about names that an answer has.

    For "`a` in place of `b`", the answer must have `a`. For "too many", it must have all names in
    the phrase. It need not have what the phrase says is missing.
    """
    quoted = re.findall(r"`([^`]+)`", phrase)
    if "in place of" in phrase:
        quoted = quoted[:1]
    elif "too many" not in phrase:
        return True
    return all(set(re.findall(r"[^\W\d]\w*", name.lower())) <= names for name in quoted)


def _names(thing: Any, seen: set[int]) -> Iterator[str]:
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, type):
        for owner in thing.__mro__:
            if owner.__module__ == thing.__module__:
                for name, member in vars(owner).items():
                    yield name
                    yield from _names(member, seen)
    elif isinstance(thing, FunctionType):
        yield from _names(thing.__code__, seen)
        for name in thing.__code__.co_names:
            helper = thing.__globals__.get(name)
            if getattr(helper, "__module__", None) == thing.__module__:
                yield from _names(helper, seen)
    elif isinstance(thing, CodeType):
        yield from (*thing.co_names, *thing.co_varnames, *thing.co_freevars)
        for constant in thing.co_consts:
            yield from _names(constant, seen)
