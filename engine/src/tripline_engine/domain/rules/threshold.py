"""Holding aggregates against limits, exactly and for many transactions at once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tripline_contracts import decimals
from tripline_contracts.rule_definition import Function, Operator
from tripline_engine.domain.memory.int128 import compare, multiply_count, split
from tripline_engine.domain.memory.kernel import kernel
from tripline_engine.domain.transactions.columns import Amounts

SCALE = 10**6
# For each operator, whether it holds when the value is (less, equal, greater).
_HOLDS: dict[Operator, tuple[bool, bool, bool]] = {
    "=": (False, True, False),
    "!=": (True, False, True),
    ">": (False, False, True),
    ">=": (False, True, True),
    "<": (True, False, False),
    "<=": (True, True, False),
}

# How kernels know the aggregates; MIN and MAX differ in what they look for, not in how they are held.
SUM, AVERAGE, COUNT, EXTREME, DISTINCT = 0, 1, 2, 3, 4
FUNCTIONS: dict[Function, int] = {
    "SUM": SUM,
    "AVG": AVERAGE,
    "COUNT": COUNT,
    "MIN": EXTREME,
    "MAX": EXTREME,
    "COUNT_DISTINCT": DISTINCT,
}

Matches = npt.NDArray[np.bool_]


class ThresholdWords(NamedTuple):
    """A limit for kernels: its 128-bit words, and for each of less, equal, greater whether it holds."""

    low: np.uint64
    high: np.int64
    holds: npt.NDArray[np.bool_]


@kernel(inline="always")
def number_satisfies(low: Any, high: Any, limit: Any) -> bool:
    """Whether a number holds."""
    result: bool = limit.holds[1 + compare(low, high, limit.low, limit.high)]
    return result


@kernel(inline="always")
def average_satisfies(count: Any, low: Any, high: Any, limit: Any) -> bool:
    """Whether the average holds: sum against limit times count, without dividing."""
    whole_low, whole_high = multiply_count(limit.low, limit.high, count)
    result: bool = limit.holds[1 + compare(low, high, whole_low, whole_high)]
    return result


@kernel(inline="always")
def count_satisfies(count: Any, limit: Any) -> bool:
    """Whether the number of transactions holds."""
    low, high = multiply_count(np.uint64(SCALE), np.int64(0), count)
    return number_satisfies(low, high, limit)


@kernel()
def satisfies(function: int, count: Any, low: Any, high: Any, limit: Any) -> bool:
    """Whether an aggregate holds: of ``count`` transactions, with that sum, extreme value or number of values.

    Of nothing sums and counts are 0, a number like any other; averages and extremes of nothing never hold.
    """
    if function == AVERAGE:
        result = count > 0 and average_satisfies(count, low, high, limit)
    elif function == EXTREME:
        result = count > 0 and number_satisfies(low, high, limit)
    elif function == COUNT:
        result = count_satisfies(count, limit)
    else:
        result = number_satisfies(low, high, limit)
    return bool(result)


# What follows holds many at once, without a branch, so that the processor takes several at a time.


@kernel(inline="always")
def _hold_words(low: Any, high: Any, limit_low: Any, limit_high: Any, holds: Any) -> Any:
    alike = high == limit_high
    below = (high < limit_high) | (alike & (low < limit_low))
    same = alike & (low == limit_low)
    return (below & holds[0]) | (same & holds[1]) | ((below == same) & holds[2])


@kernel()
def _hold_numbers(low: Any, high: Any, limit: Any, out: Any) -> None:
    for i in range(len(out)):
        out[i] = _hold_words(low[i], high[i], limit.low, limit.high, limit.holds)


@kernel()
def _hold_averages(counts: Any, low: Any, high: Any, limit: Any, out: Any) -> None:
    for i in range(len(out)):
        whole_low, whole_high = multiply_count(limit.low, limit.high, counts[i])
        out[i] = (counts[i] > 0) & _hold_words(low[i], high[i], whole_low, whole_high, limit.holds)


@kernel()
def _hold_counts(counts: Any, limit: Any, out: Any) -> None:
    for i in range(len(out)):
        # no count is so large that its millionfold would not fit
        low = np.uint64(counts[i] * SCALE)
        out[i] = _hold_words(low, np.int64(0), limit.low, limit.high, limit.holds)


@kernel()
def _hold_rows(rows: Any, amounts: Any, limit: Any, out: Any) -> None:
    for i in range(len(rows)):
        row = rows[i]
        out[i] = row >= 0 and number_satisfies(amounts.low[row], amounts.high[row], limit)


class Threshold:
    """An operator and a limit (scaled by 10⁶); without a limit it never holds."""

    def __init__(self, operator: Operator, scaled: int | None) -> None:
        self.scaled = scaled
        holds = (False, False, False) if scaled is None else _HOLDS[operator]
        self.words = ThresholdWords(*split(scaled or 0), np.array(holds))

    @property
    def text(self) -> str | None:
        """The limit as plain decimal text."""
        return None if self.scaled is None else decimals.plain_scaled(self.scaled)

    def matches(self, function: Function, counts: Any, low: Any, high: Any) -> Matches:
        """Where n aggregates hold (bool, n).

        :param counts: int64, n: of how many transactions
        :param low: with ``high``, their sums, extreme values or numbers of values (scaled by 10⁶)
        """
        # of buckets these are columns of a table: for each way in which they may lie a kernel would be compiled
        counts, low, high = map(np.ascontiguousarray, (counts, low, high))
        out, kind = np.empty(len(counts), np.bool_), FUNCTIONS[function]
        if kind == COUNT:
            _hold_counts(counts, self.words, out)
        elif kind == AVERAGE:
            _hold_averages(counts, low, high, self.words, out)
        else:
            _hold_numbers(low, high, self.words, out)
        if kind == EXTREME:
            out &= counts > 0
        return out

    def matching_rows(self, rows: npt.NDArray[np.int64], amounts: Amounts) -> Matches:
        """Where the value in the row of that number (-1: none) holds against the limit."""
        out = np.empty(len(rows), np.bool_)
        _hold_rows(rows, amounts, self.words, out)
        return out


def shown(function: Function, count: int, total: int) -> str | None:
    """The aggregate as it is reported, plain decimal text; None where it is one of nothing.

    :param total: the sum, the extreme value or the number of different values (scaled by 10⁶)
    """
    match function:
        case "COUNT":
            return decimals.plain_scaled(count * SCALE)
        case "SUM" | "COUNT_DISTINCT":
            return decimals.plain_scaled(total)
        case "AVG":
            return decimals.plain_scaled(average(total, count)) if count else None
        case "MIN" | "MAX":
            return decimals.plain_scaled(total) if count else None


def average(scaled_sum: int, count: int) -> int:
    """The average as it is reported: rounded half-even to 6 places (scaled by 10⁶, as the sum is)."""
    quotient, remainder = divmod(scaled_sum, count)
    up = 2 * remainder > count or (2 * remainder == count and quotient % 2 == 1)
    return quotient + up
