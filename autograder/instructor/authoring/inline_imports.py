"""Replaces imports from `solutions` in given code by the imported code.

A student's notebook is self-contained: what an earlier assignment has built becomes a given cell.
"""

from __future__ import annotations

import ast
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
MARKERS = ("### BEGIN SOLUTION", "### END SOLUTION")


def inline_solution_imports(text: str, before: str = "") -> str:
    """Return a cell's code with each `from solutions.<assignment>.<notebook> import ...` resolved.

    Definitions that the imported functions need from their own module are included, and the imports
    that these need from elsewhere go to the top.

    Args:
        text: code of the cell.
        before: code of the cells above; what it imports is not imported again.
    """
    tree = ast.parse(text)
    if not any(map(_is_solution, tree.body)):
        return text
    own = [node for node in tree.body if not _is_solution(node)]
    above = {name for node in ast.parse(before).body if _is_import(node) for name in _bind(node)}
    imports = [node for node in own if _is_import(node)]
    pieces = [_source(text, node) for node in own if not _is_import(node)]
    place = ""
    for node in filter(_is_solution, tree.body):
        assert isinstance(node, ast.ImportFrom) and node.module
        for module, needed in _needed(node.module, [alias.name for alias in node.names]):
            code = _source(_text(module), needed)
            if _is_import(needed):
                imports += [needed] if set(_bind(needed)) - above else []
            elif not any(piece.endswith(code) for piece in pieces):
                head = f"# From the notebook {'/'.join(module.split('.')[1:])}\n"
                pieces.append(head + code if module != place else code)
                place = module
    return "\n\n\n".join(filter(None, [_merge(imports), *pieces]))


def _merge(imports: list[ast.stmt]) -> str:
    """Return import statements with one line for each module, plain imports first."""
    plain, names = set(), dict[str, set[str]]()
    for node in imports:
        if isinstance(node, ast.ImportFrom):
            kept = {ast.unparse(alias) for alias in node.names}
            names[str(node.module)] = names.get(str(node.module), set()) | kept
        else:
            plain.add(ast.unparse(node))
    froms = [f"from {module} import {', '.join(sorted(names[module]))}" for module in sorted(names)]
    return "\n".join([*sorted(plain), *froms])


def _needed(module: str, names: list[str]) -> list[tuple[str, ast.stmt]]:
    """Return the imports and definitions that the names need, each with the module it stands in."""
    body = ast.parse(_text(module)).body
    bound = {name: node for node in body for name in _bind(node)}
    used: set[str] = set()
    pending = list(names)
    while pending:
        name = pending.pop()
        if name in bound and name not in used:
            used.add(name)
            inside = [] if _is_import(bound[name]) else ast.walk(bound[name])
            pending += [n.id for n in inside if isinstance(n, ast.Name)]
    needed: list[tuple[str, ast.stmt]] = []
    for node in body:
        if not used.intersection(_bind(node)):
            continue
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            node.names = [alias for alias in node.names if _bind_alias(alias) in used]
        if isinstance(node, ast.ImportFrom) and _is_solution(node):
            needed += _needed(str(node.module), [alias.name for alias in node.names])
        else:
            needed.append((module, node))
    return needed


def _bind(node: ast.stmt) -> list[str]:
    """Return the names that a statement binds."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [_bind_alias(alias) for alias in node.names]
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _bind_alias(alias: ast.alias) -> str:
    return alias.asname or alias.name.split(".")[0]


def _is_import(node: ast.stmt) -> bool:
    return isinstance(node, (ast.Import, ast.ImportFrom))


def _is_solution(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and (node.module or "").startswith("solutions.")


def _source(text: str, node: ast.stmt) -> str:
    lines = text.split("\n")[node.lineno - 1 : node.end_lineno]
    return "\n".join(line for line in lines if line.strip() not in MARKERS)


@lru_cache
def _text(module: str) -> str:
    master = ROOT.joinpath(*module.split("."), "solution.py")
    return master.read_text(encoding="utf-8")
