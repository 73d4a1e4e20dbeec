"""Thresholds: exact comparisons of aggregates with a limit, for many transactions at once."""

from __future__ import annotations

from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from tripline_contracts import decimals
from tripline_contracts.rules.rule_definition import Function, Operator
from tripline_engine.domain.memory.array_types import BoolArray, HighWord, Int64Array, Uint64Array, Word
from tripline_engine.domain.memory.int128 import compare, multiply_count, split
from tripline_engine.domain.memory.kernel import kernel
from tripline_engine.domain.transactions.columns import Amounts

SCALE: Final = 10**6
"""Numbers are stored times this."""

# By operator, whether it is satisfied when the value is (less, equal, greater).
_SATISFIED_BY: Final[dict[Operator, tuple[bool, bool, bool]]] = {
    "=": (False, True, False),
    "!=": (True, False, True),
    ">": (False, False, True),
    ">=": (False, True, True),
    "<": (True, False, False),
    "<=": (True, True, False),
}

# Aggregates as kernels know them; MIN and MAX are found differently, but compared alike.
SUM, AVERAGE, COUNT, EXTREME, DISTINCT, ORDERED, DEVIATION = 0, 1, 2, 3, 4, 5, 6
FUNCTIONS: Final[dict[Function, int]] = {
    "SUM": SUM,
    "AVG": AVERAGE,
    "COUNT": COUNT,
    "MIN": EXTREME,
    "MAX": EXTREME,
    "COUNT_DISTINCT": DISTINCT,
    "SECONDS_SINCE_PREVIOUS": ORDERED,
    "SECONDS_SINCE_FIRST": ORDERED,
    "CHANGED": ORDERED,
    "SPEED_KMH": ORDERED,
    "STDDEV": DEVIATION,
}

FEWEST_DEVIATING: Final = 2
"""Fewer values have no deviation."""

Matches = BoolArray


def satisfied_by(operator: Operator) -> tuple[bool, bool, bool]:
    """Whether the operator is satisfied by a value that is less, equal, greater."""
    return _SATISFIED_BY[operator]


class ThresholdWords(NamedTuple):
    """A threshold for kernels: the limit's 128-bit words, and whether less, equal and greater values satisfy it."""

    low: Word
    high: HighWord
    satisfied_by: BoolArray


@kernel(inline="always")
def number_satisfies(low: Word, high: HighWord, threshold: ThresholdWords) -> bool:
    """Whether a number satisfies the threshold."""
    result: bool = threshold.satisfied_by[1 + compare(low, high, threshold.low, threshold.high)]
    return result


@kernel(inline="always")
def average_satisfies(count: int, low: Word, high: HighWord, threshold: ThresholdWords) -> bool:
    """Whether an average satisfies the threshold: the sum against limit times count, without dividing."""
    whole_low, whole_high = multiply_count(threshold.low, threshold.high, count)
    result: bool = threshold.satisfied_by[1 + compare(low, high, whole_low, whole_high)]
    return result


@kernel(inline="always")
def count_satisfies(count: int, threshold: ThresholdWords) -> bool:
    """Whether a number of transactions satisfies the threshold."""
    low, high = multiply_count(np.uint64(SCALE), np.int64(0), count)
    return number_satisfies(low, high, threshold)


@kernel()
def satisfies(function: int, count: int, low: Word, high: HighWord, threshold: ThresholdWords) -> bool:
    """Whether an aggregate satisfies the threshold.

    Sums and counts of an empty window are 0, a number like any other; its average and extremes satisfy nothing.

    :param count: of how many transactions
    :param low: with ``high``, their sum, extreme value or number of values (scaled by 10⁶)
    """
    if function == AVERAGE:
        result = count > 0 and average_satisfies(count, low, high, threshold)
    elif function == EXTREME:
        result = count > 0 and number_satisfies(low, high, threshold)
    elif function == COUNT:
        result = count_satisfies(count, threshold)
    else:
        result = number_satisfies(low, high, threshold)
    return bool(result)


# The kernels below compare many aggregates, without a branch, so that the compiler vectorises them.


@kernel(inline="always")
def _words_satisfy(
    low: Word, high: HighWord, limit_low: Word, limit_high: HighWord, satisfied_by: BoolArray
) -> bool:
    alike = high == limit_high
    below = (high < limit_high) | (alike & (low < limit_low))
    same = alike & (low == limit_low)
    result: bool = (below & satisfied_by[0]) | (same & satisfied_by[1]) | ((below == same) & satisfied_by[2])
    return result


