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

from tripline_engine.domain.firing.cooldown import Silences, alerts
from tripline_engine.domain.firing.firing_states import RESET, WIDTH, FiringStates, crosses
from tripline_engine.domain.groups.group_lists import GroupLists, IntrusiveLists, Members, Order, link_row
from tripline_engine.domain.history.history import History
from tripline_engine.domain.history.threshold_runs import ThresholdRun
from tripline_engine.domain.memory.arena import Arena, Array, HeapArena
from tripline_engine.domain.memory.kernel import kernel
from tripline_engine.domain.memory.row_arrays import RowArrays
from tripline_engine.domain.memory.row_compaction import renumber, shift_down, shift_row_numbers_down
from tripline_engine.domain.rules.rule_version import RuleVersion
from tripline_engine.domain.rules.threshold import (
    DISTINCT,
    EXTREME,
    FUNCTIONS,
    Threshold,
    ThresholdWords,
    satisfies,
)
from tripline_engine.domain.transactions.columns import Amounts, Totals
from tripline_engine.domain.windows.distinct_kernels import WIDTH as VALUES_WIDTH
from tripline_engine.domain.windows.distinct_kernels import (
    Values,
    build_values,
    distinct_row,
    drop_values,
    store_values,
)
from tripline_engine.domain.windows.monotonic_queue import Chain, drop_extremes, extreme_row
from tripline_engine.domain.windows.monotonic_queue_build import build_extremes
from tripline_engine.domain.windows.sum_kernels import TAIL, build_sums, drop_sums, store_totals, sum_row
from tripline_engine.domain.windows.sum_kernels import WIDTH as SUM_WIDTH

_FIRST_CAPACITY = 1024


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


class _Task(NamedTuple):
    """What to evaluate, and how; ``windows`` (int64 ms, 1) is its one window, as kernels of several take it."""

    start: int
    base: int
    offset: int
    floor: int
    windows: Any
    function: int
    crossing: bool
    limit: ThresholdWords


class _State(NamedTuple):
    """What is kept from row to row; ``key_low`` and ``key_high`` are the groups' identities by slot."""

    slots: Any
    order: Order
    last: Any
    members: Members
    amounts: Amounts
    sums: Any
    chain: Chain
    fronts: Any
    values: Values
    last_values: Any
    counts: Any
    firing: Any
    key_low: Any
    key_high: Any
    silences: Silences


class _Own(NamedTuple):
    """A row's own window: its totals, its number of values, the row with its extreme value."""

    sums: Any
    values: Any
    best: Any


@kernel()
def _link_value(row: Any, values: Any, last: Any, base: int) -> None:
    """Put a row in its place among those of its value; those before ``base`` lie behind a reset."""
    if values.slots[row] >= 0:
        link_row(row, values.slots[row], values.order, last, base)
    else:
        values.order.previous[row] = -1
        values.order.following[row] = -1


@kernel()
def _since_reset(slot: Any, base: int, offset: int, firing: Any) -> Any:
    """The first row of the group that its last reset has not left behind."""
    return max(base, firing[np.int64(slot) * WIDTH + RESET] + 1 - offset)


@kernel()
def _enter(row: Any, slot: Any, i: Any, task: Any, state: Any, own: Any, totals: Any) -> None:
    """Enter one row, the i-th; leave its window's totals, and the row with the extreme value in ``own``."""
    newest = link_row(row, slot, state.order, state.last, task.base)
    window, floor, order = task.windows[0], task.floor, state.order
    if task.function == DISTINCT:
        base = _since_reset(slot, task.base, task.offset, state.firing)
        _link_value(row, state.values, state.last_values, base)
        at = np.int64(slot) * VALUES_WIDTH
        distinct_row(
            row, at, newest, task.windows, floor, base, order, state.values, state.counts, own.values
        )
        store_values(own.values[0], i, totals)
        return
    at = np.int64(slot) * SUM_WIDTH
    sum_row(
        row, at, newest, window, floor, task.base, order, state.members, state.amounts, state.sums, own.sums
    )
    store_totals(own.sums, i, totals)
    if task.function == EXTREME:
        front = state.fronts[slot : slot + 1]
        row = np.int64(row)
        extreme_row(row, newest, task.windows, floor, task.base, order, state.chain, front, own.best)


