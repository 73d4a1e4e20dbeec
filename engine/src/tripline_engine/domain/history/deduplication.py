"""Which transactions have been counted before.

An id is remembered, per anchor value, with the record time of each transaction accepted under it. Ids are numbered in
the order in which they come, and their columns are written in that order; a table with open addressing finds the
numbers. So what is written at random is small, a few bytes for each id, and the rest lies side by side: pages of
mapped files are dear to touch.

When a table is full, another one takes its place: of a large one a bounded piece moves with each micro-batch, and until
that is done both are looked into. What the clock has passed stays behind.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tripline_engine.domain.memory.arena import Arena, Array
from tripline_engine.domain.memory.kernel import kernel

_FIRST_CAPACITY: Final = 1024
# What a place has where there is no id: nought, as in an array that nobody has written to. To write something else
# into a new table, 128 MiB for ten million ids, would hold up one micro-batch.
_EMPTY: Final = 0
_NEVER: Final = np.iinfo(np.int64).min
# What `meta` holds: ids in the table, and in the one before it; up to which id that one has been moved, if there
# is one; and which of the two names the table has.
_USED, _LEFT, _CURSOR, _NAME, _META = 0, 1, 2, 3, 4
_NONE: Final = 0
# Tables of so many ids are written anew at once; of larger ones so many ids for each one that is judged move, and
# at least so many. To leave one behind costs a sixteenth of that.
_AT_ONCE: Final = 1 << 14
_MOVED_EACH, _MOVED_LEAST, _PASSED_EACH = 4, 256, 16
# So many record times say how many of a table's ids are still remembered. They come nearly in order, so few are enough,
# and each is in a page that has not been touched for long, which may have to come back from the disk.
_SAMPLE: Final = 1 << 8


class Table(NamedTuple):
    """The ids by number: identities (uint64, low and high) and record times (int64); and for each place in which an
    id may be its number (int32, from 1 on)."""

    low: Array
    high: Array
    times: Array
    places: Array


@kernel()
def _place(number: Any, low: Any, places: Any) -> None:
    mask = np.uint64(len(places) - 1)
    at = low & mask
    while places[at] != _EMPTY:
        at = (at + np.uint64(1)) & mask
    places[at] = number + 1


@kernel()
def _insert(number: Any, low: Any, high: Any, time: Any, table: Any) -> None:
    table.low[number], table.high[number], table.times[number] = low, high, time
    _place(number, low, table.places)


@kernel()
def _known(low: Any, high: Any, time: Any, reach: Any, floor: Any, table: Any) -> bool:
    mask = np.uint64(len(table.places) - 1)
    at = low & mask
    while table.places[at] != _EMPTY:
        number = table.places[at] - 1
        same = table.low[number] == low and table.high[number] == high
        if same and table.times[number] >= floor and abs(table.times[number] - time) <= reach:
            return True
        at = (at + np.uint64(1)) & mask
    return False


@kernel()
def _accept(
    used: int,
    low: Any,
    high: Any,
    times: Any,
    reach: Any,
    floor: Any,
    table: Any,
    before: Any,
    both: bool,
    out: Any,
) -> int:
    """Judge ids in order, and number those that count from ``used`` on; the number after the last."""
    for i in range(len(low)):
        known = _known(low[i], high[i], times[i], reach, floor, table)
        if both and not known:
            known = _known(low[i], high[i], times[i], reach, floor, before)
        out[i] = not known
        if not known:
            _insert(used, low[i], high[i], times[i], table)
            used += 1
    return used


@kernel(nogil=True)
def _place_all(used: int, low: Any, places: Any) -> None:
    """Have places for ids whose columns are written, from that number on."""
    for i in range(len(low)):
        _place(used + i, low[i], places)


@kernel(nogil=True)
def _move(
    first: int, until: int, most: int, floor: Any, before: Any, used: int, table: Any
) -> tuple[int, int]:
    """Copy at most so many of the ids from ``first`` to ``until`` that are not forgotten.

    :returns: up to which, and the number after the last that was copied
    """
    end = used + most
    for number in range(first, until):
        if before.times[number] >= floor:
            if used == end:
                return number, used
            _insert(used, before.low[number], before.high[number], before.times[number], table)
            used += 1
    return until, used


class SeenIds:
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
        self._make_room(len(low), floor_ms)
        self._prepare(len(low))
        out = np.empty(len(low), np.bool_)
        tables = self._table, self._before, self._moving
        used = int(self._meta[_USED])
        self._meta[_USED] = _accept(used, low, high, record_time, reach_ms, floor_ms, *tables, out)
        return out

    def reserve(self, ids: int) -> None:
        """Make room for so many that are to be remembered, before there are any."""
        self._write_anew(_NEVER, ids)

    def restore(self, low: Array, high: Array, record_time: Array) -> None:
        """Take transactions that are known to count, as when the table is built again."""
        self._make_room(len(low), _NEVER)
        self._append(low, high, record_time)

    def expire(self, floor_ms: int) -> None:
        """Write the table anew without ids older than ``floor_ms``, as small as fits them."""
        self._write_anew(floor_ms, 0)

    @property
    def capacity(self) -> int:
        """How many places the table has: twice as many as it may have ids."""
        return len(self._table.places)

    @property
    def count(self) -> int:
        """How many ids are held, those that are yet to move or to be forgotten included."""
        return int(self._meta[_USED] + self._meta[_LEFT])

    @property
    def _moving(self) -> bool:
        return bool(self._meta[_CURSOR] != _NONE)

    def _make_room(self, more: int, floor: int) -> None:
        """For ``more`` ids; and let a piece of the table before this one move."""
        if 2 * (int(self._meta[_USED]) + more) > self.capacity:
            if self._moving or self._meta[_USED] <= _AT_ONCE:
                self._write_anew(floor, more)
            else:
                times = self._table.times[: int(self._meta[_USED])]
                step = max(1, len(times) // _SAMPLE)
                held = int((times[::step] >= floor).sum()) * step
                # a tenth more than the sample says; what does not fit all the same is written anew at once
                self._begin(held + held // 10 + more)
        if self._moving:
            self._move_on(more, floor)

    def _begin(self, ids: int) -> None:
        """Go on with an empty table for so many; the one before it is to be moved."""
        self._meta[_LEFT], self._meta[_USED], self._meta[_NAME] = self._meta[_USED], 0, 1 - self._meta[_NAME]
        # ids are counted from 1 here, for 0 says that there is nothing to move
        self._meta[_CURSOR] = 1
        self._before = self._table
        self._table = self._open(int(self._meta[_NAME]), _capacity(ids))

    def _move_on(self, more: int, floor: int) -> None:
        used, first, end = int(self._meta[_USED]), int(self._meta[_CURSOR]) - 1, int(self._meta[_LEFT])
        # never so many that the table could be full, however wrong the sample was
        most = min(_MOVED_LEAST + _MOVED_EACH * more, (self.capacity // 2 - used - more) // 2)
        until = min(first + _PASSED_EACH * most, end)
        self._prepare(min(most, until - first))
        until, used = _move(first, until, most, floor, self._before, used, self._table)
        self._meta[_USED], self._meta[_CURSOR] = used, until + 1
        if until == end:
            self._leave()

    def _leave(self) -> None:
        """All has moved."""
        self._meta[_CURSOR], self._meta[_LEFT] = _NONE, 0
        self._before = self._table
        self._remove(1 - int(self._meta[_NAME]))

    def _write_anew(self, floor: int, room: int) -> None:
        """Everything at once into a table that fits."""
        parts = [(self._table, 0, int(self._meta[_USED]))]
        if self._moving:
            parts.append((self._before, int(self._meta[_CURSOR]) - 1, int(self._meta[_LEFT])))
        kept = []
        for table, first, end in parts:
            keep = first + np.flatnonzero(table.times[first:end] >= floor)
            kept.append((table.low[keep], table.high[keep], table.times[keep]))
        low, high, times = (np.concatenate(columns) for columns in zip(*kept, strict=True))
        for name in (0, 1):
            self._remove(name)
        self._meta[_CURSOR], self._meta[_LEFT] = _NONE, 0
        self._table = self._before = self._open(int(self._meta[_NAME]), _capacity(len(low) + room))
        # soon each of its pages has an id
        self._arena.prepare(self._part(int(self._meta[_NAME]), "places"), 0, self.capacity)
        self._meta[_USED] = 0
        self._append(low, high, times)

    def _append(self, low: Array, high: Array, times: Array) -> None:
        """Take ids for which there is room, column by column."""
        used = int(self._meta[_USED])
        for part, values in (("low", low), ("high", high), ("times", times)):
            self._arena.put(self._part(int(self._meta[_NAME]), part), used, values)
        _place_all(used, low, self._table.places)
        self._meta[_USED] += len(low)

    def _prepare(self, more: int) -> None:
        used = int(self._meta[_USED])
        for part in ("low", "high", "times"):
            self._arena.prepare(self._part(int(self._meta[_NAME]), part), used, used + more)

    def _open(self, name: int, capacity: int) -> Table:
        ids = capacity // 2
        columns = (("low", np.uint64, ids), ("high", np.uint64, ids), ("times", np.int64, ids))
        parts = (*columns, ("places", np.int32, capacity))
        return Table(*(self._arena.open(self._part(name, part), kind, size) for part, kind, size in parts))

    def _remove(self, name: int) -> None:
        for part in Table._fields:
            self._arena.remove(self._part(name, part))

    def _part(self, name: int, part: str) -> str:
        return f"{self._name}.{name}.{part}"


def _capacity(ids: int) -> int:
    """Places for so many ids, a third to a sixth of them taken."""
    return max(_FIRST_CAPACITY, 1 << (3 * ids).bit_length())
