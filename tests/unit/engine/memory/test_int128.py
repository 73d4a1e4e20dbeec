"""128-bit arithmetic against Python's integers, across the edges of its two words."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tripline_engine.domain.memory.int128 import (
    add,
    compare,
    join,
    multiples,
    multiply_count,
    split,
    subtract,
)

EDGES = [
    base + nudge for base in (0, 2**63, -(2**63), 2**64, -(2**64), 10**24, -(10**24)) for nudge in (-1, 0, 1)
]
VALUES = st.sampled_from(EDGES) | st.integers(-(2**80), 2**80)
LARGE = st.sampled_from(EDGES) | st.integers(-(2**126) + 1, 2**126 - 1)


@given(LARGE)
def test_words_join_to_the_number_they_came_from(value: int) -> None:
    assert join(*split(value)) == value


@given(LARGE, LARGE)
def test_sums_and_differences(a: int, b: int) -> None:
    assert join(*add(*split(a), *split(b))) == a + b
    assert join(*subtract(*split(a), *split(b))) == a - b


@given(LARGE, LARGE)
def test_comparison(a: int, b: int) -> None:
    assert compare(*split(a), *split(b)) == (a > b) - (a < b)
    assert compare(*split(a), *split(a)) == 0


@given(VALUES, st.integers(0, 2**32 - 1))
def test_times_a_count(value: int, count: int) -> None:
    assert join(*multiply_count(*split(value), count)) == value * count


def test_a_sum_that_passes_both_edges_and_comes_back() -> None:
    step, total = 2**62 + 1, split(-(2**64) - 5)
    for _ in range(9):
        total = split(join(*add(*total, *split(step))))
    assert join(*total) == -(2**64) - 5 + 9 * step
    for _ in range(9):
        total = split(join(*subtract(*total, *split(step))))
    assert join(*total) == -(2**64) - 5


DIVISORS = st.integers(1, 10**24) | st.sampled_from([1, 2, 10**6, 2**63 - 1, 2**63, 2**64, 10**24 - 1])


@given(st.lists(LARGE | st.integers(-(10**6), 10**6), max_size=5), DIVISORS, st.integers(-(2**60), 2**60))
def test_whole_multiples(values: list[int], divisor: int, factor: int) -> None:
    values = [*values, 0, divisor * factor, divisor * factor + 1, -divisor]
    low, high = (
        np.array(words, dtype)
        for words, dtype in zip(zip(*map(split, values), strict=True), "Qq", strict=True)
    )
    assert multiples(low, high, divisor).tolist() == [value % divisor == 0 for value in values]
