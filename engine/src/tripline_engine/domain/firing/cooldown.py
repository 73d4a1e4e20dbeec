"""Silence after an alert (`cooldownSeconds`): for each group the greatest event time of its alerts.

It may outlast everything else that is known of the group, so it has a table of its own: open addressing by the
group's 128-bit identity, over plain arrays. What can silence nothing any more is left behind when it is written
anew.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tripline_engine.domain.groups.group_lists import GroupLists
from tripline_engine.domain.memory.arena import Arena, HeapArena
from tripline_engine.domain.memory.kernel import kernel
from tripline_engine.domain.transactions.columns import MIN_TIME

_FIRST_CAPACITY = 256


class Silences(NamedTuple):
    """The table for kernels; ``times`` are int64 ms, MIN_TIME in empty places.

    :ivar used: int64, one item: how many places are taken
    :ivar length: ms; 0 where a version has no cooldown
    """

    low: Any
    high: Any
    times: Any
    used: Any
    length: int


@kernel()
def _place(low: Any, high: Any, silences: Any) -> Any:
    """Where the group's time stands, or the empty place where it belongs."""
    mask = np.uint64(len(silences.times) - 1)
    at = low & mask
    while silences.times[at] != MIN_TIME:
        if silences.low[at] == low and silences.high[at] == high:
            break
        at = (at + np.uint64(1)) & mask
    return at


@kernel()
def _note(low: Any, high: Any, time: Any, silences: Any) -> None:
    at = _place(low, high, silences)
    if silences.times[at] == MIN_TIME:
        silences.low[at], silences.high[at] = low, high
        silences.used[0] += 1
        silences.times[at] = time
    elif time > silences.times[at]:
        silences.times[at] = time


@kernel()
def alerts(low: Any, high: Any, time: Any, silences: Any) -> bool:
    """Whether an alert that is due at ``time`` is given; if so, the table takes it in."""
    if silences.length == 0:
        return True
    last = silences.times[_place(low, high, silences)]
    if last != MIN_TIME and last <= time < last + silences.length:
        return False
    _note(low, high, time, silences)
    return True


@kernel()
def _quieten(
    start: int, slots: Any, key_low: Any, key_high: Any, time: Any, hits: Any, silences: Any
) -> None:
    for i in range(len(hits)):
        if hits[i]:
            slot = slots[start + i]
            hits[i] = alerts(key_low[slot], key_high[slot], time[start + i], silences)


@kernel()
def _note_all(low: Any, high: Any, times: Any, silences: Any) -> None:
    for i in range(len(times)):
        if times[i] != MIN_TIME:
            _note(low[i], high[i], times[i], silences)


@kernel()
def _look_up(low: Any, high: Any, silences: Any, out: Any) -> None:
    for i in range(len(out)):
        out[i] = silences.times[_place(low[i], high[i], silences)]


class Cooldown:
    """The silences of one definition version. Without a length there are none, and nothing is kept."""

    def __init__(self, arena: Arena, name: str, links: GroupLists, seconds: int | None) -> None:
        self._arena = arena if seconds else HeapArena()
        self._name, self._links, self._length = f"{name}.cooldown", links, (seconds or 0) * 1000
        self._low = self._arena.open(f"{self._name}.low", np.uint64, _FIRST_CAPACITY)
        self._high = self._arena.open(f"{self._name}.high", np.uint64, _FIRST_CAPACITY)
        self._times = self._arena.open(f"{self._name}.times", np.int64, _FIRST_CAPACITY, MIN_TIME)
        self._used = self._arena.open(f"{self._name}.used", np.int64, 1)

    @property
    def silences(self) -> Silences:
        """The table, for kernels."""
        return Silences(self._low, self._high, self._times, self._used, self._length)

    def build(self, low: Any, high: Any, alerted: Any) -> None:
        """Hold exactly this: groups' identities (uint64) and times (int64 ms, MIN_TIME for none)."""
        self._times[:] = MIN_TIME
        self._used[0] = 0
        self.reserve(len(low), MIN_TIME)
        _note_all(low, high, alerted, self.silences)

    def reserve(self, more: int, floor: int) -> None:
        """Make room for ``more`` groups; no transaction below the floor (ms) is accepted any more."""
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
        _note_all(low, high, times, self.silences)

    def quieten(
        self, start: int, time: npt.NDArray[np.int64], hits: npt.NDArray[np.bool_], floor: int
    ) -> None:
        """Leave of ``hits`` (bool, n rows from ``start`` on) the alerts that are given.

        :param time: the history's event times (ms)
        :param floor: no transaction below it (ms) is accepted any more
        """
        if not self._length:
            return
        self.reserve(int(hits.sum()), floor)
        table = self._links.table
        _quieten(start, self._links.slots, table.key_low, table.key_high, time, hits, self.silences)

    def times(self, low: npt.NDArray[np.uint64], high: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
        """The greatest event time of each group's alerts (int64 ms), MIN_TIME for none."""
        out = np.full(len(low), MIN_TIME, np.int64)
        if self._length:
            _look_up(low, high, self.silences, out)
        return out

    def remove(self) -> None:
        """Forget everything."""
        for part in ("low", "high", "times", "used"):
            self._arena.remove(f"{self._name}.{part}")
