"""Within a group's list one for each value of a field: the transactions of equal values."""

from __future__ import annotations

from typing import NamedTuple

from tripline_engine.domain.groups.group_lists import Order
from tripline_engine.domain.memory.array_types import Int32Array, Millis, RowNumber, Uint8Array, int32
from tripline_engine.domain.memory.kernel import kernel


class Values(NamedTuple):
    """The lists of equal values: by row the slot of (group, value), negative for none, and the neighbours there.

    ``last`` is uint8 by row: 1 for a row that no entered row of its value follows.
    """

    slots: Int32Array
    order: Order
    last: Uint8Array


class ValueView(NamedTuple):
    """The lists of a population, and within them those of equal values."""

    order: Order
    values: Values


@kernel()
def entered_before(newest: RowNumber, row: RowNumber, order: Order, base: RowNumber) -> RowNumber:
    """The row before ``row`` in its list, of those up to number ``newest``; -1 if there is none."""
    older = order.previous[row]
    while older >= base and older > newest:
        older = order.previous[older]
    return older if older >= base else int32(-1)


@kernel()
def entered_after(newest: RowNumber, row: RowNumber, newest_time: Millis, order: Order) -> RowNumber:
    """The row after ``row`` in its list, of those up to number ``newest``; -1 if there is none.

    What has been entered is no newer than ``newest_time``; the rest of a micro-batch need not be looked at.
    """
    newer = order.following[row]
    while newer >= 0 and newer > newest and order.time[newer] <= newest_time:
        newer = order.following[newer]
    return newer if newer <= newest else int32(-1)
