"""What a run of transactions comes to under the rules of an anchor: aggregates first, then alerts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import numpy.typing as npt

from tripline_engine.domain.buckets.bucket_layout import O_COUNT
from tripline_engine.domain.firing.firing_states import FiringRecords
from tripline_engine.domain.groups.group_lists import IntrusiveLists
from tripline_engine.domain.history.threshold_runs import ThresholdRun, threshold_runs
from tripline_engine.domain.judging.bucket_bounds import VALUE_AT, bounds_of
from tripline_engine.domain.judging.contributors import ContributorLookup
from tripline_engine.domain.judging.readings import MeasureReading, RuleReading
from tripline_engine.domain.judging.verdict import MAX_CONTRIBUTORS
from tripline_engine.domain.judging.window_results import Entered, WindowResults
from tripline_engine.domain.judging.window_set import WindowSet
from tripline_engine.domain.rules.measures import BucketKey, Measure, Population
from tripline_engine.domain.rules.rule_version import RuleVersion
from tripline_engine.domain.rules.watermarks import Watermarks
from tripline_engine.domain.transactions.columns import Amounts, Totals


@dataclass(slots=True)
class BatchEvaluation:
    """What a run of rows comes to, before limits are looked at.

    :ivar newest: int64 ms, n: the newest event time of the group before the row, or MIN_TIME
    """

    windows: WindowSet
    start: int
    end: int
    visibility: Watermarks
    newest: dict[Population, npt.NDArray[np.int64]]
    found: WindowResults
    _counted: dict[tuple[Population, bool], dict[str, int]] = field(default_factory=dict)

    def fire(
        self, version: RuleVersion, eligible: npt.NDArray[np.bool_]
    ) -> tuple[npt.NDArray[np.bool_], RuleReading]:
        """Where alerts of the version are due (bool, n) among the rows that it may judge; what it read."""
        moving = self._moving(version, eligible)
        if version.definition.reset_on_alert:
            return self._fire_resetting(version, moving)
        reading = self._reading(version)
        hits = reading.hits() & moving
        states, time = self.windows.firing.get(version.key), self.windows.history.time
        if states is not None and version.definition.firing == "crossing":
            states.cross(self.start, time, version.window_ms, hits, moving)
        if states is not None:
            states.cooldown.quieten(self.start, time, hits, self.visibility.lateness_floor)
        return hits, reading

    def changed_states(
        self, version: RuleVersion, eligible: npt.NDArray[np.bool_], fired: npt.NDArray[np.bool_]
    ) -> FiringRecords | None:
        """The firing states that the rows have touched; None if there are none.

        :param fired: bool, n: where an alert is due
        """
        states = self.windows.firing.get(version.key)
        if states is None:
            return None
        touched = self._moving(version, eligible) if version.definition.firing == "crossing" else fired
        if not touched.any():
            return None
        states.reserve()
        slots = self.windows.links[version.population].slots[self.start : self.end]
        return states.records(slots[touched])

    def counts(self, version: RuleVersion, eligible: npt.NDArray[np.bool_]) -> dict[str, int]:
        """How many evaluations there were, by what was special about them."""
        population, stores = version.population, version.definition.late_events == "store"
        whole = bool(eligible.all())
        if whole and (population, stores) in self._counted:
            return self._counted[population, stores]
        evaluated, late = self.evaluated(version, eligible)
        links, time = self.windows.links[population], self.windows.history.time[self.start : self.end]
        older = links.previous[self.start : self.end]
        # Of equal times the one accepted first stands first, so it is the neighbour.
        equal = (older >= self.windows.history.base) & (self.windows.history.time[older] == time)
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
        """Which rows are evaluations, and which of those in a group came late (bool, n, both)."""
        present = eligible & (self.windows.links[version.population].slots[self.start : self.end] >= 0)
        late = eligible & self.late(version)
        return present & ~late if version.definition.late_events == "store" else present, late

    def late(self, version: RuleVersion) -> npt.NDArray[np.bool_]:
        """Which rows came late in a group of the version, whether it may judge them or not (bool, n)."""
        population = version.population
        present = self.windows.links[population].slots[self.start : self.end] >= 0
        found: npt.NDArray[np.bool_] = present & (
            self.windows.history.time[self.start : self.end] < self.newest[population]
        )
        return found

    def _moving(self, version: RuleVersion, eligible: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Where an evaluation counts: in a group, and late only if the version takes that."""
        population, definition = version.population, version.definition
        moving = eligible & (self.windows.links[population].slots[self.start : self.end] >= 0)
        if definition.firing == "crossing" or definition.late_events == "store":
            moving &= self.windows.history.time[self.start : self.end] >= self.newest[population]
        return moving

    def _reading(self, version: RuleVersion) -> RuleReading:
        return self._read(version, [self._part(version, part) for part in version.measures])

    def _part(self, version: RuleVersion, part: Measure) -> MeasureReading:
        lists = self.windows.links[part.population]
        if part.buckets is not None:
            return self._read_buckets(version, part, part.buckets, lists)
        extremes = np.empty(0, np.int64)
        if part.chain is not None:
            widths = self.windows.chains[part.chain].windows
            extremes = self.found.extremes(part.chain)[:, widths.index(part.window_ms)]
        return self._read_part(version, part, self._totals(part), extremes, lists)

    def _totals(self, part: Measure) -> Totals:
        """Of the part's window alone."""
        if part.distinct is not None:
            windows, found = self.windows.distincts[part.distinct].windows, self.found.totals(part.distinct)
        else:
            assert part.totals is not None
            windows, found = self.windows.totals[part.totals].windows, self.found.totals(part.totals)
        place = windows.index(part.window_ms)
        return Totals(found.counts[place], found.low[place], found.high[place])

    def _read_buckets(
        self, version: RuleVersion, part: Measure, key: BucketKey, lists: IntrusiveLists
    ) -> MeasureReading:
        place = self.windows.buckets[key].buckets.layout.windows.index(part.window_ms)
        found, at = self.found.buckets(key)[:, place], VALUE_AT[part.function]
        values = Amounts(np.ascontiguousarray(found[:, at]).view(np.uint64), found[:, at + 1])
        return MeasureReading(
            part=part,
            start=self.start,
            counts=found[:, O_COUNT],
            values=values,
            window=partial(self.window, version, part, lists),
            limits=self.limits(version, part),
            bounds=lambda i: bounds_of(part.function, found[i]),
        )

    def _fire_resetting(
        self, version: RuleVersion, moving: npt.NDArray[np.bool_]
    ) -> tuple[npt.NDArray[np.bool_], RuleReading]:
        reset, states, (part,) = (
            self.windows.resets[version.key],
            self.windows.firing[version.key],
            version.measures,
        )
        limits, lateness_floor = self.limits(version, part), self.visibility.lateness_floor
        found = reset.evaluate(self.start, moving, states, limits, self._floor(version), lateness_floor)
        own = self._read_part(version, part, found.totals, found.extremes, reset.lists)
        return found.fired, self._read(version, [own])

    def _read(self, version: RuleVersion, parts: list[MeasureReading]) -> RuleReading:
        return RuleReading(version, self.start, self.newest[version.population], self.windows.history, parts)

    def _read_part(
        self,
        version: RuleVersion,
        part: Measure,
        totals: Totals,
        extremes: npt.NDArray[np.int64],
        lists: IntrusiveLists,
    ) -> MeasureReading:
        values = Amounts(totals.low, totals.high)
        if part.chain is not None:
            amounts = self.windows.amounts(part.condition.aggregate_field)
            values = Amounts(amounts.low[extremes], amounts.high[extremes])
        return MeasureReading(
            part=part,
            start=self.start,
            counts=totals.counts,
            values=values,
            window=partial(self.window, version, part, lists),
            limits=self.limits(version, part),
        )

    def window(self, version: RuleVersion, part: Measure, lists: IntrusiveLists) -> ContributorLookup:
        """What the part's windows are read from."""
        return ContributorLookup(
            history=self.windows.history,
            lists=lists,
            members=self.windows.links[part.members].slots,
            part=part,
            floor=self._listed_from(version, part),
            most=MAX_CONTRIBUTORS // len(version.measures),
        )

    def limits(self, version: RuleVersion, part: Measure) -> list[ThresholdRun]:
        """What the rows are held against."""
        history, named = self.windows.history, self.windows.named
        return threshold_runs(part, version.anchor, named, history, self.start, self.end)

    def _floor(self, version: RuleVersion) -> int:
        return self.visibility.floor(version.anchor, version.fields)

    def _listed_from(self, version: RuleVersion, part: Measure) -> int:
        """The oldest event time (ms) of a contributor that an alert may list."""
        if part.buckets is None:
            return self._floor(version)
        span = self.visibility.span(version.anchor, part.buckets)
        return max(span.visible_from, self.visibility.unbucketed_from(part.buckets.length_ms))


def ingest(
    windows: WindowSet, start: int, end: int, visibility: Watermarks, readers: Iterable[RuleVersion]
) -> BatchEvaluation:
    """Take the history's rows from ``start`` to ``end`` into all lists, and into windows as they are read.

    :param readers: the versions that are going to read; the caller tells of each when it has, and finishes
    """
    for groups in windows.groups.values():
        groups.enter(start, end)
    linked = {population: links.link(start, end) for population, links in windows.links.items()}
    newest = {population: each.newest for population, each in linked.items()}
    found = WindowResults(windows, Entered(start, linked), visibility, readers)
    return BatchEvaluation(windows, start, end, visibility, newest, found)
