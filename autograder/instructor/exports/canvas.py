"""Exports grades as a CSV file for the gradebook of Canvas."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from traitlets import Dict, Unicode

from autograder.instructor.exports.base import (
    Export,
    ExportedGrades,
    RosterMatcher,
    exit_with_message,
    format_number,
    read_platform_csv,
)
from autograder.instructor.grading.gradebook_scores import Person, Score
from autograder.instructor.sanitize import escape_csv_cell, for_csv_id

_POINTS = "Points Possible"
_TITLE = re.compile(r"(?P<title>.*?)\s*\((?P<id>\d+)\)\s*")
_HEADS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")


@dataclass(frozen=True)
class _Roster:
    """A gradebook that Canvas exported, without its read-only columns.

    Attributes:
        head: titles of the columns up to "Section".
        students: the same columns of each student.
        columns: titles of the other columns, including Canvas's ids.
        points: entries of the row "Points Possible" in those columns.
        cells: entries of each student in those columns.
    """

    head: list[str]
    students: list[list[str]]
    columns: list[str]
    points: list[str]
    cells: list[list[str]]


class Canvas(Export):
    """Writes the CSV file that Canvas imports into its gradebook.

    `nbgrader export --exporter=autograder.instructor.exports.Canvas --to grades.csv`

    Without a roster, a student is identified by nbgrader's id in the column "SIS Login ID" (and by
    `lms_user_id` in the column "ID", if the gradebook has it), and Canvas offers to create an
    assignment whose name it does not know. With a roster, the file that Canvas writes under
    "Export", every student and assignment keeps its Canvas id: `--Canvas.roster=canvas.csv`, or
    `c.Canvas.roster` in nbgrader_config.py.

    A student who handed in nothing gets an empty cell or, with a roster, the existing entry,
    because an empty cell would delete a grade or an "EX" (excused) in Canvas. With
    `missing_as_zero` such students get 0 instead, except those who are excused.

    Formats: lib/gradebook_importer.rb and lib/gradebook_exporter.rb of
    https://github.com/instructure/canvas-lms; for instructors,
    https://teaching.resources.osu.edu/toolsets/carmencanvas/guides/calculating-final-grades/import-csv-file-carmen-grades
    and https://ts.vcu.edu/askit/teaching-and-learning/canvas/faculty/grading-faculty/gradebook-action-menu-faculty/
    """

    roster = Unicode(
        "", help="The gradebook that Canvas exported, a CSV file: its ids are kept."
    ).tag(config=True)

    columns = Dict(
        value_trait=Unicode(),
        key_trait=Unicode(),
        help="Titles or numbers in Canvas, by nbgrader's assignment, where they differ: "
        '{"bahdanau": "Week 3 (1234)"}.',
    ).tag(config=True)

    default_to = "canvas.csv"

    def write(self, grades: ExportedGrades, path: Path) -> None:
        """Write the CSV file."""
        if self.roster:
            rows = self._with_roster(grades, read_roster(self.roster))
        else:
            titles = [escape_csv_cell(self.columns.get(name, name)) for name in grades.assignments]
            points = map(format_number, grades.assignments.values())
            rows = [[*_HEADS, *titles], [f"    {_POINTS}", "", "", "", "", *points]]
            rows += [self._row(grades, _HEADS, person) for person in grades.people]
        self.write_csv(path, rows)

    def _with_roster(self, grades: ExportedGrades, roster: _Roster) -> list[list[str]]:
        places = [self._column(name, roster) for name in grades.assignments]
        titles, points = [], []
        for (name, most), place in zip(grades.assignments.items(), places, strict=True):
            titles.append(escape_csv_cell(self.columns.get(name, name)))
            points.append(format_number(most))
            if place is None:
                self.log.warning(
                    "%s is not in the roster, so Canvas will offer to add it as a new assignment.",
                    name,
                )
                continue
            titles[-1], points[-1] = roster.columns[place], roster.points[place]
            if _differ(points[-1], most):
                self.log.warning(
                    "%s is worth %s points in Canvas and %s here; the scores are written as "
                    "they are here.",
                    name,
                    points[-1],
                    format_number(most),
                )
        matcher = RosterMatcher([_keys(roster.head, row) for row in roster.students])
        ids: dict[str, set[str]] = {}
        for of_assignment in grades.platform_ids.values():
            for name, numbers in of_assignment.items():
                ids.setdefault(name, set()).update(numbers)
        matched = [(matcher.find(p, ids.get(p.id, ())), p) for p in grades.people]
        persons = {place: person for place, person in matched if place is not None}
        blank = [""] * (len(roster.head) - 1)
        rows = [[*roster.head, *titles], [f"    {_POINTS}", *blank, *points]]
        for row, (student, had) in enumerate(zip(roster.students, roster.cells, strict=True)):
            person = persons.get(row)
            if self.student and person is None:
                continue
            cells = []
            for name, place in zip(grades.assignments, places, strict=True):
                score = grades.scores[name].get(person.id) if person else None
                cells.append(self._cell(score, had[place] if place is not None else ""))
            rows.append([*_escape_student_cells(roster.head, student), *cells])
        strangers = [person for place, person in matched if place is None]
        self.warn_of(strangers, "not in the roster, so Canvas will ask which student is meant")
        return rows + [self._row(grades, roster.head, person) for person in strangers]

    def _row(self, grades: ExportedGrades, heads: Sequence[str], person: Person) -> list[str]:
        """Return the row of a student who is not in the roster."""
        name = ", ".join(filter(None, (person.last_name, person.first_name))) or person.id
        cells = {
            "Student": escape_csv_cell(name),
            "LastName": escape_csv_cell(person.last_name),
            "FirstName": escape_csv_cell(person.first_name),
            "ID": person.lms_id if person.lms_id.isdecimal() else "",
            "SIS Login ID": for_csv_id(person.id),
        }
        scores = [self._cell(of.get(person.id)) for of in grades.scores.values()]
        return [*(cells.get(head, "") for head in heads), *scores]

    def _column(self, name: str, roster: _Roster) -> int | None:
        """Return the roster's column for an assignment, found by its title, its number or both."""
        wanted = self.columns.get(name, name).strip().casefold()
        for exact in (True, False):
            same = []
            for place, column in enumerate(roster.columns):
                match = _TITLE.fullmatch(column)
                parts = (match["title"], match["id"]) if match and not exact else (column,)
                if wanted in (part.strip().casefold() for part in parts):
                    same.append(place)
            if len(same) == 1:
                return same[0]
            if same:
                exit_with_message(
                    f"Canvas has {len(same)} assignments named {name!r}; say which by its number, "
                    f"for instance Canvas.columns = {{{name!r}: {roster.columns[same[0]]!r}}}."
                )
        return None

    def _cell(self, score: Score | None, had: str = "") -> str:
        if score is not None:
            return format_number(score.points)
        if self.missing_as_zero and had.strip().upper() != "EX":
            return "0"
        return escape_csv_cell(had)


