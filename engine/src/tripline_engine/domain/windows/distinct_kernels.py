"""How many different values a field has in "the last w before this transaction", by group.

Besides the group's list there is one for each value in it. A row is *last* if no row of its value comes after it;
so the different values of the newest window are the last rows in it, and a tail that moves forward counts them out
like any sum: O(1) amortised in event-time order. A late transaction's own window is the newest one less what is
newer (where a value is lost, the row before it of that value is the last one), plus what is older and still
reached: it costs what lies between the two windows' ends.

Only large groups have windows with a state; those of a small one are read by walking back over it.

Rows of one micro-batch are linked before they are counted; so a walk passes over rows with a higher number than
the one at hand, which come later in the order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tripline_engine.domain.groups.group_lists import Order, follows
from tripline_engine.domain.groups.large_groups import NO_GROUP
from tripline_engine.domain.memory.kernel import kernel
from tripline_engine.domain.rules.threshold import SCALE
from tripline_engine.domain.transactions.columns import MIN_TIME

# A group's state: the oldest row in the newest window, how many rows there have a value, how many values there are.
WIDTH = 3
TAIL, _COUNT, _VALUES = 0, 1, 2
EMPTY = np.array([-1, 0, 0], np.int64)


class Values(NamedTuple):
    """The lists of equal values: by row the slot of (group, value), negative for none, and the neighbours there.

    ``last`` is uint8 by row: 1 for a row that no entered row of its value follows.
    """

    slots: Any
    order: Order
    last: Any


@kernel()
def entered_before(row: Any, at: Any, order: Any, base: int) -> Any:
    """The row before ``at`` in its list, of those up to number ``row``; -1 if there is none."""
    older = order.previous[at]
    while older >= base and older > row:
        older = order.previous[older]
    return older if older >= base else np.int32(-1)


@kernel()
def entered_after(row: Any, at: Any, newest: Any, order: Any) -> Any:
    """The row after ``at`` in its list, of those up to number ``row``; -1 if there is none.

    What has been entered is no newer than ``newest`` (ms); the rest of a micro-batch need not be looked at.
    """
    newer = order.following[at]
    while newer >= 0 and newer > row and order.time[newer] <= newest:
        newer = order.following[newer]
    return newer if newer <= row else np.int32(-1)


@kernel()
def _holds(tail: Any, row: Any, time: Any) -> bool:
    """Whether the row is in the window that begins with the tail."""
    return tail >= 0 and not follows(tail, row, time)


@kernel()
def _advance(state: Any, at: Any, row: Any, bound: Any, order: Any, values: Any) -> None:
    """Move the tail to the first row at or after ``bound`` (ms); rows after ``row`` have not been counted."""
    tail = state[at + TAIL]
    while tail >= 0 and order.time[tail] < bound:
        if tail <= row and values.slots[tail] >= 0:
            state[at + _COUNT] -= 1
            state[at + _VALUES] -= values.last[tail]
        tail = order.following[tail]
    state[at + TAIL] = tail


@kernel()
def _enter_value(
    state: Any, at: Any, width: int, row: Any, newest: Any, base: int, order: Any, values: Any
) -> None:
    """Enter the row into its value's list; a row that is no longer the last one counts no more in any window."""
    values.last[row] = 0
    if values.slots[row] < 0 or entered_after(row, row, newest, values.order) >= 0:
        return
    values.last[row] = 1
    older = entered_before(row, row, values.order, base)
    if older >= 0:
        for k in range(width):
            if _holds(state[at + k * WIDTH + TAIL], older, order.time):
                state[at + k * WIDTH + _VALUES] -= values.last[older]
        values.last[older] = 0


@kernel()
def _count_in(state: Any, at: Any, row: Any, values: Any) -> None:
    if values.slots[row] >= 0:
        state[at + _COUNT] += 1
        state[at + _VALUES] += values.last[row]


