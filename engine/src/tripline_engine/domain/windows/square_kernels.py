"""Sum of the squares of a measure over "the last w before this transaction", by group.

A twin of `sum_kernels`, which says how a window moves, and why twins share no body: the state of a group has three
words of a sum of squares in place of a count and a sum. These come from the sums over the same windows.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tripline_engine.domain.groups.group_lists import LinkResult, Members, follows
from tripline_engine.domain.groups.large_groups import NO_GROUP
from tripline_engine.domain.memory.array_types import (
    BoolArray,
    Int32Array,
    Int64Array,
    Millis,
    Offset,
    RowNumber,
    int64,
)
from tripline_engine.domain.memory.kernel import kernel
from tripline_engine.domain.memory.wide_integers import Words3, add3, square, subtract3
from tripline_engine.domain.rules.deviations import Squares
from tripline_engine.domain.transactions.columns import MIN_TIME, Amounts
from tripline_engine.domain.windows.kernel_views import ListView, WindowBounds

# A group's state: the oldest row of the newest window, and the sum of squares, low word first.
WIDTH: Final = 4
TAIL: Final = 0
_LOW, _MIDDLE, _HIGH = 1, 2, 3
EMPTY: Final = np.array([-1, 0, 0, 0], np.int64)


@kernel(inline="always")
def _sum(state: Int64Array, offset: Offset) -> Words3:
    return (
        np.uint64(state[offset + _LOW]),
        np.uint64(state[offset + _MIDDLE]),
        np.uint64(state[offset + _HIGH]),
    )


@kernel(inline="always")
def _keep(state: Int64Array, offset: Offset, words: Words3) -> None:
    state[offset + _LOW], state[offset + _MIDDLE] = np.int64(words[0]), np.int64(words[1])
    state[offset + _HIGH] = np.int64(words[2])


@kernel(inline="always")
def _squared(row: RowNumber, amounts: Amounts) -> Words3:
    """The square of the row's amount, which has no fourth word."""
    words = square(amounts.low[row], amounts.high[row])
    return words[0], words[1], words[2]


@kernel()
def put(
    state: Int64Array, offset: Offset, row: RowNumber, members: Members, amounts: Amounts, sign: int
) -> None:
    """Add the row's square (sign 1), or subtract it (sign -1), if it is a member."""
    if members.chosen and members.slots[row] < 0:
        return
    if sign > 0:
        _keep(state, offset, add3(_sum(state, offset), _squared(row, amounts)))
    else:
        _keep(state, offset, subtract3(_sum(state, offset), _squared(row, amounts)))


@kernel()
def _advance(state: Int64Array, offset: Offset, row: RowNumber, bound: Millis, view: ListView) -> None:
    """Move the tail to the first row at or after ``bound``; rows after ``row`` have not been added."""
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
    """Add a late row to the newest window, and make ``window`` that one less what is newer than the row."""
    order, members, amounts = view.order, view.members, view.amounts
    put(state, offset, row, members, amounts, 1)
    if state[offset + TAIL] < 0 or follows(state[offset + TAIL], row, order.time):
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
    """Enter a late row, and leave the sum of its own window in ``window`` (laid out as a state)."""
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
def _enter_in_order(
    row: RowNumber,
    offset: Offset,
    i: int,
    bounds: WindowBounds,
    view: ListView,
    state: Int64Array,
    out: Squares,
) -> None:
    """Enter a row in order into all windows of its group. Nearly all rows come this way."""
    time, following = view.order.time, view.order.following
    chosen, contributing = view.members.chosen, view.members.slots
    t, counted = time[row], not chosen or contributing[row] >= 0
    entering = _squared(row, view.amounts)
    for k in range(len(bounds.lengths)):
        tail, words = state[offset + TAIL], _sum(state, offset)
        if counted:
            words = add3(words, entering)
        # what a backfill brings may be older than anything visible: then the tail has passed it over already
        if tail < 0 or follows(tail, row, time):
            tail = int64(row)
        bound = max(t - bounds.lengths[k], bounds.floor)
        while tail >= 0 and time[tail] < bound:
            if tail <= row and (not chosen or contributing[tail] >= 0):
                words = subtract3(words, _squared(tail, view.amounts))
            tail = int64(following[tail])
        state[offset + TAIL] = tail
        _keep(state, offset, words)
        out.low[k, i], out.middle[k, i], out.high[k, i] = words
        offset += WIDTH


