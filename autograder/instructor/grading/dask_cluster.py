"""Grades submissions on a Dask cluster; each worker has its own sandbox.

Tasks and results are plain data of our own classes. Students' code runs in the workers' sandboxes,
and the worker computes the verdict, as on a single machine.
"""

from __future__ import annotations

import os
import secrets
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent import futures
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from typing import Any

import nbformat

from autograder.instructor.grading.bwrap_command import SandboxError
from autograder.instructor.grading.course_folder import CourseError
from autograder.instructor.grading.executors import (
    FailedSubmission,
    GradingJob,
    PreviousResults,
    SubmissionOutcome,
    SubmissionTask,
    build_record,
    grade_notebooks,
    open_worker_pool,
    plan_task,
    read_outcome,
)
from autograder.instructor.grading.hidden_tests import HIDDEN_DRAWS
from autograder.instructor.grading.notebook_grader import (
    GradedNotebook,
    NotebookGrader,
    open_grader,
)
from autograder.instructor.grading.settings import Grading
from autograder.instructor.grading.source_notebook import parse_source
from autograder.instructor.grading.worker_pool import WorkerPool

Data = dict[str, Any]
RETRIES = 3  # how often a task is retried on another worker if its worker is lost


@dataclass
class _Sent:
    """A task that has been sent to a worker."""

    task: SubmissionTask
    future: Any
    late: bool = False


class TaskClock:
    """Records when tasks began, as their workers report; a queued task has not begun.

    Args:
        client: client of the scheduler.
        topic: topic under which the workers report.
    """

    def __init__(self, client: Any, topic: str):
        self._began: dict[str, tuple[float, str]] = {}
        client.subscribe_topic(topic, self._on_task_start)

    def _on_task_start(self, event: tuple[float, Data]) -> None:
        _, said = event
        # A task that restarts on another worker overwrites its entry.
        self._began[said["key"]] = time.monotonic(), said["worker"]

    def find_late(self, seconds: float, workers: Collection[str]) -> dict[str, str]:
        """Return the overdue tasks, finished ones included, with the addresses of their workers.

        Args:
            seconds: how long a task may take.
            workers: connected workers; a task that began on any other worker will restart.
        """
        now = time.monotonic()
        began = list(self._began.items())  # the client's own thread writes to it
        return {key: by for key, (at, by) in began if by in workers and now - at > seconds}


def announce_task_start(topic: str) -> None:
    """Report that the current task has begun; called on a worker."""
    from distributed import get_worker

    worker = get_worker()
    worker.log_event(topic, {"key": worker.get_current_task(), "worker": worker.address})