@kernel()
def _leave_newer(row: Any, newest: Any, bound: Any, base: int, order: Any, values: Any, own: Any) -> None:
    """Take what is newer than the row out of ``own``, the newest window, from ``bound`` to ``newest`` (ms)."""
    newer = order.following[row]
    while newer >= 0 and order.time[newer] <= newest:
        if newer < row and values.slots[newer] >= 0:
            own[_COUNT] -= 1
            own[_VALUES] -= values.last[newer]
            older = entered_before(row, newer, values.order, base)
            if older >= 0 and bound <= order.time[older] <= order.time[row]:
                own[_VALUES] += 1
        newer = order.following[newer]


@kernel()
def _reach_older(row: Any, start: Any, bound: Any, base: int, order: Any, values: Any, own: Any) -> Any:
    """Take into ``own`` what lies from row ``start`` back to ``bound`` (ms); the row before that."""
    older = start
    while older >= base and order.time[older] >= bound:
        if older <= row and values.slots[older] >= 0:
            own[_COUNT] += 1
            newer = values.order.following[older]
            while newer >= 0 and newer > row and order.time[newer] <= order.time[row]:
                newer = values.order.following[newer]
            own[_VALUES] += newer < 0 or order.time[newer] > order.time[row]
        older = np.int64(order.previous[older])
    return older


@kernel()
def _late(
    state: Any,
    at: Any,
    row: Any,
    newest: Any,
    window: int,
    floor: int,
    base: int,
    order: Any,
    values: Any,
    own: Any,
) -> None:
    """Count a late row, and leave the counts of its own window in ``own`` (laid out as a state)."""
    t = order.time[row]
    newest_bound = max(newest - window, floor)
    own[:] = 0
    start = np.int64(row)
    if t >= newest_bound:
        _count_in(state, at, row, values)
        if not _holds(state[at + TAIL], row, order.time):
            state[at + TAIL] = row
        for part in range(WIDTH):
            own[part] = state[at + part]
        _leave_newer(row, newest, newest_bound, base, order, values, own)
        start = np.int64(order.previous[state[at + TAIL]])
    _reach_older(row, start, max(t - window, floor), base, order, values, own)


@kernel()
def distinct_row(
    row: Any,
    at: Any,
    newest: Any,
    windows: Any,
    floor: int,
    base: int,
    order: Any,
    values: Any,
    state: Any,
    own: Any,
) -> None:
    """Enter one linked row, and leave the counts of its own windows in ``own`` (one laid out as a state for each).

    The states of its group begin at ``at``.
    """
    t, width = order.time[row], len(windows)
    late = newest != MIN_TIME and t < newest
    if late:
        for k in range(width):
            bound = max(newest - windows[k], floor)
            _advance(state, at + k * WIDTH, row - 1, bound, order, values)
    _enter_value(state, at, width, row, newest, base, order, values)
    for k in range(width):
        if late:
            _late(state, at, row, newest, windows[k], floor, base, order, values, own[k])
        else:
            _count_in(state, at, row, values)
            # what a backfill brings may be older than anything visible: then the tail has passed it over already
            if not _holds(state[at + TAIL], row, order.time):
                state[at + TAIL] = row
            _advance(state, at, row, max(t - windows[k], floor), order, values)
            for part in range(WIDTH):
                own[k, part] = state[at + part]
        at += WIDTH


@kernel()
def store_values(own: Any, i: Any, out: Any) -> None:
    """Write a state's counts as the totals at ``i``: rows with a value, and as the sum how many values there are."""
    out.counts[i], out.low[i], out.high[i] = own[_COUNT], np.uint64(own[_VALUES] * SCALE), 0


@kernel(inline="always")
def _enter_in_order(
    row: Any,
    at: Any,
    i: Any,
    windows: Any,
    floor: int,
    base: int,
    order: Any,
    values: Any,
    state: Any,
    out: Any,
) -> None:
    """What `distinct_row` does for a row in order, with everything at hand.

    What has been entered before such a row stands before it among those of its value too, so the row is the last one.
    """
    time, following, last, slots = order.time, order.following, values.last, values.slots
    t, valued = time[row], slots[row] >= 0
    last[row] = valued
    older = entered_before(row, row, values.order, base) if valued else np.int32(-1)
    replaced = older >= 0 and last[older] == 1
    if older >= 0:
        last[older] = 0
    for k in range(len(windows)):
        tail, count, different = state[at + TAIL], state[at + _COUNT], state[at + _VALUES]
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
            tail = np.int64(row)
        bound = max(t - windows[k], floor)
        while tail >= 0 and time[tail] < bound:
            if tail <= row and slots[tail] >= 0:
                count -= 1
                different -= last[tail]
            tail = np.int64(following[tail])
        state[at + TAIL], state[at + _COUNT], state[at + _VALUES] = tail, count, different
        out.counts[k, i], out.low[k, i], out.high[k, i] = count, np.uint64(different * SCALE), 0
        at += WIDTH


