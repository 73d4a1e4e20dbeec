"""Count and sum of each group over "the last w before this transaction".

    w = 60 s      x1        x2            x3      e
             -----|---------|-------------|-------|-----> event time
                  t-61      t-60          t-5     t        x2, x3 and e are in; x1 is out

Per large group and length there is the window of its newest transaction: the oldest row in it (the tail), a count and a
sum; the windows of a small group are read by walking back over it. In event-time order the tail only moves forward:
O(1) amortised, whatever the window holds. A late transaction's own window is the newest one less what is newer, plus
what is older and still reached: it costs what lies between the two windows' ends.

Rows of one micro-batch are linked before they are counted; so a walk passes over rows with a higher number
than the one at hand, which come later in the order.

`distinct_kernels` is a twin: its dispatch, tail and `drop_*` have the same shape over another state. A shared body
would take what differs as a closure, and numba keys closures by the ids of the kernels that they hold, which are new
in each process: never found in the cache, the smallest (`drop_sums`) cost each Python worker 0.4 to 0.7 s to compile.
"""

from __future__ import annotations

import numpy as np

from tripline_engine.domain.groups.group_lists import LinkResult, Members, follows
from tripline_engine.domain.groups.large_groups import NO_GROUP
from tripline_engine.domain.memory.array_types import Int32Array, Int64Array, Millis, Offset, RowNumber, int64
from tripline_engine.domain.memory.int128 import add, subtract
from tripline_engine.domain.memory.kernel import kernel
from tripline_engine.domain.transactions.columns import MIN_TIME, Amounts, Totals
from tripline_engine.domain.windows.kernel_views import ListView, WindowBounds

# A group's state: four int64 in a row, so that one cache line serves an evaluation.
WIDTH = 4
TAIL, COUNT, LOW, HIGH = 0, 1, 2, 3
EMPTY = np.array([-1, 0, 0, 0], np.int64)


@kernel()
def put(
    state: Int64Array, offset: Offset, row: RowNumber, members: Members, amounts: Amounts, sign: int
) -> None:
    """Count the row in (sign 1) or out (sign -1), if it is a member."""
    if members.chosen and members.slots[row] < 0:
        return
    sum_low, sum_high = np.uint64(state[offset + LOW]), state[offset + HIGH]
    if sign > 0:
        low, high = add(sum_low, sum_high, amounts.low[row], amounts.high[row])
    else:
        low, high = subtract(sum_low, sum_high, amounts.low[row], amounts.high[row])
    state[offset + LOW], state[offset + HIGH] = np.int64(low), high
    state[offset + COUNT] += sign


@kernel()
def _advance(state: Int64Array, offset: Offset, row: RowNumber, bound: Millis, view: ListView) -> None:
    """Move the tail to the first row at or after ``bound``; rows after ``row`` have not been counted."""
    order, tail = view.order, state[offset + TAIL]
    while tail >= 0 and order.time[tail] < bound:
        if tail <= row:
            put(state, offset, tail, view.members, view.amounts, -1)
        tail = order.following[tail]
    state[offset + TAIL] = tail


@kernel()
def _enter_late(
    state: Int64Array, offset: Offset, row: RowNumber, newest: Millis, view: ListView, window: Int64Array
) -> None:
    """Count a late row into the newest window, and make ``window`` that one less what is newer than the row.

    What has been entered is no newer than ``newest``; the rest of a micro-batch need not be looked at.
    """
    order, members, amounts = view.order, view.members, view.amounts
    put(state, offset, row, members, amounts, 1)
    tail = state[offset + TAIL]
    t = order.time[row]
    if tail < 0 or t < order.time[tail] or (t == order.time[tail] and row < tail):
        state[offset + TAIL] = row
    for j in range(WIDTH):
        window[j] = state[offset + j]
    newer = order.following[row]
    while newer >= 0 and order.time[newer] <= newest:
        if newer < row:
            put(window, 0, newer, members, amounts, -1)
        newer = order.following[newer]


@kernel()
def _late(
    row: RowNumber,
    offset: Offset,
    newest: Millis,
    length: Millis,
    bounds: WindowBounds,
    view: ListView,
    state: Int64Array,
    window: Int64Array,
) -> None:
    """Enter a late row, and leave count and sum of its own window in ``window`` (laid out as a state)."""
    order, floor, base = view.order, bounds.floor, bounds.base
    newest_bound = max(newest - length, floor)
    _advance(state, offset, row - 1, newest_bound, view)
    window[:] = 0
    older = row
    if order.time[row] >= newest_bound:
        _enter_late(state, offset, row, newest, view, window)
        older = order.previous[state[offset + TAIL]]
    bound = max(order.time[row] - length, floor)
    while older >= base and order.time[older] >= bound:
        if older <= row:
            put(window, 0, older, view.members, view.amounts, 1)
        older = order.previous[older]


