"""Exports a results.json for each submission, for Gradescope."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from traitlets import CaselessStrEnum

from autograder.instructor.exports.base import (
    Export,
    ExportedGrades,
    describe_cell,
    describe_penalty,
    exit_with_message,
    format_number,
)
from autograder.instructor.grading.course_folder import NAME_AT_MOST, write_atomically
from autograder.instructor.grading.gradebook_results import ExerciseResult, NotebookResult
from autograder.instructor.grading.gradebook_scores import CellScore, Person, Score
from autograder.instructor.grading.source_notebook import TEST_PREFIX
from autograder.instructor.sanitize import sanitize_line, sanitize_lines

_UNSAFE = re.compile(r"[^\w.@+-]|^\.+$")


class Gradescope(Export):
    """Writes a results.json for each submission, in the format of Gradescope's autograders.

    `nbgrader export --exporter=autograder.instructor.exports.Gradescope --to FOLDER` writes
    FOLDER/<student>/<assignment>/results.json; `--Gradescope.folder=email` names the folders after
    the students' email addresses. On Gradescope, an autograder delivers the results: its
    run_autograder reads the student (users, email) from /autograder/submission_metadata.json and
    copies that student's file to /autograder/results/results.json.

    Each graded cell is a test with its points, including manual grades and extra credit, and with
    the diagnosis. A late penalty is a test with negative points. `score` is the total, which
    Gradescope uses instead of the sum of the tests. All texts are marked as plain text, because
    parts of them come from students and Gradescope would otherwise read them as HTML. Notes for the
    instructor are left out.

    Format: https://gradescope-autograders.readthedocs.io/en/latest/specs/ and
    https://gradescope-autograders.readthedocs.io/en/latest/submission_metadata/
    """

    visibility = CaselessStrEnum(
        ["visible", "hidden", "after_due_date", "after_published"],
        default_value="visible",
        help="When students see the tests.",
    ).tag(config=True)

    folder = CaselessStrEnum(
        ["id", "email"],
        default_value="id",
        help="Whether students' folders are named by id or email address.",
    ).tag(config=True)

    default_to = "gradescope"

    def write(self, grades: ExportedGrades, path: Path) -> None:
        """Write a results.json for each submission."""
        if path.exists() and not path.is_dir():
            exit_with_message(f"{path} is a file; name a folder after --to.")
        path.mkdir(exist_ok=True)
        written = 0
        for name, most in grades.assignments.items():
            for person in grades.people:
                score = grades.scores[name].get(person.id)
                if score is None and not self.missing_as_zero:
                    continue
                score = score or Score(person.id, 0.0, 0.0, 0.0, False)
                results = [r for r in grades.results[name] if r.student == person.id]
                page = self._page(name, most, person, score, results)
                folder = path / self._folder(person) / _safe(name)
                folder.mkdir(parents=True, exist_ok=True)
                text = json.dumps(page, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
                write_atomically(folder / "results.json", text.encode("utf-8"))
                written += 1
        self.log.info("Wrote %d results.json below %s", written, path)

    def _folder(self, person: Person) -> str:
        if self.folder == "email":
            if person.email:
                return _safe(person.email.casefold())
            self.log.warning(
                "%s has no email address; the folder has the id.", sanitize_line(person.id)
            )
        return _safe(person.id)

    def _page(
        self,
        assignment: str,
        most: float,
        person: Person,
        score: Score,
        results: list[NotebookResult],
    ) -> dict[str, Any]:
        entries = {
            (result.notebook, entry.grade_id): entry
            for result in results
            for entry in result.exercises
        }
        tests = [_test(cell, entries.get((cell.notebook, cell.cell))) for cell in score.cells]
        if score.penalty:
            tests.append(_late(score))
        for place, test in enumerate(tests, 1):
            test |= {"number": str(place), "visibility": self.visibility}
        remarks = [f"{result.notebook}: {text}" for result in results for text in result.remarks]
        lines = [f"{format_number(score.points)} of {format_number(most)} points.", *remarks]
        if score.pending:
            lines.append("Parts of this submission still have to be graded by hand.")
        return {
            "score": _round(score.points),
            "execution_time": _round(sum(result.seconds for result in results), 3),
            "output": sanitize_lines("\n".join(lines)),
            "output_format": "text",
            "test_output_format": "text",
            "test_name_format": "text",
            "visibility": self.visibility,
            "stdout_visibility": "hidden",
            "tests": tests,
            "extra_data": {
                "assignment": assignment,
                "student": person.id,
                "email": person.email,
                "max_score": _round(most),
                "late_submission_penalty": _round(score.penalty),
                "needs_manual_grade": score.pending,
                "graded_at": max((result.graded_at for result in results), default=""),
            },
        }


def _test(cell: CellScore, entry: ExerciseResult | None) -> dict[str, Any]:
    lines = describe_cell(cell, entry)
    tags = [entry.outcome] if entry is not None else []
    return {
        "name": entry.exercise if entry is not None else cell.cell.removeprefix(TEST_PREFIX),
        "score": _round(cell.points),
        "max_score": _round(cell.max_points),
        "status": "passed" if cell.points >= cell.max_points else "failed",
        "output": sanitize_lines("\n".join(lines)),
        "output_format": "text",
        "tags": tags + ["by hand"] * (cell.manual is not None),
        "extra_data": {
            "notebook": cell.notebook,
            "cell": cell.cell,
            "misconception": entry.misconception if entry is not None else "",
        },
    }


def _late(score: Score) -> dict[str, Any]:
    taken = score.earned - score.points  # never more than was earned
    return {
        "name": "Late submission",
        "score": _round(-taken),
        "max_score": 0.0,
        "status": "failed",
        "output": describe_penalty(score),
        "output_format": "text",
        "tags": ["late"],
        "extra_data": {},
    }


def _round(value: float, digits: int = 10) -> float:
    return round(value, digits) + 0.0  # turns -0.0 into 0.0


def _safe(name: str) -> str:
    """Return a safe name for a single folder, whatever a student's id contains."""
    safe = _UNSAFE.sub(lambda match: "".join(f"%{b:02X}" for b in match[0].encode()), name) or "_"
    if len(safe.encode()) <= NAME_AT_MOST:
        return safe
    return hashlib.sha256(name.encode()).hexdigest()  # 30 emoji become 360 characters
