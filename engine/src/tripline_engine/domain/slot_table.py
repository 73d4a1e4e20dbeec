"""Dense numbers ("slots") for 128-bit keys, counted and given back.

Open addressing with linear probing over plain arrays, so that any worker can attach to it. A slot lives as
long as a retained row refers to it; when the last one goes, the slot is free for another key.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from tripline_engine.domain.arena import Arena, Array

_FIRST_CAPACITY = 256
_STEP = 4096
# What `meta` holds.
_USED, _FREE, _NEXT = 0, 1, 2


@njit(cache=True)
def _find(low: Any, high: Any, table: Any, key_low: Any, key_high: Any) -> Any:
    """Position in the table of the key, or of the empty place where it belongs."""
    mask = np.uint64(len(table) - 1)
    at = low & mask
    while table[at] >= 0:
        slot = table[at]
        if key_low[slot] == low and key_high[slot] == high:
            break
        at = (at + np.uint64(1)) & mask
    return at


@njit(cache=True, nogil=True)
def _intern(
    low: Any,
    high: Any,
    present: Any,
    table: Any,
    key_low: Any,
    key_high: Any,
    count: Any,
    meta: Any,
    out: Any,
) -> None:
    for i in range(len(out)):
        if not present[i]:
            out[i] = -1
            continue
        at = _find(low[i], high[i], table, key_low, key_high)
        slot = table[at]
        if slot < 0:
            if meta[_FREE] >= 0:
                slot = meta[_FREE]
                meta[_FREE] = -2 - count[slot]
            else:
                slot = meta[_NEXT]
                meta[_NEXT] += 1
            table[at] = slot
            key_low[slot], key_high[slot], count[slot] = low[i], high[i], 0
            meta[_USED] += 1
        count[slot] += 1
        out[i] = slot


@njit(cache=True)
def _close_gap(at: Any, table: Any, key_low: Any) -> None:
    """Move later members of the probe run back, so that no search stops at the gap before them."""
    mask = np.uint64(len(table) - 1)
    gap = at
    table[gap] = -1
    at = (at + np.uint64(1)) & mask
    while table[at] >= 0:
        home = key_low[table[at]] & mask
        if ((at - home) & mask) >= ((at - gap) & mask):
            table[gap] = table[at]
            table[at] = -1
            gap = at
        at = (at + np.uint64(1)) & mask


@njit(cache=True)
def _release(slots: Any, table: Any, key_low: Any, key_high: Any, count: Any, meta: Any) -> None:
    for slot in slots:
        if slot < 0:
            continue
        count[slot] -= 1
        if count[slot] == 0:
            _close_gap(_find(key_low[slot], key_high[slot], table, key_low, key_high), table, key_low)
            # A free slot's count field links to the next free one: -2 - next, so that -1 ends the chain.
            count[slot] = -2 - meta[_FREE]
            meta[_FREE] = slot
            meta[_USED] -= 1


@njit(cache=True)
def _find_all(low: Any, high: Any, table: Any, key_low: Any, key_high: Any, out: Any) -> None:
    for i in range(len(out)):
        out[i] = table[_find(low[i], high[i], table, key_low, key_high)]


@njit(cache=True, nogil=True)
def _rehash(table: Any, key_low: Any, count: Any, slots: int) -> None:
    table[:] = -1
    mask = np.uint64(len(table) - 1)
    for slot in range(slots):
        if count[slot] > 0:
            # no key is there twice: the first empty place will do, whoever has those before it
            at = key_low[slot] & mask
            while table[at] >= 0:
                at = (at + np.uint64(1)) & mask
            table[at] = slot


class SlotTable:
    """Slots for keys (low, high: uint64), numbered from 0, kept dense by reuse."""

    def __init__(self, arena: Arena, name: str) -> None:
        self._arena, self._name = arena, name
        self._table = arena.open(f"{name}.table", np.int32, 2 * _FIRST_CAPACITY, -1)
        self.key_low = arena.open(f"{name}.low", np.uint64, _FIRST_CAPACITY)
        self.key_high = arena.open(f"{name}.high", np.uint64, _FIRST_CAPACITY)
        self._count = arena.open(f"{name}.count", np.int32, _FIRST_CAPACITY)
        self._meta = arena.open(f"{name}.meta", np.int64, 3)
        if self._meta[_NEXT] == 0:
            self._meta[_FREE] = -1

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
        out = np.empty(len(low), np.int32)
        for start in range(
            0, len(low), _STEP
        ):  # room for a step's new keys, not for as many as there are rows
            step = slice(start, start + _STEP)
            self._reserve(self.end + len(low[step]))
            keys = low[step], high[step], present[step]
            columns = self._table, self.key_low, self.key_high, self._count
            _intern(*keys, *columns, self._meta, out[step])
        return out

    def count_more(self, slots: npt.NDArray[np.int32], more: npt.NDArray[np.int64]) -> None:
        """Count slots that are in use, each named once, so many times more."""
        self._count[slots] += more.astype(np.int32)

    def find(self, low: npt.NDArray[np.uint64], high: npt.NDArray[np.uint64]) -> npt.NDArray[np.int32]:
        """The slot of each key (int32), -1 where it has none."""
        out = np.empty(len(low), np.int32)
        _find_all(low, high, self._table, self.key_low, self.key_high, out)
        return out

    def release(self, slots: Array) -> None:
        """Count each slot (-1: none) once less; free those that reach nought."""
        _release(slots, self._table, self.key_low, self.key_high, self._count, self._meta)

    def remove(self) -> None:
        """Forget the table and its files."""
        for part in ("table", "low", "high", "count", "meta"):
            self._arena.remove(f"{self._name}.{part}")

    def _reserve(self, slots: int) -> None:
        if slots <= len(self._count):
            return
        capacity = max(len(self._count) * 2, 1 << (slots - 1).bit_length())
        self.key_low = self._arena.resize(f"{self._name}.low", capacity)
        self.key_high = self._arena.resize(f"{self._name}.high", capacity)
        self._count = self._arena.resize(f"{self._name}.count", capacity)
        self._table = self._arena.resize(f"{self._name}.table", 2 * capacity, -1)
        _rehash(self._table, self.key_low, self._count, self.end)
