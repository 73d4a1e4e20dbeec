"""How far the fields of a history are pruned in memory, and how much of that the system has back.

    row        base                  until
    field  ....|xxxxxxxxxxxxxxxxxxxxx|1 7 7 3 1 …        x: below the field's floor, and no rule uses the field

What is pruned is read by nobody: before a rule uses the field again it is made null. A row's number is what it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from tripline_engine.domain.memory.arena import Arena

# What the array holds for each field: the row before which it is pruned, and the one before which memory is given back.
_UNTIL, _GIVEN, _EACH = 0, 1, 2
# Pages go back when it is so many bytes of an array: each time is a call to the system.
_WORTH: Final = 1 << 16


class ColumnPruning:
    """For each field the row number before which it is pruned; 0 for a field that is not.

    :param columns: the names of each field's arrays, with the size of an item in bytes
    """

    def __init__(self, arena: Arena, name: str, columns: Mapping[str, Mapping[str, int]]) -> None:
        self._arena, self._columns = arena, columns
        self._places = {field: _EACH * at for at, field in enumerate(columns)}
        self._state = arena.open(f"{name}.pruned", np.int64, _EACH * max(len(columns), 1))

    @property
    def fields(self) -> tuple[str, ...]:
        """Those that can be."""
        return tuple(self._columns)

    def until(self, field: str) -> int:
        """The number of the first row that has the field."""
        return int(self._state[self._places[field] + _UNTIL])

    def extend(self, field: str, until: int) -> None:
        """The field is pruned before that row."""
        place = self._places[field]
        self._state[place + _UNTIL] = until
        given = int(self._state[place + _GIVEN])
        widest = max(self._columns[field].values())
        if (until - given) * widest >= _WORTH:
            done = [self._arena.punch_hole(name, given, until) for name in self._columns[field]]
            if all(done):
                self._state[place + _GIVEN] = until

    def end(self, field: str) -> None:
        """The field is not pruned: all its rows have been written."""
        place = self._places[field]
        self._state[place : place + _EACH] = 0

    def shift(self, delta: int) -> None:
        """Row numbers have shrunk by so much, and what is not pruned has been moved down."""
        for field in self._columns:
            until = max(self.until(field) - delta, 0)
            self.end(field)
            if until:
                self.extend(field, until)

    def given(self, field: str) -> int:
        """The number of the row before which the system has the field's memory back."""
        return int(self._state[self._places[field] + _GIVEN])