@kernel()
def _holds(i: Any, task: Any, state: Any, own: Any, totals: Any) -> bool:
    count, low, high = totals.counts[i], totals.low[i], totals.high[i]
    if task.function == EXTREME:
        low, high = state.amounts.low[own.best[0]], state.amounts.high[own.best[0]]
    return satisfies(task.function, count, low, high, task.limit)


@kernel()
def _fires(row: Any, slot: Any, holds: bool, task: Any, state: Any) -> bool:
    time = state.order.time[row]
    if task.crossing:
        holds = crosses(state.firing, slot, time, task.windows[0], holds)
    return holds and alerts(state.key_low[slot], state.key_high[slot], time, state.silences)


@kernel()
def _reset(row: Any, slot: Any, task: Any, state: Any) -> None:
    """End the group's list: what comes now begins another."""
    state.firing[np.int64(slot) * WIDTH + RESET] = row + task.offset
    state.last[slot] = -1
    if task.function == EXTREME:
        state.fronts[slot] = -1
    if task.function == DISTINCT:
        at = np.int64(slot) * VALUES_WIDTH
        state.counts[at : at + VALUES_WIDTH] = 0
        state.counts[at + TAIL] = -1
    else:
        at = np.int64(slot) * SUM_WIDTH
        state.sums[at : at + SUM_WIDTH] = 0
        state.sums[at + TAIL] = -1


@kernel()
def _evaluate(task: Any, state: Any, own: Any, moving: Any, totals: Any, extremes: Any, fired: Any) -> None:
    for i in range(len(moving)):
        row = task.start + i
        slot = state.slots[row]
        fired[i], extremes[i], totals.counts[i] = False, -1, 0
        if slot < 0:
            state.order.previous[row] = -1
            state.order.following[row] = -1
            continue
        _enter(row, slot, i, task, state, own, totals)
        extremes[i] = own.best[0]
        if moving[i]:
            holds = _holds(i, task, state, own, totals)
            fired[i] = _fires(row, slot, holds, task, state)
            if fired[i]:
                _reset(row, slot, task, state)


@kernel()
def _relink(end: int, task: Any, state: Any) -> None:
    for row in range(task.base, end):
        slot = state.slots[row]
        state.order.previous[row] = -1
        state.order.following[row] = -1
        if slot < 0:
            continue
        since = _since_reset(slot, task.base, task.offset, state.firing)
        if row < since:
            continue
        link_row(row, slot, state.order, state.last, task.base)
        if task.function == DISTINCT:
            _link_value(row, state.values, state.last_values, since)


