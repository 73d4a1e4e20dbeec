"""Firing state: what a rule version keeps of each group because later alerts depend on it.

    crossing          alerts when the rule holds and did not at the group's previous evaluation in order,
                      if that one's event time is still within the window
    resetOnAlert      after an alert only transactions accepted later count
    cooldownSeconds   after an alert others are suppressed (`cooldown`)

It is durable and named by the group's 128-bit identity there; here it lies in an array by slot.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tripline_engine.domain.firing.cooldown import Cooldown
from tripline_engine.domain.groups.group_lists import GroupLists
from tripline_engine.domain.memory.arena import Arena
from tripline_engine.domain.memory.array_types import (
    BoolArray,
    Int32Array,
    Int64Array,
    Millis,
    RowNumber,
    Slot,
    Uint64Array,
    int64,
)
from tripline_engine.domain.memory.kernel import kernel
from tripline_engine.domain.transactions.columns import MIN_TIME

_FIRST_CAPACITY = 1024
# A group's state: event time of the last evaluation, whether the rule held then, sequence of the last reset.
WIDTH = 3
TIME, HELD, RESET = 0, 1, 2
NEVER_RESET = -1
BLANK = np.array([MIN_TIME, 0, NEVER_RESET], np.int64)


@dataclass(frozen=True, slots=True)
class FiringRecords:
    """The states of n groups.

    :ivar low: with ``high``, the group's identity
    :ivar time: ms, event time of the last evaluation in order, MIN_TIME if none counts
    :ivar held: whether the rule held then
    :ivar reset: sequence number of the transaction that last reset the group, or NEVER_RESET
    :ivar alerted: ms, greatest event time of the group's alerts, MIN_TIME if it does not matter
    """

    low: Uint64Array
    high: Uint64Array
    time: Int64Array
    held: BoolArray
    reset: Int64Array
    alerted: Int64Array

    def __len__(self) -> int:
        return len(self.low)


@kernel()
def crosses(state: Int64Array, slot: Slot, time: Millis, window: Millis, satisfied: bool) -> bool:
    """Whether an evaluation in order crosses the limit; the state records it."""
    offset = int64(slot) * WIDTH
    held = state[offset + HELD] == 1 and state[offset + TIME] >= time - window
    state[offset + TIME] = time
    state[offset + HELD] = 1 if satisfied else 0
    crossing: bool = satisfied and not held
    return crossing


@kernel()
def fire_crossings(
    start: RowNumber,
    slots: Int32Array,
    time: Int64Array,
    window: Millis,
    matches: BoolArray,
    counted: BoolArray,
    state: Int64Array,
) -> None:
    """Leave of ``matches`` the crossings.

    ``slots`` and ``time`` are by row, ``matches`` and ``counted`` by place from ``start`` on.
    """
    for i in range(len(matches)):
        if counted[i]:
            row = start + i
            matches[i] = crosses(state, slots[row], time[row], window, matches[i])
        else:
            matches[i] = False


class FiringStates:
    """The firing state of one definition version; ``cooldown_seconds``: None for no cooldown."""

    def __init__(self, arena: Arena, name: str, links: GroupLists, cooldown_seconds: int | None) -> None:
        self._arena, self._name, self._links = arena, f"{name}.firing", links
        self.cooldown = Cooldown(arena, name, links, cooldown_seconds)
        self.state = arena.open(self._name, np.int64, _FIRST_CAPACITY * WIDTH)

    def build(self, records: FiringRecords | None) -> None:
        """Take these states; of a group without a retained transaction only the cooldown counts."""
        self.state[:] = np.tile(BLANK, len(self.state) // WIDTH)
        self.reserve()
        if records is None:
            nothing = np.empty(0, np.uint64)
            self.cooldown.build(nothing, nothing, np.empty(0, np.int64))
            return
        self.cooldown.build(records.low, records.high, records.alerted)
        slots = self._links.table.find(records.low, records.high)
        has_group = slots >= 0
        table = self.state.reshape(-1, WIDTH)
        columns = (records.time, records.held.astype(np.int64), records.reset)
        table[slots[has_group]] = np.column_stack(columns)[has_group]

    def reserve(self) -> None:
        """Make room for the grouping's groups."""
        old, needed = len(self.state), len(self._links.last) * WIDTH
        if needed > old:
            self.state = self._arena.resize(self._name, needed)
            self.state[old:] = np.tile(BLANK, (needed - old) // WIDTH)

    def cross(
        self, start: int, time: Int64Array, window_ms: int, matches: BoolArray, counted: BoolArray
    ) -> None:
        """Leave of ``matches`` (n rows from ``start`` on: where the rule's condition holds) the crossings.

        :param time: the history's event times
        :param counted: n: the evaluations that change the state, all of them in order
        """
        self.reserve()
        fire_crossings(start, self._links.slots, time, window_ms, matches, counted, self.state)

    def records(self, slots: Int32Array) -> FiringRecords:
        """The states of these groups (each named once or more)."""
        chosen = np.unique(slots)
        table, state = self._links.table, self.state.reshape(-1, WIDTH)[chosen]
        low, high = table.key_low[chosen], table.key_high[chosen]
        return FiringRecords(
            low,
            high,
            state[:, TIME].copy(),
            state[:, HELD] == 1,
            state[:, RESET].copy(),
            self.cooldown.times(low, high),
        )

    def expire(self, lateness_floor: int) -> None:
        """Expire what no accepted event time (ms) reaches any more; here states go with their groups' lists."""

    def remove(self) -> None:
        """Remove all states and their arrays."""
        self._arena.remove(self._name)
        self.cooldown.remove()
