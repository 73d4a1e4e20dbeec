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
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tripline_engine.domain.groups.group_lists import follows
from tripline_engine.domain.groups.large_groups import NO_GROUP
from tripline_engine.domain.memory.int128 import add, subtract
from tripline_engine.domain.memory.kernel import kernel
from tripline_engine.domain.transactions.columns import MIN_TIME

# A group's state: four int64 in a row, so that one cache line serves an evaluation.
WIDTH = 4
TAIL, _COUNT, _LOW, _HIGH = 0, 1, 2, 3
EMPTY = np.array([-1, 0, 0, 0], np.int64)
NEVER = np.iinfo(np.int64).max


@kernel()
def _put(state: Any, at: Any, row: Any, members: Any, amounts: Any, sign: int) -> None:
    """Count the row in (sign 1) or out (sign -1), if it is a member."""
    if members.chosen and members.slots[row] < 0:
        return
    if sign > 0:
        low, high = add(np.uint64(state[at + _LOW]), state[at + _HIGH], amounts.low[row], amounts.high[row])
    else:
        low, high = subtract(
            np.uint64(state[at + _LOW]), state[at + _HIGH], amounts.low[row], amounts.high[row]
        )
    state[at + _LOW], state[at + _HIGH] = np.int64(low), high
    state[at + _COUNT] += sign


@kernel()
def _advance(state: Any, at: Any, row: Any, bound: Any, order: Any, members: Any, amounts: Any) -> None:
    """Move the tail to the first row at or after ``bound`` (ms); rows after ``row`` have not been counted."""
    tail = state[at + TAIL]
    while tail >= 0 and order.time[tail] < bound:
        if tail <= row:
            _put(state, at, tail, members, amounts, -1)
        tail = order.following[tail]
    state[at + TAIL] = tail


@kernel()
def _enter_late(
    state: Any, at: Any, row: Any, newest: Any, order: Any, members: Any, amounts: Any, own: Any
) -> None:
    """Count a late row into the newest window, and make ``own`` that window less what is newer than the row.

    What has been entered is no newer than ``newest`` (ms); the rest of a micro-batch need not be looked at.
    """
    _put(state, at, row, members, amounts, 1)
    tail = state[at + TAIL]
    t = order.time[row]
    if tail < 0 or t < order.time[tail] or (t == order.time[tail] and row < tail):
        state[at + TAIL] = row
    for part in range(WIDTH):
        own[part] = state[at + part]
    newer = order.following[row]
    while newer >= 0 and order.time[newer] <= newest:
        if newer < row:
            _put(own, 0, newer, members, amounts, -1)
        newer = order.following[newer]


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
    members: Any,
    amounts: Any,
    own: Any,
) -> None:
    """Enter a late row, and leave count and sum of its own window in ``own`` (laid out as a state)."""
    newest_bound = max(newest - window, floor)
    _advance(state, at, row - 1, newest_bound, order, members, amounts)
    own[:] = 0
    older = row
    if order.time[row] >= newest_bound:
        _enter_late(state, at, row, newest, order, members, amounts, own)
        older = order.previous[state[at + TAIL]]
    bound = max(order.time[row] - window, floor)
    while older >= base and order.time[older] >= bound:
        if older <= row:
            _put(own, 0, older, members, amounts, 1)
        older = order.previous[older]


@kernel()
def sum_row(
    row: Any,
    at: Any,
    newest: Any,
    window: int,
    floor: int,
    base: int,
    order: Any,
    members: Any,
    amounts: Any,
    state: Any,
    own: Any,
) -> None:
    """Enter one linked row, and leave count and sum of its own window in ``own`` (laid out as a state).

    The state of its group and that window begins at ``at``.
    """
    t = order.time[row]
    if newest == MIN_TIME or t >= newest:
        _put(state, at, row, members, amounts, 1)
        # what a backfill brings may be older than anything visible: then the tail has passed it over already
        if state[at + TAIL] < 0 or follows(state[at + TAIL], row, order.time):
            state[at + TAIL] = row
        _advance(state, at, row, max(t - window, floor), order, members, amounts)
        for j in range(WIDTH):
            own[j] = state[at + j]
    else:
        _late(state, at, row, newest, window, floor, base, order, members, amounts, own)


@kernel()
def store_totals(own: Any, i: Any, out: Any) -> None:
    """Write a state's count and sum as the totals at ``i``."""
    out.counts[i], out.low[i], out.high[i] = own[_COUNT], np.uint64(own[_LOW]), own[_HIGH]


@kernel(inline="always")
def _enter_in_order(
    row: Any,
    at: Any,
    i: Any,
    windows: Any,
    floor: int,
    order: Any,
    members: Any,
    amounts: Any,
    summed: bool,
    state: Any,
    out: Any,
) -> None:
    """What `sum_row` does for a row in order, for all windows of its group, with everything at hand.

    Nearly all rows come this way.
    """
    time, following, low, high = order.time, order.following, amounts.low, amounts.high
    chosen, contributing = members.chosen, members.slots
    t, counted = time[row], not chosen or contributing[row] >= 0
    for k in range(len(windows)):
        tail, count = state[at + TAIL], state[at + _COUNT]
        own_low, own_high = np.uint64(state[at + _LOW]), state[at + _HIGH]
        if counted:
            count += 1
            if summed:
                own_low, own_high = add(own_low, own_high, low[row], high[row])
        # what a backfill brings may be older than anything visible: then the tail has passed it over already
        if tail < 0 or time[tail] > t or (time[tail] == t and tail > row):
            tail = np.int64(row)
        bound = max(t - windows[k], floor)
        while tail >= 0 and time[tail] < bound:
            if tail <= row and (not chosen or contributing[tail] >= 0):
                count -= 1
                if summed:
                    own_low, own_high = subtract(own_low, own_high, low[tail], high[tail])
            tail = np.int64(following[tail])
        state[at + TAIL], state[at + _COUNT] = tail, count
        out.counts[k, i] = count
        if summed:
            state[at + _LOW], state[at + _HIGH] = np.int64(own_low), own_high
            out.low[k, i], out.high[k, i] = own_low, own_high
        at += WIDTH


