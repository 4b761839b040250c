"""Grades an assignment: submissions run in parallel, one writer, and a run that can be resumed."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

import nbformat
from nbformat import NotebookNode

from autograder.instructor.grading.course import Course, CourseError, digest, put
from autograder.instructor.grading.examination import Examination
from autograder.instructor.grading.gradebook import Writer
from autograder.instructor.grading.grading import Graded, Grader, fingerprints
from autograder.instructor.grading.records import NotebookResult, merged
from autograder.instructor.grading.sandbox import Sandbox, SandboxError
from autograder.instructor.grading.source import Source
from autograder.instructor.grading.submissions import Handed, Submission, read_folder


@dataclass(frozen=True)
class Task:
    """What is to be done for one student.

    Attributes:
        student: nbgrader's name.
        notebooks: what was handed in for the notebooks that need grading.
        beside: the other files.
        only: for each notebook the exercises to grade, None for all of them.
    """

    student: str
    notebooks: Mapping[str, Handed]
    beside: Mapping[str, bytes]
    only: Mapping[str, frozenset[str] | None]


class Machine(Protocol):
    """Where tasks are run: this machine's processors, or a cluster."""

    def run(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, list[Graded]]]:
        """Yield each task with what came of it, in the order in which they end."""


@dataclass
class Summary:
    """What a run did.

    Attributes:
        graded: students whose submission was graded.
        unchanged: students whose submission was graded before.
        results: all that is kept of the assignment, by student and notebook.
    """

    graded: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    results: dict[tuple[str, str], NotebookResult] = field(default_factory=dict)


def run_tasks(grader: Grader, task: Task) -> list[Graded]:
    """Grade the notebooks of one task."""
    graded = []
    for name, handed in task.notebooks.items():
        try:
            found = grader.grade(task.student, name, handed, task.beside, task.only.get(name))
        except SandboxError:
            raise  # nobody's can be graded
        except Exception as error:  # a mistake of ours must not end the class's run
            found = grader.failed(task.student, name, handed, error)
        graded.append(found)
    return graded


class ThisMachine:
    """Runs tasks in sandboxes here.

    Args:
        grader: grades a notebook.
        workers: how many submissions at a time.
    """

    def __init__(self, grader: Grader, workers: int):
        self._grader = grader
        self._workers = workers

    def run(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, list[Graded]]]:
        """Yield each task with what came of it, in the order in which they end."""
        waiting: dict[Future[list[Graded]], Task] = {}
        with ThreadPoolExecutor(self._workers) as threads:
            try:
                for task in tasks:
                    waiting[threads.submit(run_tasks, self._grader, task)] = task
                    # Only so many are read from the disk as can be run soon.
                    if len(waiting) >= 2 * self._workers:
                        yield from _ended(waiting)
                while waiting:
                    yield from _ended(waiting)
            finally:
                for future in waiting:
                    future.cancel()


def _ended(waiting: dict[Future[list[Graded]], Task]) -> Iterator[tuple[Task, list[Graded]]]:
    done, _ = wait(waiting, return_when=FIRST_COMPLETED)
    for future in done:
        yield waiting.pop(future), future.result()


