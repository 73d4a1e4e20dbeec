"""The transactions of each group in event-time order: intrusive doubly linked lists through the history.

Of equal event times the one accepted first comes first. A list may lead through rows that retention has
dropped; everything older than such a row is out of every window, so a walk just ends there.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from tripline_engine.domain.groups.groups import NULL_GROUP, Groups
from tripline_engine.domain.groups.large_groups import SMALL_GROUP_ROWS, Entering, LargeGroups
from tripline_engine.domain.history.history import History
from tripline_engine.domain.history.history_columns import VOIDED
from tripline_engine.domain.history.leaf_tests import Test
from tripline_engine.domain.memory.arena import Arena, Array
from tripline_engine.domain.memory.array_types import NO_ROW, Int32Array, Int64Array, Millis, RowNumber, Slot
from tripline_engine.domain.memory.kernel import kernel
from tripline_engine.domain.memory.row_arrays import RowArrays
from tripline_engine.domain.memory.row_compaction import renumber, shift_down, shift_row_numbers_down
from tripline_engine.domain.memory.slot_table import SlotTable
from tripline_engine.domain.transactions.columns import MIN_TIME


class Order(NamedTuple):
    """The lists of all groups, by row: event times (int64 ms), and the neighbours in their group (int32, or NO_ROW)."""

    time: Int64Array
    previous: Int32Array
    following: Int32Array


class LinkResult(NamedTuple):
    """The result of linking rows.

    :ivar newest: int64 by row, the newest event time (ms) of its group before it, or MIN_TIME
    :ivar groups: the numbers of their groups, if these are large
    """

    newest: Int64Array
    groups: Entering


class Members(NamedTuple):
    """The rows of a list that contribute to a window: all, or if ``chosen`` those with a slot (int32) from 0 on."""

    chosen: bool
    slots: Int32Array


FILTERED: Final = -2
"""The slot of a row that the population's filter leaves out; NULL_GROUP is that of a row without a group."""
_VOIDED_SLOT: Final = -3
"""A voided row has the slot _VOIDED_SLOT - s: it is in no list, but while it is retained its group keeps the slot s,
and with it a firing state that it may have left."""

_FIRST_CAPACITY: Final = 1024
# Rows that are filtered at a time: what is computed of them stays in the processor's cache.
_PIECE_ROWS: Final = 1 << 15


def unhidden(slots: Int32Array) -> Int32Array:
    """The slots, those of voided rows as if these were in the lists."""
    return np.where(slots <= _VOIDED_SLOT, _VOIDED_SLOT - slots, slots)


@kernel()
def follows(row: RowNumber, other: RowNumber, time: Int64Array) -> bool:
    """Whether the row comes after the other in a list: of equal event times the one accepted first comes first."""
    result: bool = time[row] > time[other] or (time[row] == time[other] and row > other)
    return result


@kernel()
def link_row(row: RowNumber, slot: Slot, order: Order, last: Int32Array, base: RowNumber) -> Millis:
    """Insert a row into its group's list; the newest event time there before it, or MIN_TIME."""
    time, previous, following = order.time, order.previous, order.following
    previous[row] = NO_ROW
    following[row] = NO_ROW
    older = last[slot]
    if older < base:
        last[slot] = row
        return MIN_TIME
    newest: Millis = time[older]
    newer = np.int32(NO_ROW)
    while older >= base and time[older] > time[row]:
        newer = older
        older = previous[older]
    previous[row] = older
    following[row] = newer
    if older >= base:
        following[older] = row
    if newer >= 0:
        previous[newer] = row
    else:
        last[slot] = row
    return newest


@kernel(nogil=True)
def _link(
    start: RowNumber, slots: Int32Array, order: Order, last: Int32Array, base: RowNumber, newest: Int64Array
) -> None:
    for i in range(len(newest)):
        row = start + i
        if slots[row] >= 0:
            newest[i] = link_row(row, slots[row], order, last, base)
        else:
            order.previous[row] = NO_ROW
            order.following[row] = NO_ROW
            newest[i] = MIN_TIME


@kernel()
def _end_lists(first: RowNumber, until: RowNumber, slots: Int32Array, last: Int32Array) -> None:
    for row in range(first, until):
        slot = slots[row]
        if slot >= 0 and last[slot] == row:
            last[slot] = NO_ROW


