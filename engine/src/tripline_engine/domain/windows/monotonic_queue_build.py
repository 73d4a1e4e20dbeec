"""The queues of `ExtremeWindow` built over rows that are in the lists already."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tripline_engine.domain.groups.group_lists import Order
from tripline_engine.domain.memory.array_types import (
    BoolArray,
    Int32Array,
    Int64Array,
    RowNumber,
    Uint64Array,
    int32,
    int64,
)
from tripline_engine.domain.memory.int128 import compare
from tripline_engine.domain.memory.kernel import kernel
from tripline_engine.domain.windows.kernel_views import WindowBounds
from tripline_engine.domain.windows.monotonic_queue import Chain, push


class _Queue(NamedTuple):
    """Scratch for a group's queue: the rows, and the two words of their values."""

    low: Uint64Array
    high: Int64Array
    rows: Int32Array

    @staticmethod
    def of(rows: int) -> _Queue:
        return _Queue(np.empty(rows, np.uint64), np.empty(rows, np.int64), np.empty(rows, np.int32))


class _RowsByGroup(NamedTuple):
    """Rows sorted by the numbers of their groups, those of one group in the order of acceptance.

    :ivar ends: int64: group n has ``rows[ends[n]:ends[n + 1]]``
    :ivar begun: by group, whether one of its rows follows none of the others
    :ivar disordered: by group, whether its list is in another order, or leads past some of them
    """

    rows: Int32Array
    ends: Int64Array
    begun: BoolArray
    disordered: BoolArray


@kernel()
def _enter_list(newest: RowNumber, base: RowNumber, end: RowNumber, order: Order, chain: Chain) -> None:
    """Enter the rows before ``end`` of the list in which ``newest`` is the newest of them."""
    row = newest
    while order.previous[row] >= base:
        row = order.previous[row]
    top = int32(-1)
    while row >= 0:
        if row < end:
            push(row, top, base, chain)
            top = row
        row = order.following[row] if row != newest else int32(-1)


@kernel()
def _find_fronts(
    newest: RowNumber, bounds: WindowBounds, order: Order, chain: Chain, fronts: Int32Array
) -> None:
    """Find the fronts of the list's newest windows; ``fronts`` has one item for each."""
    lengths, floor, base = bounds.lengths, bounds.floor, bounds.base
    for k in range(len(lengths)):
        row = newest
        bound = max(order.time[row] - lengths[k], floor)
        while row >= base and order.time[row] >= bound:
            fronts[k] = row
            row = chain.better[row]


@kernel()
def build_extremes(
    bounds: WindowBounds,
    end: RowNumber,
    numbers: Int32Array,
    newest: Int32Array,
    order: Order,
    chain: Chain,
    fronts: Int32Array,
) -> None:
    """Enter the rows before ``end`` of groups' lists, and find the fronts.

    :param numbers: the groups' numbers among the fronts
    :param newest: each one's newest row before ``end``
    """
    width, base = len(bounds.lengths), bounds.base
    for j in range(len(numbers)):
        if newest[j] >= base:
            number = int64(numbers[j])
            _enter_list(newest[j], base, end, order, chain)
            group_fronts = fronts[number * width : (number + 1) * width]
            _find_fronts(newest[j], bounds, order, chain, group_fronts)


@kernel(nogil=True)
def _sort_by_group(
    base: RowNumber, slots: Int32Array, numbers: Int32Array, previous: Int32Array, grouped: _RowsByGroup
) -> None:
    """Sort the rows from ``base`` on, whose groups have these slots, into ``grouped``; its ``ends`` are zeros.

    A row that was accepted late may stand behind one that has been dropped since, where no walk comes: two rows of a
    group then follow none of the others.
    """
    ends, begun, disordered = grouped.ends, grouped.begun, grouped.disordered
    for i in range(len(slots)):
        slot = slots[i]
        if slot >= 0 and numbers[slot] >= 0:
            n = numbers[slot]
            ends[n + 2] += 1
            first = previous[base + i] < base
            disordered[n] |= previous[base + i] > base + i or (first and begun[n])
            begun[n] |= first
    for n in range(2, len(ends)):
        ends[n] += ends[n - 1]
    for i in range(len(slots)):
        slot = slots[i]
        if slot >= 0 and numbers[slot] >= 0:
            n = numbers[slot] + 1
            grouped.rows[ends[n]] = base + i
            ends[n] += 1


@kernel()
def _enter_run(rows: Int32Array, chain: Chain, low: Uint64Array, high: Int64Array, queue: Int32Array) -> None:
    """Enter all rows of a group that came in order. ``low``, ``high`` and ``queue`` have room for as many.

    The queue is at hand, values and all: to find its newest member in the arrays would be to wait for memory.
    """
    chosen, contributing = chain.members.chosen, chain.members.slots
    depth = 0
    for row in rows:
        row_low, row_high = chain.low[row], chain.high[row]
        outside = chosen and contributing[row] < 0
        while depth > 0:
            top = queue[depth - 1]
            if chosen and (outside or contributing[top] < 0):
                difference = int(contributing[top] < 0) - int(outside)
            else:
                difference = chain.sign * compare(low[depth - 1], high[depth - 1], row_low, row_high)
            if difference < 0:
                break
            depth -= 1
        if depth > 0:
            chain.better[row] = queue[depth - 1]
            chain.worse[queue[depth - 1]] = row
        else:
            chain.better[row] = -1
        low[depth], high[depth], queue[depth] = row_low, row_high, row
        depth += 1


@kernel(nogil=True)
def _enter_groups(
    bounds: WindowBounds,
    grouped: _RowsByGroup,
    numbers: Int32Array,
    last: Int32Array,
    order: Order,
    chain: Chain,
    fronts: Int32Array,
    queue: _Queue,
) -> None:
    width, base, ends = len(bounds.lengths), bounds.base, grouped.ends
    end = base + len(grouped.rows)
    chain.worse[base:end] = -1
    for slot in range(len(last)):
        number = int64(numbers[slot])
        if last[slot] < base or number < 0:
            continue
        if grouped.disordered[number]:
            _enter_list(last[slot], base, end, order, chain)
        else:
            rows = grouped.rows[ends[number] : ends[number + 1]]
            _enter_run(rows, chain, queue.low, queue.high, queue.rows)
        group_fronts = fronts[number * width : (number + 1) * width]
        _find_fronts(last[slot], bounds, order, chain, group_fronts)


def enter_all(
    bounds: WindowBounds,
    slots: Int32Array,
    numbers: Int32Array,
    last: Int32Array,
    order: Order,
    chain: Chain,
    fronts: Int32Array,
) -> None:
    """Build the queues of all groups with a number (by slot), group by group, and find their fronts.

    All rows with a slot are in the lists.

    :param slots: those of all rows from ``bounds.base`` on
    """
    ends = np.zeros(len(fronts) // len(bounds.lengths) + 2, np.int64)
    begun, disordered = np.zeros((2, len(ends) - 2), np.bool_)
    grouped = _RowsByGroup(np.empty(len(slots), np.int32), ends, begun, disordered)
    _sort_by_group(bounds.base, slots, numbers, order.previous, grouped)
    queue = _Queue.of(int(np.diff(ends).max()))
    _enter_groups(bounds, grouped, numbers, last, order, chain, fronts, queue)
