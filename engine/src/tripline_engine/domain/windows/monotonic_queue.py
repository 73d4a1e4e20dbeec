"""The queues of `ExtremeWindow`, and the kernels that enter rows, one after the other.

Dispatch and `drop_extremes` are shaped as in `sum_kernels`, which says why they share no body.
"""

from __future__ import annotations

from typing import NamedTuple

from tripline_engine.domain.groups.group_lists import LinkResult, Members, Order
from tripline_engine.domain.groups.large_groups import NO_GROUP
from tripline_engine.domain.memory.array_types import (
    Int32Array,
    Int64Array,
    Millis,
    Offset,
    RowNumber,
    Uint64Array,
    int32,
    int64,
)
from tripline_engine.domain.memory.int128 import compare
from tripline_engine.domain.memory.kernel import kernel
from tripline_engine.domain.transactions.columns import MIN_TIME
from tripline_engine.domain.windows.kernel_views import WindowBounds


class Chain(NamedTuple):
    """The queues of all groups, by row (int32, -1: none), and their values.

    ``sign`` 1: less is better; -1: greater is. Rows that are no members have the worst value there is.
    """

    better: Int32Array
    worse: Int32Array
    low: Uint64Array
    high: Int64Array
    sign: int
    members: Members


@kernel(inline="always")
def _compare(a: RowNumber, b: RowNumber, chain: Chain) -> int:
    """Negative if row a has the better value, 0 if they are equal."""
    low, high, members = chain.low, chain.high, chain.members
    if members.chosen and (members.slots[a] < 0 or members.slots[b] < 0):
        return int(members.slots[a] < 0) - int(members.slots[b] < 0)
    result: int = chain.sign * compare(low[a], high[a], low[b], high[b])
    return result


@kernel()
def push(row: RowNumber, top: RowNumber, base: RowNumber, chain: Chain) -> None:
    """Put the row on the queue whose newest member is ``top``."""
    while top >= base and _compare(top, row, chain) >= 0:
        top = chain.better[top]
    chain.better[row] = top if top >= base else -1
    chain.worse[row] = -1
    if top >= base:
        chain.worse[top] = row


@kernel()
def _enter(row: RowNumber, newest: Millis, base: RowNumber, order: Order, chain: Chain) -> None:
    """Put the row in its place on its group's queue, and what is newer again after it.

    Rows after ``row`` in the engine's order have not been entered yet; those that have are no newer than
    ``newest``, so the rest of a micro-batch need not be looked at.
    """
    top: RowNumber = order.previous[row]
    while top >= base and top > row:
        top = order.previous[top]
    push(row, top, base, chain)
    top, newer = int32(row), order.following[row]
    while newer >= 0 and order.time[newer] <= newest:
        if newer < row:
            push(newer, top, base, chain)
            top = newer
        newer = order.following[newer]


@kernel()
def _in_window(front: RowNumber, bound: Millis, order: Order, chain: Chain) -> RowNumber:
    """The front, or where it is older than ``bound`` the next one on the queue that is not; -1 for none."""
    while front >= 0 and order.time[front] < bound:
        front = chain.worse[front]
    return front


@kernel()
def _front(
    front: RowNumber, row: RowNumber, in_order: bool, bound: Millis, order: Order, chain: Chain
) -> RowNumber:
    """The front of the newest window after ``row`` will have entered it; the chain is still as it was before."""
    front = _in_window(front, bound, order, chain)
    if front < 0:
        return int32(row)
    difference = _compare(row, front, chain)
    newer = in_order or order.time[row] >= order.time[front]
    return int32(row) if difference < 0 or (difference == 0 and newer) else front


@kernel()
def extreme_row(
    row: RowNumber,
    newest: Millis,
    bounds: WindowBounds,
    order: Order,
    chain: Chain,
    fronts: Int32Array,
    out: Int64Array,
) -> None:
    """Enter one linked row; its answer for each window. ``fronts`` and ``out`` have one item for each."""
    lengths, floor, base = bounds.lengths, bounds.floor, bounds.base
    t: Millis = order.time[row]
    in_order = newest == MIN_TIME or t >= newest
    for k in range(len(lengths)):
        bound = max((t if in_order else newest) - lengths[k], floor)
        if t >= bound:
            fronts[k] = _front(fronts[k], row, in_order, bound, order, chain)
        else:
            # the row is put among what is too old, where the way to the front may end then
            fronts[k] = _in_window(fronts[k], bound, order, chain)
    _enter(row, newest, base, order, chain)
    for k in range(len(lengths)):
        if in_order:
            out[k] = fronts[k]
            continue
        bound = max(t - lengths[k], floor)
        best = int64(row)
        while chain.better[best] >= base and order.time[chain.better[best]] >= bound:
            best = chain.better[best]
        out[k] = best


