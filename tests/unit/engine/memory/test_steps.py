"""Amounts in steps, against Python's integers, over all that amounts and steps can be."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tripline_engine.domain.memory.int128 import join, split
from tripline_engine.domain.memory.steps import floor_to_steps

END = 10**24 - 1
AMOUNTS = (
    st.integers(-END, END) | st.integers(-1000, 1000) | st.sampled_from([-END, END, 2**63, -(2**63), 2**64])
)
STEPS = st.integers(1, END) | st.sampled_from([1, 2, 10**6, 2**63 - 1, 2**63, 2**64, END])


@given(st.lists(AMOUNTS, max_size=5), STEPS, st.integers(-1000, 1000))
def test_floors(amounts: list[int], step: int, factor: int) -> None:
    near = max(-END, min(END, factor * step))
    values = [*amounts, 0, near, max(-END, near - 1), min(END, near + 1)]
    low, high = (
        np.array(words, dtype)
        for words, dtype in zip(zip(*map(split, values), strict=True), "Qq", strict=True)
    )
    floor_to_steps(low, high, step)
    assert [join(*pair) for pair in zip(low, high, strict=True)] == [value // step * step for value in values]
