"""A rule version's aggregates over a run of transactions, and the alerts that follow from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tripline_engine.domain.contributing import Window
from tripline_engine.domain.int128 import join
from tripline_engine.domain.limit import Limit, shown
from tripline_engine.domain.rows import Amounts, Totals
from tripline_engine.domain.rule_book import RuleVersion
from tripline_engine.domain.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Reading:
    """The aggregates of one version for n transactions, the history's rows from number ``start`` on.

    :ivar totals: count and sum of each one's window; for COUNT_DISTINCT the number of values in place of the sum
    :ivar extremes: int64, n: for MIN and MAX the row with the extreme value, -1 where there is no group
    :ivar newest: int64 ms, n: the newest event time of the group before the transaction, or NOTHING
    """

    version: RuleVersion
    start: int
    totals: Totals
    extremes: npt.NDArray[np.int64]
    newest: npt.NDArray[np.int64]
    amounts: Amounts
    window: Window

    def hits(self) -> npt.NDArray[np.bool_]:
        """Where the limit holds (bool, n)."""
        limit = Limit.of(self.version.definition)
        match self.version.definition.function:
            case "SUM":
                return limit.sums(self.totals)
            case "AVG":
                return limit.averages(self.totals)
            case "COUNT":
                return limit.counts(self.totals)
            case "COUNT_DISTINCT":
                return limit.distincts(self.totals)
            case "MIN" | "MAX":
                return limit.values(self.extremes, self.amounts)

    def verdicts(self, fired: npt.NDArray[np.bool_], warm_from: int | None) -> Iterator[Verdict]:
        """An alert for each transaction where ``fired`` (bool, n) says so."""
        history = self.window.history
        for place in np.flatnonzero(fired):
            i = int(place)
            row = self.start + i
            time, newest = int(history.time[row]), int(self.newest[i])
            yield Verdict(
                version=self.version,
                row=i,
                value=self.value(i) or "",
                count=int(self.totals.counts[i]),
                contributors=self.window.contributors(row, row),
                newest=newest if newest > time else None,
                warm=warm_from is not None and time >= warm_from,
            )

    def value(self, i: int) -> str | None:
        """The aggregate of the i-th window as plain decimal text; None where it is one of nothing."""
        count, best = int(self.totals.counts[i]), -1
        if self.version.definition.function in ("MIN", "MAX"):
            best = int(self.extremes[i])
        words = self.amounts if best >= 0 else self.totals
        at = best if best >= 0 else i
        return shown(self.version.definition.function, count, join(words.low[at], words.high[at]))
