"""The transactions of each group, in the order of event time: a doubly linked list through the history.

Of equal event times the one accepted first stands first. A list may lead through rows that retention has
dropped; everything older than such a row is out of every window, so a walk just ends there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tripline_engine.domain.groups.groups import Groups
from tripline_engine.domain.groups.large_groups import Entering, LargeGroups
from tripline_engine.domain.history.history import VOIDED, History
from tripline_engine.domain.history.row_filter import Test
from tripline_engine.domain.memory.arena import Arena, Array
from tripline_engine.domain.memory.kernel import kernel
from tripline_engine.domain.memory.row_arrays import RowArrays
from tripline_engine.domain.memory.row_compaction import renumber, shift_down, shift_row_numbers_down
from tripline_engine.domain.memory.slot_table import SlotTable
from tripline_engine.domain.transactions.columns import MIN_TIME


class Order(NamedTuple):
    """The lists of all groups, by row: event times (int64 ms), and the neighbours in their group (int32, -1: none)."""

    time: Array
    previous: Array
    following: Array


class LinkResult(NamedTuple):
    """What was found when rows were entered.

    :ivar newest: int64, for each the newest event time (ms) of its group before it, or MIN_TIME
    :ivar groups: whether their groups are large
    """

    newest: npt.NDArray[np.int64]
    groups: Entering


class Members(NamedTuple):
    """Which rows of a list contribute to a window: all of them, or where ``slots`` (int32 by row) is not negative."""

    chosen: bool
    slots: Array


FILTERED = -2
"""Stands for "left out by the filter" among slots, as NULL_GROUP does for "no group"."""

_HIDDEN = -3
# A voided row has the slot _HIDDEN - s: it is in no list, but while it is retained its group keeps the slot s, and
# with it a firing state that it may have left.

_FIRST_CAPACITY = 1024
# So many rows are filtered at a time: what is computed of them stays in the processor's cache.
_PIECE = 1 << 15


def unhidden(slots: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """The slots with those of voided rows as if these were in the lists."""
    return np.where(slots <= _HIDDEN, _HIDDEN - slots, slots)


@kernel()
def follows(row: Any, other: Any, time: Any) -> bool:
    """Whether the row stands after the other in a list: of equal event times the one accepted first stands first."""
    result: bool = time[row] > time[other] or (time[row] == time[other] and row > other)
    return result


@kernel()
def link_row(row: Any, slot: Any, order: Any, last: Any, base: int) -> Any:
    """Put a row in its place in its group's list; the newest event time there before it, or MIN_TIME."""
    time, previous, following = order.time, order.previous, order.following
    previous[row] = -1
    following[row] = -1
    older = last[slot]
    if older < base:
        last[slot] = row
        return MIN_TIME
    newest = time[older]
    newer = np.int32(-1)
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
def _link(start: int, slots: Any, order: Any, last: Any, base: int, newest: Any) -> None:
    for i in range(len(newest)):
        row = start + i
        if slots[row] >= 0:
            newest[i] = link_row(row, slots[row], order, last, base)
        else:
            order.previous[row] = -1
            order.following[row] = -1
            newest[i] = MIN_TIME


@kernel()
def _forget(first: int, until: int, slots: Any, last: Any) -> None:
    for row in range(first, until):
        slot = slots[row]
        if slot >= 0 and last[slot] == row:
            last[slot] = -1


