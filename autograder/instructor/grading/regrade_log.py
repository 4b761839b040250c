"""Records why and when a student was graded again, and what it changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone

from nbgrader.api import Gradebook

from autograder.instructor.formatting import format_points
from autograder.instructor.grading.gradebook_scores import Score
from autograder.instructor.grading.gradebook_tables import (
    REGRADES,
    create_tables,
    read_rows,
    replace_row,
)
from autograder.instructor.timestamps import format_time


@dataclass(frozen=True)
class Regrade:
    """One regrade of a student's submission.

    Attributes:
        graded_at: UTC time.
        reason: why, in the instructor's words.
        before, after: points that count; before is None if nothing had been graded.
    """

    graded_at: datetime
    reason: str
    before: float | None
    after: float

    def describe(self, zone: str) -> str:
        """Return a line for the instructor."""
        before = "not graded" if self.before is None else format_points(self.before)
        change = f"{before} before, {format_points(self.after)} after"
        return f"graded again {format_time(self.graded_at, zone)} ({change}): {self.reason}"


def write_regrades(
    gradebook: Gradebook,
    assignment: str,
    students: Sequence[str],
    reason: str,
    before: Mapping[str, Score],
    after: Mapping[str, Score],
) -> None:
    """Record that students were graded again."""
    connection = gradebook.db.connection()
    create_tables(connection)
    for student in students:
        replace_row(
            connection,
            REGRADES,
            assignment=assignment,
            student=student,
            graded_at=datetime.now(timezone.utc).replace(tzinfo=None),
            reason=reason,
            before=before[student].points if student in before else None,
            after=after[student].points,
        )
    gradebook.db.commit()


def read_regrades(gradebook: Gradebook, assignment: str, student: str) -> list[Regrade]:
    """Return a student's regrades of an assignment, the first one first."""
    connection = gradebook.db.connection()
    rows = read_rows(connection, REGRADES, assignment=assignment, student=student)
    return [Regrade(row.graded_at, row.reason, row.before, row.after) for row in rows]
