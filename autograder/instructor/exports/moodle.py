"""Exports grades as a CSV file for Moodle's gradebook or its offline grading worksheet."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from traitlets import Bool, CaselessStrEnum, Dict, Unicode

from autograder.instructor.exports.base import (
    Export,
    ExportedGrades,
    RosterMatcher,
    describe_cell,
    describe_penalty,
    exit_with_message,
    format_number,
    read_platform_csv,
)
from autograder.instructor.grading.gradebook_results import NotebookResult
from autograder.instructor.grading.gradebook_scores import Person, Score
from autograder.instructor.grading.source_notebook import TEST_PREFIX
from autograder.instructor.sanitize import escape_csv_cell, for_csv_id, for_csv_lines

NO_GRADE = "-"
"""Moodle's sign for no grade; in a new grade item, an empty cell would not count as a number."""

_IDENTITIES = {"username": "Username", "idnumber": "ID number", "email": "Email address"}
_USUAL_MAXIMUM = 100.0


class Moodle(Export):
    """Writes the CSV file that Moodle imports under Grades, Import, CSV file.

    `nbgrader export --exporter=autograder.instructor.exports.Moodle --to grades.csv`

    In Moodle's import form, map the first column to the user, each assignment to its grade item or
    to a new one, and "<assignment> (feedback)" to the feedback for that item. Map grade and
    feedback together, because Moodle clears the grade of an item if only its feedback is imported.
    Moodle gives a row without a user to the user of the previous row, and stops at an unknown user.
    A student without the chosen identity is therefore left out, with a warning.

    With `--Moodle.worksheet=FILE`, where FILE is the grading worksheet that Moodle offers for one
    assignment, the columns "Grade" and "Feedback comments" of the worksheet are filled in, so that
    it can be uploaded again.

    Formats: https://docs.moodle.org/311/en/Grade_import, and, for what Moodle actually reads,
    grade/import/csv/classes/load_data.php and mod/assign/feedback/offline/ of
    https://github.com/moodle/moodle.
    """

    identity = CaselessStrEnum(
        list(_IDENTITIES),
        default_value="username",
        help="By what Moodle knows a student: nbgrader's id as the username, lms_user_id (or, "
        "without one, nbgrader's id) as the ID number, or the email address.",
    ).tag(config=True)

    feedback = Bool(True, help="Write a column with the diagnosis of each exercise.").tag(
        config=True
    )

    columns = Dict(
        value_trait=Unicode(),
        key_trait=Unicode(),
        help="Titles of columns by nbgrader's assignment, where they differ.",
    ).tag(config=True)

    worksheet = Unicode(
        "", help="Moodle's offline grading worksheet of one assignment, to be filled in."
    ).tag(config=True)

    worksheet_grade = Unicode("Grade", help="The worksheet's column of the grade.").tag(config=True)

    worksheet_feedback = Unicode(
        "Feedback comments", help="The worksheet's column of the feedback."
    ).tag(config=True)

    worksheet_maximum = Unicode(
        "Maximum Grade", help="The worksheet's column of the highest grade that Moodle takes."
    ).tag(config=True)

    default_to = "moodle.csv"

    def write(self, grades: ExportedGrades, path: Path) -> None:
        """Write the CSV file."""
        if self.worksheet and len(grades.assignments) != 1:
            exit_with_message("A worksheet holds only one assignment; choose it with --assignment.")
        texts = {
            name: describe(results, grades.scores[name]) if self.feedback else {}
            for name, results in grades.results.items()
        }
        if not self.worksheet:
            for name, most in grades.assignments.items():
                self._warn_of_limits(name, most, grades.scores[name])
        fill = self._fill_in if self.worksheet else self._list
        self.write_csv(path, fill(grades, texts))

    def _list(self, grades: ExportedGrades, texts: dict[str, dict[str, str]]) -> list[list[str]]:
        head = [_IDENTITIES[self.identity], "First name", "Last name"]
        for name in grades.assignments:
            title = escape_csv_cell(self.columns.get(name, name))
            head += [title, f"{title} (feedback)"] if self.feedback else [title]
        rows = [head]
        for person in filter(self._identity, grades.people):
            identity = for_csv_id(self._identity(person))
            row = [identity, escape_csv_cell(person.first_name), escape_csv_cell(person.last_name)]
            for name in grades.assignments:
                score = grades.scores[name].get(person.id)
                row.append(self._cell(score))
                if self.feedback:
                    row.append(texts[name].get(person.id, "") if score else "")
            rows.append(row)
        nobody = [person for person in grades.people if not self._identity(person)]
        known_by = _IDENTITIES[self.identity].lower()
        self.warn_of(nobody, "left out because the gradebook has no {} for them", known_by)
        return rows

    def _identity(self, person: Person) -> str:
        if self.identity == "email":
            return person.email
        return person.id if self.identity == "username" else person.lms_id or person.id

    def _fill_in(self, grades: ExportedGrades, texts: dict[str, dict[str, str]]) -> list[list[str]]:
        (assignment,) = grades.assignments
        head, students = read_platform_csv(self.worksheet)
        if self.worksheet_grade not in head:
            exit_with_message(
                f"{self.worksheet} has no column {self.worksheet_grade!r}; download the worksheet "
                "from Moodle, or name its column in Moodle.worksheet_grade."
            )
        grade = head.index(self.worksheet_grade)
        comment = head.index(self.worksheet_feedback) if self.worksheet_feedback in head else None
        # The columns before the grade identify the student; those after it contain students' own
        # text ("Online text").
        # "Participant 12345" is 12345 in the names of an archive's files.
        numbers = [re.findall(r"\d+$", row[0]) for row in students]
        rows = [[*row[:grade], *n] for row, n in zip(students, numbers, strict=True)]
        matcher = RosterMatcher(rows)
        ids = grades.platform_ids.get(assignment, {})
        strangers = []
        for person in grades.people:
            place = matcher.find(person, ids.get(person.id, ()))
            score = grades.scores[assignment].get(person.id)
            text = texts[assignment].get(person.id)
            if place is None:
                strangers += [person] if score is not None else []
                continue
            cell = self._cell(score)
            if cell != NO_GRADE:
                students[place][grade] = cell
            if comment is not None and score and text:
                students[place][comment] = text
        self.warn_of(strangers, "not in the worksheet of {}, and so without a grade", assignment)
        self._warn_of_maximum(assignment, head, students, grade)
        return [head, *([for_csv_lines(cell) for cell in row] for row in students)]

    def _warn_of_maximum(
        self, assignment: str, head: list[str], students: list[list[str]], grade: int
    ) -> None:
        """Warn of grades above the worksheet's maximum, which Moodle leaves out."""
        if self.worksheet_maximum not in head:
            return
        most = head.index(self.worksheet_maximum)
        pairs = [(_read_number(row[grade]), _read_number(row[most])) for row in students]
        above = [(mine, limit) for mine, limit in pairs if mine > limit]
        if above:
            self.log.warning(
                "%s: Moodle leaves out %d grade(s) above the worksheet's %s of %s. Set 'Maximum "
                "grade' in the assignment's settings in Moodle to at least %s, and download the "
                "worksheet again.",
                assignment,
                len(above),
                self.worksheet_maximum,
                format_number(min(limit for _, limit in above)),
                format_number(max(mine for mine, _ in above)),
            )

    def _cell(self, score: Score | None) -> str:
        if score is not None:
            return format_number(score.points)
        return "0" if self.missing_as_zero else NO_GRADE

    def _warn_of_limits(self, name: str, most: float, scores: dict[str, Score]) -> None:
        if any(score.points > min(most, _USUAL_MAXIMUM) for score in scores.values()):
            self.log.warning(
                "%s: Moodle takes scores above the %s points of the assignment, or above 100, "
                "only if the site's setting 'unlimitedgrades' is on; here the highest is %s.",
                name,
                format_number(most),
                format_number(max(score.points for score in scores.values())),
            )


