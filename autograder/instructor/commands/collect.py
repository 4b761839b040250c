"""Implements `autograder collect` and `autograder roster`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from autograder.instructor import formatting
from autograder.instructor.collecting.collection import (
    CollectedSubmission,
    Collection,
    collect_submissions,
)
from autograder.instructor.collecting.roster_import import import_roster
from autograder.instructor.grading.course_folder import Course
from autograder.instructor.grading.gradebook_writer import explain_errors
from autograder.instructor.sanitize import sanitize_line
from autograder.instructor.timestamps import format_time


def collect(given: argparse.Namespace) -> int:
    """Collect the submissions of an assignment and print who handed in what."""
    course = Course(given.course.resolve(), given.db)
    with explain_errors(course.db_url):
        collection = collect_submissions(course, given.assignment, given.archive)
    print("\n".join(describe_collection(collection, course.timezone)))
    return 0 if collection.submissions else 1


def roster(given: argparse.Namespace) -> int:
    """Import a list of students and print what it changed."""
    course = Course(given.course.resolve(), given.db)
    with explain_errors(course.db_url):
        changes = import_roster(course, given.file)
    print("\n".join(changes.describe(given.file)))
    return 0


def describe_collection(collection: Collection, zone: str = "") -> list[str]:
    """Return the table that is printed after collecting."""
    states = [one.stored.state for one in collection.submissions]
    counts = ", ".join(
        f"{states.count(state)} {state}"
        for state in ("new", "replaced", "unchanged", "older")
        if state in states
    )
    lines = [
        f"{collection.assignment}: {formatting.format_student_count(len(states))}"
        f"{': ' + counts if counts else ''}."
    ]
    lines += [f"  {sanitize_line(n)}: {p}" for n, p in collection.platforms.items()]
    lines += _tabulate(collection.submissions, zone)
    if collection.strangers:
        lines.append(
            f"{len(collection.strangers)} not in the gradebook; correct the roster and collect "
            "again, or rename their folders in submitted/:"
        )
        lines += [f"  {sanitize_line(f'{s}: {w}')}" for s, w in collection.strangers.items()]
    if collection.problems:
        lines.append("Not collected:")
        lines += [f"  {sanitize_line(problem)}" for problem in collection.problems]
    if collection.missing:
        names = sanitize_line(", ".join(collection.missing))
        lines.append(f"{len(collection.missing)} handed in nothing: {names}")
    return lines


def _tabulate(submissions: Sequence[CollectedSubmission], zone: str) -> list[str]:
    rows = []
    for one in submissions:
        time = one.stored.submitted_at
        when = format_time(time, zone) if time else "late, time unknown" if one.late else "unknown"
        found = ", ".join(
            name if Path(path).name == f"{name}.ipynb" else f"{name} ({sanitize_line(path)})"
            for name, path in one.notebooks.items()
            if path
        )
        rows.append((sanitize_line(one.student), when, one.stored.state, found or "no notebook"))
    if not rows:
        return []
    rows.insert(0, ("student", "handed in", "", "notebooks"))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    lines = []
    for row, submission in zip(rows, (None, *submissions), strict=True):
        cells = (f"{cell:{width}}" for cell, width in zip(row, widths, strict=False))
        lines.append(f"  {'  '.join(cells)}  {row[3]}")
        lines += [f"    {sanitize_line(r)}" for r in (submission.remarks if submission else ())]
    return lines