class IntrusiveLists:
    """The neighbours of each row in event time within its group.

    ``previous`` and ``following`` are int32 by row, ``last`` int32 by slot: the newest row. NO_ROW stands for none.
    """

    def __init__(self, arena: Arena, name: str, history: History) -> None:
        self._arena, self._name, self._history = arena, name, history
        self.previous = arena.open(f"{name}.previous", np.int32, _FIRST_CAPACITY, NO_ROW)
        self.following = arena.open(f"{name}.following", np.int32, _FIRST_CAPACITY, NO_ROW)
        self.last = arena.open(f"{name}.last", np.int32, _FIRST_CAPACITY, NO_ROW)

    @property
    def order(self) -> Order:
        """The lists, for kernels."""
        return Order(self._history.time, self.previous, self.following)

    def end_lists(self, first: int, until: int, slots: Array) -> None:
        """End the lists whose newest row is among those from ``first`` to ``until``, which are dropped."""
        _end_lists(first, until, slots, self.last)

    @property
    def by_row(self) -> RowArrays:
        """The arrays by row."""
        return {f"{self._name}.previous": self.previous, f"{self._name}.following": self.following}

    def shift(self, delta: int, end: int) -> None:
        """Follow a compaction that lowers row numbers by ``delta``; ``end`` is the number after the newest, new."""
        for rows in (self.previous, self.following):
            shift_row_numbers_down(rows, delta, end)
        renumber(self.last, delta)

    def remove(self) -> None:
        """Remove the lists' arrays."""
        for part in ("previous", "following", "last"):
            self._arena.remove(f"{self._name}.{part}")

    def reserve(self, rows: int, slots: int) -> None:
        """Make room for so many rows and groups."""
        if rows > len(self.previous):
            capacity = 1 << rows.bit_length()
            # rows are written when they come: to write all of them now would stall a micro-batch
            self.previous = self._arena.resize(f"{self._name}.previous", capacity)
            self.following = self._arena.resize(f"{self._name}.following", capacity)
        if slots > len(self.last):
            self.last = self._arena.resize(f"{self._name}.last", 1 << slots.bit_length(), NO_ROW)


class GroupLists(IntrusiveLists):
    """The lists of one population: those of its transactions that pass the filter.

    ``slots`` is int32 by row: NULL_GROUP where a field of the grouping is null, FILTERED where the filter fails;
    negative for voided rows too. To be opened anew when a row is voided for the first time.
    """

    def __init__(
        self,
        arena: Arena,
        name: str,
        history: History,
        groups: Groups,
        passes: Test | None = None,
        *,
        small: int = SMALL_GROUP_ROWS,
    ) -> None:
        super().__init__(arena, name, history)
        self._groups, self._passes = groups, passes
        self._shared = passes is None and not history.any_marked(VOIDED)
        if not self._shared:
            self._slots = arena.open(f"{name}.slot", np.int32, _FIRST_CAPACITY, NULL_GROUP)
        self.large = LargeGroups(arena, name, len(self.last), small)

    @property
    def slots(self) -> Array:
        """The group of each row."""
        return self._groups.slots if self._shared else self._slots

    @property
    def table(self) -> SlotTable:
        """The slot table of the groups."""
        return self._groups.table

    @property
    def by_row(self) -> RowArrays:
        slots = {} if self._shared else {f"{self._name}.slot": self._slots}
        return super().by_row | slots

    def members(self, members: GroupLists) -> Members:
        """The rows of these lists that contribute, if those of that population do."""
        return Members(members is not self, members.slots)

    @property
    def offset(self) -> int:
        """The sequence number of row 0."""
        return self._history.offset

    @property
    def slot_end(self) -> int:
        """The number after the highest slot ever used."""
        return self.table.end

    def link(self, start: int, end: int) -> LinkResult:
        """Link the rows from ``start`` to ``end``, whose groups are numbered, in the order of acceptance."""
        if not self._shared:
            if end > len(self._slots):
                self._slots = self._arena.resize(f"{self._name}.slot", 1 << end.bit_length())
            for first in range(start, end, _PIECE_ROWS):
                until = min(first + _PIECE_ROWS, end)
                self._arena.put(f"{self._name}.slot", first, self._chosen(first, until))
        self._make_room(end)
        for part in ("previous", "following"):
            self._arena.prepare(f"{self._name}.{part}", start, end)
        slots, base = self.slots, self._history.base
        groups = self.large.enter(slots[start:end], self.table.counts, self.last, base)
        newest = np.empty(end - start, np.int64)
        _link(start, slots, self.order, self.last, base, newest)
        return LinkResult(newest, groups)

    def build(self, start: int, end: int) -> None:
        """Link rows without a result, a piece at a time while it is in the cache."""
        # without any row there may still be slots
        self._make_room(end)
        for first in range(start, end, _PIECE_ROWS):
            self.link(first, min(first + _PIECE_ROWS, end))

    def drop(self, until: int) -> None:
        """Drop the rows before ``until`` (called before the groups and the history do)."""
        first = self._history.base
        self.large.release(first, until, self.slots, self.last)
        self.end_lists(first, until, self.slots)

    def shift(self, delta: int, end: int) -> None:
        """Follow a compaction, as intrusive lists do."""
        super().shift(delta, end)
        if not self._shared:
            shift_down(self._slots, delta, end)

    def remove(self) -> None:
        """Remove the population's arrays."""
        super().remove()
        self.large.remove()
        if not self._shared:
            self._arena.remove(f"{self._name}.slot")

    def _make_room(self, rows: int) -> None:
        self.reserve(rows, self.slot_end)
        self.large.reserve(len(self.last))

    def _chosen(self, start: RowNumber, end: RowNumber) -> Int32Array:
        """The slots of the rows that are in the lists, and the reason among slots why the others are not."""
        slots: Int32Array = self._groups.slots[start:end].copy()
        if self._passes is not None:
            slots[~self._passes(self._history, start, end)] = FILTERED
        voided = self._history.marked(VOIDED, start, end)
        if voided is not None:
            voided &= slots >= 0
            slots[voided] = _VOIDED_SLOT - slots[voided]
        return slots
