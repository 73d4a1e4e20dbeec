"""Count of different values over several window lengths: the arrays of `distinct_kernels`, built and grown."""

from __future__ import annotations

import numpy as np

from tripline_engine.domain.groups.group_lists import GroupLists, LinkResult
from tripline_engine.domain.memory.arena import Arena
from tripline_engine.domain.memory.array_types import Int64Array
from tripline_engine.domain.memory.row_arrays import RowArrays
from tripline_engine.domain.memory.row_compaction import renumber, shift_down
from tripline_engine.domain.transactions.columns import Totals
from tripline_engine.domain.windows.distinct_build import build_values, mark_last
from tripline_engine.domain.windows.distinct_kernels import EMPTY, TAIL, WIDTH, drop_values, evaluate_values
from tripline_engine.domain.windows.kernel_views import WindowBounds
from tripline_engine.domain.windows.state_layout import relayout
from tripline_engine.domain.windows.value_lists import Values, ValueView

_FIRST_CAPACITY = 1024


class DistinctWindow:
    """Count of the values that a field has over several window lengths, for every group of a population.

    A large group's states lie side by side, by window. To be built before it is used, unless its arrays were found as
    another process left them.

    :param equal: the population whose groups are the group and the value together
    """

    def __init__(
        self, arena: Arena, name: str, links: GroupLists, equal: GroupLists, windows_ms: tuple[int, ...]
    ) -> None:
        self._arena, self._name, self._links, self._equal = arena, name, links, equal
        self.windows = windows_ms
        self._lengths = np.array(windows_ms, np.int64)
        self._state = arena.open(name, np.int64, _FIRST_CAPACITY * self._stride)
        self._last = arena.open(f"{name}.last", np.uint8, _FIRST_CAPACITY)

    def build(self, floor: int, base: int, end: int) -> None:
        """Count what the history holds before row ``end``; event times before ``floor`` are not visible."""
        self._reserve(end)
        self._state[:] = 0
        self._state[TAIL::WIDTH] = -1
        equal = self._equal
        self._last[base:end] = (equal.slots[base:end] >= 0) & (equal.following[base:end] < 0)
        self._build(np.arange(len(self.windows)), self._bounds(floor, base), end)

    def rewindow(self, windows_ms: tuple[int, ...], floor: int, base: int, end: int) -> None:
        """Have these windows from now on: those that it has stay as they are, the others are built."""
        self._state, fresh = relayout(self._arena, self._name, self.windows, windows_ms, EMPTY)
        self.windows, self._lengths = windows_ms, np.array(windows_ms, np.int64)
        self._reserve(end)
        self._build(fresh, self._bounds(floor, base), end)

    def evaluate(self, start: int, linked: LinkResult, floor: int, base: int) -> Totals:
        """Enter n linked rows from number ``start`` on.

        :returns: of each one's own windows, arrays (windows, n): rows with a value as counts, values as sums
        """
        shape = len(self.windows), len(linked.newest)
        self._reserve(start + len(linked.newest))
        totals = Totals(np.empty(shape, np.int64), np.empty(shape, np.uint64), np.empty(shape, np.int64))
        bounds, view, groups = self._bounds(floor, base), self._view, linked.groups
        if len(groups.grown):
            mark_last(groups.newest, base, start, view)
            all_lengths = np.arange(len(self.windows))
            build_values(bounds, all_lengths, start, groups.grown, groups.newest, view, self._state)
        scratch = np.empty((len(self.windows), WIDTH), np.int64)
        evaluate_values(start, linked, bounds, view, self._state, scratch, totals)
        return totals

    def drop(self, first: int, until: int) -> None:
        """Count out the rows from ``first`` to ``until``, older than every window, while they can be read."""
        numbers = self._links.large.numbers(self._links.slots[first:until])
        drop_values(first, numbers, len(self.windows), self._view, self._state)

    @property
    def by_row(self) -> RowArrays:
        """The array that has an item for each row."""
        return {f"{self._name}.last": self._last}

    def shift(self, delta: int, end: int) -> None:
        """Follow the history when its row numbers shrink by ``delta`` (``end``: the number after the newest, new)."""
        renumber(self._state[TAIL::WIDTH], delta)
        shift_down(self._last, delta, end)

    def remove(self) -> None:
        """Remove the windows and their arrays."""
        self._arena.remove(self._name)
        self._arena.remove(f"{self._name}.last")

    @property
    def values(self) -> Values:
        """The lists of equal values, for kernels."""
        return Values(self._equal.slots, self._equal.order, self._last)

    @property
    def _stride(self) -> int:
        return len(self.windows) * WIDTH

    @property
    def _view(self) -> ValueView:
        return ValueView(self._links.order, self.values)

    def _bounds(self, floor: int, base: int) -> WindowBounds:
        return WindowBounds(self._lengths, floor, base)

    def _build(self, chosen: Int64Array, bounds: WindowBounds, end: int) -> None:
        links = self._links
        numbers, newest = links.large.numbers_in_use(links.last[: links.slot_end], bounds.base)
        build_values(bounds, chosen, end, numbers, newest, self._view, self._state)

    def _reserve(self, rows: int) -> None:
        if rows > len(self._last):
            self._last = self._arena.resize(f"{self._name}.last", 1 << rows.bit_length())
        old, needed = len(self._state), self._links.large.capacity * self._stride
        if needed > old:
            self._state = self._arena.resize(self._name, needed)
            self._state[old + TAIL :: WIDTH] = -1