def read_roster(path: str) -> _Roster:
    """Return the contents of a gradebook that Canvas exported.

    Raises:
        SystemExit: if the file is not such a gradebook.
    """
    head, rows = read_platform_csv(path)
    if "ID" not in head or "Section" not in head or not head[0].endswith(("Student", "LastName")):
        exit_with_message(
            f"{path} is not a gradebook of Canvas; export one there, under Grades, Export."
        )
    end = head.index("Section") + 1
    points = next((row for row in rows if _POINTS in row[0]), [""] * len(head))
    # Columns marked "(read only)" cannot be imported; "Manual Posting" is a separate row.
    places = [p for p in range(end, len(head)) if "read only" not in points[p]]
    students = [row for row in rows if _POINTS not in row[0] and any(map(str.strip, row[:end]))]
    return _Roster(
        head[:end],
        [row[:end] for row in students],
        [head[place] for place in places],
        [points[place].strip() for place in places],
        [[row[place] for place in places] for row in students],
    )


def _keys(head: list[str], row: list[str]) -> list[str]:
    """Return the texts that identify a student in the roster."""
    cells = dict(zip(head, row, strict=True))
    login = cells.get("SIS Login ID", "")
    return [
        cells.get("ID", ""),
        login,
        login.partition("@")[0] if "@" in login else "",
        cells.get("SIS User ID", ""),
    ]


def _escape_student_cells(head: list[str], student: list[str]) -> list[str]:
    names = ("Student", "LastName", "FirstName")
    return [
        (escape_csv_cell if column in names else for_csv_id)(cell)
        for column, cell in zip(head, student, strict=True)
    ]


def _differ(points: str, most: float) -> bool:
    try:
        return abs(float(points.replace(",", ".")) - most) > 0.005  # Canvas shows two decimals
    except ValueError:
        return False
