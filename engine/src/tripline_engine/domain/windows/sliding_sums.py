"""Counts and sums where transactions come in the order of event times: what leaves a window is found row by row.

    rows       a1  b1  a2  c1  b2  a3  c2 | a4  b3  …          of groups a, b and c; those of a micro-batch begin at |
    window k           ^ reached               ^ row           before `reached` all have left their groups' windows

`sum_kernels` follows the list of each group from its tail, a place in memory for each step. In order all that leaves
any group's window does so one row after the other, as it came. The states are laid out alike; but here each is of the
window that ends now, and there of the one that ended with the group's newest row. So no late row may follow: what it
would find in its own window has left the state.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tripline_engine.domain.groups.group_lists import LinkResult
from tripline_engine.domain.groups.large_groups import NO_GROUP
from tripline_engine.domain.memory.array_types import Int32Array, Int64Array, Offset, RowNumber, int64
from tripline_engine.domain.memory.int128 import add, subtract
from tripline_engine.domain.memory.kernel import kernel
from tripline_engine.domain.transactions.columns import Totals
from tripline_engine.domain.windows.kernel_views import ListView, WindowBounds
from tripline_engine.domain.windows.sum_kernels import COUNT, HIGH, LOW, TAIL, WIDTH, walk_back


class Slides(NamedTuple):
    """What a window slides over.

    :ivar slots: int32 by row, its group
    :ivar by_slot: int32, the group's number among the states, negative where it has none
    :ivar reached: int64 by window length: all rows before that one have left their groups' windows
    :ivar summed: whether anybody reads the sums
    """

    slots: Int32Array
    by_slot: Int32Array
    reached: Int64Array
    summed: bool


@kernel(inline="always")
def _leave(state: Int64Array, offset: Offset, row: RowNumber, view: ListView, summed: bool) -> None:
    """Count out the tail of a window, ``row``."""
    if not view.members.chosen or view.members.slots[row] >= 0:
        state[offset + COUNT] -= 1
        if summed:
            sum_low, sum_high = np.uint64(state[offset + LOW]), state[offset + HIGH]
            low, high = subtract(sum_low, sum_high, view.amounts.low[row], view.amounts.high[row])
            state[offset + LOW], state[offset + HIGH] = np.int64(low), high
    state[offset + TAIL] = view.order.following[row]


@kernel()
def _slide(
    k: int,
    start: RowNumber,
    linked: LinkResult,
    bounds: WindowBounds,
    view: ListView,
    slides: Slides,
    state: Int64Array,
    out: Totals,
) -> None:
    """The rows' own windows of one length, for those of large groups."""
    width, length, floor = len(bounds.lengths), bounds.lengths[k], bounds.floor
    time, low, high = view.order.time, view.amounts.low, view.amounts.high
    chosen, contributing = view.members.chosen, view.members.slots
    numbers, grown = linked.groups.numbers, linked.groups.grown
    slots, by_slot, summed = slides.slots, slides.by_slot, slides.summed
    reached = max(slides.reached[k], int64(bounds.base))
    for j in range(len(grown)):
        # it was built for its newest row, which may be older than what has been reached
        offset = (int64(grown[j]) * width + k) * WIDTH
        while 0 <= state[offset + TAIL] < reached:
            _leave(state, offset, state[offset + TAIL], view, summed)
    for i in range(len(numbers)):
        row, number = start + i, int64(numbers[i])
        offset = (number * width + k) * WIDTH
        if number >= 0:
            if not chosen or contributing[row] >= 0:
                state[offset + COUNT] += 1
                if summed:
                    sum_low, sum_high = np.uint64(state[offset + LOW]), state[offset + HIGH]
                    sum_low, sum_high = add(sum_low, sum_high, low[row], high[row])
                    state[offset + LOW], state[offset + HIGH] = np.int64(sum_low), sum_high
            if state[offset + TAIL] < 0:
                state[offset + TAIL] = row
        bound = max(time[row] - length, floor)
        while reached <= row and time[reached] < bound:
            slot = slots[reached]
            leaving = int64(by_slot[slot]) if slot >= 0 else int64(-1)
            if leaving >= 0:
                other = (leaving * width + k) * WIDTH
                # none is counted out twice where rows are passed again, as after a change of windows
                if state[other + TAIL] == reached:
                    _leave(state, other, reached, view, summed)
            reached += 1
        if number >= 0:
            out.counts[k, i] = state[offset + COUNT]
            if summed:
                out.low[k, i], out.high[k, i] = np.uint64(state[offset + LOW]), state[offset + HIGH]
    slides.reached[k] = reached


@kernel()
def slide_sums(
    start: RowNumber,
    linked: LinkResult,
    bounds: WindowBounds,
    view: ListView,
    slides: Slides,
    state: Int64Array,
    out: Totals,
) -> None:
    """`evaluate_sums` where rows come in order, these and all that follow."""
    numbers = linked.groups.numbers
    for i in range(len(numbers)):
        if numbers[i] == NO_GROUP:
            for k in range(len(bounds.lengths)):
                out.counts[k, i], out.low[k, i], out.high[k, i] = 0, np.uint64(0), 0
        elif numbers[i] < 0:
            walk_back(start + i, i, bounds, view, slides.summed, out)
    for k in range(len(bounds.lengths)):
        _slide(k, start, linked, bounds, view, slides, state, out)
