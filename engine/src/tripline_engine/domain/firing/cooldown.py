"""Cooldown after an alert (`cooldownSeconds`): for each group the greatest event time of its alerts.

It may outlast everything else that is known of the group, so it has a table of its own: open addressing by the
group's 128-bit identity, over plain arrays. Entries that can suppress nothing any more are left out when the table
is rewritten.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tripline_engine.domain.groups.group_lists import GroupLists
from tripline_engine.domain.memory.arena import Arena, HeapArena
from tripline_engine.domain.memory.array_types import (
    BoolArray,
    Int32Array,
    Int64Array,
    Millis,
    RowNumber,
    Uint64Array,
    Word,
)
from tripline_engine.domain.memory.kernel import kernel
from tripline_engine.domain.transactions.columns import MIN_TIME

_FIRST_CAPACITY = 256


class CooldownTable(NamedTuple):
    """The table for kernels; ``times`` are int64 ms, MIN_TIME in empty entries.

    :ivar used: int64, one item: number of entries in use
    :ivar length: of the cooldown; 0 where a version has none
    """

    low: Uint64Array
    high: Uint64Array
    times: Int64Array
    used: Int64Array
    length: Millis


class GroupKeys(NamedTuple):
    """The groups of rows, and by slot the two words of their identities."""

    slots: Int32Array
    low: Uint64Array
    high: Uint64Array


@kernel()
def _probe(low: Word, high: Word, table: CooldownTable) -> Word:
    """The index of the group's entry, or of the empty one where it belongs."""
    mask = np.uint64(len(table.times) - 1)
    index = low & mask
    while table.times[index] != MIN_TIME:
        if table.low[index] == low and table.high[index] == high:
            break
        index = (index + np.uint64(1)) & mask
    return index


@kernel()
def _record(low: Word, high: Word, time: Millis, table: CooldownTable) -> None:
    index = _probe(low, high, table)
    if table.times[index] == MIN_TIME:
        table.low[index], table.high[index] = low, high
        table.used[0] += 1
        table.times[index] = time
    elif time > table.times[index]:
        table.times[index] = time


@kernel()
def try_alert(low: Word, high: Word, time: Millis, table: CooldownTable) -> bool:
    """Whether an alert that is due at ``time`` is given; if so, the table records it."""
    if table.length == 0:
        return True
    last = table.times[_probe(low, high, table)]
    if last != MIN_TIME and last <= time < last + table.length:
        return False
    _record(low, high, time, table)
    return True


@kernel()
def _suppress(
    start: RowNumber, keys: GroupKeys, time: Int64Array, due: BoolArray, table: CooldownTable
) -> None:
    for i in range(len(due)):
        if due[i]:
            slot = keys.slots[start + i]
            due[i] = try_alert(keys.low[slot], keys.high[slot], time[start + i], table)


@kernel()
def _record_all(low: Uint64Array, high: Uint64Array, times: Int64Array, table: CooldownTable) -> None:
    for i in range(len(times)):
        if times[i] != MIN_TIME:
            _record(low[i], high[i], times[i], table)


@kernel()
def _look_up(low: Uint64Array, high: Uint64Array, table: CooldownTable, out: Int64Array) -> None:
    for i in range(len(out)):
        out[i] = table.times[_probe(low[i], high[i], table)]


class Cooldown:
    """The cooldowns of one definition version. Without a length there are none, and nothing is kept."""

    def __init__(self, arena: Arena, name: str, links: GroupLists, seconds: int | None) -> None:
        self._arena = arena if seconds else HeapArena()
        self._name, self._links, self._length = f"{name}.cooldown", links, (seconds or 0) * 1000
        self._low = self._arena.open(f"{self._name}.low", np.uint64, _FIRST_CAPACITY)
        self._high = self._arena.open(f"{self._name}.high", np.uint64, _FIRST_CAPACITY)
        self._times = self._arena.open(f"{self._name}.times", np.int64, _FIRST_CAPACITY, MIN_TIME)
        self._used = self._arena.open(f"{self._name}.used", np.int64, 1)

    @property
    def table(self) -> CooldownTable:
        """The table, for kernels."""
        return CooldownTable(self._low, self._high, self._times, self._used, self._length)

    def build(self, low: Uint64Array, high: Uint64Array, alerted: Int64Array) -> None:
        """Hold exactly this: groups' identities and the times of their alerts (ms, MIN_TIME for none)."""
        self._times[:] = MIN_TIME
        self._used[0] = 0
        self.reserve(len(low), MIN_TIME)
        _record_all(low, high, alerted, self.table)

    def reserve(self, more: int, floor: int) -> None:
        """Make room for ``more`` groups; no transaction before the floor is accepted any more."""
        if not self._length or 2 * (int(self._used[0]) + more) <= len(self._times):
            return
        keep = (self._times != MIN_TIME) & (self._times + self._length > floor)
        low, high, times = self._low[keep].copy(), self._high[keep].copy(), self._times[keep].copy()
        capacity = max(_FIRST_CAPACITY, 1 << (3 * (len(times) + more)).bit_length())
        self._low = self._arena.resize(f"{self._name}.low", capacity)
        self._high = self._arena.resize(f"{self._name}.high", capacity)
        self._times = self._arena.resize(f"{self._name}.times", capacity, MIN_TIME)
        self._times[:] = MIN_TIME
        self._used[0] = 0
        _record_all(low, high, times, self.table)

    def suppress(self, start: int, time: Int64Array, due: BoolArray, floor: int) -> None:
        """Leave of the alerts that are ``due`` (n rows from ``start`` on) those that no cooldown suppresses.

        :param time: the history's event times (ms)
        :param floor: no transaction before it is accepted any more
        """
        if not self._length:
            return
        self.reserve(int(due.sum()), floor)
        groups = self._links.table
        keys = GroupKeys(self._links.slots, groups.key_low, groups.key_high)
        _suppress(start, keys, time, due, self.table)

    def times(self, low: Uint64Array, high: Uint64Array) -> Int64Array:
        """The greatest event time of each group's alerts (ms), MIN_TIME for none."""
        out = np.full(len(low), MIN_TIME, np.int64)
        if self._length:
            _look_up(low, high, self.table, out)
        return out

    def remove(self) -> None:
        """Remove the table and its arrays."""
        for part in ("low", "high", "times", "used"):
            self._arena.remove(f"{self._name}.{part}")