@kernel()
def sum_row(
    row: RowNumber,
    offset: Offset,
    newest: Millis,
    length: Millis,
    bounds: WindowBounds,
    view: ListView,
    state: Int64Array,
    window: Int64Array,
) -> None:
    """Enter one linked row, and leave count and sum of its own window in ``window`` (laid out as a state).

    The state of its group and that length begins at ``offset``.
    """
    time = view.order.time
    t = time[row]
    if newest == MIN_TIME or t >= newest:
        put(state, offset, row, view.members, view.amounts, 1)
        # what a backfill brings may be older than anything visible: then the tail has passed it over already
        if state[offset + TAIL] < 0 or follows(state[offset + TAIL], row, time):
            state[offset + TAIL] = row
        _advance(state, offset, row, max(t - length, bounds.floor), view)
        for j in range(WIDTH):
            window[j] = state[offset + j]
    else:
        _late(row, offset, newest, length, bounds, view, state, window)


@kernel()
def store_totals(window: Int64Array, i: int | tuple[int, int], out: Totals) -> None:
    """Write a window's count and sum (laid out as a state) as the totals at ``i``."""
    out.counts[i], out.low[i], out.high[i] = window[COUNT], np.uint64(window[LOW]), window[HIGH]


@kernel(inline="always")
def _enter_in_order(
    row: RowNumber,
    offset: Offset,
    i: int,
    bounds: WindowBounds,
    view: ListView,
    summed: bool,
    state: Int64Array,
    out: Totals,
) -> None:
    """`sum_row` for a row in order, for all windows of its group, with everything at hand.

    Nearly all rows come this way.
    """
    time, following, low, high = view.order.time, view.order.following, view.amounts.low, view.amounts.high
    chosen, contributing = view.members.chosen, view.members.slots
    lengths, floor = bounds.lengths, bounds.floor
    t, counted = time[row], not chosen or contributing[row] >= 0
    for k in range(len(lengths)):
        tail, count = state[offset + TAIL], state[offset + COUNT]
        sum_low, sum_high = np.uint64(state[offset + LOW]), state[offset + HIGH]
        if counted:
            count += 1
            if summed:
                sum_low, sum_high = add(sum_low, sum_high, low[row], high[row])
        # what a backfill brings may be older than anything visible: then the tail has passed it over already
        if tail < 0 or time[tail] > t or (time[tail] == t and tail > row):
            tail = int64(row)
        bound = max(t - lengths[k], floor)
        while tail >= 0 and time[tail] < bound:
            if tail <= row and (not chosen or contributing[tail] >= 0):
                count -= 1
                if summed:
                    sum_low, sum_high = subtract(sum_low, sum_high, low[tail], high[tail])
            tail = int64(following[tail])
        state[offset + TAIL], state[offset + COUNT] = tail, count
        out.counts[k, i] = count
        if summed:
            state[offset + LOW], state[offset + HIGH] = np.int64(sum_low), sum_high
            out.low[k, i], out.high[k, i] = sum_low, sum_high
        offset += WIDTH


@kernel(inline="always")
def walk_back(
    row: RowNumber, i: int, bounds: WindowBounds, view: ListView, summed: bool, out: Totals
) -> None:
    """The row's own windows, in order or not, by what stands before it in its list."""
    time, previous, contributing = view.order.time, view.order.previous, view.members.slots
    lengths, floor, base, amounts = bounds.lengths, bounds.floor, bounds.base, view.amounts
    count, low, high, t, older = 0, np.uint64(0), np.int64(0), time[row], int64(row)
    for k in range(len(lengths)):
        bound = max(t - lengths[k], floor)
        while older >= base and time[older] >= bound:
            if older <= row and (not view.members.chosen or contributing[older] >= 0):
                count += 1
                if summed:
                    low, high = add(low, high, amounts.low[older], amounts.high[older])
            older = int64(previous[older])
        out.counts[k, i] = count
        if summed:
            out.low[k, i], out.high[k, i] = low, high


@kernel()
def evaluate_sums(
    start: RowNumber,
    linked: LinkResult,
    bounds: WindowBounds,
    view: ListView,
    summed: bool,
    state: Int64Array,
    scratch: Int64Array,
    out: Totals,
) -> None:
    """Enter the linked rows from ``start`` on, and write their own windows.

    :param scratch: int64, WIDTH: for a late row's window
    """
    width, newest, numbers = len(bounds.lengths), linked.newest, linked.groups.numbers
    for i in range(len(newest)):
        row = start + i
        offset = int64(numbers[i]) * width * WIDTH
        if numbers[i] == NO_GROUP:
            for k in range(width):
                out.counts[k, i], out.low[k, i], out.high[k, i] = 0, np.uint64(0), 0
        elif numbers[i] < 0:
            walk_back(row, i, bounds, view, summed, out)
        elif newest[i] == MIN_TIME or view.order.time[row] >= newest[i]:
            _enter_in_order(row, offset, i, bounds, view, summed, state, out)
        else:
            for k in range(width):
                sum_row(row, offset, newest[i], bounds.lengths[k], bounds, view, state, scratch)
                store_totals(scratch, (k, i), out)
                offset += WIDTH


@kernel()
def drop_sums(first: RowNumber, groups: Int32Array, width: int, view: ListView, state: Int64Array) -> None:
    """Count out the rows from ``first`` on, older than every window.

    :param groups: by row, its group's number among the states; negative where it has none
    :param width: states of a group: one for each length
    """
    time = view.order.time
    for i in range(len(groups)):
        if groups[i] >= 0:
            offset = int64(groups[i]) * width * WIDTH
            for _ in range(width):
                _advance(state, offset, len(time), time[first + i] + 1, view)
                offset += WIDTH
