"""The diagnosis of a submission in a few lines of plain text, for a platform's comment field."""

from __future__ import annotations

from collections.abc import Iterable

from autograder.instructor.exports.base import harmless_lines, number
from autograder.instructor.grading.records import NotebookResult


def diagnoses(results: Iterable[NotebookResult]) -> dict[str, str]:
    """Return, for each student, a line per exercise and what was remarked on the files.

    The points are those of the grader; what a person changed is in the grade.
    """
    lines: dict[str, list[str]] = {}
    for result in results:
        mine = lines.setdefault(result.student, [])
        for entry in result.exercises:
            points = f"{number(entry.points)} of {number(entry.max_points)}"
            mine.append(" ".join(f"{entry.exercise}: {points}. {entry.headline}".split()))
        mine += [" ".join(remark.split()) for remark in result.remarks]
    return {student: harmless_lines("\n".join(mine)) for student, mine in lines.items()}
