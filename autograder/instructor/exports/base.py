"""What the exports share: whom and what to export, and how a cell of a CSV file is written."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NoReturn

from nbgrader.api import Gradebook
from nbgrader.plugins import ExportPlugin
from traitlets import Bool

from autograder.instructor.grading import records
from autograder.instructor.grading.records import NotebookResult
from autograder.instructor.reporting.scores import Person, Score, max_points, people, scores

_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?%?|-")
_HARMLESS_ID = re.compile(r"[+@-]?[\w.@+-]+")


class Export(ExportPlugin):
    """An export of this course; `--to`, `--assignment` and `--student` are nbgrader's."""

    missing_as_zero = Bool(
        False,
        help="Give 0 points to students who handed in nothing; otherwise they have no grade.",
    ).tag(config=True)

    default_to = ""

    def destination(self) -> Path:
        """Return where to write; its folder is there."""
        path = Path(self.to or self.default_to)
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def chosen_assignments(self, gradebook: Gradebook) -> dict[str, float]:
        """Return the assignments to export with the points of each.

        Raises:
            SystemExit: one that was asked for is not in the gradebook.
        """
        known = max_points(gradebook.db)
        wanted = _listed(self.assignment) or list(known)
        for name in wanted:
            if name not in known:
                have = ", ".join(known) or "none"
                stop(f"There is no assignment {name!r} in the gradebook; it has: {have}.")
        if not wanted:
            self.log.warning("The gradebook has no assignments yet, so there are no grades.")
        return {name: known[name] for name in known if name in wanted}

    def chosen_people(self, gradebook: Gradebook) -> list[Person]:
        """Return the students to export.

        Raises:
            SystemExit: one that was asked for is not in the gradebook.
        """
        known = people(gradebook.db)
        wanted = set(_listed(self.student))
        if strangers := sorted(wanted - {person.id for person in known}):
            stop(f"There is no student {strangers[0]!r} in the gradebook.")
        chosen = [person for person in known if not wanted or person.id in wanted]
        if not chosen:
            self.log.warning("The gradebook has no students yet, so there are no grades.")
        return chosen

    def scores_of(
        self,
        gradebook: Gradebook,
        assignments: Iterable[str],
        chosen: Iterable[Person],
        cells: bool = False,
    ) -> dict[str, dict[str, Score]]:
        """Return the scores of the chosen students, by assignment; warn of what is not final."""
        wanted = {person.id for person in chosen}
        found = {}
        for assignment in assignments:
            everyone = scores(gradebook.db, assignment, cells)
            mine = {student: score for student, score in everyone.items() if student in wanted}
            pending = sum(score.pending for score in mine.values())
            if pending:
                self.log.warning(
                    "%s: %d of %d submissions not final, because they wait to be graded by hand.",
                    assignment,
                    pending,
                    len(mine),
                )
            found[assignment] = mine
        return found

    def results_of(self, gradebook: Gradebook, assignment: str) -> list[NotebookResult]:
        """Return what the grader found in each notebook; nothing if another one graded it."""
        url = gradebook.engine.url.render_as_string(hide_password=False)
        return records.read(url, assignment)

    def write_csv(self, rows: Sequence[Sequence[str]]) -> Path:
        """Write rows, the first of them the head, as CSV in UTF-8 and return where they are.

        Raises:
            SystemExit: the destination is a folder.
        """
        path = self.destination()
        if path.is_dir():
            stop(f"{path} is a folder; name a file after --to.")
        page = io.StringIO(newline="")
        csv.writer(page, lineterminator="\r\n").writerows(rows)
        path.write_text(page.getvalue(), encoding="utf-8", newline="")
        return path


def _listed(given: Iterable[object]) -> list[str]:
    """Return the names of a list option; [a, b] without quotes arrives as one of them."""
    names = []
    for entry in map(str, given):
        if entry.startswith("[") and entry.endswith("]"):
            names += [name.strip().strip("'\"") for name in entry[1:-1].split(",")]
        else:
            names.append(entry)
    return [name for name in names if name]


def stop(sentence: str) -> NoReturn:
    """End the command with a sentence for its user instead of a traceback."""
    raise SystemExit(sentence)


def number(value: float) -> str:
    """Return a score as text: 1.5, or 2 for 2.0; no noise of binary fractions."""
    return f"{value:.10f}".rstrip("0").rstrip(".")


def harmless(text: str) -> str:
    """Return a text that a spreadsheet shows and does not run as a formula, on one line.

    A single quote goes before what might begin a formula, as requirement 1.2.10 of OWASP's
    Application Security Verification Standard asks for.
    """
    return _quoted(" ".join(text.split()))


def harmless_lines(text: str) -> str:
    """Return a text of several lines that a spreadsheet does not run."""
    return _quoted(text.replace("\r\n", "\n").replace("\r", "\n").strip())


def harmless_id(text: str) -> str:
    """Return an identifier as it is, so that it is recognised, unless it can do harm."""
    return text if _HARMLESS_ID.fullmatch(text) else harmless(text)


def _quoted(text: str) -> str:
    if text[:1] in tuple("=+-@＝＋－＠") and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text


def read_csv(path: str, what: str) -> list[list[str]]:
    """Return the rows of a platform's CSV file, whether commas or semicolons part its columns.

    Args:
        path: of the file.
        what: it is, for the message: "the roster".

    Raises:
        SystemExit: it cannot be read.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        stop(f"{what[:1].upper()}{what[1:]} {path} cannot be read: {reason}.")
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    return [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row]


class Matcher:
    """Finds the row of a platform's list that a student of the gradebook is.

    Args:
        rows: for each row, what identifies its student.
    """

    def __init__(self, rows: Sequence[Iterable[str]]) -> None:
        self._rows: dict[str, set[int]] = {}
        for place, keys in enumerate(rows):
            for key in keys:
                if key.strip():
                    self._rows.setdefault(key.strip().casefold(), set()).add(place)
        self._taken: set[int] = set()

    def find(self, person: Person) -> int | None:
        """Return the row that is this student's and nobody else's, or None."""
        for key in (person.lms_id, person.id, person.email, person.name):
            found = self._rows.get(key.casefold(), set()) if key else set()
            if len(found) == 1 and not found <= self._taken:
                self._taken |= found
                return next(iter(found))
        return None
