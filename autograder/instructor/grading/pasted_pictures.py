"""Pictures that students pasted into text cells, reduced to what is safe to show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from autograder.instructor.sanitize import sanitize_jpeg, sanitize_png

_PICTURES_AT_MOST = 10  # in a cell


@dataclass(frozen=True)
class Picture:
    """A picture that was pasted into a text cell.

    Attributes:
        media_type: "image/png" or "image/jpeg".
        data: the picture in base64, or "" if it cannot be shown.
    """

    media_type: str
    data: str


def read_pictures(entry: Mapping[str, Any]) -> tuple[Picture, ...]:
    """Return the first pictures of a submitted cell, as JSON."""
    attached = entry.get("attachments")
    pages = list(attached.values())[:_PICTURES_AT_MOST] if isinstance(attached, dict) else []
    return tuple(_read_picture(page) for page in pages if isinstance(page, dict) and page)


def _read_picture(page: Mapping[str, Any]) -> Picture:
    readers = {"image/png": sanitize_png, "image/jpeg": sanitize_jpeg}
    found = (Picture(kind, read(page.get(kind))) for kind, read in readers.items())
    return next((picture for picture in found if picture.data), Picture("", ""))
