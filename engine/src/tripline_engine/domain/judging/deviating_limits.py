"""Relative limits with deviations in them: exact comparisons by the signs and the squares, never by a root.

In millionths, with the sides as fractions A / a and B / b as `relative_threshold` has them, a condition is

    A / a OP (T / 10⁶) (B / b) + P + (K / 10⁶) σ      `plusDeviations` K of an average, whose deviation is σ
    A / a OP (T / 10⁶) σ + P                          a deviation behind the limit: K is `times`, and there is no B
    σ'    OP (T / 10⁶) (B / b) + P + (K / 10⁶) σ      a deviation against it: there is no A, and a is 1

where a deviation is √(V / (n (n − 1))), V = n Q − S² (see `deviations`). All three are times 10⁶ a b: a root √L, which
is 0 where there is none, against X + √R with a sign, X being a whole number:

    X = a T B + 10⁶ a b P − 10⁶ b A       L = (10⁶ b)² V' / (n' (n' − 1))       R = (K a b)² V / (n (n − 1))

Both sides are squared, twice where there are two roots: z = L − X² − R against 2 X √R, then z² against 4 X² R. X is
below 2²⁴⁰, V below 2²²⁴, a count below 2³². With the denominators multiplied up L, X² and R are below 2⁵⁴⁶, so z² is
below 2¹⁰⁹².
"""

from __future__ import annotations

from math import isqrt
from typing import Final, NamedTuple

import numpy as np

from tripline_contracts.rules.rule_definition import Function, Operator
from tripline_engine.domain.memory import int256, naturals
from tripline_engine.domain.memory.array_types import BoolArray, HighWord, Int64Array, Uint64Array, Word
from tripline_engine.domain.memory.int128 import split
from tripline_engine.domain.memory.kernel import kernel
from tripline_engine.domain.memory.naturals import Registers
from tripline_engine.domain.memory.wide_integers import Words4, multiply_by_word, square, subtract4
from tripline_engine.domain.rules.deviations import Squares
from tripline_engine.domain.rules.threshold import (
    AVERAGE,
    COUNT,
    DEVIATION,
    FUNCTIONS,
    SCALE,
    satisfied_by,
)

_SCALE = np.uint64(SCALE)
_SCALE_SQUARED = np.uint64(SCALE * SCALE)
_ONE = np.uint64(1)
# registers: the three numbers that are compared, their products, and factors
_LEFT: Final = 0
_WHOLE: Final = 1
_RIGHT: Final = 2
_SUM: Final = 3
_SQUARE: Final = 4
_PRODUCT: Final = 5
_FACTOR: Final = 6
_REGISTERS: Final = 7


class DeviatingSide(NamedTuple):
    """One side: aggregates of n windows, as of `relative_threshold.Side`, and the sums of their squares.

    :ivar low: with ``high``, the sums of a deviation too
    :ivar squares: nothing where no deviation is asked for
    """

    function: int
    counts: Int64Array
    low: Uint64Array
    high: Int64Array
    squares: Squares


class LimitWords(NamedTuple):
    """`times`, `plus` and the number of deviations: magnitudes, and whether they are negative."""

    times_low: Word
    times_high: Word
    times_negative: bool
    plus_low: Word
    plus_high: HighWord
    deviations_low: Word
    deviations_high: HighWord


NO_SQUARES: Final = Squares(*(np.empty(0, np.uint64) for _ in Squares._fields))


def deviating_side(
    function: Function, counts: Int64Array, low: Uint64Array, high: Int64Array, squares: Squares | None
) -> DeviatingSide:
    """The aggregates of n windows as one side."""
    # other memory layouts would compile kernels of their own
    words = NO_SQUARES if squares is None else Squares(*(np.ascontiguousarray(word) for word in squares))
    aggregates = np.ascontiguousarray(counts), np.ascontiguousarray(low), np.ascontiguousarray(high)
    return DeviatingSide(FUNCTIONS[function], *aggregates, words)


