"""Which transactions have been counted before.

An id is remembered, per anchor value, with the record time of each transaction accepted under it. A table of
plain arrays with open addressing; what the clock has passed is left behind when the table is written anew.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from tripline_engine.domain.arena import Arena, Array

_FIRST_CAPACITY = 1024
_EMPTY = np.iinfo(np.int64).min
_USED = 0


@njit(cache=True)
def _insert(low: Any, high: Any, time: Any, key_low: Any, key_high: Any, times: Any) -> None:
    mask = np.uint64(len(times) - 1)
    at = low & mask
    while times[at] != _EMPTY:
        at = (at + np.uint64(1)) & mask
    key_low[at], key_high[at], times[at] = low, high, time


@njit(cache=True)
def _known(
    low: Any, high: Any, time: Any, reach: Any, floor: Any, key_low: Any, key_high: Any, times: Any
) -> bool:
    mask = np.uint64(len(times) - 1)
    at = low & mask
    while times[at] != _EMPTY:
        same = key_low[at] == low and key_high[at] == high
        if same and times[at] >= floor and abs(times[at] - time) <= reach:
            return True
        at = (at + np.uint64(1)) & mask
    return False


@njit(cache=True)
def _accept(
    low: Any, high: Any, time: Any, reach: Any, floor: Any, key_low: Any, key_high: Any, times: Any, out: Any
) -> int:
    accepted = 0
    for i in range(len(low)):
        out[i] = not _known(low[i], high[i], time[i], reach, floor, key_low, key_high, times)
        if out[i]:
            _insert(low[i], high[i], time[i], key_low, key_high, times)
            accepted += 1
    return accepted


@njit(cache=True)
def _insert_all(low: Any, high: Any, time: Any, key_low: Any, key_high: Any, times: Any) -> None:
    for i in range(len(low)):
        _insert(low[i], high[i], time[i], key_low, key_high, times)


class RememberedIds:
    """The ids of accepted transactions of one anchor, each with its record time in ms."""

    def __init__(self, arena: Arena, name: str) -> None:
        self._arena, self._name = arena, name
        self._low = arena.open(f"{name}.low", np.uint64, _FIRST_CAPACITY)
        self._high = arena.open(f"{name}.high", np.uint64, _FIRST_CAPACITY)
        self._times = arena.open(f"{name}.times", np.int64, _FIRST_CAPACITY, _EMPTY)
        self._meta = arena.open(f"{name}.meta", np.int64, 1)

    def accept(
        self,
        low: npt.NDArray[np.uint64],
        high: npt.NDArray[np.uint64],
        record_time: npt.NDArray[np.int64],
        reach_ms: int,
        floor_ms: int,
    ) -> npt.NDArray[np.bool_]:
        """Judge n transactions in order, and remember those that count.

        :param low: with ``high``, identity of (anchor value, id)
        :param reach_ms: record times at most so far apart make a duplicate
        :param floor_ms: ids with an older record time are forgotten
        :returns: bool, n: False for a duplicate
        """
        self.reserve(len(low), floor_ms)
        out = np.empty(len(low), np.bool_)
        self._meta[_USED] += _accept(
            low, high, record_time, reach_ms, floor_ms, self._low, self._high, self._times, out
        )
        return out

    def remember(self, low: Array, high: Array, record_time: Array) -> None:
        """Take transactions that are known to count, as when the table is built again."""
        self.reserve(len(low), _EMPTY + 1)
        _insert_all(low, high, record_time, self._low, self._high, self._times)
        self._meta[_USED] += len(low)

    def reserve(self, more: int, floor_ms: int) -> None:
        """Make room for ``more`` ids; the table grows only if forgetting does not suffice."""
        if 2 * (int(self._meta[_USED]) + more) > len(self._times):
            self.forget(floor_ms, more)

    def forget(self, floor_ms: int, room: int = 0) -> None:
        """Write the table anew without ids older than ``floor_ms``, as small as fits them and ``room`` more."""
        keep = (self._times != _EMPTY) & (self._times >= floor_ms)
        low, high, times = self._low[keep].copy(), self._high[keep].copy(), self._times[keep].copy()
        capacity = max(_FIRST_CAPACITY, 1 << (3 * (len(times) + room)).bit_length())
        if capacity != len(self._times):
            self._low = self._arena.resize(f"{self._name}.low", capacity)
            self._high = self._arena.resize(f"{self._name}.high", capacity)
            self._times = self._arena.resize(f"{self._name}.times", capacity, _EMPTY)
        self._times[:] = _EMPTY
        _insert_all(low, high, times, self._low, self._high, self._times)
        self._meta[_USED] = len(times)

    @property
    def capacity(self) -> int:
        """How many places the table has."""
        return len(self._times)

    @property
    def count(self) -> int:
        """How many ids the table holds."""
        return int(self._meta[_USED])
