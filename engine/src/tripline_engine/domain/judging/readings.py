"""A rule version's aggregates over a run of transactions, and the alerts that follow from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tripline_contracts import decimals
from tripline_contracts.rules.conditions import weightings
from tripline_contracts.rules.relative_limits import Baseline
from tripline_engine.domain.history.history import History
from tripline_engine.domain.history.threshold_runs import NumberRun, ThresholdRun
from tripline_engine.domain.judging.condition_tree import TreeNumbers, TreeReading, WeighedRows
from tripline_engine.domain.judging.contributors import ContributorLookup
from tripline_engine.domain.judging.deviating_limits import (
    DeviatingSide,
    compare_deviating,
    deviating_side,
    limit_in_deviations,
)
from tripline_engine.domain.judging.verdict import Bounds, DeviationsMore, Measured, MeasuredLimit, Verdict
from tripline_engine.domain.memory.int128 import join
from tripline_engine.domain.memory.wide_integers import join3
from tripline_engine.domain.rules import deviations
from tripline_engine.domain.rules.deviations import Squares, Sums
from tripline_engine.domain.rules.measures import Measure
from tripline_engine.domain.rules.relative_threshold import Side, compare_sides, limit_of, side
from tripline_engine.domain.rules.rule_version import RuleVersion
from tripline_engine.domain.rules.threshold import FEWEST_DEVIATING, Matches, shown
from tripline_engine.domain.transactions.columns import Amounts


@dataclass(frozen=True, slots=True)
class MeasureReading:
    """The aggregates of one condition for n transactions, the history's rows from number ``start`` on.

    :ivar counts: int64, n: how many transactions of each one's window contribute
    :ivar values: their sums, extreme values or numbers of values; of MIN and MAX anything where nothing contributes
    :ivar window: tells what the windows were read from; only an alert asks
    :ivar limits: what the rows are held against; nothing where the limit is relative
    :ivar bounds: of bucketed windows, by place: what only an alert asks too
    :ivar present: where there is a value (bool, n), if the counts do not tell; without one the limit does not hold
    :ivar behind: of a relative limit what it is made of
    :ivar squares: the sums of squares over the same windows, where deviations are asked for
    :ivar among: int64: the rows, counted from 0, where the limit may hold; None where each is to be looked at
    """

    measure: Measure
    start: int
    counts: npt.NDArray[np.int64]
    values: Amounts
    window: Callable[[], ContributorLookup]
    limits: list[ThresholdRun]
    bounds: Callable[[int], Bounds] | None = None
    present: Matches | None = None
    behind: BaselineReading | None = None
    squares: Squares | None = None
    among: npt.NDArray[np.int64] | None = None

    def satisfied(self) -> Matches:
        """Where the limit holds (bool, n)."""
        return self._beyond_limits() if self.behind is None else self._beyond(self.behind)

    def _beyond_limits(self) -> Matches:
        low, high = self.values
        satisfied = np.zeros(len(self.counts), np.bool_)
        for first, until, limit in self.limits:
            # limits that are shared are constant: of these there is one run
            run = slice(first - self.start, until - self.start) if self.among is None else self.among
            satisfied[run] = limit.matches(self.measure.function, self.counts[run], low[run], high[run])
        least = self.measure.excerpt.minimum_count
        if least:
            satisfied &= self.counts >= least
        return satisfied if self.present is None else satisfied & self.present

    def _beyond(self, behind: BaselineReading) -> Matches:
        valued, measured = self.valued() & behind.valued(), behind.reading
        operator = self.measure.condition.operator
        deviating = self.squares is not None or measured.squares is not None
        for first, until, numbers in behind.numbers:
            run = slice(first - self.start, until - self.start)
            known = [number for number in numbers if number is not None]
            if len(known) < len(numbers):
                valued[run] = False
            elif deviating:
                sides = self.deviating_side(run), measured.deviating_side(run)
                compare_deviating(operator, *sides, tuple(known), valued[run])
            else:
                compare_sides(operator, self.side(run), measured.side(run), known[0], known[1], valued[run])
        return valued

    def valued(self) -> Matches:
        """Where it has a value (bool, n)."""
        of_some = self.measure.function in ("AVG", "MIN", "MAX")
        valued: Matches = self.counts >= max(self.measure.excerpt.minimum_count, int(of_some))
        return valued if self.present is None else valued & self.present

    def side(self, run: slice) -> Side:
        """These aggregates as a side of a comparison."""
        low, high = self.values
        return side(self.measure.function, self.counts[run], low[run], high[run])

    def deviating_side(self, run: slice) -> DeviatingSide:
        """The same, with the sums of their squares."""
        low, high = self.values
        squares = None if self.squares is None else Squares(*(word[run] for word in self.squares))
        return deviating_side(self.measure.function, self.counts[run], low[run], high[run], squares)

    def sums(self, i: int) -> tuple[int, int, int]:
        """Count, sum and sum of squares of the i-th window."""
        assert self.squares is not None
        return self.count(i), self.total(i), join3(*(word[i] for word in self.squares))

    def deviation(self, i: int) -> str | None:
        """The deviation of the i-th window as plain decimal text; None of fewer than two or than are asked for."""
        if self.count(i) < max(FEWEST_DEVIATING, self.measure.excerpt.minimum_count):
            return None
        return decimals.plain_scaled(deviations.deviation(*self.sums(i)))

    def measured(self, i: int, *, holds: bool) -> Measured:
        """The i-th window's value against its limit, with its contributors."""
        row = self.start + i
        return Measured(
            condition=self.measure.condition,
            value=self.value(i),
            limit=self.limit(i),
            holds=holds,
            count=self.count(i),
            contributors=self.window().contributors(row, row),
            bounds=self.bounds(i) if self.bounds else None,
            behind=self.behind.measured(i) if self.behind else None,
        )

    def limit(self, i: int) -> str | None:
        """The limit of the i-th window as plain decimal text; None if it has no value."""
        if self.behind is not None:
            return self.behind.limit(i)
        row = self.start + i
        return next(limit.text for first, until, limit in self.limits if first <= row < until)

    def count(self, i: int) -> int:
        """Contributing transactions of the i-th window."""
        return int(self.counts[i])

    def value(self, i: int) -> str | None:
        """The aggregate of the i-th window as plain decimal text; None where it has none: of nothing, or of too few."""
        if self.count(i) < self.measure.excerpt.minimum_count:
            return None
        if self.present is not None and not self.present[i]:
            return None
        return shown(self.measure.function, self.count(i), self.total(i))

    def total(self, i: int) -> int:
        """The sum, the extreme value or the number of values of the i-th window."""
        return join(self.values.low[i], self.values.high[i])


