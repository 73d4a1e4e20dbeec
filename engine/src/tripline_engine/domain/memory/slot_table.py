"""Dense numbers ("slots") for 128-bit keys, counted by reference and used again.

Plain arrays, so that any worker can attach to them. A slot lives as long as a retained row refers to it; when the last
reference goes, the slot is free for another key.

A full table is rehashed into one of twice the size. A large one is rehashed incrementally, a bounded piece with each
call: a million slots at once stalled a micro-batch for a third of a second.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tripline_engine.domain.memory.arena import Arena, Array
from tripline_engine.domain.memory.array_types import BoolArray, Int32Array, Uint64Array
from tripline_engine.domain.memory.slot_kernels import (
    CURSOR,
    FREE,
    LIMIT,
    META_ITEMS,
    NAME,
    NEXT,
    NO_FREE_SLOT,
    NO_SLOT,
    USED,
    Keys,
    find_slots,
    intern_keys,
    move_slots,
    release_slots,
)

# Keys that are interned between two looks at the capacity: room is made for these, not for a whole micro-batch.
_STEP_KEYS: Final = 4096


@dataclass(frozen=True, slots=True)
class SlotTableTuning:
    """When a table grows, and how much of it moves at a time; all in slots.

    :ivar first_capacity: of a new table; a power of two
    :ivar at_once: a table of at most so many is rehashed in one go
    :ivar moved_per_key: of a larger one, for each key that is interned
    :ivar moved_per_call: and besides, with each step of keys
    """

    first_capacity: int = 256
    at_once: int = 1 << 14
    moved_per_key: int = 4
    moved_per_call: int = 256


_DEFAULT: Final = SlotTableTuning()


class SlotTable:
    """Slots for keys (low, high: uint64), numbered from 0, kept dense by reuse."""

    def __init__(self, arena: Arena, name: str, tuning: SlotTableTuning = _DEFAULT) -> None:
        self._arena, self._name, self._tuning = arena, name, tuning
        capacity = tuning.first_capacity
        self.key_low = arena.open(f"{name}.low", np.uint64, capacity)
        self.key_high = arena.open(f"{name}.high", np.uint64, capacity)
        self._counts = arena.open(f"{name}.count", np.int32, capacity)
        self._meta = arena.open(f"{name}.meta", np.int64, META_ITEMS)
        if self._meta[NEXT] == 0:
            self._meta[FREE] = NO_FREE_SLOT
        self._table = self._open(int(self._meta[NAME]), 2 * capacity)
        self._old = self._open(1 - int(self._meta[NAME]), 0) if self.rehashing else self._table

    @property
    def used(self) -> int:
        """The number of keys that have a slot."""
        return int(self._meta[USED])

    @property
    def capacity(self) -> int:
        """The number of keys for which there is room."""
        return len(self._counts)

    @property
    def counts(self) -> Array:
        """References by slot, int32; negative for slots that no key has."""
        return self._counts

    @property
    def in_use(self) -> BoolArray:
        """Whether a key has the slot, by slot."""
        return self._counts > 0

    @property
    def end(self) -> int:
        """The number after the highest slot ever used."""
        return int(self._meta[NEXT])

    @property
    def rehashing(self) -> bool:
        """Whether slots are still to move from the old table."""
        return bool(self._meta[CURSOR] < self._meta[LIMIT])

    def intern(self, low: Uint64Array, high: Uint64Array, present: BoolArray) -> Int32Array:
        """The slot of each key (int32; NO_SLOT where it is not present), each counted once more."""
        return self._intern(low, high, present)[0]

    def _intern(
        self, low: Uint64Array, high: Uint64Array, present: BoolArray
    ) -> tuple[Int32Array, Int32Array]:
        """The slots, and the indices (int32) of the keys that had none before."""
        slots, fresh, fresh_count = np.empty(len(low), np.int32), np.empty(len(low), np.int32), 0
        for start in range(0, len(low), _STEP_KEYS):
            step = slice(start, start + _STEP_KEYS)
            keys = low[step], high[step], present[step]
            # more keys than a step take longer than a rehash does
            self._reserve(self.end + len(keys[0]), at_once=len(low) > _STEP_KEYS)
            if self.rehashing:
                self._rehash_piece(len(keys[0]))
            fresh_count = intern_keys(*keys, self._keys(), slots[step], start, fresh, fresh_count)
        return slots, fresh[:fresh_count]

    def find(self, low: Uint64Array, high: Uint64Array) -> Int32Array:
        """The slot of each key (int32), NO_SLOT where it has none."""
        slots = np.empty(len(low), np.int32)
        find_slots(low, high, self._keys(), slots)
        return slots

    def release(self, slots: Array) -> None:
        """Count each slot (negative: none) once less; free those that reach 0."""
        release_slots(slots, self._keys())

    def remove(self) -> None:
        """Remove the table's arrays."""
        for part in ("table.0", "table.1", "low", "high", "count", "meta"):
            self._arena.remove(f"{self._name}.{part}")

    def _keys(self) -> Keys:
        return Keys(self._table, self._old, self.key_low, self.key_high, self._counts, self._meta)

    def _reserve(self, slots: int, *, at_once: bool) -> None:
        if slots <= len(self._counts):
            return
        if self.rehashing:
            self._rehash_rest()
        capacity = max(len(self._counts) * 2, 1 << (slots - 1).bit_length())
        self.key_low = self._arena.resize(f"{self._name}.low", capacity)
        self.key_high = self._arena.resize(f"{self._name}.high", capacity)
        self._counts = self._arena.resize(f"{self._name}.count", capacity)
        self._meta[CURSOR], self._meta[LIMIT], self._meta[NAME] = 0, self.end, 1 - self._meta[NAME]
        self._old, self._table = self._table, self._open(int(self._meta[NAME]), 2 * capacity)
        if at_once or self.end <= self._tuning.at_once:
            self._rehash_rest()

    def _rehash_piece(self, keys: int) -> None:
        move_slots(self._tuning.moved_per_call + self._tuning.moved_per_key * keys, self._keys())
        if not self.rehashing:
            self._remove_old()

    def _rehash_rest(self) -> None:
        move_slots(self.end, self._keys())
        self._remove_old()

    def _remove_old(self) -> None:
        self._meta[CURSOR] = self._meta[LIMIT] = 0
        self._old = self._table
        self._arena.remove(f"{self._name}.table.{1 - int(self._meta[NAME])}")

    def _open(self, name: int, capacity: int) -> Array:
        return self._arena.open(f"{self._name}.table.{name}", np.int32, capacity, NO_SLOT)
