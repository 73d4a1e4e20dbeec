"""Least or greatest value of each group over "the last w before this transaction".

Each row points to the nearest older row of its group with a strictly better value (``better``). From the
newest row these pointers are the monotonic queue of any window that ends there, newest first; ``worse`` points
back along it. So all window lengths share the chain, and each keeps only its front: the queue's oldest row in
the window, which is the answer. O(1) amortised in event-time order. A late row re-enters what is newer, and
finds its own answer by following ``better`` to the edge of its window.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from tripline_engine.domain.arena import Arena, Array
from tripline_engine.domain.int128 import compare
from tripline_engine.domain.links import NOTHING, Links
from tripline_engine.domain.rows import Amounts

_FIRST_CAPACITY = 1024


@njit(cache=True, inline="always")
def _order(a: int, b: int, low: Any, high: Any, sign: int) -> int:
    """Negative if row a has the better value, 0 if equal (sign 1: less is better, -1: greater is)."""
    return sign * compare(low[a], high[a], low[b], high[b])


@njit(cache=True)
def _push(row: int, top: int, base: int, low: Any, high: Any, sign: int, better: Any, worse: Any) -> None:
    """Put the row on the queue whose newest member is ``top``."""
    while top >= base and _order(top, row, low, high, sign) >= 0:
        top = better[top]
    better[row] = top if top >= base else -1
    worse[row] = -1
    if top >= base:
        worse[top] = row


@njit(cache=True)
def _older(row: int, limit: int, base: int, previous: Any) -> int:
    """The nearest older neighbour that comes before ``limit`` in the order, or -1."""
    row = previous[row]
    while row >= base and row > limit:
        row = previous[row]
    return row if row >= base else -1


@njit(cache=True)
def _enter(row: int, base: int, previous: Any, following: Any, low: Any, high: Any, sign: int, better: Any, worse: Any) -> None:
    """Put the row in its place on its group's queue, and what is newer again after it."""
    _push(row, _older(row, row, base, previous), base, low, high, sign, better, worse)
    top, newer = row, following[row]
    while newer >= 0:
        if newer < row:
            _push(newer, top, base, low, high, sign, better, worse)
            top = newer
        newer = following[newer]


@njit(cache=True)
def _front(front: int, row: int, in_order: bool, bound: int, time: Any, low: Any, high: Any, sign: int, worse: Any) -> int:
    """The front of the newest window after ``row`` entered it; ``worse`` as it was before."""
    while front >= 0 and time[front] < bound:
        front = worse[front]
    if front < 0:
        return row
    order = _order(row, front, low, high, sign)
    newer_than_front = in_order or time[row] >= time[front]
    return row if order < 0 or (order == 0 and newer_than_front) else front


@njit(cache=True)
def _evaluate(
    start: int, newest: Any, windows: Any, floor: int, base: int, sign: int, slots: Any, time: Any, previous: Any,
    following: Any, low: Any, high: Any, better: Any, worse: Any, fronts: Any, out: Any,
) -> None:
    for i in range(len(newest)):
        row = start + i
        slot = np.int64(slots[row])
        if slot < 0:
            out[:, i] = -1
            continue
        t = time[row]
        in_order = newest[i] == NOTHING or t >= newest[i]
        latest = t if in_order else newest[i]
        for k in range(len(windows)):
            bound = max(latest - windows[k], floor)
            at = slot * len(windows) + k
            if t >= bound:
                fronts[at] = _front(fronts[at], row, in_order, bound, time, low, high, sign, worse)
        _enter(row, base, previous, following, low, high, sign, better, worse)
        for k in range(len(windows)):
            if in_order:
                out[k, i] = fronts[slot * len(windows) + k]
                continue
            bound = max(t - windows[k], floor)
            best = np.int64(row)
            while better[best] >= base and time[better[best]] >= bound:
                best = better[best]
            out[k, i] = best


@njit(cache=True)
def _drop(first: int, until: int, windows: int, slots: Any, time: Any, worse: Any, fronts: Any) -> None:
    for row in range(first, until):
        slot = np.int64(slots[row])
        for k in range(windows if slot >= 0 else 0):
            front = fronts[slot * windows + k]
            while front >= 0 and time[front] <= time[row]:
                front = worse[front]
            fronts[slot * windows + k] = front


