"""Least or greatest value of each group over "the last w before this transaction".

Each row points to the nearest older row of its group with a strictly better value (``better``). From the
newest row these pointers are the monotonic queue of any window that ends there, newest first; ``worse`` points
back along it. So all window lengths share the chain, and each keeps only its front: the queue's oldest row in
the window, which is the answer. O(1) amortised in event-time order. A late row re-enters what is newer, and
finds its own answer by following ``better`` to the edge of its window.

Only large groups have a queue; the windows of a small one are read by walking back over it.
"""

from __future__ import annotations

import numpy as np

from tripline_engine.domain.groups.group_lists import GroupLists, LinkResult
from tripline_engine.domain.memory.arena import Arena
from tripline_engine.domain.memory.array_types import Int64Array
from tripline_engine.domain.memory.row_arrays import RowArrays
from tripline_engine.domain.memory.row_compaction import renumber, shift_row_numbers_down
from tripline_engine.domain.transactions.columns import Amounts
from tripline_engine.domain.windows.kernel_views import WindowBounds
from tripline_engine.domain.windows.monotonic_queue import Chain, drop_extremes, evaluate_extremes
from tripline_engine.domain.windows.monotonic_queue_build import build_extremes, enter_all

_FIRST_CAPACITY = 1024


class ExtremeWindow:
    """The least (sign 1) or greatest (sign -1) value of one measure over several window lengths, by group.

    ``fronts`` are int32 by large group and window (-1: none). To be built before it is used, unless its arrays were
    found as another process left them.

    :param members: the population whose transactions contribute; the others are only in the lists
    """

    def __init__(
        self,
        arena: Arena,
        name: str,
        links: GroupLists,
        members: GroupLists,
        sign: int,
        windows_ms: tuple[int, ...],
    ) -> None:
        self._arena, self._name, self._links, self._sign = arena, name, links, sign
        self._others = members
        self.windows = windows_ms
        self._lengths = np.array(windows_ms, np.int64)
        self._better = arena.open(f"{name}.better", np.int32, _FIRST_CAPACITY, -1)
        self._worse = arena.open(f"{name}.worse", np.int32, _FIRST_CAPACITY, -1)
        self._fronts = arena.open(f"{name}.fronts", np.int32, _FIRST_CAPACITY, -1)

    def build(self, floor: int, base: int, end: int, amounts: Amounts) -> None:
        """Enter what the history holds from row ``base`` to ``end``; event times before ``floor`` are not visible."""
        links, bounds = self._links, WindowBounds(self._lengths, floor, base)
        self._reserve(len(links.previous))
        self._prepare(base, end)
        self._fronts[:] = -1
        slots, numbers, last = links.slots[base:end], links.large.by_slot, links.last[: links.slot_end]
        enter_all(bounds, slots, numbers, last, links.order, self._chain(amounts), self._fronts)

    def evaluate(self, start: int, linked: LinkResult, floor: int, base: int, amounts: Amounts) -> Int64Array:
        """Enter n linked rows from number ``start`` on.

        :returns: int64, (n, windows): the row that holds the extreme value, -1 where there is none
        """
        self._reserve(start + len(linked.newest))
        self._prepare(start, start + len(linked.newest))
        rows = np.empty((len(linked.newest), len(self.windows)), np.int64)
        bounds, groups = WindowBounds(self._lengths, floor, base), linked.groups
        queues = self._links.order, self._chain(amounts), self._fronts
        if len(groups.grown):
            build_extremes(bounds, start, groups.grown, groups.newest, *queues)
        evaluate_extremes(start, linked, bounds, *queues, rows)
        return rows

    def drop(self, first: int, until: int, amounts: Amounts) -> None:
        """Move the fronts past the rows from ``first`` to ``until``, which are older than every window."""
        numbers, order = self._links.large.numbers(self._links.slots[first:until]), self._links.order
        drop_extremes(first, numbers, len(self.windows), order, self._chain(amounts), self._fronts)

    @property
    def by_row(self) -> RowArrays:
        """The arrays that have an item for each row."""
        return {f"{self._name}.better": self._better, f"{self._name}.worse": self._worse}

    def shift(self, delta: int, end: int) -> None:
        """Follow the history when its row numbers shrink by ``delta`` (``end``: the number after the newest)."""
        for rows in (self._better, self._worse):
            shift_row_numbers_down(rows, delta, end)
        renumber(self._fronts, delta)

    def remove(self) -> None:
        """Remove the chain, all its windows and their arrays."""
        for part in ("better", "worse", "fronts"):
            self._arena.remove(f"{self._name}.{part}")

    def _chain(self, amounts: Amounts) -> Chain:
        members = self._links.members(self._others)
        return Chain(self._better, self._worse, amounts.low, amounts.high, self._sign, members)

    def _prepare(self, first: int, until: int) -> None:
        for part in ("better", "worse"):
            self._arena.prepare(f"{self._name}.{part}", first, until)

    def _reserve(self, rows: int) -> None:
        if rows > len(self._better):
            self._better = self._arena.resize(f"{self._name}.better", 1 << rows.bit_length())
            self._worse = self._arena.resize(f"{self._name}.worse", 1 << rows.bit_length())
        needed = self._links.large.capacity * len(self.windows)
        if needed > len(self._fronts):
            self._fronts = self._arena.resize(f"{self._name}.fronts", needed, -1)
