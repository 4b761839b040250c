"""Grading of a class with `autograder grade`, and reading of the results."""

from __future__ import annotations

import html
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbgrader.api import Gradebook

from autograder.instructor.grading import gradebook_results
from tests.submissions.student_notebooks import ASSIGNMENT, NOTEBOOKS


def grade(folder: Path, *options: str, seconds: float = 1200) -> str:
    """Run `autograder grade` in a course and return its output.

    A run that hangs fails the test and is killed.
    """
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed (apt install bubblewrap)")
    process = subprocess.Popen(
        [sys.executable, "-m", "autograder", "grade", ASSIGNMENT, *options],
        cwd=folder,
        env=os.environ
        | {
            "PATH": os.defpath,
            "OMP_NUM_THREADS": "1",
            "JUPYTER_CONFIG_DIR": str(folder / "no-settings-of-the-user"),
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        text=True,
        errors="replace",
    )
    try:
        log, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        log, _ = process.communicate()
        raise AssertionError(f"not done after {seconds} seconds:\n{log[-5000:]}") from None
    assert process.returncode == 0, log[-5000:]
    return log


@dataclass(frozen=True)
class Marked:
    """The result of one student.

    Attributes:
        points: recorded points by exercise; an exercise without a record has 0.
        gradebook: nbgrader's own automatic scores by exercise.
        by_hand: exercises that nbgrader leaves to a person.
        headlines: headlines by exercise.
        remarks: remarks about both notebooks.
        reviews: reasons for a manual review, by notebook.
        shown: everything that the student will see, as text.
    """

    points: Mapping[str, float] = field(default_factory=dict)
    gradebook: Mapping[str, float] = field(default_factory=dict)
    by_hand: tuple[str, ...] = ()
    headlines: Mapping[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    reviews: Mapping[str, str] = field(default_factory=dict)
    shown: str = ""

    @property
    def told(self) -> str:
        """All remarks, headlines and cards as one text."""
        return "\n".join([*self.remarks, *self.headlines.values(), self.shown])

    @property
    def review(self) -> str:
        """The reasons for a manual review of any notebook."""
        return " ".join(filter(None, self.reviews.values()))


def marks(folder: Path) -> dict[str, Marked]:
    """Return the results of all students of a graded course."""
    url = f"sqlite:///{folder / 'gradebook.db'}"
    found: dict[str, list[gradebook_results.NotebookResult]] = {}
    for result in gradebook_results.read(url, ASSIGNMENT):
        found.setdefault(result.student, []).append(result)
    with Gradebook(url) as gradebook:
        kept = {
            s.student.id: [grade for page in s.notebooks for grade in page.grades]
            for s in gradebook.assignment_submissions(ASSIGNMENT)
        }
        return {
            student: _marked(folder, student, found.get(student, []), kept.get(student, []))
            for student in {*found, *kept}
        }


def _marked(
    folder: Path, student: str, results: list[gradebook_results.NotebookResult], grades: list[Any]
) -> Marked:
    exercises = [exercise for result in results for exercise in result.exercises]
    return Marked(
        points={e.exercise: e.points for e in exercises},
        gradebook={g.cell.name.removeprefix("test-"): g.auto_score or 0.0 for g in grades},
        by_hand=tuple(g.cell.name for g in grades if g.needs_manual_grade),
        headlines={e.exercise: e.headline for e in exercises},
        remarks=tuple(remark for result in results for remark in result.remarks),
        reviews={result.notebook: result.review for result in results},
        shown=_shown(folder / "autograded" / student / ASSIGNMENT),
    )


def _shown(folder: Path) -> str:
    """Return the outputs of a student's graded notebooks, without markup."""
    parts = []
    for name in NOTEBOOKS:
        path = folder / f"{name}.ipynb"
        if not path.exists():
            continue
        for cell in nbformat.read(path, 4).cells:
            for output in cell.get("outputs", []):
                parts += [output.get("text", ""), *output.get("traceback", [])]
                parts += [str(value) for value in output.get("data", {}).values()]
    return html.unescape(re.sub(r"<[^>]+>", "", "\n".join(parts)))
