"""The build of windows that a plan asks for and that are not there yet: in parallel, each over arrays of its own."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from tripline_engine.domain.firing.firing_states import FiringRecords
from tripline_engine.domain.history.history_columns import BACKFILLED
from tripline_engine.domain.judging.window_set import WindowSet
from tripline_engine.domain.memory.parallel import Work, run_parallel
from tripline_engine.domain.rules.measures import BucketKey, ChainKey, DistinctKey, SquareKey, TotalsKey
from tripline_engine.domain.rules.rule_version import RuleVersion
from tripline_engine.domain.rules.watermarks import Watermarks
from tripline_engine.domain.rules.window_plan import BucketDemand, WindowPlan
from tripline_engine.domain.state_log.anchor_log import AnchorLog, PersistedBuckets


def restructure(
    windows: WindowSet, plan: WindowPlan, watermarks: Watermarks, log: AnchorLog | None, *, build: bool = True
) -> None:
    """Have the windows be exactly those of the plan.

    Windows that are new are built from the history, and bucket sets and firing states from the log, which is read only
    then. Without a log these start with nothing; if ``build`` is False the windows do too.
    """
    windows.close_all_but(plan, watermarks)
    windows.used = plan.used
    windows.history.restore(windows.used)
    _WindowBuild(windows, plan, watermarks, build=build).run(log)


class _WindowBuild:
    """One restructuring of a set of windows; with ``build`` False, over no rows."""

    def __init__(self, windows: WindowSet, plan: WindowPlan, watermarks: Watermarks, *, build: bool) -> None:
        self._windows, self._plan, self._watermarks = windows, plan, watermarks
        history = windows.history
        self._base, self._end = history.base, history.end if build else history.base

    def run(self, log: AnchorLog | None) -> None:
        """Open and build all that is missing."""
        windows, plan = self._windows, self._plan
        run_parallel(*self._works(), parallel_rows=windows.tuning.parallel_rows)
        for key, demand in plan.buckets.items():
            if key not in windows.buckets:
                self._build_buckets(key, demand, log.read_buckets(windows.path(key)) if log else None)
            elif windows.buckets[key].buckets.layout != demand:
                windows.buckets[key].buckets.relayout(demand)
        missing = plan.stateful.keys() - windows.firing.keys() - windows.alerted.keys()
        records = log.read_firing() if missing and log else {}
        for version in missing:
            self._build_states(plan.stateful[version], records.get(version))

    def _works(self) -> tuple[list[Work], int, dict[Work, list[Work]]]:
        """The pieces of work, over how many rows, and which of them come after which."""
        windows, base, end = self._windows, self._base, self._end
        populations = self._plan.populations - windows.lists.keys()
        groups: dict[tuple[str, ...], Work] = {
            fields: partial(windows.open_groups(fields).enter, base, end)
            for fields in {population.fields for population in populations} - windows.groups.keys()
        }
        lists: dict[object, Work] = {
            population: partial(windows.open_lists(population).build, base, end) for population in populations
        }
        after = {
            lists[population]: [groups[population.fields]]
            for population in populations
            if population.fields in groups
        }
        builds = []
        for key, build in self._window_works():
            builds.append(build)
            after[build] = [lists[population] for population in {key.population, key.members} & lists.keys()]
        return [*groups.values(), *lists.values(), *builds], end - base, after

    def _window_works(self) -> Iterator[tuple[ChainKey | TotalsKey | DistinctKey | SquareKey, Work]]:
        """The builds of windows, each with arrays of its own; those that take longest come first."""
        windows, plan, base, end = self._windows, self._plan, self._base, self._end
        for chain in plan.chains.keys() - windows.chains.keys():
            floor, opened = self._floor(chain), windows.open_chain(chain, plan.chains[chain])
            yield chain, partial(opened.build, floor, base, end, windows.amounts(chain.field))
        for totals, lengths in plan.totals.items():
            rows = self._floor(totals), base, end, windows.amounts(totals.field)
            if totals not in windows.totals:
                yield totals, partial(windows.open_totals(totals, lengths).build, *rows)
            elif windows.totals[totals].windows != lengths:
                yield totals, partial(windows.totals[totals].rewindow, lengths, *rows)
        for distinct, lengths in plan.distincts.items():
            floor = self._floor(distinct)
            if distinct not in windows.distincts:
                yield distinct, partial(windows.open_distinct(distinct, lengths).build, floor, base, end)
            elif windows.distincts[distinct].windows != lengths:
                yield distinct, partial(windows.distincts[distinct].rewindow, lengths, floor, base, end)

        for squared, lengths in plan.squares.items():
            rows = self._floor(squared), base, end, windows.amounts(squared.field)
            if squared not in windows.squares:
                yield squared, partial(windows.open_squares(squared, lengths).build, *rows)
            elif windows.squares[squared].windows != lengths:
                yield squared, partial(windows.squares[squared].rewindow, lengths, *rows)

    def _floor(self, key: ChainKey | TotalsKey | DistinctKey | SquareKey) -> int:
        return self._windows.floor(self._watermarks, key)

    def _build_buckets(
        self, key: BucketKey, demand: BucketDemand, persisted: PersistedBuckets | None
    ) -> None:
        windows, history = self._windows, self._windows.history
        window, span = windows.open_buckets(key, demand), windows.span(self._watermarks, key)
        window.buckets.empty(span.begun)
        if persisted is not None:
            for run in persisted.buckets:
                window.buckets.put(run)
            first, amounts = max(persisted.first - history.offset, history.base), windows.amounts(key.field)
            window.enter(span, first, history.end, amounts, persisted.voided)

    def _build_states(self, version: RuleVersion, records: FiringRecords | None) -> None:
        windows, history, end = self._windows, self._windows.history, self._end
        windows.open_states(version)
        if version.key in windows.alerted:
            backfilled = history.marked(BACKFILLED, history.base, end)
            windows.alerted[version.key].build(records, history.offset, history.base, end, backfilled)
            return
        states = windows.firing[version.key]
        states.build(records)
        if version.key in windows.resets:
            floor = self._watermarks.floor_of(version)
            windows.resets[version.key].build(states, floor, end)
