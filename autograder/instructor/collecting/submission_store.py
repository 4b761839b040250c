"""Puts collected submissions into the course folder, and keeps what was there before."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from autograder.instructor.grading.course_folder import Course
from autograder.instructor.timestamps import TimeError, parse_time

_TIMESTAMP = "timestamp.txt"


@dataclass(frozen=True)
class Stored:
    """What became of a submission.

    Attributes:
        state: "new", "replaced", "unchanged" or "older" than the one that counts.
        submitted_at: UTC time of the submission that counts, or None if it is not known.
        kept: folder of the submission that does not count, or None if there is none; this
            submission if the state is "older", or if it is "unchanged" and another one counts.
    """

    state: str
    submitted_at: datetime | None
    kept: Path | None = None


def store_submission(
    course: Course,
    assignment: str,
    student: str,
    files: Mapping[str, bytes],
    submitted_at: datetime | None,
) -> Stored:
    """Store a submission in place of the one before, unless that one is later, and keep both.

    A submission without a time is later than what was collected before it. If the best submission
    of a student counts, one that is among the earlier ones already stays there.

    Args:
        course: the course.
        assignment: name of the assignment.
        student: id of the student, which must be usable as a folder's name.
        files: contents by path inside of the submission.
        submitted_at: UTC time, or None if it is not known.
    """
    files = {path: content for path, content in files.items() if path != _TIMESTAMP}
    folder = course.submitted(assignment, student)
    time_before = _read_time(course, folder)
    there = folder.is_dir() and any(folder.iterdir())
    if there and _read_files(folder) == files:
        if submitted_at is not None and submitted_at != time_before:
            _write_time(folder, submitted_at)
        return Stored("unchanged", submitted_at or time_before)
    known = _find_earlier(course, course.earlier(assignment, student), files, submitted_at)
    if there and known and submitted_at is not None:
        if course.settings.attempts == "best":
            return Stored("unchanged", time_before, known)
        if time_before is None or submitted_at < time_before:
            return Stored("older", time_before, known)
    if there and time_before is not None and (submitted_at or time_before) < time_before:
        kept = course.name_earlier(assignment, student, submitted_at)
        _write_folder(kept, files, submitted_at)
        return Stored("older", time_before, kept)
    kept_before = None
    if there:
        kept_before = course.name_earlier(assignment, student, time_before)
        shutil.move(folder, kept_before)
    _write_folder(folder, files, submitted_at)
    if known:
        shutil.rmtree(known)  # it counts again
    return Stored("replaced" if there else "new", submitted_at, kept_before)


def _find_earlier(
    course: Course, parent: Path, files: Mapping[str, bytes], submitted_at: datetime | None
) -> Path | None:
    """Return the folder of a submission that was collected before and does not count."""
    if submitted_at is None or not parent.is_dir():
        return None
    for folder in sorted(path for path in parent.iterdir() if path.is_dir()):
        if _read_time(course, folder) == submitted_at and _read_files(folder) == files:
            return folder
    return None


def strip_common_folder(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return files without the folders that hold all of them, as a zipped folder does.

    Notebooks and their helpers then lie where the grader expects them.
    """
    found = dict(files)
    while found and all("/" in path for path in found):
        if len({path.partition("/")[0] for path in found}) > 1:
            break
        found = {path.partition("/")[2]: content for path, content in found.items()}
    return found


def _read_files(folder: Path) -> dict[str, bytes]:
    found = {}
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            found[path.relative_to(folder).as_posix()] = path.read_bytes()
    found.pop(_TIMESTAMP, None)
    return found


def _read_time(course: Course, folder: Path) -> datetime | None:
    try:
        return parse_time(
            (folder / _TIMESTAMP).read_text(encoding="utf-8").strip(), course.timezone
        )
    except (OSError, UnicodeDecodeError, TimeError):
        return None


def _write_time(folder: Path, time: datetime) -> None:
    (folder / _TIMESTAMP).write_text(f"{time} UTC\n", encoding="utf-8")


def _write_folder(folder: Path, files: Mapping[str, bytes], time: datetime | None) -> None:
    """Write a folder that is there whole or not at all."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    if folder.is_dir():  # it is empty
        folder.rmdir()
    temporary = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".collecting-"))
    try:
        for path, content in files.items():
            target = temporary / path
            if target.is_dir() or any(p.is_file() for p in target.parents if p != temporary):
                target = temporary / f"{path.replace('/', '_')}.file"  # a file and a folder
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        if time is not None:
            _write_time(temporary, time)
        os.umask(mask := os.umask(0o077))
        temporary.chmod(0o777 & ~mask)
        os.replace(temporary, folder)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
