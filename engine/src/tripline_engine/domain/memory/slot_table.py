"""Dense numbers ("slots") for 128-bit keys, counted and given back.

Open addressing with linear probing over plain arrays, so that any worker can attach to it. A slot lives as
long as a retained row refers to it; when the last one goes, the slot is free for another key.

When there is no room for more, a table with twice the places takes over. Of a large one the slots move there a bounded
piece at a time: a million of them at once held up a micro-batch for a third of a second. Meanwhile each slot is in one
of the two tables, and its number says in which: those from a cursor up to a limit are yet to move.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tripline_engine.domain.memory.arena import Arena, Array
from tripline_engine.domain.memory.kernel import kernel

_FIRST_CAPACITY: Final = 256
_STEP: Final = 4096
# What a place has besides a slot: nothing, or, in the table before, what was freed there. Searches go on past that, and
# past slots that have moved.
_EMPTY, _FREED = -1, -2
# What `meta` holds: keys, the first free slot, the next new one; the slots that are yet to move, from a cursor up to a
# limit; and which of the two names the table has.
_USED, _FREE, _NEXT, _CURSOR, _LIMIT, _NAME, _META = 0, 1, 2, 3, 4, 5, 6
# Tables of so many slots move at once; of larger ones so many slots for each row that comes, and at least so many.
_AT_ONCE: Final = 1 << 14
_MOVED_EACH, _MOVED_LEAST = 4, 256


class Keys(NamedTuple):
    """What kernels see: two tables (int32), and by slot the key (uint64, low and high) and its count (int32).

    ``before`` is the table itself where nothing is to be moved.
    """

    table: Array
    before: Array
    low: Array
    high: Array
    counts: Array
    meta: Array


@kernel()
def _place(low: Any, high: Any, table: Any, key_low: Any, key_high: Any, first: Any = 0) -> Any:
    """Where in that table the key is, or the empty place where it belongs; slots before the first are not there."""
    mask = np.uint64(len(table) - 1)
    at = low & mask
    while table[at] != _EMPTY:
        slot = table[at]
        if slot >= first and key_low[slot] == low and key_high[slot] == high:
            break
        at = (at + np.uint64(1)) & mask
    return at


@kernel()
def _find(low: Any, high: Any, table: Any, before: Any, key_low: Any, key_high: Any, meta: Any) -> Any:
    """The key's slot, -1 if it has none."""
    slot = table[_place(low, high, table, key_low, key_high)]
    if slot < 0 and meta[_CURSOR] < meta[_LIMIT]:
        slot = before[_place(low, high, before, key_low, key_high, meta[_CURSOR])]
    return slot


@kernel()
def _is_before(slot: Any, meta: Any) -> Any:
    """Whether the slot belongs to the table before: it is yet to move, or would be if it were in use."""
    return meta[_CURSOR] <= slot < meta[_LIMIT]


@kernel()
def _put(slot: Any, table: Any, key_low: Any) -> None:
    """Enter a slot that the table does not have yet: the first empty place will do, whoever has those before it."""
    mask = np.uint64(len(table) - 1)
    at = key_low[slot] & mask
    while table[at] != _EMPTY:
        at = (at + np.uint64(1)) & mask
    table[at] = slot


@kernel()
def _new_slot(low: Any, high: Any, key_low: Any, key_high: Any, count: Any, meta: Any) -> Any:
    """A slot for a key that has none; the tables do not have it yet."""
    if meta[_FREE] >= 0:
        slot = meta[_FREE]
        meta[_FREE] = -2 - count[slot]
    else:
        slot = meta[_NEXT]
        meta[_NEXT] += 1
    key_low[slot], key_high[slot], count[slot] = low, high, 0
    meta[_USED] += 1
    return slot


@kernel()
def _slot_while_moving(
    low: Any, high: Any, table: Any, before: Any, key_low: Any, key_high: Any, count: Any, meta: Any
) -> Any:
    """The slot of a key that is not in the table: the one it has in the table before, or a new one."""
    slot = np.int64(before[_place(low, high, before, key_low, key_high, meta[_CURSOR])])
    if slot < 0:
        slot = _new_slot(low, high, key_low, key_high, count, meta)
        _put(slot, before if _is_before(slot, meta) else table, key_low)
    return slot