@kernel()
def _compare_numbers(
    low: Uint64Array, high: Int64Array, threshold: ThresholdWords, matches: BoolArray
) -> None:
    for i in range(len(matches)):
        matches[i] = _words_satisfy(low[i], high[i], threshold.low, threshold.high, threshold.satisfied_by)


@kernel()
def _compare_averages(
    counts: Int64Array, low: Uint64Array, high: Int64Array, threshold: ThresholdWords, matches: BoolArray
) -> None:
    for i in range(len(matches)):
        whole_low, whole_high = multiply_count(threshold.low, threshold.high, counts[i])
        matches[i] = (counts[i] > 0) & _words_satisfy(
            low[i], high[i], whole_low, whole_high, threshold.satisfied_by
        )


@kernel()
def _compare_counts(counts: Int64Array, threshold: ThresholdWords, matches: BoolArray) -> None:
    for i in range(len(matches)):
        # no count times 10⁶ is beyond 64 bits
        low = np.uint64(counts[i] * SCALE)
        matches[i] = _words_satisfy(low, np.int64(0), threshold.low, threshold.high, threshold.satisfied_by)


@kernel()
def _compare_rows(rows: Int64Array, amounts: Amounts, threshold: ThresholdWords, matches: BoolArray) -> None:
    for i in range(len(rows)):
        row = rows[i]
        matches[i] = row >= 0 and number_satisfies(amounts.low[row], amounts.high[row], threshold)


class Threshold:
    """An operator and a limit (scaled by 10⁶); without a limit nothing satisfies it."""

    def __init__(self, operator: Operator, scaled: int | None) -> None:
        self.scaled = scaled
        by_order = (False, False, False) if scaled is None else satisfied_by(operator)
        self.words = ThresholdWords(*split(scaled or 0), np.array(by_order))

    @cached_property
    def text(self) -> str | None:
        """The limit as plain decimal text."""
        return None if self.scaled is None else decimals.plain_scaled(self.scaled)

    def matches(self, function: Function, counts: Int64Array, low: Uint64Array, high: Int64Array) -> Matches:
        """The matches among n aggregates (bool, n).

        :param counts: int64, n: the transactions of each
        :param low: with ``high``, their sums, extreme values or numbers of values (scaled by 10⁶)
        """
        # columns of a table, as of buckets, have another memory layout: each layout would compile a kernel of its own
        counts, low, high = (
            np.ascontiguousarray(counts),
            np.ascontiguousarray(low),
            np.ascontiguousarray(high),
        )
        matches, kind = np.empty(len(counts), np.bool_), FUNCTIONS[function]
        if kind == COUNT:
            _compare_counts(counts, self.words, matches)
        elif kind == AVERAGE:
            _compare_averages(counts, low, high, self.words, matches)
        else:
            _compare_numbers(low, high, self.words, matches)
        if kind == EXTREME:
            matches &= counts > 0
        return matches

    def matching_rows(self, rows: Int64Array, amounts: Amounts) -> Matches:
        """The matches among the values in the rows with these numbers; NO_ROW matches nothing."""
        matches = np.empty(len(rows), np.bool_)
        _compare_rows(rows, amounts, self.words, matches)
        return matches


def shown(function: Function, count: int, total: int) -> str | None:
    """The aggregate as it is reported, plain decimal text; None where it is one of nothing.

    :param total: the sum, the extreme value, the number of different values, or whatever else (scaled by 10⁶)
    """
    match function:
        case "COUNT":
            return decimals.plain_scaled(count * SCALE)
        case "SUM" | "COUNT_DISTINCT":
            return decimals.plain_scaled(total)
        case "SECONDS_SINCE_PREVIOUS" | "SECONDS_SINCE_FIRST" | "CHANGED" | "SPEED_KMH":
            return decimals.plain_scaled(total)
        case "AVG":
            return decimals.plain_scaled(average(total, count)) if count else None
        case "MIN" | "MAX":
            return decimals.plain_scaled(total) if count else None
        case "STDDEV":
            return decimals.plain_scaled(total) if count >= FEWEST_DEVIATING else None


def average(scaled_sum: int, count: int) -> int:
    """The average as it is reported: rounded half-even to 6 places (scaled by 10⁶, as the sum is)."""
    quotient, remainder = divmod(scaled_sum, count)
    up = 2 * remainder > count or (2 * remainder == count and quotient % 2 == 1)
    return quotient + up
