"""Columns by row, and numbers of rows, when what is retained moves down to the front of the arrays.

In place: a copy between would be as large as the column, and its pages would cost more than the move.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tripline_engine.domain.memory.arena import Array
from tripline_engine.domain.memory.kernel import kernel


def shift_down(column: Array, delta: int, end: int) -> None:
    """What stands at rows from ``delta`` on stands ``delta`` lower (``end``: the number after the newest, new)."""
    column[:end] = column[delta : delta + end]


def shift_row_numbers_down(column: Array, delta: int, end: int) -> None:
    """The same of a column that holds row numbers itself, which shrink as much; -1 where the row has gone."""
    _move_numbers(column, delta, end)


def renumber(numbers: Array, delta: int) -> None:
    """Row numbers shrink by ``delta``; -1 where the row has gone."""
    numbers[:] = np.maximum(numbers - delta, -1)


@kernel(nogil=True)
def _move_numbers(column: Any, delta: int, end: int) -> None:
    # a kernel would read and write beyond the array without a word
    if delta < 0 or delta + end > len(column):
        raise IndexError("the rows that move down are not in the column")
    for row in range(end):
        number = column[delta + row] - delta
        column[row] = max(number, -1)
