"""Generates mutants of a solution: one operator, constant, call or argument changed.

A changed solution is a *mutant*. Mutants have two uses. The tests ask whether the check rejects
each of them; a mutant that passes reveals a missing case. And the check itself knows what each
mutant returns, so that it can say what is wrong with an answer that returns the same.
"""

from __future__ import annotations

import ast
import inspect
import re
import zlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import chain
from types import CodeType, ModuleType
from typing import Any

from autograder.instructor.mutation.change_phrases import (
    describe_keyword,
    describe_number,
    describe_order,
)
from autograder.instructor.mutation.diagnostic_operators import QUIET, list_diagnostic_mutations
from autograder.spec.exercise import Exercise

OPERATORS: dict[type, tuple[type, ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.Pow: (ast.Mult,),
    ast.MatMult: (ast.Mult,),
    ast.FloorDiv: (ast.Mod,),
    ast.Mod: (ast.FloorDiv,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq, ast.GtE),
    ast.NotEq: (ast.Eq, ast.Gt),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
NAMES = {  # each function, and what is called instead
    "tanh": "sigmoid",
    "sigmoid": "tanh",
    "relu": "tanh",
    "gelu": "relu",
    "logsigmoid": "sigmoid",
    "softmax": "sigmoid",
    "log_softmax": "softmax",
    "sum": "mean",
    "mean": "sum",
    "any": "all",
    "all": "any",
    "amax": "amin",
    "argmax": "argmin",
    "sin": "cos",
    "cos": "sin",
    "zeros": "ones",
    "zeros_like": "ones_like",
    "tril": "triu",
    "max": "min",
    "min": "max",
}
ACTIVATIONS = ("tanh", "sigmoid", "relu", "gelu")
WORDS = {"sum": "mean", "mean": "sum"}
LIBRARIES = {"torch", "F", "nn", "math", "self", "super"}
SYMMETRIC = {"transpose", "max", "min"}  # the order of their arguments does not matter
ON_THIS_MACHINE = {"device", "to", "cpu"}  # in the checks, all tensors are on the CPU


@dataclass(frozen=True)
class Mutation:
    """A place in a solution, and what replaces it.

    Attributes:
        where: the exercise, or its method or helper, that contains the place: "Seq2Seq.encode".
        before: the lines that differ, before the change.
        after: the same lines, after the change.
        phrase: the change in words, without code: "a minus sign is missing"; "" if there are none.
    """

    where: str
    before: str
    after: str
    phrase: str = ""

    @property
    def key(self) -> tuple[str, ...]:
        """Return a key without quotes and brackets, which versions of Python write differently."""
        parts = (self.where, self.before, self.after)
        return tuple(re.sub("[\"'() ]", "", part) for part in parts)

    @property
    def sampled(self) -> bool:
        """Tell whether the quick tests try this line; they try one in eight, always the same."""
        return zlib.crc32("".join(self.key[:2]).encode()) % 8 == 0


def generate_mutants(
    exercise: Exercise, diagnostic: bool = False
) -> Iterator[tuple[Mutation, CodeType]]:
    """Yield each mutation of an exercise's solution, with the compiled cell; no code occurs twice.

    Args:
        exercise: the exercise.
        diagnostic: also make the changes of `diagnostic_operators.py`, and change all identical
            places at once, for example where `forward` and `step` contain the same code.
    """
    module = load_solution_module(exercise)
    cell, solution = _find_cell(inspect.getsource(module), exercise.name)
    stub = _Stub(module, exercise, cell)
    _note_places(cell)
    seen = {ast.unparse(cell)}
    places = [
        place
        for place in _walk(cell, exercise.name)
        if getattr(place[1][place[2]], "lineno", 0) in solution
    ]
    twins = _pair(places) if diagnostic else [[place] for place in places]
    for group in twins:
        _, holder, key, statement, where = group[0]
        node = holder[key]
        before = ast.unparse(statement)
        changes = [_mutate_node(held[at], owner) for owner, held, at, _, _ in group]
        if diagnostic:
            changes = [
                chain(
                    usual,
                    list_diagnostic_mutations(held[at], owner, stub.names_in(within), stub.layers),
                )
                for usual, (owner, held, at, _, within) in zip(changes, group, strict=True)
            ]
        kept = [held[at] for _, held, at, _, _ in group]
        for others in zip(*changes, strict=False):
            other, phrase = others[0]
            for (_, held, at, _, _), (instead, _), old in zip(group, others, kept, strict=True):
                held[at] = ast.copy_location(instead, old)
            try:
                source = ast.unparse(ast.fix_missing_locations(cell))
                if source not in seen:
                    seen.add(source)
                    code = compile(cell, module.__file__ or "", "exec", dont_inherit=True)
                    after = ast.unparse(other if node is statement else statement)
                    inside = where if len({within for *_, within in group}) == 1 else exercise.name
                    phrase = stub.mention(phrase, node, other, statement, inside)
                    yield Mutation(where, *_compare(before, after), phrase), code
            except SyntaxError:
                continue
            finally:
                for (_, held, at, _, _), old in zip(group, kept, strict=True):
                    held[at] = old


def _pair(places: list[Place]) -> list[list[Place]]:
    """Return each place by itself, and then the groups of places that contain the same code."""
    alike: dict[tuple[str, str], list[Place]] = {}
    for place in places:
        owner, holder, key, *_ = place
        alike.setdefault((type(owner).__name__, ast.unparse(holder[key])), []).append(place)
    return [[place] for place in places] + [group for group in alike.values() if len(group) > 1]


def rebuild_with_helpers(exercise: Exercise, helpers: dict[str, Any]) -> Any:
    """Return the solution with some of the functions that it calls replaced."""
    module = load_solution_module(exercise)
    cell, _ = _find_cell(inspect.getsource(module), exercise.name)
    space = dict(vars(module)) | helpers
    exec(compile(cell, module.__file__ or "", "exec", dont_inherit=True), space)
    return space[exercise.name]


def list_helpers(exercise: Exercise, exercises: Collection[str]) -> list[str]:
    """Return the names of the other exercises' functions that a solution calls."""
    module = load_solution_module(exercise)
    cell, _ = _find_cell(inspect.getsource(module), exercise.name)
    called = {
        n.func.id
        for n in ast.walk(cell)
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
    }
    return sorted(called.intersection(exercises, vars(module)) - {exercise.name})


def load_solution_module(exercise: Exercise) -> ModuleType:
    """Return the module of a notebook's reference solutions."""
    return import_module(f"solutions.{exercise.assignment}.{exercise.notebook}.solution")


class _Stub:
    """Names that a student knows from the stub of an exercise."""

    def __init__(self, module: ModuleType, exercise: Exercise, cell: ast.Module):
        answer = getattr(module, exercise.name)
        self._text = inspect.getdoc(answer) or ""
        self._names = set(re.findall(r"`(\w+)`", self._text))
        self.layers = sorted(set(re.findall(r"`(\w+)[.`]", self._text)))
        for one in [answer, *vars(answer).values()] if exercise.is_class else [answer]:
            if inspect.isfunction(one) or one is answer:
                self._names |= set(inspect.signature(one).parameters)
                self._text += inspect.getdoc(one) or ""
        self._names -= {"self"}
        calls = [call.method for case in exercise.draw(1) for call in case.calls]
        methods = set(calls) if exercise.is_class else set()
        self._methods = methods if len(methods) > 1 else set()
        self._cell = cell

    @cache  # noqa: B019 - the object lives only while one exercise is mutated
    def names_in(self, where: str) -> tuple[str, ...]:
        """Return a function's parameters, and those of its variables that the stub computes."""
        found: set[str] = set()
        for node in ast.walk(self._cell):
            if isinstance(node, ast.FunctionDef) and node.name == where.rpartition(".")[2]:
                found |= {argument.arg for argument in node.args.args + node.args.kwonlyargs}
                stored = (n for n in ast.walk(node) if isinstance(n, ast.Name))
                found |= {
                    n.id for n in stored if isinstance(n.ctx, ast.Store) and self._computes(n.id)
                }
        return tuple(sorted(found - {"self"}))

    def _computes(self, name: str) -> bool:
        return bool(re.search(rf"(?<!\w){re.escape(name)}(_\w+)? =", self._text))

    def mention(
        self, phrase: str, node: ast.AST, other: ast.AST, statement: ast.stmt, where: str
    ) -> str:
        """Add to a phrase the names no longer used, the computed variable and the method."""
        if not phrase:
            return phrase
        if phrase.endswith(" missing") and not isinstance(node, ast.stmt):
            gone = (_used(node) - _used(other)) & self._names
            names = [f"`{name}`" for name in sorted(gone) if f"`{name}`" not in phrase]
            if 0 < len(names) <= 2:
                phrase = f"{phrase} ({' and '.join(names)})"
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)]):
                if self._computes(name):
                    phrase = f"{phrase} where `{name}` is computed"
        method = where.rpartition(".")[2]
        return f"in `{method}` {phrase}" if method in self._methods else phrase


