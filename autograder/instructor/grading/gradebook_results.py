"""Results of grading as they are recorded in the gradebook, beside nbgrader's grades.

Each row is written in the same transaction as the grades. A run that is restarted after being
killed at any moment therefore knows exactly which notebooks are graded.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, make_url
from sqlalchemy.engine import Connection

from autograder.instructor.grading.extra_gradebook_tables import RESULTS, read_rows, replace_row

OUTCOMES = ("right", "part", "wrong", "unwritten", "missing", "stopped", "refused")


@dataclass(frozen=True)
class ExerciseResult:
    """Result of one exercise.

    Attributes:
        exercise: name of the exercise.
        grade_id: grade_id of its graded cell.
        points: points earned, before manual grading.
        max_points: points for a right answer.
        outcome: "right"; "part", some parts are right; "wrong"; "unwritten", the stub is unchanged;
            "missing", there is no such function or class; "stopped", the answer ended or hung the
            process; "refused", the answer uses something forbidden.
        headline: one sentence for the student.
        misconception: slug of the known mistake in the answer, or "".
        tests: fingerprint of the tests with which the answer was graded.
        review: reason for manual review, as a sentence for the instructor, or "".
        cases: number of cases on which the answer was tried; 0 if it could not be tried.
        details: lines that show the smallest failing case.
    """

    exercise: str
    grade_id: str
    points: float
    max_points: float
    outcome: str
    headline: str
    misconception: str = ""
    tests: str = ""
    review: str = ""
    cases: int = 0
    details: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.outcome not in OUTCOMES:
            raise ValueError(f"{self.outcome!r} is not one of {', '.join(OUTCOMES)}.")


@dataclass(frozen=True)
class HandGradedAnswer:
    """An answer that a person grades.

    Attributes:
        grade_id: grade_id of its cell.
        digest: SHA-256 of what the student wrote for it; "" if nothing.
    """

    grade_id: str
    digest: str


@dataclass(frozen=True)
class NotebookResult:
    """Result of one notebook, whether the student handed it in or not.

    Attributes:
        student, assignment, notebook: nbgrader's names.
        digest: SHA-256 of the submission; "" if the notebook could not be graded.
        exercises: results of the exercises, in the order of the notebook.
        remarks: sentences for the student about the file and its cells.
        review: reason for manual review, as a sentence for the instructor, or "".
        seconds: wall time that grading took.
        graded_at: UTC time in ISO 8601.
        by_hand: answers that a person grades, in the order of the notebook.
    """

    student: str
    assignment: str
    notebook: str
    digest: str
    exercises: tuple[ExerciseResult, ...]
    remarks: tuple[str, ...] = ()
    review: str = ""
    seconds: float = 0.0
    graded_at: str = field(default="")
    by_hand: tuple[HandGradedAnswer, ...] = ()

    @property
    def points(self) -> float:
        """Return the sum of the points of its exercises."""
        return sum(result.points for result in self.exercises)

    def as_json(self) -> str:
        """Return the result as JSON text."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> NotebookResult:
        """Return the result that `as_json` wrote."""
        given: dict[str, Any] = json.loads(text)
        given["exercises"] = tuple(
            ExerciseResult(**entry | {"details": tuple(entry.get("details", ()))})
            for entry in given["exercises"]
        )
        given["remarks"] = tuple(given["remarks"])
        given["by_hand"] = tuple(
            HandGradedAnswer(entry["grade_id"], entry["digest"])
            for entry in given.get("by_hand", ())
        )
        return cls(**given)


def write(connection: Connection, result: NotebookResult) -> NotebookResult:
    """Write or replace a row in the connection's transaction, without committing it."""
    now = datetime.now(timezone.utc).replace(tzinfo=None)
    result = replace(result, graded_at=now.isoformat(timespec="milliseconds"))
    replace_row(
        connection,
        RESULTS,
        assignment=result.assignment,
        student=result.student,
        notebook=result.notebook,
        digest=result.digest,
        document=result.as_json(),
        graded_at=now,
    )
    return result


def select(connection: Connection, assignment: str = "", student: str = "") -> list[NotebookResult]:
    """Return the results of an assignment, a student or both, sorted by student and notebook."""
    given = {"assignment": assignment, "student": student}
    where = {name: value for name, value in given.items() if value}
    found = [NotebookResult.from_json(r.document) for r in read_rows(connection, RESULTS, **where)]
    return sorted(found, key=lambda result: (result.student, result.assignment, result.notebook))


def read(db_url: str, assignment: str = "", student: str = "") -> list[NotebookResult]:
    """Return the recorded results of an assignment or student; an empty list if there are none."""
    url = make_url(db_url)
    if url.get_backend_name() == "sqlite" and not Path(url.database or "").exists():
        return []  # SQLite would create an empty file
    engine = create_engine(url)
    try:
        with engine.connect() as connection:
            return select(connection, assignment, student)
    finally:
        engine.dispose()


def merge(old: NotebookResult, new: NotebookResult, only: Iterable[str]) -> NotebookResult:
    """Return the new result for the exercises in `only`, and the old result for the others.

    The others keep their reasons for manual review.
    """
    wanted = set(only)
    kept = {result.exercise: result for result in old.exercises}
    exercises = tuple(
        result if result.exercise in wanted else kept.get(result.exercise, result)
        for result in new.exercises
    )
    reviews = [new.review, *(r.review for r in exercises if r.exercise not in wanted)]
    return replace(new, exercises=exercises, review=" ".join(filter(None, reviews)))
