"""Executors that grade submissions: the protocol, and the local one with a worker pool."""

from __future__ import annotations

import errno
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from autograder.instructor.grading.bwrap_command import SandboxError
from autograder.instructor.grading.course_folder import Course
from autograder.instructor.grading.gradebook_results import NotebookResult
from autograder.instructor.grading.notebook_grader import (
    GradedNotebook,
    NotebookGrader,
    open_grader,
)
from autograder.instructor.grading.sandbox_launcher import Sandbox
from autograder.instructor.grading.source_notebook import SourceNotebook
from autograder.instructor.grading.submission_parser import (
    NotebookSubmission,
    UnreadableNotebookError,
)
from autograder.instructor.grading.worker_pool import WorkerPool


class GradingJob(Protocol):
    """Plans the grading of a submission, and builds its record once it is graded.

    Attributes:
        course: the course.
        assignment: name of the assignment.
        sources: its source notebooks, by name.
        tests: fingerprints of the exercises' tests, by exercise.
    """

    course: Course
    assignment: str
    sources: dict[str, SourceNotebook]
    tests: dict[str, str]

    def plan_task(self, student: str, before: PreviousResults) -> SubmissionTask | None:
        """Return the task for a student, or None if there is nothing to do."""

    def build_record(
        self, task: SubmissionTask, graded: Sequence[GradedNotebook]
    ) -> GradedSubmission:
        """Return what to record for a submission."""


# Recorded results of one student, by notebook.
PreviousResults = Mapping[str, NotebookResult]


@dataclass(frozen=True)
class SubmissionTask:
    """One student's submission, with what to grade in it.

    Attributes:
        student: nbgrader's name of the student, or the job's name of the submission.
        notebooks: submissions of the notebooks that need grading, by notebook.
        beside: contents of the other submitted files, by name.
        only: exercises to grade, by notebook; None for all exercises of the notebook.
        before: results of an earlier run, by notebook.
    """

    student: str
    notebooks: Mapping[str, NotebookSubmission]
    beside: Mapping[str, bytes]
    only: Mapping[str, frozenset[str] | None]
    before: PreviousResults = field(default_factory=dict)


@dataclass(frozen=True)
class GradedSubmission:
    """Result of grading one submission, ready to be recorded.

    Attributes:
        results: results of the graded notebooks.
        files: contents of all files for the folder of graded notebooks, by name.
        untouched: grade_ids of the solution cells that are unchanged since release.
        timestamp: UTC time at which the submission was handed in, or None if it is not known.
    """

    results: tuple[NotebookResult, ...]
    files: Mapping[str, bytes]
    untouched: frozenset[str]
    timestamp: datetime | None


@dataclass(frozen=True)
class FailedSubmission:
    """Reason why a submission could not be graded, as a sentence for the instructor."""

    why: str


# None: the submission has not changed since it was graded.
SubmissionOutcome = GradedSubmission | FailedSubmission | None


class Executor(Protocol):
    """Grades submissions, on this machine's processors or on a cluster."""

    def run(
        self,
        students: Iterable[tuple[str, PreviousResults]],
        busy: Callable[[Sequence[str]], object],
    ) -> Iterator[tuple[str, SubmissionOutcome]]:
        """Yield each student with the outcome of their submission, in the order of completion.

        Args:
            students: names of the job's submissions, usually the students who handed something in,
                each with the results of earlier runs.
            busy: called periodically with the students whose submissions are being graded, longest
                first.
        """


def grade_notebooks(
    grader: NotebookGrader, task: SubmissionTask, until: float | None = None
) -> list[GradedNotebook]:
    """Grade the notebooks of one task.

    Args:
        grader: grader of the assignment.
        task: the task.
        until: value of `time.monotonic()` after which no more code is run.
    """
    graded = []
    for name, handed in task.notebooks.items():
        try:
            page_and_result = grader.grade(
                task.student, name, handed, task.beside, task.only.get(name), until
            )
        except (SandboxError, MemoryError):
            raise  # fatal for the whole run, or explained by the worker pool
        except Exception as error:  # our own bug must not end the run
            if is_disk_error(error):
                raise
            why = f"The grader failed: {type(error).__name__}: {str(error)[:300]}"
            page_and_result = grader.fail(task.student, name, why)
        graded.append(page_and_result)
    return graded


