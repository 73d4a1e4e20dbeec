"""Integers below 2²⁵⁵ in magnitude as four words, for exact comparisons of products in compiled kernels.

A magnitude is four uint64, the lowest first. With its sign it becomes two's complement, in which sums are made and
compared. Nothing here checks for overflow: `relative_threshold` says what its products come to at most.
"""

from __future__ import annotations

import numpy as np

from tripline_engine.domain.memory.array_types import HighWord, Word
from tripline_engine.domain.memory.int128 import subtract
from tripline_engine.domain.memory.kernel import kernel
from tripline_engine.domain.memory.wide_integers import Words4, compare4, multiply_by_word

_U = np.uint64
_ZERO = _U(0)
_ONE = _U(1)


@kernel(inline="always")
def magnitude(low: Word, high: HighWord) -> Words4:
    """The magnitude of a signed value of two words."""
    if high < 0:
        low, high = subtract(_ZERO, np.int64(0), low, high)
    return low, _U(high), _ZERO, _ZERO


@kernel()
def multiply(value: Words4, factor: Word) -> Words4:
    """A magnitude times a word."""
    word0, word1, word2, word3 = multiply_by_word((value[0], value[1], value[2]), factor)
    return word0, word1, word2, word3 + value[3] * factor


@kernel()
def multiply_wide(value: Words4, low: Word, high: Word) -> Words4:
    """A magnitude times one of two words."""
    upper = multiply(value, high)
    return add(multiply(value, low), (_ZERO, upper[0], upper[1], upper[2]))


@kernel()
def add(a: Words4, b: Words4) -> Words4:
    """The sum of two values, magnitudes or in two's complement."""
    word0 = a[0] + b[0]
    carry0 = _ONE if word0 < a[0] else _ZERO
    partial1 = a[1] + b[1]
    word1 = partial1 + carry0
    carry1 = _ONE if partial1 < a[1] or word1 < partial1 else _ZERO
    partial2 = a[2] + b[2]
    word2 = partial2 + carry1
    carry2 = _ONE if partial2 < a[2] or word2 < partial2 else _ZERO
    return word0, word1, word2, a[3] + b[3] + carry2


@kernel()
def signed(value: Words4, negative: bool) -> Words4:
    """A magnitude with its sign, in two's complement."""
    if not negative:
        return value
    return add((~value[0], ~value[1], ~value[2], ~value[3]), (_ONE, _ZERO, _ZERO, _ZERO))


@kernel()
def compare(a: Words4, b: Words4) -> int:
    """-1, 0 or 1 as the first value in two's complement is less than, equal to or greater than the second."""
    a_high, b_high = np.int64(a[3]), np.int64(b[3])
    if a_high != b_high:
        return -1 if a_high < b_high else 1
    return compare4(a, b)
