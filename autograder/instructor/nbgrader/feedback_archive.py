"""Packs the feedback of a class into one archive, in the form in which its platform takes it back.

- Moodle, *Upload multiple feedback files in a zip*, mod/assign/feedback/file/importziplib.php: a
  file belongs to the participant whose number is in its name,
  `ada_12345_assignsubmission_file_scores.html`.
- Canvas, *Re-Upload Submissions*, infer_comment_context_from_filename in abstract_assignment.rb: a
  file belongs to the user and the attachment whose numbers are in its name, and is shown under the
  name of that attachment. An attachment `scores.ipynb` therefore gets a notebook with the
  feedback, and an attached archive gets an archive with the pages.
- Others: a folder for each student.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.preprocessors import ClearHiddenTests

from autograder.instructor.formatting import format_points
from autograder.instructor.grading.course_folder import Course, write_atomically
from autograder.instructor.grading.gradebook_tables import GROUPS, RETURNS, read_rows
from autograder.instructor.nbgrader.feedback_pages import NotebookGrades, read_grades
from autograder.instructor.nbgrader.shorten_tracebacks import HideOwnTracebacks
from autograder.instructor.sanitize import escape_markdown

_ARCHIVE = re.compile(r"(?i)\.(zip|tar|tgz|tar\.\w+)$")
_NOTEBOOK = re.compile(r"(?i)\.(ipynb|json|txt)$")


@dataclass
class PackedFeedback:
    """What was packed.

    Attributes:
        students: students whose feedback is in the archive, by platform.
        left_out: reason why a student's feedback is not in it, by student.
    """

    students: dict[str, list[str]] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)


def pack_feedback(
    course: Course, assignment: str, students: Sequence[str], path: Path
) -> PackedFeedback:
    """Write an archive with the feedback of some students, whose pages are up to date.

    Args:
        course: the course.
        assignment: name of the assignment.
        students: the students.
        path: the zip file to write.
    """
    with Gradebook(course.db_url, course.course_id) as gradebook:
        connection = gradebook.db.connection()
        rows = read_rows(connection, RETURNS, assignment=assignment)
        together = read_rows(connection, GROUPS, assignment=assignment)
    names: dict[str, dict[str, str]] = {}
    platforms: dict[str, str] = {}
    for row in rows:
        names.setdefault(row.student, {})[row.name] = row.notebook
        platforms[row.student] = row.platform
    groups = {row.student: row.name for row in together if row.name}
    served = {groups[student] for student in platforms if student in groups}
    grades = read_grades(course.db_url, course.course_id, assignment)
    packed = PackedFeedback()
    files: dict[str, bytes] = {}
    for student in students:
        pages = {page.stem: page for page in course.feedback(assignment, student).glob("*.html")}
        platform = platforms.get(student, "")
        if not platform and groups.get(student) in served:
            continue  # Canvas brings it to the whole group
        if not pages:
            packed.left_out[student] = "there is no feedback yet"
            continue
        if platform == "Moodle":
            (prefix,) = names[student]
            mine = {f"{prefix}{name}.html": page.read_bytes() for name, page in pages.items()}
        elif platform == "Canvas":
            of_student = {nb: g for (who, nb), g in grades.items() if who == student}
            notebooks = course.autograded(assignment, student)
            mine = dict(_for_canvas(names[student], pages, notebooks, of_student))
        else:
            mine = {f"{student}/{name}.html": page.read_bytes() for name, page in pages.items()}
        if not mine:
            packed.left_out[student] = (
                "Canvas shows feedback under the name of a file that was handed in, and there is "
                "neither a notebook nor an archive"
            )
            continue
        files |= mine
        packed.students.setdefault(platform, []).append(student)
    write_atomically(path, _zip(files))
    return packed


def _for_canvas(
    names: Mapping[str, str],
    pages: Mapping[str, Path],
    notebooks: Path,
    grades: Mapping[str, NotebookGrades],
) -> Iterator[tuple[str, bytes]]:
    """Yield the files that answer a student's attachments."""
    for name, notebook in names.items():
        if notebook in grades and _NOTEBOOK.search(name):
            page = nbformat.read(notebooks / f"{notebook}.ipynb", 4)
            yield name, make_feedback_notebook(page, notebook, grades).encode()
        elif _ARCHIVE.search(name):
            inside = {f"{page.stem}.html": page.read_bytes() for page in pages.values()}
            yield _ARCHIVE.sub(".zip", name), _zip(inside)


def make_feedback_notebook(
    page: NotebookNode, name: str, grades: Mapping[str, NotebookGrades]
) -> str:
    """Return a graded notebook as its student gets it back.

    Args:
        page: the graded notebook; it is changed.
        name: its name.
        grades: grades of the submission's notebooks, by name.
    """
    for step in (ClearHiddenTests(), HideOwnTracebacks()):
        page, _ = step.preprocess(page, {})
    cells = [_text("feedback", _summarise(grades))]
    for cell in page.cells:
        cells.append(cell)
        identity = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        if identity in grades[name].cells:
            points, most = grades[name].cells[identity]
            earned = f"**{format_points(points)} of {format_points(most)} points**"
            cells.append(_text(f"points-{len(cells)}", earned))
        if comment := grades[name].comments.get(identity):
            cells.append(_text(f"comment-{len(cells)}", f"**Comment:** {escape_markdown(comment)}"))
    page.cells = cells
    return nbformat.writes(page) + "\n"


def _summarise(grades: Mapping[str, NotebookGrades]) -> str:
    lines = ["# Feedback", "", "| notebook | points | of | off for lateness |"]
    lines.append("| --- | --- | --- | --- |")
    for name, mine in sorted(grades.items()):
        cells = (mine.score, mine.max_score, mine.late_penalty)
        numbers = " | ".join(map(format_points, cells))
        lines.append(f"| {name} | {numbers} |")
    return "\n".join(lines)


def _text(name: str, text: str) -> NotebookNode:
    return nbformat.v4.new_markdown_cell(text, id=name)


def _zip(files: Mapping[str, bytes] | Iterable[tuple[str, bytes]]) -> bytes:
    page = io.BytesIO()
    with zipfile.ZipFile(page, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in dict(files).items():
            archive.writestr(name, content)
    return page.getvalue()
