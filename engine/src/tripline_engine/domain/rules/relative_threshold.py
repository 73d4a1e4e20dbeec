"""Relative limits: exact comparisons of an aggregate with `times × measure + plus`, for many transactions at once.

All is in millionths. With the sides as fractions A / a and B / b, where a or b is the count of an average and else 1,
and with `times` T and `plus` P, the condition A / a OP (T / 10⁶) (B / b) + P is decided without dividing:

    10⁶ b A  OP  a T B + 10⁶ a b P

A sum is below 2¹²⁷ (see `int128`), `times` and `plus` are below 10²⁴ < 2⁸⁰, a count is below 2³². So the three products
are below 2¹⁷⁹, 2²³⁹ and 2¹⁶⁴.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from tripline_contracts.rules.rule_definition import Function, Operator
from tripline_engine.domain.memory import int256
from tripline_engine.domain.memory.array_types import BoolArray, HighWord, Int64Array, Uint64Array, Word
from tripline_engine.domain.memory.int128 import split
from tripline_engine.domain.memory.kernel import kernel
from tripline_engine.domain.rules.threshold import AVERAGE, COUNT, FUNCTIONS, SCALE, satisfied_by

_SCALE = np.uint64(SCALE)
_ONE = np.uint64(1)


class Side(NamedTuple):
    """One side: aggregates of n windows.

    :ivar function: as kernels know it
    :ivar counts: int64, n: how many transactions contribute
    :ivar low: with ``high``, the sums, extreme values or numbers of values (scaled by 10⁶)
    """

    function: int
    counts: Int64Array
    low: Uint64Array
    high: Int64Array


class Numbers(NamedTuple):
    """`times` and `plus`: the words of their magnitudes, and whether they are negative."""

    times_low: Word
    times_high: Word
    times_negative: bool
    plus_low: Word
    plus_high: HighWord


@kernel(inline="always")
def _numerator(side: Side, i: int) -> tuple[Word, HighWord]:
    """The value, of an average the sum."""
    if side.function == COUNT:
        # no count times 10⁶ is beyond 64 bits
        return np.uint64(side.counts[i]) * _SCALE, np.int64(0)
    return side.low[i], side.high[i]


@kernel()
def _compare_sides(
    value: Side, base: Side, numbers: Numbers, satisfied_by: BoolArray, matches: BoolArray
) -> None:
    for i in range(len(matches)):
        if not matches[i]:
            continue
        value_count = np.uint64(value.counts[i]) if value.function == AVERAGE else _ONE
        base_count = np.uint64(base.counts[i]) if base.function == AVERAGE else _ONE
        low, high = _numerator(value, i)
        left = int256.multiply(int256.multiply(int256.magnitude(low, high), _SCALE), base_count)
        base_low, base_high = _numerator(base, i)
        product = int256.multiply_wide(
            int256.magnitude(base_low, base_high), numbers.times_low, numbers.times_high
        )
        product = int256.multiply(product, value_count)
        added = int256.multiply(int256.magnitude(numbers.plus_low, numbers.plus_high), _SCALE)
        added = int256.multiply(int256.multiply(added, value_count), base_count)
        right = int256.add(
            int256.signed(product, bool(numbers.times_negative != (base_high < 0))),
            int256.signed(added, bool(numbers.plus_high < 0)),
        )
        matches[i] = satisfied_by[1 + int256.compare(int256.signed(left, bool(high < 0)), right)]


def side(function: Function, counts: Int64Array, low: Uint64Array, high: Int64Array) -> Side:
    """The aggregates of n windows as one side."""
    # columns of a table have another memory layout, which would compile a kernel of its own
    return Side(
        FUNCTIONS[function],
        np.ascontiguousarray(counts),
        np.ascontiguousarray(low),
        np.ascontiguousarray(high),
    )


def compare_sides(
    operator: Operator, value: Side, base: Side, times: int, plus: int, matches: BoolArray
) -> None:
    """Leave in ``matches`` (bool, n), of those places where both sides have a value, where the limit holds.

    :param times: with ``plus``, scaled by 10⁶
    """
    times_low, times_high = split(abs(times))
    numbers = Numbers(times_low, np.uint64(times_high), times < 0, *split(plus))
    _compare_sides(value, base, numbers, np.array(satisfied_by(operator)), matches)


def limit_of(function: Function, count: int, total: int, times: int, plus: int) -> int:
    """The limit as it is reported, rounded half-even to 6 places (scaled by 10⁶), of a measure that has a value.

    :param total: the sum, the extreme value or the number of different values (scaled by 10⁶)
    """
    if function == "COUNT":
        total = count * SCALE
    measured = Fraction(total, count) if function == "AVG" else Fraction(total)
    return round(measured * times / SCALE + plus)
