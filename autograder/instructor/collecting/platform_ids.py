"""Database table of what platforms call the students, stored beside nbgrader's grades.

Moodle numbers its participants anew for each assignment; its worksheet and its archives agree on
these numbers, so that a grade finds its way back by them. nbgrader ignores the table.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Column, MetaData, String, Table, inspect, select
from sqlalchemy.engine import Connection

_METADATA = MetaData()
TABLE = Table(
    "autograder_platform_id",
    _METADATA,
    Column("assignment", String(128), primary_key=True),
    Column("student", String(128), primary_key=True),
    Column("identity", String(256), primary_key=True),
)


def read_ids(connection: Connection, assignment: str) -> dict[str, tuple[str, ...]]:
    """Return the ids of an assignment's students on their platform."""
    if not inspect(connection).has_table(TABLE.name):
        return {}
    query = select(TABLE.c.student, TABLE.c.identity).where(TABLE.c.assignment == assignment)
    found: dict[str, tuple[str, ...]] = {}
    for student, identity in connection.execute(query.order_by(TABLE.c.identity)):
        found[student] = (*found.get(student, ()), identity)
    return found


def write_ids(connection: Connection, assignment: str, ids: Iterable[tuple[str, str]]) -> None:
    """Add pairs of a student and an id; an id that another student had moves to this one.

    The transaction is not committed.
    """
    _METADATA.create_all(connection)
    for student, identity in ids:
        connection.execute(
            TABLE.delete()
            .where(TABLE.c.assignment == assignment)
            .where(TABLE.c.identity == identity)
        )
        row = {"assignment": assignment, "student": student, "identity": identity}
        connection.execute(TABLE.insert().values(row))
