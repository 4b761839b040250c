"""Reads students and scores from nbgrader's gradebook in a few queries.

These queries serve a whole class; nbgrader's objects would query the database again for every
number.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from nbgrader.api import (
    Assignment,
    BaseCell,
    Comment,
    Grade,
    Notebook,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
)

from autograder.instructor.grading.source_notebook import TEST_PREFIX


@dataclass(frozen=True)
class CellScore:
    """A student's score for one graded cell.

    Attributes:
        notebook, cell: nbgrader's names.
        points: total points, after manual grading.
        max_points: points for a right answer.
        auto, manual, extra: points from the grader, points given by hand instead, and extra credit;
            None if not given.
        pending: whether the cell still needs manual grading.
        comment: a person's comment on it, or on the answer that it checks.
    """

    notebook: str
    cell: str
    points: float
    max_points: float
    auto: float | None
    manual: float | None
    extra: float | None
    pending: bool
    comment: str = ""


@dataclass(frozen=True)
class Score:
    """A student's score for an assignment.

    Attributes:
        student: nbgrader's id of the student.
        earned: sum of the points of the cells.
        penalty: late penalty, as recorded.
        seconds_late: seconds after the due date; 0 if the submission was in time or there is no due
            date.
        pending: whether anything still needs manual grading.
        cells: scores of the graded cells, sorted by notebook and cell.
    """

    student: str
    earned: float
    penalty: float
    seconds_late: float
    pending: bool
    cells: tuple[CellScore, ...] = ()

    @property
    def points(self) -> float:
        """Return the earned points less the penalty, but not below 0, as nbgrader does."""
        return max(0.0, self.earned - self.penalty)

    def find_cell(self, notebook: str, cell: str) -> CellScore | None:
        """Return the score of a graded cell, or None if the gradebook has none."""
        found = (c for c in self.cells if (c.notebook, c.cell) == (notebook, cell))
        return next(found, None)


@dataclass(frozen=True)
class Person:
    """A student in the gradebook; unknown fields are ""."""

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_id: str = ""

    @property
    def name(self) -> str:
        """Return first and last name, or whichever of them is known, or the id."""
        return " ".join(part for part in (self.first_name, self.last_name) if part) or self.id


def read_people(session: Any) -> list[Person]:
    """Return the students in a gradebook, sorted by last name, first name and id.

    Args:
        session: a session of the gradebook's database, for instance `Gradebook.db`.
    """
    columns = (
        Student.id,
        Student.first_name,
        Student.last_name,
        Student.email,
        Student.lms_user_id,
    )
    persons = [Person(*((value or "").strip() for value in row)) for row in session.query(*columns)]
    return sorted(persons, key=lambda p: (p.last_name.casefold(), p.first_name.casefold(), p.id))


def read_max_points(session: Any) -> dict[str, float]:
    """Return the maximum points of each assignment in a gradebook, by name."""
    query = session.query(Assignment.name, Assignment.max_score).order_by(
        Assignment.duedate, Assignment.name
    )
    return {name: float(points or 0.0) for name, points in query}


def read_scores(session: Any, assignment: str, students: Collection[str] = ()) -> dict[str, Score]:
    """Return the scores of an assignment by student, without students who handed in nothing.

    Args:
        session: a session of the gradebook's database.
        assignment: name of the assignment.
        students: the only students to look at; all if empty.
    """
    query = (
        session.query(
            SubmittedAssignment.student_id,
            SubmittedAssignment.score,
            SubmittedAssignment.late_submission_penalty,
            SubmittedAssignment.needs_manual_grade,
            SubmittedAssignment.timestamp,
            SubmittedAssignment.extension,
            Assignment.duedate,
        )
        .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        .filter(Assignment.name == assignment)
    )
    if students:
        query = query.filter(SubmittedAssignment.student_id.in_(list(students)))
    by_student = _cells(session, assignment, students)
    return {
        student: Score(
            student,
            float(earned or 0.0),
            float(penalty or 0.0),
            _seconds_late(handed_in, due, extension),
            bool(pending),
            tuple(by_student.get(student, ())),
        )
        for student, earned, penalty, pending, handed_in, extension, due in query
    }


def read_lateness(session: Any, assignment: str, student: str, moment: datetime | None) -> float:
    """Return how many seconds after the due date, with the student's extension, a moment is."""
    query = (
        session.query(Assignment.duedate, SubmittedAssignment.extension)
        .join(SubmittedAssignment, SubmittedAssignment.assignment_id == Assignment.id)
        .filter(Assignment.name == assignment, SubmittedAssignment.student_id == student)
    )
    return max((_seconds_late(moment, due, more) for due, more in query), default=0.0)


def _seconds_late(
    handed_in: datetime | None, due: datetime | None, extension: timedelta | None
) -> float:
    if handed_in is None or due is None:
        return 0.0
    return max(0.0, (handed_in - due - (extension or timedelta())).total_seconds())


def _cells(session: Any, assignment: str, students: Collection[str]) -> dict[str, list[CellScore]]:
    query = (
        session.query(
            SubmittedAssignment.student_id,
            Notebook.name,
            BaseCell.name,
            Grade.score,
            Grade.max_score,
            Grade.auto_score,
            Grade.manual_score,
            Grade.extra_credit,
            Grade.needs_manual_grade,
        )
        .select_from(Grade)
        .order_by(Notebook.name, BaseCell.name)
    )
    comments = _comments(session, assignment, students)
    by_student: dict[str, list[CellScore]] = {}
    for student, notebook, cell, points, most, auto, manual, extra, pending in _join_cells(
        query, Grade, assignment, students
    ):
        about = (cell, cell.removeprefix(TEST_PREFIX))
        by_student.setdefault(student, []).append(
            CellScore(
                notebook,
                cell,
                float(points or 0.0),
                float(most or 0.0),
                auto,
                manual,
                extra,
                bool(pending),
                "\n".join(
                    comments[key]
                    for name in dict.fromkeys(about)
                    if (key := (student, notebook, name)) in comments
                ),
            )
        )
    return by_student


def _comments(
    session: Any, assignment: str, students: Collection[str]
) -> dict[tuple[str, str, str], str]:
    """Return what persons have written, by student, notebook and cell."""
    query = (
        session.query(
            SubmittedAssignment.student_id, Notebook.name, BaseCell.name, Comment.manual_comment
        )
        .select_from(Comment)
        .filter(Comment.manual_comment.is_not(None))
    )
    rows = _join_cells(query, Comment, assignment, students)
    return {tuple(key): text.strip() for *key, text in rows if text.strip()}


def _join_cells(query: Any, kind: Any, assignment: str, students: Collection[str]) -> Any:
    """Return a query of grades or comments, joined with cells, notebooks and submissions."""
    query = (
        query.join(BaseCell, BaseCell.id == kind.cell_id)
        .join(SubmittedNotebook, SubmittedNotebook.id == kind.notebook_id)
        .join(Notebook, Notebook.id == SubmittedNotebook.notebook_id)
        .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
        .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        .filter(Assignment.name == assignment)
    )
    return query.filter(SubmittedAssignment.student_id.in_(list(students))) if students else query
