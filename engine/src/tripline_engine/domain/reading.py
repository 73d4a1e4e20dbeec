"""A rule version's aggregates over a run of transactions, and the alerts that follow from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tripline_engine.domain.contributing import Window
from tripline_engine.domain.int128 import join
from tripline_engine.domain.limit import shown
from tripline_engine.domain.limits import LimitRun
from tripline_engine.domain.rows import Amounts, Totals
from tripline_engine.domain.rule_book import RuleVersion
from tripline_engine.domain.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Reading:
    """The aggregates of one version for n transactions, the history's rows from number ``start`` on.

    :ivar totals: count and sum of each one's window; for COUNT_DISTINCT the number of values in place of the sum
    :ivar extremes: int64, n: for MIN and MAX the row with the extreme value, -1 where there is no group
    :ivar limits: what the rows are held against
    :ivar newest: int64 ms, n: the newest event time of the group before the transaction, or NOTHING
    """

    version: RuleVersion
    start: int
    totals: Totals
    extremes: npt.NDArray[np.int64]
    newest: npt.NDArray[np.int64]
    amounts: Amounts
    window: Window
    limits: list[LimitRun]

    def hits(self) -> npt.NDArray[np.bool_]:
        """Where the limit holds (bool, n)."""
        words = self.amounts if self._seeks_extremes else self.totals
        low, high = words.low, words.high
        if self._seeks_extremes:
            low, high = low[self.extremes], high[self.extremes]
        hits = np.zeros(len(self.newest), np.bool_)
        for first, until, limit in self.limits:
            run = slice(first - self.start, until - self.start)
            counts = self.totals.counts[run]
            hits[run] = limit.each(self.version.definition.function, counts, low[run], high[run])
        return hits

    def limit(self, i: int) -> str | None:
        """What the i-th is held against, as plain decimal text; None if that has no value."""
        runs = (limit for first, until, limit in self.limits if first <= self.start + i < until)
        return next(runs).text

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
                limit=self.limit(i) or "",
                count=int(self.totals.counts[i]),
                contributors=self.window.contributors(row, row),
                newest=newest if newest > time else None,
                warm=warm_from is not None and time >= warm_from,
            )

    def value(self, i: int) -> str | None:
        """The aggregate of the i-th window as plain decimal text; None where it is one of nothing."""
        count, at = int(self.totals.counts[i]), i
        words: Amounts | Totals = self.totals
        if self._seeks_extremes:
            words, at = self.amounts, int(self.extremes[i])
        return shown(self.version.definition.function, count, join(words.low[at], words.high[at]))

    @property
    def _seeks_extremes(self) -> bool:
        return self.version.definition.function in ("MIN", "MAX")
