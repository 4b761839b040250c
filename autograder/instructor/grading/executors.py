"""Executors that grade submissions: a protocol, and the local one with a process pool."""

from __future__ import annotations

import errno
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from autograder.instructor.grading.bubblewrap import SandboxError
from autograder.instructor.grading.course_folder import Course
from autograder.instructor.grading.notebook_grader import GradedNotebook, NotebookGrader
from autograder.instructor.grading.result_records import NotebookResult
from autograder.instructor.grading.submission_parser import NotebookSubmission
from autograder.instructor.grading.worker_pool import WorkerPool


class GradingJob(Protocol):
    """What is graded: reads a submission, and writes its pages once its notebooks are graded."""

    @property
    def course(self) -> Course:
        """The course."""

    def read(self, student: str, before: PreviousResults) -> SubmissionTask | None:
        """Return what is to be done for a student, or None if nothing is."""

    def finish(self, task: SubmissionTask, graded: Sequence[GradedNotebook]) -> GradedSubmission:
        """Return what is recorded of a submission."""


PreviousResults = Mapping[
    str, NotebookResult
]  # what is kept of a student's notebooks, by their names


@dataclass(frozen=True)
class SubmissionTask:
    """What is to be done for one student.

    Attributes:
        student: nbgrader's name.
        notebooks: what was handed in for the notebooks that need grading.
        beside: the other files.
        only: for each notebook the exercises to grade, None for all of them.
        before: what an earlier run gave, by notebook.
    """

    student: str
    notebooks: Mapping[str, NotebookSubmission]
    beside: Mapping[str, bytes]
    only: Mapping[str, frozenset[str] | None]
    before: PreviousResults = field(default_factory=dict)


@dataclass(frozen=True)
class GradedSubmission:
    """What came of a submission, ready to be recorded.

    Attributes:
        results: of the notebooks that were graded.
        files: all that goes into the folder of graded pages, by name.
        untouched: names of the solution cells that are as they were released.
        timestamp: UTC time at which it was handed in, if that is known.
    """

    results: tuple[NotebookResult, ...]
    files: Mapping[str, bytes]
    untouched: frozenset[str]
    timestamp: datetime | None


@dataclass(frozen=True)
class FailedSubmission:
    """Why a submission could not be graded, a sentence for the instructor."""

    why: str


SubmissionOutcome = (
    GradedSubmission | FailedSubmission | None
)  # None: it was graded before, and has not changed


class Executor(Protocol):
    """Where submissions are graded: this machine's processors, or a cluster."""

    def run(
        self,
        students: Iterable[tuple[str, PreviousResults]],
        busy: Callable[[Sequence[str]], object],
    ) -> Iterator[tuple[str, SubmissionOutcome]]:
        """Yield each student with what came of their submission, in the order in which they end.

        Args:
            students: who handed in, and what was graded of it before.
            busy: called now and then with those that are worked on, longest first.
        """


def grade_notebooks(
    grader: NotebookGrader, task: SubmissionTask, until: float | None = None
) -> list[GradedNotebook]:
    """Grade the notebooks of one task.

    Args:
        grader: of the assignment.
        task: what is to be done.
        until: `time.monotonic()` after which nothing is run any more.
    """
    graded = []
    for name, handed in task.notebooks.items():
        try:
            page_and_result = grader.grade(
                task.student, name, handed, task.beside, task.only.get(name), until
            )
        except (SandboxError, MemoryError):
            raise  # nobody's can be graded; or the guard says it
        except Exception as error:  # a mistake of ours must not end the class's run
            if is_disk_error(error):
                raise
            why = f"The grader failed: {type(error).__name__}: {str(error)[:300]}"
            page_and_result = grader.fail(task.student, name, why)
        graded.append(page_and_result)
    return graded


class LocalExecutor:
    """Grades submissions here, in sandboxes and under guard.

    Args:
        work: what is graded.
        grader: grades a notebook.
        workers: how many submissions at a time.
    """

    def __init__(self, work: GradingJob, grader: NotebookGrader, workers: int):
        self._work, self._grader, self._workers = work, grader, workers

    def run(
        self,
        students: Iterable[tuple[str, PreviousResults]],
        busy: Callable[[Sequence[str]], object],
    ) -> Iterator[tuple[str, SubmissionOutcome]]:
        """Yield each student with what came of their submission, in the order in which they end."""
        waiting: dict[Future[SubmissionOutcome], str] = {}
        left = iter(students)
        with open_worker_pool(self._work, self._workers, self._grader) as guard:
            while True:
                # Twice as many as can be worked on, so that nobody waits for us.
                while len(waiting) < 2 * self._workers and (given := next(left, None)):
                    waiting[guard.submit(_grade_here, *given)] = given[0]
                if not waiting:
                    return
                done, _ = wait(waiting, timeout=1.0, return_when=FIRST_COMPLETED)
                busy([*waiting.values()][: self._workers])
                for future in done:
                    yield waiting.pop(future), read_outcome(future, guard)


def read_outcome(future: Future[SubmissionOutcome], guard: WorkerPool) -> SubmissionOutcome:
    """Return what came of a submission, also if the work on it failed.

    Raises:
        SandboxError: there is no sandbox any more.
        OSError: the disk is full.
    """
    try:
        return future.result()
    except SandboxError:
        raise  # nobody's can be graded
    except Exception as error:
        if is_disk_error(error):
            raise
        return FailedSubmission(guard.explain(error))


def is_disk_error(error: BaseException) -> bool:
    """Tell whether the disk or the rights to it fail, for everybody and not for one file's name."""
    return isinstance(error, OSError) and error.errno in _DISK_ERRNOS


_DISK_ERRNOS = (
    errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EACCES, errno.EPERM, errno.EMFILE,
    errno.ENFILE,
)  # fmt: skip


_worker_context: list[
    tuple[GradingJob, NotebookGrader | None]
] = []  # what a process under guard works on


def open_worker_pool(
    work: GradingJob, count: int, grader: NotebookGrader | None = None
) -> WorkerPool:
    """Return processes that work on submissions; without a grader they read and write only."""

    def begin() -> None:
        _worker_context.append((work, grader))
        if grader is not None:
            grader.begin()

    if grader is not None:
        grader.prepare()
    settings = work.course.settings
    # One go at a notebook may just have begun when the time is over.
    return WorkerPool(count, settings.submission_seconds + settings.notebook_seconds, begin)


def _grade_here(student: str, before: PreviousResults) -> SubmissionOutcome:
    """Read, grade and write the pages of a submission."""
    work, grader = _worker_context[-1]
    assert grader is not None
    until = time.monotonic() + work.course.settings.submission_seconds
    task = work.read(student, before)
    return work.finish(task, grade_notebooks(grader, task, until)) if task else None


def read_submission(student: str, before: PreviousResults) -> SubmissionTask | None:
    """Read a submission that is graded elsewhere."""
    return _worker_context[-1][0].read(student, before)


def write_pages(task: SubmissionTask, graded: Sequence[GradedNotebook]) -> GradedSubmission:
    """Write the pages of a submission that was graded elsewhere."""
    return _worker_context[-1][0].finish(task, graded)