@kernel()
def _walk_back(
    row: Any, i: Any, windows: Any, floor: int, base: int, order: Any, values: Any, own: Any, out: Any
) -> None:
    """The row's own windows, in order or not, by what stands before it in its list."""
    own[:] = 0
    older = np.int64(row)
    # the windows are ascending: each begins where the one before ends
    for k in range(len(windows)):
        bound = max(order.time[row] - windows[k], floor)
        older = _reach_older(row, older, bound, base, order, values, own)
        store_values(own, (k, i), out)


@kernel()
def evaluate_values(
    start: int,
    linked: Any,
    windows: Any,
    floor: int,
    base: int,
    order: Any,
    values: Any,
    state: Any,
    own: Any,
    out: Any,
) -> None:
    """``own`` (int64, windows × WIDTH) is room for the windows of a row."""
    width, newest, numbers = len(windows), linked.newest, linked.groups.numbers
    for i in range(len(newest)):
        row = start + i
        at = np.int64(numbers[i]) * width * WIDTH
        if numbers[i] == NO_GROUP:
            for k in range(width):
                out.counts[k, i], out.low[k, i], out.high[k, i] = 0, np.uint64(0), 0
        elif numbers[i] < 0:
            _walk_back(row, i, windows, floor, base, order, values, own[0], out)
        elif newest[i] == MIN_TIME or order.time[row] >= newest[i]:
            _enter_in_order(row, at, i, windows, floor, base, order, values, state, out)
        else:
            distinct_row(row, at, newest[i], windows, floor, base, order, values, state, own)
            for k in range(width):
                store_values(own[k], (k, i), out)


@kernel()
def drop_values(first: int, groups: Any, width: int, order: Any, values: Any, state: Any) -> None:
    """Count out the rows from ``first`` on, older than every window; ``width``: how many a group has.

    ``groups`` tells by row the place of its group among the states; negative where it has none.
    """
    for i in range(len(groups)):
        if groups[i] >= 0:
            at = np.int64(groups[i]) * width * WIDTH
            for _ in range(width):
                _advance(state, at, len(order.time), order.time[first + i] + 1, order, values)
                at += WIDTH


@kernel()
def tell_last(newest: Any, base: int, end: int, order: Any, values: Any) -> None:
    """Tell of the rows before ``end`` in groups' lists which are the last of their value; ``newest``: of each list."""
    for j in range(len(newest)):
        row = np.int64(newest[j])
        while row >= base:
            if row < end:
                alone = entered_after(end - 1, row, order.time[newest[j]], values.order) < 0
                values.last[row] = values.slots[row] >= 0 and alone
            row = np.int64(order.previous[row])


@kernel()
def build_values(
    windows: Any,
    chosen: Any,
    floor: int,
    base: int,
    end: int,
    places: Any,
    newest: Any,
    order: Any,
    values: Any,
    state: Any,
) -> None:
    """Count what is in groups' newest windows, the ``chosen`` ones of all (by place), without rows from ``end`` on.

    Their states are empty. ``places`` are the groups' among the states, and ``newest`` each one's newest row before
    ``end``.
    """
    for j in range(len(places)):
        if newest[j] < base:
            continue
        for k in chosen:
            at, row = (np.int64(places[j]) * len(windows) + k) * WIDTH, newest[j]
            bound = max(order.time[row] - windows[k], floor)
            while row >= base and order.time[row] >= bound:
                if row < end:
                    _count_in(state, at, row, values)
                    state[at + TAIL] = row
                row = order.previous[row]
