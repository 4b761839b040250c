"""Traitlets configuration of grading, set in nbgrader_config.py."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping

from traitlets import Bool, CaselessStrEnum, Float, Integer, Unicode
from traitlets.config import Configurable

from autograder.instructor.grading.notebook_run import TimeLimits
from autograder.sandbox.isolation import Limits
from autograder.spec.exercise import Exercise


class Grading(Configurable):
    """Settings for running submissions, set as c.Grading.cell_seconds = 60, for example."""

    cell_seconds = Float(30.0, help="Wall time for one cell.").tag(config=True)
    exercise_seconds = Float(30.0, help="Wall time for all calls of one answer.").tag(config=True)
    notebook_seconds = Float(180.0, help="Wall time for one run of a notebook.").tag(config=True)
    submission_seconds = Float(
        600.0, help="Wall time for all work on a submission, from reading to writing."
    ).tag(config=True)
    start_seconds = Float(120.0, help="Wall time for the sandbox to start.").tag(config=True)
    page_seconds = Float(60.0, help="Wall time for one feedback page.").tag(config=True)
    memory_mb = Integer(2048, help="Memory beyond what the packages take.").tag(config=True)
    scratch_mb = Integer(256, help="Files in the working folder, in all.").tag(config=True)
    file_mb = Integer(128, help="Size of one file.").tag(config=True)
    open_files = Integer(256, help="Open files.").tag(config=True)
    threads = Integer(128, help="Threads; processes cannot be started at all.").tag(config=True)
    workers = Integer(0, help="Submissions at a time; 0: one per processor.").tag(config=True)
    penalty_per_assignment = Bool(
        False,
        help="Ask the plugin for late penalties once for an assignment, not for each notebook.",
    ).tag(config=True)
    attempts = CaselessStrEnum(
        ["last", "best"],
        default_value="last",
        help="Which of a student's submissions counts: the last, or the one with most points.",
    ).tag(config=True)
    unsafe = Bool(
        False,
        help="Run students' code without a sandbox, with all permissions of the grading user.",
    ).tag(config=True)
    exercises = Unicode("autograder.exercises", help="The module whose EXERCISES are graded.").tag(
        config=True
    )

    def load_exercises(self) -> Mapping[str, Exercise]:
        """Return the course's exercises by name."""
        exercises: Mapping[str, Exercise] = importlib.import_module(self.exercises).EXERCISES
        return exercises

    def times(self) -> TimeLimits:
        """Return the limits on wall time."""
        return TimeLimits(
            self.cell_seconds, self.exercise_seconds, self.notebook_seconds, self.start_seconds
        )

    def limits(self) -> Limits:
        """Return the limits on everything else."""
        return Limits(
            memory=self.memory_mb << 20,
            scratch=self.scratch_mb << 20,
            file_size=self.file_mb << 20,
            open_files=self.open_files,
            processes=self.threads,
        )

    def count_workers(self) -> int:
        """Return how many submissions to grade at a time."""
        if self.workers:
            return self.workers
        known = getattr(os, "sched_getaffinity", None)  # Linux: processors this process may use
        return len(known(0)) if known else os.cpu_count() or 1