def _used(node: ast.AST) -> set[str]:
    inside = list(ast.walk(node))
    return {n.id for n in inside if isinstance(n, ast.Name)} | {
        n.attr for n in inside if isinstance(n, ast.Attribute)
    }


def _find_cell(text: str, name: str) -> tuple[ast.Module, set[int]]:
    """Return the cell that defines an exercise, and the line numbers of its solution."""
    lines, tree = text.splitlines(), ast.parse(text)
    start = next(node.lineno for node in tree.body if getattr(node, "name", "") == name)
    heads = [i for i, line in enumerate(lines, 1) if line.startswith("# %%")] + [len(lines) + 1]
    first, last = max(i for i in heads if i < start), min(i for i in heads if i > start)
    solution: set[int] = set()
    begin = last
    for i in range(first, last):
        if "### BEGIN SOLUTION" in lines[i - 1]:
            begin = i
        if "### END SOLUTION" in lines[i - 1]:
            solution |= set(range(begin, i))
    return ast.Module([node for node in tree.body if first < node.lineno < last], []), solution


# Owner node, list or dict that holds the place, key in it, statement, and location.
Place = tuple[ast.AST, Any, Any, ast.stmt, str]


def _walk(cell: ast.Module, exercise: str) -> Iterator[Place]:
    """Yield all places inside definitions: owner, holder, key, statement and location."""
    passed_over = ("annotation", "returns", "exc", "ops", "op", "decorator_list", "keys")

    def below(node: ast.AST, statement: ast.stmt, where: str) -> Iterator[Any]:
        for field, value in ast.iter_fields(node):
            if field in passed_over:  # error messages among them
                continue
            holder: Any = value if isinstance(value, list) else vars(node)
            for key in range(len(value)) if isinstance(value, list) else [field]:
                inner = holder[key]
                match inner:
                    case ast.Expr(value=ast.Constant()):  # a docstring
                        continue
                    case ast.FunctionDef(name=name):
                        yield from below(inner, inner, f"{where}.{name}")
                    case ast.stmt():
                        yield node, holder, key, inner, where
                        yield from below(inner, inner, where)
                    case ast.AST():
                        yield node, holder, key, statement, where
                        yield from below(inner, statement, where)

    for node in cell.body:
        name = getattr(node, "name", exercise)
        yield from below(node, node, exercise if name == exercise else f"{exercise}.{name}")


