"""Defines the error for what an instructor can correct."""

from __future__ import annotations


class CourseError(Exception):
    """Raised if something about the course folder is wrong; the message says what to do."""
