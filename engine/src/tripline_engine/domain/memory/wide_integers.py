"""Unsigned integers of several 64-bit words, low word first, for squares and their sums in compiled kernels.

A square of an amount below 10²⁴ has 160 bits, a sum of fewer than 2³² of these 192: three words. Such a sum times its
count, and the square of a sum of amounts, have 224: four words. Nothing here checks for overflow.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from tripline_engine.domain.memory.array_types import HighWord, Word
from tripline_engine.domain.memory.int128 import subtract
from tripline_engine.domain.memory.kernel import kernel

_U = np.uint64
_MASK32 = _U(0xFFFFFFFF)
_HALF = _U(32)
_ZERO = _U(0)

Words3: TypeAlias = tuple[Word, Word, Word]
Words4: TypeAlias = tuple[Word, Word, Word, Word]


@kernel(inline="always")
def multiply_words(a: Word, b: Word) -> tuple[Word, Word]:
    """The product of two words."""
    a_low, a_high, b_low, b_high = a & _MASK32, a >> _HALF, b & _MASK32, b >> _HALF
    bottom, left, right = a_low * b_low, a_high * b_low, a_low * b_high
    middle = (bottom >> _HALF) + (left & _MASK32) + (right & _MASK32)
    low = (middle << _HALF) | (bottom & _MASK32)
    return low, a_high * b_high + (left >> _HALF) + (right >> _HALF) + (middle >> _HALF)


@kernel(inline="always")
def multiply_by_word(a: Words3, factor: Word) -> Words4:
    """A value of three words times a word."""
    first, carry = multiply_words(a[0], factor)
    low, high = multiply_words(a[1], factor)
    second = low + carry
    carry = high + _U(second < low)
    low, high = multiply_words(a[2], factor)
    third = low + carry
    return first, second, third, high + _U(third < low)


@kernel()
def square(low: Word, high: HighWord) -> Words4:
    """The square of a signed 128-bit number."""
    if high < 0:
        low, high = subtract(_ZERO, np.int64(0), low, high)
    first, second = multiply_words(low, low)
    if high == 0:
        return first, second, _ZERO, _ZERO
    top = _U(high)
    cross_low, cross_high = multiply_words(low, top)
    third, fourth = multiply_words(top, top)
    for _ in range(2):
        second += cross_low
        carry = cross_high + _U(second < cross_low)
        third += carry
        fourth += _U(third < carry)
    return first, second, third, fourth


@kernel(inline="always")
def add3(a: Words3, b: Words3) -> Words3:
    """The sum of two values of three words."""
    low = a[0] + b[0]
    carry = _U(low < a[0])
    middle = a[1] + b[1]
    over = _U(middle < a[1])
    middle += carry
    over += _U(middle < carry)
    return low, middle, a[2] + b[2] + over


@kernel(inline="always")
def subtract3(a: Words3, b: Words3) -> Words3:
    """The first value of three words less the second."""
    low, borrow = a[0] - b[0], _U(a[0] < b[0])
    under = _U(a[1] < b[1])
    middle = a[1] - b[1]
    under += _U(middle < borrow)
    return low, middle - borrow, a[2] - b[2] - under


@kernel(inline="always")
def subtract4(a: Words4, b: Words4) -> Words4:
    """The first value of four words less the second."""
    low, middle, high = subtract3((a[0], a[1], a[2]), (b[0], b[1], b[2]))
    below = (a[2] < b[2]) or (a[2] == b[2] and ((a[1] < b[1]) or (a[1] == b[1] and a[0] < b[0])))
    return low, middle, high, a[3] - b[3] - _U(below)


@kernel(inline="always")
def compare4(a: Words4, b: Words4) -> int:
    """-1, 0 or 1 as the first value is less than, equal to or greater than the second."""
    if a[3] != b[3]:
        return -1 if a[3] < b[3] else 1
    if a[2] != b[2]:
        return -1 if a[2] < b[2] else 1
    if a[1] != b[1]:
        return -1 if a[1] < b[1] else 1
    if a[0] != b[0]:
        return -1 if a[0] < b[0] else 1
    return 0


def split3(value: int) -> Words3:
    """The three words of a Python integer in 0 … 2¹⁹² − 1."""
    mask = (1 << 64) - 1
    return _U(value & mask), _U(value >> 64 & mask), _U(value >> 128)


def join3(low: Word, middle: Word, high: Word) -> int:
    """The Python integer of three words."""
    return int(high) << 128 | int(middle) << 64 | int(low)
