"""Reevaluation (`lateEvents: reevaluate`): a late transaction makes transactions before it be judged again.

All windows that it has come into end between it and one window's length later. They are gone through once, in
order, over everything accepted so far; so a late transaction costs what lies between one window's length before it
and one after it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tripline_engine.domain.groups.group_lists import Order, follows
from tripline_engine.domain.memory.array_types import (
    Int32Array,
    Int64Array,
    Millis,
    RowNumber,
    Uint8Array,
    Uint64Array,
    int64,
)
from tripline_engine.domain.memory.int128 import add, compare, subtract
from tripline_engine.domain.memory.kernel import kernel
from tripline_engine.domain.rules.threshold import DISTINCT, EXTREME, SCALE
from tripline_engine.domain.transactions.columns import Amounts, Totals
from tripline_engine.domain.windows.value_lists import entered_after, entered_before


class ReevaluationTask(NamedTuple):
    """How a version judges, for the kernel.

    :ivar floor: older event times (ms) are not visible
    :ivar base: the oldest retained row; ``offset`` is row 0's sequence number
    :ivar sign: of EXTREME: 1 if less is better, -1 if more is
    :ivar spans: int64, n × 4: what it has judged (`judged_spans.Span`)
    """

    window: Millis
    floor: Millis
    base: RowNumber
    offset: int
    function: int
    sign: int
    spans: Int64Array


class ReevaluationSource(NamedTuple):
    """The group lists, the lists of equal values, the amounts, and the rows that have alerted (uint8 by row)."""

    order: Order
    equal_slots: Int32Array
    equal: Order
    amounts: Amounts
    alerted: Uint8Array


class _Scratch(NamedTuple):
    """A window while it is moved along.

    :ivar state: int64, _WIDTH zeros
    :ivar queue: int64: rows that could hold the extreme value, best first; as many as there are rows to look at
    """

    state: Int64Array
    queue: Int64Array


@dataclass(frozen=True, slots=True)
class Reevaluations:
    """Results of n transactions into whose windows a late one has come.

    :ivar rows: n: by event time
    :ivar counts: n: how many transactions of each one's window contribute
    :ivar low: with `high`, the sum, extreme value or number of values (scaled by 10⁶)
    """

    rows: Int64Array
    counts: Int64Array
    low: Uint64Array
    high: Int64Array


def reevaluate(row: RowNumber, task: ReevaluationTask, source: ReevaluationSource) -> Reevaluations:
    """Evaluate again the transactions into whose windows the late one in that row has come.

    Rows with a higher number come later in the order and are passed over.
    """
    n = _count_candidates(row, task, source)
    candidates = np.empty(n, np.int64)
    _find_candidates(row, task, source, candidates)
    totals = Totals(np.zeros(n, np.int64), np.zeros(n, np.uint64), np.zeros(n, np.int64))
    if n:
        tail = _oldest(row, candidates, task, source)
        queue = np.empty(_length(tail, candidates[-1], source.order), np.int64)
        scratch = _Scratch(np.zeros(_WIDTH, np.int64), queue)
        _evaluate(row, candidates, task, source, tail, scratch, totals)
    return Reevaluations(candidates, *totals)


@kernel()
def _was_judged(row: RowNumber, time: Millis, task: ReevaluationTask) -> bool:
    sequence = row + task.offset
    for k in range(len(task.spans)):
        span = task.spans[k]
        if span[0] <= sequence < span[1] and span[2] <= time < span[3]:
            return True
    return False


@kernel()
def _is_candidate(
    row: RowNumber, late: RowNumber, task: ReevaluationTask, source: ReevaluationSource
) -> bool:
    """Whether it was accepted before, judged, and gave no alert."""
    if row >= late or source.alerted[row]:
        return False
    result: bool = _was_judged(row, source.order.time[row], task)
    return result


@kernel()
def _count_candidates(late: RowNumber, task: ReevaluationTask, source: ReevaluationSource) -> int:
    """Number of rows that are to be evaluated again."""
    order, count = source.order, 0
    end = order.time[late] + task.window
    newer = order.following[late]
    while newer >= 0 and order.time[newer] <= end:
        count += _is_candidate(newer, late, task, source)
        newer = order.following[newer]
    return count


@kernel()
def _find_candidates(
    late: RowNumber, task: ReevaluationTask, source: ReevaluationSource, out: Int64Array
) -> None:
    """Those rows, by event time."""
    order = source.order
    newer, count = order.following[late], 0
    while count < len(out):
        if _is_candidate(newer, late, task, source):
            out[count] = newer
            count += 1
        newer = order.following[newer]


@kernel()
def _first(late: RowNumber, bound: Millis, base: RowNumber, order: Order) -> RowNumber:
    """The oldest row of the list at or after ``bound``, ``late`` being one."""
    first, older = int64(late), order.previous[late]
    while older >= base and order.time[older] >= bound:
        first = int64(older)
        older = order.previous[older]
    return first


# A window's state while it is moved along: how many contribute, their sum, how many values they have;
# and where the queue begins and ends.
_COUNT, _LOW, _HIGH, _VALUES, _FRONT, _BACK, _WIDTH = 0, 1, 2, 3, 4, 5, 6


@kernel()
def _add_newest(
    row: RowNumber,
    tail: RowNumber,
    late: RowNumber,
    task: ReevaluationTask,
    source: ReevaluationSource,
    scratch: _Scratch,
) -> None:
    """Extend the window by the row after the newest one; it begins with ``tail``."""
    amounts, state, queue = source.amounts, scratch.state, scratch.queue
    if task.function == DISTINCT:
        if source.equal_slots[row] >= 0:
            older = entered_before(late, row, source.equal, task.base)
            state[_COUNT] += 1
            state[_VALUES] += older < 0 or follows(tail, older, source.order.time)
        return
    low, high = add(np.uint64(state[_LOW]), state[_HIGH], amounts.low[row], amounts.high[row])
    state[_COUNT], state[_LOW], state[_HIGH] = state[_COUNT] + 1, np.int64(low), high
    if task.function == EXTREME:
        while state[_BACK] > state[_FRONT] and _no_better(queue[state[_BACK] - 1], row, task.sign, amounts):
            state[_BACK] -= 1
        queue[state[_BACK]] = row
        state[_BACK] += 1


@kernel()
def _remove_oldest(
    row: RowNumber,
    end: Millis,
    late: RowNumber,
    task: ReevaluationTask,
    source: ReevaluationSource,
    scratch: _Scratch,
) -> None:
    """Take the oldest row out of the window, which ends at ``end``."""
    amounts, state, queue = source.amounts, scratch.state, scratch.queue
    if task.function == DISTINCT:
        if source.equal_slots[row] >= 0:
            newer = entered_after(late, row, end, source.equal)
            state[_COUNT] -= 1
            state[_VALUES] -= newer < 0 or source.order.time[newer] > end
        return
    low, high = subtract(np.uint64(state[_LOW]), state[_HIGH], amounts.low[row], amounts.high[row])
    state[_COUNT], state[_LOW], state[_HIGH] = state[_COUNT] - 1, np.int64(low), high
    if task.function == EXTREME and queue[state[_FRONT]] == row:
        state[_FRONT] += 1


@kernel()
def _length(row: RowNumber, last: RowNumber, order: Order) -> int:
    """Number of rows in the list from ``row`` to the time of ``last``."""
    size = 0
    while row >= 0 and order.time[row] <= order.time[last]:
        size += 1
        row = int64(order.following[row])
    return size


@kernel()
def _oldest(
    late: RowNumber, candidates: Int64Array, task: ReevaluationTask, source: ReevaluationSource
) -> RowNumber:
    """The row with which the first window begins that is looked at."""
    bound = max(source.order.time[candidates[0]] - task.window, task.floor)
    first: RowNumber = _first(late, bound, task.base, source.order)
    return first


@kernel()
def _evaluate(
    late: RowNumber,
    candidates: Int64Array,
    task: ReevaluationTask,
    source: ReevaluationSource,
    tail: RowNumber,
    scratch: _Scratch,
    totals: Totals,
) -> None:
    """Move a window over all candidates; ``tail`` is the first row that is looked at."""
    order, amounts, time, state = source.order, source.amounts, source.order.time, scratch.state
    head = tail
    for i in range(len(candidates)):
        row = candidates[i]
        # of equal times those accepted after it are in its window now
        while head >= 0 and time[head] <= time[row]:
            if head <= late:
                _add_newest(head, tail, late, task, source, scratch)
            head = int64(order.following[head])
        while time[tail] < max(time[row] - task.window, task.floor):
            if tail <= late:
                _remove_oldest(tail, time[row], late, task, source, scratch)
            tail = int64(order.following[tail])
        totals.counts[i], totals.low[i], totals.high[i] = state[_COUNT], np.uint64(state[_LOW]), state[_HIGH]
        if task.function == DISTINCT:
            totals.low[i], totals.high[i] = np.uint64(state[_VALUES] * SCALE), 0
        elif task.function == EXTREME:
            best = scratch.queue[state[_FRONT]]
            totals.low[i], totals.high[i] = amounts.low[best], amounts.high[best]


@kernel()
def _no_better(row: RowNumber, other: RowNumber, sign: int, amounts: Amounts) -> bool:
    order = compare(amounts.low[row], amounts.high[row], amounts.low[other], amounts.high[other])
    result: bool = sign * order >= 0
    return result
