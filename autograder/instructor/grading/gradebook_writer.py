"""Writes grades to nbgrader's gradebook, one transaction per submission."""

from __future__ import annotations

import errno
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NoReturn, TypeVar

from nbgrader.api import (
    BaseCell,
    Comment,
    Grade,
    Gradebook,
    MissingEntry,
    Notebook,
    SubmittedNotebook,
)
from sqlalchemy import make_url, select
from sqlalchemy.exc import DatabaseError, SAWarning

from autograder.instructor.grading import gradebook_results
from autograder.instructor.grading.course_folder import Course, CourseError
from autograder.instructor.grading.extra_gradebook_tables import create_tables
from autograder.instructor.grading.gradebook_results import NotebookResult
from autograder.instructor.grading.gradebook_scores import Person, Score, read_people, read_scores
from autograder.instructor.grading.late_penalties import (
    PenaltyChange,
    PenaltyRule,
    update_penalties,
)

WAIT_AT_MOST = 600.0  # seconds to wait for a locked gradebook
T = TypeVar("T")


class LockRetrier:
    """Waits for a gradebook that another program has locked, such as a formgrader that is saving.

    Args:
        say: called once with a sentence when the wait begins.
    """

    def __init__(self, say: Callable[[str], object]):
        self._say = say
        self._said = False

    def retry_until_done(self, action: Callable[[], T]) -> T:
        """Retry an atomic action while the gradebook is locked, and return its result."""
        until = time.monotonic() + WAIT_AT_MOST
        while True:
            try:
                return action()
            except DatabaseError as error:
                if "locked" not in str(error.orig) or time.monotonic() > until:
                    raise
            if not self._said:
                self._say("The gradebook is locked by another program; waiting until it is free.")
                self._said = True
            time.sleep(0.2)


@contextmanager
def explain_errors(db_url: str) -> Iterator[None]:
    """Turn errors of the gradebook or the disk into a sentence that says what to do.

    Raises:
        CourseError: in place of an error from the database or the file system.
    """
    try:
        yield
    except DatabaseError as error:
        raise CourseError(_explain_database(db_url, str(error.orig))) from error
    except OSError as error:
        if error.errno is None or (error.filename is None and error.errno not in _OF_TEMPFILE):
            raise
        raise CourseError(_explain_disk(error)) from error


def _explain_database(db_url: str, said: str) -> str:
    url = make_url(db_url)
    what = f"The gradebook {url.render_as_string(hide_password=True)}"
    again = "then run the same command again; results so far are kept."
    if url.get_backend_name() != "sqlite":
        return f"{what} does not respond ({said.strip().splitlines()[0]}): fix this, {again}"
    for sign, sentence in (
        (
            "locked",
            f"has been locked for {WAIT_AT_MOST / 60:g} minutes: close the program that uses it",
        ),
        ("disk is full", "cannot grow, because the disk is full: make room"),
        ("readonly", "is not writable: get write permission for it and its folder"),
        ("unable to open", "cannot be opened: get read and write permission for it and its folder"),
        ("disk I/O", "cannot be read or written because of a disk error: fix the disk"),
        ("no such ", "was written by an older nbgrader: back it up and run nbgrader db upgrade"),
    ):
        if sign in said:
            return f"{what} {sentence}, {again}"
    return (
        f"{what} is damaged ({said}): restore a backup. It is the only place that holds manual "
        "grades; without a backup, move it and the folder of graded pages away to start over."
    )


# Errors without a file name: no folder accepts temporary files, or no pipe or file handle is left.
_OF_TEMPFILE = (errno.ENOENT, errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE)


