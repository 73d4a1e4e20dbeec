"""What clocks show: against the zone's own data, at every change of an offset and at the ends of time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from importlib.resources import files
from itertools import pairwise
from zoneinfo._zoneinfo import ZoneInfo as ReadableZone  # type: ignore[import-not-found]  # in Python, to look inside

import numpy as np
import pytest

from tripline_contracts.filters.time_zones import names, time_zone
from tripline_engine.domain.history.local_clock import HOUR_MS, local_clock

LAST_TIME = 253_402_300_799_999
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ZONES = ["UTC", "Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe", "Africa/Monrovia", "Pacific/Apia",
         "Africa/Casablanca", "Etc/GMT+12", "Pacific/Kiritimati"]  # fmt: skip


def ms(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp() * 1000)


def shown(zone: str, *times: int) -> list[str]:
    """What its clock shows: the date and the time of day, as a clock in UTC shows them at the local time."""
    local = local_clock(zone).local(np.array(times, np.int64))
    return [f"{EPOCH + timedelta(milliseconds=int(time)):%Y-%m-%d %H:%M:%S}" for time in local]


def test_a_summer_and_a_winter_in_berlin() -> None:
    # 2026-03-29 and 2026-10-25, at 01:00 UTC
    spring, autumn = ms("2026-03-29T01:00:00Z"), ms("2026-10-25T01:00:00Z")
    assert shown("Europe/Berlin", spring - 1, spring, autumn - 1, autumn) == [
        "2026-03-29 01:59:59",
        "2026-03-29 03:00:00",
        "2026-10-25 02:59:59",
        "2026-10-25 02:00:00",
    ]


def test_a_change_in_the_middle_of_an_hour() -> None:
    # Monrovia kept 44 minutes and 30 seconds behind UTC until 1972-01-07.
    change = ms("1972-01-07T00:44:30Z")
    assert shown("Africa/Monrovia", change - 1, change, change - HOUR_MS, change + HOUR_MS) == [
        "1972-01-06 23:59:59",
        "1972-01-07 00:44:30",
        "1972-01-06 23:00:00",
        "1972-01-07 01:44:30",
    ]


@pytest.mark.parametrize("zone", ZONES)
def test_as_the_standard_library_has_it(zone: str) -> None:
    """At each change of the offset up to 2037, a moment before and after, and hours around."""
    changes = [1000 * int(second) for second in transitions(zone) if second >= 86_400]
    times = [change + more for change in changes for more in (-HOUR_MS, -1, 0, 1, HOUR_MS)] + [
        0,
        ms("2100-07-01T12:00:00Z"),
    ]
    expected = [
        f"{(EPOCH + timedelta(milliseconds=time)).astimezone(time_zone(zone)):%Y-%m-%d %H:%M:%S}"
        for time in times
    ]
    assert shown(zone, *times) == expected


@pytest.mark.parametrize("zone", ZONES)
def test_the_last_instant_has_a_local_time_too(zone: str) -> None:
    clock = local_clock(zone)
    # 400 years before it was the same day of the year and of the week
    cycle = 146_097 * 24 * HOUR_MS
    last = np.array([LAST_TIME, LAST_TIME - 2 * 24 * HOUR_MS, LAST_TIME - 200 * 24 * HOUR_MS], np.int64)
    assert (clock.local(last) - clock.local(last - cycle)).tolist() == [cycle] * 3


def test_no_zone_changes_its_offset_twice_within_an_hour() -> None:
    """What a look at both ends of an hour relies on. After the last one the rule of the year holds, twice a year."""
    assert len(names()) > 500
    for zone in names():
        known = [second for second in transitions(zone) if second >= 0]
        assert all(later - earlier > 3600 for earlier, later in pairwise(known)), zone


def transitions(zone: str) -> list[int]:
    """The seconds since the epoch at which the offset changes, as far as they are written out."""
    with (files("tzdata") / "zoneinfo" / zone).open("rb") as data:
        readable = ReadableZone.from_file(data, key=zone)
    seconds: list[int] = list(readable._trans_utc)
    return seconds
