"""nbgrader's own commands on our core: `nbgrader autograde`, and formgrader's button for it.

nbgrader reads a submission, runs the sanitize preprocessors, writes the page, reads it again, and
runs the autograde preprocessors. The first of ours rebuilds the notebook, the second runs, judges
and records it.
"""

from __future__ import annotations

import atexit
import os
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets.config import Config

from autograder.instructor.grading.course import Course, digest
from autograder.instructor.grading.examination import Examination
from autograder.instructor.grading.gradebook import Writer
from autograder.instructor.grading.grading import Grader, fingerprints
from autograder.instructor.grading.rebuilding import rebuild
from autograder.instructor.grading.sandbox import Sandbox
from autograder.instructor.grading.source import Source
from autograder.instructor.grading.submissions import Handed, Submission, read_folder

Resources = dict[str, Any]


class AnyNotebookExporter(NotebookExporter):
    """Reads a file even if it is no valid notebook: the grader sees to that, and says so."""

    def from_filename(
        self, filename: str, resources: Resources | None = None, **given: Any
    ) -> tuple[NotebookNode, Resources]:
        """Convert a file."""
        try:
            return super().from_filename(filename, resources=resources, **given)
        except Exception:  # whatever is wrong with it, the file is read once more by us
            page = nbformat.v4.new_notebook()
            return self.from_notebook_node(page, resources=resources, **given)


class _Assignment:
    """What is prepared once for an assignment: its sources, the sandbox and the tests."""

    def __init__(self, course: Course, assignment: str):
        self.course = course
        self.sources: dict[str, Source] = course.sources(assignment)
        exercises = [c.exercise for s in self.sources.values() for c in s.graded if c.exercise]
        examination = Examination(exercises)
        settings = course.settings
        self.sandbox = Sandbox(
            settings.unsafe,
            [name for source in self.sources.values() for name in source.modules],
            examination.cases,
            settings.limits(),
            settings.times(),
        )
        atexit.register(self.sandbox.close)
        tests = fingerprints(self.sources)
        self.grader = Grader(assignment, self.sources, self.sandbox, examination, tests)
        self._assignment = assignment

    def read(self, student: str) -> Submission:
        """Read a student's folder."""
        names = {name: source.names for name, source in self.sources.items()}
        return read_folder(self.course.submitted(self._assignment, student), names)


_prepared: dict[tuple[str, str], _Assignment] = {}


def _assignment(resources: Resources) -> _Assignment:
    about = resources["nbgrader"]
    key = os.getcwd(), about["assignment"]  # nbgrader works in the course's folder
    if key not in _prepared:
        course = Course(Path.cwd(), about["db_url"])
        _prepared[key] = _Assignment(course, about["assignment"])
    return _prepared[key]


class Rebuild(NbGraderPreprocessor):
    """Rebuild a submission from its source; nothing is run."""

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        """Return the rebuilt notebook."""
        about = resources["nbgrader"]
        prepared = _assignment(resources)
        handed = prepared.read(about["student"]).notebooks[about["notebook"]]
        return rebuild(prepared.sources[about["notebook"]], handed.cells or ()).page, resources


class GradeApart(NbGraderPreprocessor):
    """Run a submission in the sandbox, judge it apart from its code, and record the grades."""

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        """Return the notebook with outputs and cards."""
        about = resources["nbgrader"]
        prepared = _assignment(resources)
        submission = prepared.read(about["student"])
        handed: Handed = submission.notebooks[about["notebook"]]
        handed = Handed(
            handed.cells, digest(handed, submission.beside), handed.remarks, handed.review
        )
        graded = prepared.grader.grade(
            about["student"], about["notebook"], handed, submission.beside
        )
        course = prepared.course
        untouched = {
            cell.id
            for cell in prepared.sources[about["notebook"]].cells
            if cell.role == "solution"
            and not any(
                page.metadata.get("nbgrader", {}).get("grade_id") == cell.id
                and page.source.strip() != cell.released.strip()
                for page in graded.page.cells
            )
        }
        with Writer(
            about["db_url"], course.course_id, about["assignment"], course.penalties()
        ) as writer:
            writer.write(about["student"], [graded.result], untouched, course.timestamp(submission))
        return graded.page, resources


def configure(config: Config) -> None:
    """Set nbgrader's autograde command to work as `autograder grade` does."""
    config.Autograde.exporter_class = AnyNotebookExporter
    config.Autograde.sanitize_preprocessors = [Rebuild]
    config.Autograde.autograde_preprocessors = [GradeApart]
