"""Integers of several words against Python's, at the ends of what they have to hold."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tripline_engine.domain.memory import wide_integers
from tripline_engine.domain.memory.int128 import split
from tripline_engine.domain.memory.wide_integers import Words4

WORD, ENDS = 1 << 64, [0, 1, (1 << 32) - 1, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 64) - 1]
WORDS = st.sampled_from(ENDS) | st.integers(0, WORD - 1)
THREE = st.builds(lambda *parts: sum(part << 64 * i for i, part in enumerate(parts)), WORDS, WORDS, WORDS)


def four(words: Words4) -> int:
    return sum(int(word) << 64 * i for i, word in enumerate(words))


def split4(value: int) -> Words4:
    return (*wide_integers.split3(value % WORD**3), wide_integers.split3(value >> 192)[0])


@given(WORDS, WORDS)
def test_products_of_words(a: int, b: int) -> None:
    low, high = wide_integers.multiply_words(*(wide_integers.split3(part)[0] for part in (a, b)))
    assert int(low) + int(high) * WORD == a * b


@given(THREE, WORDS)
def test_products_with_a_word(a: int, b: int) -> None:
    words = wide_integers.multiply_by_word(wide_integers.split3(a), wide_integers.split3(b)[0])
    assert four(words) == a * b


@given(st.sampled_from([0, 1, -1, 10**24 - 1, 1 - 10**24, (1 << 64) - 1, 1 << 64, -(1 << 64), (1 << 111) - 1])
       | st.integers(-(1 << 127) + 1, (1 << 127) - 1))  # fmt: skip
def test_squares(value: int) -> None:
    assert four(wide_integers.square(*split(value))) == value * value


@given(THREE, THREE)
def test_sums_and_differences(a: int, b: int) -> None:
    left, right = wide_integers.split3(a), wide_integers.split3(b)
    assert wide_integers.join3(*wide_integers.add3(left, right)) == (a + b) % WORD**3
    assert wide_integers.join3(*wide_integers.subtract3(left, right)) == (a - b) % WORD**3


@given(THREE, WORDS, THREE, WORDS)
def test_four_words(a: int, a_top: int, b: int, b_top: int) -> None:
    left, right = a + a_top * WORD**3, b + b_top * WORD**3
    words = wide_integers.subtract4(split4(left), split4(right))
    assert four(words) == (left - right) % WORD**4
    assert wide_integers.compare4(split4(left), split4(right)) == (left > right) - (left < right)
    assert wide_integers.compare4(split4(left), split4(left)) == 0
