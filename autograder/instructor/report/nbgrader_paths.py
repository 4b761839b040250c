"""Resolves the folders that nbgrader's settings name: submitted, autograded, release."""

from __future__ import annotations

import glob
from pathlib import Path

from nbgrader.coursedir import CourseDirectory


def find_folder(course: CourseDirectory, step: str) -> Path:
    """Return the folder of one of nbgrader's steps: "submitted", "autograded" or "release"."""
    return Path(course.root) / str(getattr(course, f"{step}_directory"))


def find_students(course: CourseDirectory, step: str, assignment: str) -> dict[str, Path]:
    """Return the folders of an assignment's submissions, by student."""
    folders = find_folder(course, step).glob(f"*/{glob.escape(assignment)}")
    return {path.parent.name: path for path in sorted(folders) if path.is_dir()}
