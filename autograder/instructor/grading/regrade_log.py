"""Records why and when a student was graded again, and what it changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone

from nbgrader.api import Gradebook

from autograder.instructor.formatting import format_points
from autograder.instructor.grading.assignment_run import Summary
from autograder.instructor.grading.course_folder import Course
from autograder.instructor.grading.extra_gradebook_tables import REGRADES, create_tables, read_rows
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
    course: Course, assignment: str, reason: str, summary: Summary, students: Sequence[str]
) -> None:
    """Record that students were graded again, and commit it.

    Args:
        course: the course.
        assignment: name of the assignment.
        reason: why, in the instructor's words.
        summary: summary of the run that graded them.
        students: the students.
    """
    with Gradebook(course.db_url, course.course_id) as gradebook:
        connection = gradebook.db.connection()
        create_tables(connection)
        for student in students:
            before = summary.before.get(student)
            row = {
                "assignment": assignment,
                "student": student,
                "graded_at": datetime.now(timezone.utc).replace(tzinfo=None),
                "reason": reason,
                "before": before.points if before else None,
                "after": summary.scores[student].points,
            }
            connection.execute(REGRADES.insert().values(row))
        gradebook.db.commit()


def read_regrades(course: Course, assignment: str, student: str) -> list[Regrade]:
    """Return a student's regrades of an assignment, the first one first."""
    with Gradebook(course.db_url, course.course_id) as gradebook:
        connection = gradebook.db.connection()
        rows = read_rows(connection, REGRADES, assignment=assignment, student=student)
    return [Regrade(row.graded_at, row.reason, row.before, row.after) for row in rows]