@njit(cache=True)
def _build(
    windows: Any, floor: int, base: int, sign: int, last: Any, time: Any, previous: Any, following: Any, low: Any,
    high: Any, better: Any, worse: Any, fronts: Any,
) -> None:
    for slot in range(len(last)):
        if last[slot] < base:
            continue
        oldest = last[slot]
        while previous[oldest] >= base:
            oldest = previous[oldest]
        row, top = oldest, np.int32(-1)
        while row >= 0:
            _push(row, top, base, low, high, sign, better, worse)
            top = row
            row = following[row]
        for k in range(len(windows)):
            bound = max(time[last[slot]] - windows[k], floor)
            front, row = np.int32(-1), last[slot]
            while row >= base and time[row] >= bound:
                front = row
                row = better[row]
            fronts[slot * len(windows) + k] = front


class Extremum:
    """The least (sign 1) or greatest (sign -1) value of one measure over several window lengths, by group.

    ``better`` and ``worse`` are int32 by row; ``fronts`` int32 by slot and window (-1: none).
    """

    def __init__(self, arena: Arena, name: str, links: Links, sign: int, windows_ms: tuple[int, ...]) -> None:
        self._arena, self._name, self._links, self._sign = arena, name, links, sign
        self.windows = windows_ms
        self._windows = np.array(windows_ms, np.int64)
        self._better = arena.open(f"{name}.better", np.int32, _FIRST_CAPACITY, -1)
        self._worse = arena.open(f"{name}.worse", np.int32, _FIRST_CAPACITY, -1)
        self._fronts = arena.open(f"{name}.fronts", np.int32, _FIRST_CAPACITY, -1)

    def build(self, floor: int, base: int, time: Array, amounts: Amounts) -> None:
        """Enter what the history already holds. ``floor``: what is older (ms) is not visible."""
        self._reserve(len(self._links.previous))
        self._fronts[:] = -1
        links = self._links
        _build(
            self._windows, floor, base, self._sign, links.last[: links.slot_end], time, links.previous,
            links.following, amounts.low, amounts.high, self._better, self._worse, self._fronts,
        )  # fmt: skip

    def evaluate(
        self, start: int, newest: npt.NDArray[np.int64], floor: int, base: int, time: Array, amounts: Amounts
    ) -> npt.NDArray[np.int64]:
        """Enter n linked rows from number ``start`` on.

        :returns: int64, (windows, n): the row that holds the extreme value, -1 where there is no group
        """
        self._reserve(start + len(newest))
        links = self._links
        out = np.empty((len(self.windows), len(newest)), np.int64)
        _evaluate(
            start, newest, self._windows, floor, base, self._sign, links.slots, time, links.previous,
            links.following, amounts.low, amounts.high, self._better, self._worse, self._fronts, out,
        )  # fmt: skip
        return out

    def drop(self, first: int, until: int, time: Array) -> None:
        """Let go of the rows from ``first`` to ``until``, which are older than every window."""
        _drop(first, until, len(self.windows), self._links.slots, time, self._worse, self._fronts)

    def shift(self, delta: int, end: int) -> None:
        """Follow the history when its row numbers shrink by ``delta`` (``end``: the number after the newest, new)."""
        for rows in (self._better, self._worse):
            rows[:end] = np.maximum(rows[delta : delta + end] - delta, -1)
        self._fronts[:] = np.maximum(self._fronts - delta, -1)

    def remove(self) -> None:
        """Forget the chain and all its windows."""
        for part in ("better", "worse", "fronts"):
            self._arena.remove(f"{self._name}.{part}")

    def _reserve(self, rows: int) -> None:
        if rows > len(self._better):
            self._better = self._arena.resize(f"{self._name}.better", 1 << rows.bit_length(), -1)
            self._worse = self._arena.resize(f"{self._name}.worse", 1 << rows.bit_length(), -1)
        needed = len(self._links.last) * len(self.windows)
        if needed > len(self._fronts):
            self._fronts = self._arena.resize(f"{self._name}.fronts", needed, -1)
