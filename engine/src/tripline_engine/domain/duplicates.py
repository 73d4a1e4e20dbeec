"""Which transactions have been counted before.

An id is remembered, per anchor value, with the record time of each transaction accepted under it. A table of plain
arrays with open addressing. When it is full, or holds too much that the clock has passed, another one takes its place:
a large table moves a bounded piece with each micro-batch, and until that is done both are looked into.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from tripline_engine.domain.arena import Arena, Array

_FIRST_CAPACITY: Final = 1024
# Times are stored so much higher: a place with 0 is empty, so a new table is all empty without being written.
_SHIFT: Final = 2**62
_EMPTY: Final = 0
_NEVER: Final = -(2**62) + 1
# What `meta` holds: ids in the table, and in the one before it; up to which place that one has been moved, if there
# is one; and which of the two names the table has.
_USED, _LEFT, _CURSOR, _NAME, _META = 0, 1, 2, 3, 4
_NONE: Final = 0
# Tables of so many ids are written anew at once; of larger ones so many places for each id that is judged move, and
# at least so many.
_AT_ONCE: Final = 1 << 14
_PLACES_EACH, _PLACES_LEAST = 12, 1024
_SAMPLE: Final = 1 << 14


class Table(NamedTuple):
    """Identities (uint64, low and high) and shifted record times (int64), by place."""

    low: Array
    high: Array
    times: Array


@njit(cache=True)
def _insert(low: Any, high: Any, time: Any, table: Any) -> None:
    mask = np.uint64(len(table.times) - 1)
    at = low & mask
    while table.times[at] != _EMPTY:
        at = (at + np.uint64(1)) & mask
    table.low[at], table.high[at], table.times[at] = low, high, time


@njit(cache=True)
def _known(low: Any, high: Any, time: Any, reach: Any, floor: Any, table: Any) -> bool:
    mask = np.uint64(len(table.times) - 1)
    at = low & mask
    while table.times[at] != _EMPTY:
        same = table.low[at] == low and table.high[at] == high
        if same and table.times[at] >= floor and abs(table.times[at] - time) <= reach:
            return True
        at = (at + np.uint64(1)) & mask
    return False


@njit(cache=True)
def _accept(
    low: Any, high: Any, times: Any, reach: Any, floor: Any, table: Any, before: Any, both: bool, out: Any
) -> int:
    accepted = 0
    for i in range(len(low)):
        time = times[i] + _SHIFT
        known = _known(low[i], high[i], time, reach, floor, table)
        if both and not known:
            known = _known(low[i], high[i], time, reach, floor, before)
        out[i] = not known
        if not known:
            _insert(low[i], high[i], time, table)
            accepted += 1
    return accepted


@njit(cache=True, nogil=True)
def _insert_all(low: Any, high: Any, times: Any, table: Any) -> None:
    for i in range(len(low)):
        _insert(low[i], high[i], times[i] + _SHIFT, table)


@njit(cache=True, nogil=True)
def _move(first: int, until: int, floor: Any, before: Any, table: Any) -> int:
    """Copy what the places from ``first`` to ``until`` hold of what is not forgotten; how many that were."""
    moved = 0
    for at in range(first, until):
        if before.times[at] != _EMPTY and before.times[at] >= floor:
            _insert(before.low[at], before.high[at], before.times[at], table)
            moved += 1
    return moved


class RememberedIds:
    """The ids of accepted transactions of one anchor, each with its record time in ms."""

    def __init__(self, arena: Arena, name: str) -> None:
        self._arena, self._name = arena, name
        self._meta = arena.open(f"{name}.meta", np.int64, _META)
        self._table = self._open(int(self._meta[_NAME]), _FIRST_CAPACITY)
        self._before = (
            self._open(1 - int(self._meta[_NAME]), _FIRST_CAPACITY) if self._moving else self._table
        )

    def accept(
        self,
        low: npt.NDArray[np.uint64],
        high: npt.NDArray[np.uint64],
        record_time: npt.NDArray[np.int64],
        reach_ms: int,
        floor_ms: int,
    ) -> npt.NDArray[np.bool_]:
        """Judge n transactions in order, and remember those that count.

        :param low: with ``high``, identity of (anchor value, id)
        :param reach_ms: record times at most so far apart make a duplicate
        :param floor_ms: ids with an older record time are forgotten
        :returns: bool, n: False for a duplicate
        """
        floor = _shifted(floor_ms)
        self._reserve(len(low), floor)
        self._move_on(_PLACES_LEAST + _PLACES_EACH * len(low), floor)
        out = np.empty(len(low), np.bool_)
        tables = self._table, self._before, self._moving
        self._meta[_USED] += _accept(low, high, record_time, reach_ms, floor, *tables, out)
        return out

    def expect(self, ids: int) -> None:
        """Make room for so many that are to be remembered, before there are any."""
        self._write_anew(_shifted(_NEVER), ids)

    def remember(self, low: Array, high: Array, record_time: Array) -> None:
        """Take transactions that are known to count, as when the table is built again."""
        self._reserve(len(low), _shifted(_NEVER))
        self._move_on(_PLACES_LEAST + _PLACES_EACH * len(low), _shifted(_NEVER))
        _insert_all(low, high, record_time, self._table)
        self._meta[_USED] += len(low)

    def forget(self, floor_ms: int) -> None:
        """Write the table anew without ids older than ``floor_ms``, as small as fits them."""
        self._write_anew(_shifted(floor_ms), 0)

    @property
    def capacity(self) -> int:
        """How many places the table has."""
        return len(self._table.times)

    @property
    def count(self) -> int:
        """How many ids are held, those that are yet to move or to be forgotten included."""
        return int(self._meta[_USED] + self._meta[_LEFT])

    @property
    def _moving(self) -> bool:
        return bool(self._meta[_CURSOR] != _NONE)

    def _reserve(self, more: int, floor: int) -> None:
        """Make room for ``more`` ids."""
        if 2 * (int(self._meta[_USED]) + more) <= self.capacity:
            return
        if self._moving or self._meta[_USED] <= _AT_ONCE:
            self._write_anew(floor, more)
            return
        step = max(1, self.capacity // _SAMPLE)
        sample = self._table.times[::step]
        held = int((sample >= max(floor, 1)).sum()) * step
        # a tenth more than the sample says; what does not fit all the same is written anew at once
        self._begin(held + held // 10 + more)

    def _begin(self, ids: int) -> None:
        """Go on with an empty table for so many; the one before it is to be moved."""
        self._meta[_LEFT], self._meta[_USED], self._meta[_NAME] = self._meta[_USED], 0, 1 - self._meta[_NAME]
        # places are counted from 1, for 0 says that there is nothing to move
        self._meta[_CURSOR] = 1
        self._before = self._table
        self._table = self._open(int(self._meta[_NAME]), _capacity(ids))

    def _move_on(self, places: int, floor: int) -> None:
        if not self._moving:
            return
        first, end = int(self._meta[_CURSOR]) - 1, len(self._before.times)
        # never so many that the table could be full, however wrong the sample was
        room = (self.capacity - int(self._meta[_USED])) // 4
        until = min(first + min(places, room), end)
        self._meta[_USED] += _move(first, until, floor, self._before, self._table)
        self._meta[_CURSOR] = until + 1
        if until == end:
            self._leave()

    def _leave(self) -> None:
        """All has moved."""
        self._meta[_CURSOR], self._meta[_LEFT] = _NONE, 0
        self._before = self._table
        self._remove(1 - int(self._meta[_NAME]))

    def _write_anew(self, floor: int, room: int) -> None:
        """Everything at once into a table that fits."""
        parts = [(self._table, 0)]
        if self._moving:
            parts.append((self._before, int(self._meta[_CURSOR]) - 1))
        kept = []
        for table, first in parts:
            times = table.times[first:]
            keep = (times != _EMPTY) & (times >= floor)
            kept.append(
                (table.low[first:][keep].copy(), table.high[first:][keep].copy(), times[keep] - _SHIFT)
            )
        low, high, times = (np.concatenate(columns) for columns in zip(*kept, strict=True))
        for name in (0, 1):
            self._remove(name)
        self._meta[_CURSOR], self._meta[_LEFT] = _NONE, 0
        self._table = self._before = self._open(int(self._meta[_NAME]), _capacity(len(low) + room))
        _insert_all(low, high, times, self._table)
        self._meta[_USED] = len(low)

    def _open(self, name: int, capacity: int) -> Table:
        columns = (("low", np.uint64), ("high", np.uint64), ("times", np.int64))
        return Table(*(self._arena.open(self._part(name, part), kind, capacity) for part, kind in columns))

    def _remove(self, name: int) -> None:
        for part in ("low", "high", "times"):
            self._arena.remove(self._part(name, part))

    def _part(self, name: int, part: str) -> str:
        return f"{self._name}.{name}.{part}"


def _shifted(time_ms: int) -> int:
    """As times are stored; what is older than every time stays below all."""
    return max(time_ms, _NEVER) + _SHIFT


def _capacity(ids: int) -> int:
    """Places for so many ids, a third to a sixth of them taken."""
    return max(_FIRST_CAPACITY, 1 << (3 * ids).bit_length())
