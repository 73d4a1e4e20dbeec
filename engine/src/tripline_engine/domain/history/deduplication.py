"""Deduplication by transaction id.

An id is kept, for each anchor value, with the record time of every transaction that was accepted under it, until the
watermark of ids has passed that time. Ids lie in their order of arrival and a hash index finds them: pages of mapped
files are expensive to fault in, so as few as possible are written at random.

A full table is rehashed into one that fits the ids that have not expired. A large one is rehashed incrementally, a
bounded piece with each micro-batch; until that is done both are searched.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tripline_engine.domain.history.seen_id_kernels import (
    IdColumns,
    IdTable,
    accept_ids,
    move_ids,
    place_ids,
)
from tripline_engine.domain.memory.arena import Arena, Array
from tripline_engine.domain.memory.array_types import BoolArray, Int64Array, Millis, Uint64Array

_NO_EXPIRY: Final[Millis] = np.iinfo(np.int64).min
"""A floor below which no record time lies."""

# Items of `meta`: ids in the table, and in the old one; the number after the next of those to move, or _NO_CURSOR; and
# which of the two array names the table has.
_USED, _LEFT, _CURSOR, _NAME, _META_ITEMS = 0, 1, 2, 3, 4
_NO_CURSOR: Final = 0
"""The cursor while there is no old table."""


@dataclass(frozen=True, slots=True)
class SeenIdsTuning:
    """When a table is rehashed, and how much of it at a time.

    :ivar first_places: of a new table; a power of two, twice the ids that it may have
    :ivar at_once: a table of at most so many ids is rehashed in one go
    :ivar moved_per_id: of a larger one, ids for each that is judged
    :ivar moved_per_batch: and besides, with each micro-batch
    :ivar expired_per_moved: ids looked at for each that may move: to leave an expired one behind costs a sixteenth of
        moving one
    :ivar sampled_times: record times from which the share of ids that have not expired is estimated. They come nearly
        in order, so few are enough, and each is in a cold page, which may have to come back from the disk
    """

    first_places: int = 1024
    at_once: int = 1 << 14
    moved_per_id: int = 4
    moved_per_batch: int = 256
    expired_per_moved: int = 16
    sampled_times: int = 1 << 8


_DEFAULT: Final = SeenIdsTuning()


class SeenIds:
    """The ids of accepted transactions of one anchor, each with its record time in ms."""

    def __init__(self, arena: Arena, name: str, tuning: SeenIdsTuning = _DEFAULT) -> None:
        self._arena, self._name, self._tuning = arena, name, tuning
        self._meta = arena.open(f"{name}.meta", np.int64, _META_ITEMS)
        self._table = self._open(int(self._meta[_NAME]), tuning.first_places)
        self._old = self._table
        if self._rehashing:
            self._old = self._open(1 - int(self._meta[_NAME]), tuning.first_places)

    def accept(
        self, low: Uint64Array, high: Uint64Array, record_time: Int64Array, reach_ms: Millis, floor_ms: Millis
    ) -> BoolArray:
        """Judge n transactions in order, and keep the ids of those that are no duplicates.

        :param low: with ``high``, identity of (anchor value, id)
        :param reach_ms: record times at most so far apart make a duplicate
        :param floor_ms: ids with an older record time have expired
        :returns: bool, n: False for a duplicate
        """
        self._make_room(len(low), floor_ms)
        self._prepare(len(low))
        accepted = np.empty(len(low), np.bool_)
        tables = self._table, self._old, self._rehashing
        ids, used = IdColumns(low, high, record_time), int(self._meta[_USED])
        self._meta[_USED] = accept_ids(used, ids, reach_ms, floor_ms, *tables, accepted)
        return accepted

    def reserve(self, ids: int) -> None:
        """Make room for so many ids before there are any."""
        self._rehash(_NO_EXPIRY, ids)

    def restore(self, low: Array, high: Array, record_time: Array) -> None:
        """Take back ids that were accepted before, as when the arrays are rebuilt."""
        self._make_room(len(low), _NO_EXPIRY)
        self._append(low, high, record_time)

    def expire(self, floor_ms: Millis) -> None:
        """Rehash the ids that are not older than ``floor_ms`` into a table that fits them."""
        self._rehash(floor_ms, 0)

    @property
    def capacity(self) -> int:
        """The places of the table: twice the ids that it may have."""
        return len(self._table.places)

    @property
    def count(self) -> int:
        """The ids in both tables, expired ones that are still there included."""
        return int(self._meta[_USED] + self._meta[_LEFT])

    @property
    def _rehashing(self) -> bool:
        return bool(self._meta[_CURSOR] != _NO_CURSOR)

    def _make_room(self, more: int, floor: Millis) -> None:
        """Make room for ``more`` ids, and move a piece of the old table."""
        if 2 * (int(self._meta[_USED]) + more) > self.capacity:
            if self._rehashing or self._meta[_USED] <= self._tuning.at_once:
                self._rehash(floor, more)
            else:
                times = self._table.times[: int(self._meta[_USED])]
                step = max(1, len(times) // self._tuning.sampled_times)
                kept = int((times[::step] >= floor).sum()) * step
                # a tenth above the estimate; if more are kept than fit, all are rehashed at once
                self._begin_rehash(kept + kept // 10 + more)
        if self._rehashing:
            self._rehash_piece(more, floor)

    def _begin_rehash(self, ids: int) -> None:
        """Go on with an empty table for so many ids, and keep the present one as the old one."""
        self._meta[_LEFT], self._meta[_USED], self._meta[_NAME] = self._meta[_USED], 0, 1 - self._meta[_NAME]
        self._meta[_CURSOR] = 1
        self._old = self._table
        self._table = self._open(int(self._meta[_NAME]), self._places(ids))

    def _rehash_piece(self, more: int, floor: Millis) -> None:
        used, first, end = int(self._meta[_USED]), int(self._meta[_CURSOR]) - 1, int(self._meta[_LEFT])
        tuning = self._tuning
        # the table never gets full, however wrong the estimate was
        spare = (self.capacity // 2 - used - more) // 2
        limit = min(tuning.moved_per_batch + tuning.moved_per_id * more, spare)
        until = min(first + tuning.expired_per_moved * limit, end)
        self._prepare(min(limit, until - first))
        until, used = move_ids(first, until, limit, floor, self._old, used, self._table)
        self._meta[_USED], self._meta[_CURSOR] = used, until + 1
        if until == end:
            self._remove_old()

    def _remove_old(self) -> None:
        self._meta[_CURSOR], self._meta[_LEFT] = _NO_CURSOR, 0
        self._old = self._table
        self._remove(1 - int(self._meta[_NAME]))

    def _rehash(self, floor: Millis, spare: int) -> None:
        """Rehash all ids at once, into a table with room for ``spare`` more."""
        sources = [(self._table, 0, int(self._meta[_USED]))]
        if self._rehashing:
            sources.append((self._old, int(self._meta[_CURSOR]) - 1, int(self._meta[_LEFT])))
        kept = []
        for table, first, end in sources:
            numbers = first + np.flatnonzero(table.times[first:end] >= floor)
            kept.append((table.low[numbers], table.high[numbers], table.times[numbers]))
        low, high, times = (np.concatenate(columns) for columns in zip(*kept, strict=True))
        for name in (0, 1):
            self._remove(name)
        self._meta[_CURSOR], self._meta[_LEFT] = _NO_CURSOR, 0
        self._table = self._old = self._open(int(self._meta[_NAME]), self._places(len(low) + spare))
        # each of its pages will soon have an id
        self._arena.prepare(self._part(int(self._meta[_NAME]), "places"), 0, self.capacity)
        self._meta[_USED] = 0
        self._append(low, high, times)

    def _append(self, low: Array, high: Array, times: Array) -> None:
        """Add ids for which there is room, column by column."""
        used = int(self._meta[_USED])
        for part, values in (("low", low), ("high", high), ("times", times)):
            self._arena.put(self._part(int(self._meta[_NAME]), part), used, values)
        place_ids(used, low, self._table.places)
        self._meta[_USED] += len(low)

    def _prepare(self, more: int) -> None:
        used = int(self._meta[_USED])
        for part in IdColumns._fields:
            self._arena.prepare(self._part(int(self._meta[_NAME]), part), used, used + more)

    def _open(self, name: int, places: int) -> IdTable:
        ids = places // 2
        columns = (("low", np.uint64, ids), ("high", np.uint64, ids), ("times", np.int64, ids))
        parts = (*columns, ("places", np.int32, places))
        return IdTable(*(self._arena.open(self._part(name, part), kind, size) for part, kind, size in parts))

    def _remove(self, name: int) -> None:
        for part in IdTable._fields:
            self._arena.remove(self._part(name, part))

    def _part(self, name: int, part: str) -> str:
        return f"{self._name}.{name}.{part}"

    def _places(self, ids: int) -> int:
        """Places for so many ids, a third to a sixth of them used."""
        return max(self._tuning.first_places, 1 << (3 * ids).bit_length())