def compare_deviating(
    operator: Operator,
    value: DeviatingSide,
    base: DeviatingSide,
    numbers: tuple[int, ...],
    matches: BoolArray,
) -> None:
    """Leave in ``matches`` (bool, n), of those places where both sides have a value, where the limit holds.

    :param numbers: `times` and `plus`, and `plusDeviations` where the limit has some (scaled by 10⁶)
    """
    times, plus, deviations = numbers if len(numbers) == 3 else (*numbers, 0)
    if base.function == DEVIATION:
        times, deviations = 0, times
    times_low, times_high = split(abs(times))
    words = LimitWords(times_low, np.uint64(times_high), times < 0, *split(plus), *split(deviations))
    satisfied = np.array(satisfied_by(operator))
    _compare(value, base, words, satisfied, naturals.registers(_REGISTERS), matches)


@kernel()
def _compare(
    value: DeviatingSide,
    base: DeviatingSide,
    words: LimitWords,
    satisfied_by: BoolArray,
    work: Registers,
    matches: BoolArray,
) -> None:
    deviates = base.function == DEVIATION or words.deviations_low != 0 or words.deviations_high != 0
    for i in range(len(matches)):
        if matches[i]:
            whole_sign = _whole(value, base, words, i, work)
            value_pairs = _pairs(value, i) if value.function == DEVIATION else _ONE
            base_pairs = _pairs(base, i) if deviates else _ONE
            naturals.scale(work, _WHOLE, value_pairs)
            naturals.scale(work, _WHOLE, base_pairs)
            base_count = _denominator(base, i)
            work.sizes[_LEFT] = 0
            if value.function == DEVIATION:
                naturals.load(work, _LEFT, _spread(value, i))
                naturals.scale(work, _LEFT, _SCALE_SQUARED)
                naturals.scale(work, _LEFT, base_count * base_count)
                naturals.scale(work, _LEFT, base_pairs)
            right_sign = 0
            work.sizes[_RIGHT] = 0
            if deviates:
                right_sign = _deviations(
                    _denominator(value, i) * base_count, value_pairs, base, words, i, work
                )
            matches[i] = satisfied_by[1 + _order(whole_sign, right_sign, work)]


@kernel(inline="always")
def _denominator(side: DeviatingSide, i: int) -> Word:
    return np.uint64(side.counts[i]) if side.function == AVERAGE else _ONE


@kernel(inline="always")
def _pairs(side: DeviatingSide, i: int) -> Word:
    """What the spread is divided by."""
    count = np.uint64(side.counts[i])
    return count * (count - _ONE)


@kernel(inline="always")
def _spread(side: DeviatingSide, i: int) -> Words4:
    """n Q − S²."""
    words = side.squares.low[i], side.squares.middle[i], side.squares.high[i]
    return subtract4(multiply_by_word(words, np.uint64(side.counts[i])), square(side.low[i], side.high[i]))


@kernel(inline="always")
def _numerator(side: DeviatingSide, i: int) -> tuple[Word, HighWord]:
    """The value, of an average the sum; nothing of a deviation."""
    low, high = side.low[i], side.high[i]
    if side.function == COUNT:
        # no count times 10⁶ is beyond 64 bits
        low, high = np.uint64(side.counts[i]) * _SCALE, np.int64(0)
    elif side.function == DEVIATION:
        low, high = np.uint64(0), np.int64(0)
    return low, high


@kernel()
def _whole(value: DeviatingSide, base: DeviatingSide, words: LimitWords, i: int, work: Registers) -> int:
    """Leave the square of X; -1, 0 or 1 as X is below, at or above 0."""
    value_count, base_count = _denominator(value, i), _denominator(base, i)
    low, high = _numerator(value, i)
    base_low, base_high = _numerator(base, i)
    product = int256.multiply_wide(int256.magnitude(base_low, base_high), words.times_low, words.times_high)
    product = int256.multiply(product, value_count)
    added = int256.multiply(int256.magnitude(words.plus_low, words.plus_high), _SCALE)
    added = int256.multiply(int256.multiply(added, value_count), base_count)
    taken = int256.multiply(int256.multiply(int256.magnitude(low, high), _SCALE), base_count)
    whole = int256.add(
        int256.signed(product, bool(words.times_negative != (base_high < 0))),
        int256.signed(added, bool(words.plus_high < 0)),
    )
    whole = int256.add(whole, int256.signed(taken, bool(high >= 0)))
    negative = bool(np.int64(whole[3]) < 0)
    naturals.load(work, _FACTOR, int256.signed(whole, negative))
    naturals.multiply(work, _FACTOR, _FACTOR, _WHOLE)
    if work.sizes[_WHOLE] == 0:
        return 0
    return -1 if negative else 1


