"""The evaluation of a batch of rows under the rules of an anchor: window results first, then firing."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import numpy as np
import numpy.typing as npt

from tripline_contracts.rules.aggregate import OF_ORDER
from tripline_engine.domain.buckets.bucket_readings import BucketReadings
from tripline_engine.domain.firing.firing_states import HELD, TIME, WIDTH, FiringRecords, FiringStates
from tripline_engine.domain.firing.shared_limits import SharedLimits
from tripline_engine.domain.groups.group_lists import IntrusiveLists
from tripline_engine.domain.history.threshold_runs import ThresholdRun, number_runs, threshold_runs
from tripline_engine.domain.judging.bucket_bounds import bounds_of
from tripline_engine.domain.judging.condition_tree import TreeNumbers
from tripline_engine.domain.judging.contributors import ContributorLookup
from tripline_engine.domain.judging.excerpts import Source, extremes_of, squares_of, totals_of, walk
from tripline_engine.domain.judging.order_readings import since, since_previous
from tripline_engine.domain.judging.readings import (
    BaselineReading,
    DeviationReading,
    MeasureReading,
    RuleReading,
)
from tripline_engine.domain.judging.window_results import WindowResults
from tripline_engine.domain.judging.window_set import WindowSet
from tripline_engine.domain.rules.measures import BucketKey, Measure, Population
from tripline_engine.domain.rules.rule_version import RuleVersion, RuleVersionKey
from tripline_engine.domain.rules.watermarks import Watermarks
from tripline_engine.domain.transactions.columns import Amounts, Totals


@dataclass(slots=True)
class BatchEvaluation:
    """The evaluator of a batch: rows ``start`` to ``end`` of the history, which all lists hold already.

    :ivar newest: int64 ms, n: the newest event time of the group before the row, or MIN_TIME
    :ivar shared: the limits of the versions that are going to read
    :ivar cooled: bool, n: where an alert was due but for the cooldown; only where a proof is told every trace
    """

    windows: WindowSet
    start: int
    end: int
    watermarks: Watermarks
    newest: dict[Population, npt.NDArray[np.int64]]
    results: WindowResults
    shared: SharedLimits
    cooled: dict[RuleVersionKey, npt.NDArray[np.bool_]] = field(default_factory=dict)
    _counted: dict[tuple[Population, bool], dict[str, int]] = field(default_factory=dict)
    _counted_of_all: dict[tuple[Population, bool], npt.NDArray[np.bool_]] = field(default_factory=dict)

    def fire(
        self, version: RuleVersion, eligible: npt.NDArray[np.bool_]
    ) -> tuple[npt.NDArray[np.bool_], RuleReading]:
        """Alerts of the version (bool, n: where one is due) among the rows that it may judge; and its reading."""
        counted = self._counted_rows(version, eligible)
        if version.definition.reset_on_alert:
            return self._fire_resetting(version, counted)
        reading = self._read(version, [self._measure(version, measure) for measure in version.measures])
        fired = reading.satisfied() & counted
        states, time = self.windows.firing.get(version.key), self.windows.history.time
        if states is not None and version.definition.firing == "crossing":
            states.cross(self.start, time, version.window_ms, fired, counted)
        if states is not None:
            due = fired.copy() if self.windows.tuning.telling.every_trace else None
            states.cooldown.suppress(self.start, time, fired, self.watermarks.lateness_floor)
            if due is not None:
                self.cooled[version.key] = due & ~fired
        return fired, reading

    def changed_states(
        self, version: RuleVersion, eligible: npt.NDArray[np.bool_], fired: npt.NDArray[np.bool_]
    ) -> FiringRecords | None:
        """The firing states that the rows have touched; None if there are none.

        :param fired: bool, n: where an alert is due
        """
        states = self.windows.firing.get(version.key)
        if states is None:
            return None
        touched = self._counted_rows(version, eligible) if version.definition.firing == "crossing" else fired
        if not touched.any():
            return None
        states.reserve()
        slots = self.windows.lists[version.population].slots[self.start : self.end]
        return states.records(slots[touched])

    def counts(self, version: RuleVersion, eligible: npt.NDArray[np.bool_]) -> dict[str, int]:
        """Numbers of evaluations, by what was special about them."""
        population, stores = version.population, version.definition.late_events == "store"
        whole = bool(eligible.all())
        if whole and (population, stores) in self._counted:
            return self._counted[population, stores]
        evaluated, late = self.evaluated(version, eligible)
        lists, history = self.windows.lists[population], self.windows.history
        # Of equal times the one accepted first stands first, so it is the neighbour; in order that is the newest.
        time, older = history.time[self.start : self.end], lists.previous[self.start : self.end][late]
        equal = self.newest[population] == time
        equal[late] = (older >= history.base) & (history.time[older] == time[late])
        counts = {
            "evaluations": int(evaluated.sum()),
            "equal_times": int((evaluated & equal).sum()),
            "late_evaluated": 0 if stores else int(late.sum()),
            "late_stored": int(late.sum()) if stores else 0,
        }
        if whole:
            self._counted[population, stores] = counts
        return counts

    def evaluated(
        self, version: RuleVersion, eligible: npt.NDArray[np.bool_]
    ) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """The rows that are evaluations, and those in a group that came late (bool, n, both)."""
        present = eligible & (self.windows.lists[version.population].slots[self.start : self.end] >= 0)
        late = eligible & self.late(version)
        return present & ~late if version.definition.late_events == "store" else present, late

    def late(self, version: RuleVersion) -> npt.NDArray[np.bool_]:
        """The rows that came late in a group of the version, whether it may judge them or not (bool, n)."""
        population = version.population
        present = self.windows.lists[population].slots[self.start : self.end] >= 0
        late: npt.NDArray[np.bool_] = present & (
            self.windows.history.time[self.start : self.end] < self.newest[population]
        )
        return late

    def _counted_rows(self, version: RuleVersion, eligible: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """The rows whose evaluations change firing state (bool, n): in a group, and not late unless that counts."""
        population, definition = version.population, version.definition
        in_order = definition.firing == "crossing" or definition.late_events == "store"
        whole = bool(eligible.all())
        if whole and (population, in_order) in self._counted_of_all:
            return self._counted_of_all[population, in_order]
        counted = eligible & (self.windows.lists[population].slots[self.start : self.end] >= 0)
        if in_order:
            counted &= self.windows.history.time[self.start : self.end] >= self.newest[population]
        if whole:
            self._counted_of_all[population, in_order] = counted
        return counted

    def _measure(self, version: RuleVersion, measure: Measure) -> MeasureReading:
        lists = self.windows.lists[measure.population]
        if measure.function in OF_ORDER:
            return self._read_order(version, measure, lists)
        if measure.buckets is not None:
            return self._read_buckets(version, measure, measure.buckets, lists)
        if measure.is_walked:
            counts, values = walk(self._source, measure, self._floor(version))
            return self._read_values(version, measure, counts, values, lists)
        extremes = (
            np.empty(0, np.int64)
            if measure.chain is None
            else extremes_of(self._source, measure, measure.chain)
        )
        return self._read_measure(version, measure, totals_of(self._source, measure), extremes, lists)

    @property
    def _source(self) -> Source:
        return Source(self.windows, self.results, self.watermarks, self.start, self.end)

    def _read_order(self, version: RuleVersion, measure: Measure, lists: IntrusiveLists) -> MeasureReading:
        if measure.chain is not None:
            read = since(self.windows.history, self.start, extremes_of(self._source, measure, measure.chain))
        else:
            assert measure.totals is not None
            floor = self.windows.floor(self.watermarks, measure.totals)
            read = since_previous(self.windows, measure, self.start, self.end, floor)
        counts = totals_of(self._source, measure).counts
        return self._read_values(version, measure, counts, read.values, lists, read.present)

    def _read_buckets(
        self, version: RuleVersion, measure: Measure, key: BucketKey, lists: IntrusiveLists
    ) -> MeasureReading:
        width = self.windows.buckets[key].buckets.layout.windows.index(measure.window_ms)
        readings = BucketReadings(self.results.buckets(key)[:, width])
        return MeasureReading(
            measure=measure,
            start=self.start,
            counts=readings.counts,
            values=readings.values(measure.function),
            window=partial(self.window, version, measure, lists),
            limits=self.limits(version, measure),
            bounds=lambda i: bounds_of(measure.function, readings[i]),
        )

    def _fire_resetting(
        self, version: RuleVersion, counted: npt.NDArray[np.bool_]
    ) -> tuple[npt.NDArray[np.bool_], RuleReading]:
        reset, states, (measure,) = (
            self.windows.resets[version.key],
            self.windows.firing[version.key],
            version.measures,
        )
        limits, lateness_floor = self.limits(version, measure), self.watermarks.lateness_floor
        held = _held_before(self, version, states) if self.windows.tuning.telling.every_trace else None
        outcome = reset.evaluate(self.start, counted, states, limits, self._floor(version), lateness_floor)
        reading = self._read_measure(version, measure, outcome.totals, outcome.extremes, reset.lists)
        rule = self._read(version, [reading])
        if held is not None:
            self.cooled[version.key] = rule.satisfied() & counted & ~held & ~outcome.fired
        return outcome.fired, rule

    def _read(self, version: RuleVersion, measures: list[MeasureReading]) -> RuleReading:
        history, newest = self.windows.history, self.newest[version.population]
        numbers = TreeNumbers(self.windows.named, version.anchor, history, self.start, self.end)
        return RuleReading(version, self.start, newest, history, measures, numbers)

    def _read_measure(
        self,
        version: RuleVersion,
        measure: Measure,
        totals: Totals,
        extremes: npt.NDArray[np.int64],
        lists: IntrusiveLists,
    ) -> MeasureReading:
        values = Amounts(totals.low, totals.high)
        if measure.chain is not None:
            amounts = self.windows.amounts(measure.source.aggregate_field)
            values = Amounts(amounts.low[extremes], amounts.high[extremes])
        return self._read_values(version, measure, totals.counts, values, lists)

    def _read_values(
        self,
        version: RuleVersion,
        measure: Measure,
        counts: npt.NDArray[np.int64],
        values: Amounts,
        lists: IntrusiveLists,
        present: npt.NDArray[np.bool_] | None = None,
    ) -> MeasureReading:
        key, kind = measure.squares, DeviationReading if measure.function == "STDDEV" else MeasureReading
        return kind(
            measure=measure,
            start=self.start,
            counts=counts,
            values=values,
            window=partial(self.window, version, measure, lists),
            limits=self.limits(version, measure),
            present=present,
            behind=self._behind(version, measure),
            squares=None if key is None else squares_of(self._source, measure, key),
            # windows that start anew are the version's own
            among=None if version.definition.reset_on_alert else self.shared.rows(measure, counts, values),
        )

    def _behind(self, version: RuleVersion, measure: Measure) -> BaselineReading | None:
        """The measure behind a relative limit, for the same rows."""
        if measure.baseline is None:
            return None
        history, named = self.windows.history, self.windows.named
        runs = number_runs(measure.condition, version.anchor, named, history, self.start, self.end)
        return BaselineReading(self._measure(version, measure.baseline), runs)

    def window(self, version: RuleVersion, measure: Measure, lists: IntrusiveLists) -> ContributorLookup:
        """The lookup of contributors in the measure's windows."""
        telling = self.windows.tuning.telling
        most = 0 if version.rule_id in telling.counted else telling.contributors
        return ContributorLookup(
            history=self.windows.history,
            lists=lists,
            members=self.windows.lists[measure.members].slots,
            measure=measure,
            floor=self._listed_from(version, measure),
            max_listed=most // len(version.all_measures),
            whole=telling.whole,
        )

    def limits(self, version: RuleVersion, measure: Measure) -> list[ThresholdRun]:
        """The limits that the rows are compared with, in runs."""
        history, named = self.windows.history, self.windows.named
        return threshold_runs(measure, version.anchor, named, history, self.start, self.end)

    def _floor(self, version: RuleVersion) -> int:
        return self.watermarks.floor_of(version)

    def _listed_from(self, version: RuleVersion, measure: Measure) -> int:
        """The oldest event time (ms) of a contributor that an alert may list."""
        if measure.buckets is None:
            return self._floor(version)
        span = self.watermarks.span(version.anchor, measure.buckets)
        return max(span.visible_from, self.watermarks.unbucketed_from(measure.buckets.length_ms))


def _held_before(
    evaluation: BatchEvaluation, version: RuleVersion, states: FiringStates
) -> npt.NDArray[np.bool_]:
    """Where a crossing is none, for it held before: of the first of each group among the rows (bool, n)."""
    windows, rows = evaluation.windows, slice(evaluation.start, evaluation.end)
    states.reserve()
    slots = windows.lists[version.population].slots[rows]
    state, time = states.state.reshape(-1, WIDTH)[slots], windows.history.time[rows]
    held: npt.NDArray[np.bool_] = (state[:, HELD] == 1) & (state[:, TIME] >= time - version.window_ms)
    return held & (version.definition.firing == "crossing")
