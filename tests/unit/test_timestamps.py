"""Tests of times and time zones as people write them."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.instructor.timestamps import TimeError, find_zone, format_time, parse_time

EVENING = datetime(2026, 11, 20, 14, 59)


@pytest.mark.parametrize(
    "zone",
    ["+0900", "+09:00", "+09", "+9", "KST", "(KST)", "Asia/Seoul", "UTC+9", "GMT+09:00", "JST"],
)
@pytest.mark.parametrize("clock", ["23:59", "23:59:00", "11:59 PM", "23:59:00.000"])
def test_a_zone_is_read_as_people_write_it(clock, zone):
    assert parse_time(f"2026-11-20 {clock} {zone}") == EVENING
    assert parse_time(f"20 November 2026 {clock} {zone}") == EVENING


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-20T14:59:00Z",
        "2026-11-20T23:59:00+0900",
        "2026-11-20 14:59",
        "2026-11-20 11:59 America/Argentina/Buenos_Aires",
        "Fri, 20 Nov 2026 14:59:00 GMT",
        "Friday, 20 November 2026, 2:59 PM",
        "20.11.2026 14:59",
        "2026-11-20 14:59:00.000000 UTC",
        "2026-11-20 09:59 EST",
        "2026-11-20 04:59 HST",
        "2026-11-20 11:29 -0330",
        "2026-11-20 11:29 \u22123:30",
    ],
)
def test_usual_forms_of_a_time_are_the_same_time(text):
    assert parse_time(text) == EVENING


def test_a_time_without_a_zone_is_in_the_zone_of_the_course():
    assert parse_time("2026-11-20 23:59", "Asia/Seoul") == EVENING
    assert parse_time("2026-11-20 14:59 UTC", "Asia/Seoul") == EVENING
    assert format_time(EVENING, "Asia/Seoul") == "2026-11-20 23:59 Asia/Seoul"
    assert format_time(EVENING) == "2026-11-20 14:59 UTC"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("2026-11-20 23:59 CST", "America/Chicago or Asia/Shanghai"),
        ("2026-11-20 23:59 Asia/Seoull", "no time zone 'Asia/Seoull'"),
        ("2026-11-20 23:59 +1500", "offsets end"),
        ("2026-11-20", "no date with a time"),
        ("23:59", "no date with a time"),
        ("20 Nov 23:59", "no date with a time"),
        ("5/6/2026 23:59", "two dates"),
        ("tomorrow", "no date with a time"),
        ("", "no date with a time"),
        ("2026-13-40 25:61", "no date with a time"),
    ],
)
def test_what_means_no_time_or_several_is_refused_in_a_sentence(text, says):
    with pytest.raises(TimeError, match=says):
        parse_time(text)


@given(st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1)), st.integers(-12 * 60, 14 * 60))
def test_any_moment_survives_writing_in_any_offset(moment, minutes):
    moment = moment.replace(microsecond=0)
    here = moment.replace(tzinfo=timezone.utc).astimezone(timezone(timedelta(minutes=minutes)))
    for text in (
        here.isoformat(),
        f"{here:%Y-%m-%d %H:%M:%S %z}",
        f"{here:%d %b %Y %I:%M:%S %p %z}",
    ):
        assert parse_time(text) == moment
    assert find_zone(f"{here:%z}") == here.tzinfo
