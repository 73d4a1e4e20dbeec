"""`lateEvents: reevaluate`: a late transaction makes what came before it be judged again.

All windows that it has come into end between it and one window's length later. They are gone through once, in
order, over everything accepted so far; so a late transaction costs what lies between one window's length before it
and one after it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tripline_engine.domain.groups.group_lists import Order, follows
from tripline_engine.domain.memory.int128 import add, compare, subtract
from tripline_engine.domain.memory.kernel import kernel
from tripline_engine.domain.rules.threshold import DISTINCT, EXTREME, SCALE
from tripline_engine.domain.transactions.columns import Amounts
from tripline_engine.domain.windows.distinct_kernels import entered_after, entered_before


class Judge(NamedTuple):
    """How a version judges, for the kernel.

    :ivar window: ms
    :ivar floor: older event times (ms) are not visible
    :ivar base: the oldest retained row; ``offset`` is row 0's sequence number
    :ivar sign: of EXTREME: 1 if less is better, -1 if more is
    :ivar spans: int64, n × 4: what it has judged (`judged.Span`)
    """

    window: int
    floor: int
    base: int
    offset: int
    function: int
    sign: int
    spans: npt.NDArray[np.int64]


class Source(NamedTuple):
    """What it reads: the group lists, the lists of equal values, the amounts, and what has alerted (uint8 by row)."""

    order: Order
    equal_slots: Any
    equal: Order
    amounts: Amounts
    alerted: Any


@dataclass(frozen=True, slots=True)
class JudgedAgain:
    """What n transactions come to that a late one has come into the windows of.

    :ivar rows: int64, n: by event time
    :ivar counts: int64, n: how many transactions of each one's window contribute
    :ivar low: with ``high``, the sum, extreme value or number of values (scaled by 10⁶)
    """

    rows: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]
    low: npt.NDArray[np.uint64]
    high: npt.NDArray[np.int64]


def judge_again(row: int, judge: Judge, source: Source) -> JudgedAgain:
    """Judge again what the late transaction in that row has come into the windows of.

    Rows with a higher number come later in the order and are passed over.
    """
    n = _count_candidates(row, judge, source)
    candidates = np.empty(n, np.int64)
    _find_candidates(row, judge, source, candidates)
    found = JudgedAgain(candidates, np.zeros(n, np.int64), np.zeros(n, np.uint64), np.zeros(n, np.int64))
    if n:
        tail = _oldest(row, candidates, judge, source)
        state = np.zeros(_WIDTH, np.int64)
        queue = np.empty(_length(tail, candidates[-1], source.order), np.int64)
        room = tail, state, queue
        _judge(row, candidates, judge, source, *room, found.counts, found.low, found.high)
    return found


@kernel()
def _was_judged(row: Any, time: Any, judge: Judge) -> bool:
    sequence = row + judge.offset
    for k in range(len(judge.spans)):
        span = judge.spans[k]
        if span[0] <= sequence < span[1] and span[2] <= time < span[3]:
            return True
    return False


@kernel()
def _is_candidate(row: Any, late: Any, judge: Judge, source: Source) -> bool:
    """Whether it was accepted before, judged, and gave no alert."""
    if row >= late or source.alerted[row]:
        return False
    return _was_judged(row, source.order.time[row], judge)


@kernel()
def _count_candidates(late: Any, judge: Judge, source: Source) -> int:
    """How many rows are to be judged again."""
    order, found = source.order, 0
    until = order.time[late] + judge.window
    newer = order.following[late]
    while newer >= 0 and order.time[newer] <= until:
        found += _is_candidate(newer, late, judge, source)
        newer = order.following[newer]
    return found


@kernel()
def _find_candidates(late: Any, judge: Judge, source: Source, out: Any) -> None:
    """Those rows, by event time (int64)."""
    order = source.order
    newer, at = order.following[late], 0
    while at < len(out):
        if _is_candidate(newer, late, judge, source):
            out[at] = newer
            at += 1
        newer = order.following[newer]


@kernel()
def _first(late: Any, bound: Any, judge: Judge, order: Any) -> Any:
    """The oldest row of the list at or after ``bound`` (ms), ``late`` being one."""
    first, older = np.int64(late), order.previous[late]
    while older >= judge.base and order.time[older] >= bound:
        first = np.int64(older)
        older = order.previous[older]
    return first


# What is known of a window while it is moved along: how many contribute, their sum, how many values they have;
# and where the queue of those that could be the extreme value begins and ends, best first.
_COUNT, _LOW, _HIGH, _VALUES, _FRONT, _BACK, _WIDTH = 0, 1, 2, 3, 4, 5, 6


@kernel()
def _take_in(row: Any, tail: Any, late: Any, judge: Judge, source: Source, state: Any, queue: Any) -> None:
    """Take in the row after the newest one; the window begins with ``tail``."""
    amounts = source.amounts
    if judge.function == DISTINCT:
        if source.equal_slots[row] >= 0:
            older = entered_before(late, row, source.equal, judge.base)
            state[_COUNT] += 1
            state[_VALUES] += older < 0 or follows(tail, older, source.order.time)
        return
    low, high = add(np.uint64(state[_LOW]), state[_HIGH], amounts.low[row], amounts.high[row])
    state[_COUNT], state[_LOW], state[_HIGH] = state[_COUNT] + 1, np.int64(low), high
    if judge.function == EXTREME:
        while state[_BACK] > state[_FRONT] and _no_better(queue[state[_BACK] - 1], row, judge.sign, amounts):
            state[_BACK] -= 1
        queue[state[_BACK]] = row
        state[_BACK] += 1


@kernel()
def _let_go(row: Any, end: Any, late: Any, judge: Judge, source: Source, state: Any, queue: Any) -> None:
    """Let go of the oldest row; the window ends at ``end`` (ms)."""
    amounts = source.amounts
    if judge.function == DISTINCT:
        if source.equal_slots[row] >= 0:
            newer = entered_after(late, row, end, source.equal)
            state[_COUNT] -= 1
            state[_VALUES] -= newer < 0 or source.order.time[newer] > end
        return
    low, high = subtract(np.uint64(state[_LOW]), state[_HIGH], amounts.low[row], amounts.high[row])
    state[_COUNT], state[_LOW], state[_HIGH] = state[_COUNT] - 1, np.int64(low), high
    if judge.function == EXTREME and queue[state[_FRONT]] == row:
        state[_FRONT] += 1


@kernel()
def _length(row: Any, last: Any, order: Any) -> int:
    """How many rows the list has from ``row`` to the time of ``last``."""
    size = 0
    while row >= 0 and order.time[row] <= order.time[last]:
        size += 1
        row = np.int64(order.following[row])
    return size


@kernel()
def _oldest(late: Any, candidates: Any, judge: Judge, source: Source) -> Any:
    """The row with which the first window begins that is looked at."""
    bound = max(source.order.time[candidates[0]] - judge.window, judge.floor)
    return _first(late, bound, judge, source.order)


@kernel()
def _judge(
    late: Any,
    candidates: Any,
    judge: Judge,
    source: Source,
    tail: Any,
    state: Any,
    queue: Any,
    counts: Any,
    lows: Any,
    highs: Any,
) -> None:
    """``state`` (int64, _WIDTH noughts) and ``queue`` (int64) are room; ``tail`` is the first row looked at."""
    order, amounts, time = source.order, source.amounts, source.order.time
    head = tail
    for i in range(len(candidates)):
        own = candidates[i]
        # of equal times those accepted after it are in its window now
        while head >= 0 and time[head] <= time[own]:
            if head <= late:
                _take_in(head, tail, late, judge, source, state, queue)
            head = np.int64(order.following[head])
        while time[tail] < max(time[own] - judge.window, judge.floor):
            if tail <= late:
                _let_go(tail, time[own], late, judge, source, state, queue)
            tail = np.int64(order.following[tail])
        counts[i], lows[i], highs[i] = state[_COUNT], np.uint64(state[_LOW]), state[_HIGH]
        if judge.function == DISTINCT:
            lows[i], highs[i] = np.uint64(state[_VALUES] * SCALE), 0
        elif judge.function == EXTREME:
            best = queue[state[_FRONT]]
            lows[i], highs[i] = amounts.low[best], amounts.high[best]


@kernel()
def _no_better(row: Any, other: Any, sign: int, amounts: Any) -> bool:
    order = compare(amounts.low[row], amounts.high[row], amounts.low[other], amounts.high[other])
    result: bool = sign * order >= 0
    return result
