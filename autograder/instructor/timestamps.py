"""Reads and writes times, with time zones as people write them.

nbgrader keeps times in UTC, without a zone. Its own parser takes `+0900` for 900 seconds and an
unknown abbreviation for UTC.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from dateutil import parser

# Abbreviations that mean one offset wherever they are used; IST, CST or BST mean several.
_ABBREVIATIONS = {
    "Z": 0, "UTC": 0, "GMT": 0, "WET": 0, "CET": 1, "WEST": 1, "CEST": 2, "EET": 2, "EEST": 3,
    "MSK": 3, "KST": 9, "JST": 9, "AEST": 10, "AEDT": 11, "NZST": 12, "NZDT": 13, "EST": -5,
    "EDT": -4, "CDT": -5, "MDT": -6, "MST": -7, "PST": -8, "PDT": -7, "HST": -10, "AKST": -9,
    "AKDT": -8,
}  # fmt: skip
_AMBIGUOUS = {
    "CST": "America/Chicago or Asia/Shanghai",
    "IST": "Asia/Kolkata, Europe/Dublin or Asia/Jerusalem",
    "BST": "Europe/London or Asia/Dhaka",
    "AST": "America/Halifax or Asia/Riyadh",
    "SST": "Pacific/Pago_Pago",
    "AMT": "America/Manaus or Asia/Yerevan",
}
_OFFSET = re.compile(
    r"(?:(?:UTC|GMT) ?)?(?P<sign>[+\-\u2212])(?P<hours>\d\d?)(?::?(?P<minutes>\d\d))?"
)
_DEFAULTS = (2000, 1, 1, 1, 1), (2004, 2, 2, 2, 2)


class TimeError(ValueError):
    """Raised if a time or a zone cannot be understood; the message says what to write."""


def find_zone(name: str) -> tzinfo:
    """Return a time zone: an offset, a common abbreviation or a name such as Asia/Seoul.

    Raises:
        TimeError: if there is no such zone, or an abbreviation means several.
    """
    name = name.strip()
    if name.upper() in _ABBREVIATIONS:
        return timezone(timedelta(hours=_ABBREVIATIONS[name.upper()]))
    if name.upper() in _AMBIGUOUS:
        raise TimeError(
            f"{name!r} means several time zones: write {_AMBIGUOUS[name.upper()]}, or an offset "
            "such as +09:00."
        )
    if match := _OFFSET.fullmatch(name):
        away = timedelta(hours=int(match["hours"]), minutes=int(match["minutes"] or 0))
        if away > timedelta(hours=14):
            raise TimeError(f"No time zone is {name} from UTC: offsets end at +14:00 and -12:00.")
        return timezone(away if match["sign"] == "+" else -away)
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise TimeError(
            f"There is no time zone {name!r}: write an offset such as +09:00 or a name such as "
            "Asia/Seoul."
        ) from error


def parse_time(text: object, zone: str = "") -> datetime:
    """Return a UTC time, without a zone, as nbgrader keeps it.

    Args:
        text: a time as people and platforms write it, or a datetime.
        zone: zone of a time that names none; UTC if empty.

    Raises:
        TimeError: if it is no time.
    """
    moment = text if isinstance(text, datetime) else _parse_text(str(text).strip(), zone)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=find_zone(zone) if zone else timezone.utc)
    return moment.astimezone(timezone.utc).replace(tzinfo=None)


def format_time(moment: datetime, zone: str = "") -> str:
    """Return a UTC time as text in a zone: 2026-11-20 18:30 Asia/Seoul."""
    shown = moment.replace(tzinfo=timezone.utc).astimezone(find_zone(zone or "UTC"))
    return f"{shown:%Y-%m-%d %H:%M} {zone or 'UTC'}"


def _parse_text(text: str, zone: str) -> datetime:
    body: str = text
    offset: tzinfo | None = None
    # The zone stands at the end; a date's own hyphens and "6:30 PM" do not look like one.
    match = re.fullmatch(
        r"(?P<body>.*\d(?::\d\d(?:\.\d+)?)?(?: ?[AaPp]\.?[Mm]\.?(?![A-Za-z]))?)"
        r"[ \t(]*(?P<zone>[A-Za-z_]+(?:/[A-Za-z_+\-0-9]+)+|[A-Za-z]{1,5}"
        r"|(?:UTC|GMT)? ?[+\-\u2212]\d\d?(?::?\d\d)?)\)?",
        text,
    )
    if match and ":" in match["body"] and match["zone"].upper() not in ("AM", "PM"):
        body, offset = match["body"], find_zone(match["zone"])
    day_first = re.search(r"\b\d\d?\.\d\d?\.\d{4}\b", body) is not None
    if (slashes := re.search(r"\b(\d\d?)/(\d\d?)/\d{4}\b", body)) and (
        slashes[1] != slashes[2] and max(int(slashes[1]), int(slashes[2])) <= 12
    ):
        raise TimeError(f"{slashes[0]} is two dates: write the year first, 2026-11-20.")
    try:  # what the text does not say would be taken from the default
        moment, other = (
            parser.parse(body, default=datetime(*given), dayfirst=day_first) for given in _DEFAULTS
        )
    except Exception:  # dateutil raises errors of many kinds
        moment, other = (datetime(*d) for d in _DEFAULTS)
    if moment != other:
        raise TimeError(
            f"{text[:60]!r} is no date with a time: write it as 2026-11-20 23:59 +09:00 or "
            "2026-11-20 23:59 Asia/Seoul."
        )
    return moment.replace(tzinfo=offset) if offset is not None else moment
