"""The queues of `Extremum` built over rows that are there already."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tripline_engine.domain.memory.int128 import compare
from tripline_engine.domain.memory.kernel import kernel
from tripline_engine.domain.windows.monotonic_queue import push


@kernel()
def _enter_list(newest: Any, base: int, end: int, order: Any, chain: Any) -> None:
    """Enter the rows before ``end`` of the list in which that row is the newest of them."""
    row = newest
    while order.previous[row] >= base:
        row = order.previous[row]
    top = np.int32(-1)
    while row >= 0:
        if row < end:
            push(row, top, base, chain)
            top = row
        row = order.following[row] if row != newest else np.int32(-1)


@kernel()
def _find_fronts(
    newest: Any, windows: Any, floor: int, base: int, order: Any, chain: Any, fronts: Any
) -> None:
    """The fronts of the list's newest windows; ``fronts`` has one item for each."""
    for k in range(len(windows)):
        row = newest
        bound = max(order.time[row] - windows[k], floor)
        while row >= base and order.time[row] >= bound:
            fronts[k] = row
            row = chain.better[row]


@kernel()
def build_extremes(
    windows: Any,
    floor: int,
    base: int,
    end: int,
    places: Any,
    newest: Any,
    order: Any,
    chain: Any,
    fronts: Any,
) -> None:
    """Enter the rows before ``end`` of groups' lists, and find the fronts.

    ``places`` are the groups' among the fronts, and ``newest`` each one's newest row before ``end``.
    """
    width = len(windows)
    for j in range(len(places)):
        if newest[j] >= base:
            place = np.int64(places[j])
            _enter_list(newest[j], base, end, order, chain)
            own = fronts[place * width : (place + 1) * width]
            _find_fronts(newest[j], windows, floor, base, order, chain, own)


@kernel(nogil=True)
def _by_group(
    base: int, slots: Any, numbers: Any, previous: Any, ends: Any, rows: Any, disordered: Any
) -> None:
    """Sort the rows from ``base`` on by the numbers of their groups, those of one group in the order of acceptance.

    ``slots`` are of these rows. Group n has ``rows[ends[n]:ends[n + 1]]`` then; ``ends`` begins with zeros. Groups
    become known whose lists are in another order.
    """
    for i in range(len(slots)):
        slot = slots[i]
        if slot >= 0 and numbers[slot] >= 0:
            ends[numbers[slot] + 2] += 1
            if previous[base + i] > base + i:
                disordered[numbers[slot]] = True
    for n in range(2, len(ends)):
        ends[n] += ends[n - 1]
    for i in range(len(slots)):
        slot = slots[i]
        if slot >= 0 and numbers[slot] >= 0:
            n = numbers[slot] + 1
            rows[ends[n]] = base + i
            ends[n] += 1


@kernel()
def _enter_run(rows: Any, chain: Any, low: Any, high: Any, queue: Any) -> None:
    """Enter all rows of a group that came in order. ``low``, ``high`` and ``queue`` have room for as many.

    The queue is at hand, values and all: to find its newest member in the arrays would be to wait for memory.
    """
    chosen, contributing = chain.members.chosen, chain.members.slots
    depth = 0
    for row in rows:
        own_low, own_high = chain.low[row], chain.high[row]
        outside = chosen and contributing[row] < 0
        while depth > 0:
            top = queue[depth - 1]
            if chosen and (outside or contributing[top] < 0):
                difference = int(contributing[top] < 0) - int(outside)
            else:
                difference = chain.sign * compare(low[depth - 1], high[depth - 1], own_low, own_high)
            if difference < 0:
                break
            depth -= 1
        if depth > 0:
            chain.better[row] = queue[depth - 1]
            chain.worse[queue[depth - 1]] = row
        else:
            chain.better[row] = -1
        low[depth], high[depth], queue[depth] = own_low, own_high, row
        depth += 1


@kernel(nogil=True)
def _enter_groups(
    windows: Any,
    floor: int,
    base: int,
    grouped: Any,
    ends: Any,
    disordered: Any,
    numbers: Any,
    last: Any,
    order: Any,
    chain: Any,
    fronts: Any,
    queue: Any,
) -> None:
    width, end = len(windows), base + len(grouped)
    chain.worse[base:end] = -1
    for slot in range(len(last)):
        number = np.int64(numbers[slot])
        if last[slot] < base or number < 0:
            continue
        if disordered[number]:
            _enter_list(last[slot], base, end, order, chain)
        else:
            rows = grouped[ends[number] : ends[number + 1]]
            _enter_run(rows, chain, queue.low, queue.high, queue.rows)
        own = fronts[number * width : (number + 1) * width]
        _find_fronts(last[slot], windows, floor, base, order, chain, own)


class _Queue(NamedTuple):
    """Room for a group's queue: the rows (int32), and the two words of their values."""

    low: npt.NDArray[np.uint64]
    high: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int32]

    @staticmethod
    def of(rows: int) -> _Queue:
        return _Queue(np.empty(rows, np.uint64), np.empty(rows, np.int64), np.empty(rows, np.int32))


def enter_all(
    windows: npt.NDArray[np.int64],
    floor: int,
    base: int,
    slots: Any,
    numbers: Any,
    last: Any,
    order: Any,
    chain: Any,
    fronts: Any,
) -> None:
    """The same of all groups with a number (by slot), group by group; ``slots`` are those of all rows from ``base`` on.

    All rows with a slot are in the lists.
    """
    ends = np.zeros(len(fronts) // len(windows) + 2, np.int64)
    grouped, disordered = np.empty(len(slots), np.int32), np.zeros(len(ends) - 2, np.bool_)
    _by_group(base, slots, numbers, order.previous, ends, grouped, disordered)
    queue = _Queue.of(int(np.diff(ends).max()))
    of_groups = grouped, ends, disordered, numbers, last
    _enter_groups(windows, floor, base, *of_groups, order, chain, fronts, queue)