def _explain_disk(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return (
            f"The disk is full; {error.filename or 'a file'} could not be written: make room, then "
            "run the same command again; what was written before is kept."
        )
    if error.filename is None:  # tempfile raises this if none of its folders accepts a file
        return f"{error.strerror or error}: make room there, then run the same command again."
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return (
            f"You do not have permission to read or write {error.filename}: get it, then run "
            "this again."
        )
    return f"{error.filename}: {error.strerror}."


@dataclass(frozen=True)
class _Cell:
    """A grade in the gradebook, with the points given by hand."""

    id: str
    manual_score: float | None


class GradebookWriter:
    """Writes to nbgrader's gradebook.

    Args:
        db_url: URL of the gradebook, SQLite or PostgreSQL.
        course_id: nbgrader's name of the course.
        assignment: name of the assignment, which must be in the gradebook.
        rule: how the course takes points off for lateness.
    """

    def __init__(self, db_url: str, course_id: str, assignment: str, rule: PenaltyRule):
        self._assignment = assignment
        self._rule = rule
        self._gradebook = Gradebook(db_url, course_id)
        create_tables(self._gradebook.db.connection())
        self._gradebook.db.commit()

    def __enter__(self) -> GradebookWriter:
        return self

    def __exit__(self, *given: object) -> None:
        self._gradebook.close()

    def records(self) -> dict[tuple[str, str], NotebookResult]:
        """Return the results of earlier runs, by student and notebook."""
        connection = self._gradebook.db.connection()
        there = {s.student_id for s in self._gradebook.assignment_submissions(self._assignment)}
        by_notebook = {
            (row.student, row.notebook): row
            for row in gradebook_results.select(connection, self._assignment)
            if row.student in there  # otherwise the student was removed, and has come back
        }
        self._gradebook.db.rollback()
        return by_notebook

    def count_submissions(self) -> int:
        """Return the number of students with a submission of the assignment in the gradebook."""
        return len(self._gradebook.assignment_submissions(self._assignment))

    def write(
        self,
        student: str,
        results: Sequence[NotebookResult],
        unanswered: Iterable[str],
        timestamp: datetime | None,
    ) -> None:
        """Write all of a submission's notebooks, or nothing.

        Args:
            student: nbgrader's name of the student, who is created if necessary.
            results: results of the graded notebooks.
            unanswered: grade_ids of the solution cells that are unchanged since release.
            timestamp: UTC time of submission, or None if it is not known.
        """
        database = self._gradebook.db
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SAWarning)  # from nbgrader's add_submission
                self._add_submission(student, timestamp)
            connection = database.connection()
            earlier = {
                (result.notebook, answer.grade_id): answer.digest
                for result in gradebook_results.select(connection, self._assignment, student)
                for answer in result.by_hand
            }
            for result in results:
                self._write_notebook(student, result, set(unanswered), earlier)
                gradebook_results.write(connection, result)
            update_penalties(
                self._gradebook, self._assignment, self._rule, [student], {student: timestamp}
            )
            database.commit()
        except BaseException:
            database.rollback()
            raise
        finally:
            database.expunge_all()  # keeps memory use independent of the size of the class

    def refresh(self, timestamps: Mapping[str, datetime | None]) -> list[PenaltyChange]:
        """Bring the penalties of all submissions up to date, and return those that changed.

        Args:
            timestamps: UTC times of submission, or None, by student.
        """
        database = self._gradebook.db
        try:
            changes = update_penalties(
                self._gradebook, self._assignment, self._rule, timestamps=timestamps
            )
            database.commit()
        except BaseException:
            database.rollback()
            raise
        finally:
            database.expunge_all()
        return changes

    def enrolled(self) -> list[Person]:
        """Return the students in the gradebook, whether they have handed in or not."""
        found = read_people(self._gradebook.db)
        self._gradebook.db.rollback()
        return found

    def scores(self) -> dict[str, Score]:
        """Return what counts, by student: with points by hand, extra credit and penalties."""
        found = read_scores(self._gradebook.db, self._assignment)
        self._gradebook.db.rollback()
        return found

    def _add_submission(self, student: str, timestamp: datetime | None) -> None:
        """Create student and submission if they are missing."""
        try:
            self._gradebook.find_submission(self._assignment, student)
        except MissingEntry:
            self._gradebook.update_or_create_student(student)
            self._gradebook.add_submission(self._assignment, student, timestamp=timestamp)

    def _write_notebook(
        self,
        student: str,
        result: NotebookResult,
        unanswered: set[str],
        earlier: Mapping[tuple[str, str], str],
    ) -> None:
        """Write a notebook's points, and which of its answers a person has to look at.

        An answer that a person has graded stays graded until the student changes it.
        """
        database = self._gradebook.db
        page = self._page(student, result.notebook)
        grades = self._grades(page) if page else {}
        graded = {e.grade_id for e in result.exercises} | {a.grade_id for a in result.by_hand}
        if page is None or not graded <= set(grades):
            self._add_missing_entries(student)
            page = self._page(student, result.notebook)
            assert page is not None
            grades = self._grades(page)
        for exercise in result.exercises:
            cell = grades.get(exercise.grade_id) or self._miss(exercise.grade_id, result)
            review = bool(result.review) or cell.manual_score is not None
            database.execute(
                Grade.__table__.update()
                .where(Grade.__table__.c.id == cell.id)
                .values(auto_score=exercise.points, needs_manual_grade=review)
            )
        for answer in result.by_hand:
            cell = grades.get(answer.grade_id) or self._miss(answer.grade_id, result)
            before = earlier.get((result.notebook, answer.grade_id), "")
            points = None if answer.digest or result.review else 0.0
            if cell.manual_score is None:
                self._set_by_hand(cell, points, points is None)
            elif answer.digest != before:
                self._set_by_hand(cell, points, True)
        answered = {answer.grade_id for answer in result.by_hand if answer.digest}
        for identity, name in self._comments(page):
            text = "No response." if name in unanswered - answered else None
            database.execute(
                Comment.__table__.update()
                .where(Comment.__table__.c.id == identity)
                .values(auto_comment=text)
            )

    def _miss(self, cell: str, result: NotebookResult) -> NoReturn:
        raise CourseError(
            f"The gradebook has no cell {cell!r} in {result.notebook}: run "
            f"nbgrader generate_assignment {self._assignment} --force."
        )

    def _set_by_hand(self, cell: _Cell, points: float | None, pending: bool) -> None:
        """Set the points before a person has graded, and whether a person has to."""
        self._gradebook.db.execute(
            Grade.__table__.update()
            .where(Grade.__table__.c.id == cell.id)
            .values(auto_score=points, needs_manual_grade=pending)
        )

    def _page(self, student: str, notebook: str) -> str | None:
        """Return nbgrader's id of a submitted notebook, or None if the gradebook has none."""
        found: str | None = self._gradebook.db.execute(
            select(SubmittedNotebook.__table__.c.id)
            .join(Notebook, Notebook.id == SubmittedNotebook.notebook_id)
            .where(Notebook.name == notebook)
            .where(SubmittedNotebook.assignment_id == self._submission_id(student))
        ).scalar_one_or_none()
        return found

    def _add_missing_entries(self, student: str) -> None:
        """Add what nbgrader's `add_submission` would add for the assignment's current state."""
        database = self._gradebook.db
        submission = self._gradebook.find_submission(self._assignment, student)
        pages = {page.notebook_id: page for page in submission.notebooks}
        for notebook in submission.assignment.notebooks:
            if notebook.id not in pages:
                page = SubmittedNotebook(notebook_id=notebook.id, assignment_id=submission.id)
                database.add(page)
                database.flush()  # assigns its id
                pages[notebook.id] = page
            page = pages[notebook.id]
            for kind, there, cells in (
                (Grade, page.grades, [*notebook.grade_cells, *notebook.task_cells]),
                (Comment, page.comments, [*notebook.solution_cells, *notebook.task_cells]),
            ):
                known = {entry.cell_id for entry in there}
                new = [cell for cell in cells if cell.id not in known]
                database.add_all([kind(cell_id=cell.id, notebook_id=page.id) for cell in new])
        database.flush()

    def _submission_id(self, student: str) -> str:
        return str(self._gradebook.find_submission(self._assignment, student).id)

    def _grades(self, page: str) -> dict[str, _Cell]:
        rows = self._gradebook.db.execute(
            select(BaseCell.name, Grade.id, Grade.manual_score)
            .join(BaseCell, BaseCell.id == Grade.cell_id)
            .where(Grade.notebook_id == page)
        )
        return {name: _Cell(identity, manual) for name, identity, manual in rows}

    def _comments(self, page: str) -> list[Any]:
        return list(
            self._gradebook.db.execute(
                select(Comment.id, BaseCell.name)
                .join(BaseCell, BaseCell.id == Comment.cell_id)
                .where(Comment.notebook_id == page)
            )
        )


def refresh_gradebook(course: Course, assignment: str) -> list[PenaltyChange]:
    """Bring an assignment's penalties up to date, and return those that changed.

    Points given by hand, due dates, extensions, time stamps and the course's rule change without a
    new submission.
    """
    if not gradebook_results.read(course.db_url, assignment):
        return []
    about = course.db_url, course.course_id, assignment, course.penalty_rule()
    with GradebookWriter(*about) as writer:
        return writer.refresh(course.submission_times(assignment))
