"""Preprocessor of nbgrader that removes hidden tests from feedback, and only those."""

from __future__ import annotations

from typing import Any

from nbformat import NotebookNode
from nbgrader.preprocessors import ClearHiddenTests
from nbgrader.utils import is_grade, is_solution


class ClearOwnHiddenTests(ClearHiddenTests):  # type: ignore[misc]  # nbgrader has no types
    """Removes hidden tests from the cells that the instructor wrote.

    A student's cell may contain nbgrader's marks, in a string for example. nbgrader's own
    preprocessor removes what stands between them, or fails, and then there is no feedback.
    """

    def preprocess_cell(
        self, cell: NotebookNode, resources: dict[str, Any], cell_index: int
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Remove the hidden tests of one cell, if it is graded and not an answer."""
        if is_grade(cell) and not is_solution(cell):
            return super().preprocess_cell(cell, resources, cell_index)
        return cell, resources
