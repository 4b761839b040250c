"""Pool of processes with limits on time and memory, for work on one submission at a time.

Reading, rebuilding, judging or writing a submission may raise an error, loop forever or use all
memory. In the worker pool, this costs only that one submission.
"""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import signal
import sys
from collections.abc import Callable
from concurrent import futures
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from pebble import ProcessExpired, ProcessPool

from autograder.sandbox.isolation import measure_address_space

MEMORY = 3 << 30  # bytes that a process may use beyond what it starts with
_ON_PARENTS_DEATH = 1  # prctl option: signal to get when the parent dies


class WorkerPool:
    """Processes that work on submissions, forked so that they share what was prepared before.

    Args:
        count: number of processes.
        seconds: wall time after which the work on a submission is killed.
        initializer: called first in each process.
    """

    def __init__(
        self, count: int, seconds: float, initializer: Callable[[], object] = lambda: None
    ):
        self._count, self.seconds, self._initializer = count, seconds, initializer
        self._pool = self._open()
        # Fork now, before the caller opens threads and connections that must not be shared.
        self._pool.schedule(_nothing).result()

    def _open(self) -> ProcessPool:
        context = multiprocessing.get_context("fork")
        return ProcessPool(
            self._count, initializer=_prepare, initargs=[self._initializer], context=context
        )

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, *given: object) -> None:
        self._pool.stop()
        self._pool.join()

    def submit(self, function: Callable[..., Any], *given: Any) -> Future[Any]:
        """Call a function in one of the processes, and return its future."""
        if not self._pool.active:  # a process died while it sent its result
            self._pool = self._open()
        future: Future[Any] = self._pool.schedule(function, args=given, timeout=self.seconds)
        return future

    def explain_failure(self, error: BaseException) -> str:
        """Return a sentence for the instructor that explains an error."""
        if isinstance(error, futures.TimeoutError):
            return (
                f"It took more than {self.seconds:g} seconds and was stopped; please review the "
                "submission."
            )
        if isinstance(error, MemoryError):
            return f"It needs more than {MEMORY >> 30} GB of memory; please review the submission."
        if isinstance(error, (ProcessExpired, BrokenProcessPool)):
            return (
                "The process that graded it died, perhaps because it ran out of memory; the next "
                "run will try again."
            )
        return f"The grader failed: {type(error).__name__}: {str(error)[:300]}"


def _nothing() -> None:
    """Do nothing."""


def _prepare(initializer: Callable[[], object]) -> None:
    """Limit the memory of this process, and make it end with its parent."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_ON_PARENTS_DEATH, signal.SIGKILL, 0, 0, 0)
        import resource  # not available on Windows

        # Set only the soft limit: a process may start the sandbox, which sets its own limits.
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        most = measure_address_space() + MEMORY
        with contextlib.suppress(ValueError, OSError):  # the machine already allows less
            resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    initializer()
