"""Windows that start anew at each alert of their rule (`resetOnAlert`).

Such a version cannot share its windows: which transactions count depends on its own alerts. So it has lists,
totals and a queue of its own, over the groups of its population. At an alert the group's list ends and another
begins; what came before is never reached again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from tripline_contracts import decimals
from tripline_contracts.rule_definition import RuleDefinition
from tripline_engine.domain.arena import Arena
from tripline_engine.domain.extremum import Chain, build_extremes, drop_extremes, extreme_row
from tripline_engine.domain.firing import RESET, WIDTH, FiringStates, crosses
from tripline_engine.domain.history import History
from tripline_engine.domain.limit import Limit, LimitParts, hold_average, hold_count, hold_sum
from tripline_engine.domain.links import Links, Lists, Order, link_row
from tripline_engine.domain.rows import Amounts, Totals
from tripline_engine.domain.sum_window import TAIL, build_sums, drop_sums, store_totals, sum_row
from tripline_engine.domain.sum_window import WIDTH as SUM_WIDTH

_FIRST_CAPACITY = 1024
_SUM, _AVG, _COUNT, _EXTREME = 0, 1, 2, 3
_FUNCTIONS = {"SUM": _SUM, "AVG": _AVG, "COUNT": _COUNT, "MIN": _EXTREME, "MAX": _EXTREME}


@dataclass(frozen=True, slots=True)
class ResetReading:
    """What n transactions came to.

    :ivar totals: count and sum of each one's own window
    :ivar extremes: int64, n: the row with the extreme value, -1 if there is none
    :ivar fired: bool, n: where an alert is due
    """

    totals: Totals
    extremes: npt.NDArray[np.int64]
    fired: npt.NDArray[np.bool_]


@njit(cache=True)
def _holds(function: int, own: Any, best: Any, amounts: Any, limit: Any) -> bool:
    count, low, high = own[1], np.uint64(own[2]), own[3]
    if function == _SUM:
        result: bool = hold_sum(count, low, high, limit)
    elif function == _AVG:
        result = hold_average(count, low, high, limit)
    elif function == _COUNT:
        result = hold_count(count, limit)
    else:
        result = hold_sum(1, amounts.low[best], amounts.high[best], limit)
    return result


class _Task(NamedTuple):
    """What to evaluate, and how."""

    start: int
    base: int
    offset: int
    floor: int
    window: int
    function: int
    crossing: bool
    limit: LimitParts


class _State(NamedTuple):
    """What is kept from row to row."""

    slots: Any
    order: Order
    last: Any
    amounts: Amounts
    sums: Any
    chain: Chain
    fronts: Any
    firing: Any


@njit(cache=True)
def _enter(row: Any, slot: Any, task: Any, state: Any, own: Any, best: Any) -> None:
    """Enter one row; leave its window's totals in ``own`` and the row with the extreme value in ``best``."""
    newest = link_row(row, slot, state.order, state.last, task.base)
    window, floor, base, order = task.window, task.floor, task.base, state.order
    sum_row(row, slot, newest, window, floor, base, order, state.amounts, state.sums, own)
    if task.function == _EXTREME:
        windows, front = np.full(1, window, np.int64), state.fronts[slot : slot + 1]
        extreme_row(np.int64(row), newest, windows, floor, base, order, state.chain, front, best)


@njit(cache=True)
def _reset(row: Any, slot: Any, task: Any, state: Any) -> None:
    """End the group's list: what comes now begins another."""
    state.firing[np.int64(slot) * WIDTH + RESET] = row + task.offset
    state.last[slot], state.fronts[slot] = -1, -1
    at = np.int64(slot) * SUM_WIDTH
    state.sums[at : at + SUM_WIDTH] = 0
    state.sums[at + TAIL] = -1


@njit(cache=True)
def _evaluate(task: Any, state: Any, moving: Any, totals: Any, extremes: Any, fired: Any) -> None:
    own, best = np.zeros(SUM_WIDTH, np.int64), np.full(1, -1, np.int64)
    order, amounts = state.order, state.amounts
    for i in range(len(moving)):
        row = task.start + i
        slot = state.slots[row]
        fired[i], extremes[i], totals.counts[i] = False, -1, 0
        if slot < 0:
            order.previous[row] = -1
            order.following[row] = -1
            continue
        _enter(row, slot, task, state, own, best)
        store_totals(own, i, totals)
        extremes[i] = best[0]
        if moving[i]:
            holds = _holds(task.function, own, best[0], amounts, task.limit)
            if task.crossing:
                holds = crosses(state.firing, slot, order.time[row], task.window, holds)
            fired[i] = holds
            if holds:
                _reset(row, slot, task, state)


@njit(cache=True)
def _relink(base: int, end: int, offset: int, slots: Any, order: Any, last: Any, firing: Any) -> None:
    for row in range(base, end):
        slot = slots[row]
        if slot >= 0 and row + offset > firing[np.int64(slot) * WIDTH + RESET]:
            link_row(row, slot, order, last, base)
        else:
            order.previous[row] = -1
            order.following[row] = -1


