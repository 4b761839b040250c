"""Defines `CourseError`, for problems that an instructor can fix."""

from __future__ import annotations


class CourseError(Exception):
    """Raised if something about the course folder is wrong; the message says what to do."""
