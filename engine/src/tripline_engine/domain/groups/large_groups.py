"""Large groups: those with more than a few transactions, which alone have window states.

Most groups of a fine grouping ("by both parties at once") have one or two transactions and never more. Their windows
are evaluated faster by walking back over these than by looking up a state, and a state for each window of each such
group would be most of an engine's memory.

    slot       0    1    2    3    4   …      every group of the grouping has one
    number     -    0    -    -    1   …      only large ones have one of these; states are laid out by it

A group is large from the micro-batch on in which it has more than `SMALL_GROUP_ROWS` transactions, until its list
ends. Its states are built then from its transactions before the micro-batch. Whether it is large changes no result.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from tripline_engine.domain.memory.arena import Arena, Array
from tripline_engine.domain.memory.array_types import NO_ROW, Int32Array, Int64Array, RowNumber
from tripline_engine.domain.memory.kernel import kernel

SMALL_GROUP_ROWS: Final = 8
"""A group with at most so many retained transactions, filtered ones counted too, has no states yet."""

NO_GROUP: Final = -2
"""Among group numbers: the transaction is in no group."""
SMALL_GROUP: Final = -1
"""Among group numbers: the transaction's group is small."""

_FIRST_CAPACITY: Final = 256
_NO_FREE_NUMBER: Final = -1
"""The end of the chain of numbers that are free again."""
# Items of `meta`: the lowest number never used, and the first of the chain of free ones.
_NEXT, _FREE, _META_ITEMS = 0, 1, 2


class Entering(NamedTuple):
    """The transactions of a micro-batch by the numbers of their groups, and the groups that become large with it.

    :ivar numbers: int32 by transaction; NO_GROUP, or SMALL_GROUP
    :ivar grown: int32, the numbers of groups that became large
    :ivar newest: int32, with ``grown``: the group's newest row before the micro-batch, or NO_ROW
    """

    numbers: Int32Array
    grown: Int32Array
    newest: Int32Array


class GroupNumbers(NamedTuple):
    """The numbers of large groups, for kernels.

    :ivar by_slot: int32, the group's number, or SMALL_GROUP
    :ivar chain: int32 by number: the next free number
    :ivar meta: int64, _META_ITEMS
    :ivar small: a group with at most so many transactions is small
    """

    by_slot: Int32Array
    chain: Int32Array
    meta: Int64Array
    small: int


@kernel(nogil=True)
def _enter(
    first: int,
    slots: Int32Array,
    counts: Int32Array,
    last: Int32Array,
    base: RowNumber,
    groups: GroupNumbers,
    entering: Entering,
    grown_count: int,
) -> tuple[int, int]:
    """Number the groups of the transactions from ``first`` on, until free numbers run out.

    :returns: the first transaction that is not done, and the groups that became large so far
    """
    by_slot, chain, meta = groups.by_slot, groups.chain, groups.meta
    for i in range(first, len(slots)):
        slot = slots[i]
        if slot < 0:
            entering.numbers[i] = NO_GROUP
            continue
        # one that has shrunk keeps its states
        if counts[slot] > groups.small and by_slot[slot] < 0:
            number = meta[_FREE]
            if number >= 0:
                meta[_FREE] = chain[number]
            elif meta[_NEXT] < len(chain):
                number = meta[_NEXT]
                meta[_NEXT] += 1
            else:
                return i, grown_count
            by_slot[slot] = number
            entering.grown[grown_count] = number
            entering.newest[grown_count] = last[slot] if last[slot] >= base else NO_ROW
            grown_count += 1
        entering.numbers[i] = by_slot[slot]
    return len(slots), grown_count


@kernel()
def _release(
    first: RowNumber, until: RowNumber, slots: Int32Array, last: Int32Array, groups: GroupNumbers
) -> None:
    by_slot, chain, meta = groups.by_slot, groups.chain, groups.meta
    for row in range(first, until):
        slot = slots[row]
        if slot < 0 or last[slot] != row or by_slot[slot] < 0:
            continue
        # all transactions have been counted out of the group's windows: its states are as new
        chain[by_slot[slot]] = meta[_FREE]
        meta[_FREE] = by_slot[slot]
        by_slot[slot] = SMALL_GROUP


@kernel(nogil=True)
def _collect(
    by_slot: Int32Array, last: Int32Array, base: RowNumber, numbers: Int32Array, newest: Int32Array
) -> int:
    count = 0
    for slot in range(len(last)):
        if by_slot[slot] >= 0 and last[slot] >= base:
            numbers[count], newest[count] = by_slot[slot], last[slot]
            count += 1
    return count


class LargeGroups:
    """The numbers of a population's large groups.

    ``by_slot`` is int32 by slot, negative for a group without one.

    :param small: a group with at most so many transactions is small
    """

    def __init__(self, arena: Arena, name: str, slots: int, small: int = SMALL_GROUP_ROWS) -> None:
        self._arena, self._name, self._small = arena, name, small
        self.by_slot = arena.open(f"{name}.large", np.int32, slots, SMALL_GROUP)
        self._chain = arena.open(f"{name}.large.free", np.int32, _FIRST_CAPACITY, _NO_FREE_NUMBER)
        self._meta = arena.open(f"{name}.large.meta", np.int64, _META_ITEMS, _NO_FREE_NUMBER)
        self._meta[_NEXT] = max(self._meta[_NEXT], 0)

    @property
    def capacity(self) -> int:
        """All numbers lie below this."""
        return len(self._chain)

    def reserve(self, slots: int) -> None:
        """Make room for groups with so many slots."""
        if slots > len(self.by_slot):
            self.by_slot = self._arena.resize(f"{self._name}.large", slots, SMALL_GROUP)

    def enter(self, slots: Array, counts: Array, last: Array, base: RowNumber) -> Entering:
        """Number the groups that are large now.

        :param slots: int32, n, the groups of a micro-batch's transactions, which are not in the lists yet
        :param counts: int32 by slot: the transactions of the group with these, or more
        :param last: int32 by slot: the group's newest row; below ``base`` if it has none
        """
        entering = Entering(*(np.empty(len(slots), np.int32) for _ in range(3)))
        done, grown = 0, 0
        while True:
            done, grown = _enter(done, slots, counts, last, base, self._numbers, entering, grown)
            if done == len(slots):
                return Entering(entering.numbers, entering.grown[:grown], entering.newest[:grown])
            self._chain = self._arena.resize(f"{self._name}.large.free", 2 * self.capacity, _NO_FREE_NUMBER)

    def numbers(self, slots: Array) -> Int32Array:
        """The numbers of these groups (int32), negative where there is none."""
        return np.where(slots >= 0, self.by_slot[slots], np.int32(NO_GROUP))

    def numbers_in_use(self, last: Array, base: RowNumber) -> tuple[Int32Array, Int32Array]:
        """The numbers of all large groups, and each one's newest row (int32, both)."""
        numbers, newest = np.empty(self.capacity, np.int32), np.empty(self.capacity, np.int32)
        count = _collect(self.by_slot, last, base, numbers, newest)
        return numbers[:count], newest[:count]

    def release(self, first: RowNumber, until: RowNumber, slots: Array, last: Array) -> None:
        """Free the numbers of groups whose newest row is among those from ``first`` to ``until``, which are dropped."""
        _release(first, until, slots, last, self._numbers)

    def remove(self) -> None:
        """Remove the numbers' arrays."""
        for part in ("large", "large.free", "large.meta"):
            self._arena.remove(f"{self._name}.{part}")

    @property
    def _numbers(self) -> GroupNumbers:
        return GroupNumbers(self.by_slot, self._chain, self._meta, self._small)