@kernel()
def _walk_back(row: RowNumber, i: int, bounds: WindowBounds, view: ListView, out: Squares) -> None:
    """The row's own windows, in order or not, by what stands before it in its list."""
    time, previous, contributing = view.order.time, view.order.previous, view.members.slots
    words, t, older = (np.uint64(0), np.uint64(0), np.uint64(0)), time[row], int64(row)
    for k in range(len(bounds.lengths)):
        bound = max(t - bounds.lengths[k], bounds.floor)
        while older >= bounds.base and time[older] >= bound:
            if older <= row and (not view.members.chosen or contributing[older] >= 0):
                words = add3(words, _squared(older, view.amounts))
            older = int64(previous[older])
        out.low[k, i], out.middle[k, i], out.high[k, i] = words


@kernel()
def evaluate_squares(
    start: RowNumber,
    linked: LinkResult,
    bounds: WindowBounds,
    view: ListView,
    state: Int64Array,
    scratch: Int64Array,
    out: Squares,
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
                out.low[k, i], out.middle[k, i], out.high[k, i] = 0, 0, 0
        elif numbers[i] < 0:
            _walk_back(row, i, bounds, view, out)
        elif newest[i] == MIN_TIME or view.order.time[row] >= newest[i]:
            _enter_in_order(row, offset, i, bounds, view, state, out)
        else:
            for k in range(width):
                _late(row, offset, newest[i], bounds.lengths[k], bounds, view, state, scratch)
                out.low[k, i], out.middle[k, i], out.high[k, i] = _sum(scratch, 0)
                offset += WIDTH


@kernel()
def drop_squares(first: RowNumber, groups: Int32Array, width: int, view: ListView, state: Int64Array) -> None:
    """Subtract the rows from ``first`` on, older than every window.

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


@kernel(nogil=True)
def build_squares(
    bounds: WindowBounds,
    chosen: Int64Array,
    end: RowNumber,
    numbers: Int32Array,
    newest: Int32Array,
    view: ListView,
    state: Int64Array,
) -> None:
    """Sum what is in groups' newest windows, without rows from ``end`` on; their states are empty.

    :param chosen: the lengths, by place
    :param numbers: the groups' numbers among the states
    :param newest: each one's newest row before ``end``
    """
    order, lengths, floor, base = view.order, bounds.lengths, bounds.floor, bounds.base
    for j in range(len(numbers)):
        for k in chosen:
            offset = (int64(numbers[j]) * len(lengths) + k) * WIDTH
            row = newest[j]
            bound = floor if row < base else max(order.time[row] - lengths[k], floor)
            while row >= base and order.time[row] >= bound:
                if row < end:
                    put(state, offset, row, view.members, view.amounts, 1)
                    state[offset + TAIL] = row
                row = order.previous[row]


@kernel()
def subtract_windows(squares: Squares, part: Squares) -> None:
    """Take the sums of the newer parts of n windows out of theirs."""
    for i in range(len(squares.low)):
        words = subtract3(
            (squares.low[i], squares.middle[i], squares.high[i]), (part.low[i], part.middle[i], part.high[i])
        )
        squares.low[i], squares.middle[i], squares.high[i] = words


@kernel()
def subtract_rows(squares: Squares, amounts: Amounts, counted: BoolArray) -> None:
    """Take the squares of n amounts out of n sums, where they are counted."""
    for i in range(len(squares.low)):
        if counted[i]:
            words = subtract3((squares.low[i], squares.middle[i], squares.high[i]), _squared(i, amounts))
            squares.low[i], squares.middle[i], squares.high[i] = words
