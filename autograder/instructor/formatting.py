"""Formats durations, points and counts for people."""

from __future__ import annotations


def format_duration(seconds: float) -> str:
    """Return a duration in its two largest units: 2 days 3 h."""
    minutes = max(1, round(seconds / 60))
    days, minutes = divmod(minutes, 24 * 60)
    hours, minutes = divmod(minutes, 60)
    parts = [
        f"{days} day{'s' * (days != 1)}" if days else "",
        f"{hours} h" if hours else "",
        f"{minutes} min" if minutes else "",
    ]
    return " ".join([part for part in parts if part][:2])


def format_points(value: float) -> str:
    """Return points with at most two decimals: 1.5, or 2 for 2.0."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if value else "0"


def format_point_count(value: float) -> str:
    """Return "1 point" or "2.5 points"."""
    return f"{format_points(value)} point{'s' * (format_points(value) != '1')}"


def format_student_count(count: int) -> str:
    """Return "1 student" or "3 students"."""
    return f"{count} student{'s' * (count != 1)}"
