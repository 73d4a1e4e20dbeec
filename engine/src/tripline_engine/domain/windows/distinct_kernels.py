"""Count of different values of a field in "the last w before this transaction", by group.

Besides the group's list there is one for each value in it. A row is *last* if no row of its value comes after it;
so the different values of the newest window are the last rows in it, and a tail that moves forward counts them out
like any sum: O(1) amortised in event-time order. A late transaction's own window is the newest one less what is
newer (where a value is lost, the row before it of that value is the last one), plus what is older and still
reached: it costs what lies between the two windows' ends.

Only large groups have windows with a state; those of a small one are read by walking back over it. Rows of one
micro-batch are linked before they are counted; so a walk passes over rows with a higher number than the one at hand,
which come later in the order. `sum_kernels` is a twin, and says why they share no body.
"""

from __future__ import annotations

import numpy as np

from tripline_engine.domain.groups.group_lists import LinkResult, follows
from tripline_engine.domain.groups.large_groups import NO_GROUP
from tripline_engine.domain.memory.array_types import (
    Int32Array,
    Int64Array,
    Millis,
    Offset,
    RowNumber,
    int32,
    int64,
)
from tripline_engine.domain.memory.kernel import kernel
from tripline_engine.domain.rules.threshold import SCALE
from tripline_engine.domain.transactions.columns import MIN_TIME, Totals
from tripline_engine.domain.windows.kernel_views import WindowBounds
from tripline_engine.domain.windows.value_lists import Values, ValueView, entered_after, entered_before

# A group's state: the oldest row in the newest window, how many rows there have a value, how many values there are.
WIDTH = 3
TAIL, _COUNT, _VALUES = 0, 1, 2
EMPTY = np.array([-1, 0, 0], np.int64)


@kernel()
def _reaches(tail: RowNumber, row: RowNumber, time: Int64Array) -> bool:
    """Whether the window that begins with the tail has the row."""
    return tail >= 0 and not follows(tail, row, time)


@kernel()
def _advance(state: Int64Array, offset: Offset, row: RowNumber, bound: Millis, view: ValueView) -> None:
    """Move the tail to the first row at or after ``bound``; rows after ``row`` have not been counted."""
    order, values, tail = view.order, view.values, state[offset + TAIL]
    while tail >= 0 and order.time[tail] < bound:
        if tail <= row and values.slots[tail] >= 0:
            state[offset + _COUNT] -= 1
            state[offset + _VALUES] -= values.last[tail]
        tail = order.following[tail]
    state[offset + TAIL] = tail


@kernel()
def _enter_value(
    state: Int64Array,
    offset: Offset,
    width: int,
    row: RowNumber,
    newest: Millis,
    base: RowNumber,
    view: ValueView,
) -> None:
    """Enter the row into its value's list; a row that is no longer the last one counts no more in any window."""
    values, time = view.values, view.order.time
    values.last[row] = 0
    if values.slots[row] < 0 or entered_after(row, row, newest, values.order) >= 0:
        return
    values.last[row] = 1
    older = entered_before(row, row, values.order, base)
    if older >= 0:
        for k in range(width):
            if _reaches(state[offset + k * WIDTH + TAIL], older, time):
                state[offset + k * WIDTH + _VALUES] -= values.last[older]
        values.last[older] = 0


@kernel()
def count_in(state: Int64Array, offset: Offset, row: RowNumber, values: Values) -> None:
    """Count the row, if it has a value; and its value, if it is the last of it."""
    if values.slots[row] >= 0:
        state[offset + _COUNT] += 1
        state[offset + _VALUES] += values.last[row]


@kernel()
def _remove_newer(
    row: RowNumber, newest: Millis, bound: Millis, base: RowNumber, view: ValueView, window: Int64Array
) -> None:
    """Take what is newer than the row out of ``window``, the newest one, from ``bound`` to ``newest``."""
    order, values = view.order, view.values
    newer = order.following[row]
    while newer >= 0 and order.time[newer] <= newest:
        if newer < row and values.slots[newer] >= 0:
            window[_COUNT] -= 1
            window[_VALUES] -= values.last[newer]
            older = entered_before(row, newer, values.order, base)
            if older >= 0 and bound <= order.time[older] <= order.time[row]:
                window[_VALUES] += 1
        newer = order.following[newer]


@kernel()
def _add_older(
    row: RowNumber, start: RowNumber, bound: Millis, base: RowNumber, view: ValueView, window: Int64Array
) -> RowNumber:
    """Take into ``window`` what lies from row ``start`` back to ``bound``; the row before that."""
    order, values = view.order, view.values
    older = start
    while older >= base and order.time[older] >= bound:
        if older <= row and values.slots[older] >= 0:
            window[_COUNT] += 1
            newer = values.order.following[older]
            while newer >= 0 and newer > row and order.time[newer] <= order.time[row]:
                newer = values.order.following[newer]
            window[_VALUES] += newer < 0 or order.time[newer] > order.time[row]
        older = int64(order.previous[older])
    return older


@kernel()
def _late(
    row: RowNumber,
    offset: Offset,
    newest: Millis,
    length: Millis,
    bounds: WindowBounds,
    view: ValueView,
    state: Int64Array,
    window: Int64Array,
) -> None:
    """Count a late row, and leave the counts of its own window in ``window`` (laid out as a state)."""
    time, floor, base = view.order.time, bounds.floor, bounds.base
    t = time[row]
    newest_bound = max(newest - length, floor)
    window[:] = 0
    start = int64(row)
    if t >= newest_bound:
        count_in(state, offset, row, view.values)
        if not _reaches(state[offset + TAIL], row, time):
            state[offset + TAIL] = row
        for j in range(WIDTH):
            window[j] = state[offset + j]
        _remove_newer(row, newest, newest_bound, base, view, window)
        start = int64(view.order.previous[state[offset + TAIL]])
    _add_older(row, start, max(t - length, floor), base, view, window)