class Run:
    """Grades an assignment of a course.

    Args:
        course: the course.
        assignment: the assignment.
        students: only these; all who handed in if empty.
        exercises: only these are graded again, whether they changed or not.
        force: grade everything again.

    Raises:
        CourseError: there is no such assignment, student or exercise.
    """

    def __init__(
        self,
        course: Course,
        assignment: str,
        students: Sequence[str] = (),
        exercises: Sequence[str] = (),
        force: bool = False,
    ):
        self.course = course
        self.assignment = assignment
        self.sources: dict[str, Source] = course.sources(assignment)
        self.exercises = [c.exercise for s in self.sources.values() for c in s.graded if c.exercise]
        self._only = frozenset(exercises)
        self._force = force
        names = {exercise.name for exercise in self.exercises}
        if unknown := self._only - names:
            raise CourseError(
                f"There is no exercise {sorted(unknown)[0]!r} in {assignment}; there are: "
                f"{', '.join(sorted(names))}."
            )
        there = course.students(assignment)
        if missing := [s for s in students if s not in there]:
            raise CourseError(
                f"{missing[0]} has not handed in {assignment}: there is no folder "
                f"{course.submitted(assignment, missing[0])}."
            )
        self.students = list(students) or there
        if not self.students:
            raise CourseError(
                f"Nobody has handed in {assignment}: put each student's notebooks into "
                f"{course.submitted(assignment, '<student>')}."
            )
        self.tests = fingerprints(self.sources)

    @contextmanager
    def here(self, started: Sandbox | None = None) -> Iterator[ThisMachine]:
        """Provide this machine with a sandbox.

        Args:
            started: one that is on its way up, to be used if it is of the right kind.

        Raises:
            SandboxError: there is none.
        """
        settings = self.course.settings
        if started is not None and started.unsafe != settings.unsafe:
            started.close()
            started = None
        with started or Sandbox(settings.unsafe) as sandbox:
            examination = Examination(self.exercises)
            modules = [name for source in self.sources.values() for name in source.modules]
            sandbox.equip(modules, examination.cases, settings.limits(), settings.times())
            grader = Grader(self.assignment, self.sources, sandbox, examination, self.tests)
            yield ThisMachine(grader, settings.at_a_time())

    def start(
        self, machine: Machine, tick: Callable[[str], object] = lambda student: None
    ) -> Summary:
        """Grade what is new or has changed.

        Args:
            machine: where submissions are run.
            tick: called with each student whose submission is done.
        """
        summary = Summary()
        with (
            self._alone(),
            Writer(
                self.course.db_url,
                self.course.course_id,
                self.assignment,
                self.course.penalties(),
            ) as writer,
        ):
            summary.results = writer.records()
            for task, graded in machine.run(self._tasks(summary, tick)):
                self._record(writer, summary, task, graded)
                summary.graded.append(task.student)
                tick(task.student)
        return summary

    def _tasks(self, summary: Summary, tick: Callable[[str], object]) -> Iterator[Task]:
        names = {name: source.names for name, source in self.sources.items()}
        for student in self.students:
            submission = read_folder(self.course.submitted(self.assignment, student), names)
            task = self._task(student, submission, summary.results)
            if task.notebooks:
                yield task
            else:
                summary.unchanged.append(student)
                tick(student)

    def _task(
        self,
        student: str,
        submission: Submission,
        before: Mapping[tuple[str, str], NotebookResult],
    ) -> Task:
        notebooks: dict[str, Handed] = {}
        only: dict[str, frozenset[str] | None] = {}
        for name, handed in submission.notebooks.items():
            now = replace(handed, digest=digest(handed, submission.beside))
            old = before.get((student, name))
            wanted = self._wanted(name, now, old, student)
            if wanted is None or wanted:
                notebooks[name], only[name] = now, wanted
        return Task(student, notebooks, submission.beside, only)

    def _wanted(
        self, notebook: str, now: Handed, old: NotebookResult | None, student: str
    ) -> frozenset[str] | None:
        """Return which exercises need grading: None for all, the empty set for none."""
        page = self.course.autograded(self.assignment, student) / f"{notebook}.ipynb"
        mine = {c.exercise.name for c in self.sources[notebook].graded if c.exercise}
        if self._only:
            if old is None or old.digest != now.digest or not page.exists():
                return None if self._only & mine else frozenset()
            return frozenset(self._only & mine)
        if self._force or old is None or old.digest != now.digest or not page.exists():
            return None
        kept = {result.exercise: result.tests for result in old.exercises}
        changed = {name for name in mine if kept.get(name) != self.tests[name]}
        return None if changed == mine else frozenset(changed)

    def _record(
        self, writer: Writer, summary: Summary, task: Task, graded: Sequence[Graded]
    ) -> None:
        """Put the pages into their folder, then write the grades."""
        folder = self.course.autograded(self.assignment, task.student)
        pages: dict[str, bytes] = {}
        results = []
        for name in self.sources:
            path = folder / f"{name}.ipynb"
            found = next((g for g in graded if g.result.notebook == name), None)
            if found is None:
                if path.exists():
                    pages[path.name] = path.read_bytes()
                continue
            page, result, only = found.page, found.result, task.only.get(name)
            old = summary.results.get((task.student, name))
            if only is not None and old is not None:
                result = merged(old, result, only)
                page = _with_old_cards(page, path, only)
            pages[path.name] = (nbformat.writes(page) + "\n").encode("utf-8", "replace")
            results.append(result)
        beside = self.course.kept(self.course.submitted(self.assignment, task.student), task.beside)
        put(folder, beside | pages, 0o664 if self.course.directory.groupshared else 0o444)
        writer.write(
            task.student,
            results,
            self._unanswered(graded),
            self.course.timestamp(Submission({}, task.beside)),
        )
        for result in results:
            summary.results[task.student, result.notebook] = result

    def _unanswered(self, graded: Sequence[Graded]) -> set[str]:
        found = set()
        for entry in graded:
            text = {c.metadata.get("nbgrader", {}).get("grade_id"): c for c in entry.page.cells}
            for cell in self.sources[entry.result.notebook].cells:
                answer = text.get(cell.id)
                untouched = answer is None or answer.source.strip() == cell.released.strip()
                if cell.role == "solution" and untouched:
                    found.add(cell.id)
        return found

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Let no second run write at the same time."""
        import fcntl  # there is none on Windows, which has said so before this

        path = self.course.root / ".autograder.lock"
        with open(path, "a+b") as page:
            try:
                fcntl.flock(page, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise CourseError(
                    "Another run is grading in this folder: wait for it, or end it first."
                ) from error
            yield


def _with_old_cards(page: NotebookNode, path: Path, only: Collection[str]) -> NotebookNode:
    """Return the page with the cards of the exercises that were not graded this time."""
    if not os.path.exists(path):
        return page
    page = copy.deepcopy(page)
    before = {c.get("id"): c for c in nbformat.read(path, 4).cells}
    for cell in page.cells:
        options = cell.metadata.get("nbgrader", {})
        if options.get("grade") and options["grade_id"].removeprefix("test-") not in only:
            old = before.get(cell.get("id"))
            if old is not None and old.cell_type == "code":
                cell.outputs = old.outputs
    return page