class ResetWindow:
    """One definition version's own windows. To be built before it is used, unless its arrays were found."""

    def __init__(
        self,
        arena: Arena,
        name: str,
        history: History,
        links: Links,
        definition: RuleDefinition,
        measure: str,
    ) -> None:
        self._arena, self._name, self._history, self._links = arena, f"{name}.reset", history, links
        self._measure = measure
        self._window = definition.window_seconds * 1000
        self._function = _FUNCTIONS[definition.function]
        self._sign = -1 if definition.function == "MAX" else 1
        self._limit = Limit(definition.operator, decimals.to_scaled(definition.limit)).parts
        self._crossing = definition.firing == "crossing"
        self.lists = Lists(arena, self._name, history)
        self._sums = arena.open(f"{self._name}.sums", np.int64, _FIRST_CAPACITY * SUM_WIDTH)
        self._better = arena.open(f"{self._name}.better", np.int32, _FIRST_CAPACITY, -1)
        self._worse = arena.open(f"{self._name}.worse", np.int32, _FIRST_CAPACITY, -1)
        self._fronts = arena.open(f"{self._name}.fronts", np.int32, _FIRST_CAPACITY, -1)

    def build(self, firing: FiringStates, floor: int, end: int) -> None:
        """Enter what the history holds before row ``end`` and no reset has left behind."""
        history, lists, amounts = self._history, self.lists, self._amounts
        self._reserve(end)
        lists.last[:], self._fronts[:], self._sums[:] = -1, -1, 0
        self._sums[TAIL::SUM_WIDTH] = -1
        base, order = history.base, lists.order
        _relink(base, end, history.offset, self._links.slots, order, lists.last, firing.state)
        last = lists.last[: self._links.slot_end]
        build_sums(self._window, floor, base, last, order, amounts, self._sums)
        if self._function == _EXTREME:
            windows = np.array([self._window], np.int64)
            build_extremes(windows, floor, base, last, order, self._chain(amounts), self._fronts)

    def evaluate(
        self, start: int, moving: npt.NDArray[np.bool_], firing: FiringStates, floor: int
    ) -> ResetReading:
        """Enter n rows that the population has linked, from number ``start`` on.

        :param moving: bool, n: the evaluations that count
        """
        n, history, lists, amounts = len(moving), self._history, self.lists, self._amounts
        self._reserve(start + n)
        firing.reserve()
        totals = Totals(np.empty(n, np.int64), np.zeros(n, np.uint64), np.zeros(n, np.int64))
        reading = ResetReading(totals, np.empty(n, np.int64), np.empty(n, np.bool_))
        task = _Task(
            start,
            history.base,
            history.offset,
            floor,
            self._window,
            self._function,
            self._crossing,
            self._limit,
        )
        state = _State(
            self._links.slots,
            lists.order,
            lists.last,
            amounts,
            self._sums,
            self._chain(amounts),
            self._fronts,
            firing.state,
        )
        _evaluate(task, state, moving, totals, reading.extremes, reading.fired)
        return reading

    def drop(self, first: int, until: int) -> None:
        """Let go of the rows from ``first`` to ``until``, older than every window, while they can be read."""
        slots, order, amounts = self._links.slots, self.lists.order, self._amounts
        drop_sums(first, until, slots, order, amounts, self._sums)
        if self._function == _EXTREME:
            drop_extremes(first, until, 1, slots, order, self._chain(amounts), self._fronts)
        self.lists.forget(first, until, slots)

    def shift(self, delta: int, end: int) -> None:
        """Follow the history when its row numbers shrink by ``delta`` (``end``: the number after the newest, new)."""
        self.lists.shift(delta, end)
        tails = self._sums[TAIL::SUM_WIDTH]
        tails[:] = np.maximum(tails - delta, -1)
        if self._function == _EXTREME:
            for rows in (self._better, self._worse):
                rows[:end] = np.maximum(rows[delta : delta + end] - delta, -1)
        self._fronts[:] = np.maximum(self._fronts - delta, -1)

    def remove(self) -> None:
        """Forget everything."""
        self.lists.remove()
        for part in ("sums", "better", "worse", "fronts"):
            self._arena.remove(f"{self._name}.{part}")

    @property
    def _amounts(self) -> Amounts:
        return self._history.measure(self._measure)

    def _chain(self, amounts: Amounts) -> Chain:
        return Chain(self._better, self._worse, amounts.low, amounts.high, self._sign)

    def _reserve(self, rows: int) -> None:
        slots = len(self._links.last)
        self.lists.reserve(rows, slots - 1)
        if rows > len(self._better) and self._function == _EXTREME:
            capacity = 1 << rows.bit_length()
            self._better = self._arena.resize(f"{self._name}.better", capacity, -1)
            self._worse = self._arena.resize(f"{self._name}.worse", capacity, -1)
        if slots > len(self._fronts):
            old = len(self._sums)
            self._fronts = self._arena.resize(f"{self._name}.fronts", slots, -1)
            self._sums = self._arena.resize(f"{self._name}.sums", slots * SUM_WIDTH)
            self._sums[old + TAIL :: SUM_WIDTH] = -1
