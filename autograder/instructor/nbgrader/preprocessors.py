"""Preprocessors that make `nbgrader autograde` and formgrader use our grader.

nbgrader reads a submission, runs the sanitize preprocessors, writes the notebook, reads it again,
and runs the autograde preprocessors. Our sanitize preprocessor rebuilds the notebook; our autograde
preprocessor runs it, judges it and records the grades.
"""

from __future__ import annotations

import atexit
import os
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor
from tornado.log import LogFormatter
from traitlets.config import Config

from autograder.instructor.grading.course_folder import Course
from autograder.instructor.grading.gradebook_writer import GradebookWriter
from autograder.instructor.grading.notebook_grader import open_grader
from autograder.instructor.grading.notebook_rebuilder import rebuild
from autograder.instructor.grading.source_notebook import SourceNotebook
from autograder.instructor.grading.submission_parser import Submission, read_submission
from autograder.instructor.nbgrader import time_zones
from autograder.instructor.sanitize import escape_html, escape_markdown, sanitize_output

Resources = dict[str, Any]


class EmptyNotebookExporter(NotebookExporter):
    """Opens no file: a submitted file may be a pipe or huge, so only our own code reads it."""

    def from_filename(
        self, filename: str, resources: Resources | None = None, **given: Any
    ) -> tuple[NotebookNode, Resources]:
        """Convert an empty notebook, which the preprocessors replace."""
        return self.from_notebook_node(nbformat.v4.new_notebook(), resources=resources, **given)


_until_exit = ExitStack()
atexit.register(_until_exit.close)


class _Assignment:
    """What is prepared once per assignment: its sources, the sandbox and the tests."""

    def __init__(self, course: Course, assignment: str):
        self.course = course
        self.sources: dict[str, SourceNotebook] = course.sources(assignment)
        self.grader = _until_exit.enter_context(
            open_grader(assignment, self.sources, course.settings)
        )
        self._assignment = assignment

    def read(self, student: str) -> Submission:
        """Read a student's folder."""
        names = {name: source.identifiers for name, source in self.sources.items()}
        return read_submission(self.course.submitted(self._assignment, student), names)


_prepared: dict[tuple[str, str], _Assignment] = {}


def _assignment(resources: Resources) -> _Assignment:
    about = resources["nbgrader"]
    key = os.getcwd(), about["assignment"]  # nbgrader runs in the course folder
    if key not in _prepared:
        course = Course(Path.cwd(), about["db_url"])
        _prepared[key] = _Assignment(course, about["assignment"])
    return _prepared[key]


class RebuildSubmission(NbGraderPreprocessor):
    """Rebuilds a submission from its source notebook, without running anything."""

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        """Return the rebuilt notebook."""
        about = resources["nbgrader"]
        prepared = _assignment(resources)
        handed = prepared.read(about["student"]).notebooks[about["notebook"]]
        return rebuild(prepared.sources[about["notebook"]], handed.cells or ()).page, resources


class GradeInSandbox(NbGraderPreprocessor):
    """Runs a submission in the sandbox, judges it outside, and records the grades."""

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        """Return the notebook with outputs and cards."""
        about = resources["nbgrader"]
        prepared = _assignment(resources)
        submission = prepared.read(about["student"])
        course = prepared.course
        handed = course.attach_digests(submission)[about["notebook"]]
        graded = prepared.grader.grade(
            about["student"], about["notebook"], handed, submission.other_files
        )
        untouched = prepared.sources[about["notebook"]].list_untouched(graded.page)
        with GradebookWriter(
            about["db_url"], course.course_id, about["assignment"], course.penalty_rule()
        ) as writer:
            writer.write(about["student"], [graded.result], untouched, course.timestamp(submission))
        return graded.page, resources


class EscapeNames(NbGraderPreprocessor):
    """Escapes the student's names, which formgrader inserts into its submission page as HTML."""

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        """Return the notebook unchanged, with the names in the resources escaped."""
        for name in ("student", "first_name", "last_name"):
            resources[name] = escape_markdown(resources.get(name))  # MathJax reads them too
        resources["notebook_path"] = escape_html(resources.get("notebook_path"))
        return nb, resources


class SanitizingLogFormatter(LogFormatter):
    """Formats nbgrader's log, which contains names of students and files, for a terminal."""

    def format(self, record: Any) -> str:
        """Return one line of the log."""
        return sanitize_output(super().format(record))


MASTERS = ("notebook.md", "solution.py", "mistakes.md")  # they hold answers: no student gets them


def configure(config: Config) -> None:
    """Make nbgrader's autograde command work as `autograder grade` does, and read time zones."""
    time_zones.install()
    # A class folder may have an older nbgrader_config.py, which does not ignore all of them.
    config.CourseDirectory.ignore.extend(MASTERS)
    config.HTMLExporter.preprocessors = [EscapeNames]
    log = {"class": f"{__name__}.{SanitizingLogFormatter.__name__}"}
    config.NbGrader.logging_config = {"formatters": {"console": log}}
    config.Autograde.exporter_class = EmptyNotebookExporter
    config.Autograde.sanitize_preprocessors = [RebuildSubmission]
    config.Autograde.autograde_preprocessors = [GradeInSandbox]
