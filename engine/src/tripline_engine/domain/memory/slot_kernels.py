"""Open addressing with linear probing over plain arrays, and incremental rehashing: the kernels of a slot table.

    old table   0  .  2  3  .  .        slots from the cursor to the limit are still found here
    table       .  1  .  .  .  .  …     the others, and every new one, are found here

A slot's number says which of the two tables it is in, so a search never looks for it in both.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from tripline_engine.domain.memory.array_types import (
    BoolArray,
    Int32Array,
    Int64Array,
    Slot,
    Uint64Array,
    Word,
)
from tripline_engine.domain.memory.kernel import kernel

NO_SLOT: Final = -1
"""The slot of a key that has none, and of a null. An index entry without a slot reads so too."""
_TOMBSTONE: Final = -2
"""In the old table, the entry of a slot that was freed. Searches go on past it, and past slots that have moved."""
NO_FREE_SLOT: Final = -1
"""The end of the chain of free slots."""
_FREE_LINK: Final = -2
"""A free slot's count is _FREE_LINK less the next free slot, so it is negative whatever that is."""

# Items of `meta`: keys in use; the first free slot; the lowest slot never used; the slots that are still in the old
# table, from a cursor up to a limit; and which of the two array names the table has.
USED, FREE, NEXT, CURSOR, LIMIT, NAME, META_ITEMS = 0, 1, 2, 3, 4, 5, 6


class Keys(NamedTuple):
    """The arrays of a slot table, for kernels.

    :ivar table: int32, slots by the low word of their keys; its length is a power of two
    :ivar old: int32, the table that slots are moving from; the table itself where none are
    :ivar low: with ``high``, uint64 by slot: the key
    :ivar counts: int32 by slot: its references
    :ivar meta: int64, META_ITEMS
    """

    table: Int32Array
    old: Int32Array
    low: Uint64Array
    high: Uint64Array
    counts: Int32Array
    meta: Int64Array


@kernel()
def _probe(
    low: Word,
    high: Word,
    table: Int32Array,
    key_low: Uint64Array,
    key_high: Uint64Array,
    first: Slot = 0,
) -> Word:
    """The index of the key's entry, or of the empty one where it belongs; slots below ``first`` are not there."""
    mask = np.uint64(len(table) - 1)
    index = low & mask
    while table[index] != NO_SLOT:
        slot = table[index]
        if slot >= first and key_low[slot] == low and key_high[slot] == high:
            break
        index = (index + np.uint64(1)) & mask
    return index


@kernel()
def _is_in_old(slot: Slot, meta: Int64Array) -> bool:
    """Whether the slot belongs to the old table: it has not moved, or would not have if it were in use."""
    result: bool = meta[CURSOR] <= slot < meta[LIMIT]
    return result


@kernel()
def _enter(slot: Slot, table: Int32Array, key_low: Uint64Array) -> None:
    """Enter a slot that the table does not have yet: the first empty entry will do, whoever has those before it."""
    mask = np.uint64(len(table) - 1)
    index = key_low[slot] & mask
    while table[index] != NO_SLOT:
        index = (index + np.uint64(1)) & mask
    table[index] = slot


@kernel()
def _new_slot(
    low: Word,
    high: Word,
    key_low: Uint64Array,
    key_high: Uint64Array,
    counts: Int32Array,
    meta: Int64Array,
) -> Slot:
    """A slot for a key that has none; the tables do not have it yet."""
    slot: Slot = meta[FREE]
    if slot >= 0:
        meta[FREE] = _FREE_LINK - counts[slot]
    else:
        slot = meta[NEXT]
        meta[NEXT] += 1
    key_low[slot], key_high[slot], counts[slot] = low, high, 0
    meta[USED] += 1
    return slot


@kernel()
def _slot_while_moving(
    low: Word,
    high: Word,
    table: Int32Array,
    old: Int32Array,
    key_low: Uint64Array,
    key_high: Uint64Array,
    counts: Int32Array,
    meta: Int64Array,
) -> Slot:
    """The slot of a key that is not in the table: the one it has in the old table, or a new one."""
    slot: Slot = int(old[_probe(low, high, old, key_low, key_high, meta[CURSOR])])
    if slot < 0:
        slot = _new_slot(low, high, key_low, key_high, counts, meta)
        _enter(slot, old if _is_in_old(slot, meta) else table, key_low)
    return slot


