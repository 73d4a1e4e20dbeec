"""A rule version's aggregates over a run of transactions, and the alerts that follow from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from tripline_contracts import decimals
from tripline_engine.domain.history import History
from tripline_engine.domain.int128 import join
from tripline_engine.domain.limit import SCALE, Limit, average
from tripline_engine.domain.links import Lists
from tripline_engine.domain.rows import Amounts, Totals
from tripline_engine.domain.rule_book import RuleVersion
from tripline_engine.domain.verdict import MAX_CONTRIBUTORS, Contributor, Verdict


@njit(cache=True)
def _contributors(row: int, bound: int, base: int, time: Any, previous: Any, out: Any) -> int:
    found, older = 0, row
    while found < len(out) and older >= base and time[older] >= bound:
        if older <= row:
            out[found] = older
            found += 1
        older = previous[older]
    return found


@dataclass(frozen=True, slots=True)
class Reading:
    """The aggregates of one version for n transactions, the history's rows from number ``start`` on.

    :ivar totals: count and sum of each one's window
    :ivar extremes: int64, n: for MIN and MAX the row with the extreme value, -1 where there is no group
    :ivar lists: what the windows were read from
    :ivar newest: int64 ms, n: the newest event time of the group before the transaction, or NOTHING
    :ivar floor: older event times (ms) are not visible
    """

    version: RuleVersion
    start: int
    totals: Totals
    extremes: npt.NDArray[np.int64]
    lists: Lists
    newest: npt.NDArray[np.int64]
    history: History
    amounts: Amounts
    floor: int

    def hits(self) -> npt.NDArray[np.bool_]:
        """Where the limit holds (bool, n)."""
        definition = self.version.definition
        limit = Limit(definition.operator, decimals.to_scaled(definition.limit))
        match definition.function:
            case "SUM":
                return limit.sums(self.totals)
            case "AVG":
                return limit.averages(self.totals)
            case "COUNT":
                return limit.counts(self.totals)
            case "MIN" | "MAX":
                return limit.values(self.extremes, self.amounts)

    def verdicts(self, fired: npt.NDArray[np.bool_], warm_from: int | None) -> Iterator[Verdict]:
        """An alert for each transaction where ``fired`` (bool, n) says so."""
        for place in np.flatnonzero(fired):
            i = int(place)
            time, newest = int(self.history.time[self.start + i]), int(self.newest[i])
            yield Verdict(
                version=self.version,
                row=i,
                value=self.value(i),
                count=int(self.totals.counts[i]),
                contributors=self._contributing(self.start + i),
                newest=newest if newest > time else None,
                warm=warm_from is not None and time >= warm_from,
            )

    def value(self, i: int) -> str:
        """The aggregate of the i-th window, which holds something, as plain decimal text."""
        count, total = int(self.totals.counts[i]), join(self.totals.low[i], self.totals.high[i])
        match self.version.definition.function:
            case "SUM":
                return decimals.plain_scaled(total)
            case "AVG":
                return decimals.plain_scaled(average(total, count))
            case "COUNT":
                return decimals.plain_scaled(count * SCALE)
            case "MIN" | "MAX":
                return self._amount(int(self.extremes[i]))

    def _contributing(self, row: int) -> tuple[Contributor, ...]:
        history, counts_only = self.history, self.version.definition.aggregate_field is None
        bound = max(int(history.time[row]) - self.version.window_ms, self.floor)
        found = np.empty(MAX_CONTRIBUTORS, np.int64)
        order = self.lists.order
        rows = found[: _contributors(row, bound, history.base, order.time, order.previous, found)]
        values = [None if counts_only else self._amount(row) for row in rows]
        return tuple(map(Contributor, history.ids(rows), history.time[rows].tolist(), values))

    def _amount(self, row: int) -> str:
        return decimals.plain_scaled(join(self.amounts.low[row], self.amounts.high[row]))
