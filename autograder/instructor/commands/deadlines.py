"""Implements `autograder due` and `autograder extend`."""

from __future__ import annotations

import argparse
from datetime import datetime, timedelta

from nbgrader.api import Gradebook, MissingEntry

from autograder.instructor.formatting import format_duration
from autograder.instructor.grading.course_folder import Course, CourseError
from autograder.instructor.grading.gradebook_writer import explain_errors, refresh_gradebook
from autograder.instructor.grading.late_penalties import (
    PenaltyChange,
    read_extensions,
    write_extension,
)
from autograder.instructor.sanitize import sanitize_line
from autograder.instructor.timestamps import TimeError, format_time, parse_time

_DAYS_AT_MOST = 3650


def due(given: argparse.Namespace) -> int:
    """Set or show the due date of an assignment."""
    course = Course(given.course.resolve(), given.db)
    course.sources(given.assignment)
    with explain_errors(course.db_url):
        with Gradebook(course.db_url, course.course_id) as gradebook:
            if given.time:
                try:
                    moment = parse_time(" ".join(given.time), course.timezone)
                except TimeError as error:
                    raise CourseError(str(error)) from error
                gradebook.update_or_create_assignment(given.assignment, duedate=moment)
            until = _find_due_date(gradebook, given.assignment)
            extensions = read_extensions(gradebook.db.connection(), given.assignment)
        changes = refresh_gradebook(course, given.assignment)
    if until is None:
        print(f"{given.assignment} has no due date.")
        return 0
    print(f"{given.assignment} is due {format_time(until, course.timezone)}.")
    for student, extension in sorted(extensions.items()):
        if extension:
            later = format_time(until + extension, course.timezone)
            print(f"  {sanitize_line(student)}: {later}")
    _print_changes(changes)
    return 0


def extend(given: argparse.Namespace) -> int:
    """Give a student more time for an assignment."""
    course = Course(given.course.resolve(), given.db)
    course.sources(given.assignment)
    if not 0 <= given.days <= _DAYS_AT_MOST:
        raise CourseError(f"An extension has 0 to {_DAYS_AT_MOST} days, not {given.days:g}.")
    extension = timedelta(days=given.days)
    with explain_errors(course.db_url):
        with Gradebook(course.db_url, course.course_id) as gradebook:
            try:
                gradebook.find_student(given.student)
            except MissingEntry as error:
                raise CourseError(
                    f"There is no student {given.student!r} in the gradebook: import the roster, "
                    "or write the id as it stands there."
                ) from error
            until = _find_due_date(gradebook, given.assignment)
            connection = gradebook.db.connection()
            write_extension(connection, given.assignment, given.student, extension)
            gradebook.db.commit()
        changes = refresh_gradebook(course, given.assignment)
    more = format_duration(given.days * 86400) + " more" if given.days > 0 else "no more time"
    later = f": {format_time(until + extension, course.timezone)}" if until else ""
    print(f"{sanitize_line(given.student)} has {more} for {given.assignment}{later}.")
    if until is None:
        print(f"{given.assignment} has no due date yet: set it with autograder due.")
    _print_changes(changes)
    return 0


def _find_due_date(gradebook: Gradebook, assignment: str) -> datetime | None:
    try:
        until: datetime | None = gradebook.find_assignment(assignment).duedate
    except MissingEntry:
        return None
    return until


def _print_changes(changes: list[PenaltyChange]) -> None:
    for change in changes:
        print(f"  {sanitize_line(str(change))}")
