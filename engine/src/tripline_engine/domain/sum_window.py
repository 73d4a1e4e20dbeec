"""Count and sum of each group over "the last w before this transaction".

    w = 60 s      x1        x2            x3      e
             -----|---------|-------------|-------|-----> event time
                  t-61      t-60          t-5     t        x2, x3 and e are in; x1 is out

Per group there is the window of its newest transaction: the oldest row in it (``tail``), a count and a sum.
In event-time order the tail only moves forward: O(1) amortised, whatever the window holds. A late
transaction's own window is the newest one less what is newer, plus what is older and still reached: it costs
what lies between the two windows' ends.

Rows of one micro-batch are linked before they are counted; so a walk passes over rows with a higher number
than the one at hand, which come later in the order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from tripline_engine.domain.arena import Arena, Array
from tripline_engine.domain.int128 import add, subtract
from tripline_engine.domain.links import NOTHING, Links
from tripline_engine.domain.rows import Amounts

_FIRST_CAPACITY = 1024
# A group's state: four int64 in a row, so that one cache line serves an evaluation.
_WIDTH = 4
_TAIL, _COUNT, _LOW, _HIGH = 0, 1, 2, 3


@njit(cache=True)
def _put(state: Any, at: int, row: int, low: Any, high: Any, sign: int) -> None:
    """Count the row in (sign 1) or out (sign -1)."""
    if sign > 0:
        new_low, new_high = add(np.uint64(state[at + _LOW]), state[at + _HIGH], low[row], high[row])
    else:
        new_low, new_high = subtract(np.uint64(state[at + _LOW]), state[at + _HIGH], low[row], high[row])
    state[at + _LOW], state[at + _HIGH] = np.int64(new_low), new_high
    state[at + _COUNT] += sign


@njit(cache=True)
def _advance(state: Any, at: int, row: int, bound: int, time: Any, following: Any, low: Any, high: Any) -> None:
    """Move the tail to the first row at or after ``bound`` (ms), counting out those before ``row`` in the order."""
    tail = state[at + _TAIL]
    while tail >= 0 and time[tail] < bound:
        if tail <= row:
            _put(state, at, tail, low, high, -1)
        tail = following[tail]
    state[at + _TAIL] = tail


@njit(cache=True)
def _late(
    state: Any, at: int, row: int, newest: int, window: int, floor: int, base: int, time: Any, previous: Any,
    following: Any, low: Any, high: Any, own: Any,
) -> None:
    """Enter a late row, and leave count and sum of its own window in ``own`` (laid out as a state)."""
    t = time[row]
    bound = max(t - window, floor)
    newest_bound = max(newest - window, floor)
    _advance(state, at, row - 1, newest_bound, time, following, low, high)
    own[:] = 0
    older = row
    if t >= newest_bound:
        _put(state, at, row, low, high, 1)
        tail = state[at + _TAIL]
        if tail < 0 or time[row] < time[tail] or (time[row] == time[tail] and row < tail):
            state[at + _TAIL] = row
        own[:] = state[at : at + _WIDTH]
        newer = following[row]
        while newer >= 0:
            if newer < row:
                _put(own, 0, newer, low, high, -1)
            newer = following[newer]
        older = previous[state[at + _TAIL]]
    while older >= base and time[older] >= bound:
        if older <= row:
            _put(own, 0, older, low, high, 1)
        older = previous[older]


@njit(cache=True)
def _evaluate(
    start: int, newest: Any, window: int, floor: int, base: int, slots: Any, time: Any, previous: Any,
    following: Any, low: Any, high: Any, state: Any, out_count: Any, out_low: Any, out_high: Any,
) -> None:
    own = np.zeros(_WIDTH, np.int64)
    for i in range(len(newest)):
        row = start + i
        out_count[i] = 0
        if slots[row] < 0:
            continue
        at = np.int64(slots[row]) * _WIDTH
        if newest[i] == NOTHING or time[row] >= newest[i]:
            _put(state, at, row, low, high, 1)
            if state[at + _TAIL] < 0:
                state[at + _TAIL] = row
            _advance(state, at, row, max(time[row] - window, floor), time, following, low, high)
            own[:] = state[at : at + _WIDTH]
        else:
            _late(state, at, row, newest[i], window, floor, base, time, previous, following, low, high, own)
        out_count[i], out_low[i], out_high[i] = own[_COUNT], np.uint64(own[_LOW]), own[_HIGH]


@njit(cache=True)
def _drop(first: int, until: int, slots: Any, time: Any, following: Any, low: Any, high: Any, state: Any) -> None:
    for row in range(first, until):
        if slots[row] >= 0:
            at = np.int64(slots[row]) * _WIDTH
            if state[at + _TAIL] >= 0:
                _advance(state, at, len(time), time[row] + 1, time, following, low, high)


@njit(cache=True)
def _build(window: int, floor: int, base: int, last: Any, time: Any, previous: Any, low: Any, high: Any, state: Any) -> None:
    for slot in range(len(last)):
        row = last[slot]
        at = slot * _WIDTH
        state[at + _TAIL] = -1
        if row < base:
            continue
        bound = max(time[row] - window, floor)
        while row >= base and time[row] >= bound:
            _put(state, at, row, low, high, 1)
            state[at + _TAIL] = row
            row = previous[row]


class Totals(NamedTuple):
    """Of n transactions: how many are in the window (int64) and their sum (scaled by 10⁶, 128-bit words)."""

    count: npt.NDArray[np.int64]
    low: npt.NDArray[np.uint64]
    high: npt.NDArray[np.int64]


class SumWindow:
    """Count and sum of one measure over one window length, for every group of a grouping set.

    To be built before it is used, unless its arrays were found as another process left them.
    """

    def __init__(self, arena: Arena, name: str, links: Links, window_ms: int) -> None:
        self._arena, self._name, self._links = arena, name, links
        self._window = window_ms
        self._state = arena.open(name, np.int64, _FIRST_CAPACITY * _WIDTH)

    def build(self, floor: int, base: int, time: Array, amounts: Amounts) -> None:
        """Count what the history already holds. ``floor``: what is older (ms) is not visible."""
        self._reserve()
        links = self._links
        last = links.last[: links.slot_end]
        self._state[:] = 0
        self._state[_TAIL::_WIDTH] = -1
        _build(self._window, floor, base, last, time, links.previous, amounts.low, amounts.high, self._state)

    def evaluate(
        self, start: int, newest: npt.NDArray[np.int64], floor: int, base: int, time: Array, amounts: Amounts
    ) -> Totals:
        """Enter n linked rows from number ``start`` on; each one's own window (``newest``: from `Links.link`)."""
        self._reserve()
        links, n = self._links, len(newest)
        totals = Totals(np.empty(n, np.int64), np.zeros(n, np.uint64), np.zeros(n, np.int64))
        _evaluate(
            start, newest, self._window, floor, base, links.slots, time, links.previous, links.following,
            amounts.low, amounts.high, self._state, *totals,
        )  # fmt: skip
        return totals

    def drop(self, first: int, until: int, time: Array, amounts: Amounts) -> None:
        """Count out the rows from ``first`` to ``until``, which are older than every window, while they can be read."""
        links = self._links
        _drop(first, until, links.slots, time, links.following, amounts.low, amounts.high, self._state)

    def shift(self, delta: int) -> None:
        """Follow the history when its row numbers shrink by ``delta``."""
        tails = self._state[_TAIL::_WIDTH]
        tails[:] = np.maximum(tails - delta, -1)

    def remove(self) -> None:
        """Forget the window."""
        self._arena.remove(self._name)

    def _reserve(self) -> None:
        old, needed = len(self._state), len(self._links.last) * _WIDTH
        if needed > old:
            self._state = self._arena.resize(self._name, needed)
            self._state[old + _TAIL :: _WIDTH] = -1
