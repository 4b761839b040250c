"""Implements `autograder feedback`."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

from tqdm import tqdm

from autograder.instructor.commands.output import indent, refresh_and_read, say, show
from autograder.instructor.formatting import format_student_count
from autograder.instructor.grading.course_folder import Course, CourseError
from autograder.instructor.grading.gradebook_writer import explain_errors


def feedback(given: argparse.Namespace) -> int:
    """Write feedback pages and print a summary."""
    course = Course(given.course.resolve(), given.db)
    if given.workers:
        course.settings.workers = given.workers
    course.sources(given.assignment)
    graded = course.graded_students(given.assignment)
    if missing := [name for name in given.student if name not in graded]:
        raise CourseError(
            f"{missing[0]!r} has no graded notebooks: run autograder grade {given.assignment}."
        )
    with explain_errors(course.db_url):
        course.check_gradebook()
        refresh_and_read(course, [given.assignment])
        students = given.student or graded
        status = write_feedback(course, given.assignment, students, given.force)
        if given.zip:
            _pack(course, given.assignment, students, given.zip)
        return status


_UPLOAD = {
    "Moodle": "in Moodle, Upload multiple feedback files in a zip",
    "Canvas": "in Canvas, Re-Upload Submissions",
    "": "a folder for each student",
}


def _pack(course: Course, assignment: str, students: Sequence[str], path: Path) -> None:
    """Pack the feedback and say where to upload it."""
    from autograder.instructor.nbgrader.feedback_archive import pack_feedback

    packed = pack_feedback(course, assignment, students, path)
    for platform, names in packed.students.items():
        show(f"{path}: {format_student_count(len(names))}; {_UPLOAD[platform]}.")
    for student, why in packed.left_out.items():
        show(indent(f"{student} is not in it: {why}."))


def write_feedback(
    course: Course, assignment: str, students: Sequence[str], force: bool = False
) -> int:
    """Write the feedback pages of some students and return the exit status."""
    from autograder.instructor.nbgrader.feedback_pages import write_pages

    began = time.monotonic()
    with tqdm(desc="feedback", unit="page", disable=None) as bar:

        def tick(done: int, of: int) -> None:
            bar.total = of
            bar.update()

        written = write_pages(course, assignment, students, force, tick, say)
    show(
        f"feedback: {written.pages} pages written, {written.unchanged} unchanged, "
        f"{len(written.failed)} failed, {time.monotonic() - began:.1f} s."
    )
    for sentence in written.failed:
        show(indent(sentence))
    return 1 if written.failed else 0
