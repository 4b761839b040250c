"""A graded class in its own folder, written by nbgrader's API and `gradebook_results.write`.

Nothing is executed: the grader's findings are given.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nbgrader import api
from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory

from autograder.exercises import EXERCISES
from autograder.instructor.grading import gradebook_results
from autograder.instructor.grading.extra_gradebook_tables import create_tables
from autograder.instructor.grading.gradebook_results import ExerciseResult, NotebookResult

# nbgrader calls alembic by name; it is in the folder of this Python.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
# It does so for each new gradebook, which would take a second.
api.get_alembic_version = functools.cache(api.get_alembic_version)

ASSIGNMENT = "bahdanau"
MINE = {name: e for name, e in EXERCISES.items() if e.assignment == ASSIGNMENT}
POINTS = {name: exercise.points for name, exercise in MINE.items()}
ALL_POINTS = sum(POINTS.values())
DUE = "2030-05-01T12:00:00+00:00"


@dataclass(frozen=True)
class Found:
    """A grader's findings about a wrong answer."""

    outcome: str = "wrong"
    points: float = 0.0
    headline: str = "The values are wrong."
    misconception: str = ""


def directory(folder: Path, gradebook: str = "gradebook.db") -> CourseDirectory:
    """Return nbgrader's CourseDirectory of a folder."""
    address = f"sqlite:///{folder / gradebook}"
    return CourseDirectory(root=str(folder), db_url=address, release_directory="exercises")


@dataclass
class Class:
    """A course folder with a gradebook."""

    folder: Path
    assignment: str = ASSIGNMENT
    gradebook: Any = field(init=False)

    def __post_init__(self) -> None:
        self.directory = directory(self.folder)
        self.db_url = self.directory.db_url
        self.gradebook = Gradebook(self.db_url, "attention")
        self.release(self.assignment)

    def release(self, assignment: str, due: str = DUE) -> None:
        self.gradebook.add_assignment(assignment, duedate=due, course_id="attention")
        for name, exercise in MINE.items():
            self.gradebook.update_or_create_notebook(exercise.notebook, assignment)
            self.gradebook.add_grade_cell(
                f"test-{name}",
                exercise.notebook,
                assignment,
                max_score=exercise.points,
                cell_type="code",
            )

    def enrol(self, student: str, **about: str) -> None:
        self.gradebook.update_or_create_student(student, **about)

    def hand_in(
        self,
        student: str,
        found: Mapping[str, Found] | None = None,
        *,
        assignment: str = ASSIGNMENT,
        at: str = "2030-05-01T10:00:00+00:00",
        penalty: float = 0.0,
        remarks: tuple[str, ...] = (),
        review: str = "",
        about: Mapping[str, str] | None = None,
    ) -> None:
        """Hand in and grade, with full points except for exercises in `found`."""
        found = found or {}
        self.enrol(student, **(about or {}))
        submission = self.gradebook.update_or_create_submission(assignment, student, timestamp=at)
        for page in submission.notebooks:
            page.late_submission_penalty = penalty / len(submission.notebooks)
            for grade in page.grades:
                name = grade.name.removeprefix("test-")
                grade.auto_score = found[name].points if name in found else POINTS[name]
                grade.needs_manual_grade = False
            result = self._result(student, assignment, page.name, found, remarks, review)
            connection = self.gradebook.db.connection()
            create_tables(connection)
            gradebook_results.write(connection, result)
        self.gradebook.db.commit()

    def _result(self, student, assignment, notebook, found, remarks, review) -> NotebookResult:
        exercises = []
        for name, exercise in MINE.items():
            if exercise.notebook == notebook:
                what = found.get(name, Found("right", exercise.points, "All is right."))
                exercises.append(
                    ExerciseResult(
                        name,
                        f"test-{name}",
                        what.points,
                        exercise.points,
                        what.outcome,
                        what.headline,
                        what.misconception,
                    )
                )
        return NotebookResult(
            student, assignment, notebook, "0" * 64, tuple(exercises), remarks, review, 1.5
        )

    def by_hand(self, student: str, exercise: str, **changes: Any) -> None:
        """Change a grade like the formgrader: manual_score, extra_credit, needs_manual_grade."""
        grade = self.gradebook.find_grade(
            f"test-{exercise}", MINE[exercise].notebook, self.assignment, student
        )
        for name, value in changes.items():
            setattr(grade, name, value)
        self.gradebook.db.commit()

    def total(self, student: str, assignment: str = ASSIGNMENT) -> float:
        """Return nbgrader's own total."""
        submission = self.gradebook.find_submission(assignment, student)
        return max(0.0, submission.score - submission.late_submission_penalty)
