"""Class stubs as students receive them: only the constructor, from the notebook."""

from __future__ import annotations

import ast
import inspect
from functools import cache

from torch import nn

from autograder.exercises import EXERCISES
from autograder.instructor.mutation.operators import load_solution_module


def write_stub(name: str) -> str:
    """Return the code of `Stub`: the exercise's class with only its constructor.

    It comes from the notebook's cell, without type hints and with the imports that it needs.
    """
    module = ast.parse(inspect.getsource(load_solution_module(EXERCISES[name]))).body
    given = next(node for node in module if isinstance(node, ast.ClassDef) and node.name == name)
    given.name = "Stub"
    given.body = [n for n in given.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"]
    for argument in (part for part in ast.walk(given) if isinstance(part, ast.arg)):
        argument.annotation = None
    used = {part.id for part in ast.walk(given) if isinstance(part, ast.Name)}
    imports = [node for node in module if isinstance(node, (ast.Import, ast.ImportFrom))]
    for line in imports:
        line.names = [n for n in line.names if (n.asname or n.name.partition(".")[0]) in used]
    return "\n".join(ast.unparse(node) for node in [*(i for i in imports if i.names), given])


@cache
def stub(name: str) -> type[nn.Module]:
    """Return the class that `write_stub` writes."""
    space: dict = {"__name__": f"solutions.stub.{name}"}
    exec(write_stub(name), space)
    return space["Stub"]
