"""Grades on a Dask cluster: each worker has a sandbox of its own, one machine writes the gradebook.

Tasks and results are plain data of ours. Students' code runs in the workers' sandboxes, and the
verdict is computed by the worker, as it is on one machine.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

import nbformat

from autograder.instructor.examining import DRAWS
from autograder.instructor.grading.course import CourseError
from autograder.instructor.grading.examination import Examination
from autograder.instructor.grading.grading import Graded, Grader
from autograder.instructor.grading.records import NotebookResult
from autograder.instructor.grading.running import Run, Task, run_tasks
from autograder.instructor.grading.sandbox import Sandbox, Times
from autograder.instructor.grading.source import of_page
from autograder.instructor.grading.submissions import Handed, StudentCell
from autograder.sandbox.walls import Limits

Data = dict[str, Any]
RETRIES = 3  # how often a task is given to another worker when its worker is lost


class Cluster:
    """The workers of a Dask scheduler.

    Args:
        address: of the scheduler.
        work: what is graded.

    Raises:
        CourseError: dask is not installed, or nobody answers at the address.
    """

    def __init__(self, address: str, work: Run):
        try:
            from distributed import Client
        except ModuleNotFoundError as error:
            raise CourseError(
                "--scheduler needs dask: install it with pip install dask distributed."
            ) from error
        try:
            self._client = Client(address, timeout=10, set_as_default=False)
        except (OSError, ValueError) as error:
            raise CourseError(f"No Dask scheduler answers at {address}: {error}") from error
        settings = work.course.settings
        self._setup: Data = {
            "run": secrets.token_hex(8),
            "assignment": work.assignment,
            "sources": {
                name: (nbformat.writes(source.page), source.code_stub)
                for name, source in work.sources.items()
            },
            "seeds": [secrets.randbits(128) for _ in range(DRAWS)],
            "tests": work.tests,
            "limits": asdict(settings.limits()),
            "times": asdict(settings.times()),
            "unsafe": settings.unsafe,
        }

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *given: object) -> None:
        self._client.run(close)
        self._client.close()

    def run(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, list[Graded]]]:
        """Yield each task with what came of it, in the order in which they end."""
        from distributed import as_completed

        waiting: dict[str, Task] = {}
        left = iter(tasks)
        ended = as_completed(loop=self._client.loop)
        while True:
            while len(waiting) < self._room() and (task := next(left, None)) is not None:
                future = self._client.submit(
                    grade_task, self._setup, _packed(task), pure=False, retries=RETRIES
                )
                waiting[str(future.key)] = task
                ended.add(future)
            if not waiting:
                return
            future = next(ended)
            yield waiting.pop(str(future.key)), [_graded(entry) for entry in future.result()]

    def _room(self) -> int:
        """Return how many tasks may be under way: two for each thread there is."""
        threads = sum(self._client.nthreads().values())
        return max(2, 2 * threads)


_lock = threading.Lock()
_graders: dict[str, tuple[Sandbox, Grader]] = {}


def grade_task(setup: Data, task: Data) -> list[Data]:
    """Grade one task on a worker."""
    graded = run_tasks(_grader(setup), _unpacked(task))
    return [{"result": g.result.as_json(), "page": nbformat.writes(g.page)} for g in graded]


def close() -> None:
    """End the sandboxes of this worker."""
    with _lock:
        for sandbox, _ in _graders.values():
            sandbox.close()
        _graders.clear()


def _grader(setup: Data) -> Grader:
    with _lock:
        if setup["run"] not in _graders:
            for sandbox, _ in _graders.values():  # of a run that has been broken off
                sandbox.close()
            _graders.clear()
            sources = {
                name: of_page(name, nbformat.reads(text, 4), stub)
                for name, (text, stub) in setup["sources"].items()
            }
            exercises = [c.exercise for s in sources.values() for c in s.graded if c.exercise]
            examination = Examination(exercises, setup["seeds"])
            modules = [name for source in sources.values() for name in source.modules]
            limits, times = Limits(**setup["limits"]), Times(**setup["times"])
            sandbox = Sandbox(setup["unsafe"], modules, examination.cases, limits, times)
            grader = Grader(setup["assignment"], sources, sandbox, examination, setup["tests"])
            _graders[setup["run"]] = sandbox, grader
        return _graders[setup["run"]][1]


def _packed(task: Task) -> Data:
    return {
        "student": task.student,
        "notebooks": {name: asdict(handed) for name, handed in task.notebooks.items()},
        "beside": dict(task.beside),
        "only": {n: None if only is None else sorted(only) for n, only in task.only.items()},
    }


def _unpacked(data: Data) -> Task:
    notebooks = {}
    for name, given in data["notebooks"].items():
        cells = given["cells"]
        read = None if cells is None else tuple(StudentCell(**cell) for cell in cells)
        notebooks[name] = Handed(read, given["digest"], tuple(given["remarks"]), given["review"])
    only = {n: None if names is None else frozenset(names) for n, names in data["only"].items()}
    return Task(data["student"], notebooks, data["beside"], only)


def _graded(data: Data) -> Graded:
    return Graded(NotebookResult.from_json(data["result"]), nbformat.reads(data["page"], 4))
