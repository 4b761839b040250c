"""Reads the grades and comments of all pages of an assignment from nbgrader's gradebook."""

from __future__ import annotations

from dataclasses import dataclass, field

from nbgrader.api import (
    Assignment,
    BaseCell,
    Comment,
    Grade,
    Gradebook,
    GradeCell,
    Notebook,
    SubmittedAssignment,
    SubmittedNotebook,
    TaskCell,
)
from sqlalchemy import func, select


@dataclass
class NotebookGrades:
    """Grades that the gradebook holds for one submitted notebook.

    Attributes:
        score: points for all cells, less the late penalty.
        max_score: points available for all cells.
        late_penalty: points deducted for handing in late.
        cells: points and maximum points of each cell, by grade_id.
        comments: comment on each cell, by grade_id.
    """

    score: float
    max_score: float
    late_penalty: float
    cells: dict[str, tuple[float, float]] = field(default_factory=dict)
    comments: dict[str, str | None] = field(default_factory=dict)


def read_grades(
    db_url: str, course_id: str, assignment: str
) -> dict[tuple[str, str], NotebookGrades]:
    """Return an assignment's grades and comments, by student and notebook."""
    with Gradebook(db_url, course_id) as gradebook:
        read = gradebook.db.execute
        most = {
            identity: points
            for kind in (GradeCell, TaskCell)
            for identity, points in read(select(kind.id, kind.max_score))
        }
        of_notebook = dict(map(tuple, read(select(Notebook.id, Notebook.max_score))))
        scores = dict(
            map(
                tuple,
                read(select(Grade.notebook_id, func.sum(Grade.score)).group_by("notebook_id")),
            )
        )
        found: dict[tuple[str, str], NotebookGrades] = {}
        by_page: dict[str, NotebookGrades] = {}
        handed_in = (
            select(SubmittedNotebook)
            .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
            .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
            .join(Notebook, Notebook.id == SubmittedNotebook.notebook_id)
            .where(Assignment.name == assignment)
        )
        for student, name, page, notebook, penalty in read(
            handed_in.with_only_columns(
                SubmittedAssignment.student_id,
                Notebook.name,
                SubmittedNotebook.id,
                Notebook.id,
                SubmittedNotebook.late_submission_penalty,
            )
        ):
            late = penalty or 0
            grades = NotebookGrades((scores.get(page) or 0.0) - late, of_notebook[notebook], late)
            found[student, name] = by_page[page] = grades
        for page, name, cell, score in read(
            handed_in.join(Grade, Grade.notebook_id == SubmittedNotebook.id)
            .join(BaseCell, BaseCell.id == Grade.cell_id)
            .with_only_columns(SubmittedNotebook.id, BaseCell.name, BaseCell.id, Grade.score)
        ):
            by_page[page].cells[name] = score, most.get(cell) or 0.0
        for page, name, text in read(
            handed_in.join(Comment, Comment.notebook_id == SubmittedNotebook.id)
            .join(BaseCell, BaseCell.id == Comment.cell_id)
            .with_only_columns(SubmittedNotebook.id, BaseCell.name, Comment.comment)
        ):
            by_page[page].comments[name] = text
    return found
