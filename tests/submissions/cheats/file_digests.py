"""Digests of a course's files, to detect what a cheat has changed."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path


def digests(course: Path, students: Iterable[str]) -> dict[str, str]:
    """Return a digest of every file of a course that grading the students must not change."""
    own = set(students)
    found = {}
    for name in ("solutions", "exercises", "submitted", "autograded", "feedback"):
        for path in sorted((course / name).rglob("*")):
            parts = path.relative_to(course).parts
            graded_now = name in ("autograded", "feedback") and parts[1] in own
            record = name == "feedback" and parts[1].startswith(".")  # a record of pages written
            if "__pycache__" not in parts and not graded_now and not record:
                found["/".join(parts)] = _digest(path)
    for name in ("nbgrader_config.py", "notes-of-the-staff.txt"):
        found[name] = _digest(course / name)
    return found


def _digest(path: Path) -> str:
    if path.is_symlink():
        return f"link to {os.readlink(path)}"
    if not path.is_file():
        return "folder" if path.is_dir() else "no file" if path.exists() else "gone"
    mode = path.stat().st_mode & 0o777
    return f"{mode:o} {hashlib.sha256(path.read_bytes()).hexdigest()}"


def changed(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Return, in a few words each, what was changed."""
    places = {
        name.split("/")[0]
        for name in before.keys() | after.keys()
        if before.get(name) != after.get(name)
    }
    return [f"changes {place}" for place in sorted(places)]
