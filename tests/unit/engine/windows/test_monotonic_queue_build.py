"""Queues built over all rows at once are those that are built group by group."""

from __future__ import annotations

import numpy as np
import pytest

from tripline_engine.domain.groups.group_lists import Members, Order, link_row
from tripline_engine.domain.windows.kernel_views import WindowBounds
from tripline_engine.domain.windows.monotonic_queue import Chain
from tripline_engine.domain.windows.monotonic_queue_build import build_extremes, enter_all

ROWS, BASE = 600, 150
NUMBERS = (4, -1, 0, 5, 2, -1, 3, 1, 6)
"""Of each group by its slot; -1: a small one, which has no queue. The last group has no rows."""
LARGE = max(NUMBERS) + 1


@pytest.mark.parametrize("late", [0.0, 0.02, 0.5])
@pytest.mark.parametrize("filtered", [False, True])
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("linked_from", [BASE, 0])
def test_all_at_once_is_as_group_by_group(late: float, filtered: bool, sign: int, linked_from: int) -> None:
    """Rows linked before ``BASE`` have been dropped since: late ones may stand behind them, out of reach."""
    rng = np.random.default_rng(round(late * 100))
    slots = rng.integers(-1, len(NUMBERS) - 1, ROWS).astype(np.int32)
    # some of equal event times, which stand in the order of acceptance
    time = np.arange(ROWS, dtype=np.int64) // 9 * 9_000
    time -= np.where(rng.random(ROWS) < late, rng.integers(0, 90_000, ROWS), 0)
    # one group always in order, whatever the others are
    time[slots == 0] = np.flatnonzero(slots == 0) * 1_000
    # but for one of its rows, which stands behind what will have been dropped and is better than all others
    hidden = int(np.flatnonzero(slots[BASE:] == 0)[2]) + BASE
    if linked_from < BASE:
        time[hidden] = 0
    order = Order(time, np.full(ROWS, -1, np.int32), np.full(ROWS, -1, np.int32))
    last = np.full(len(NUMBERS), -1, np.int32)
    for row in range(linked_from, ROWS):
        if slots[row] >= 0:
            link_row(row, slots[row], order, last, linked_from)
    numbers = np.array(NUMBERS, np.int32)
    disordered = {int(slots[row]) for row in range(BASE, ROWS) if order.previous[row] > row}
    assert disordered <= set(range(1, len(NUMBERS)))
    assert bool(disordered) == (late > 0)
    assert (order.following[hidden] in range(BASE)) == (linked_from < BASE)
    contributing = np.where(rng.random(ROWS) < 0.3, -1, slots).astype(np.int32)
    low, lengths = rng.integers(1, 30, ROWS).astype(np.uint64), np.array([20_000, 120_000], np.int64)
    low[hidden], contributing[hidden] = 0 if sign == 1 else 30, slots[hidden]

    def chain() -> Chain:
        better, worse = np.full(ROWS, -1, np.int32), np.full(ROWS, -1, np.int32)
        return Chain(better, worse, low, np.zeros(ROWS, np.int64), sign, Members(filtered, contributing))

    (one, fronts), (other, others) = [(chain(), np.full(LARGE * len(lengths), -1, np.int32)) for _ in "12"]
    bounds = WindowBounds(lengths, 0, BASE)
    enter_all(bounds, slots[BASE:], numbers, last, order, one, fronts)
    large = numbers >= 0
    build_extremes(bounds, ROWS, numbers[large], last[large], order, other, others)
    assert fronts.tolist() == others.tolist()
    assert (fronts >= 0).sum() >= LARGE - 1
    assert one.better.tolist() == other.better.tolist()
    assert one.worse.tolist() == other.worse.tolist()