@kernel(inline="always")
def _walk_back(
    row: Any,
    i: Any,
    windows: Any,
    floor: int,
    base: int,
    order: Any,
    members: Any,
    amounts: Any,
    summed: bool,
    out: Any,
) -> None:
    """The row's own windows, in order or not, by what stands before it in its list."""
    time, previous, contributing = order.time, order.previous, members.slots
    count, low, high, t, older = 0, np.uint64(0), np.int64(0), time[row], np.int64(row)
    # the windows are ascending: each begins where the one before ends
    for k in range(len(windows)):
        bound = max(t - windows[k], floor)
        while older >= base and time[older] >= bound:
            if older <= row and (not members.chosen or contributing[older] >= 0):
                count += 1
                if summed:
                    low, high = add(low, high, amounts.low[older], amounts.high[older])
            older = np.int64(previous[older])
        out.counts[k, i] = count
        if summed:
            out.low[k, i], out.high[k, i] = low, high


@kernel()
def evaluate_sums(
    start: int,
    linked: Any,
    windows: Any,
    floor: int,
    base: int,
    order: Any,
    members: Any,
    amounts: Any,
    summed: bool,
    state: Any,
    own: Any,
    out: Any,
) -> None:
    """``own`` (int64, WIDTH) is room for a late row's window."""
    width, newest, numbers = len(windows), linked.newest, linked.groups.numbers
    for i in range(len(newest)):
        row = start + i
        at = np.int64(numbers[i]) * width * WIDTH
        if numbers[i] == NO_GROUP:
            for k in range(width):
                out.counts[k, i], out.low[k, i], out.high[k, i] = 0, np.uint64(0), 0
        elif numbers[i] < 0:
            _walk_back(row, i, windows, floor, base, order, members, amounts, summed, out)
        elif newest[i] == MIN_TIME or order.time[row] >= newest[i]:
            _enter_in_order(row, at, i, windows, floor, order, members, amounts, summed, state, out)
        else:
            for k in range(width):
                sum_row(row, at, newest[i], windows[k], floor, base, order, members, amounts, state, own)
                store_totals(own, (k, i), out)
                at += WIDTH


@kernel()
def drop_sums(
    first: int, groups: Any, width: int, order: Any, members: Any, amounts: Any, state: Any
) -> None:
    """Count out the rows from ``first`` on, older than every window; ``width``: how many a group has.

    ``groups`` tells by row the place of its group among the states; negative where it has none.
    """
    for i in range(len(groups)):
        if groups[i] >= 0:
            at = np.int64(groups[i]) * width * WIDTH
            for _ in range(width):
                _advance(state, at, len(order.time), order.time[first + i] + 1, order, members, amounts)
                at += WIDTH


@kernel()
def build_sums(
    windows: Any,
    floor: int,
    base: int,
    end: int,
    places: Any,
    newest: Any,
    order: Any,
    members: Any,
    amounts: Any,
    state: Any,
) -> None:
    """Count what is in groups' newest windows, without rows from ``end`` on; their states are empty.

    ``places`` are the groups' among the states, and ``newest`` each one's newest row before ``end``.
    """
    for j in range(len(places)):
        at = np.int64(places[j]) * len(windows) * WIDTH
        for k in range(len(windows)):
            row = newest[j]
            bound = floor if row < base else max(order.time[row] - windows[k], floor)
            while row >= base and order.time[row] >= bound:
                if row < end:
                    _put(state, at, row, members, amounts, 1)
                    state[at + TAIL] = row
                row = order.previous[row]
            at += WIDTH


@kernel(nogil=True)
def sum_all(
    windows: Any,
    chosen: Any,
    floor: int,
    base: int,
    end: int,
    slots: Any,
    numbers: Any,
    newest: Any,
    order: Any,
    members: Any,
    amounts: Any,
    state: Any,
) -> None:
    """The same of groups with a number (by slot), for the ``chosen`` lengths (by place), in the order of acceptance.

    One row lies beside the other then. A row that is in no list is older than every window: its list ended when a newer
    one went, which had been accepted before it.

    :param newest: int64, by slot, the newest event time (ms), NEVER where a group has no number or no row
    """
    for k in chosen:
        for row in range(base, end):
            slot = slots[row]
            if slot < 0 or newest[slot] == NEVER or order.time[row] < max(newest[slot] - windows[k], floor):
                continue
            at = (np.int64(numbers[slot]) * len(windows) + k) * WIDTH
            _put(state, at, row, members, amounts, 1)
            if state[at + TAIL] < 0 or follows(state[at + TAIL], row, order.time):
                state[at + TAIL] = row