@kernel(nogil=True)
def intern_keys(
    low: Uint64Array,
    high: Uint64Array,
    present: BoolArray,
    keys: Keys,
    slots: Int32Array,
    first: int,
    fresh: Int32Array,
    fresh_count: int,
) -> int:
    """Write the slot of each key, and count it once more.

    :param slots: NO_SLOT where the key is not present
    :param first: the number of the first key
    :param fresh: ``fresh_count`` numbers of keys that had no slot before; these are added
    :returns: their count afterwards
    """
    table, old, counts, meta = keys.table, keys.old, keys.counts, keys.meta
    key_low, key_high = keys.low, keys.high
    moving = meta[CURSOR] < meta[LIMIT]
    for i in range(len(slots)):
        if not present[i]:
            slots[i] = NO_SLOT
            continue
        index = _probe(low[i], high[i], table, key_low, key_high)
        slot = table[index]
        if slot < 0 and moving:
            slot = _slot_while_moving(low[i], high[i], table, old, key_low, key_high, counts, meta)
            if counts[slot] == 0:
                fresh[fresh_count] = first + i
                fresh_count += 1
        elif slot < 0:
            slot = _new_slot(low[i], high[i], key_low, key_high, counts, meta)
            table[index] = slot
            fresh[fresh_count] = first + i
            fresh_count += 1
        counts[slot] += 1
        slots[i] = slot
    return fresh_count


@kernel()
def _close_gap(index: Word, table: Int32Array, key_low: Uint64Array) -> None:
    """Empty an entry, and move later members of its probe run back: a search would stop at the gap before them."""
    mask = np.uint64(len(table) - 1)
    gap = index
    table[gap] = NO_SLOT
    index = (index + np.uint64(1)) & mask
    while table[index] != NO_SLOT:
        home = key_low[table[index]] & mask
        if ((index - home) & mask) >= ((index - gap) & mask):
            table[gap] = table[index]
            table[index] = NO_SLOT
            gap = index
        index = (index + np.uint64(1)) & mask


@kernel()
def release_slots(slots: Int32Array, keys: Keys) -> None:
    """Count each slot (negative: none) once less; free those that reach 0."""
    table, old, counts, meta = keys.table, keys.old, keys.counts, keys.meta
    key_low, key_high = keys.low, keys.high
    for slot in slots:
        if slot < 0:
            continue
        counts[slot] -= 1
        if counts[slot] == 0:
            low, high = key_low[slot], key_high[slot]
            if _is_in_old(slot, meta):
                old[_probe(low, high, old, key_low, key_high, meta[CURSOR])] = _TOMBSTONE
            else:
                _close_gap(_probe(low, high, table, key_low, key_high), table, key_low)
            counts[slot] = _FREE_LINK - meta[FREE]
            meta[FREE] = slot
            meta[USED] -= 1


@kernel()
def find_slots(low: Uint64Array, high: Uint64Array, keys: Keys, slots: Int32Array) -> None:
    """Write the slot of each key, NO_SLOT where it has none."""
    table, old, meta = keys.table, keys.old, keys.meta
    key_low, key_high = keys.low, keys.high
    for i in range(len(slots)):
        slot = table[_probe(low[i], high[i], table, key_low, key_high)]
        if slot < 0 and meta[CURSOR] < meta[LIMIT]:
            slot = old[_probe(low[i], high[i], old, key_low, key_high, meta[CURSOR])]
        slots[i] = slot


@kernel(nogil=True)
def move_slots(limit: int, keys: Keys) -> None:
    """Rehash the next slots of the old table, in use or not, into the table: at most ``limit`` of them."""
    table, key_low, counts, meta = keys.table, keys.low, keys.counts, keys.meta
    until = min(meta[CURSOR] + limit, meta[LIMIT])
    for slot in range(meta[CURSOR], until):
        if counts[slot] > 0:
            _enter(slot, table, key_low)
    meta[CURSOR] = until
