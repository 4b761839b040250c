"""Brings an answer into a form in which only what it does shows, statement by statement.

Comments, docstrings, layout, imports, type hints and the heads of functions and classes are left
out. Names that the answer itself gives to things are marked, so that a reader of the tokens may
treat them as interchangeable; names of the library, and those that were handed out, stay.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import re
import warnings
from collections.abc import Iterator

CHOSEN = "\N{MICRO SIGN}"
"""Before a token that is a name which the answer chose."""

LONGEST = 40_000
"""So many characters of an answer are read; nobody writes more by hand."""

_TEXT = "\N{SECTION SIGN}"  # in place of a string
_EINSUM = re.compile(r"[A-Za-z.,\s]+->[A-Za-z.\s]*")
_TOKEN = re.compile(
    rf"{CHOSEN}?[^\W\d]\w*|{_TEXT}\d*|\d[\w.]*|\.\d\w*|\*\*=?|//=?|<<=?|>>=?|->|[=!<>:+\-*/%&|^@]=|\S"
)
_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
_MAGIC = re.compile(r"^[ \t]*[%!].*$", re.MULTILINE)


def statements(text: str, given: frozenset[str] = frozenset()) -> list[list[str]]:
    """Return the tokens of each statement of an answer; a loop's or a branch's head is one.

    Args:
        text: Python; what does not parse is read as far as its tokens can be made out.
        given: names of attributes and methods that were handed out, and so are nobody's choice.
    """
    text = _MAGIC.sub("", text[:LONGEST])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the student's code: invalid escapes and such
            tree = ast.parse(text)
        tree = _Marked(tree, given).visit(tree)
        return [_TOKEN.findall(line) for line in _lines(tree.body)]
    except _UNREADABLE:
        return _by_tokens(text)


def attributes(text: str) -> frozenset[str]:
    """Return the names of the attributes and methods in a text, none if it does not parse."""
    try:
        tree = ast.parse(text)
    except _UNREADABLE:
        return frozenset()
    return frozenset(_set_on_self(tree))


# What parses


def _set_on_self(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            functions = (ast.FunctionDef, ast.AsyncFunctionDef)
            methods = [child.name for child in node.body if isinstance(child, functions)]
            yield from (name for name in methods if not name.startswith("__"))  # Python's choice
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def _chosen(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name


class _Marked(ast.NodeTransformer):
    """Marks the chosen names, spells out what imports abbreviate, and forgets strings."""

    def __init__(self, tree: ast.AST, given: frozenset[str]) -> None:
        self.names = set(_chosen(tree))
        self.attributes = set(_set_on_self(tree)) - given
        self.imported = {
            alias.asname or alias.name: alias.name.rpartition(".")[2]
            for node in ast.walk(tree)
            if isinstance(node, (ast.Import, ast.ImportFrom))
            for alias in node.names
        }

    def visit_Name(self, node: ast.Name) -> ast.Name:
        if node.id in self.names:
            node.id = CHOSEN + node.id
        else:
            node.id = self.imported.get(node.id, node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        return ast.arg(CHOSEN + node.arg)

    def visit_keyword(self, node: ast.keyword) -> ast.keyword:
        if node.arg in self.names:
            node.arg = CHOSEN + node.arg
        self.generic_visit(node)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.Attribute:
        if node.attr in self.attributes:
            node.attr = CHOSEN + node.attr
        self.generic_visit(node)
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if isinstance(node.value, str):
            return ast.Name(_string(node.value), ast.Load())
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        return ast.Name(_TEXT, ast.Load())


def _string(value: str) -> str:
    """Return what stands for a string: of an einsum, its pattern with the letters renamed."""
    if not _EINSUM.fullmatch(value):
        return _TEXT
    seen: dict[str, int] = {}
    return " ".join(
        f"{_TEXT}{seen.setdefault(character, len(seen))}" if character.isalpha() else character
        for character in value.replace("->", "→")
        if not character.isspace()
    )


def _lines(body: list[ast.stmt]) -> Iterator[str]:
    for statement in body:
        yield from _head(statement)
        for field in ("body", "handlers", "cases", "orelse", "finalbody"):
            for child in getattr(statement, field, []):
                yield from _lines([child] if isinstance(child, ast.stmt) else child.body)


def _head(statement: ast.stmt) -> Iterator[str]:
    """Yield the statement, or the head of one that has others in it."""
    match statement:
        case ast.If(test=test):
            yield f"if {ast.unparse(test)}"
        case ast.While(test=test):
            yield f"while {ast.unparse(test)}"
        case ast.For(target=target, iter=over) | ast.AsyncFor(target=target, iter=over):
            yield f"for {ast.unparse(target)} in {ast.unparse(over)}"
        case ast.With(items=items) | ast.AsyncWith(items=items):
            yield f"with {', '.join(map(ast.unparse, items))}"
        case ast.Match(subject=subject):
            yield f"match {ast.unparse(subject)}"
        case ast.AnnAssign(target=target, value=value):
            if value is not None:
                yield f"{ast.unparse(target)} = {ast.unparse(value)}"
        case ast.Expr(value=ast.Constant() | ast.Name()):
            pass  # a docstring
        case ast.Import() | ast.ImportFrom() | ast.Pass() | ast.Global() | ast.Nonlocal():
            pass
        case _ if not hasattr(statement, "body"):
            yield ast.unparse(statement)


# What does not

_PIECE = re.compile(
    r"(?P<text>[rbfuRBFU]{0,2}(?:'''.*?'''|\"\"\".*?\"\"\"|'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"))"
    r"|(?P<skip>\#[^\n]*|\\\n|[^\S\n]+)"
    rf"|(?P<token>\n|{_TOKEN.pattern})",
    re.DOTALL,
)
_HEADS = frozenset(
    {"import", "from", "def", "class", "@", "pass", "global", "nonlocal"}
    | {"try", "except", "else", "finally"}
)
_KNOWN = frozenset(dir(builtins)) | frozenset(keyword.kwlist)


def _by_tokens(text: str) -> list[list[str]]:
    found: list[list[str]] = [[]]
    depth = 0
    for piece in _PIECE.finditer(text):
        if piece["skip"] is not None:
            continue
        if piece["text"] is not None:
            value = piece["text"].lstrip("rbfuRBFU").strip("'\"")
            found[-1] += _string(value).split(" ")
            continue
        token = piece["token"]
        if token in "([{":
            depth += 1
        elif token in ")]}":
            depth = max(depth - 1, 0)
        if token == ";" or (token == "\n" and not depth):
            found.append([])
        elif token != "\n":
            found[-1].append(token)
    names = {
        short: full
        for statement in found
        for full, word, short in zip(statement, statement[1:], statement[2:], strict=False)
        if statement[0] in ("import", "from") and word == "as"
    }
    names |= {name: CHOSEN + name for statement in found for name in _bound(statement)}
    return [
        [
            names.get(token, token) if before != "." else token
            for before, token in zip(["", *statement], _without_colon(statement), strict=False)
        ]
        for statement in found
        if statement and statement[0] not in _HEADS and statement != [_TEXT]
    ]


def _last_sign(statement: list[str]) -> int:
    """Return where the last "=" outside brackets is, 0 if there is none."""
    depth, found = 0, 0
    for place, token in enumerate(statement):
        depth += (token in "([{") - (token in ")]}")
        if token == "=" and not depth:
            found = place
    return found


def _without_colon(statement: list[str]) -> list[str]:
    return statement[:-1] if statement[-1] == ":" else statement


def _bound(statement: list[str]) -> Iterator[str]:
    """Yield the names that a statement seems to give to things."""
    if not statement:
        return
    if statement[0] in ("def", "class"):
        targets = statement[1:]
    elif statement[0] == "for" and "in" in statement:
        targets = statement[1 : statement.index("in")]
    else:
        targets = statement[: _last_sign(statement)]
    for before, token in zip(["", *targets], targets, strict=False):
        if token.isidentifier() and token not in _KNOWN and before != ".":
            yield token
