"""Grades for Moodle: a CSV file for "Import" in its gradebook, or its offline grading worksheet."""

from __future__ import annotations

from nbgrader.api import Gradebook
from traitlets import Bool, CaselessStrEnum, Dict, Unicode

from autograder.instructor.exports.base import (
    Export,
    Matcher,
    harmless,
    harmless_id,
    harmless_lines,
    number,
    read_csv,
    stop,
)
from autograder.instructor.exports.feedback import diagnoses
from autograder.instructor.reporting import words
from autograder.instructor.reporting.scores import Person, Score

NO_GRADE = "-"
"""Moodle's sign for no grade; an empty cell of a new grade item would not be a number there."""

_IDENTITIES = {"username": "Username", "idnumber": "ID number", "email": "Email address"}
_USUAL_MAXIMUM = 100.0


class Moodle(Export):
    """Writes the CSV file that Moodle imports under Grades, Import, CSV file.

    `nbgrader export --exporter=autograder.instructor.exports.Moodle --to grades.csv`

    In Moodle's form, map the first column to the user, each assignment to its grade item or to a
    new one, and "<assignment> (feedback)" to the feedback for that item; map grade and feedback
    together, because Moodle clears the grade of an item for which only feedback is imported.
    Moodle takes the user of the row before for a row that names nobody, and stops at a user that
    it does not know, so a student without the identity that was chosen is left out, with a
    warning.

    With `--Moodle.worksheet=FILE`, the grading worksheet that Moodle offers for one assignment, its
    columns "Grade" and "Feedback comments" are filled in, to be uploaded there again.

    Formats: https://docs.moodle.org/311/en/Grade_import, and, for what is really read,
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

    default_to = "moodle.csv"

    def export(self, gradebook: Gradebook) -> None:
        """Write the file."""
        assignments = self.chosen_assignments(gradebook)
        people = self.chosen_people(gradebook)
        if self.worksheet and len(assignments) != 1:
            stop("A worksheet is of one assignment; name it with --assignment.")
        scores = self.scores_of(gradebook, assignments, people)
        texts = {name: self._texts(gradebook, name) for name in assignments}
        for name, most in assignments.items():
            self._warn_of_limits(name, most, scores[name])
        if self.worksheet:
            (name,) = assignments
            rows = self._filled_in(name, people, scores[name], texts[name])
        else:
            rows = self._plain(list(assignments), people, scores, texts)
        path = self.write_csv(rows)
        self.log.info("Wrote the grades of %s to %s", words.people(len(rows) - 1), path)

    def _texts(self, gradebook: Gradebook, assignment: str) -> dict[str, str]:
        if not self.feedback:
            return {}
        return diagnoses(self.results_of(gradebook, assignment))

    def _plain(
        self,
        assignments: list[str],
        people: list[Person],
        scores: dict[str, dict[str, Score]],
        texts: dict[str, dict[str, str]],
    ) -> list[list[str]]:
        head = [_IDENTITIES[self.identity], "First name", "Last name"]
        for name in assignments:
            title = harmless(self.columns.get(name, name))
            head += [title, f"{title} (feedback)"] if self.feedback else [title]
        rows = [head]
        nobody = []
        for person in people:
            identity = self._identity(person)
            if not identity:
                nobody.append(person.id)
                continue
            row = [harmless_id(identity), harmless(person.first_name), harmless(person.last_name)]
            for name in assignments:
                score = scores[name].get(person.id)
                row.append(self._cell(score))
                if self.feedback:
                    row.append(texts[name].get(person.id, "") if score else "")
            rows.append(row)
        if nobody:
            self.log.warning(
                "%s left out, of whom the gradebook has no %s: %s",
                words.people(len(nobody)),
                _IDENTITIES[self.identity].lower(),
                ", ".join(nobody),
            )
        return rows

    def _identity(self, person: Person) -> str:
        if self.identity == "email":
            return person.email
        return person.id if self.identity == "username" else person.lms_id or person.id

    def _filled_in(
        self,
        assignment: str,
        people: list[Person],
        scores: dict[str, Score],
        texts: dict[str, str],
    ) -> list[list[str]]:
        rows = read_csv(self.worksheet, "the worksheet")
        head = rows[0] if rows else []
        if self.worksheet_grade not in head:
            stop(
                f"{self.worksheet} has no column {self.worksheet_grade!r}; download the worksheet "
                "from Moodle, or name its column in Moodle.worksheet_grade."
            )
        grade = head.index(self.worksheet_grade)
        comment = head.index(self.worksheet_feedback) if self.worksheet_feedback in head else None
        students = [row + [""] * (len(head) - len(row)) for row in rows[1:]]
        own = (grade, comment)
        matcher = Matcher([[c for i, c in enumerate(row) if i not in own] for row in students])
        strangers = []
        for person in people:
            place = matcher.find(person)
            score = scores.get(person.id)
            if place is None:
                if score is not None:
                    strangers.append(person.id)
                continue
            cell = self._cell(score)
            if cell != NO_GRADE:
                students[place][grade] = cell
            if comment is not None and self.feedback and score and texts.get(person.id):
                students[place][comment] = texts[person.id]
        if strangers:
            self.log.warning(
                "%s: %s not in the worksheet, and so without a grade there: %s",
                assignment,
                words.people(len(strangers)),
                ", ".join(strangers),
            )
        return [head, *([harmless_lines(cell) for cell in row] for row in students)]

    def _cell(self, score: Score | None) -> str:
        if score is not None:
            return number(score.points)
        return "0" if self.missing_as_zero else NO_GRADE

    def _warn_of_limits(self, name: str, most: float, scores: dict[str, Score]) -> None:
        if any(score.points > min(most, _USUAL_MAXIMUM) for score in scores.values()):
            self.log.warning(
                "%s: Moodle takes scores above the %s points of the assignment, or above 100, "
                "only if the site's setting 'unlimitedgrades' is on; here the highest is %s.",
                name,
                number(most),
                number(max(score.points for score in scores.values())),
            )
