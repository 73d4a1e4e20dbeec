"""Deduplication of ids in a table with open addressing: the kernels.

    number   0    1    2    …       ids in the order in which they came, their columns written in that order
    places   .  3  .  1  2  .  …    by the low word of an identity: the id's number plus 1

What is written at random is small, four bytes for each id; the rest lies in order.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from tripline_engine.domain.memory.array_types import (
    BoolArray,
    Int32Array,
    Int64Array,
    Millis,
    Uint64Array,
    Word,
)
from tripline_engine.domain.memory.kernel import kernel

_EMPTY: Final = 0
"""A place without an id: zero, as in an array that nobody has written to. To fill a new table with anything else, 128
MiB for ten million ids, would stall a micro-batch."""


class IdColumns(NamedTuple):
    """Ids: identities (uint64, low and high) and record times (int64 ms)."""

    low: Uint64Array
    high: Uint64Array
    times: Int64Array


class IdTable(NamedTuple):
    """The ids by number, and the index of their numbers.

    :ivar places: int32, an id's number plus 1, or 0; its length is a power of two
    """

    low: Uint64Array
    high: Uint64Array
    times: Int64Array
    places: Int32Array


@kernel()
def _place(number: int, low: Word, places: Int32Array) -> None:
    mask = np.uint64(len(places) - 1)
    index = low & mask
    while places[index] != _EMPTY:
        index = (index + np.uint64(1)) & mask
    places[index] = number + 1


@kernel()
def _insert(number: int, low: Word, high: Word, time: Millis, table: IdTable) -> None:
    table.low[number], table.high[number], table.times[number] = low, high, time
    _place(number, low, table.places)


@kernel()
def _is_duplicate(low: Word, high: Word, time: Millis, reach: Millis, floor: Millis, table: IdTable) -> bool:
    """Whether the table has the id with a record time not below the floor and at most ``reach`` away."""
    mask = np.uint64(len(table.places) - 1)
    index = low & mask
    while table.places[index] != _EMPTY:
        number = table.places[index] - 1
        same = table.low[number] == low and table.high[number] == high
        if same and table.times[number] >= floor and abs(table.times[number] - time) <= reach:
            return True
        index = (index + np.uint64(1)) & mask
    return False


@kernel()
def accept_ids(
    used: int,
    ids: IdColumns,
    reach: Millis,
    floor: Millis,
    table: IdTable,
    old: IdTable,
    rehashing: bool,
    accepted: BoolArray,
) -> int:
    """Judge ids in order, and enter those that are no duplicates.

    :param used: the ids in the table
    :param old: looked into as well while ``rehashing``
    :returns: the ids in the table afterwards
    """
    for i in range(len(ids.low)):
        low, high, time = ids.low[i], ids.high[i], ids.times[i]
        duplicate = _is_duplicate(low, high, time, reach, floor, table)
        if rehashing and not duplicate:
            duplicate = _is_duplicate(low, high, time, reach, floor, old)
        accepted[i] = not duplicate
        if not duplicate:
            _insert(used, low, high, time, table)
            used += 1
    return used


@kernel(nogil=True)
def place_ids(used: int, low: Uint64Array, places: Int32Array) -> None:
    """Index ids whose columns are written, from number ``used`` on."""
    for i in range(len(low)):
        _place(used + i, low[i], places)


@kernel(nogil=True)
def move_ids(
    first: int, until: int, limit: int, floor: Millis, old: IdTable, used: int, table: IdTable
) -> tuple[int, int]:
    """Rehash the ids from ``first`` to ``until`` that have not expired, at most ``limit`` of them.

    :returns: the number after the last id that was looked at, and the ids in the table afterwards
    """
    end = used + limit
    for number in range(first, until):
        if old.times[number] >= floor:
            if used == end:
                return number, used
            _insert(used, old.low[number], old.high[number], old.times[number], table)
            used += 1
    return until, used