@kernel(nogil=True)
def _intern(
    low: Any, high: Any, present: Any, keys: Any, out: Any, first: int, fresh: Any, found: int
) -> int:
    """Number keys, the one with the number ``first`` and those behind it.

    :param fresh: ``found`` numbers of keys that had no slot before; these are added
    :returns: how many there are then
    """
    table, before, count, meta = keys.table, keys.before, keys.counts, keys.meta
    key_low, key_high = keys.low, keys.high
    moving = meta[_CURSOR] < meta[_LIMIT]
    for i in range(len(out)):
        if not present[i]:
            out[i] = -1
            continue
        at = _place(low[i], high[i], table, key_low, key_high)
        slot = table[at]
        if slot < 0 and moving:
            slot = _slot_while_moving(low[i], high[i], table, before, key_low, key_high, count, meta)
            if count[slot] == 0:
                fresh[found] = first + i
                found += 1
        elif slot < 0:
            slot = _new_slot(low[i], high[i], key_low, key_high, count, meta)
            table[at] = slot
            fresh[found] = first + i
            found += 1
        count[slot] += 1
        out[i] = slot
    return found


@kernel()
def _close_gap(at: Any, table: Any, key_low: Any) -> None:
    """Move later members of the probe run back, so that no search stops at the gap before them."""
    mask = np.uint64(len(table) - 1)
    gap = at
    table[gap] = _EMPTY
    at = (at + np.uint64(1)) & mask
    while table[at] != _EMPTY:
        home = key_low[table[at]] & mask
        if ((at - home) & mask) >= ((at - gap) & mask):
            table[gap] = table[at]
            table[at] = _EMPTY
            gap = at
        at = (at + np.uint64(1)) & mask


@kernel()
def _release(slots: Any, keys: Any) -> None:
    table, before, count, meta = keys.table, keys.before, keys.counts, keys.meta
    key_low, key_high = keys.low, keys.high
    for slot in slots:
        if slot < 0:
            continue
        count[slot] -= 1
        if count[slot] == 0:
            low, high = key_low[slot], key_high[slot]
            if _is_before(slot, meta):
                before[_place(low, high, before, key_low, key_high, meta[_CURSOR])] = _FREED
            else:
                _close_gap(_place(low, high, table, key_low, key_high), table, key_low)
            # A free slot's count field links to the next free one: -2 - next, so that -1 ends the chain.
            count[slot] = -2 - meta[_FREE]
            meta[_FREE] = slot
            meta[_USED] -= 1


@kernel()
def _find_all(low: Any, high: Any, keys: Any, out: Any) -> None:
    table, before, meta = keys.table, keys.before, keys.meta
    key_low, key_high = keys.low, keys.high
    for i in range(len(out)):
        out[i] = _find(low[i], high[i], table, before, key_low, key_high, meta)


@kernel(nogil=True)
def _move(most: int, keys: Any) -> None:
    """Have so many of the slots that are yet to move, in use or not, change to the table."""
    table, key_low, count, meta = keys.table, keys.low, keys.counts, keys.meta
    until = min(meta[_CURSOR] + most, meta[_LIMIT])
    for slot in range(meta[_CURSOR], until):
        if count[slot] > 0:
            _put(slot, table, key_low)
    meta[_CURSOR] = until


