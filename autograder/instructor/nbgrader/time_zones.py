"""Makes nbgrader read time zones as people write them.

nbgrader's own parser takes `+0900` for 900 seconds and an unknown abbreviation for UTC, so that a
due date silently becomes another one.
"""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path

from nbgrader import utils

from autograder.instructor.timestamps import TimeError, parse_time

_ORIGINAL = utils.parse_utc


def parse_utc(text: str | datetime | None) -> datetime | None:
    """Return a UTC time without a zone, as nbgrader keeps it.

    Raises:
        TimeError: if it is no time, or its zone is unknown or ambiguous; on the command line the
            command ends with the sentence instead.
    """
    if text is None:
        return None
    try:
        return parse_time(text)
    except TimeError as error:
        if Path(sys.argv[0]).name == "nbgrader":
            raise SystemExit(str(error)) from error
        raise


def install() -> None:
    """Put the parser in the place of nbgrader's, wherever that was imported."""
    for name, module in list(sys.modules.items()):
        if name.startswith("nbgrader") and getattr(module, "parse_utc", None) is _ORIGINAL:
            module.parse_utc = parse_utc  # type: ignore[attr-defined]
