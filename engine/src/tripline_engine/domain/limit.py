"""Holding aggregates against limits, exactly and for many transactions at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from tripline_contracts.rule_definition import Operator
from tripline_engine.domain.int128 import compare, multiply_count, split
from tripline_engine.domain.rows import Amounts
from tripline_engine.domain.sum_window import Totals

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

Hits = npt.NDArray[np.bool_]


@njit(cache=True)
def _hold_sums(
    count: Any, low: Any, high: Any, limit_low: Any, limit_high: Any, average: bool, holds: Any, out: Any
) -> None:
    for i in range(len(count)):
        if count[i] == 0:
            out[i] = False
        elif average:
            # sum / count against the limit, without dividing
            whole_low, whole_high = multiply_count(limit_low, limit_high, count[i])
            out[i] = holds[1 + compare(low[i], high[i], whole_low, whole_high)]
        else:
            out[i] = holds[1 + compare(low[i], high[i], limit_low, limit_high)]


@njit(cache=True)
def _hold_counts(count: Any, limit_low: Any, limit_high: Any, holds: Any, out: Any) -> None:
    for i in range(len(count)):
        low, high = multiply_count(np.uint64(SCALE), np.int64(0), count[i])
        out[i] = count[i] > 0 and holds[1 + compare(low, high, limit_low, limit_high)]


@njit(cache=True)
def _hold_rows(rows: Any, low: Any, high: Any, limit_low: Any, limit_high: Any, holds: Any, out: Any) -> None:
    for i in range(len(rows)):
        row = rows[i]
        out[i] = row >= 0 and holds[1 + compare(low[row], high[row], limit_low, limit_high)]


class Limit:
    """An operator and a limit (scaled by 10⁶)."""

    def __init__(self, operator: Operator, scaled: int) -> None:
        self._holds = np.array(_HOLDS[operator])
        self._low, self._high = split(scaled)

    def sums(self, totals: Totals) -> Hits:
        """Where the sum of the window holds against the limit (bool, n)."""
        return self._sums(totals, average=False)

    def averages(self, totals: Totals) -> Hits:
        """Where the average of the window holds against the limit."""
        return self._sums(totals, average=True)

    def counts(self, totals: Totals) -> Hits:
        """Where the number of transactions in the window holds against the limit."""
        out = np.empty(len(totals.counts), np.bool_)
        _hold_counts(totals.counts, self._low, self._high, self._holds, out)
        return out

    def values(self, rows: npt.NDArray[np.int64], amounts: Amounts) -> Hits:
        """Where the value in the row of that number (-1: none) holds against the limit."""
        out = np.empty(len(rows), np.bool_)
        _hold_rows(rows, amounts.low, amounts.high, self._low, self._high, self._holds, out)
        return out

    def _sums(self, totals: Totals, average: bool) -> Hits:
        out = np.empty(len(totals.counts), np.bool_)
        _hold_sums(totals.counts, totals.low, totals.high, self._low, self._high, average, self._holds, out)
        return out


def average(scaled_sum: int, count: int) -> int:
    """The average as it is reported: rounded half-even to 6 places (scaled by 10⁶, as the sum is)."""
    quotient, remainder = divmod(scaled_sum, count)
    up = 2 * remainder > count or (2 * remainder == count and quotient % 2 == 1)
    return quotient + up
