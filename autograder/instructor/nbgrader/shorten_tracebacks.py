"""nbgrader preprocessor that shortens the grader's own tracebacks on feedback pages."""

from __future__ import annotations

from typing import Any

from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor  # type: ignore[import-untyped]

from autograder.instructor.sanitize import sanitize_output


class HideOwnTracebacks(NbGraderPreprocessor):
    """Shortens an error in a graded cell to one line.

    The check catches and explains errors of the answer. Any other error in a graded cell (an
    interrupted check, or one of our names that the student overwrote) has a traceback through our
    code, which would show lines of the hidden test.
    """

    def preprocess_cell(
        self, cell: NotebookNode, resources: dict[str, Any], cell_index: int
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Shorten the errors of one cell."""
        if cell.metadata.get("nbgrader", {}).get("grade"):
            for output in cell.get("outputs", []):
                if output.output_type == "error":
                    first_line = (output.evalue.strip().splitlines() or [""])[0]
                    output.traceback = [sanitize_output(f"{output.ename}: {first_line}")]
        return cell, resources
