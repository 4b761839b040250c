"""Printing helpers and scores shared by several commands."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from functools import partial

from nbgrader.api import Gradebook

from autograder.instructor.grading.course_folder import Course
from autograder.instructor.grading.gradebook_scores import Score, read_scores
from autograder.instructor.grading.gradebook_writer import LockRetrier, refresh_gradebook
from autograder.instructor.sanitize import sanitize_line


def say(sentence: str) -> None:
    """Print a sentence about a command's progress."""
    print(sentence, file=sys.stderr)


def show(text: str) -> None:
    """Print a text; work goes on if the reader, such as head, has seen enough."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def indent(text: str) -> str:
    """Return a text as one indented line, safe to print."""
    return "  " + sanitize_line(text)


def refresh_and_read(course: Course, assignments: Iterable[str]) -> dict[str, dict[str, Score]]:
    """Bring penalties up to date, say which have changed, and return what counts."""
    found = {}
    for assignment in sorted(assignments):
        refresh = partial(refresh_gradebook, course, assignment)
        changes = LockRetrier(say).retry_until_done(refresh)
        for change in changes:
            say(sanitize_line(f"{assignment}: {change}."))
        with Gradebook(course.db_url, course.course_id) as gradebook:
            found[assignment] = read_scores(gradebook.db, assignment)
    return found
