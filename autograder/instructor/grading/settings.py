"""The settings of grading, for nbgrader_config.py."""

from __future__ import annotations

import os

from traitlets import Bool, Float, Integer
from traitlets.config import Configurable

from autograder.instructor.grading.sandbox import Times
from autograder.sandbox.walls import Limits


class Grading(Configurable):
    """How submissions are run: set as c.Grading.cell_seconds = 60, for example."""

    cell_seconds = Float(30.0, help="Wall time for one cell.").tag(config=True)
    exercise_seconds = Float(30.0, help="Wall time for all calls of one answer.").tag(config=True)
    notebook_seconds = Float(180.0, help="Wall time for a notebook in one go.").tag(config=True)
    start_seconds = Float(120.0, help="Wall time for the sandbox to start.").tag(config=True)
    memory_mb = Integer(2048, help="Memory beyond what the packages take.").tag(config=True)
    scratch_mb = Integer(256, help="Files in the working folder, in all.").tag(config=True)
    file_mb = Integer(128, help="Size of one file.").tag(config=True)
    open_files = Integer(256, help="Open files.").tag(config=True)
    threads = Integer(128, help="Threads; processes cannot be started at all.").tag(config=True)
    workers = Integer(0, help="Submissions at a time; 0: one per processor.").tag(config=True)
    unsafe = Bool(
        False, help="Run students' code without a sandbox, with all rights of whoever grades."
    ).tag(config=True)

    def times(self) -> Times:
        """Return the limits of wall time."""
        return Times(
            self.cell_seconds, self.exercise_seconds, self.notebook_seconds, self.start_seconds
        )

    def limits(self) -> Limits:
        """Return the limits of everything else."""
        return Limits(
            memory=self.memory_mb << 20,
            scratch=self.scratch_mb << 20,
            file_size=self.file_mb << 20,
            open_files=self.open_files,
            processes=self.threads,
        )

    def at_a_time(self) -> int:
        """Return how many submissions are run at a time."""
        if self.workers:
            return self.workers
        known = getattr(os, "sched_getaffinity", None)  # Linux: what this process may use
        return len(known(0)) if known else os.cpu_count() or 1