Varied = Iterator[tuple[ast.AST, str]]

_MISSING: dict[type, str] = {
    ast.Add: "a term of a sum is missing",
    ast.Sub: "a term of a difference is missing",
    ast.Mult: "a factor is missing",
    ast.Div: "a division is missing",
    ast.MatMult: "a matrix product is missing",
    ast.Pow: "a power is missing",
    ast.FloorDiv: "a division is missing",
    ast.Mod: "a remainder is missing",
    ast.BitAnd: "one of two masks is missing",
    ast.BitOr: "one of two masks is missing",
}
_EXCHANGED: dict[tuple[type, type], str] = {
    (ast.Add, ast.Sub): "a plus is a minus",
    (ast.Sub, ast.Add): "a minus is a plus",
    (ast.Mult, ast.Div): "a multiplication is a division",
    (ast.Div, ast.Mult): "a division is a multiplication",
    (ast.Pow, ast.Mult): "a power is a product",
    (ast.MatMult, ast.Mult): "a matrix product is taken entry by entry",
    (ast.BitAnd, ast.BitOr): "two masks are joined by | in place of &",
    (ast.BitOr, ast.BitAnd): "two masks are joined by & in place of |",
}
_TURNED: dict[type, str] = {
    ast.Sub: "a difference has the wrong sign",
    ast.Div: "a fraction is upside down",
    ast.MatMult: "the factors of a matrix product are in the wrong order",
    ast.Pow: "base and exponent are exchanged",
}
_SIGNS: dict[type, str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_BOUNDARY = ({ast.Lt, ast.LtE}, {ast.Gt, ast.GtE})


def _mutate_node(node: ast.AST, owner: ast.AST) -> Varied:
    """Yield each replacement for a node, with a phrase that says what is different.

    Args:
        node: the node to replace.
        owner: the node that contains it.
    """
    match node:
        case ast.Constant(value=bool(value)):
            yield (
                ast.Constant(not value),
                describe_keyword(owner, "a True is a False, or the other way round"),
            )
        case ast.Constant(value=int(value)):
            for near in (value + 1, value - 1):
                yield ast.Constant(near), describe_number(node, owner, near > value)
        case ast.Constant(value=float(value)):
            for other in (value / 2, value + 1):
                yield ast.Constant(other), "a constant has another value"
        case ast.Constant(value=str(value)):
            yield ast.Constant(WORDS.get(value, "")), "a string is another"
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int())):
            pass  # -1 is mostly an axis; its 1 becomes 0 and 2
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            yield operand, "a minus sign is missing"
        case ast.UnaryOp(op=ast.Invert(), operand=operand):
            yield operand, "a mask is read the wrong way round"
        case ast.UnaryOp(operand=operand):
            yield operand, "a condition is the wrong way round"
        case ast.BinOp(left=left, op=op, right=right):
            yield left, _MISSING[type(op)]
            yield right, _MISSING[type(op)]
            for instead in OPERATORS[type(op)]:
                yield ast.BinOp(left, instead(), right), _EXCHANGED.get((type(op), instead), "")
            if not isinstance(op, (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr)):
                yield ast.BinOp(right, op, left), _TURNED.get(type(op), "")
        case ast.BoolOp(op=op, values=values):
            for instead in OPERATORS[type(op)]:
                yield ast.BoolOp(instead(), values), "an `and` is an `or`, or the other way round"
            yield from ((value, "a condition is missing") for value in values)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            for instead in OPERATORS[type(op)]:
                phrase = _ROUND
                if {type(op), instead} in _BOUNDARY:
                    strict = instead in (ast.Lt, ast.Gt)
                    what = "leaves out" if strict else "includes"
                    signs = f"`{_SIGNS[instead]}` where `{_SIGNS[type(op)]}` is right"
                    phrase = f"a comparison {what} its boundary ({signs})"
                yield ast.Compare(left, [instead()], [right]), phrase
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield from ((body, _CASES), (orelse, _CASES), (ast.IfExp(test, orelse, body), _ROUND))
        case ast.Attribute(value=value, attr="T"):
            yield value, "a matrix is not transposed"
        case ast.Attribute(value=value, attr=name, ctx=ctx) if name in NAMES:
            for called in _list_instead(name):
                yield ast.Attribute(value, called, ctx), f"`{called}` stands in place of `{name}`"
        case ast.Name(id=name, ctx=ctx) if name in NAMES:
            for called in _list_instead(name):
                yield ast.Name(called, ctx), f"`{called}` stands in place of `{name}`"
        case ast.Call():
            yield from _vary_call(node)
        case ast.Tuple(elts=members) | ast.List(elts=members):
            for swapped in _swap(members):
                yield type(node)(swapped, node.ctx), describe_order(owner)
        case ast.Dict(keys=keys, values=values):
            for i in range(len(keys)):
                fewer = ast.Dict(keys[:i] + keys[i + 1 :], values[:i] + values[i + 1 :])
                yield fewer, "an entry of a dict is missing"
        case ast.Slice(lower=lower, upper=upper, step=step):
            if lower:
                yield ast.Slice(None, upper, step), "a slice is not cut at its beginning"
                yield ast.Slice(_increment(lower), upper, step), "a slice begins one place too late"
            if upper:
                yield ast.Slice(lower, None, step), "a slice is not cut at its end"
                yield ast.Slice(lower, _increment(upper), step), "a slice ends one place too late"
        case ast.Subscript(value=value, ctx=ast.Load()):
            yield value, "an index or slice is missing"
        case ast.comprehension(target=target, iter=iterated, ifs=[_]):
            yield ast.comprehension(target, iterated, [], 0), "a condition is missing"
        case ast.If(test=test, body=body, orelse=orelse):
            yield ast.If(ast.UnaryOp(ast.Not(), test), body, orelse), _ROUND
            for always in (True, False):
                yield ast.If(ast.Constant(always), body, orelse), _CASES
    if isinstance(node, ast.stmt) and not isinstance(node, (ast.Return, ast.FunctionDef)):
        yield ast.Pass(), "a step is missing"


