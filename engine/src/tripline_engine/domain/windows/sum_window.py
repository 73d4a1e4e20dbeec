"""Count and sum over several window lengths: the arrays of `sum_kernels`, and when they are built and grown."""

from __future__ import annotations

import numpy as np

from tripline_engine.domain.groups.group_lists import GroupLists, LinkResult
from tripline_engine.domain.memory.arena import Arena
from tripline_engine.domain.memory.array_types import Int64Array
from tripline_engine.domain.memory.row_compaction import renumber
from tripline_engine.domain.transactions.columns import Amounts, Totals
from tripline_engine.domain.windows.kernel_views import ListView, WindowBounds
from tripline_engine.domain.windows.sliding_sums import Slides, slide_sums
from tripline_engine.domain.windows.state_layout import relayout
from tripline_engine.domain.windows.sum_build import NEVER, build_sums, sum_all
from tripline_engine.domain.windows.sum_kernels import EMPTY, TAIL, WIDTH, drop_sums, evaluate_sums

_FIRST_CAPACITY = 1024


class SumWindow:
    """Count and sum of one measure over several window lengths, for every group of a population.

    A large group's states lie side by side, by window: what a transaction touches of one is near what it touches of the
    others. To be built before it is used, unless its arrays were found as another process left them.

    :param members: the population whose transactions contribute; the others are only in the lists
    :param summed: whether anybody reads the sums
    :param in_order: whether rows come in the order of their event times
    """

    def __init__(
        self,
        arena: Arena,
        name: str,
        links: GroupLists,
        members: GroupLists,
        windows_ms: tuple[int, ...],
        *,
        summed: bool,
        in_order: bool,
    ) -> None:
        self._arena, self._name, self._links, self._others = arena, name, links, members
        self._summed = summed
        self.windows = windows_ms
        self._lengths = np.array(windows_ms, np.int64)
        self._state = arena.open(name, np.int64, _FIRST_CAPACITY * self._stride)
        self._in_order, self._reached = in_order, np.zeros(len(windows_ms), np.int64)

    def build(self, floor: int, base: int, end: int, amounts: Amounts) -> None:
        """Count what the history holds from row ``base`` to ``end``; event times before ``floor`` are not visible."""
        self._reserve()
        self._state[:] = 0
        self._state[TAIL::WIDTH] = -1
        self._reached[:] = 0
        self._build(np.arange(len(self.windows)), self._bounds(floor, base), end, amounts)

    def rewindow(
        self, windows_ms: tuple[int, ...], floor: int, base: int, end: int, amounts: Amounts
    ) -> None:
        """Have these windows from now on: those that it has stay as they are, the others are built."""
        self._state, fresh = relayout(self._arena, self._name, self.windows, windows_ms, EMPTY)
        self.windows, self._lengths = windows_ms, np.array(windows_ms, np.int64)
        self._reached = np.zeros(len(windows_ms), np.int64)
        self._reserve()
        self._build(fresh, self._bounds(floor, base), end, amounts)

    def evaluate(self, start: int, linked: LinkResult, floor: int, base: int, amounts: Amounts) -> Totals:
        """Enter n linked rows from number ``start`` on.

        :returns: of each one's own windows, arrays (windows, n); where nobody reads sums they are anything
        """
        self._reserve()
        shape = len(self.windows), len(linked.newest)
        totals = Totals(np.empty(shape, np.int64), np.empty(shape, np.uint64), np.empty(shape, np.int64))
        bounds, view, state = self._bounds(floor, base), self._view(amounts), self._state
        groups = linked.groups
        if len(groups.grown):
            build_sums(bounds, start, groups.grown, groups.newest, view, state)
        if self._in_order:
            slides = Slides(self._links.slots, self._links.large.by_slot, self._reached, self._summed)
            slide_sums(start, linked, bounds, view, slides, state, totals)
            return totals
        scratch = np.empty(WIDTH, np.int64)
        evaluate_sums(start, linked, bounds, view, self._summed, state, scratch, totals)
        return totals

    def drop(self, first: int, until: int, amounts: Amounts) -> None:
        """Count out the rows from ``first`` to ``until``, older than every window, while they can be read."""
        if self._reached.min() >= until:
            return
        numbers = self._links.large.numbers(self._links.slots[first:until])
        drop_sums(first, numbers, len(self.windows), self._view(amounts), self._state)

    def shift(self, delta: int) -> None:
        """Follow the history when its row numbers shrink by ``delta``."""
        renumber(self._state[TAIL::WIDTH], delta)
        np.maximum(self._reached - delta, 0, out=self._reached)

    def remove(self) -> None:
        """Remove the windows and their arrays."""
        self._arena.remove(self._name)

    @property
    def _stride(self) -> int:
        return len(self.windows) * WIDTH

    def _bounds(self, floor: int, base: int) -> WindowBounds:
        return WindowBounds(self._lengths, floor, base)

    def _view(self, amounts: Amounts) -> ListView:
        return ListView(self._links.order, self._links.members(self._others), amounts)

    def _build(self, chosen: Int64Array, bounds: WindowBounds, end: int, amounts: Amounts) -> None:
        links, numbers = self._links, self._links.large.by_slot
        last = links.last[: links.slot_end]
        counted = (last >= bounds.base) & (numbers[: len(last)] >= 0)
        newest = np.full(len(last), NEVER)
        newest[counted] = links.order.time[last[counted]]
        sum_all(bounds, chosen, end, links.slots, numbers, newest, self._view(amounts), self._state)

    def _reserve(self) -> None:
        old, needed = len(self._state), self._links.large.capacity * self._stride
        if needed > old:
            self._state = self._arena.resize(self._name, needed)
            self._state[old + TAIL :: WIDTH] = -1
