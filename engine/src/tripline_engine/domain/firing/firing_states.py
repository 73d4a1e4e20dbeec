"""Firing state: what a rule version remembers of each group, because alerts depend on it.

    crossing          alerts when the rule holds and did not at the group's previous evaluation in order,
                      if that one's event time is still within the window
    resetOnAlert      after an alert only transactions accepted later count
    cooldownSeconds   after an alert there is silence (`cooldown`)

It is durable and named by the group's 128-bit identity there; here it lies in an array by slot.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tripline_engine.domain.firing.cooldown import Cooldown
from tripline_engine.domain.groups.group_lists import GroupLists
from tripline_engine.domain.memory.arena import Arena
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
    :ivar time: int64 ms, event time of the last evaluation in order, MIN_TIME if none counts
    :ivar held: bool
    :ivar reset: int64, sequence number of the transaction that last reset the group, or NEVER_RESET
    :ivar alerted: int64 ms, greatest event time of the group's alerts, MIN_TIME if it does not matter
    """

    low: npt.NDArray[np.uint64]
    high: npt.NDArray[np.uint64]
    time: npt.NDArray[np.int64]
    held: npt.NDArray[np.bool_]
    reset: npt.NDArray[np.int64]
    alerted: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.low)


@kernel()
def crosses(state: Any, slot: Any, time: Any, window: Any, holds: Any) -> bool:
    """Whether an evaluation in order crosses the limit; the state takes it in."""
    at = np.int64(slot) * WIDTH
    held = state[at + HELD] == 1 and state[at + TIME] >= time - window
    state[at + TIME] = time
    state[at + HELD] = 1 if holds else 0
    crossing: bool = holds and not held
    return crossing


@kernel()
def fire_crossings(
    start: int, slots: Any, time: Any, window: int, hits: Any, moving: Any, state: Any
) -> None:
    """Leave of ``hits`` the crossings; ``slots`` and ``time`` are by row, the other two by place from ``start`` on."""
    for i in range(len(hits)):
        if moving[i]:
            row = start + i
            hits[i] = crosses(state, slots[row], time[row], window, hits[i])
        else:
            hits[i] = False


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
            self.cooldown.build(*[np.empty(0, dtype) for dtype in (np.uint64, np.uint64, np.int64)])
            return
        self.cooldown.build(records.low, records.high, records.alerted)
        slots = self._links.table.find(records.low, records.high)
        known = slots >= 0
        table = self.state.reshape(-1, WIDTH)
        columns = (records.time, records.held.astype(np.int64), records.reset)
        table[slots[known]] = np.column_stack(columns)[known]

    def reserve(self) -> None:
        """Make room for the grouping's groups."""
        old, needed = len(self.state), len(self._links.last) * WIDTH
        if needed > old:
            self.state = self._arena.resize(self._name, needed)
            self.state[old:] = np.tile(BLANK, (needed - old) // WIDTH)

    def cross(self, start: int, time: npt.NDArray[np.int64], window_ms: int, hits: Any, moving: Any) -> None:
        """Leave of ``hits`` (bool, n rows from ``start`` on) the crossings.

        :param time: the history's event times
        :param moving: bool, n: the evaluations that count, all of them in order
        """
        self.reserve()
        fire_crossings(start, self._links.slots, time, window_ms, hits, moving, self.state)

    def records(self, slots: npt.NDArray[np.int32]) -> FiringRecords:
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

    def forget(self, lateness_floor: int) -> None:
        """No transaction below that event time (ms) is accepted any more; here states go with their groups' lists."""

    def remove(self) -> None:
        """Forget all states."""
        self._arena.remove(self._name)
        self.cooldown.remove()
