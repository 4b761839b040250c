"""Chooses the best of several submissions of a student, if the course counts the best.

`submitted/` holds the submission that counts, and `earlier_submissions/` the others. The others are
graded as well, without a trace in the gradebook but their points. If one of them has more points
than the one in `submitted/`, the two change places.
"""

from __future__ import annotations

import hashlib
import json
import shutil
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
    FailedSubmission,
    GradedSubmission,
    PreviousResults,
    SubmissionTask,
)
from autograder.instructor.grading.extra_gradebook_tables import (
    ATTEMPTS,
    create_tables,
    read_rows,
    replace_row,
)
from autograder.instructor.grading.gradebook_scores import read_lateness
from autograder.instructor.grading.gradebook_writer import LockRetrier
from autograder.instructor.grading.notebook_grader import GradedNotebook
from autograder.instructor.grading.submission_parser import (
    Submission,
    read_nbgrader_files,
    read_permitted_submission,
)
from autograder.instructor.timestamps import format_time


@dataclass(frozen=True)
class Attempt:
    """A submission of a student, whether it counts or not.

    Attributes:
        student: id of the student.
        folder: its folder.
        digest: SHA-256 of its files.
        submitted_at: UTC time, or None if it is not known.
    """

    student: str
    folder: Path
    digest: str
    submitted_at: datetime | None


@dataclass(frozen=True)
class BetterAttempt:
    """A submission that counts from now on, in place of one with fewer points.

    Attributes:
        student: id of the student.
        submitted_at: UTC time of the one that counts now, or None if it is not known.
        points, points_before: points from the tests of the one that counts now, and of the one that
            counted before, less the penalty of each.
    """

    student: str
    submitted_at: datetime | None
    points: float
    points_before: float

    def describe(self, zone: str) -> str:
        """Return a sentence for the instructor."""
        when = format_time(self.submitted_at, zone) if self.submitted_at else "an unknown time"
        return (
            f"{self.student}: the one of {when}, with {format_points(self.points)} points; the one "
            f"that counted before has {format_points(self.points_before)}"
        )


