"""Implements `autograder grade`."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from tqdm import tqdm

from autograder.instructor.commands.feedback import write_feedback
from autograder.instructor.commands.grading_summary import summarise
from autograder.instructor.commands.output import indent, say, show
from autograder.instructor.grading.assignment_run import AssignmentRun, Summary
from autograder.instructor.grading.attempts import (
    AttemptChooser,
    BetterAttempt,
    restore_interrupted,
)
from autograder.instructor.grading.course_folder import Course, CourseError
from autograder.instructor.grading.executors import Executor, GradingJob, open_local_executor
from autograder.instructor.grading.gradebook_writer import LockRetrier, explain_errors
from autograder.instructor.grading.regrade_log import write_regrades
from autograder.instructor.grading.sandbox_launcher import Sandbox
from autograder.instructor.sanitize import sanitize_line


def grade(given: argparse.Namespace, started: Sandbox | None = None) -> int:
    """Grade an assignment and print a summary."""
    torch.set_num_threads(1)  # leave the processors to the submissions
    course = Course(given.course.resolve(), given.db)
    if given.unsafe:
        course.settings.unsafe = True
    if given.workers:
        course.settings.workers = given.workers
    with explain_errors(course.db_url):
        return _grade(given, course, started)


def _grade(given: argparse.Namespace, course: Course, started: Sandbox | None) -> int:
    began = time.monotonic()
    if given.why is not None and not (given.why.strip() and given.student):
        raise CourseError(
            "--why records why a student is graded again: give a reason, and name the student "
            "with --student."
        )
    best = course.settings.attempts == "best" and not given.exercise
    with course.lock_grading():
        if best:
            restore_interrupted(course, given.assignment)
        force = given.force or given.why is not None
        work = AssignmentRun(course, given.assignment, given.student, given.exercise, force)
        if course.settings.unsafe:
            say("Students' code runs without a sandbox, with all your permissions.")
        better: list[BetterAttempt] = []
        with _Progress(work) as progress:
            with _open_executor(given, work, started) as machine:
                summary = work.grade_all(machine, progress.tick, progress.busy, progress.say)
            if best:
                summary, better = _choose_attempts(given, work, summary, progress, force)
    if given.why is not None:
        mine = [student for student in given.student if student in summary.graded]
        about = course, given.assignment, sanitize_line(given.why.strip()), summary, mine
        LockRetrier(say).retry_until_done(lambda: write_regrades(*about))
    show(summarise(work, summary, time.monotonic() - began))
    if better:
        show("Another submission counts than before:")
        show("\n".join(indent(change.describe(course.timezone)) for change in better))
    status = 1 if summary.failed else 0
    if not given.no_feedback:  # including students whom an interrupted run graded
        graded = set(course.graded_students(given.assignment))
        mine = [student for student in work.students if student in graded]
        status = write_feedback(course, given.assignment, mine) or status
    return status


@contextmanager
def _open_executor(
    given: argparse.Namespace, job: GradingJob, started: Sandbox | None = None
) -> Iterator[Executor]:
    """Provide what grades: the machines of a Dask scheduler, or this one."""
    if given.scheduler:
        from autograder.instructor.grading.dask_cluster import DaskExecutor

        with DaskExecutor(given.scheduler, job) as cluster:
            yield cluster
    else:
        with open_local_executor(job, started) as machine:
            yield machine


def _choose_attempts(
    given: argparse.Namespace,
    work: AssignmentRun,
    summary: Summary,
    progress: _Progress,
    force: bool,
) -> tuple[Summary, list[BetterAttempt]]:
    """Put students' best attempts in place and grade them; return the summary of both runs."""
    chooser = AttemptChooser(work, summary, force, progress.say)
    if chooser.job.attempts:
        with _open_executor(given, chooser.job) as machine:
            chooser.grade(machine, progress.busy)
    better = chooser.put_best_in_place()
    if not better:
        return summary, []
    again = AssignmentRun(work.course, work.assignment, [change.student for change in better])
    with _open_executor(given, again) as machine:
        more = again.grade_all(machine, busy=progress.busy, say=progress.say)
    more.graded = sorted({*summary.graded, *more.graded} - set(more.failed))
    more.unchanged = [name for name in summary.unchanged if name not in more.graded]
    more.failed = summary.failed | more.failed
    more.before, more.people, more.strangers = summary.before, summary.people, summary.strangers
    more.penalty_changes = [c for c in summary.penalty_changes if c.student not in more.graded]
    more.find_fewer_points()
    return more, better


SLOW = 5.0  # seconds after which the progress bar names a submission


class _Progress:
    """Shows the progress of a run, and whose submissions take long."""

    def __init__(self, work: AssignmentRun):
        # disable=None shows the bar only on a terminal.
        self._bar = tqdm(
            total=len(work.students), desc=work.assignment, unit="submission", disable=None
        )
        self._since: dict[str, float] = {}

    def __enter__(self) -> _Progress:
        return self

    def __exit__(self, *given: object) -> None:
        self._bar.close()

    def tick(self, student: str) -> None:
        self._bar.update()

    def busy(self, students: Sequence[str]) -> None:
        now = time.monotonic()
        self._since = {student: self._since.get(student, now) for student in students}
        slow = [
            f"{sanitize_line(s)} {now - t:.0f} s" for s, t in self._since.items() if now - t > SLOW
        ]
        self._bar.set_postfix_str(", ".join(slow), refresh=bool(slow))

    def say(self, sentence: str) -> None:
        self._bar.write(sentence, file=sys.stderr)
