"""Compaction of columns by row, and of row numbers: retained rows move to the front of the arrays.

In place: a copy in between would be as large as the column, and its page faults would cost more than the move.
"""

from __future__ import annotations

import numpy as np

from tripline_engine.domain.memory.arena import Array
from tripline_engine.domain.memory.array_types import NO_ROW, Int32Array
from tripline_engine.domain.memory.kernel import kernel


def shift_down(column: Array, delta: int, end: int) -> None:
    """Move the items of the rows from ``delta`` on down by ``delta``, to the rows before ``end``."""
    column[:end] = column[delta : delta + end]


def shift_row_numbers_down(column: Array, delta: int, end: int) -> None:
    """The same for a column of row numbers, which shrink as much; NO_ROW where the row has gone."""
    _move_numbers(column, delta, end)


def renumber(numbers: Array, delta: int) -> None:
    """Lower row numbers by ``delta``; NO_ROW where the row has gone."""
    numbers[:] = np.maximum(numbers - delta, NO_ROW)


@kernel(nogil=True)
def _move_numbers(column: Int32Array, delta: int, end: int) -> None:
    # a kernel does not check its indices
    if delta < 0 or delta + end > len(column):
        raise IndexError("the rows that move down are not in the column")
    for row in range(end):
        number = column[delta + row] - delta
        column[row] = max(number, NO_ROW)
