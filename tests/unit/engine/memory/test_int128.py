"""128-bit arithmetic against Python's integers, across the edges of its two words."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tripline_engine.domain.memory.int128 import add, compare, join, multiply_count, split, subtract

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
