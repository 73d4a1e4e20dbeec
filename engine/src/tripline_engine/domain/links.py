"""The transactions of each group, in the order of event time: a doubly linked list through the history.

Of equal event times the one accepted first stands first. A list may lead through rows that retention has
dropped; everything older than such a row is out of every window, so a walk just ends there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from tripline_engine.domain.arena import Arena, Array
from tripline_engine.domain.history import HashKey, History
from tripline_engine.domain.siphash import hash_strings
from tripline_engine.domain.slot_table import SlotTable


class Order(NamedTuple):
    """The lists of all groups, by row: event times (int64 ms), and the neighbours in their group (int32, -1: none)."""

    time: Array
    previous: Array
    following: Array


NOTHING = np.iinfo(np.int64).min
"""Stands for "the group had no transaction before" among event times."""

_FIRST_CAPACITY = 1024


@njit(cache=True)
def _link(
    start: int, slots: Any, time: Any, previous: Any, following: Any, last: Any, base: int, newest: Any
) -> None:
    for i in range(len(newest)):
        row = start + i
        slot = slots[row]
        previous[row] = -1
        following[row] = -1
        newest[i] = NOTHING
        if slot < 0:
            continue
        older = last[slot]
        if older < base:
            last[slot] = row
            continue
        newest[i] = time[older]
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


@njit(cache=True)
def _forget(first: int, until: int, slots: Any, last: Any) -> None:
    for row in range(first, until):
        slot = slots[row]
        if slot >= 0 and last[slot] == row:
            last[slot] = -1


class Links:
    """The groups of one grouping set: for each row its group's slot, and its neighbours in event time.

    ``slots``, ``previous`` and ``following`` are int32 by row (-1: none), ``last`` int32 by slot: the newest row.
    """

    def __init__(
        self, arena: Arena, name: str, history: History, fields: tuple[str, ...], key: HashKey
    ) -> None:
        self._arena, self._name, self._history, self._key = arena, name, history, key
        self.fields = fields
        # The slots of a single text field's values already number its groups.
        self._shared = len(fields) == 1 and fields[0] in history.values
        self._table = history.values[fields[0]] if self._shared else SlotTable(arena, f"{name}.groups")
        if not self._shared:
            self._slots = arena.open(f"{name}.slot", np.int32, _FIRST_CAPACITY, -1)
        self.previous = arena.open(f"{name}.previous", np.int32, _FIRST_CAPACITY, -1)
        self.following = arena.open(f"{name}.following", np.int32, _FIRST_CAPACITY, -1)
        self.last = arena.open(f"{name}.last", np.int32, _FIRST_CAPACITY, -1)

    @property
    def slots(self) -> Array:
        """The group of each row, -1 where a field of the grouping is null."""
        return self._history.codes(self.fields[0]) if self._shared else self._slots

    @property
    def order(self) -> Order:
        """The lists, for kernels."""
        return Order(self._history.time, self.previous, self.following)

    @property
    def groups(self) -> int:
        """How many groups have a retained transaction."""
        return self._table.used

    @property
    def slot_end(self) -> int:
        """All slots lie below this number."""
        return self._table.end

    def link(self, start: int, end: int) -> npt.NDArray[np.int64]:
        """Enter the rows from ``start`` to ``end`` in the order of acceptance.

        :returns: int64, for each the newest event time (ms) of its group before it, or NOTHING
        """
        self._reserve(end)
        if not self._shared:
            self._slots[start:end] = self._intern(start, end)
        self._reserve_slots()
        newest = np.empty(end - start, np.int64)
        _link(
            start,
            self.slots,
            self._history.time,
            self.previous,
            self.following,
            self.last,
            self._history.base,
            newest,
        )
        return newest

    def drop(self, until: int) -> None:
        """Give up the rows before ``until`` (called before the history does)."""
        first = self._history.base
        _forget(first, until, self.slots, self.last)
        if not self._shared:
            self._table.release(self._slots[first:until])

    def shift(self, delta: int, end: int) -> None:
        """Follow the history when its row numbers shrink by ``delta`` (``end``: the number after the newest, new)."""
        for rows in (self.previous, self.following):
            moved = rows[delta : delta + end] - delta
            rows[:end] = np.maximum(moved, -1)
        if not self._shared:
            self._slots[:end] = self._slots[delta : delta + end].copy()
        used = self.last[: self.slot_end]
        used[:] = np.maximum(used - delta, -1)

    def remove(self) -> None:
        """Forget the grouping and its arrays."""
        if not self._shared:
            self._table.remove()
            self._arena.remove(f"{self._name}.slot")
        for part in ("previous", "following", "last"):
            self._arena.remove(f"{self._name}.{part}")

    def _intern(self, start: int, end: int) -> npt.NDArray[np.int32]:
        n = end - start
        parts = [self._identity(field, start, end) for field in self.fields]
        present = np.ones(n, np.bool_)
        for _, _, known in parts:
            present &= known
        if not parts:
            zero = np.zeros(n, np.uint64)
            return self._table.intern(zero, zero, present)
        low, high = parts[0][:2] if len(parts) == 1 else self._combine(parts)
        return self._table.intern(low, high, present)

    def _identity(self, field: str, start: int, end: int) -> tuple[Array, Array, Array]:
        """128 bits that are equal exactly where the field's values are, and whether there is a value."""
        history = self._history
        if field in history.values:
            codes = history.codes(field)[start:end]
            table = history.values[field]
            return table.key_low[codes], table.key_high[codes], codes >= 0
        amounts = history.measure(field)
        low, high = amounts.low[start:end].copy(), amounts.high[start:end].view(np.uint64).copy()
        # Hashed, because plain numbers would crowd the table's neighbouring places.
        low, high = self._hash_words(np.column_stack((low, high)))
        return low, high, np.ones(end - start, np.bool_)

    def _combine(self, parts: list[tuple[Array, Array, Array]]) -> tuple[Array, Array]:
        return self._hash_words(np.column_stack([word for low, high, _ in parts for word in (low, high)]))

    def _hash_words(self, words: npt.NDArray[np.uint64]) -> tuple[Array, Array]:
        n, width = words.shape
        offsets = np.arange(n + 1, dtype=np.int32) * np.int32(8 * width)
        data = np.ascontiguousarray(words).view(np.uint8).reshape(-1)
        return hash_strings(offsets, data, self._key.first, self._key.second)

    def _reserve(self, rows: int) -> None:
        if rows <= len(self.previous):
            return
        capacity = 1 << rows.bit_length()
        self.previous = self._arena.resize(f"{self._name}.previous", capacity, -1)
        self.following = self._arena.resize(f"{self._name}.following", capacity, -1)
        if not self._shared:
            self._slots = self._arena.resize(f"{self._name}.slot", capacity, -1)

    def _reserve_slots(self) -> None:
        if self.slot_end > len(self.last):
            self.last = self._arena.resize(f"{self._name}.last", 1 << self.slot_end.bit_length(), -1)
