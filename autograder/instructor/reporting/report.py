"""The instructor's report on a graded assignment: a page for a browser, lines for a terminal."""

from __future__ import annotations

import os
import shutil
import textwrap
from pathlib import Path
from typing import Any

from autograder.instructor.grading.records import OUTCOMES
from autograder.instructor.reporting import words
from autograder.instructor.reporting.facts import Facts, gather
from autograder.instructor.reporting.page import page

_MOST = 8  # lines of a list in the terminal


def write(db_url: str, course: Any, assignment: str, to: Path) -> Path:
    """Write the report as one HTML file that needs no other, and return where it is.

    Args:
        db_url: of nbgrader's gradebook.
        course: the course folder, or nbgrader's CourseDirectory.
        assignment: its name.
        to: the file; its folder is made if need be.

    Raises:
        CourseError: there is no gradebook, or no such assignment in it; a sentence says which.
    """
    text = page(gather(db_url, course, assignment))
    to.parent.mkdir(parents=True, exist_ok=True)
    # A page that someone has open is whole at any moment.
    half = to.with_name(f".{to.name}.{os.getpid()}")
    half.write_text(text, encoding="utf-8")
    half.replace(to)
    return to


def summary(db_url: str, course: Any, assignment: str, width: int = 0) -> str:
    """Return the report in a few lines for a terminal.

    Args:
        db_url: of nbgrader's gradebook.
        course: the course folder, or nbgrader's CourseDirectory.
        assignment: its name.
        width: of the terminal in characters; 0 asks it.

    Raises:
        CourseError: as for `write`.
    """
    return as_text(gather(db_url, course, assignment), width)


def as_text(facts: Facts, width: int = 0) -> str:
    """Return facts as lines for a terminal; nothing of a student's can control it."""
    width = width or min(100, shutil.get_terminal_size().columns)
    lines = [
        f"{facts.assignment}: {facts.handed_in} handed in, {len(facts.points)} graded, "
        f"{len({review.student for review in facts.reviews})} to review",
    ]
    if facts.points:
        lines.append(
            f"Points: mean {words.points(facts.mean)}, median {words.points(facts.median)}, "
            f"of {words.points(facts.max_points)}"
        )
    if facts.exercises:
        lines += ["", *_table(facts)]
    lines += _list("What to teach next", [_said(m) for m in facts.misconceptions], width)
    lines += _list("Other failures", [_said(m) for m in facts.unexplained], width)
    reviews = [f"{r.student}, {r.where}: {r.reason}" for r in facts.reviews]
    lines += _list("To review", reviews, width)
    alike = [f"{', '.join(g.students)} ({g.likeness[0]:.0%} alike)" for g in facts.alike]
    lines += _list("Near-identical", alike, width)
    late = [
        f"{late.student}{_late(late.seconds)}, {words.points(late.penalty)} points taken off"
        for late in facts.late
    ]
    lines += _list("Late", late, width)
    return "\n".join(map(_printable, lines))


def _table(facts: Facts) -> list[str]:
    shown = [o for o in OUTCOMES if any(e.outcomes[o] for e in facts.exercises)]
    rows = [["", *shown, "mean"]]
    for exercise in facts.exercises:
        counts = [str(exercise.outcomes[outcome] or "·") for outcome in shown]
        rows.append([exercise.name, *counts, f"{exercise.mean_share:.0%}"])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  ".join(
            [row[0].ljust(widths[0])]
            + [cell.rjust(size) for cell, size in zip(row[1:], widths[1:], strict=True)]
        ).rstrip()
        for row in rows
    ]


def _said(mistake: Any) -> str:
    title = mistake.title
    if not title.startswith(mistake.exercise):
        title = f"{mistake.exercise}: {title}"
    return f"{title} ({words.people(len(mistake.students))}, {mistake.share:.0%})"


def _late(seconds: float) -> str:
    return f", {words.duration(seconds)} late" if seconds else ""


def _list(title: str, entries: list[str], width: int) -> list[str]:
    if not entries:
        return []
    lines = ["", title]
    for entry in entries[:_MOST]:
        lines += textwrap.wrap(
            " ".join(entry.split()), width, initial_indent="  ", subsequent_indent="    "
        )
    if len(entries) > _MOST:
        lines.append(f"  ... and {len(entries) - _MOST} more; the page has them all.")
    return lines


def _printable(line: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in line)
