"""The groups of one grouping: the group of each transaction, whatever the filters of the rules are.

Populations that differ only by their filters share them; of a thousand rules' populations most do.
"""

from __future__ import annotations

from typing import Final, Protocol

import numpy as np

from tripline_contracts.rules.grouping_keys import field_of, step_of
from tripline_engine.domain.history.history import History
from tripline_engine.domain.memory.arena import Arena, Array
from tripline_engine.domain.memory.array_types import Uint64Array
from tripline_engine.domain.memory.row_arrays import RowArrays
from tripline_engine.domain.memory.row_compaction import shift_down
from tripline_engine.domain.memory.siphash import hash_strings
from tripline_engine.domain.memory.slot_kernels import NO_SLOT
from tripline_engine.domain.memory.slot_table import SlotTable
from tripline_engine.domain.memory.steps import floor_to_steps
from tripline_engine.domain.transactions.hash_key import HashKey

_FIRST_ROWS: Final = 1024
# Rows whose groups are numbered at a time: their identities stay in the processor's cache.
_PIECE_ROWS: Final = 1 << 15

NULL_GROUP: Final = NO_SLOT
"""The slot of a row in no group: a field of the grouping is null."""


class Groups(Protocol):
    """The slot in ``table`` of each row's group, which lives as long as the history has a row of it."""

    @property
    def table(self) -> SlotTable:
        """The slot table of the groups."""

    @property
    def slots(self) -> Array:
        """The group of each row, int32; NULL_GROUP where a field of the grouping is null."""

    @property
    def by_row(self) -> RowArrays:
        """The arrays by row."""

    def enter(self, start: int, end: int) -> None:
        """Number the groups of the rows from ``start`` to ``end``."""

    def drop(self, until: int) -> None:
        """Release the groups of the rows before ``until`` (called before the history drops them)."""

    def shift(self, delta: int, end: int) -> None:
        """Follow a compaction that lowers row numbers by ``delta``; ``end`` is the number after the newest, new."""

    def remove(self) -> None:
        """Remove the groups' arrays."""


def groups_by(fields: tuple[str, ...], arena: Arena, name: str, history: History, key: HashKey) -> Groups:
    """The groups by these fields; their arrays, if they have any, begin with ``name``."""
    if len(fields) == 1 and fields[0] in history.values:
        return TextGroups(history, fields[0])
    return NumberedGroups(arena, name, history, fields, key)


class TextGroups:
    """Groups by a single text field: its text dictionary in the history numbers them already."""

    def __init__(self, history: History, field: str) -> None:
        self._history, self._field = history, field
        self.table = history.values[field]

    @property
    def slots(self) -> Array:
        return self._history.codes(self._field)

    @property
    def by_row(self) -> RowArrays:
        return {}

    def enter(self, start: int, end: int) -> None:
        pass

    def drop(self, until: int) -> None:
        pass

    def shift(self, delta: int, end: int) -> None:
        pass

    def remove(self) -> None:
        pass


class NumberedGroups:
    """Groups by any other fields, in a slot table of their own."""

    def __init__(
        self, arena: Arena, name: str, history: History, fields: tuple[str, ...], key: HashKey
    ) -> None:
        self._arena, self._name, self._history, self._fields, self._key = arena, name, history, fields, key
        self.table = SlotTable(arena, name)
        self._slots = arena.open(f"{name}.slot", np.int32, _FIRST_ROWS, NULL_GROUP)

    @property
    def slots(self) -> Array:
        return self._slots

    @property
    def by_row(self) -> RowArrays:
        return {f"{self._name}.slot": self._slots}

    def enter(self, start: int, end: int) -> None:
        if end > len(self._slots):
            self._slots = self._arena.resize(f"{self._name}.slot", 1 << end.bit_length())
        for first in range(start, end, _PIECE_ROWS):
            slots = self.table.intern(*self._identities(first, min(first + _PIECE_ROWS, end)))
            self._arena.put(f"{self._name}.slot", first, slots)

    def drop(self, until: int) -> None:
        self.table.release(self._slots[self._history.base : until])

    def shift(self, delta: int, end: int) -> None:
        shift_down(self._slots, delta, end)

    def remove(self) -> None:
        self._arena.remove(f"{self._name}.slot")
        self.table.remove()

    def _identities(self, start: int, end: int) -> tuple[Array, Array, Array]:
        """128-bit identities of the groups (low, high), and whether there is a group."""
        parts = [self._identity(field, start, end) for field in self._fields]
        present = np.ones(end - start, np.bool_)
        for _, _, has_value in parts:
            present &= has_value
        if not parts:
            zero = np.zeros(end - start, np.uint64)
            return zero, zero, present
        low, high = parts[0][:2] if len(parts) == 1 else self._combine(parts)
        return low, high, present

    def _identity(self, key: str, start: int, end: int) -> tuple[Array, Array, Array]:
        """128-bit identities of the key's values (low, high), and whether there is a value."""
        history = self._history
        if key in history.values:
            codes = history.codes(key)[start:end]
            dictionary = history.values[key]
            return dictionary.key_low[codes], dictionary.key_high[codes], codes >= 0
        amounts, step = history.measure(field_of(key)), step_of(key)
        low, high = amounts.low[start:end].copy(), amounts.high[start:end].copy()
        if step is not None:
            floor_to_steps(low, high, step)
        # hashed, because plain numbers would cluster in the table
        low, high = self._hash_words(np.column_stack((low, high.view(np.uint64))))
        return low, high, np.ones(end - start, np.bool_)

    def _combine(self, parts: list[tuple[Array, Array, Array]]) -> tuple[Array, Array]:
        return self._hash_words(np.column_stack([word for low, high, _ in parts for word in (low, high)]))

    def _hash_words(self, words: Uint64Array) -> tuple[Array, Array]:
        n, width = words.shape
        offsets = np.arange(n + 1, dtype=np.int32) * np.int32(8 * width)
        data = np.ascontiguousarray(words).view(np.uint8).reshape(-1)
        return hash_strings(offsets, data, self._key.first, self._key.second)
