"""Pruning of fields in memory: the rows before which each field is pruned, and before which its memory is released.

    row        base                  pruned until
    field  ....|xxxxxxxxxxxxxxxxxxxxx|1 7 7 3 1 …        x: below the field's floor, and no rule uses the field

Nobody reads a pruned value: before a rule uses the field again it is made null. Row numbers stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from tripline_engine.domain.memory.arena import Arena
from tripline_engine.domain.memory.array_types import RowNumber

# Items of the state for each field.
_PRUNED_UNTIL, _RELEASED_UNTIL, _ITEMS = 0, 1, 2

RELEASED_BYTES: Final = 1 << 16
"""Bytes of an array that are worth a release: each is a system call."""


class ColumnPruning:
    """For each field the row before which it is pruned; 0 for a field that is not.

    :param columns: the names of each field's arrays, with the size of an item in bytes
    :param released_bytes: memory is released in pieces of at least so many bytes of an array
    """

    def __init__(
        self,
        arena: Arena,
        name: str,
        columns: Mapping[str, Mapping[str, int]],
        released_bytes: int = RELEASED_BYTES,
    ) -> None:
        self._arena, self._columns, self._released_bytes = arena, columns, released_bytes
        self._offsets = {field: _ITEMS * index for index, field in enumerate(columns)}
        self._state = arena.open(f"{name}.pruned", np.int64, _ITEMS * max(len(columns), 1))

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields that can be pruned."""
        return tuple(self._columns)

    def pruned_until(self, field: str) -> RowNumber:
        """The first row that has the field."""
        return int(self._state[self._offsets[field] + _PRUNED_UNTIL])

    def released_until(self, field: str) -> RowNumber:
        """The row before which the field's memory is released."""
        return int(self._state[self._offsets[field] + _RELEASED_UNTIL])

    def extend(self, field: str, until: RowNumber) -> None:
        """Prune the field before that row."""
        offset = self._offsets[field]
        self._state[offset + _PRUNED_UNTIL] = until
        released = int(self._state[offset + _RELEASED_UNTIL])
        widest = max(self._columns[field].values())
        if (until - released) * widest >= self._released_bytes:
            done = [self._arena.punch_hole(name, released, until) for name in self._columns[field]]
            if all(done):
                self._state[offset + _RELEASED_UNTIL] = until

    def reset(self, field: str) -> None:
        """Note that the field is not pruned: all its rows have been written."""
        offset = self._offsets[field]
        self._state[offset : offset + _ITEMS] = 0

    def shift(self, delta: int) -> None:
        """Follow a compaction that has lowered row numbers by ``delta`` and moved what is not pruned."""
        for field in self._columns:
            until = max(self.pruned_until(field) - delta, 0)
            self.reset(field)
            if until:
                self.extend(field, until)
