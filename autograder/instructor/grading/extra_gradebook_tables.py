"""Tables that the course adds to nbgrader's gradebook; nbgrader ignores them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    Column,
    DateTime,
    Float,
    Integer,
    Interval,
    MetaData,
    String,
    Table,
    Text,
    inspect,
    select,
)
from sqlalchemy.engine import Connection

_METADATA = MetaData()


def _key(name: str, length: int = 128) -> Column[str]:
    return Column(name, String(length), primary_key=True)


RESULTS = Table(
    "autograder_result",
    _METADATA,
    _key("assignment"),
    _key("student"),
    _key("notebook"),
    Column("digest", String(64), nullable=False),
    Column("document", Text, nullable=False),
    Column("graded_at", DateTime, nullable=False),
)
"""Results of grading, in the transaction of the grades: a killed run knows what it has graded."""

EXTENSIONS = Table(
    "autograder_extension",
    _METADATA,
    _key("assignment"),
    _key("student"),
    Column("extension", Interval, nullable=False),
)
"""Extensions, also of students who have not handed in yet; nbgrader keeps those of submissions."""

PLATFORM_IDS = Table(
    "autograder_platform_id", _METADATA, _key("assignment"), _key("student"), _key("identity", 256)
)
"""What platforms call the students. Moodle numbers its participants anew for each assignment."""

GROUPS = Table(
    "autograder_group",
    _METADATA,
    _key("assignment"),
    _key("student"),
    Column("name", String(256), nullable=False),
)
"""Groups that handed in together."""

UPLOAD_NAMES = Table(
    "autograder_upload_name",
    _METADATA,
    _key("assignment"),
    _key("student"),
    _key("name", 512),
    Column("platform", String(64), nullable=False),
    Column("notebook", String(128), nullable=False),
)
"""What identifies a student's feedback when it is uploaded: Moodle's number of the participant, or
Canvas's name of each file that was handed in, with the notebook that was found in it or ""."""

ATTEMPTS = Table(
    "autograder_attempt",
    _METADATA,
    _key("assignment"),
    _key("student"),
    _key("digest", 64),
    Column("tests", String(64), nullable=False),
    Column("points", Text, nullable=False),
)
"""Points of submissions that may not count, a JSON object by notebook, without any penalty."""

REGRADES = Table(
    "autograder_regrade",
    _METADATA,
    Column("number", Integer, primary_key=True),
    Column("assignment", String(128), nullable=False),
    Column("student", String(128), nullable=False),
    Column("graded_at", DateTime, nullable=False),
    Column("reason", Text, nullable=False),
    Column("before", Float),
    Column("after", Float, nullable=False),
)
"""Why a student was graded again, when, and the points before and after."""


def create_tables(connection: Connection) -> None:
    """Create the tables that do not exist."""
    _METADATA.create_all(connection)


def read_rows(connection: Connection, table: Table, **where: Any) -> list[Any]:
    """Return the rows with these values, in the order of the key; none if there is no table."""
    if not inspect(connection).has_table(table.name):
        return []
    query = select(table).where(*(table.c[name] == value for name, value in where.items()))
    return list(connection.execute(query.order_by(*table.primary_key.columns)))


def replace_row(connection: Connection, table: Table, **row: Any) -> None:
    """Write a row in place of the one with the same key, without committing.

    The tables must be there, see `create_tables`.
    """
    same = (column == row[column.name] for column in table.primary_key.columns)
    connection.execute(table.delete().where(*same))
    connection.execute(table.insert().values(row))
