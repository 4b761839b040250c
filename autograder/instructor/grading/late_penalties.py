"""Updates lateness and late penalties in the gradebook when what they depend on changes.

They depend on due date, extensions, time stamps, the course's rule and points given by hand, each
of which can change without a new submission.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from nbgrader.api import Assignment, Gradebook, Notebook, SubmittedAssignment, SubmittedNotebook
from nbgrader.plugins import BasePlugin
from sqlalchemy.engine import Connection

from autograder.instructor.formatting import format_duration, format_points
from autograder.instructor.grading.course_error import CourseError
from autograder.instructor.grading.extra_gradebook_tables import (
    EXTENSIONS,
    create_tables,
    read_rows,
    replace_row,
)
from autograder.instructor.grading.gradebook_scores import read_scores


@dataclass(frozen=True)
class PenaltyRule:
    """How a course takes points off for lateness.

    Attributes:
        plugin: nbgrader's plugin, which returns the points to take off.
        per_assignment: whether the plugin is asked once for an assignment, not for each notebook.
    """

    plugin: BasePlugin
    per_assignment: bool = False

    def take_off(self, student: str, points: Mapping[str, float], late: float) -> dict[str, float]:
        """Return the points to take off each notebook; never more than it has.

        Args:
            student: id of the student.
            points: points of each notebook.
            late: seconds after the due date.
        """
        if late <= 0:
            return dict.fromkeys(points, 0.0)
        if not self.per_assignment:
            return {name: self._ask(student, mine, late) for name, mine in points.items()}
        total = sum(points.values())
        share = self._ask(student, total, late) / total if total > 0 else 0.0
        return {name: share * mine for name, mine in points.items()}

    def _ask(self, student: str, points: float, late: float) -> float:
        try:
            penalty = self.plugin.late_submission_penalty(student, points, late)
            return 0.0 if penalty is None else min(max(float(penalty), 0.0), points)
        except Exception as error:  # the course's own code can raise anything
            raise CourseError(
                f"The rule for late work, {type(self.plugin).__name__}, ends with "
                f"{type(error).__name__}: {error}. Correct it in nbgrader_config.py, then run the "
                "same command again; results so far are kept."
            ) from error


@dataclass(frozen=True)
class PenaltyChange:
    """A penalty that is not what it was.

    Attributes:
        student: id of the student.
        before, now: points taken off in all.
        seconds_late: seconds after the due date, with the extension.
    """

    student: str
    before: float
    now: float
    seconds_late: float

    def __str__(self) -> str:
        """Return a sentence for the instructor."""
        late = f"{format_duration(self.seconds_late)} late" if self.seconds_late else "not late"
        return (
            f"{self.student}: {format_points(self.now)} points are taken off, not "
            f"{format_points(self.before)} ({late})"
        )


def update_penalties(
    gradebook: Gradebook,
    assignment: str,
    rule: PenaltyRule,
    students: Collection[str] = (),
    timestamps: Mapping[str, datetime | None] | None = None,
) -> list[PenaltyChange]:
    """Bring times, extensions and penalties up to date, without committing.

    Args:
        gradebook: the gradebook.
        assignment: name of the assignment.
        rule: the course's rule.
        students: the only students to look at; all if empty.
        timestamps: UTC times of submission, for the students for whom they are known.

    Returns:
        the penalties that differ from before, sorted by student.
    """
    session = gradebook.db
    extensions = read_extensions(session.connection(), assignment)
    submissions = (
        session.query(SubmittedAssignment)
        .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        .filter(Assignment.name == assignment)
    )
    if students:
        submissions = submissions.filter(SubmittedAssignment.student_id.in_(list(students)))
    for submission in submissions:
        student = submission.student_id
        if timestamps is not None and student in timestamps:
            submission.timestamp = timestamps[student]
        if student in extensions:
            submission.extension = extensions[student] or None
    session.flush()
    scores = read_scores(session, assignment, students)
    rows = (
        session.query(
            SubmittedNotebook.id,
            Notebook.name,
            SubmittedAssignment.student_id,
            SubmittedNotebook.late_submission_penalty,
        )
        .join(Notebook, Notebook.id == SubmittedNotebook.notebook_id)
        .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
        .filter(SubmittedAssignment.student_id.in_(list(scores)))
        .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        .filter(Assignment.name == assignment)
    )
    by_student: dict[str, dict[str, tuple[str, float | None]]] = {}
    for identity, notebook, student, penalty in rows:
        by_student.setdefault(student, {})[notebook] = identity, penalty
    changes = []
    for student, notebooks in sorted(by_student.items()):
        points = dict.fromkeys(notebooks, 0.0)
        for cell in scores[student].cells:
            points[cell.notebook] += cell.points
        late = scores[student].seconds_late
        for name, penalty in rule.take_off(student, points, late).items():
            identity, before = notebooks[name]
            if (before or 0.0) != penalty:
                table = SubmittedNotebook.__table__
                session.execute(
                    table.update()
                    .where(table.c.id == identity)
                    .values(late_submission_penalty=penalty or None)
                )
                notebooks[name] = identity, penalty
        now = sum(penalty or 0.0 for _, penalty in notebooks.values())
        if abs(now - scores[student].penalty) > 1e-9:
            changes.append(PenaltyChange(student, scores[student].penalty, now, late))
    return changes


def read_extensions(connection: Connection, assignment: str) -> dict[str, timedelta]:
    """Return the extensions that were given for an assignment, by student."""
    rows = read_rows(connection, EXTENSIONS, assignment=assignment)
    return {row.student: row.extension for row in rows}


def write_extension(
    connection: Connection, assignment: str, student: str, extension: timedelta
) -> None:
    """Give a student an extension in place of any other, without committing."""
    create_tables(connection)
    replace_row(connection, EXTENSIONS, assignment=assignment, student=student, extension=extension)
