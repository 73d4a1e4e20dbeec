"""Sums built over rows that are in the lists already."""

from __future__ import annotations

from typing import Final

import numpy as np

from tripline_engine.domain.groups.group_lists import follows
from tripline_engine.domain.memory.array_types import Int32Array, Int64Array, RowNumber, int64
from tripline_engine.domain.memory.kernel import kernel
from tripline_engine.domain.windows.kernel_views import ListView, WindowBounds
from tripline_engine.domain.windows.sum_kernels import TAIL, WIDTH, put

NEVER: Final = np.iinfo(np.int64).max


@kernel()
def build_sums(
    bounds: WindowBounds,
    end: RowNumber,
    numbers: Int32Array,
    newest: Int32Array,
    view: ListView,
    state: Int64Array,
) -> None:
    """Count what is in groups' newest windows, without rows from ``end`` on; their states are empty.

    :param numbers: the groups' numbers among the states
    :param newest: each one's newest row before ``end``
    """
    order, lengths, floor, base = view.order, bounds.lengths, bounds.floor, bounds.base
    for j in range(len(numbers)):
        offset = int64(numbers[j]) * len(lengths) * WIDTH
        for k in range(len(lengths)):
            row = newest[j]
            bound = floor if row < base else max(order.time[row] - lengths[k], floor)
            while row >= base and order.time[row] >= bound:
                if row < end:
                    put(state, offset, row, view.members, view.amounts, 1)
                    state[offset + TAIL] = row
                row = order.previous[row]
            offset += WIDTH


@kernel(nogil=True)
def sum_all(
    bounds: WindowBounds,
    chosen: Int64Array,
    end: RowNumber,
    slots: Int32Array,
    numbers: Int32Array,
    newest: Int64Array,
    view: ListView,
    state: Int64Array,
) -> None:
    """`build_sums` of all groups with a number (by slot), for the ``chosen`` lengths (by place), row by row.

    In the order of acceptance one row lies beside the other. A row that is in no list is older than every window: its
    list ended when a newer one went, which had been accepted before it.

    :param newest: int64, by slot, the newest event time (ms), NEVER where a group has no number or no row
    """
    time, lengths, floor = view.order.time, bounds.lengths, bounds.floor
    for k in chosen:
        for row in range(bounds.base, end):
            slot = slots[row]
            if slot < 0 or newest[slot] == NEVER or time[row] < max(newest[slot] - lengths[k], floor):
                continue
            offset = (int64(numbers[slot]) * len(lengths) + k) * WIDTH
            put(state, offset, row, view.members, view.amounts, 1)
            if state[offset + TAIL] < 0 or follows(state[offset + TAIL], row, time):
                state[offset + TAIL] = row
