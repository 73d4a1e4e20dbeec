"""The queues of `Extremum`, and the kernels that enter rows, one after the other."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tripline_engine.domain.groups.group_lists import Members
from tripline_engine.domain.groups.large_groups import NO_GROUP
from tripline_engine.domain.memory.arena import Array
from tripline_engine.domain.memory.int128 import compare
from tripline_engine.domain.memory.kernel import kernel
from tripline_engine.domain.transactions.columns import MIN_TIME


class Chain(NamedTuple):
    """The queues of all groups, by row (int32, -1: none), and their values.

    ``sign`` 1: less is better; -1: greater is. Rows that are no members have the worst value there is.
    """

    better: Array
    worse: Array
    low: Array
    high: Array
    sign: int
    members: Members


@kernel(inline="always")
def _order(a: Any, b: Any, chain: Any) -> int:
    """Negative if row a has the better value, 0 if they are equal."""
    low, high, members = chain.low, chain.high, chain.members
    if members.chosen and (members.slots[a] < 0 or members.slots[b] < 0):
        return int(members.slots[a] < 0) - int(members.slots[b] < 0)
    result: int = chain.sign * compare(low[a], high[a], low[b], high[b])
    return result


@kernel()
def push(row: Any, top: Any, base: int, chain: Any) -> None:
    """Put the row on the queue whose newest member is ``top``."""
    while top >= base and _order(top, row, chain) >= 0:
        top = chain.better[top]
    chain.better[row] = top if top >= base else -1
    chain.worse[row] = -1
    if top >= base:
        chain.worse[top] = row


@kernel()
def _enter(row: Any, newest: Any, base: int, order: Any, chain: Any) -> None:
    """Put the row in its place on its group's queue, and what is newer again after it.

    Rows after ``row`` in the engine's order have not been entered yet; those that have are no newer than
    ``newest`` (ms), so the rest of a micro-batch need not be looked at.
    """
    top = order.previous[row]
    while top >= base and top > row:
        top = order.previous[top]
    push(row, top, base, chain)
    top, newer = np.int32(row), order.following[row]
    while newer >= 0 and order.time[newer] <= newest:
        if newer < row:
            push(newer, top, base, chain)
            top = newer
        newer = order.following[newer]


@kernel()
def _in_window(front: Any, bound: Any, order: Any, chain: Any) -> Any:
    """The front, or where it is older than ``bound`` (ms) the next one on the queue that is not; -1 for none."""
    while front >= 0 and order.time[front] < bound:
        front = chain.worse[front]
    return front


@kernel()
def _front(front: Any, row: Any, in_order: bool, bound: Any, order: Any, chain: Any) -> Any:
    """The front of the newest window after ``row`` will have entered it; the chain is still as it was before."""
    front = _in_window(front, bound, order, chain)
    if front < 0:
        return np.int32(row)
    difference = _order(row, front, chain)
    newer = in_order or order.time[row] >= order.time[front]
    return np.int32(row) if difference < 0 or (difference == 0 and newer) else front


@kernel()
def extreme_row(
    row: Any, newest: Any, windows: Any, floor: int, base: int, order: Any, chain: Any, fronts: Any, out: Any
) -> None:
    """Enter one linked row; its answer for each window. ``fronts`` and ``out`` have one item for each."""
    t = order.time[row]
    in_order = newest == MIN_TIME or t >= newest
    for k in range(len(windows)):
        bound = max((t if in_order else newest) - windows[k], floor)
        if t >= bound:
            fronts[k] = _front(fronts[k], row, in_order, bound, order, chain)
        else:
            # the row is put among what is too old, where the way to the front may end then
            fronts[k] = _in_window(fronts[k], bound, order, chain)
    _enter(row, newest, base, order, chain)
    for k in range(len(windows)):
        if in_order:
            out[k] = fronts[k]
            continue
        bound = max(t - windows[k], floor)
        best = np.int64(row)
        while chain.better[best] >= base and order.time[chain.better[best]] >= bound:
            best = chain.better[best]
        out[k] = best


@kernel(inline="always")
def _enter_in_order(
    row: Any,
    first: Any,
    i: Any,
    windows: Any,
    floor: int,
    base: int,
    order: Any,
    chain: Any,
    fronts: Any,
    out: Any,
) -> None:
    """What `extreme_row` does for a row in order, with everything at hand; ``first``: its group's first front.

    Nearly all rows come this way.
    """
    time, better, worse, low, high = order.time, chain.better, chain.worse, chain.low, chain.high
    chosen, contributing = chain.members.chosen, chain.members.slots
    t, outside = time[row], chosen and contributing[row] < 0
    for k in range(len(windows)):
        bound = max(t - windows[k], floor)
        front = np.int64(fronts[first + k])
        while front >= 0 and time[front] < bound:
            front = np.int64(worse[front])
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
    top = np.int64(order.previous[row])
    while top >= base and top > row:
        top = np.int64(order.previous[top])
    while top >= base and _order(top, row, chain) >= 0:
        top = np.int64(better[top])
    better[row], worse[row] = top if top >= base else -1, -1
    if top >= base:
        worse[top] = row


@kernel(inline="always")
def _walk_back(
    row: Any, i: Any, windows: Any, floor: int, base: int, order: Any, chain: Any, out: Any
) -> None:
    """The row's own answers, in order or not, by what stands before it in its list."""
    time, previous, low, high = order.time, order.previous, chain.low, chain.high
    chosen, contributing = chain.members.chosen, chain.members.slots
    t, older, best = time[row], np.int64(row), np.int64(-1)
    # the windows are ascending: each begins where the one before ends
    for k in range(len(windows)):
        bound = max(t - windows[k], floor)
        while older >= base and time[older] >= bound:
            counts = older <= row and (not chosen or contributing[older] >= 0)
            # of equal values the newer one
            if counts and (
                best < 0 or chain.sign * compare(low[older], high[older], low[best], high[best]) < 0
            ):
                best = older
            older = np.int64(previous[older])
        out[i, k] = best


@kernel()
def evaluate(
    start: int,
    linked: Any,
    windows: Any,
    floor: int,
    base: int,
    order: Any,
    chain: Any,
    fronts: Any,
    out: Any,
) -> None:
    width, newest, numbers = len(windows), linked.newest, linked.groups.numbers
    for i in range(len(newest)):
        number, row = np.int64(numbers[i]), np.int64(start + i)
        if number == NO_GROUP:
            out[i, :] = -1
        elif number < 0:
            _walk_back(row, i, windows, floor, base, order, chain, out)
        elif newest[i] == MIN_TIME or order.time[row] >= newest[i]:
            _enter_in_order(row, number * width, i, windows, floor, base, order, chain, fronts, out)
        else:
            own = fronts[number * width : (number + 1) * width]
            extreme_row(row, newest[i], windows, floor, base, order, chain, own, out[i])
            for k in range(width):
                if chain.members.chosen and chain.members.slots[out[i, k]] < 0:
                    out[i, k] = -1


@kernel()
def drop_extremes(first: int, groups: Any, width: int, order: Any, chain: Any, fronts: Any) -> None:
    """Let go of the rows from ``first`` on, older than every window.

    ``groups`` tells by row the place of its group among the fronts; negative where it has none.
    """
    for i in range(len(groups)):
        for at in range(groups[i] * width, (groups[i] + 1) * width if groups[i] >= 0 else 0):
            front = fronts[at]
            while front >= 0 and order.time[front] <= order.time[first + i]:
                front = chain.worse[front]
            fronts[at] = front