_ROUND = "a condition is the wrong way round"
_CASES = "a case distinction is missing"


def _list_instead(name: str) -> list[str]:
    """Return the functions that people call in place of the right one."""
    others = ACTIVATIONS if name in ACTIVATIONS else ()
    return list(dict.fromkeys(other for other in (NAMES[name], *others) if other != name))


def _note_places(cell: ast.AST) -> None:
    """Note on each keyword the function it is for, and on a number behind a minus its place."""
    for node in ast.walk(cell):
        if isinstance(node, ast.Call):
            for keyword in node.keywords:
                name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                vars(keyword)["called"] = "" if name in QUIET or name.startswith("_") else name
        for inner in ast.iter_child_nodes(node):
            if isinstance(inner, ast.UnaryOp) and isinstance(inner.operand, ast.Constant):
                vars(inner.operand)["place"] = node


def _vary_call(call: ast.Call) -> Varied:
    """Yield replacements for a call: its receiver or first argument, or other arguments."""
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    if name in ON_THIS_MACHINE:
        return
    quiet = name in QUIET or name.startswith("_")  # a private helper of the solution
    missing = "" if quiet else f"`{name}` is missing"
    if name in ("masked_fill", "where"):
        missing = "a mask is not applied"
    if isinstance(call.func, ast.Attribute) and getattr(call.func.value, "id", "") not in LIBRARIES:
        yield call.func.value, missing
    elif call.args:
        yield call.args[0], missing
    if name not in SYMMETRIC:
        for swapped in _swap(call.args):
            phrase = "" if quiet else f"two arguments of `{name}` are exchanged"
            yield ast.Call(call.func, swapped, call.keywords), phrase
    if name == "range":
        for i, bound in enumerate(call.args):
            for op in (ast.Add(), ast.Sub()):
                moved = ast.BinOp(bound, op, ast.Constant(1))
                others = [*call.args[:i], moved, *call.args[i + 1 :]]
                yield ast.Call(call.func, others, []), "a loop makes one step too many or too few"
    for i, keyword in enumerate(call.keywords):
        if keyword.arg not in ON_THIS_MACHINE:
            kept = call.keywords[:i] + call.keywords[i + 1 :]
            yield ast.Call(call.func, call.args, kept), f"`{keyword.arg}=` of `{name}` is not set"


def _swap(members: list[ast.expr]) -> Iterator[list[ast.expr]]:
    for i in range(len(members) - 1):
        yield [*members[:i], members[i + 1], members[i], *members[i + 2 :]]


def _increment(bound: ast.expr) -> ast.expr:
    return ast.BinOp(bound, ast.Add(), ast.Constant(1))


def _compare(before: str, after: str) -> tuple[str, str]:
    """Return the lines in which two texts differ."""
    old, new = before.splitlines(), after.splitlines()
    while len(old) > 1 and len(new) > 1 and old[0] == new[0]:
        del old[0], new[0]
    while len(old) > 1 and len(new) > 1 and old[-1] == new[-1]:
        del old[-1], new[-1]
    return "; ".join(map(str.strip, old)), "; ".join(map(str.strip, new))
