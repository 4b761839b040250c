"""Base class and CSV helpers for the grade exports."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from nbgrader.api import Gradebook
from nbgrader.plugins import ExportPlugin
from traitlets import Bool

from autograder.instructor import formatting
from autograder.instructor.collecting.roster_files import read_table
from autograder.instructor.grading import gradebook_results, lms_records
from autograder.instructor.grading.course_folder import Course, CourseError, write_atomically
from autograder.instructor.grading.gradebook_results import ExerciseResult, NotebookResult
from autograder.instructor.grading.gradebook_scores import (
    CellScore,
    Person,
    Score,
    read_max_points,
    read_people,
    read_scores,
)
from autograder.instructor.grading.gradebook_writer import refresh_gradebook
from autograder.instructor.sanitize import sanitize_line


@dataclass(frozen=True)
class ExportedGrades:
    """Grades to export.

    Attributes:
        assignments: the chosen assignments, with the maximum points of each.
        people: the chosen students.
        scores: scores of these students, by assignment and student.
        results: result records by assignment; empty for an assignment that another grader graded.
        platform_ids: what the platform called the students when it gave the archive that was
            collected, by assignment and student.
    """

    assignments: dict[str, float]
    people: list[Person]
    scores: dict[str, dict[str, Score]]
    results: dict[str, list[NotebookResult]]
    platform_ids: dict[str, dict[str, tuple[str, ...]]] = field(default_factory=dict)


class Export(ExportPlugin):
    """Base class of this course's exports; nbgrader adds `--to`, `--assignment` and `--student`."""

    missing_as_zero = Bool(
        False, help="Give 0 points to students who handed in nothing; otherwise they have no grade."
    ).tag(config=True)

    default_to = ""

    def export(self, gradebook: Gradebook) -> None:
        """Write the grades.

        Raises:
            SystemExit: if an assignment or student is not in the gradebook, or the grades cannot be
                written.
        """
        self._refresh(gradebook)
        known = read_max_points(gradebook.db)
        wanted = self._choose(self.assignment, known, "assignment")
        assignments = {name: known[name] for name in wanted}
        everybody = {person.id: person for person in read_people(gradebook.db)}
        chosen = [everybody[name] for name in self._choose(self.student, everybody, "student")]
        by_assignment = {}
        for name in assignments:
            mine = {
                student: score
                for student, score in read_scores(gradebook.db, name).items()
                if student in {person.id for person in chosen}
            }
            if pending := sum(score.pending for score in mine.values()):
                self.log.warning(
                    "%s: %d of %d submissions are not final: they still need manual grading.",
                    name,
                    pending,
                    len(mine),
                )
            by_assignment[name] = mine
        url = gradebook.engine.url.render_as_string(hide_password=False)
        results = {name: gradebook_results.read(url, name) for name in assignments}
        connection = gradebook.db.connection()
        ids = {name: lms_records.read_ids(connection, name) for name in assignments}
        path = Path(self.to or self.default_to)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            exit_with_message(f"The folder {path.parent} could not be created: {error.strerror}.")
        self.write(ExportedGrades(assignments, chosen, by_assignment, results, ids), path)

    def _refresh(self, gradebook: Gradebook) -> None:
        """Bring late penalties up to date, and say which have changed."""
        directory = getattr(self.parent, "coursedir", None)
        if directory is None or not (Path(directory.root) / "nbgrader_config.py").exists():
            return
        folder = Path(directory.root)
        url = gradebook.engine.url.render_as_string(hide_password=False)
        graded = sorted({result.assignment for result in gradebook_results.read(url)})
        try:
            course = Course(folder, url)
            wanted = _split_names(self.assignment)
            for assignment in (name for name in graded if not wanted or name in wanted):
                for change in refresh_gradebook(course, assignment):
                    self.log.warning("%s: %s", assignment, sanitize_line(str(change)))
        except CourseError as error:
            self.log.warning("Late penalties could not be brought up to date: %s", error)
        gradebook.db.expire_all()

    def write(self, grades: ExportedGrades, path: Path) -> None:
        """Write the grades to a file or folder whose parent exists."""
        raise NotImplementedError

    def _choose(self, given: Iterable[object], known: Iterable[str], what: str) -> list[str]:
        """Return the known names given by a list option, or all known names if it is empty."""
        known = list(known)
        wanted = _split_names(given)
        for name in sorted(set(wanted) - set(known)):
            has = f"; it has: {', '.join(known) or 'none'}" if what == "assignment" else ""
            exit_with_message(f"There is no {what} {name!r} in the gradebook{has}.")
        if not known:
            self.log.warning("The gradebook has no %ss yet, so there are no grades.", what)
        return [name for name in known if not wanted or name in wanted]

    def warn_of(self, people: Sequence[Person], sentence: str, *given: object) -> None:
        """Warn about students, if there are any; their number precedes the sentence."""
        if people:
            names = sanitize_line(", ".join(person.id for person in people))
            self.log.warning(
                "%s %s: %s",
                formatting.format_student_count(len(people)),
                sentence.format(*given),
                names,
            )

    def write_csv(self, path: Path, rows: Sequence[Sequence[str]]) -> None:
        """Write rows as CSV in UTF-8.

        Raises:
            SystemExit: if the destination is a folder, or cannot be written.
        """
        if path.is_dir():
            exit_with_message(f"{path} is a folder; name a file after --to.")
        page = io.StringIO(newline="")
        csv.writer(page, lineterminator="\r\n").writerows(rows)
        try:
            write_atomically(path, page.getvalue().encode("utf-8"))
        except OSError as error:
            exit_with_message(f"{path} could not be written: {error.strerror}.")
        self.log.info("Wrote the grades to %s", path)


