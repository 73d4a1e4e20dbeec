"""The kernels of `ResetWindow`: enter a row, decide whether it alerts, and end its group's list if it does."""

from __future__ import annotations

from typing import NamedTuple

from tripline_engine.domain.firing.cooldown import CooldownTable, try_alert
from tripline_engine.domain.firing.firing_states import RESET, WIDTH, crosses
from tripline_engine.domain.groups.group_lists import link_row
from tripline_engine.domain.memory.array_types import (
    BoolArray,
    Int32Array,
    Int64Array,
    RowNumber,
    Slot,
    Uint64Array,
    int64,
)
from tripline_engine.domain.memory.kernel import kernel
from tripline_engine.domain.rules.threshold import DISTINCT, EXTREME, ThresholdWords, satisfies
from tripline_engine.domain.transactions.columns import Totals
from tripline_engine.domain.windows.distinct_kernels import WIDTH as VALUES_WIDTH
from tripline_engine.domain.windows.distinct_kernels import distinct_row, store_values
from tripline_engine.domain.windows.kernel_views import ListView, WindowBounds
from tripline_engine.domain.windows.monotonic_queue import Chain, extreme_row
from tripline_engine.domain.windows.sum_kernels import TAIL, store_totals, sum_row
from tripline_engine.domain.windows.sum_kernels import WIDTH as SUM_WIDTH
from tripline_engine.domain.windows.value_lists import Values, ValueView


class ResetTask(NamedTuple):
    """Which rows to evaluate, and how.

    :ivar start: the first row
    :ivar offset: row 0's sequence number
    :ivar bounds: of the version's one window
    """

    start: RowNumber
    offset: int
    bounds: WindowBounds
    function: int
    crossing: bool
    limit: ThresholdWords


class ResetState(NamedTuple):
    """State that is kept from row to row.

    :ivar slots: the groups by row; ``last`` is the newest row by slot
    :ivar value_lists: the lists again, with those of equal values; ``last_values`` is their newest row by slot
    :ivar key_low: with ``key_high``, the groups' identities by slot
    """

    slots: Int32Array
    last: Int32Array
    lists: ListView
    sums: Int64Array
    chain: Chain
    fronts: Int32Array
    value_lists: ValueView
    last_values: Int32Array
    counts: Int64Array
    firing: Int64Array
    key_low: Uint64Array
    key_high: Uint64Array
    cooldown: CooldownTable


class RowWindow(NamedTuple):
    """Scratch for a row's own window: its totals, its number of values, the row with its extreme value."""

    sums: Int64Array
    values: Int64Array
    best: Int64Array


@kernel()
def _link_value(row: RowNumber, values: Values, last: Int32Array, base: RowNumber) -> None:
    """Put a row in its place among those of its value; those before ``base`` lie behind a reset."""
    if values.slots[row] >= 0:
        link_row(row, values.slots[row], values.order, last, base)
    else:
        values.order.previous[row] = -1
        values.order.following[row] = -1


@kernel()
def _since_reset(slot: Slot, base: RowNumber, offset: int, firing: Int64Array) -> RowNumber:
    """The first row of the group that its last reset has not left behind."""
    first: RowNumber = max(base, firing[int64(slot) * WIDTH + RESET] + 1 - offset)
    return first


@kernel()
def _enter(
    row: RowNumber, slot: Slot, i: int, task: ResetTask, state: ResetState, window: RowWindow, totals: Totals
) -> None:
    """Enter one row, the i-th; leave its window's totals, and the row with the extreme value in ``window``."""
    bounds, order = task.bounds, state.lists.order
    newest = link_row(row, slot, order, state.last, bounds.base)
    if task.function == DISTINCT:
        base = _since_reset(slot, bounds.base, task.offset, state.firing)
        _link_value(row, state.value_lists.values, state.last_values, base)
        offset = int64(slot) * VALUES_WIDTH
        distinct_row(row, offset, newest, bounds, state.value_lists, state.counts, window.values)
        store_values(window.values[0], i, totals)
        return
    offset = int64(slot) * SUM_WIDTH
    sum_row(row, offset, newest, bounds.lengths[0], bounds, state.lists, state.sums, window.sums)
    store_totals(window.sums, i, totals)
    if task.function == EXTREME:
        front = state.fronts[slot : slot + 1]
        row = int64(row)
        extreme_row(row, newest, bounds, order, state.chain, front, window.best)


@kernel()
def _satisfies(i: int, task: ResetTask, state: ResetState, window: RowWindow, totals: Totals) -> bool:
    count, low, high = totals.counts[i], totals.low[i], totals.high[i]
    if task.function == EXTREME:
        amounts, best = state.lists.amounts, window.best[0]
        low, high = amounts.low[best], amounts.high[best]
    result: bool = satisfies(task.function, count, low, high, task.limit)
    return result


@kernel()
def _fires(row: RowNumber, slot: Slot, satisfied: bool, task: ResetTask, state: ResetState) -> bool:
    time = state.lists.order.time[row]
    if task.crossing:
        satisfied = crosses(state.firing, slot, time, task.bounds.lengths[0], satisfied)
    return satisfied and try_alert(state.key_low[slot], state.key_high[slot], time, state.cooldown)


@kernel()
def _reset(row: RowNumber, slot: Slot, task: ResetTask, state: ResetState) -> None:
    """End the group's list: what comes now begins another."""
    state.firing[int64(slot) * WIDTH + RESET] = row + task.offset
    state.last[slot] = -1
    if task.function == EXTREME:
        state.fronts[slot] = -1
    if task.function == DISTINCT:
        offset = int64(slot) * VALUES_WIDTH
        state.counts[offset : offset + VALUES_WIDTH] = 0
        state.counts[offset + TAIL] = -1
    else:
        offset = int64(slot) * SUM_WIDTH
        state.sums[offset : offset + SUM_WIDTH] = 0
        state.sums[offset + TAIL] = -1


@kernel()
def evaluate_resets(
    task: ResetTask,
    state: ResetState,
    window: RowWindow,
    counted: BoolArray,
    totals: Totals,
    extremes: Int64Array,
    fired: BoolArray,
) -> None:
    """Enter the task's rows in their order, and tell what each one's own window holds and where an alert is due.

    :param counted: bool, n: the evaluations that change the firing state
    """
    order = state.lists.order
    for i in range(len(counted)):
        row = task.start + i
        slot = state.slots[row]
        fired[i], extremes[i], totals.counts[i] = False, -1, 0
        if slot < 0:
            order.previous[row] = -1
            order.following[row] = -1
            continue
        _enter(row, slot, i, task, state, window, totals)
        extremes[i] = window.best[0]
        if counted[i]:
            satisfied = _satisfies(i, task, state, window, totals)
            fired[i] = _fires(row, slot, satisfied, task, state)
            if fired[i]:
                _reset(row, slot, task, state)


@kernel()
def relink(end: RowNumber, task: ResetTask, state: ResetState) -> None:
    """Link the retained rows before ``end`` that no reset has left behind."""
    order, base = state.lists.order, task.bounds.base
    for row in range(base, end):
        slot = state.slots[row]
        order.previous[row] = -1
        order.following[row] = -1
        if slot < 0:
            continue
        since = _since_reset(slot, base, task.offset, state.firing)
        if row < since:
            continue
        link_row(row, slot, order, state.last, base)
        if task.function == DISTINCT:
            _link_value(row, state.value_lists.values, state.last_values, since)