@kernel()
def distinct_row(
    row: RowNumber,
    offset: Offset,
    newest: Millis,
    bounds: WindowBounds,
    view: ValueView,
    state: Int64Array,
    windows: Int64Array,
) -> None:
    """Enter one linked row, and leave the counts of its own ``windows`` (one laid out as a state for each length).

    The states of its group begin at ``offset``.
    """
    time, lengths, floor = view.order.time, bounds.lengths, bounds.floor
    t, width = time[row], len(lengths)
    late = newest != MIN_TIME and t < newest
    if late:
        for k in range(width):
            bound = max(newest - lengths[k], floor)
            _advance(state, offset + k * WIDTH, row - 1, bound, view)
    _enter_value(state, offset, width, row, newest, bounds.base, view)
    for k in range(width):
        if late:
            _late(row, offset, newest, lengths[k], bounds, view, state, windows[k])
        else:
            count_in(state, offset, row, view.values)
            # what a backfill brings may be older than anything visible: then the tail has passed it over already
            if not _reaches(state[offset + TAIL], row, time):
                state[offset + TAIL] = row
            _advance(state, offset, row, max(t - lengths[k], floor), view)
            for j in range(WIDTH):
                windows[k, j] = state[offset + j]
        offset += WIDTH


@kernel()
def store_values(window: Int64Array, i: int | tuple[int, int], out: Totals) -> None:
    """Write a window's counts (laid out as a state) as the totals at ``i``: rows with a value; values, as the sum."""
    out.counts[i], out.low[i], out.high[i] = window[_COUNT], np.uint64(window[_VALUES] * SCALE), 0


@kernel(inline="always")
def _enter_in_order(
    row: RowNumber,
    offset: Offset,
    i: int,
    bounds: WindowBounds,
    view: ValueView,
    state: Int64Array,
    out: Totals,
) -> None:
    """`distinct_row` for a row in order, with everything at hand.

    What has been entered before such a row stands before it among those of its value too, so the row is the last one.
    """
    time, following, equal = view.order.time, view.order.following, view.values.order
    last, slots = view.values.last, view.values.slots
    lengths, floor = bounds.lengths, bounds.floor
    t, valued = time[row], slots[row] >= 0
    last[row] = valued
    older = entered_before(row, row, equal, bounds.base) if valued else int32(-1)
    replaced = older >= 0 and last[older] == 1
    if older >= 0:
        last[older] = 0
    for k in range(len(lengths)):
        tail, count, different = state[offset + TAIL], state[offset + _COUNT], state[offset + _VALUES]
        if (
            replaced
            and tail >= 0
            and (time[tail] < time[older] or (time[tail] == time[older] and tail <= older))
        ):
            different -= 1
        count += valued
        different += valued
        # what a backfill brings may be older than anything visible: then the tail has passed it over already
        if tail < 0 or time[tail] > t or (time[tail] == t and tail > row):
            tail = int64(row)
        bound = max(t - lengths[k], floor)
        while tail >= 0 and time[tail] < bound:
            if tail <= row and slots[tail] >= 0:
                count -= 1
                different -= last[tail]
            tail = int64(following[tail])
        state[offset + TAIL], state[offset + _COUNT], state[offset + _VALUES] = tail, count, different
        out.counts[k, i], out.low[k, i], out.high[k, i] = count, np.uint64(different * SCALE), 0
        offset += WIDTH


@kernel()
def _walk_back(
    row: RowNumber, i: int, bounds: WindowBounds, view: ValueView, window: Int64Array, out: Totals
) -> None:
    """The row's own windows, in order or not, by what stands before it in its list."""
    window[:] = 0
    older = int64(row)
    for k in range(len(bounds.lengths)):
        bound = max(view.order.time[row] - bounds.lengths[k], bounds.floor)
        older = _add_older(row, older, bound, bounds.base, view, window)
        store_values(window, (k, i), out)


@kernel()
def evaluate_values(
    start: RowNumber,
    linked: LinkResult,
    bounds: WindowBounds,
    view: ValueView,
    state: Int64Array,
    scratch: Int64Array,
    out: Totals,
) -> None:
    """Enter the linked rows from ``start`` on, and write their own windows.

    :param scratch: int64, windows × WIDTH: for the windows of a row
    """
    width, newest, numbers = len(bounds.lengths), linked.newest, linked.groups.numbers
    for i in range(len(newest)):
        row = start + i
        offset = int64(numbers[i]) * width * WIDTH
        if numbers[i] == NO_GROUP:
            for k in range(width):
                out.counts[k, i], out.low[k, i], out.high[k, i] = 0, np.uint64(0), 0
        elif numbers[i] < 0:
            _walk_back(row, i, bounds, view, scratch[0], out)
        elif newest[i] == MIN_TIME or view.order.time[row] >= newest[i]:
            _enter_in_order(row, offset, i, bounds, view, state, out)
        else:
            distinct_row(row, offset, newest[i], bounds, view, state, scratch)
            for k in range(width):
                store_values(scratch[k], (k, i), out)


@kernel()
def drop_values(first: RowNumber, groups: Int32Array, width: int, view: ValueView, state: Int64Array) -> None:
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
