"""The one writer of the gradebook: all of a submission in one transaction."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from nbgrader.api import (
    BaseCell,
    Comment,
    Grade,
    Gradebook,
    MissingEntry,
    Notebook,
    SubmittedNotebook,
)
from nbgrader.plugins import BasePlugin
from sqlalchemy import select
from sqlalchemy.exc import SAWarning

from autograder.instructor.grading import records
from autograder.instructor.grading.records import NotebookResult


@dataclass(frozen=True)
class _Cell:
    """A grade in the gradebook, and what a person has added to it."""

    id: str
    manual_score: float | None
    extra_credit: float | None


class Writer:
    """Writes to nbgrader's gradebook.

    Args:
        db_url: of the gradebook, SQLite or PostgreSQL.
        course_id: nbgrader's.
        assignment: which must be in it.
        penalty: nbgrader's plugin that knows the penalties for late submissions.
    """

    def __init__(self, db_url: str, course_id: str, assignment: str, penalty: BasePlugin):
        self._assignment = assignment
        self._penalty = penalty
        self._gradebook = Gradebook(db_url, course_id)
        records.create_table(self._gradebook.db.connection())
        self._gradebook.db.commit()

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *given: object) -> None:
        self._gradebook.close()

    def records(self) -> dict[tuple[str, str], NotebookResult]:
        """Return what was graded before, by student and notebook."""
        connection = self._gradebook.db.connection()
        found = {
            (row.student, row.notebook): row for row in records.select(connection, self._assignment)
        }
        self._gradebook.db.rollback()
        return found

    def write(
        self,
        student: str,
        results: Sequence[NotebookResult],
        unanswered: Iterable[str],
        timestamp: datetime | None,
    ) -> None:
        """Write all of a submission's notebooks, or nothing.

        Args:
            student: nbgrader's name; created if there is none of the name.
            results: of the notebooks that were graded.
            unanswered: grade_ids of solution cells that are as they were released.
            timestamp: UTC time of submission, or None if that is not known.
        """
        database = self._gradebook.db
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SAWarning)  # nbgrader's way to add a submission
                late = self._submission(student, timestamp)
            connection = database.connection()
            for result in results:
                self._write_notebook(student, result, set(unanswered), late)
                records.write(connection, result)
            database.commit()
        except BaseException:
            database.rollback()
            raise
        finally:
            database.expunge_all()  # a class of a thousand takes no more memory than one of forty

    def _submission(self, student: str, timestamp: datetime | None) -> float:
        """Return by how many seconds the submission is late; it is created if there is none."""
        try:
            found = self._gradebook.find_submission(self._assignment, student)
        except MissingEntry:
            self._gradebook.update_or_create_student(student)
            found = self._gradebook.add_submission(self._assignment, student, timestamp=timestamp)
        else:
            if timestamp is not None:
                found.timestamp = timestamp
                self._gradebook.db.flush()
        return float(found.total_seconds_late)

    def _write_notebook(
        self, student: str, result: NotebookResult, unanswered: set[str], late: float
    ) -> None:
        database = self._gradebook.db
        page = database.execute(
            select(SubmittedNotebook.__table__.c.id)
            .join(Notebook, Notebook.id == SubmittedNotebook.notebook_id)
            .where(Notebook.name == result.notebook)
            .where(SubmittedNotebook.assignment_id == self._submission_id(student))
        ).scalar_one()
        grades = self._grades(page)
        score = 0.0
        for exercise in result.exercises:
            cell = grades.get(exercise.grade_id)
            if cell is None:
                raise LookupError(
                    f"The gradebook has no cell {exercise.grade_id!r} in {result.notebook}: run "
                    f"nbgrader generate_assignment {self._assignment} --force."
                )
            given = exercise.points if cell.manual_score is None else cell.manual_score
            score += given + (cell.extra_credit or 0.0)
            review = bool(result.review) or cell.manual_score is not None
            database.execute(
                Grade.__table__.update()
                .where(Grade.__table__.c.id == cell.id)
                .values(auto_score=exercise.points, needs_manual_grade=review)
            )
        for identity, name in self._comments(page):
            text = "No response." if name in unanswered else None
            database.execute(
                Comment.__table__.update()
                .where(Comment.__table__.c.id == identity)
                .values(auto_comment=text)
            )
        database.execute(
            SubmittedNotebook.__table__.update()
            .where(SubmittedNotebook.__table__.c.id == page)
            .values(late_submission_penalty=self._late_penalty(student, score, late))
        )

    def _submission_id(self, student: str) -> str:
        return str(self._gradebook.find_submission(self._assignment, student).id)

    def _grades(self, page: str) -> dict[str, _Cell]:
        rows = self._gradebook.db.execute(
            select(BaseCell.name, Grade.id, Grade.manual_score, Grade.extra_credit)
            .join(BaseCell, BaseCell.id == Grade.cell_id)
            .where(Grade.notebook_id == page)
        )
        return {name: _Cell(identity, manual, extra) for name, identity, manual, extra in rows}

    def _comments(self, page: str) -> list[Any]:
        return list(
            self._gradebook.db.execute(
                select(Comment.id, BaseCell.name)
                .join(BaseCell, BaseCell.id == Comment.cell_id)
                .where(Comment.notebook_id == page)
            )
        )

    def _late_penalty(self, student: str, score: float, late: float) -> float | None:
        if late <= 0:
            return None
        penalty = self._penalty.late_submission_penalty(student, score, late)
        return None if penalty is None else min(max(penalty, 0.0), score)