class SlotTable:
    """Slots for keys (low, high: uint64), numbered from 0, kept dense by reuse."""

    def __init__(self, arena: Arena, name: str) -> None:
        self._arena, self._name = arena, name
        self.key_low = arena.open(f"{name}.low", np.uint64, _FIRST_CAPACITY)
        self.key_high = arena.open(f"{name}.high", np.uint64, _FIRST_CAPACITY)
        self._count = arena.open(f"{name}.count", np.int32, _FIRST_CAPACITY)
        self._meta = arena.open(f"{name}.meta", np.int64, _META)
        if self._meta[_NEXT] == 0:
            self._meta[_FREE] = -1
        self._table = self._open(int(self._meta[_NAME]), 2 * _FIRST_CAPACITY)
        self._before = self._open(1 - int(self._meta[_NAME]), 0) if self._moving else self._table

    @property
    def used(self) -> int:
        """How many keys have a slot."""
        return int(self._meta[_USED])

    @property
    def capacity(self) -> int:
        """For how many keys there is room."""
        return len(self._count)

    @property
    def counts(self) -> Array:
        """For each slot how often it is counted, int32; of slots that no key has it is negative."""
        return self._count

    @property
    def in_use(self) -> npt.NDArray[np.bool_]:
        """For each slot whether a key has it."""
        return self._count > 0

    @property
    def end(self) -> int:
        """All slots given so far lie below this number."""
        return int(self._meta[_NEXT])

    def intern(
        self, low: npt.NDArray[np.uint64], high: npt.NDArray[np.uint64], present: npt.NDArray[np.bool_]
    ) -> npt.NDArray[np.int32]:
        """The slot of each key (int32; -1 where it is not present), each counted once more."""
        return self._intern(low, high, present)[0]

    def _intern(
        self, low: npt.NDArray[np.uint64], high: npt.NDArray[np.uint64], present: npt.NDArray[np.bool_]
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """The slots, and which of the keys (int32, their places) had none before."""
        out, fresh, found = np.empty(len(low), np.int32), np.empty(len(low), np.int32), 0
        # room for a step's new keys, not for as many as there are rows
        for start in range(0, len(low), _STEP):
            step = slice(start, start + _STEP)
            rows = low[step], high[step], present[step]
            # whoever brings so many waits for more than this
            self._reserve(self.end + len(rows[0]), at_once=len(low) > _STEP)
            if self._moving:
                self._move_on(len(rows[0]))
            found = _intern(*rows, self._keys(), out[step], start, fresh, found)
        return out, fresh[:found]

    def find(self, low: npt.NDArray[np.uint64], high: npt.NDArray[np.uint64]) -> npt.NDArray[np.int32]:
        """The slot of each key (int32), -1 where it has none."""
        out = np.empty(len(low), np.int32)
        _find_all(low, high, self._keys(), out)
        return out

    def release(self, slots: Array) -> None:
        """Count each slot (-1: none) once less; free those that reach nought."""
        _release(slots, self._keys())

    def remove(self) -> None:
        """Forget the table and its files."""
        for part in ("table.0", "table.1", "low", "high", "count", "meta"):
            self._arena.remove(f"{self._name}.{part}")

    @property
    def _moving(self) -> bool:
        return bool(self._meta[_CURSOR] < self._meta[_LIMIT])

    def _keys(self) -> Keys:
        return Keys(self._table, self._before, self.key_low, self.key_high, self._count, self._meta)

    def _reserve(self, slots: int, *, at_once: bool) -> None:
        if slots <= len(self._count):
            return
        if self._moving:
            self._finish()
        capacity = max(len(self._count) * 2, 1 << (slots - 1).bit_length())
        self.key_low = self._arena.resize(f"{self._name}.low", capacity)
        self.key_high = self._arena.resize(f"{self._name}.high", capacity)
        self._count = self._arena.resize(f"{self._name}.count", capacity)
        self._meta[_CURSOR], self._meta[_LIMIT], self._meta[_NAME] = 0, self.end, 1 - self._meta[_NAME]
        self._before, self._table = self._table, self._open(int(self._meta[_NAME]), 2 * capacity)
        if at_once or self.end <= _AT_ONCE:
            self._finish()

    def _move_on(self, rows: int) -> None:
        _move(_MOVED_LEAST + _MOVED_EACH * rows, self._keys())
        if not self._moving:
            self._leave()

    def _finish(self) -> None:
        _move(self.end, self._keys())
        self._leave()

    def _leave(self) -> None:
        """All has moved."""
        self._meta[_CURSOR] = self._meta[_LIMIT] = 0
        self._before = self._table
        self._arena.remove(f"{self._name}.table.{1 - int(self._meta[_NAME])}")

    def _open(self, name: int, capacity: int) -> Array:
        return self._arena.open(f"{self._name}.table.{name}", np.int32, capacity, _EMPTY)
