"""Implements `autograder report` and `autograder bundle`."""

from __future__ import annotations

import argparse

from autograder.instructor.commands.output import refresh_and_read, say
from autograder.instructor.grading.course_folder import Course
from autograder.instructor.grading.gradebook_writer import LockRetrier, explain_errors


def report(given: argparse.Namespace) -> int:
    """Write the instructor's report."""
    from autograder.instructor.report.class_statistics import collect_statistics
    from autograder.instructor.report.html_page import write

    course = Course(given.course.resolve(), given.db)
    course.sources(given.assignment)
    to = given.to or course.root / "reports" / f"{given.assignment}.html"
    with explain_errors(course.db_url):
        course.check_gradebook()
        refresh_and_read(course, [given.assignment])
        about = course.directory, given.assignment, course.exercises
        write(LockRetrier(say).retry_until_done(lambda: collect_statistics(*about)), to)
    print(f"Written: {to}")
    return 0


def bundle(given: argparse.Namespace) -> int:
    """Write the students' bundle."""
    from autograder.instructor.nbgrader import student_bundle as bundles

    print(f"Written: {bundles.write(given.folder, given.course.resolve(), given.last, given.only)}")
    return 0
