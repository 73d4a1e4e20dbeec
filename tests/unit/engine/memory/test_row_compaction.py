"""Compaction in place: columns and row numbers move down as a copy would, however far."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripline_engine.domain.memory.row_compaction import renumber, shift_down, shift_row_numbers_down

COLUMNS = st.lists(st.integers(-1, 60), min_size=1, max_size=40)


@given(COLUMNS, st.data())
def test_columns_and_row_numbers_move_down(values: list[int], data: st.DataObject) -> None:
    delta = data.draw(st.integers(0, len(values)))
    end = data.draw(st.integers(0, len(values) - delta))
    moved, numbers = np.array(values, np.int32), np.array(values, np.int32)
    shift_down(moved, delta, end)
    shift_row_numbers_down(numbers, delta, end)
    kept = values[delta : delta + end]
    assert moved.tolist() == kept + values[end:]
    assert numbers.tolist() == [max(number - delta, -1) for number in kept] + values[end:]


@pytest.mark.parametrize(("delta", "end"), [(2, 2), (4, 0), (0, 4), (-1, 2)])
def test_rows_beyond_the_column_are_refused(delta: int, end: int) -> None:
    with pytest.raises(IndexError, match="not in the column"):
        shift_row_numbers_down(np.zeros(3, np.int32), delta, end)


@given(COLUMNS, st.integers(0, 70))
def test_row_numbers_shrink_and_dropped_rows_have_none(values: list[int], delta: int) -> None:
    numbers = np.array(values, np.int32)
    renumber(numbers, delta)
    assert numbers.tolist() == [max(number - delta, -1) for number in values]
