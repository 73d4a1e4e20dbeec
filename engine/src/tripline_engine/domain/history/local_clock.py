"""What a clock in a time zone shows, for many instants at once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from typing import Final

import numpy as np

from tripline_contracts.filters.time_zones import time_zone
from tripline_engine.domain.memory.array_types import Int64Array, Millis

MINUTE_MS: Final = 60_000
HOUR_MS: Final = 60 * MINUTE_MS
DAY_MS: Final = 24 * HOUR_MS
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_MS: Final = 253_402_128_000_000
"""9999-12-30 in UTC: a local time after the year 9999 cannot be said, and no zone changes its offset after it."""
_KEPT_HOURS: Final = 1 << 16
"""Of a zone: seven years."""
_MIXED: Final = 1 << 62
"""Stands for the offset in an hour that has more than one."""


class LocalClock:
    """The offsets of a zone from UTC, each hour's looked up once.

    An hour that begins and ends with the same offset has no other in between: no zone changes its offset twice within
    an hour (tested for all of them).
    """

    def __init__(self, zone: str) -> None:
        self._zone = time_zone(zone)
        self._of_hour = lru_cache(maxsize=_KEPT_HOURS)(self._hour)

    def local(self, times: Int64Array) -> Int64Array:
        """Local times of n instants (int64, n): ms since the zone's own midnight of 1970-01-01."""
        hours, index = np.unique(times // HOUR_MS, return_inverse=True)
        offsets = np.array([self._of_hour(int(hour)) for hour in hours], np.int64)[index]
        for i in np.flatnonzero(offsets == _MIXED):
            offsets[i] = self._offset(int(times[i]))
        local: Int64Array = times + offsets
        return local

    def _hour(self, hour: int) -> int:
        first, last = self._offset(hour * HOUR_MS), self._offset((hour + 1) * HOUR_MS - 1)
        return first if first == last else _MIXED

    def _offset(self, time: Millis) -> int:
        """Ms that the zone is ahead of UTC at that instant."""
        instant = _EPOCH + timedelta(milliseconds=min(time, _LAST_MS))
        offset = instant.astimezone(self._zone).utcoffset()
        return (offset or timedelta()) // timedelta(milliseconds=1)


@cache
def local_clock(zone: str) -> LocalClock:
    """The clock of that zone; there are as many as zones. Raises KeyError for a name that is none."""
    return LocalClock(zone)
