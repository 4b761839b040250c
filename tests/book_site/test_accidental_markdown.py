"""Tests that no line of prose is accidentally a list, heading or quotation in Markdown."""

import json
from itertools import chain, pairwise
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from mdit_py_plugins.colon_fence import colon_fence_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.front_matter import front_matter_plugin
from mdit_py_plugins.myst_blocks import myst_block_plugin

ROOT = Path(__file__).parents[2]
PAGES = sorted(chain(ROOT.glob("*.md"), (ROOT / "book").rglob("*.md")))
NOTEBOOKS = sorted((ROOT / "exercises").rglob("*.ipynb"))
BLOCKS = ("bullet_list_open", "ordered_list_open", "heading_open", "blockquote_open", "hr")
PLUGINS = (front_matter_plugin, colon_fence_plugin, dollarmath_plugin, myst_block_plugin)
CODE = ("{code-cell}", "{math}", "{raw}")


def find_accidents(text):
    """Return the lines that interrupt a paragraph by starting another kind of block.

    An intended list, heading or quotation has an empty line before it. Directives with text are
    searched as well.
    """
    reader = MarkdownIt("commonmark").enable("table")
    for plugin in PLUGINS:
        reader.use(plugin)
    lines = text.splitlines()
    tokens = reader.parse(text)
    found = []
    for before, token in pairwise([None, *tokens]):
        if token.type in ("fence", "colon_fence"):
            name = token.info.split(" ")[0]
            if name.startswith("{") and name not in CODE:
                found += find_accidents(token.content)
        elif token.type == "heading_open" and token.markup in ("-", "="):
            found.append(lines[token.map[0]])  # a paragraph with a line of dashes below it
        elif token.type in BLOCKS and before and before.type == "paragraph_close":
            first = token.map[0]
            if lines[first - 1].strip(" >"):
                found.append(lines[first])
    return found


def read_notebook(path):
    """Return the text cells of a notebook."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")


@pytest.mark.parametrize("path", [*PAGES, *NOTEBOOKS], ids=lambda path: str(path.relative_to(ROOT)))
def test_a_list_heading_or_quotation_has_an_empty_line_before_it(path):
    text = read_notebook(path) if path.suffix == ".ipynb" else path.read_text(encoding="utf-8")
    assert find_accidents(text) == []


@pytest.mark.parametrize(
    "line",
    ["1. The weights sum to one.", "- 4 or more", "* beside it", "+ 3", "# 4 of them", "> 0.5"],
)
def test_a_line_that_begins_another_block_is_found(line):
    assert find_accidents(f"The weights of a caption add up to\n{line}\n") == [line]
    assert find_accidents(f":::{{note}}\nThe weights add up to\n{line}\n:::\n") == [line]
    assert find_accidents(f"These are meant:\n\n{line}\n") == []
    assert find_accidents(f"```{{code-cell}} ipython3\nx = 1\n{line}\n```\n") == []


def test_a_line_of_dashes_below_a_paragraph_is_found():
    assert find_accidents("A difference of\n---\n") == ["A difference of"]
