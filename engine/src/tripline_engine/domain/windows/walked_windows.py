"""Extremes and different values of a window that ends before the transaction at hand, or without it.

        |<------- length ------->|<- offset ->|
    ----x1----x2-----------------|------x3----e--> event time        x1, x2 are in; x3 and e are out

Neither can be taken out of a longer window again as a sum can. So each window is walked through, newest row first: the
cost is what lies between its beginning and the transaction.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tripline_engine.domain.groups.group_lists import Order
from tripline_engine.domain.memory.array_types import (
    NO_ROW,
    Int32Array,
    Int64Array,
    Millis,
    RowNumber,
    int64,
)
from tripline_engine.domain.memory.int128 import compare
from tripline_engine.domain.memory.kernel import kernel
from tripline_engine.domain.transactions.columns import Amounts


class Listed(NamedTuple):
    """What is walked through.

    :ivar slots: int32 by row, the groups; negative for a row without one
    :ivar members: int32 by row, negative where it contributes nothing; of different values the group and value together
    """

    slots: Int32Array
    order: Order
    members: Int32Array


class Walked(NamedTuple):
    """How far windows reach.

    :ivar reach: ms back to their beginning
    :ivar offset: ms back to their end, excluded; 0 for one that ends with the transaction, which is not in it
    :ivar floor: older event times (ms) are not visible
    :ivar base: the oldest retained row
    """

    reach: Millis
    offset: Millis
    floor: Millis
    base: RowNumber


@kernel()
def walk_extremes(
    start: RowNumber,
    listed: Listed,
    amounts: Amounts,
    sign: int,
    walked: Walked,
    counts: Int64Array,
    rows: Int64Array,
) -> None:
    """The number of contributing rows of each window, and the row with the least (sign 1) or greatest value."""
    slots, order, members = listed
    time, low, high = order.time, amounts.low, amounts.high
    for i in range(len(counts)):
        row, count, best = int64(start + i), 0, int64(NO_ROW)
        older = int64(order.previous[row]) if slots[row] >= 0 else int64(NO_ROW)
        bound, end = max(time[row] - walked.reach, walked.floor), time[row] - walked.offset
        while older >= walked.base and time[older] >= bound:
            if older < row and members[older] >= 0 and (walked.offset == 0 or time[older] < end):
                count += 1
                # of equal values the newer one
                if best < 0 or sign * compare(low[older], high[older], low[best], high[best]) < 0:
                    best = older
            older = int64(order.previous[older])
        counts[i], rows[i] = count, best


@kernel()
def walk_different(
    start: RowNumber,
    listed: Listed,
    walked: Walked,
    marks: Int64Array,
    counts: Int64Array,
    different: Int64Array,
) -> None:
    """The number of contributing rows of each window, and that of their different values.

    :param marks: int64 by group and value, of zeros
    """
    slots, order, members = listed
    time = order.time
    for i in range(len(counts)):
        row, count, values = int64(start + i), 0, 0
        older = int64(order.previous[row]) if slots[row] >= 0 else int64(NO_ROW)
        bound, end = max(time[row] - walked.reach, walked.floor), time[row] - walked.offset
        while older >= walked.base and time[older] >= bound:
            if older < row and members[older] >= 0 and (walked.offset == 0 or time[older] < end):
                count += 1
                if marks[members[older]] != i + 1:
                    marks[members[older]] = i + 1
                    values += 1
            older = int64(order.previous[older])
        counts[i], different[i] = count, values


def no_marks(slots: int) -> Int64Array:
    """Marks for so many groups and values."""
    return np.zeros(slots, np.int64)
