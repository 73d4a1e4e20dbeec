"""Counts of different values built over rows that are in the lists already."""

from __future__ import annotations

from tripline_engine.domain.memory.array_types import Int32Array, Int64Array, RowNumber, int64
from tripline_engine.domain.memory.kernel import kernel
from tripline_engine.domain.windows.distinct_kernels import TAIL, WIDTH, count_in
from tripline_engine.domain.windows.kernel_views import WindowBounds
from tripline_engine.domain.windows.value_lists import ValueView, entered_after


@kernel()
def mark_last(newest: Int32Array, base: RowNumber, end: RowNumber, view: ValueView) -> None:
    """Mark the rows before ``end`` in groups' lists which are the last of their value; ``newest``: of each list."""
    order, values = view.order, view.values
    for j in range(len(newest)):
        row = int64(newest[j])
        while row >= base:
            if row < end:
                alone = entered_after(end - 1, row, order.time[newest[j]], values.order) < 0
                values.last[row] = values.slots[row] >= 0 and alone
            row = int64(order.previous[row])


@kernel()
def build_values(
    bounds: WindowBounds,
    chosen: Int64Array,
    end: RowNumber,
    numbers: Int32Array,
    newest: Int32Array,
    view: ValueView,
    state: Int64Array,
) -> None:
    """Count what is in groups' newest windows, the ``chosen`` ones of all (by place), without rows from ``end`` on.

    Their states are empty.

    :param numbers: the groups' numbers among the states
    :param newest: each one's newest row before ``end``
    """
    order, lengths, floor, base = view.order, bounds.lengths, bounds.floor, bounds.base
    for j in range(len(numbers)):
        if newest[j] < base:
            continue
        for k in chosen:
            offset, row = (int64(numbers[j]) * len(lengths) + k) * WIDTH, newest[j]
            bound = max(order.time[row] - lengths[k], floor)
            while row >= base and order.time[row] >= bound:
                if row < end:
                    count_in(state, offset, row, view.values)
                    state[offset + TAIL] = row
                row = order.previous[row]
