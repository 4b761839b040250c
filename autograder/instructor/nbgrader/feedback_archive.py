"""Packs a class's feedback into one archive, in its platform's upload format.

- Moodle, *Upload multiple feedback files in a zip*, mod/assign/feedback/file/importziplib.php: a
  file belongs to the participant whose number is in its name,
  `ada_12345_assignsubmission_file_scores.html`.
- Canvas, *Re-Upload Submissions*, infer_comment_context_from_filename in abstract_assignment.rb: a
  file belongs to the user and the attachment whose numbers are in its name, and is shown under the
  name of that attachment. An attachment `scores.ipynb` therefore gets a notebook with the
  feedback, and an attached archive gets an archive with the pages. What one member of a group gets
  is shown to the whole group.
- Others: a folder for each student.
"""

from __future__ import annotations

import io
import re
import tarfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Gradebook

from autograder.instructor.formatting import format_points
from autograder.instructor.grading.course_folder import Course, replace_atomically
from autograder.instructor.grading.lms_records import read_groups, read_upload_names
from autograder.instructor.nbgrader.clear_hidden_tests import ClearOwnHiddenTests
from autograder.instructor.nbgrader.notebook_grades import NotebookGrades, read_grades
from autograder.instructor.nbgrader.shorten_tracebacks import HideOwnTracebacks
from autograder.instructor.sanitize import escape_markdown

_TAR = re.compile(r"(?i)\.(?:tar|tgz|tar\.(?P<kind>gz|bz2|xz))$")
_NO_FILE = (
    "Canvas shows feedback under the name of a file that was handed in, and there is neither a "
    "notebook nor an archive"
)
_NOTEBOOK = re.compile(r"(?i)\.(ipynb|json|txt)$")


@dataclass
class PackedFeedback:
    """What was packed.

    Attributes:
        students: students who get their feedback by the archive, by platform.
        left_out: reason why a student does not, by student.
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
        names = read_upload_names(connection, assignment)
        groups = read_groups(connection, assignment)
    grades = read_grades(course.db_url, course.course_id, assignment)
    packed = PackedFeedback()
    with (
        replace_atomically(path) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for student in students:
            platform, mine = names.get(student, ("", {}))
            if names and not platform:
                continue  # whether it comes with a group is known when the others are packed
            pages = sorted(course.feedback(assignment, student).glob("*.html"))
            count = 0
            if platform == "Canvas":
                of_student = {nb: g for (who, nb), g in grades.items() if who == student}
                notebooks = course.autograded(assignment, student)
                for name, content in _answer_attachments(mine, pages, notebooks, of_student):
                    archive.writestr(name, content)
                    count += 1
            else:
                prefix = _name_for_moodle(student, *mine) if platform == "Moodle" else f"{student}/"
                for page in pages:
                    archive.write(page, f"{prefix}{page.name}")
                    count += 1
            if count:
                packed.students.setdefault(platform, []).append(student)
            else:
                packed.left_out[student] = _NO_FILE if pages else "there is no feedback yet"
    for student in students if names else ():
        if student not in names and student not in packed.left_out:
            platform, why = _find_way(student, names, groups, packed)
            if why:
                packed.left_out[student] = why
            else:
                packed.students[platform].append(student)
    return packed


def _find_way(
    student: str,
    names: Mapping[str, tuple[str, Mapping[str, str]]],
    groups: Mapping[str, str],
    packed: PackedFeedback,
) -> tuple[str, str]:
    """Return how the feedback of a student without upload names goes back, or why it does not."""
    platform = next(iter(names.values()))[0]
    group = groups.get(student, "")
    for mate in names if group and platform == "Canvas" else ():
        if groups.get(mate) == group:
            if mate in packed.students.get(platform, ()):
                return platform, ""
            return platform, f"Canvas shows it to the group with that of {mate}, which is not in it"
    return platform, f"this submission was not collected from an archive of {platform}"


def _name_for_moodle(student: str, number: str) -> str:
    # Moodle reads the number after the first underscore.
    return f"{re.sub('[_/]', '-', student)}_{number}_assignsubmission_file_"


def _answer_attachments(
    names: Mapping[str, str],
    pages: Sequence[Path],
    notebooks: Path,
    grades: Mapping[str, NotebookGrades],
) -> Iterator[tuple[str, bytes]]:
    """Yield the files that answer a student's attachments in Canvas."""
    for name, notebook in names.items():
        if notebook in grades and _NOTEBOOK.search(name):
            page = nbformat.read(notebooks / f"{notebook}.ipynb", 4)
            yield name, make_feedback_notebook(page, notebook, grades).encode()
        elif name.lower().endswith(".zip"):
            yield name, _make_zip(pages)
        elif match := _TAR.search(name):
            packing = "gz" if match[0].lower() == ".tgz" else (match["kind"] or "").lower()
            yield name, _make_tar(pages, packing)


def make_feedback_notebook(
    page: NotebookNode, name: str, grades: Mapping[str, NotebookGrades]
) -> str:
    """Return a graded notebook as its student gets it back.

    Args:
        page: the graded notebook; it is changed.
        name: its name.
        grades: grades of the submission's notebooks, by name.
    """
    for step in (ClearOwnHiddenTests(), HideOwnTracebacks()):
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


def _make_zip(pages: Iterable[Path]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for page in pages:
            archive.write(page, page.name)
    return content.getvalue()


def _make_tar(pages: Iterable[Path], packing: str) -> bytes:
    content = io.BytesIO()
    # The overloads of tarfile.open name each mode.
    with tarfile.open(fileobj=content, mode=f"w:{packing}") as archive:  # type: ignore[call-overload]
        for page in pages:
            archive.add(page, page.name)
    return content.getvalue()