@dataclass(frozen=True, slots=True)
class BaselineReading:
    """What a relative limit is made of for the rows of a reading.

    :ivar reading: the measure behind it
    :ivar numbers: `times` and `plus`, and `plusDeviations` where there are some
    """

    reading: MeasureReading
    numbers: list[NumberRun]

    def valued(self) -> Matches:
        """Where it has a value (bool, n)."""
        valued = self.reading.valued()
        return valued if self.reading.squares is None else valued & (self.reading.counts >= FEWEST_DEVIATING)

    def limit(self, i: int) -> str | None:
        """The limit of the i-th window as plain decimal text; None where it has no value."""
        reading, numbers = self.reading, self._numbers(i)
        known = [number for number in numbers if number is not None]
        if len(known) < len(numbers) or reading.value(i) is None:
            return None
        function = reading.measure.function
        if reading.squares is None:
            return decimals.plain_scaled(limit_of(function, reading.count(i), reading.total(i), *known))
        if reading.count(i) < FEWEST_DEVIATING:
            return None
        return decimals.plain_scaled(limit_in_deviations(function, reading.sums(i), *known))

    def measured(self, i: int) -> MeasuredLimit:
        """The measure behind the i-th limit, with its contributors."""
        reading, numbers = self.reading, self._numbers(i)
        source, row = reading.measure.source, reading.start + i
        assert isinstance(source, Baseline)
        times, plus, *more = [None if number is None else decimals.plain_scaled(number) for number in numbers]
        return MeasuredLimit(
            measure=source,
            value=reading.value(i),
            times=times,
            plus=plus,
            count=reading.count(i),
            contributors=reading.window().contributors(row, row),
            deviations=DeviationsMore(more[0], reading.deviation(i)) if more else None,
        )

    def _numbers(self, i: int) -> tuple[int | None, ...]:
        row = self.reading.start + i
        return next(numbers for first, until, numbers in self.numbers if first <= row < until)


