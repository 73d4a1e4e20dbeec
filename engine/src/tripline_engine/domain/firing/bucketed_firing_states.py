"""Firing state that outlives the group's transactions: bucketed windows reach further back than history."""

from __future__ import annotations

import numpy as np

from tripline_engine.domain.firing.firing_states import (
    BLANK,
    HELD,
    NEVER_RESET,
    TIME,
    WIDTH,
    FiringRecords,
    FiringStates,
    fire_crossings,
)
from tripline_engine.domain.groups.group_lists import GroupLists
from tripline_engine.domain.memory.arena import Arena
from tripline_engine.domain.memory.array_types import BoolArray, Int32Array, Int64Array
from tripline_engine.domain.memory.slot_table import SlotTable
from tripline_engine.domain.transactions.columns import MIN_TIME


class BucketedFiringStates(FiringStates):
    """The firing state of one definition version; each group has a slot here for as long as its state counts."""

    def __init__(
        self, arena: Arena, name: str, links: GroupLists, cooldown_seconds: int | None, window_ms: int
    ) -> None:
        super().__init__(arena, name, links, cooldown_seconds)
        self._groups, self._window = SlotTable(arena, f"{name}.firing.groups"), window_ms

    def build(self, records: FiringRecords | None) -> None:
        """Take these states."""
        super().build(None)
        self._groups.release(np.flatnonzero(self._groups.in_use).astype(np.int32))
        if records is None:
            return
        self.cooldown.build(records.low, records.high, records.alerted)
        evaluated = records.time != MIN_TIME
        slots = self._groups.intern(records.low[evaluated], records.high[evaluated], evaluated[evaluated])
        self.reserve()
        columns = records.time, records.held.astype(np.int64), np.full(len(records), NEVER_RESET)
        self._table[slots] = np.column_stack(columns)[evaluated]

    def reserve(self) -> None:
        """Make room for the groups."""
        old, needed = len(self.state), self._groups.capacity * WIDTH
        if needed > old:
            self.state = self._arena.resize(self._name, needed)
            self.state[old:] = np.tile(BLANK, (needed - old) // WIDTH)

    def cross(
        self, start: int, time: Int64Array, window_ms: int, matches: BoolArray, counted: BoolArray
    ) -> None:
        """As for other states."""
        n = len(matches)
        # where there is no group, or one of a voided row, the number lies outside the table
        listed = np.where(counted, self._links.slots[start : start + n], 0)
        low, high = self._links.table.key_low[listed], self._links.table.key_high[listed]
        new = counted & (self._groups.find(low, high) < 0)
        slots = self._groups.intern(low, high, counted)
        # each group is held once, however many of its transactions are here
        _, first = np.unique(slots[new], return_index=True)
        surplus = counted.copy()
        surplus[np.flatnonzero(new)[first]] = False
        self._groups.release(slots[surplus])
        self.reserve()
        fire_crossings(0, slots, time[start : start + n], window_ms, matches, counted, self.state)

    def records(self, slots: Int32Array) -> FiringRecords:
        """The states of these groups of the lists (each named once or more)."""
        chosen = np.unique(slots)
        low, high = self._links.table.key_low[chosen], self._links.table.key_high[chosen]
        kept = self._groups.find(low, high)
        state = np.where((kept >= 0)[:, None], self._table[kept], BLANK)
        reset = np.full(len(chosen), NEVER_RESET)
        alerted = self.cooldown.times(low, high)
        return FiringRecords(low, high, state[:, TIME].copy(), state[:, HELD] == 1, reset, alerted)

    def expire(self, lateness_floor: int) -> None:
        """Expire evaluations that no window reaches any more."""
        if lateness_floor == MIN_TIME:
            return
        in_use = np.flatnonzero(self._groups.in_use)
        expired = in_use[self._table[in_use, TIME] < lateness_floor - self._window]
        self._table[expired] = BLANK
        self._groups.release(expired.astype(np.int32))

    def remove(self) -> None:
        """Remove all states and their arrays."""
        super().remove()
        self._groups.remove()

    @property
    def _table(self) -> Int64Array:
        return self.state.reshape(-1, WIDTH)
