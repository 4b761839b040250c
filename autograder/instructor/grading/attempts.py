"""Chooses the best of several submissions of a student, if the course counts the best.

`submitted/` holds the submission that counts, and `earlier_submissions/` the others. The others are
graded as well, without a trace in the gradebook but their points. If one of them has more points
than the one in `submitted/`, the two change places.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from nbgrader.api import Gradebook

from autograder.instructor.formatting import format_points
from autograder.instructor.grading.assignment_run import AssignmentRun, Summary
from autograder.instructor.grading.course_folder import Course
from autograder.instructor.grading.executors import (
    Executor,
    GradedSubmission,
    PreviousResults,
    SubmissionTask,
)
from autograder.instructor.grading.gradebook_scores import read_lateness
from autograder.instructor.grading.gradebook_tables import (
    ATTEMPTS,
    create_tables,
    read_rows,
    replace_row,
)
from autograder.instructor.grading.notebook_grader import GradedNotebook
from autograder.instructor.grading.submission_parser import (
    Submission,
    read_nbgrader_files,
    read_submission,
)
from autograder.instructor.timestamps import format_time


@dataclass(frozen=True)
class Attempt:
    """A submission that does not count at present.

    Attributes:
        student: id of the student.
        folder: its folder in `earlier_submissions/`.
        digest: SHA-256 of its files.
        submitted_at: UTC time, or None if it is not known.
    """

    student: str
    folder: Path
    digest: str
    submitted_at: datetime | None


@dataclass(frozen=True)
class BetterAttempt:
    """An earlier submission that counts from now on, because it has more points."""

    student: str
    submitted_at: datetime | None
    points: float
    points_of_other: float

    def describe(self, zone: str) -> str:
        """Return a sentence for the instructor."""
        when = format_time(self.submitted_at, zone) if self.submitted_at else "an unknown time"
        return (
            f"{self.student}: the one of {when} counts, with {format_points(self.points)} points; "
            f"the other has {format_points(self.points_of_other)}"
        )


@dataclass
class AttemptGrading:
    """The job of grading attempts; each has a name of its own in place of a student's.

    Attributes:
        run: the run that has graded the submissions that count.
        attempts: the attempts to grade, by name.
    """

    run: AssignmentRun
    attempts: dict[str, Attempt] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.course, self.assignment = self.run.course, self.run.assignment
        self.sources, self.tests = self.run.sources, self.run.tests

    def plan_task(self, student: str, before: PreviousResults) -> SubmissionTask:
        """Return the task for an attempt."""
        names = {name: source.identifiers for name, source in self.sources.items()}
        submission = read_submission(self.attempts[student].folder, names)
        notebooks = self.course.attach_digests(submission)
        return SubmissionTask(
            student, notebooks, submission.other_files, dict.fromkeys(notebooks), before
        )

    def build_record(
        self, task: SubmissionTask, graded: Sequence[GradedNotebook]
    ) -> GradedSubmission:
        """Return the results alone, since nothing of an attempt is shown."""
        return GradedSubmission(tuple(g.result for g in graded), {}, frozenset(), None)


class AttemptChooser:
    """Grades the attempts of an assignment and puts the best one in place.

    Args:
        run: the run that has graded the submissions that count.
        summary: its summary.
    """

    def __init__(self, run: AssignmentRun, summary: Summary):
        self._run, self._summary = run, summary
        self._course, self._assignment = run.course, run.assignment
        self._tests = hashlib.sha256(json.dumps(sorted(run.tests.items())).encode()).hexdigest()
        done = {student for student, _ in summary.results} - set(summary.failed)
        self._attempts = {
            student: found
            for student in run.students
            if student in done and (found := list_attempts(self._course, self._assignment, student))
        }
        with Gradebook(self._course.db_url, self._course.course_id) as gradebook:
            rows = read_rows(gradebook.db.connection(), ATTEMPTS, assignment=self._assignment)
        self._points: dict[tuple[str, str], Mapping[str, float]] = {
            (row.student, row.digest): json.loads(row.points)
            for row in rows
            if row.tests == self._tests
        }
        self.job = AttemptGrading(run)
        for attempt in (a for found in self._attempts.values() for a in found):
            if (attempt.student, attempt.digest) not in self._points:
                self.job.attempts[f"{attempt.student}, {attempt.folder.name}"] = attempt

    def grade(self, machine: Executor, busy: Callable[[Sequence[str]], object]) -> None:
        """Grade the attempts that have not been graded; one that fails is tried again next time."""
        given: Iterable[tuple[str, PreviousResults]] = ((name, {}) for name in self.job.attempts)
        for name, outcome in machine.run(given, busy):
            graded = outcome.results if isinstance(outcome, GradedSubmission) else ()
            if graded and all(result.digest for result in graded):
                points = {result.notebook: result.points for result in graded}
                self._keep(self.job.attempts[name], points)

    def put_best_in_place(self) -> list[BetterAttempt]:
        """Let each student's best attempt change places with a worse submission.

        Of two with the same points, after penalties, the later one counts.
        """
        changes = []
        for student, attempts in self._attempts.items():
            current = self._describe_current(student)
            points = {
                result.notebook: result.points
                for (name, _), result in self._summary.results.items()
                if name == student
            }
            self._points[student, current.digest] = points
            graded = [a for a in (current, *attempts) if (student, a.digest) in self._points]
            worth = self._weigh(student, graded)
            best = max(graded, key=lambda a: (round(worth[a.folder], 9), _time_or_last(a)))
            if best.folder == current.folder:
                continue
            self._keep(current, points)
            _exchange(self._course, self._assignment, best, current)
            better = worth[best.folder], worth[current.folder]
            changes.append(BetterAttempt(student, best.submitted_at, *better))
        return changes

    def _describe_current(self, student: str) -> Attempt:
        folder = self._course.submitted(self._assignment, student)
        return _read_attempt(self._course, student, folder)

    def _weigh(self, student: str, attempts: Iterable[Attempt]) -> dict[Path, float]:
        """Return the points of attempts, with the late penalty that each would have."""
        rule = self._course.penalty_rule()
        with Gradebook(self._course.db_url, self._course.course_id) as gradebook:
            found = {}
            for attempt in attempts:
                points = self._points[student, attempt.digest]
                late = read_lateness(gradebook.db, self._assignment, student, attempt.submitted_at)
                off = sum(rule.take_off(student, points, late).values())
                found[attempt.folder] = sum(points.values()) - off
        return found

    def _keep(self, attempt: Attempt, points: Mapping[str, float]) -> None:
        self._points[attempt.student, attempt.digest] = points
        with Gradebook(self._course.db_url, self._course.course_id) as gradebook:
            connection = gradebook.db.connection()
            create_tables(connection)
            replace_row(
                connection,
                ATTEMPTS,
                assignment=self._assignment,
                student=attempt.student,
                digest=attempt.digest,
                tests=self._tests,
                points=json.dumps(points),
            )
            gradebook.db.commit()


def list_attempts(course: Course, assignment: str, student: str) -> list[Attempt]:
    """Return a student's submissions that do not count at present, sorted by folder."""
    parent = course.earlier(assignment, student)
    folders = sorted(parent.iterdir()) if parent.is_dir() else []
    return [
        _read_attempt(course, student, folder)
        for folder in folders
        if folder.is_dir() and not folder.is_symlink() and not folder.name.startswith(".")
    ]


def _read_attempt(course: Course, student: str, folder: Path) -> Attempt:
    sha = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink() and path.name != "timestamp.txt":
            sha.update(path.relative_to(folder).as_posix().encode("utf-8", "replace") + b"\0")
            sha.update(hashlib.sha256(path.read_bytes()).digest())
    time = course.timestamp(Submission({}, read_nbgrader_files(folder)))
    return Attempt(student, folder, sha.hexdigest(), time)


def _exchange(course: Course, assignment: str, best: Attempt, current: Attempt) -> None:
    """Put the best attempt into `submitted/`, and the other one among the earlier ones."""
    kept = course.name_earlier(assignment, best.student, current.submitted_at)
    os.rename(current.folder, kept)
    try:
        os.rename(best.folder, current.folder)
    except OSError:
        os.rename(kept, current.folder)
        raise


def _time_or_last(attempt: Attempt) -> datetime:
    return attempt.submitted_at or datetime.max
