"""Reads lists of students as learning platforms and spreadsheets export them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from autograder.instructor.grading.course_folder import CourseError
from autograder.instructor.sanitize import sanitize_line

# What platforms call each field, best first. In Canvas's gradebook "ID" is its own number.
_TITLES: dict[str, tuple[str, ...]] = {
    "id": (
        "student_id", "username", "user name", "login", "login id", "login_id", "sis login id",
        "sis user id", "id number", "student id", "sid", "student number", "sis id", "id",
    ),
    "first_name": ("first_name", "first name", "firstname", "given name", "forename"),
    "last_name": ("last_name", "last name", "lastname", "surname", "family name"),
    "name": ("full name", "name", "student", "student name", "display name", "user full name"),
    "email": ("email", "email address", "e-mail", "e-mail address", "mail", "user email"),
    "lms_id": ("lms_user_id", "canvas user id", "canvas_user_id", "user id"),
    "platform_id": ("identifier",),
    "submitted": ("last modified (submission)",),
    "group": ("group", "groups", "group name", "group_name", "team"),
    "role": ("role", "roles"),
}  # fmt: skip
_TEACHERS = ("teacher", "instructor", "ta", "manager", "grader", "observer", "designer")
_BEGINNINGS = {
    b"PK\x03\x04": "is an Excel workbook or another archive: save it as CSV",
    b"\xd0\xcf\x11\xe0": "is an old Excel workbook: save it as CSV",
    b"%PDF": "is a PDF: export the list as CSV",
    b"<": "is a web page: export the list as CSV",
}


@dataclass(frozen=True)
class RosterEntry:
    """A student in a list; unknown fields are "".

    Attributes:
        id: login, or the student's number at the university.
        first_name, last_name, email: as the list gives them.
        lms_id: Canvas's number of the user.
        platform_id: Moodle's number of the participant in one assignment.
        submitted: time of submission, as text, in Moodle's grading worksheet.
        group: the group that hands in together.
    """

    id: str = ""
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_id: str = ""
    platform_id: str = ""
    submitted: str = ""
    group: str = ""

    @property
    def name(self) -> str:
        """Return first and last name."""
        return f"{self.first_name} {self.last_name}".strip()


def read_roster_file(path: Path) -> list[RosterEntry]:
    """Return the students of a list, without teachers and rows that are nobody's.

    Raises:
        CourseError: if the file is not such a list.
    """
    rows = read_table(path)
    head = [" ".join(cell.casefold().split()) for cell in rows[0]] if rows else []
    known = {title for titles in _TITLES.values() for title in titles} | {"section"}
    if not {"id", "name", "last_name", "email"} & {
        field for field, titles in _TITLES.items() if set(titles) & set(head)
    }:
        columns = ", ".join(repr(sanitize_line(cell, 40)) for cell in rows[0][:8]) if rows else ""
        raise CourseError(
            f"{path} has no column for students: its first line must name columns such as id, "
            f"first_name, last_name and email; it has {columns or 'nothing'}."
        )
    places = {title: head.index(title) for title in head if title in known}
    entries = []
    for row in rows[1:]:
        cells = {title: row[p].strip() for title, p in places.items() if p < len(row)}
        entry = _read_row(cells)
        if entry is not None:
            entries.append(entry)
    if not entries:
        raise CourseError(f"{path} has a line of titles, but no students below it.")
    return entries


def read_table(path: Path) -> list[list[str]]:
    """Return the rows of a CSV file in any usual encoding, with any usual separator.

    Raises:
        CourseError: if it cannot be read, or is no text.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise CourseError(f"{path} cannot be read: {error.strerror}.") from error
    for beginning, what in _BEGINNINGS.items():
        if content.lstrip().startswith(beginning):
            raise CourseError(f"{path} {what}.")
    text = decode_spreadsheet(content)
    if "\0" in text:
        raise CourseError(f"{path} is not a text file: export the list as CSV.")
    first = next((line for line in text.splitlines() if line.strip()), "")
    if match := re.fullmatch("sep=(.)", first.strip()):  # Excel's own line
        text, separator = text.partition("\n")[2], match[1]
    else:
        separator = max(",;\t|", key=first.count)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        return [row for row in rows if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise CourseError(f"{path} is no CSV file: {error}.") from error


def decode_spreadsheet(content: bytes) -> str:
    """Return the text of a CSV file in UTF-8, UTF-16 or the code page of Windows."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", "replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        pass
    try:  # in Korean Windows every letter beyond ASCII is a Hangul syllable
        korean = content.decode("cp949")
        if re.fullmatch("[\x00-\x7f\uac00-\ud7a3]*", korean):
            return korean
    except UnicodeDecodeError:
        pass
    return content.decode("cp1252", "replace")


def _read_row(cells: Mapping[str, str]) -> RosterEntry | None:
    fields = {field: _first(cells, titles) for field, titles in _TITLES.items()}
    if {"sis login id", "sis user id"} & set(cells) or {"student", "section"} <= set(cells):
        fields["lms_id"] = cells.get("id", "")
        if fields["id"] == fields["lms_id"]:
            fields["id"] = ""
    if any(word in _TEACHERS for word in re.split(r"\W+", fields.pop("role").casefold())):
        return None
    name = fields.pop("name")
    if name.casefold().startswith(("points possible", "student, test", "test student")):
        return None
    if name and not (fields["first_name"] or fields["last_name"]):
        fields["first_name"], fields["last_name"] = split_name(name)
    fields["platform_id"] = "".join(re.findall(r"\d+$", fields["platform_id"]))
    entry = RosterEntry(**fields)
    return entry if entry.id or entry.email or entry.name else None


def split_name(name: str) -> tuple[str, str]:
    """Return first and last name of "Ada Okafor" or "Okafor, Ada"."""
    last, comma, first = name.partition(",")
    if comma:
        return first.strip(), last.strip()
    first, _, last = name.strip().rpartition(" ")
    return (first.strip(), last) if first else (last, "")


def _first(cells: Mapping[str, str], titles: Iterable[str]) -> str:
    return next((cells[title] for title in titles if cells.get(title)), "")
