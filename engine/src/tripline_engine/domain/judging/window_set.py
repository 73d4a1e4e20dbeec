"""The windows of an anchor's rules over its history, shared between rules and versions where they can be."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from tripline_engine.domain.buckets.bucket_window import Buckets, BucketWindow
from tripline_engine.domain.firing.alerted_rows import Alerted
from tripline_engine.domain.firing.bucketed_firing_states import BucketedFiringStates
from tripline_engine.domain.firing.firing_states import FiringRecords, FiringStates
from tripline_engine.domain.groups.group_lists import GroupLists
from tripline_engine.domain.groups.groups import Groups
from tripline_engine.domain.groups.populations import open_group_lists, open_groups
from tripline_engine.domain.history.history import History
from tripline_engine.domain.history.history_columns import BACKFILLED, NO_MEASURE
from tripline_engine.domain.history.row_filter import FilterCompiler
from tripline_engine.domain.history.voided import Voided
from tripline_engine.domain.judging.anchor_tuning import DEFAULT_TUNING, AnchorTuning
from tripline_engine.domain.memory.arena import Arena
from tripline_engine.domain.memory.parallel import Work, run_parallel
from tripline_engine.domain.memory.row_arrays import (
    RowArrays,
    release_rows,
    release_rows_behind,
    unbacked_bytes,
)
from tripline_engine.domain.memory.slot_table import SlotTable
from tripline_engine.domain.rules.measures import BucketKey, ChainKey, DistinctKey, Population, TotalsKey
from tripline_engine.domain.rules.rule_version import RuleVersion, RuleVersionKey
from tripline_engine.domain.rules.watermarks import BucketSpan, Watermarks
from tripline_engine.domain.rules.window_plan import BucketDemand, WindowPlan
from tripline_engine.domain.transactions.columns import MIN_TIME, Amounts
from tripline_engine.domain.windows.distinct_window import DistinctWindow
from tripline_engine.domain.windows.extreme_window import ExtremeWindow
from tripline_engine.domain.windows.reset_window import ResetWindow
from tripline_engine.domain.windows.sum_window import SumWindow


@dataclass(frozen=True, slots=True)
class PersistedBuckets:
    """What the state log holds of a bucket set.

    :ivar buckets: run by run; a bucket is what they say together
    :ivar first: the sequence number of the first transaction that is not among them
    :ivar voided: of those that are in the history, the void ones
    """

    buckets: Iterable[Buckets]
    first: int
    voided: Sequence[Voided]


class WindowSet:
    """Lists, totals, extremes, buckets and firing states. ``structure`` is what the arena already holds of them.

    Transactions with an event time (ms) before ``since`` are left out.

    :ivar used: the fields that are read for them
    """

    def __init__(
        self,
        arena: Arena,
        history: History,
        compiler: FilterCompiler,
        structure: WindowPlan,
        since: int = MIN_TIME,
        tuning: AnchorTuning = DEFAULT_TUNING,
    ) -> None:
        self._tuning = tuning
        self._arena, self.history, self._compiler, self._since = arena, history, compiler, since
        self._name, self._event_type, self.named = compiler.anchor, compiler.event_type, compiler.named
        self.used = structure.used
        self.groups: dict[tuple[str, ...], Groups] = {}
        self.links: dict[Population, GroupLists] = {}
        self.totals: dict[TotalsKey, SumWindow] = {}
        self.chains: dict[ChainKey, ExtremeWindow] = {}
        self.distincts: dict[DistinctKey, DistinctWindow] = {}
        self.buckets: dict[BucketKey, BucketWindow] = {}
        self.firing: dict[RuleVersionKey, FiringStates] = {}
        self.alerted: dict[RuleVersionKey, Alerted] = {}
        self.resets: dict[RuleVersionKey, ResetWindow] = {}
        self._stateful: dict[RuleVersionKey, Population] = {}
        for population in structure.populations:
            self._open_links(population)
        for totals, lengths in structure.totals.items():
            self._open_totals(totals, lengths)
        for chain, windows in structure.chains.items():
            self._open_chain(chain, windows)
        for distinct, lengths in structure.distincts.items():
            self._open_distinct(distinct, lengths)
        for bucketed, layout in structure.buckets.items():
            self._open_buckets(bucketed, layout)
        for version in structure.stateful.values():
            self._open_states(version)

    def tables(self) -> Iterator[SlotTable]:
        """The slot tables of the groups."""
        for groups in self.groups.values():
            yield groups.table
        for window in self.buckets.values():
            yield window.buckets.groups

    def pools(self) -> Iterator[tuple[int, int]]:
        """For how many buckets there is room, and how many there are."""
        for window in self.buckets.values():
            yield window.buckets.capacity, window.buckets.used

    def restructure(
        self,
        structure: WindowPlan,
        visibility: Watermarks,
        firing: Callable[[], Mapping[RuleVersionKey, FiringRecords]],
        kept: Callable[[BucketKey], PersistedBuckets] | None = None,
        *,
        build: bool = True,
    ) -> None:
        """Maintain exactly this from now on.

        What is new is built from the history and from the firing states, which are read only then; unless
        ``build`` is False: then it starts with nothing. ``kept`` reads what has left the history of a bucket set.
        """
        self._remove_all_but(structure, visibility)
        history, self.used = self.history, structure.used
        history.restore(self.used)
        base, end = history.base, history.end if build else history.base
        run_parallel(
            *self._to_build(structure, visibility, base, end), parallel_rows=self._tuning.parallel_rows
        )
        for bucketed, layout in structure.buckets.items():
            if bucketed not in self.buckets:
                self._build_buckets(bucketed, layout, visibility, kept(bucketed) if kept else None)
            elif self.buckets[bucketed].buckets.layout != layout:
                self.buckets[bucketed].buckets.relayout(layout)
        fresh = structure.stateful.keys() - self.firing.keys() - self.alerted.keys()
        states = firing() if fresh else {}
        for key in fresh:
            self._build_states(structure.stateful[key], visibility, states.get(key), end)

    def _to_build(
        self, structure: WindowPlan, visibility: Watermarks, base: int, end: int
    ) -> tuple[list[Work], int, dict[Work, list[Work]]]:
        """What is to be done for what is not there yet, over how many rows, and what comes after what."""
        populations = structure.populations - self.links.keys()
        groups: dict[tuple[str, ...], Work] = {
            fields: partial(self._open_groups(fields).enter, base, end)
            for fields in {each.fields for each in populations} - self.groups.keys()
        }
        links: dict[Population, Work] = {
            each: partial(self._open_links(each).build, base, end) for each in populations
        }
        after = {link: [groups[each.fields]] for each, link in links.items() if each.fields in groups}
        windows = []
        for key, build in self._builds(structure, visibility, base, end):
            windows.append(build)
            after[build] = [links[each] for each in {key.population, key.members} & links.keys()]
        return [*groups.values(), *links.values(), *windows], end - base, after

    def _builds(
        self, structure: WindowPlan, visibility: Watermarks, base: int, end: int
    ) -> Iterator[tuple[ChainKey | TotalsKey | DistinctKey, Work]]:
        """What builds the windows that are not there yet, each with arrays of its own; what takes longest first."""
        for chain in structure.chains.keys() - self.chains.keys():
            floor, opened = self.floor(visibility, chain), self._open_chain(chain, structure.chains[chain])
            yield chain, partial(opened.build, floor, base, end, self.amounts(chain.field))
        for totals, lengths in structure.totals.items():
            reach = self.floor(visibility, totals), base, end, self.amounts(totals.field)
            if totals not in self.totals:
                yield totals, partial(self._open_totals(totals, lengths).build, *reach)
            elif self.totals[totals].windows != lengths:
                yield totals, partial(self.totals[totals].rewindow, lengths, *reach)
        for distinct, lengths in structure.distincts.items():
            floor = self.floor(visibility, distinct)
            if distinct not in self.distincts:
                yield distinct, partial(self._open_distinct(distinct, lengths).build, floor, base, end)
            elif self.distincts[distinct].windows != lengths:
                yield distinct, partial(self.distincts[distinct].rewindow, lengths, floor, base, end)

    def drop(self, first: int, until: int) -> None:
        """Let go of the rows from ``first`` to ``until``, while they can still be read."""
        for totals, window in self.totals.items():
            window.drop(first, until, self.amounts(totals.field))
        for key, chain in self.chains.items():
            chain.drop(first, until, self.amounts(key.field))
        for distinct in self.distincts.values():
            distinct.drop(first, until)
        for reset in self.resets.values():
            reset.drop(first, until)
        for links in self.links.values():
            links.drop(until)
        for groups in self.groups.values():
            groups.drop(until)

    def shift(self, delta: int, end: int) -> None:
        """Follow the history when its row numbers shrink by ``delta`` (``end``: the number after the newest, new)."""
        for groups in self.groups.values():
            groups.shift(delta, end)
        for links in self.links.values():
            links.shift(delta, end)
        for window in self.totals.values():
            window.shift(delta)
        for chain in self.chains.values():
            chain.shift(delta, end)
        for distinct in self.distincts.values():
            distinct.shift(delta, end)
        for reset in self.resets.values():
            reset.shift(delta, end)
        for alerted in self.alerted.values():
            alerted.shift(delta, end)
        release_rows_behind(self._arena, self._by_row, end, delta + end)

    def release_rows(self, first: int, until: int) -> None:
        """The system may have the memory of these rows, which have gone."""
        release_rows(self._arena, self._by_row, first, until)

    def unbacked_bytes(self, given: int, end: int) -> int:
        """Bytes of sparse arrays for which there is no memory, if the rows from ``given`` to ``end`` have some."""
        return unbacked_bytes(self._by_row, given, end)

    def evict(self, visibility: Watermarks) -> None:
        """Let go of buckets that no window reaches any more, and of states that are kept apart from the lists."""
        for key, window in self.buckets.items():
            window.buckets.evict(window.floor_bucket(self.span(visibility, key)))
        for states in self.firing.values():
            states.forget(visibility.lateness_floor)

    def empty_buckets(self) -> None:
        """No bucket holds anything any more."""
        for window in self.buckets.values():
            window.buckets.empty(window.buckets.begun)

    def forget_firing(self) -> None:
        """No group has a firing state any more."""
        for states in self.firing.values():
            states.build(None)
        for alerted in self.alerted.values():
            alerted.build(None, 0, self.history.base, self.history.end)

    def close_states(self, rule_id: int) -> None:
        """Let go of the firing states of a rule; restructuring builds them from what it is given."""
        for key in list(self._stateful):
            if key[0] == rule_id:
                self._close_states(key)

    def measure(self, name: str | None) -> str:
        """The field if it is a number; any number will do where only a count is wanted."""
        measures = self._event_type.measures or (NO_MEASURE,)
        return name if name is not None and name in measures else measures[0]

    def amounts(self, name: str | None) -> Amounts:
        """The column of that measure."""
        return self.history.measure(self.measure(name))

    def floor(self, visibility: Watermarks, key: TotalsKey | ChainKey | DistinctKey) -> int:
        """The oldest event time (ms) visible to the rules that read this."""
        return visibility.floor(self._name, key.used)

    def span(self, visibility: Watermarks, key: BucketKey) -> BucketSpan:
        """What the bucket set shows here."""
        span = visibility.span(self._name, key)
        return replace(span, begin=max(span.begin, self._since))

    @property
    def _by_row(self) -> RowArrays:
        found: RowArrays = {}
        for windows in (self.groups, self.links, self.chains, self.distincts, self.alerted, self.resets):
            for window in windows.values():
                found |= window.by_row
        return found

    def _build_buckets(
        self, key: BucketKey, layout: BucketDemand, visibility: Watermarks, kept: PersistedBuckets | None
    ) -> None:
        window, history = self._open_buckets(key, layout), self.history
        window.buckets.empty(self.span(visibility, key).begun)
        if kept is not None:
            for run in kept.buckets:
                window.buckets.put(run)
            first, amounts = max(kept.first - history.offset, history.base), self.amounts(key.field)
            window.enter(self.span(visibility, key), first, history.end, amounts, kept.voided)

    def _build_states(
        self, version: RuleVersion, visibility: Watermarks, records: FiringRecords | None, end: int
    ) -> None:
        self._open_states(version)
        if version.key in self.alerted:
            base = self.history.base
            backfilled = self.history.marked(BACKFILLED, base, end)
            self.alerted[version.key].build(records, self.history.offset, base, end, backfilled)
            return
        states = self.firing[version.key]
        states.build(records)
        if version.key in self.resets:
            self.resets[version.key].build(states, visibility.floor(self._name, version.fields), end)

    def _remove_all_but(self, structure: WindowPlan, visibility: Watermarks) -> None:
        for key, population in list(self._stateful.items()):
            version = structure.stateful.get(key)
            # they hold the lists of that population
            if version is None or version.population != population:
                self._close_states(key)
        for totals in list(self.totals.keys() - structure.totals.keys()):
            self.totals.pop(totals).remove()
        for chain in list(self.chains):
            if structure.chains.get(chain) != self.chains[chain].windows:
                self.chains.pop(chain).remove()
        for distinct in list(self.distincts.keys() - structure.distincts.keys()):
            self.distincts.pop(distinct).remove()
        for bucketed, window in list(self.buckets.items()):
            gone = bucketed not in structure.buckets
            # one that has begun elsewhere is another one: all who had it left, and it was named again
            if gone or window.buckets.begun != self.span(visibility, bucketed).begun:
                self.buckets.pop(bucketed).buckets.remove()
        for population in list(self.links.keys() - structure.populations):
            self.links.pop(population).remove()
        for fields in list(self.groups.keys() - {each.fields for each in structure.populations}):
            self.groups.pop(fields).remove()

    def _close_states(self, key: RuleVersionKey) -> None:
        del self._stateful[key]
        for states in (self.firing, self.alerted, self.resets):
            if key in states:
                states.pop(key).remove()

    def _path(self, key: TotalsKey | ChainKey | DistinctKey | BucketKey) -> str:
        return f"{self._name}.by.{key.population.name}.{key.name}"

    def _open_groups(self, fields: tuple[str, ...]) -> Groups:
        if fields not in self.groups:
            self.groups[fields] = open_groups(self._arena, self.history, fields, self._compiler)
        return self.groups[fields]

    def _open_links(self, population: Population) -> GroupLists:
        groups = self._open_groups(population.fields)
        links = open_group_lists(
            self._arena,
            self.history,
            population,
            self._compiler,
            groups,
            self._since,
            small=self._tuning.small_group_rows,
        )
        self.links[population] = links
        return links

    def _open_totals(self, key: TotalsKey, windows: tuple[int, ...]) -> SumWindow:
        name, links, members = self._path(key), self.links[key.population], self.links[key.members]
        summed = key.field is not None
        self.totals[key] = SumWindow(self._arena, name, links, members, windows, summed=summed)
        return self.totals[key]

    def _open_chain(self, key: ChainKey, windows: tuple[int, ...]) -> ExtremeWindow:
        name, links, members = self._path(key), self.links[key.population], self.links[key.members]
        self.chains[key] = ExtremeWindow(self._arena, name, links, members, key.sign, windows)
        return self.chains[key]

    def _open_distinct(self, key: DistinctKey, windows: tuple[int, ...]) -> DistinctWindow:
        name, links, members = self._path(key), self.links[key.population], self.links[key.members]
        self.distincts[key] = DistinctWindow(self._arena, name, links, members, windows)
        return self.distincts[key]

    def _open_buckets(self, key: BucketKey, layout: BucketDemand) -> BucketWindow:
        name, links, members = self._path(key), self.links[key.population], self.links[key.members]
        self.buckets[key] = BucketWindow(self._arena, name, links, members, key.length_ms, layout)
        return self.buckets[key]

    def _open_states(self, version: RuleVersion) -> None:
        """What the version remembers of its alerts."""
        name, definition = f"{self._name}.rule.{version.rule_id}.{version.version}", version.definition
        self._stateful[version.key] = version.population
        if definition.late_events == "reevaluate":
            self.alerted[version.key] = Alerted(self._arena, name)
            return
        links = self.links[version.population]
        if version.bucket_ms is None:
            self.firing[version.key] = FiringStates(self._arena, name, links, definition.cooldown_seconds)
        else:
            lasting = BucketedFiringStates(
                self._arena, name, links, definition.cooldown_seconds, version.window_ms
            )
            self.firing[version.key] = lasting
        if definition.reset_on_alert:
            (part,) = version.measures
            equal, measure = self.links[part.members], self.measure(part.condition.aggregate_field)
            reset = ResetWindow(self._arena, name, self.history, links, equal, version, measure)
            self.resets[version.key] = reset