def _split_names(given: Iterable[object]) -> list[str]:
    """Return the names of a list option; an unquoted [a, b] arrives as a single name."""
    names = []
    for entry in map(str, given):
        if entry.startswith("[") and entry.endswith("]"):
            names += [name.strip().strip("'\"") for name in entry[1:-1].split(",")]
        else:
            names.append(entry)
    return [name for name in names if name]


def exit_with_message(sentence: str) -> NoReturn:
    """End the command with a sentence instead of a traceback."""
    raise SystemExit(sentence)


def describe_cell(cell: CellScore, entry: ExerciseResult | None) -> list[str]:
    """Return what is to be said of a graded cell beside its points.

    Args:
        cell: what the gradebook has, which counts.
        entry: what the tests have found, if it is an exercise.
    """
    lines = [entry.headline] if entry is not None and entry.headline else []
    if cell.manual is not None:
        most = format_number(cell.max_points)
        lines.append(f"Graded by hand: {format_number(cell.manual)} of {most}.")
    if cell.extra:
        lines.append(f"Extra credit: {format_number(cell.extra)}.")
    if cell.comment:
        lines.append(f"Comment: {cell.comment}")
    if cell.pending:
        lines.append("This still has to be graded by hand.")
    return lines


def describe_penalty(score: Score) -> str:
    """Return how late a submission was and what it costs, or "" if it costs nothing."""
    taken = score.earned - score.points  # never more than was earned
    if not taken:
        return ""
    late = (
        f"{formatting.format_duration(score.seconds_late)} late" if score.seconds_late else "late"
    )
    return f"Handed in {late}: {format_number(taken)} points are taken off."


def format_number(value: float) -> str:
    """Return a score as text without binary rounding noise: 1.5, or 2 for 2.0."""
    return f"{value:.10f}".rstrip("0").rstrip(".")


def read_platform_csv(path: str) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of a platform's CSV file, in any usual encoding and separator.

    Raises:
        SystemExit: if the file cannot be read.
    """
    try:
        rows = read_table(Path(path))
    except CourseError as error:
        exit_with_message(str(error))
    head = [cell.strip() for cell in rows[0]] if rows else []
    return head, [row + [""] * (len(head) - len(row)) for row in rows[1:]]


class RosterMatcher:
    """Finds the row of a platform's roster that belongs to a student in the gradebook.

    Args:
        rows: for each row, the texts that identify its student.
    """

    def __init__(self, rows: Sequence[Iterable[str]]) -> None:
        self._rows: dict[str, set[int]] = {}
        for place, keys in enumerate(rows):
            for key in keys:
                if key.strip():
                    self._rows.setdefault(key.strip().casefold(), set()).add(place)
        self._taken: set[int] = set()

    def find(self, person: Person, ids: Iterable[str] = ()) -> int | None:
        """Return the row that is this student's and nobody else's, or None.

        Args:
            person: the student.
            ids: what the platform called the student in an archive.
        """
        known = (person.lms_id, person.id, person.email, person.name, *ids)
        keys = [key for key in known if key]
        found = [self._rows.get(key.casefold(), set()) for key in keys]
        alone = [places for places in found if len(places) == 1]
        # A student can choose another's id as a name; the keys then match different rows.
        if not alone or any(places != alone[0] for places in alone) or alone[0] <= self._taken:
            return None
        self._taken |= alone[0]
        return next(iter(alone[0]))
