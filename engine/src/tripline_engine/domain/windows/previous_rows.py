"""The row before each row in "the last w before this transaction": of its group's members the newest other one.

A member has the row before it in its list at hand. A row that is judged and is no member is in no list of members: its
group's newest member goes along with the rows, in the order of acceptance, and only a late row goes back from there.
Rows of one micro-batch are linked before they are judged; so a walk passes over rows with a higher number.

    members        m1      m2              m3
    event time  ---|-------|-------r-------|---->    the row before r is m2, that before m3 is m2 too
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from tripline_engine.domain.groups.group_lists import GroupLists, Order, follows
from tripline_engine.domain.memory.array_types import (
    NO_ROW,
    Int32Array,
    Int64Array,
    RowNumber,
    Slot,
    int64,
)
from tripline_engine.domain.memory.kernel import kernel
from tripline_engine.domain.windows.kernel_views import WindowBounds

_UNREAD: Final = -2


class _MemberLists(NamedTuple):
    """The lists of members, for kernels: by row the slots, by slot the newest row, and the order."""

    slots: Int32Array
    last: Int32Array
    order: Order


def previous_rows(
    population: GroupLists, members: GroupLists, start: int, end: int, bounds: WindowBounds
) -> Int64Array:
    """The rows before those from ``start`` to ``end``, which both lists hold; NO_ROW where there is none.

    :param bounds: of the only window
    """
    rows = np.empty(end - start, np.int64)
    # where all are members nobody asks for the newest one
    newest = np.full(0 if members is population else len(members.last), _UNREAD, np.int32)
    lists = _MemberLists(members.slots, members.last, members.order)
    _find(start, population.slots[start:end], bounds, lists, newest, rows)
    return rows


@kernel()
def _find(
    start: RowNumber,
    slots: Int32Array,
    bounds: WindowBounds,
    members: _MemberLists,
    newest: Int32Array,
    out: Int64Array,
) -> None:
    """`previous_rows` into ``out``; ``newest``: by slot, for the newest member of what has come so far."""
    time, previous, base = members.order.time, members.order.previous, bounds.base
    for i in range(len(out)):
        row, slot = int64(start + i), slots[i]
        out[i] = NO_ROW
        if slot < 0:
            continue
        if len(newest) and newest[slot] == _UNREAD:
            newest[slot] = _last_before(start, slot, members)
        if members.slots[row] >= 0:
            older = int64(previous[row])
            if len(newest) and (newest[slot] < base or follows(row, newest[slot], time)):
                newest[slot] = row
        else:
            older = int64(newest[slot])
            while older >= base and time[older] > time[row]:
                older = int64(previous[older])
        while older > row:
            older = int64(previous[older])
        if older >= base and time[older] >= max(time[row] - bounds.lengths[0], bounds.floor):
            out[i] = older


@kernel()
def _last_before(start: RowNumber, slot: Slot, members: _MemberLists) -> RowNumber:
    """The newest member of the group among the rows before ``start``."""
    row = int64(members.last[slot])
    while row >= start:
        row = int64(members.order.previous[row])
    return row