@kernel(inline="always")
def _enter_in_order(
    row: RowNumber,
    first: Offset,
    i: int,
    bounds: WindowBounds,
    order: Order,
    chain: Chain,
    fronts: Int32Array,
    out: Int64Array,
) -> None:
    """`extreme_row` for a row in order, with everything at hand; ``first``: its group's first front.

    Nearly all rows come this way.
    """
    lengths, floor, base = bounds.lengths, bounds.floor, bounds.base
    time, better, worse, low, high = order.time, chain.better, chain.worse, chain.low, chain.high
    chosen, contributing = chain.members.chosen, chain.members.slots
    t, outside = time[row], chosen and contributing[row] < 0
    for k in range(len(lengths)):
        bound = max(t - lengths[k], floor)
        front = int64(fronts[first + k])
        while front >= 0 and time[front] < bound:
            front = int64(worse[front])
        if t >= bound and front < 0:
            front = row
        elif t >= bound:
            # of equal values the newer one
            if chosen and (outside or contributing[front] < 0):
                difference = int(outside) - int(contributing[front] < 0)
            else:
                difference = chain.sign * compare(low[row], high[row], low[front], high[front])
            front = row if difference <= 0 else front
        fronts[first + k] = front
        out[i, k] = -1 if front >= 0 and chosen and contributing[front] < 0 else front
    top = int64(order.previous[row])
    while top >= base and top > row:
        top = int64(order.previous[top])
    while top >= base and _compare(top, row, chain) >= 0:
        top = int64(better[top])
    better[row], worse[row] = top if top >= base else -1, -1
    if top >= base:
        worse[top] = row


@kernel(inline="always")
def _walk_back(
    row: RowNumber, i: int, bounds: WindowBounds, order: Order, chain: Chain, out: Int64Array
) -> None:
    """The row's own answers, in order or not, by what stands before it in its list."""
    lengths, floor, base = bounds.lengths, bounds.floor, bounds.base
    time, previous, low, high = order.time, order.previous, chain.low, chain.high
    chosen, contributing = chain.members.chosen, chain.members.slots
    t, older, best = time[row], int64(row), int64(-1)
    for k in range(len(lengths)):
        bound = max(t - lengths[k], floor)
        while older >= base and time[older] >= bound:
            contributes = older <= row and (not chosen or contributing[older] >= 0)
            # of equal values the newer one
            if contributes and (
                best < 0 or chain.sign * compare(low[older], high[older], low[best], high[best]) < 0
            ):
                best = older
            older = int64(previous[older])
        out[i, k] = best


@kernel()
def evaluate_extremes(
    start: RowNumber,
    linked: LinkResult,
    bounds: WindowBounds,
    order: Order,
    chain: Chain,
    fronts: Int32Array,
    out: Int64Array,
) -> None:
    """Enter the linked rows from ``start`` on, and write the answers of their own windows."""
    width, newest, numbers = len(bounds.lengths), linked.newest, linked.groups.numbers
    for i in range(len(newest)):
        number, row = int64(numbers[i]), int64(start + i)
        if number == NO_GROUP:
            out[i, :] = -1
        elif number < 0:
            _walk_back(row, i, bounds, order, chain, out)
        elif newest[i] == MIN_TIME or order.time[row] >= newest[i]:
            _enter_in_order(row, number * width, i, bounds, order, chain, fronts, out)
        else:
            group_fronts = fronts[number * width : (number + 1) * width]
            extreme_row(row, newest[i], bounds, order, chain, group_fronts, out[i])
            for k in range(width):
                if chain.members.chosen and chain.members.slots[out[i, k]] < 0:
                    out[i, k] = -1


@kernel()
def drop_extremes(
    first: RowNumber, groups: Int32Array, width: int, order: Order, chain: Chain, fronts: Int32Array
) -> None:
    """Move the fronts past the rows from ``first`` on, older than every window.

    :param groups: by row, its group's number among the fronts; negative where it has none
    :param width: fronts of a group: one for each length
    """
    for i in range(len(groups)):
        for offset in range(groups[i] * width, (groups[i] + 1) * width if groups[i] >= 0 else 0):
            front = fronts[offset]
            while front >= 0 and order.time[front] <= order.time[first + i]:
                front = chain.worse[front]
            fronts[offset] = front