class DaskExecutor:
    """Grades submissions on the workers of a Dask scheduler.

    Args:
        address: address of the scheduler.
        work: the grading job.

    Raises:
        CourseError: if Dask is not installed, or no scheduler answers at the address.
    """

    def __init__(self, address: str, work: GradingJob):
        try:
            from distributed import Client
        except ModuleNotFoundError as error:
            raise CourseError(
                "--scheduler needs dask: install it with pip install dask distributed."
            ) from error
        self._guard = open_worker_pool(work, 1)  # reads and records on this machine
        try:
            self._client = Client(address, timeout=10, set_as_default=False)
        except (OSError, ValueError) as error:
            raise CourseError(f"No Dask scheduler answers at {address}: {error}") from error
        settings = work.course.settings
        self._ended = threading.Event()
        run = secrets.token_hex(8)
        self._clock = TaskClock(self._client, run)
        self._setup: Data = {
            "run": run,
            "assignment": work.assignment,
            "sources": {
                name: (nbformat.writes(source.page), source.code_stub)
                for name, source in work.sources.items()
            },
            "seeds": [secrets.randbits(128) for _ in range(HIDDEN_DRAWS)],
            "tests": work.tests,
            "settings": settings.trait_values(config=True),
        }

    def __enter__(self) -> DaskExecutor:
        return self

    def __exit__(self, *given: object) -> None:
        self._client.run(close_worker_sandboxes)
        self._client.close()
        self._guard.__exit__()

    def run(
        self,
        students: Iterable[tuple[str, PreviousResults]],
        busy: Callable[[Sequence[str]], object],
    ) -> Iterator[tuple[str, SubmissionOutcome]]:
        """Yield each student with the outcome of their submission, in the order of completion."""
        left = iter(students)
        guard = self._guard
        waiting: dict[str, _Sent] = {}
        while True:
            while len(waiting) < self._max_in_progress() and (given := next(left, None)):
                task = read_outcome(guard.submit(plan_task, *given), guard)
                if isinstance(task, SubmissionTask):
                    sent = self._send(task)
                    waiting[sent.future.key] = sent
                else:
                    yield given[0], task
            if not waiting:
                return
            busy([sent.task.student for sent in waiting.values()])
            for sent in self._wait(waiting, guard.seconds):
                del waiting[sent.future.key]
                yield sent.task.student, self._finish(sent, guard)

    def _send(self, task: SubmissionTask) -> _Sent:
        needed = replace(task, before={})
        future = self._client.submit(grade_task, self._setup, needed, pure=False, retries=RETRIES)
        future.add_done_callback(lambda future: self._ended.set())
        return _Sent(task, future)

    def _wait(self, waiting: dict[str, _Sent], seconds: float) -> list[_Sent]:
        """Return the tasks that have ended; kill the worker of a task that takes too long."""
        self._ended.wait(1.0)
        self._ended.clear()
        if ended := [sent for sent in waiting.values() if sent.future.done()]:
            return ended
        late = self._clock.find_late(seconds, self._client.nthreads())
        for key in waiting.keys() & late.keys():
            sent = waiting[key]
            sent.future.cancel()
            sent.late = True
            with suppress(Exception):  # exiting breaks the connection
                self._client.run(os._exit, 1, workers=[late[key]], wait=False)
            ended.append(sent)
        return ended

    def _finish(self, sent: _Sent, guard: WorkerPool) -> SubmissionOutcome:
        if sent.late:
            return FailedSubmission(guard.explain_failure(futures.TimeoutError()))
        try:
            graded = sent.future.result()
        except SandboxError:
            raise  # fatal for the whole run, not just this student
        except Exception as error:  # its workers died, or its pages are unusable
            return FailedSubmission(guard.explain_failure(error))
        return read_outcome(guard.submit(build_record, sent.task, graded), guard)

    def _max_in_progress(self) -> int:
        """Return how many tasks may be in progress: two for each thread of the workers."""
        threads = sum(self._client.nthreads().values())
        return max(2, 2 * threads)


_lock = threading.Lock()
_graders: dict[str, NotebookGrader] = {}  # of this worker's current run
_opened = ExitStack()  # their sandboxes


def grade_task(setup: Data, task: SubmissionTask) -> list[GradedNotebook]:
    """Grade one task on a worker."""
    announce_task_start(setup["run"])
    until = time.monotonic() + setup["settings"]["submission_seconds"]
    return grade_notebooks(_grader(setup), task, until)


def close_worker_sandboxes() -> None:
    """Close the sandboxes of this worker."""
    with _lock:
        _opened.close()
        _graders.clear()


def _grader(setup: Data) -> NotebookGrader:
    with _lock:
        if setup["run"] not in _graders:
            _opened.close()  # left by an interrupted run
            _graders.clear()
            settings = Grading(**setup["settings"])
            exercises = settings.load_exercises()
            sources = {
                name: parse_source(name, nbformat.reads(text, 4), stub, exercises)
                for name, (text, stub) in setup["sources"].items()
            }
            _graders[setup["run"]] = _opened.enter_context(
                open_grader(
                    setup["assignment"],
                    sources,
                    settings,
                    seeds=setup["seeds"],
                    tests=setup["tests"],
                )
            )
        return _graders[setup["run"]]