class DeviationReading(MeasureReading):
    """Deviations: what is read are sums, whose squares are held against the limit."""

    __slots__ = ()

    def _beyond_limits(self) -> Matches:
        assert self.squares is not None
        satisfied = np.zeros(len(self.counts), np.bool_)
        for first, until, limit in self.limits:
            run = slice(first - self.start, until - self.start)
            sums = Sums(self.counts[run], self.values.low[run], self.values.high[run])
            satisfied[run] = deviations.matches(limit, sums, Squares(*(word[run] for word in self.squares)))
        return satisfied & (self.counts >= self.measure.excerpt.minimum_count)

    def valued(self) -> Matches:
        valued: Matches = self.counts >= max(self.measure.excerpt.minimum_count, FEWEST_DEVIATING)
        return valued

    def value(self, i: int) -> str | None:
        return self.deviation(i)


@dataclass(frozen=True, slots=True)
class RuleReading:
    """The aggregates of all conditions of one version for n transactions, from row ``start`` on.

    :ivar newest: int64 ms, n: the newest event time of the group before the transaction, or MIN_TIME
    :ivar numbers: those of the tree, if the rule has one
    """

    version: RuleVersion
    start: int
    newest: npt.NDArray[np.int64]
    history: History
    measures: list[MeasureReading]
    numbers: TreeNumbers

    def satisfied(self) -> Matches:
        """Where the rule holds (bool, n)."""
        return self.combine([measure.satisfied() for measure in self.measures])

    def combine(self, satisfied: list[Matches]) -> Matches:
        """Where the rule holds, if its conditions do there (bool, n, each)."""
        tree = self.version.definition.conditions
        return satisfied[0] if tree is None else TreeReading(self.numbers).read(tree, iter(satisfied))

    def verdicts(self, fired: Matches, warm_from: int | None) -> Iterator[Verdict]:
        """An alert for each transaction where ``fired`` (bool, n) says so."""
        time = self.history.time
        satisfied = [measure.satisfied() for measure in self.measures]
        weighed_rows = self.weighed(satisfied)
        for i in np.flatnonzero(fired).tolist():
            event_time, newest = int(time[self.start + i]), int(self.newest[i])
            yield Verdict(
                version=self.version,
                row=i,
                measured=tuple(
                    measure.measured(i, holds=bool(holds[i]))
                    for measure, holds in zip(self.measures, satisfied, strict=True)
                ),
                newest=newest if newest > event_time else None,
                warm=warm_from is not None and event_time >= warm_from,
                weighed=tuple(rows.of_row(i, self.numbers) for rows in weighed_rows),
            )

    def weighed(self, satisfied: list[Matches]) -> list[WeighedRows]:
        """The weightings of the tree, if its conditions hold there (bool, n, each); none of a rule without."""
        tree, read = self.version.definition.conditions, TreeReading(self.numbers)
        if tree is None or not any(weightings(tree)):
            return []
        read.read(tree, iter(satisfied))
        return read.weightings
