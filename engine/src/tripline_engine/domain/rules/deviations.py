"""Sample standard deviations, decided and reported without a root of anything inexact.

Of n values with the sum S and the sum of squares Q the deviation is √((nQ − S²) / (n(n − 1))). It is compared with a
limit by squares: nQ − S² against limit² × n(n − 1), in 256 bits. Nothing is below 0, so any negative limit is.
"""

from __future__ import annotations

from math import isqrt
from typing import NamedTuple

import numpy as np

from tripline_engine.domain.memory.array_types import BoolArray, Int64Array, Uint64Array
from tripline_engine.domain.memory.kernel import kernel
from tripline_engine.domain.memory.wide_integers import (
    Words3,
    compare4,
    multiply_by_word,
    split3,
    square,
    subtract4,
)
from tripline_engine.domain.rules.threshold import FEWEST_DEVIATING, Threshold


class Squares(NamedTuple):
    """Sums of squares of n windows, in three words (uint64, each)."""

    low: Uint64Array
    middle: Uint64Array
    high: Uint64Array


class Sums(NamedTuple):
    """Counts and sums of n windows; int64, uint64 and int64."""

    counts: Int64Array
    low: Uint64Array
    high: Int64Array


def matches(threshold: Threshold, sums: Sums, squares: Squares) -> BoolArray:
    """Where the deviation satisfies the threshold (bool, n)."""
    result, limit = np.empty(len(sums.counts), np.bool_), threshold.scaled or 0
    limit_squared = split3(limit * limit)
    _compare(sums, squares, limit < 0, limit_squared, threshold.words.satisfied_by, result)
    return result


@kernel()
def _compare(
    sums: Sums,
    squares: Squares,
    negative: bool,
    limit_squared: Words3,
    satisfied_by: BoolArray,
    result: BoolArray,
) -> None:
    for i in range(len(result)):
        count = sums.counts[i]
        if count < FEWEST_DEVIATING:
            result[i] = False
        elif negative:
            result[i] = satisfied_by[2]
        else:
            words = squares.low[i], squares.middle[i], squares.high[i]
            spread = subtract4(multiply_by_word(words, np.uint64(count)), square(sums.low[i], sums.high[i]))
            wanted = multiply_by_word(limit_squared, np.uint64(count * (count - 1)))
            result[i] = satisfied_by[1 + compare4(spread, wanted)]


def deviation(count: int, total: int, squares: int) -> int:
    """The deviation of two values or more as it is reported: rounded half-even to 6 places (scaled by 10⁶).

    :param total: their sum, scaled by 10⁶
    :param squares: the sum of their squares, scaled by 10¹²
    """
    spread, pairs = count * squares - total * total, count * (count - 1)
    root = isqrt(spread // pairs)
    beyond_half = 4 * spread - pairs * (2 * root + 1) ** 2
    return root + (beyond_half > 0 or (beyond_half == 0 and root % 2 == 1))