class ResetWindow:
    """One definition version's own windows. To be built before it is used, unless its arrays were found.

    :param links: the population
    :param equal: for COUNT_DISTINCT the population whose groups are the group and the value together, else the same
    """

    def __init__(
        self,
        arena: Arena,
        name: str,
        history: History,
        links: GroupLists,
        equal: GroupLists,
        version: RuleVersion,
        measure: str,
    ) -> None:
        self._name, self._history, self._links = f"{name}.reset", history, links
        self._equal, self._measure = equal, measure
        (part,) = version.measures
        self._window, self._sign = part.window_ms, part.sign
        self._function, self._operator = FUNCTIONS[part.condition.function], part.condition.operator
        self._crossing = version.definition.firing == "crossing"
        self.lists = IntrusiveLists(arena, self._name, history)
        # files are for what the function needs; kernels take the rest as it is, in memory
        unused = HeapArena()
        distinct = arena if self._function == DISTINCT else unused
        totals = unused if self._function == DISTINCT else arena
        extreme = arena if self._function == EXTREME else unused
        self._values = IntrusiveLists(distinct, f"{self._name}.equal", history)
        self._last = distinct.open(f"{self._name}.equal.newest", np.uint8, _FIRST_CAPACITY)
        self._counts = distinct.open(f"{self._name}.counts", np.int64, _FIRST_CAPACITY * VALUES_WIDTH)
        self._sums = totals.open(f"{self._name}.sums", np.int64, _FIRST_CAPACITY * SUM_WIDTH)
        self._better = extreme.open(f"{self._name}.better", np.int32, _FIRST_CAPACITY, -1)
        self._worse = extreme.open(f"{self._name}.worse", np.int32, _FIRST_CAPACITY, -1)
        self._fronts = extreme.open(f"{self._name}.fronts", np.int32, _FIRST_CAPACITY, -1)
        self._arenas = {"equal.newest": distinct, "counts": distinct, "sums": totals}
        self._arenas |= dict.fromkeys(("better", "worse", "fronts"), extreme)

    def build(self, firing: FiringStates, floor: int, end: int) -> None:
        """Enter what the history holds before row ``end`` and no reset has left behind."""
        self._reserve(end)
        firing.reserve()
        self.lists.last[:], self._values.last[:], self._fronts[:] = -1, -1, -1
        for groups, width in ((self._sums, SUM_WIDTH), (self._counts, VALUES_WIDTH)):
            groups[:] = 0
            groups[TAIL::width] = -1
        task, state = (
            self._task(self._history.base, floor, Threshold(self._operator, None)),
            self._state(firing),
        )
        _relink(end, task, state)
        last, base, order = self.lists.last[: self._links.slot_end], task.base, state.order
        windows, every = task.windows, np.arange(len(last), dtype=np.int32)
        if self._function == DISTINCT:
            self._last[base:end] = (self._equal.slots[base:end] >= 0) & (self._values.following[base:end] < 0)
            one = np.zeros(1, np.int64)
            build_values(windows, one, floor, base, end, every, last, order, state.values, self._counts)
            return
        build_sums(windows, floor, base, end, every, last, order, state.members, state.amounts, self._sums)
        if self._function == EXTREME:
            build_extremes(windows, floor, base, end, every, last, order, state.chain, self._fronts)

    def evaluate(
        self,
        start: int,
        moving: npt.NDArray[np.bool_],
        firing: FiringStates,
        limits: list[ThresholdRun],
        floor: int,
        lateness_floor: int,
    ) -> ResetReading:
        """Enter n rows that the population has linked, from number ``start`` on.

        :param moving: bool, n: the evaluations that count
        :param limits: what they are held against
        :param floor: ms; what is older is not visible
        :param lateness_floor: ms; what is older is not accepted any more
        """
        n = len(moving)
        self._reserve(start + n)
        firing.reserve()
        firing.cooldown.reserve(min(n, self._links.table.used), lateness_floor)
        totals = Totals(np.empty(n, np.int64), np.zeros(n, np.uint64), np.zeros(n, np.int64))
        reading = ResetReading(totals, np.empty(n, np.int64), np.empty(n, np.bool_))
        own = _Own(
            np.zeros(SUM_WIDTH, np.int64), np.zeros((1, VALUES_WIDTH), np.int64), np.full(1, -1, np.int64)
        )
        state = self._state(firing)
        for first, until, limit in limits:
            run, task = slice(first - start, until - start), self._task(first, floor, limit)
            part = Totals(totals.counts[run], totals.low[run], totals.high[run])
            _evaluate(task, state, own, moving[run], part, reading.extremes[run], reading.fired[run])
        return reading

    def drop(self, first: int, until: int) -> None:
        """Let go of the rows from ``first`` to ``until``, older than every window, while they can be read."""
        slots, order, amounts = self._links.slots, self.lists.order, self._amounts
        groups = slots[first:until]
        if self._function == DISTINCT:
            drop_values(first, groups, 1, order, self._equal_values, self._counts)
            self._values.end_lists(first, until, self._equal.slots)
        else:
            drop_sums(first, groups, 1, order, self._links.members(self._links), amounts, self._sums)
        if self._function == EXTREME:
            drop_extremes(first, groups, 1, order, self._chain(amounts), self._fronts)
        self.lists.end_lists(first, until, slots)

    @property
    def by_row(self) -> RowArrays:
        """The arrays that have an item for each row, as far as the function needs them."""
        found = self.lists.by_row
        if self._function == DISTINCT:
            found |= self._values.by_row | {f"{self._name}.equal.newest": self._last}
        if self._function == EXTREME:
            found |= {f"{self._name}.better": self._better, f"{self._name}.worse": self._worse}
        return found

    def shift(self, delta: int, end: int) -> None:
        """Follow the history when its row numbers shrink by ``delta`` (``end``: the number after the newest, new)."""
        self.lists.shift(delta, end)
        for groups, width in ((self._sums, SUM_WIDTH), (self._counts, VALUES_WIDTH)):
            renumber(groups[TAIL::width], delta)
        if self._function == DISTINCT:
            self._values.shift(delta, end)
            shift_down(self._last, delta, end)
        if self._function == EXTREME:
            for rows in (self._better, self._worse):
                shift_row_numbers_down(rows, delta, end)
        renumber(self._fronts, delta)

    def remove(self) -> None:
        """Forget everything."""
        self.lists.remove()
        self._values.remove()
        for part in ("equal.newest", "sums", "counts", "better", "worse", "fronts"):
            self._arenas[part].remove(f"{self._name}.{part}")

    @property
    def _amounts(self) -> Amounts:
        return self._history.measure(self._measure)

    @property
    def _equal_values(self) -> Values:
        return Values(self._equal.slots, self._values.order, self._last)

    def _chain(self, amounts: Amounts) -> Chain:
        members = self._links.members(self._links)
        return Chain(self._better, self._worse, amounts.low, amounts.high, self._sign, members)

    def _task(self, start: int, floor: int, limit: Threshold) -> _Task:
        history = self._history
        rule = np.array([self._window], np.int64), self._function, self._crossing, limit.words
        return _Task(start, history.base, history.offset, floor, *rule)

    def _state(self, firing: FiringStates) -> _State:
        links, lists, amounts = self._links, self.lists, self._amounts
        return _State(
            slots=links.slots,
            order=lists.order,
            last=lists.last,
            members=links.members(links),
            amounts=amounts,
            sums=self._sums,
            chain=self._chain(amounts),
            fronts=self._fronts,
            values=self._equal_values,
            last_values=self._values.last,
            counts=self._counts,
            firing=firing.state,
            key_low=links.table.key_low,
            key_high=links.table.key_high,
            silences=firing.cooldown.silences,
        )

    def _reserve(self, rows: int) -> None:
        """Room for so many rows, and for the groups, in what the function needs."""
        slots = len(self._links.last)
        self.lists.reserve(rows, slots - 1)
        if self._function == DISTINCT:
            self._values.reserve(rows, len(self._equal.last) - 1)
            self._last = self._grown("equal.newest", self._last, rows)
            self._counts = self._grown_groups("counts", self._counts, slots, VALUES_WIDTH)
        else:
            self._sums = self._grown_groups("sums", self._sums, slots, SUM_WIDTH)
        if self._function == EXTREME:
            # what is there of a row is written when the row comes
            self._better = self._grown("better", self._better, rows)
            self._worse = self._grown("worse", self._worse, rows)
            self._fronts = self._grown("fronts", self._fronts, slots, -1)

    def _grown(self, part: str, array: Array, items: int, fill: int = 0) -> Array:
        if items <= len(array):
            return array
        return self._arenas[part].resize(f"{self._name}.{part}", 1 << items.bit_length(), fill)

    def _grown_groups(self, part: str, array: Array, slots: int, width: int) -> Array:
        """States of groups, so wide each; the new ones are empty."""
        old = len(array)
        if slots * width <= old:
            return array
        grown = self._arenas[part].resize(f"{self._name}.{part}", slots * width)
        grown[old + TAIL :: width] = -1
        return grown