class LocalExecutor:
    """Grades submissions on this machine, in sandboxes and a worker pool.

    Args:
        work: the grading job.
        grader: grader of the notebooks.
        workers: number of submissions graded at a time.
    """

    def __init__(self, work: GradingJob, grader: NotebookGrader, workers: int):
        self._work, self._grader, self._workers = work, grader, workers

    def run(
        self,
        students: Iterable[tuple[str, PreviousResults]],
        busy: Callable[[Sequence[str]], object],
    ) -> Iterator[tuple[str, SubmissionOutcome]]:
        """Yield each student with the outcome of their submission, in the order of completion."""
        waiting: dict[Future[SubmissionOutcome], str] = {}
        left = iter(students)
        with open_worker_pool(self._work, self._workers, self._grader) as guard:
            while True:
                # Queue twice as many submissions as there are workers, so that no worker is idle.
                while len(waiting) < 2 * self._workers and (given := next(left, None)):
                    waiting[guard.submit(_grade_here, *given)] = given[0]
                if not waiting:
                    return
                done, _ = wait(waiting, timeout=1.0, return_when=FIRST_COMPLETED)
                busy([*waiting.values()][: self._workers])
                for future in done:
                    yield waiting.pop(future), read_outcome(future, guard)


@contextmanager
def open_local_executor(job: GradingJob, started: Sandbox | None = None) -> Iterator[LocalExecutor]:
    """Provide an executor on this machine, with a sandbox.

    Args:
        job: the grading job.
        started: a sandbox that is already starting; used if its `unsafe` matches the settings.

    Raises:
        SandboxError: if no sandbox can be started.
    """
    settings = job.course.settings
    with open_grader(
        job.assignment, job.sources, settings, sandbox=started, tests=job.tests
    ) as grader:
        yield LocalExecutor(job, grader, settings.count_workers())


def read_outcome(future: Future[SubmissionOutcome], guard: WorkerPool) -> SubmissionOutcome:
    """Return the outcome of a submission, even if the work on it failed.

    Raises:
        SandboxError: if the sandbox is no longer available.
        OSError: if the disk fails, for example because it is full.
    """
    try:
        return future.result()
    except SandboxError:
        raise  # fatal for the whole run, not just this student
    except UnreadableNotebookError as error:
        return FailedSubmission(str(error))
    except Exception as error:
        if is_disk_error(error):
            raise
        return FailedSubmission(guard.explain_failure(error))


def is_disk_error(error: BaseException) -> bool:
    """Return whether the disk or its permissions fail in general, not for a single file name."""
    return isinstance(error, OSError) and error.errno in _DISK_ERRNOS


_DISK_ERRNOS = (
    errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EACCES, errno.EPERM, errno.EMFILE,
    errno.ENFILE,
)  # fmt: skip


# The job and the grader of this worker process.
_worker_context: list[tuple[GradingJob, NotebookGrader | None]] = []


def open_worker_pool(
    work: GradingJob, count: int, grader: NotebookGrader | None = None
) -> WorkerPool:
    """Return a worker pool for submissions; without a grader, it only plans and records."""

    def begin() -> None:
        _worker_context.append((work, grader))
        if grader is not None:
            grader.start_in_worker()

    if grader is not None:
        grader.prepare()
    settings = work.course.settings
    # A run of a notebook may have only just begun when the time is up.
    return WorkerPool(count, settings.submission_seconds + settings.notebook_seconds, begin)


def _grade_here(student: str, before: PreviousResults) -> SubmissionOutcome:
    """Read and grade a submission, and return what to record."""
    work, grader = _worker_context[-1]
    assert grader is not None
    until = time.monotonic() + work.course.settings.submission_seconds
    task = work.plan_task(student, before)
    return work.build_record(task, grade_notebooks(grader, task, until)) if task else None


def plan_task(student: str, before: PreviousResults) -> SubmissionTask | None:
    """Return the task for a submission that another machine grades."""
    return _worker_context[-1][0].plan_task(student, before)


def build_record(task: SubmissionTask, graded: Sequence[GradedNotebook]) -> GradedSubmission:
    """Return what to record for a submission that another machine graded."""
    return _worker_context[-1][0].build_record(task, graded)