def _read_number(text: str) -> float:
    """Return the number in a worksheet's cell, or NaN; a comma may stand for the point."""
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return math.nan


def describe(results: Iterable[NotebookResult], scores: Mapping[str, Score]) -> dict[str, str]:
    """Return the text for each student: points and diagnosis of each exercise, comments, lateness.

    The points are those of the gradebook, with points by hand and extra credit. Moodle reads the
    text as HTML, so characters that would begin a tag are escaped.
    """
    by_student: dict[str, list[NotebookResult]] = {}
    for result in results:
        by_student.setdefault(result.student, []).append(result)
    found = {}
    for student, score in scores.items():
        mine = by_student.get(student, [])
        lines = _describe_exercises(mine, score)
        lines += [remark for result in mine for remark in result.remarks]
        lines += filter(None, [describe_penalty(score)])
        text = "\n".join(" ".join(line.split()) for line in lines)
        found[student] = for_csv_lines(html.escape(text, quote=False))
    return found


def _describe_exercises(results: Sequence[NotebookResult], score: Score) -> list[str]:
    """Return a line for each graded cell, in the order of the notebooks."""
    entries = {(r.notebook, e.grade_id): e for r in results for e in r.exercises}
    hand_graded = {(r.notebook, a.grade_id): None for r in results for a in r.by_hand}
    cells = {(cell.notebook, cell.cell): cell for cell in score.cells}
    order = [key for key in (entries | hand_graded) if key in cells]
    lines = []
    for key in (*order, *(key for key in cells if key not in order)):
        cell, entry = cells[key], entries.get(key)
        name = entry.exercise if entry else cell.cell.removeprefix(TEST_PREFIX)
        points = f"{format_number(cell.points)} of {format_number(cell.max_points)}"
        lines.append(" ".join([f"{name}: {points}.", *describe_cell(cell, entry)]))
    return lines
