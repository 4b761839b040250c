"""Mutation operators for diagnosis only: extra steps, swapped operands, different loops.

People make these mistakes as well as the one-place changes of `operators.py`. The operators in that
module ask whether the check notices a change; these only help to say what a rejected answer has
done.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

# Functions that an answer calls and that are not steps of the computation.
QUIET = {"unsqueeze", "squeeze", "expand", "reshape", "view", "contiguous", "item", "list", "tuple"}
# Superfluous steps, and the code for each.
_ACTIVATIONS = {
    "a `tanh` too many": "torch.tanh({})",
    "a `sigmoid` too many": "torch.sigmoid({})",
    "a `relu` too many": "torch.relu({})",
    "a `softmax` too many": "torch.softmax({}, dim=-1)",
    "a normalisation to length 1 too many": "torch.nn.functional.normalize({}, dim=-1)",
}
_STEPS = {
    **_ACTIVATIONS,
    "a layer normalisation too many": "torch.nn.functional.layer_norm({0}, ({0}).shape[-1:])",
    "an absolute value too many": "torch.abs({})",
    "an `exp` too many": "torch.exp({})",
    "a `log` too many": "torch.log({})",
    "a square too many": "({}) ** 2",
    "a 1 too many added": "({}) + 1",
    "a reversal of the second axis too many": "({}).flip(1)",
    "a reversal of the last axis too many": "({}).flip(-1)",
    "a mean over the second axis too many": "({0}).mean(1, keepdim=True).expand_as({0})",
    "a shift by one position too many, zeros in front": (
        "torch.cat([torch.zeros_like(({0})[:, :1]), ({0})[:, :-1]], dim=1)"
    ),
}
_COMPUTED = (ast.Call, ast.BinOp, ast.Name, ast.Subscript, ast.Attribute)
_UNARY = (
    "sum",
    "mean",
    "tanh",
    "sigmoid",
    "relu",
    "softmax",
    "exp",
    "log",
    "sqrt",
    "square",
    "abs",
)


def list_diagnostic_mutations(
    node: ast.AST, owner: ast.AST, names: Collection[str], layers: Collection[str]
) -> Iterator[tuple[ast.AST, str]]:
    """Yield each replacement for a node, with a phrase that says what is different.

    Args:
        node: the node to replace.
        owner: the node that contains it.
        names: the parameters, and the variables that the stub names.
        layers: the attributes of `self` that the stub names.
    """
    steps: dict[str, str] = {}
    if isinstance(getattr(node, "ctx", None), ast.Store):
        return
    if isinstance(node, _COMPUTED):
        if isinstance(owner, (ast.Assign, ast.Return)):
            steps = _STEPS
        elif isinstance(owner, ast.Call) and node in owner.args:
            steps = _ACTIVATIONS
    text = ast.unparse(node) if steps or isinstance(owner, ast.Return) else ""
    where = _say_where(node, owner)
    for phrase, step in steps.items():
        yield _read(step.format(text)), f"there is {phrase}{where}"
    if text and "lengths" in names:
        ordered = _read(f"({text})[lengths.argsort(descending=True)]")
        yield ordered, "the rows are sorted by length, and not put back into their order"
    if text and isinstance(owner, ast.Return):
        for name in names:
            yield _read(f"({text}) + {name}"), f"`{name}` is added to the result"
            yield _read(f"({text}) * {name}"), f"the result is multiplied by `{name}`"
    match node:
        case ast.Name(id=name, ctx=ast.Load()) if name in names:
            of_size = isinstance(owner, ast.Attribute) and owner.attr == "shape"
            what = ("the size of `{}`", "that of `{}`") if of_size else ("`{}`", "`{}`")
            for other in names:
                if other != name:
                    phrase = f"{what[0].format(other)} stands in place of {what[1].format(name)}"
                    yield ast.Name(other, ast.Load()), phrase
        case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Load()) if name in layers:
            for other in layers:
                if other != name:
                    swapped = ast.Attribute(ast.Name("self", ast.Load()), other, ast.Load())
                    yield swapped, f"`{other}` stands in place of `{name}`"
        case ast.Attribute(value=matrix, attr="T", ctx=ast.Load()):
            whole = ast.unparse(matrix)
            turned = _read(f"({whole}).reshape(({whole}).shape[::-1])")
            yield turned, "a matrix is reshaped where it must be transposed"
        case ast.For(target=target, iter=iterated, body=body):
            for members, phrase in _list_loops(ast.unparse(iterated)):
                yield ast.For(target, members, body, [], lineno=node.lineno), phrase
        case ast.Call(func=ast.Attribute(value=inner, attr=outer_name), args=outer, keywords=more):
            yield from _exchange_calls(inner, outer_name, outer, more)


def _say_where(node: ast.AST, owner: ast.AST) -> str:
    """Return a phrase that locates a step, or "" if no name near it is known to a student."""
    match owner, node:
        case ast.Return(), _:
            return " around the result"
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)), _:
            return "" if _is_quiet(name) else f" around what goes into `{name}`"
        case _, ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
            return "" if _is_quiet(name) else f" around what `{name}` gives"
    return ""


def _is_quiet(name: str) -> bool:
    return name in QUIET or name.startswith("_")  # a private helper of the solution


def _exchange_calls(
    inner: ast.expr, name: str, arguments: list[ast.expr], keywords: list[ast.keyword]
) -> Iterator[tuple[ast.AST, str]]:
    """Yield x.g().f() for x.f().g()."""
    match inner:
        case ast.Call(func=ast.Attribute(value=base, attr=first), args=args, keywords=kept):
            if first in _UNARY or name in _UNARY:
                early = ast.Call(ast.Attribute(base, name, ast.Load()), arguments, keywords)
                late = ast.Call(ast.Attribute(early, first, ast.Load()), args, kept)
                yield late, f"`{name}` comes before `{first}`"
        case ast.BinOp(left=base, op=ast.Pow(), right=power):
            early = ast.Call(ast.Attribute(base, name, ast.Load()), arguments, keywords)
            yield ast.BinOp(early, ast.Pow(), power), f"`{name}` comes before the power"


def _list_loops(members: str) -> Iterator[tuple[ast.expr, str]]:
    """Yield other iterables for a loop, each with a phrase that says what is different."""
    yield _read(f"list({members})[:1]"), "a loop takes its first step only"
    yield _read(f"list({members})[:-1]"), "a loop leaves out its last step"
    yield _read(f"list({members})[1:]"), "a loop leaves out its first step"
    yield _read(f"list({members})[::-1]"), "a loop goes through its members backwards"
    yield (
        _read(f"list({members})[:1] * len(list({members}))"),
        "a loop takes its first member in every step",
    )


def _read(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body
