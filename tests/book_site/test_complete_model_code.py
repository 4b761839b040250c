"""Tests that the page of whole models shows the notebooks' code, and that the code runs."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
import torch

from autograder.instructor.authoring.inline_imports import inline_solution_imports
from autograder.instructor.authoring.solution_pages import shorten_docstrings
from book.site.complete_model_code import divide
from solutions.transformer.attention import MultiHeadAttention

PAGE = Path(__file__).parents[2] / "book" / "whole_models.md"
BLOCKS = re.findall(r"```\{whole-model\}\n(.*?)```", PAGE.read_text("utf-8"), re.S)


@pytest.mark.parametrize("block", BLOCKS)
def test_the_code_stands_alone_and_defines_what_is_asked_for(block):
    code = shorten_docstrings(inline_solution_imports(block))
    assert "solutions" not in code and "SOLUTION" not in code
    space: dict = {"__name__": "__main__"}
    exec(compile(code, "page", "exec"), space)
    for node in ast.parse(block).body:
        assert isinstance(node, ast.ImportFrom)
        assert {alias.name for alias in node.names} <= set(space)
    defined = [
        n.name for n in ast.parse(code).body if isinstance(n, ast.FunctionDef | ast.ClassDef)
    ]
    assert len(set(defined)) == len(defined), "something stands there twice"


def test_what_is_shown_computes_what_the_answers_compute():
    space: dict = {"__name__": "__main__"}
    exec(inline_solution_imports(BLOCKS[0]), space)
    torch.manual_seed(0)
    theirs, shown = MultiHeadAttention(12, 3), space["MultiHeadAttention"](12, 3)
    shown.load_state_dict(theirs.state_dict())
    x = torch.randn(2, 5, 12)  # (B, T, d)
    for mine, wanted in zip(shown(x, x, x), theirs(x, x, x), strict=True):
        torch.testing.assert_close(mine, wanted)


def test_a_cell_without_solutions_stays_as_it_is():
    cell = "import torch  # the library\n\nx = 1"
    assert inline_solution_imports(cell) == cell


def test_what_is_imported_above_is_not_imported_again():
    text = "from solutions.bahdanau.scores import masked_softmax"
    assert inline_solution_imports(text).startswith(
        "import torch\nfrom torch import Tensor\n\n\n# From the notebook"
    )
    assert inline_solution_imports(text, "import torch\nfrom torch import Tensor, nn").startswith(
        "# From the notebook"
    )


@pytest.mark.parametrize("block", BLOCKS)
def test_the_page_shows_all_of_the_code_with_a_link_to_each_notebook(block):
    code = shorten_docstrings(inline_solution_imports(block))
    page = divide(code)
    shown = "\n".join(re.findall(r"```python\n(.*?)\n```", page, re.S))
    lines = [line for line in code.split("\n") if line and not line.startswith("# From the")]
    assert [line for line in shown.split("\n") if line] == lines
    notebooks = re.findall(r"^# From the notebook (\S+)$", code, re.M)
    assert re.findall(r"\]\(\.\./exercises/(\S+)\.ipynb\)", page) == notebooks
    for notebook in notebooks:
        assert (PAGE.parents[1] / "exercises" / f"{notebook}.ipynb").is_file()
