"""256-bit arithmetic against Python's integers, up to the products that relative limits make."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tripline_engine.domain.memory import int256
from tripline_engine.domain.memory.int128 import split
from tripline_engine.domain.memory.wide_integers import Words4

WORD = 2**64
EDGES = [base + nudge for base in (0, 2**63, 2**64, 2**127 - 2, 10**24) for nudge in (0, 1)]
MAGNITUDES = st.sampled_from(EDGES) | st.integers(0, 2**127 - 1)
FACTORS = st.sampled_from([0, 1, 10**6, 2**32 - 1, 2**63, WORD - 1]) | st.integers(0, WORD - 1)
WIDE = st.sampled_from([sign * 2**bits + nudge for bits in (63, 64, 127, 128, 191, 192, 253) for sign in (1, -1)
                        for nudge in (-1, 0, 1)]) | st.integers(-(2**254), 2**254)  # fmt: skip


def words(value: int) -> Words4:
    """The four words of a value, in two's complement."""
    low0, low1, low2, low3 = (np.uint64((value >> shift) % WORD) for shift in (0, 64, 128, 192))
    return low0, low1, low2, low3


def number(value: Words4) -> int:
    unsigned = sum(int(word) % WORD << (64 * i) for i, word in enumerate(value))
    return unsigned - 2**256 if unsigned >= 2**255 else unsigned


def typed(value: Words4) -> Words4:
    """What a kernel has returned, as another one takes it: words come back as Python's integers."""
    return words(number(value))


@given(MAGNITUDES, FACTORS, FACTORS, st.booleans())
def test_products(value: int, low: int, high: int, negative: bool) -> None:
    magnitude = typed(int256.magnitude(*split(-value if negative else value)))
    assert number(magnitude) == value
    assert number(int256.multiply(magnitude, np.uint64(low))) == value * low
    factor = (high % 2**16 << 64) + low
    wide = typed(int256.multiply_wide(magnitude, np.uint64(low), np.uint64(high % 2**16)))
    assert number(wide) == value * factor
    assert number(int256.signed(wide, negative)) == (-1 if negative else 1) * value * factor


@given(WIDE, WIDE)
def test_sums_and_comparisons(a: int, b: int) -> None:
    assert number(int256.add(words(a), words(b))) == (a + b + 2**255) % 2**256 - 2**255
    assert int256.compare(words(a), words(b)) == (a > b) - (a < b)
    assert int256.compare(words(a), words(a)) == 0