@kernel()
def _deviations(
    count: Word, value_pairs: Word, base: DeviatingSide, words: LimitWords, i: int, work: Registers
) -> int:
    """Leave R; -1, 0 or 1 as the deviations are taken off, nothing, or put on."""
    naturals.load(work, _FACTOR, _spread(base, i))
    number = square(words.deviations_low, words.deviations_high)
    naturals.load(work, _SQUARE, number)
    naturals.multiply(work, _FACTOR, _SQUARE, _RIGHT)
    naturals.scale(work, _RIGHT, count)
    naturals.scale(work, _RIGHT, count)
    naturals.scale(work, _RIGHT, value_pairs)
    if work.sizes[_RIGHT] == 0:
        return 0
    return -1 if words.deviations_high < 0 else 1


@kernel()
def _order(whole_sign: int, right_sign: int, work: Registers) -> int:
    """-1, 0 or 1 as √L is less than, equal to or greater than X + √R, with the signs of these two."""
    sign = whole_sign + right_sign
    if sign == 0:
        # both are nothing, or they work against each other
        sign = whole_sign * naturals.compare(work, _WHOLE, _RIGHT)
    if sign < 0:
        return 1
    if sign == 0 or work.sizes[_LEFT] == 0:
        return (1 if work.sizes[_LEFT] > 0 else 0) if sign == 0 else -1
    naturals.add(work, _WHOLE, _RIGHT, _SUM)
    beyond = naturals.compare(work, _LEFT, _SUM)
    crossed = whole_sign * right_sign
    if crossed == 0 or beyond != crossed:
        return beyond if crossed == 0 or beyond != 0 else -crossed
    if beyond > 0:
        naturals.subtract(work, _LEFT, _SUM, _FACTOR)
    else:
        naturals.subtract(work, _SUM, _LEFT, _FACTOR)
    naturals.multiply(work, _FACTOR, _FACTOR, _SQUARE)
    naturals.multiply(work, _WHOLE, _RIGHT, _PRODUCT)
    naturals.scale(work, _PRODUCT, np.uint64(4))
    return crossed * naturals.compare(work, _SQUARE, _PRODUCT)


def limit_in_deviations(
    function: Function, window: tuple[int, int, int], times: int, plus: int, deviations: int = 0
) -> int:
    """The limit as it is reported, rounded half-even to 6 places (scaled by 10⁶).

    :param function: AVG or STDDEV, of a measure that has a value
    :param window: the count, the sum (scaled by 10⁶) and the sum of squares (scaled by 10¹²)
    """
    count, total, squares = window
    if function == "STDDEV":
        total, times, deviations = 0, 0, times
    # (whole ± √root) / shared
    shared = SCALE * count * (count - 1)
    whole = (times * total + SCALE * count * plus) * (count - 1)
    root = deviations * deviations * (count * squares - window[1] ** 2) * count * (count - 1)
    return _rounded(whole, -1 if deviations < 0 else 1, root, shared)


def _rounded(whole: int, sign: int, root: int, shared: int) -> int:
    """(whole ± √root) / shared, rounded half-even."""
    below = isqrt(4 * root)
    exact = below * below == 4 * root
    twice = 2 * whole + (below if sign > 0 else -below - (not exact))
    halves, rest = divmod(twice, shared)
    if halves % 2 == 0:
        return halves // 2
    down = halves // 2
    # a half is rounded to the even one, and what is beyond it up
    return down + (down % 2 if exact and rest == 0 else 1)
