"""Where a course has its submissions, for a plain folder as for nbgrader's CourseDirectory."""

from __future__ import annotations

import glob
import os
from pathlib import Path
from typing import Any


def folder(course: Any, step: str, usual: str) -> Path:
    """Return the folder of one of nbgrader's steps.

    Args:
        course: the folder with nbgrader_config.py, or nbgrader's CourseDirectory.
        step: "submitted", "autograded" or "release".
        usual: its name where only the course's folder is known.
    """
    if isinstance(course, (str, os.PathLike)):
        return Path(course) / usual
    return Path(course.root) / str(getattr(course, f"{step}_directory"))


def of_students(course: Any, step: str, assignment: str) -> dict[str, Path]:
    """Return the folders of an assignment's submissions by student."""
    folders = folder(course, step, step).glob(f"*/{glob.escape(assignment)}")
    return {path.parent.name: path for path in sorted(folders) if path.is_dir()}
