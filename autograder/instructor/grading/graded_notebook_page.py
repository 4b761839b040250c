"""Finishes the page of a graded notebook, from which the feedback page is made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import nbformat
from nbformat import NotebookNode

from autograder.instructor.grading.notebook_rebuilder import RebuiltNotebook
from autograder.instructor.sanitize import (
    CELL_AT_MOST,
    COLOURED_AT_MOST,
    OutputBudget,
    escape_markdown,
    is_slow_to_highlight,
    sanitize_lines,
)


def finish_page(
    rebuilt: RebuiltNotebook, outputs: Mapping[int, list[dict[str, Any]]], remarks: list[str]
) -> None:
    """Insert outputs and remarks into the page, and shorten what would be slow to show.

    Args:
        rebuilt: the notebook; its page is changed.
        outputs: outputs of the student's own cells, by index.
        remarks: sentences for the student about the notebook.
    """
    room = OutputBudget()
    for index, shown in sorted(outputs.items()):
        if index not in rebuilt.graded:
            cell = rebuilt.page.cells[index]
            cell.outputs = [nbformat.from_dict(output) for output in room.admit(shown)]
    coloured = 0
    for cell in rebuilt.page.cells:
        if cell.cell_type == "code":  # readers must see exactly what was run
            cell.source = sanitize_lines(cell.source, CELL_AT_MOST)
            coloured += len(cell.source)
            if coloured > COLOURED_AT_MOST or is_slow_to_highlight(cell.source):
                cell.metadata["magics_language"] = "text"  # nbconvert's key for the language
    add_note(rebuilt.page, remarks)


def add_note(page: NotebookNode, remarks: list[str]) -> None:
    """Add a note at the top of the page that says what happened to the notebook."""
    if remarks:
        lines = "\n".join(f"* {escape_markdown(remark)}" for remark in dict.fromkeys(remarks))
        text = f"**About this notebook**\n\n{lines}"
        page.cells.insert(0, nbformat.v4.new_markdown_cell(text, id="about-this-notebook"))
