"""Phrases for a student about a changed number, keyword or order in a mutant."""

from __future__ import annotations

import ast

from autograder.instructor.mutation.diagnostic_operators import QUIET

# Functions whose numbers are axes, and what they do with them.
_ALONG = {
    *("sum", "mean", "any", "all", "amax", "amin", "max", "min", "argmax", "softmax"),
    *("log_softmax", "cumsum", "cat", "flip", "roll", "norm", "chunk", "split", "gather", "sort"),
}
_AT_AXIS = {"unsqueeze", "squeeze", "stack", "unflatten", "flatten", "size", "select", "expand"}
_MOVE_AXES = {"transpose", "permute", "movedim"}


def describe_number(node: ast.Constant, owner: ast.AST, larger: bool) -> str:
    """Return a phrase about a number that is one larger or smaller than in the solution."""
    size = "large" if larger else "small"
    # The 1 of -1 becomes 2 or 0: the axis or index moves the other way.
    signed = isinstance(owner, ast.UnaryOp)
    place = vars(node).get("place", owner) if signed else owner
    match place:
        case ast.Slice(lower=lower) if lower is node:
            return f"a slice begins one place too {'late' if larger else 'early'}"
        case ast.Slice():
            return "a slice ends at another place"
        case ast.Subscript() | ast.Tuple():
            return f"an index is {'another' if signed else f'one too {size}'}"
        case ast.BinOp(op=ast.Add() | ast.Sub()):
            return f"a number that is added or subtracted is one too {size}"
        case ast.BinOp():
            return "a constant has another value"
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
            if name in _ALONG:
                return f"`{name}` runs along another axis"
            if name in _MOVE_AXES:
                return f"`{name}` exchanges other axes"
            if name in _AT_AXIS:
                return f"`{name}` acts at another axis"
            if name in QUIET or name.startswith("_"):
                return "a size or an axis has another value"
            return f"a number given to `{name}` is one too {size}"
    return describe_keyword(place, f"a number is one too {size}")


def describe_keyword(owner: ast.AST, otherwise: str) -> str:
    """Return a phrase about a keyword with another value, or `otherwise` for no keyword."""
    called = vars(owner).get("called", "")
    match owner:
        case ast.keyword(arg="dim"):
            return f"{f'`{called}`' if called else 'an operation'} runs along another axis"
        case ast.keyword(arg=str(name)):
            return f"`{name}=` has another value"
    return otherwise


def describe_order(owner: ast.AST) -> str:
    """Return a phrase about two neighbours of a tuple or list that have changed places."""
    match owner:
        case ast.Subscript():
            return "the two axes of an index have changed places"
        case ast.Return():
            return "two results are returned in the wrong order"
        case ast.Call(func=ast.Attribute(attr="cat" | "stack" as name)):
            return f"`{name}` joins its parts in the wrong order"
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)) if name not in QUIET:
            return f"two things that `{name}` is given are in the wrong order"
        case ast.Assign():
            return "two variables are assigned in the wrong order"
    return "two neighbours in a tuple or list have changed places"
