"""How many different values: the arrays of `distinct_states`, and when they are built, grown and let go of."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tripline_engine.domain.groups.group_lists import GroupLists, LinkResult
from tripline_engine.domain.memory.arena import Arena
from tripline_engine.domain.memory.row_arrays import RowArrays
from tripline_engine.domain.memory.row_compaction import renumber, shift_down
from tripline_engine.domain.transactions.columns import Totals
from tripline_engine.domain.windows.distinct_kernels import (
    EMPTY,
    TAIL,
    WIDTH,
    Values,
    build_values,
    drop_values,
    evaluate_values,
    tell_last,
)
from tripline_engine.domain.windows.state_layout import relayout

_FIRST_CAPACITY = 1024


class DistinctWindow:
    """How many values a field has over several window lengths, for every group of a population.

    A large group's states lie side by side, by window. To be built before it is used, unless its arrays were found as
    another process left them.

    :param equal: the population whose groups are the group and the value together
    """

    def __init__(
        self, arena: Arena, name: str, links: GroupLists, equal: GroupLists, windows_ms: tuple[int, ...]
    ) -> None:
        self._arena, self._name, self._links, self._equal = arena, name, links, equal
        self.windows = windows_ms
        self._windows = np.array(windows_ms, np.int64)
        self._state = arena.open(name, np.int64, _FIRST_CAPACITY * self._stride)
        self._last = arena.open(f"{name}.last", np.uint8, _FIRST_CAPACITY)

    def build(self, floor: int, base: int, end: int) -> None:
        """Count what the history holds before row ``end``. ``floor``: what is older (ms) is not visible."""
        self._reserve(end)
        self._state[:] = 0
        self._state[TAIL::WIDTH] = -1
        equal = self._equal
        self._last[base:end] = (equal.slots[base:end] >= 0) & (equal.following[base:end] < 0)
        self._build(np.arange(len(self.windows)), floor, base, end)

    def rewindow(self, windows_ms: tuple[int, ...], floor: int, base: int, end: int) -> None:
        """Have these windows from now on: those that it has stay as they are, the others are built."""
        self._state, fresh = relayout(self._arena, self._name, self.windows, windows_ms, EMPTY)
        self.windows, self._windows = windows_ms, np.array(windows_ms, np.int64)
        self._reserve(end)
        self._build(fresh, floor, base, end)

    def evaluate(self, start: int, linked: LinkResult, floor: int, base: int) -> Totals:
        """Enter n linked rows from number ``start`` on.

        :returns: of each one's own windows, arrays (windows, n): how many rows have a value, and as the sum how many
            values there are
        """
        shape = len(self.windows), len(linked.newest)
        self._reserve(start + len(linked.newest))
        totals = Totals(np.empty(shape, np.int64), np.empty(shape, np.uint64), np.empty(shape, np.int64))
        grown, rows = linked.groups, (self._links.order, self.values)
        tell_last(grown.newest, base, start, *rows)
        every = np.arange(len(self.windows))
        build_values(self._windows, every, floor, base, start, grown.grown, grown.newest, *rows, self._state)
        own = np.empty((len(self.windows), WIDTH), np.int64)
        evaluate_values(start, linked, self._windows, floor, base, *rows, self._state, own, totals)
        return totals

    def drop(self, first: int, until: int) -> None:
        """Count out the rows from ``first`` to ``until``, older than every window, while they can be read."""
        groups = self._links.large.numbers(self._links.slots[first:until])
        drop_values(first, groups, len(self.windows), self._links.order, self.values, self._state)

    @property
    def by_row(self) -> RowArrays:
        """The array that has an item for each row."""
        return {f"{self._name}.last": self._last}

    def shift(self, delta: int, end: int) -> None:
        """Follow the history when its row numbers shrink by ``delta`` (``end``: the number after the newest, new)."""
        renumber(self._state[TAIL::WIDTH], delta)
        shift_down(self._last, delta, end)

    def remove(self) -> None:
        """Forget the windows."""
        self._arena.remove(self._name)
        self._arena.remove(f"{self._name}.last")

    @property
    def values(self) -> Values:
        """The lists of equal values, for kernels."""
        return Values(self._equal.slots, self._equal.order, self._last)

    @property
    def _stride(self) -> int:
        return len(self.windows) * WIDTH

    def _build(self, chosen: npt.NDArray[np.int64], floor: int, base: int, end: int) -> None:
        links = self._links
        places = links.large.numbers_in_use(links.last[: links.slot_end], base)
        order, values = links.order, self.values
        build_values(self._windows, chosen, floor, base, end, *places, order, values, self._state)

    def _reserve(self, rows: int) -> None:
        if rows > len(self._last):
            self._last = self._arena.resize(f"{self._name}.last", 1 << rows.bit_length())
        old, needed = len(self._state), self._links.large.capacity * self._stride
        if needed > old:
            self._state = self._arena.resize(self._name, needed)
            self._state[old + TAIL :: WIDTH] = -1
