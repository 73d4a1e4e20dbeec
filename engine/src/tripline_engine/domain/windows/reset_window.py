"""Windows that start anew at each alert of their rule (`resetOnAlert`).

Such a version cannot share its windows: which transactions count depends on its own alerts. So it has lists,
totals and a queue of its own, over the groups of its population. At an alert the group's list ends and another
begins; what came before is never reached again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tripline_engine.domain.firing.firing_states import FiringStates
from tripline_engine.domain.groups.group_lists import GroupLists, IntrusiveLists
from tripline_engine.domain.history.history import History
from tripline_engine.domain.history.threshold_runs import ThresholdRun
from tripline_engine.domain.memory.arena import Arena, Array, HeapArena
from tripline_engine.domain.memory.array_types import BoolArray, Int64Array
from tripline_engine.domain.memory.row_arrays import RowArrays
from tripline_engine.domain.memory.row_compaction import renumber, shift_down, shift_row_numbers_down
from tripline_engine.domain.rules.rule_version import RuleVersion
from tripline_engine.domain.rules.threshold import DISTINCT, EXTREME, FUNCTIONS, Threshold
from tripline_engine.domain.transactions.columns import Totals
from tripline_engine.domain.windows.distinct_build import build_values
from tripline_engine.domain.windows.distinct_kernels import WIDTH as VALUES_WIDTH
from tripline_engine.domain.windows.distinct_kernels import drop_values
from tripline_engine.domain.windows.kernel_views import ListView, WindowBounds
from tripline_engine.domain.windows.monotonic_queue import Chain, drop_extremes
from tripline_engine.domain.windows.monotonic_queue_build import build_extremes
from tripline_engine.domain.windows.reset_kernels import (
    ResetState,
    ResetTask,
    RowWindow,
    evaluate_resets,
    relink,
)
from tripline_engine.domain.windows.sum_build import build_sums
from tripline_engine.domain.windows.sum_kernels import TAIL, drop_sums
from tripline_engine.domain.windows.sum_kernels import WIDTH as SUM_WIDTH
from tripline_engine.domain.windows.value_lists import Values, ValueView

_FIRST_CAPACITY = 1024


@dataclass(frozen=True, slots=True)
class ResetReading:
    """Results of n transactions.

    :ivar totals: count and sum of each one's own window
    :ivar extremes: n: the row with the extreme value, -1 if there is none
    :ivar fired: n: where an alert is due
    """

    totals: Totals
    extremes: Int64Array
    fired: BoolArray


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
        (aggregate,) = version.measures
        self._window, self._sign = aggregate.window_ms, aggregate.sign
        self._function, self._operator = FUNCTIONS[aggregate.condition.function], aggregate.condition.operator
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
        for states, width in ((self._sums, SUM_WIDTH), (self._counts, VALUES_WIDTH)):
            states[:] = 0
            states[TAIL::width] = -1
        task = self._task(self._history.base, floor, Threshold(self._operator, None))
        state, bounds = self._state(firing), task.bounds
        relink(end, task, state)
        last, base = self.lists.last[: self._links.slot_end], bounds.base
        slots = np.arange(len(last), dtype=np.int32)
        if self._function == DISTINCT:
            self._last[base:end] = (self._equal.slots[base:end] >= 0) & (self._values.following[base:end] < 0)
            build_values(bounds, np.zeros(1, np.int64), end, slots, last, state.value_lists, self._counts)
            return
        build_sums(bounds, end, slots, last, state.lists, self._sums)
        if self._function == EXTREME:
            build_extremes(bounds, end, slots, last, state.lists.order, state.chain, self._fronts)

    def evaluate(
        self,
        start: int,
        counted: BoolArray,
        firing: FiringStates,
        limits: list[ThresholdRun],
        floor: int,
        lateness_floor: int,
    ) -> ResetReading:
        """Enter n rows that the population has linked, from number ``start`` on.

        :param counted: n: the evaluations that change the firing state
        :param limits: thresholds by run of rows
        :param floor: older event times are not visible
        :param lateness_floor: older event times are not accepted any more
        """
        n = len(counted)
        self._reserve(start + n)
        firing.reserve()
        firing.cooldown.reserve(min(n, self._links.table.used), lateness_floor)
        totals = Totals(np.empty(n, np.int64), np.zeros(n, np.uint64), np.zeros(n, np.int64))
        reading = ResetReading(totals, np.empty(n, np.int64), np.empty(n, np.bool_))
        sums, values = np.zeros(SUM_WIDTH, np.int64), np.zeros((1, VALUES_WIDTH), np.int64)
        window, state = RowWindow(sums, values, np.full(1, -1, np.int64)), self._state(firing)
        for first, until, limit in limits:
            run, task = slice(first - start, until - start), self._task(first, floor, limit)
            part = Totals(totals.counts[run], totals.low[run], totals.high[run])
            extremes, fired = reading.extremes[run], reading.fired[run]
            evaluate_resets(task, state, window, counted[run], part, extremes, fired)
        return reading

    def drop(self, first: int, until: int) -> None:
        """Expire the rows from ``first`` to ``until``, older than every window, while they can be read."""
        slots, view = self._links.slots, self._view
        groups = slots[first:until]
        if self._function == DISTINCT:
            drop_values(first, groups, 1, self._value_view, self._counts)
            self._values.end_lists(first, until, self._equal.slots)
        else:
            drop_sums(first, groups, 1, view, self._sums)
        if self._function == EXTREME:
            drop_extremes(first, groups, 1, view.order, self._chain(view), self._fronts)
        self.lists.end_lists(first, until, slots)

    @property
    def by_row(self) -> RowArrays:
        """The arrays that have an item for each row, as far as the function needs them."""
        arrays = self.lists.by_row
        if self._function == DISTINCT:
            arrays |= self._values.by_row | {f"{self._name}.equal.newest": self._last}
        if self._function == EXTREME:
            arrays |= {f"{self._name}.better": self._better, f"{self._name}.worse": self._worse}
        return arrays

    def shift(self, delta: int, end: int) -> None:
        """Follow the history when its row numbers shrink by ``delta`` (``end``: the number after the newest, new)."""
        self.lists.shift(delta, end)
        for states, width in ((self._sums, SUM_WIDTH), (self._counts, VALUES_WIDTH)):
            renumber(states[TAIL::width], delta)
        if self._function == DISTINCT:
            self._values.shift(delta, end)
            shift_down(self._last, delta, end)
        if self._function == EXTREME:
            for rows in (self._better, self._worse):
                shift_row_numbers_down(rows, delta, end)
        renumber(self._fronts, delta)

    def remove(self) -> None:
        """Remove everything, arrays and all."""
        self.lists.remove()
        self._values.remove()
        for part in ("equal.newest", "sums", "counts", "better", "worse", "fronts"):
            self._arenas[part].remove(f"{self._name}.{part}")

    @property
    def _view(self) -> ListView:
        amounts = self._history.measure(self._measure)
        return ListView(self.lists.order, self._links.members(self._links), amounts)

    @property
    def _value_view(self) -> ValueView:
        return ValueView(self.lists.order, Values(self._equal.slots, self._values.order, self._last))

    def _chain(self, view: ListView) -> Chain:
        low, high = view.amounts
        return Chain(self._better, self._worse, low, high, self._sign, view.members)

    def _task(self, start: int, floor: int, limit: Threshold) -> ResetTask:
        history = self._history
        bounds = WindowBounds(np.array([self._window], np.int64), floor, history.base)
        return ResetTask(start, history.offset, bounds, self._function, self._crossing, limit.words)

    def _state(self, firing: FiringStates) -> ResetState:
        view, table = self._view, self._links.table
        return ResetState(
            slots=self._links.slots,
            last=self.lists.last,
            lists=view,
            sums=self._sums,
            chain=self._chain(view),
            fronts=self._fronts,
            value_lists=self._value_view,
            last_values=self._values.last,
            counts=self._counts,
            firing=firing.state,
            key_low=table.key_low,
            key_high=table.key_high,
            cooldown=firing.cooldown.table,
        )

    def _reserve(self, rows: int) -> None:
        """Make room for that number of rows, and for the groups, in what the function needs."""
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
        """States of groups, ``width`` int64 each; the new ones are empty."""
        old = len(array)
        if slots * width <= old:
            return array
        grown = self._arenas[part].resize(f"{self._name}.{part}", slots * width)
        grown[old + TAIL :: width] = -1
        return grown
