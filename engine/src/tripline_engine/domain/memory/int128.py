"""Signed 128-bit integers as two words, for amounts and their sums in compiled kernels.

A value is (low: uint64, high: int64) in two's complement. A sum of fewer than 2⁴⁷ amounts below 10²⁴ cannot
leave this range, so nothing here checks for overflow: the history is bounded far below that.
"""

from __future__ import annotations

import numpy as np

from tripline_engine.domain.memory.array_types import (
    BoolArray,
    HighWord,
    Int64Array,
    Int128,
    Uint64Array,
    Word,
)
from tripline_engine.domain.memory.kernel import kernel

_U = np.uint64
_MASK32 = _U(0xFFFFFFFF)
_MASK64 = (1 << 64) - 1


@kernel(inline="always")
def add(a_low: Word, a_high: HighWord, b_low: Word, b_high: HighWord) -> Int128:
    """The sum of two values."""
    low = a_low + b_low
    return low, a_high + b_high + np.int64(low < a_low)


@kernel(inline="always")
def subtract(a_low: Word, a_high: HighWord, b_low: Word, b_high: HighWord) -> Int128:
    """The first value less the second."""
    return a_low - b_low, a_high - b_high - np.int64(a_low < b_low)


@kernel(inline="always")
def compare(a_low: Word, a_high: HighWord, b_low: Word, b_high: HighWord) -> int:
    """-1, 0 or 1 as the first value is less than, equal to or greater than the second."""
    if a_high != b_high:
        return -1 if a_high < b_high else 1
    if a_low != b_low:
        return -1 if a_low < b_low else 1
    return 0


@kernel()
def multiply_count(low: Word, high: HighWord, count: int) -> Int128:
    """A value times a count in 0 … 2³² − 1 (two's complement needs no case for negative values)."""
    factor = _U(count)
    bottom = (low & _MASK32) * factor
    top = (low >> _U(32)) * factor + (bottom >> _U(32))
    return (top << _U(32)) | (bottom & _MASK32), high * np.int64(count) + np.int64(top >> _U(32))


def split(value: int) -> Int128:
    """The two words of a Python integer in −2¹²⁷ … 2¹²⁷ − 1."""
    return _U(value & _MASK64), np.int64(value >> 64)


def join(low: Word | int, high: HighWord | int) -> int:
    """The Python integer of two words."""
    return (int(high) << 64) | int(low)


def words(decimal_buffer: Uint64Array) -> tuple[Uint64Array, Int64Array]:
    """The two columns of an Arrow decimal128 buffer (uint64, 2 n values, low word first)."""
    pairs = decimal_buffer.reshape(-1, 2)
    # copies in any case: of a single value the column is contiguous as it is, and perhaps not to be written
    return pairs[:, 0].copy(), pairs[:, 1].copy().view(np.int64)


def multiples(low: Uint64Array, high: Int64Array, divisor: int) -> BoolArray:
    """Which of n values (bool, n) are whole multiples of `divisor`, above 0."""
    result = np.empty(len(low), np.bool_)
    if divisor < 1 << 63:
        _find_multiples(low, high, _U(divisor), result)
    else:
        for i in range(len(low)):
            result[i] = join(low[i], high[i]) % divisor == 0
    return result


@kernel(nogil=True)
def _find_multiples(low: Uint64Array, high: Int64Array, divisor: Word, result: BoolArray) -> None:
    """The divisor is below 2⁶³: twice a remainder is below 2⁶⁴."""
    one = _U(1)
    for i in range(len(result)):
        bottom, top = low[i], high[i]
        if top < 0:
            bottom, top = subtract(_U(0), np.int64(0), bottom, top)
        rest = _U(top) % divisor
        if rest == 0:
            rest = bottom % divisor
        else:
            for bit in range(63, -1, -1):
                rest = (rest << one) | ((bottom >> _U(bit)) & one)
                if rest >= divisor:
                    rest -= divisor
        result[i] = rest == 0