class IntrusiveLists:
    """For each row its neighbours in event time within its group.

    ``previous`` and ``following`` are int32 by row (-1: none), ``last`` int32 by slot: the newest row.
    """

    def __init__(self, arena: Arena, name: str, history: History) -> None:
        self._arena, self._name, self._history = arena, name, history
        self.previous = arena.open(f"{name}.previous", np.int32, _FIRST_CAPACITY, -1)
        self.following = arena.open(f"{name}.following", np.int32, _FIRST_CAPACITY, -1)
        self.last = arena.open(f"{name}.last", np.int32, _FIRST_CAPACITY, -1)

    @property
    def order(self) -> Order:
        """The lists, for kernels."""
        return Order(self._history.time, self.previous, self.following)

    def end_lists(self, first: int, until: int, slots: Array) -> None:
        """End the lists whose newest row is among those from ``first`` to ``until``, which go."""
        _forget(first, until, slots, self.last)

    @property
    def by_row(self) -> RowArrays:
        """The arrays that have an item for each row."""
        return {f"{self._name}.previous": self.previous, f"{self._name}.following": self.following}

    def shift(self, delta: int, end: int) -> None:
        """Follow the history when its row numbers shrink by ``delta`` (``end``: the number after the newest, new)."""
        for rows in (self.previous, self.following):
            shift_row_numbers_down(rows, delta, end)
        renumber(self.last, delta)

    def remove(self) -> None:
        """Forget the lists and their arrays."""
        for part in ("previous", "following", "last"):
            self._arena.remove(f"{self._name}.{part}")

    def reserve(self, rows: int, slots: int) -> None:
        """Make room for so many rows and groups."""
        if rows > len(self.previous):
            capacity = 1 << rows.bit_length()
            # what is there of a row is written when the row comes: to write all of it now would hold up a micro-batch
            self.previous = self._arena.resize(f"{self._name}.previous", capacity)
            self.following = self._arena.resize(f"{self._name}.following", capacity)
        if slots > len(self.last):
            self.last = self._arena.resize(f"{self._name}.last", 1 << slots.bit_length(), -1)


class GroupLists(IntrusiveLists):
    """The lists of one population: those of its transactions that pass the filter.

    ``slots`` is int32 by row: NULL_GROUP where a field of the grouping is null, FILTERED where the filter fails;
    negative too for voided rows. To be opened anew when there are voided rows for the first time.
    """

    def __init__(
        self, arena: Arena, name: str, history: History, groups: Groups, passes: Test | None = None
    ) -> None:
        super().__init__(arena, name, history)
        self._groups, self._passes = groups, passes
        self._shared = passes is None and not history.any_marked(VOIDED)
        if not self._shared:
            self._slots = arena.open(f"{name}.slot", np.int32, _FIRST_CAPACITY, -1)
        self.large = LargeGroups(arena, name, len(self.last))

    @property
    def slots(self) -> Array:
        """The group of each row."""
        return self._groups.slots if self._shared else self._slots

    @property
    def table(self) -> SlotTable:
        """The groups by their slots."""
        return self._groups.table

    @property
    def by_row(self) -> RowArrays:
        own = {} if self._shared else {f"{self._name}.slot": self._slots}
        return super().by_row | own

    def members(self, members: GroupLists) -> Members:
        """Which of its rows contribute, if those of that population do."""
        return Members(members is not self, members.slots)

    @property
    def offset(self) -> int:
        """The sequence number of row 0."""
        return self._history.offset

    @property
    def slot_end(self) -> int:
        """All slots lie below this number."""
        return self.table.end

    def link(self, start: int, end: int) -> LinkResult:
        """Enter the rows from ``start`` to ``end``, whose groups are known, in the order of acceptance."""
        if not self._shared:
            if end > len(self._slots):
                self._slots = self._arena.resize(f"{self._name}.slot", 1 << end.bit_length())
            for first in range(start, end, _PIECE):
                until = min(first + _PIECE, end)
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
        """The same with rows of which nothing needs to be said: a piece at a time, while it is in the cache."""
        # where there are no rows left there are still slots
        self._make_room(end)
        for first in range(start, end, _PIECE):
            self.link(first, min(first + _PIECE, end))

    def drop(self, until: int) -> None:
        """Give up the rows before ``until`` (called before the groups and the history do)."""
        first = self._history.base
        self.large.release(first, until, self.slots, self.last)
        self.end_lists(first, until, self.slots)

    def shift(self, delta: int, end: int) -> None:
        """As for lists."""
        super().shift(delta, end)
        if not self._shared:
            shift_down(self._slots, delta, end)

    def remove(self) -> None:
        """Forget the population and its arrays."""
        super().remove()
        self.large.remove()
        if not self._shared:
            self._arena.remove(f"{self._name}.slot")

    def _make_room(self, rows: int) -> None:
        self.reserve(rows, self.slot_end)
        self.large.reserve(len(self.last))

    def _chosen(self, start: int, end: int) -> npt.NDArray[np.int32]:
        """The slots of the rows that are in the lists, and what says why the others are not."""
        slots: npt.NDArray[np.int32] = self._groups.slots[start:end].copy()
        if self._passes is not None:
            slots[~self._passes(self._history, start, end)] = FILTERED
        voided = self._history.marked(VOIDED, start, end)
        if voided is not None:
            voided &= slots >= 0
            slots[voided] = _HIDDEN - slots[voided]
        return slots
