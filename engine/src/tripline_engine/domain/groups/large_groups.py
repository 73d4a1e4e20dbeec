"""Which groups have states for their windows: those with more than a few transactions.

Most groups of a fine grouping ("by both parties at once") hold one or two transactions and never more. What their
windows hold is found faster by walking back over these than by looking up what is remembered, and a state for each
window of each such group would be most of an engine's memory.

    slot       0    1    2    3    4   …      every group of the grouping has one
    number     -    0    -    -    1   …      only large ones have one of these; states are laid out by it

A group is large from the micro-batch on in which it has more than `SMALL` transactions, until its list ends. Its states
are built then from what was there before the micro-batch. Whether it is large changes no result.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tripline_engine.domain.memory.arena import Arena, Array
from tripline_engine.domain.memory.kernel import kernel

SMALL = 8
"""A group of so many retained transactions has no states yet, those counted that a filter leaves out."""

NO_GROUP, SMALL_GROUP = -2, -1
"""Stand for "in no group" and "in a small group" among numbers."""

_FIRST_CAPACITY = 256
# What `meta` holds: the first number that was never given, and the first of the chain of those given back.
_NEXT, _FREE = 0, 1


class Entering(NamedTuple):
    """The transactions of a micro-batch by the numbers of their groups, and the groups that are large since it.

    :ivar numbers: int32 by transaction; NO_GROUP, or SMALL_GROUP
    :ivar grown: int32, the numbers that were given
    :ivar newest: int32, with ``grown``: the group's newest row before the micro-batch, -1 if there is none
    """

    numbers: npt.NDArray[np.int32]
    grown: npt.NDArray[np.int32]
    newest: npt.NDArray[np.int32]


@kernel(nogil=True)
def _enter(
    first: int,
    slots: Any,
    counts: Any,
    last: Any,
    base: int,
    small: int,
    own: Any,
    chain: Any,
    meta: Any,
    entering: Any,
    found: int,
) -> Any:
    """Up to which transaction the numbers reached, from ``first`` on, and how many groups have got one so far."""
    for i in range(first, len(slots)):
        slot = slots[i]
        if slot < 0:
            entering.numbers[i] = NO_GROUP
            continue
        # one that has shrunk keeps its states
        if counts[slot] > small and own[slot] < 0:
            number = meta[_FREE]
            if number >= 0:
                meta[_FREE] = chain[number]
            elif meta[_NEXT] < len(chain):
                number = meta[_NEXT]
                meta[_NEXT] += 1
            else:
                return i, found
            own[slot] = number
            entering.grown[found] = number
            entering.newest[found] = last[slot] if last[slot] >= base else -1
            found += 1
        entering.numbers[i] = own[slot]
    return len(slots), found


@kernel()
def _forget(first: int, until: int, slots: Any, last: Any, own: Any, chain: Any, meta: Any) -> None:
    for row in range(first, until):
        slot = slots[row]
        if slot < 0 or last[slot] != row or own[slot] < 0:
            continue
        # whatever the group's windows held has been counted out: its states are as new
        chain[own[slot]] = meta[_FREE]
        meta[_FREE] = own[slot]
        own[slot] = SMALL_GROUP


@kernel(nogil=True)
def _places(own: Any, last: Any, base: int, places: Any, newest: Any) -> int:
    found = 0
    for slot in range(len(last)):
        if own[slot] >= 0 and last[slot] >= base:
            places[found], newest[found] = own[slot], last[slot]
            found += 1
    return found


class LargeGroups:
    """The numbers of a population's large groups.

    ``by_slot`` is int32 by slot, negative for a group without one.
    """

    def __init__(self, arena: Arena, name: str, slots: int) -> None:
        self._arena, self._name = arena, name
        self.by_slot = arena.open(f"{name}.large", np.int32, slots, SMALL_GROUP)
        self._chain = arena.open(f"{name}.large.free", np.int32, _FIRST_CAPACITY, -1)
        self._meta = arena.open(f"{name}.large.meta", np.int64, 2, -1)
        self._meta[_NEXT] = max(self._meta[_NEXT], 0)

    @property
    def capacity(self) -> int:
        """All numbers lie below this."""
        return len(self._chain)

    def reserve(self, slots: int) -> None:
        """Make room for groups with so many slots."""
        if slots > len(self.by_slot):
            self.by_slot = self._arena.resize(f"{self._name}.large", slots, SMALL_GROUP)

    def enter(self, slots: Array, counts: Array, last: Array, base: int) -> Entering:
        """Number the groups that are large now.

        :param slots: int32, n, the groups of a micro-batch's transactions, which are not in the lists yet
        :param counts: int32 by slot: how many transactions the group has with them, or more
        :param last: int32 by slot: the group's newest row; below ``base`` if it has none
        """
        entering = Entering(*(np.empty(len(slots), np.int32) for _ in range(3)))
        reached, found = 0, 0
        while True:
            own = self.by_slot, self._chain, self._meta
            reached, found = _enter(reached, slots, counts, last, base, SMALL, *own, entering, found)
            if reached == len(slots):
                return Entering(entering.numbers, entering.grown[:found], entering.newest[:found])
            self._chain = self._arena.resize(f"{self._name}.large.free", 2 * self.capacity, -1)

    def numbers(self, slots: Array) -> npt.NDArray[np.int32]:
        """The numbers of these groups (int32), negative where there is none."""
        return np.where(slots >= 0, self.by_slot[slots], np.int32(NO_GROUP))

    def numbers_in_use(self, last: Array, base: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """The numbers of all that are in use, and each one's newest row (int32, both)."""
        places, newest = np.empty(self.capacity, np.int32), np.empty(self.capacity, np.int32)
        found = _places(self.by_slot, last, base, places, newest)
        return places[:found], newest[:found]

    def release(self, first: int, until: int, slots: Array, last: Array) -> None:
        """Give back the numbers of groups whose newest row is among those from ``first`` to ``until``, which go."""
        _forget(first, until, slots, last, self.by_slot, self._chain, self._meta)

    def remove(self) -> None:
        """Forget the numbers and their arrays."""
        for part in ("large", "large.free", "large.meta"):
            self._arena.remove(f"{self._name}.{part}")