@dataclass
class AttemptGrading:
    """The job of grading attempts; each has a name of its own in place of a student's.

    Attributes:
        run: the run that has graded the submissions that count.
        attempts: the attempts to grade, by name.
        course, assignment, sources, tests: those of the run.
    """

    run: AssignmentRun
    attempts: dict[str, Attempt] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.course, self.assignment = self.run.course, self.run.assignment
        self.sources, self.tests = self.run.sources, self.run.tests

    def plan_task(self, student: str, before: PreviousResults) -> SubmissionTask:
        """Return the task for an attempt."""
        names = {name: source.identifiers for name, source in self.sources.items()}
        submission = read_permitted_submission(self.attempts[student].folder, names)
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
        run: the run that has graded the submissions that count, all of their exercises.
        summary: its summary; attempts that cannot be graded are added to its failures.
        force: grade all attempts again.
        say: called with a sentence if the gradebook is locked and the run has to wait.
    """

    def __init__(
        self,
        run: AssignmentRun,
        summary: Summary,
        force: bool = False,
        say: Callable[[str], object] = print,
    ):
        self._summary = summary
        self._course, self._assignment = run.course, run.assignment
        self._waiting = LockRetrier(say)
        self._tests = hashlib.sha256(json.dumps(sorted(run.tests.items())).encode()).hexdigest()
        self._points = {} if force else self._waiting.retry_until_done(self._read_points)
        self.job = AttemptGrading(run)
        self._attempts: dict[str, list[Attempt]] = {}
        done = {student for student, _ in summary.results} - set(summary.failed)
        for student in (student for student in run.students if student in done):
            try:
                attempts = list_attempts(self._course, self._assignment, student)
            except OSError as error:  # it affects only this student
                self._fail(student, f"{error.filename} cannot be read: {error.strerror}.")
                continue
            if len(attempts) > 1:
                self._attempts[student] = attempts
            for attempt in attempts[1:]:
                if (student, attempt.digest) not in self._points:
                    self.job.attempts[f"{student}, {attempt.folder.name}"] = attempt

    def grade(self, machine: Executor, busy: Callable[[Sequence[str]], object]) -> None:
        """Grade the attempts that have not been graded; one that fails is tried again next time."""
        given: Iterable[tuple[str, PreviousResults]] = ((name, {}) for name in self.job.attempts)
        for name, outcome in machine.run(given, busy):
            graded = outcome.results if isinstance(outcome, GradedSubmission) else ()
            failed = [result.review for result in graded if not result.digest]
            if graded and not failed:
                points = {result.notebook: result.points for result in graded}
                self._keep(self.job.attempts[name], points)
            else:
                why = outcome.why if isinstance(outcome, FailedSubmission) else "".join(failed[:1])
                self._fail(name, why)

    def put_best_in_place(self) -> list[BetterAttempt]:
        """Let each student's best attempt change places with a worse submission.

        Of two with the same points, after penalties, the later one counts if the times are known.
        """
        changes = []
        for student, (current, *others) in self._attempts.items():
            points = {
                result.notebook: result.points
                for (name, _), result in self._summary.results.items()
                if name == student
            }
            self._keep(current, points)
            graded = [current, *(a for a in others if (student, a.digest) in self._points)]
            timed = all(attempt.submitted_at for attempt in graded)
            worth = self._weigh(student, graded)
            best = max(
                graded,
                key=lambda a: (
                    round(worth[a.folder], 9),
                    (timed and a.submitted_at) or datetime.min,
                    a is current,
                ),
            )
            if best is not current:
                _exchange(self._course, self._assignment, best, current)
                values = worth[best.folder], worth[current.folder]
                changes.append(BetterAttempt(student, best.submitted_at, *values))
        return changes

    def _weigh(self, student: str, attempts: Iterable[Attempt]) -> dict[Path, float]:
        """Return the points of attempts, less the late penalty that each would have."""
        rule = self._course.penalty_rule()
        found = {}
        with Gradebook(self._course.db_url, self._course.course_id) as gradebook:
            for attempt in attempts:
                points = self._points[student, attempt.digest]
                late = read_lateness(gradebook.db, self._assignment, student, attempt.submitted_at)
                off = sum(rule.take_off(student, points, late).values())
                found[attempt.folder] = sum(points.values()) - off
        return found

    def _read_points(self) -> dict[tuple[str, str], Mapping[str, float]]:
        with Gradebook(self._course.db_url, self._course.course_id) as gradebook:
            rows = read_rows(
                gradebook.db.connection(), ATTEMPTS, assignment=self._assignment, tests=self._tests
            )
        return {(row.student, row.digest): json.loads(row.points) for row in rows}

    def _keep(self, attempt: Attempt, points: Mapping[str, float]) -> None:
        """Record the points of an attempt."""
        key = attempt.student, attempt.digest
        if self._points.get(key) == points:
            return
        self._points[key] = points

        def write() -> None:
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

        self._waiting.retry_until_done(write)

    def _fail(self, name: str, why: str) -> None:
        self._summary.failed[f"earlier submission of {name}"] = why


def list_attempts(course: Course, assignment: str, student: str) -> list[Attempt]:
    """Return the submission of a student that counts, and then the others, sorted by folder."""
    parent = course.earlier(assignment, student)
    folders = sorted(parent.iterdir()) if parent.is_dir() else []
    return [
        _read_attempt(course, student, folder)
        for folder in (course.submitted(assignment, student), *folders)
        if folder.is_dir() and not folder.is_symlink() and not folder.name.startswith(".")
    ]


def restore_interrupted(course: Course, assignment: str) -> None:
    """Put the last attempt into place where a run was ended while two changed places."""
    for student in course.students_with_earlier(assignment):
        folder = course.submitted(assignment, student)
        parent = course.earlier(assignment, student)
        kept = [path for path in parent.iterdir() if path.is_dir() and path.name[0] != "."]
        if kept and not folder.exists():
            times = {path: _read_time(course, path) or datetime.min for path in kept}
            folder.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(max(kept, key=lambda path: (times[path], path)), folder)


def _read_attempt(course: Course, student: str, folder: Path) -> Attempt:
    sha = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink() and path.name != "timestamp.txt":
            name = path.relative_to(folder).as_posix().encode("utf-8", "replace")
            sha.update(name + b"\0%d\0" % path.stat().st_size)  # where a file ends
            with path.open("rb") as page:
                while part := page.read(1 << 20):
                    sha.update(part)
    return Attempt(student, folder, sha.hexdigest(), _read_time(course, folder))


def _read_time(course: Course, folder: Path) -> datetime | None:
    return course.timestamp(Submission({}, read_nbgrader_files(folder)))


def _exchange(course: Course, assignment: str, best: Attempt, current: Attempt) -> None:
    """Put the best attempt into `submitted/`, and the other one among the earlier ones."""
    kept = course.name_earlier(assignment, best.student, current.submitted_at)
    shutil.move(current.folder, kept)
    try:
        shutil.move(best.folder, current.folder)
    except OSError:
        shutil.move(kept, current.folder)
        raise
