"""Stores the platforms' names of students and files, and the groups, in the gradebook.

Moodle numbers its participants anew for each assignment; its worksheet and its archives agree on
these numbers, so that a grade finds its way back by them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlalchemy.engine import Connection

from autograder.instructor.grading.extra_gradebook_tables import (
    GROUPS,
    PLATFORM_IDS,
    UPLOAD_NAMES,
    create_tables,
    read_rows,
    replace_row,
)


def read_ids(connection: Connection, assignment: str) -> dict[str, tuple[str, ...]]:
    """Return the ids of an assignment's students on their platform."""
    found: dict[str, tuple[str, ...]] = {}
    for row in read_rows(connection, PLATFORM_IDS, assignment=assignment):
        found[row.student] = (*found.get(row.student, ()), row.identity)
    return found


def write_ids(connection: Connection, assignment: str, ids: Iterable[tuple[str, str]]) -> None:
    """Add pairs of a student and an id; an id that another student had moves to this one.

    The transaction is not committed.
    """
    create_tables(connection)
    for student, identity in ids:
        connection.execute(
            PLATFORM_IDS.delete()
            .where(PLATFORM_IDS.c.assignment == assignment)
            .where(PLATFORM_IDS.c.identity == identity)
        )
        row = {"assignment": assignment, "student": student, "identity": identity}
        connection.execute(PLATFORM_IDS.insert().values(row))


def read_upload_names(
    connection: Connection, assignment: str
) -> dict[str, tuple[str, dict[str, str]]]:
    """Return for each student the platform, and the notebook of each name, or ""."""
    found: dict[str, tuple[str, dict[str, str]]] = {}
    for row in read_rows(connection, UPLOAD_NAMES, assignment=assignment):
        found.setdefault(row.student, (row.platform, {}))[1][row.name] = row.notebook
    return found


def write_upload_names(
    connection: Connection, assignment: str, platform: str, names: Mapping[str, Mapping[str, str]]
) -> None:
    """Record under which names the platform takes feedback back, without committing.

    A name that another student had moves to this one.

    Args:
        connection: the gradebook's connection.
        assignment: name of the assignment.
        platform: name of the platform.
        names: for each student, the notebook of each name, or "".
    """
    create_tables(connection)
    here = UPLOAD_NAMES.c.assignment == assignment
    for student, mine in names.items():
        taken = UPLOAD_NAMES.c.name.in_(list(mine))
        connection.execute(
            UPLOAD_NAMES.delete().where(here & ((UPLOAD_NAMES.c.student == student) | taken))
        )
        for name, notebook in mine.items():
            row = {"assignment": assignment, "student": student, "name": name}
            connection.execute(
                UPLOAD_NAMES.insert().values(row | {"platform": platform, "notebook": notebook})
            )


def read_groups(connection: Connection, assignment: str) -> dict[str, str]:
    """Return the name of the group with which each student handed in."""
    return {row.student: row.name for row in read_rows(connection, GROUPS, assignment=assignment)}


def write_groups(connection: Connection, assignment: str, groups: Mapping[str, str]) -> None:
    """Record with which group students handed in, or "" for alone, without committing."""
    create_tables(connection)
    for student, name in groups.items():
        replace_row(connection, GROUPS, assignment=assignment, student=student, name=name)
