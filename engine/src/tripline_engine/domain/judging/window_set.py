"""The windows of an anchor's rules over its history, shared between rules and versions where they can be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from tripline_engine.domain.buckets.bucket_window import BucketWindow
from tripline_engine.domain.firing.alerted_rows import Alerted
from tripline_engine.domain.firing.firing_states import FiringStates
from tripline_engine.domain.groups.group_lists import GroupLists
from tripline_engine.domain.groups.groups import Groups
from tripline_engine.domain.history.history import History
from tripline_engine.domain.history.row_filter import FilterCompiler
from tripline_engine.domain.judging.anchor_tuning import DEFAULT_TUNING, AnchorTuning
from tripline_engine.domain.judging.window_factory import WindowFactory
from tripline_engine.domain.memory.arena import Arena
from tripline_engine.domain.memory.row_arrays import (
    RowArrays,
    release_rows,
    release_rows_behind,
    unbacked_bytes,
)
from tripline_engine.domain.memory.slot_table import SlotTable
from tripline_engine.domain.rules.measures import (
    EVENT_TIME,
    BucketKey,
    ChainKey,
    DistinctKey,
    Population,
    SquareKey,
    TotalsKey,
)
from tripline_engine.domain.rules.rule_version import RuleVersion, RuleVersionKey
from tripline_engine.domain.rules.watermarks import BucketSpan, Watermarks
from tripline_engine.domain.rules.window_plan import BucketDemand, WindowPlan
from tripline_engine.domain.transactions.columns import MIN_TIME, Amounts
from tripline_engine.domain.windows.distinct_window import DistinctWindow
from tripline_engine.domain.windows.extreme_window import ExtremeWindow
from tripline_engine.domain.windows.reset_window import ResetWindow
from tripline_engine.domain.windows.square_window import SquareWindow
from tripline_engine.domain.windows.sum_window import SumWindow


class WindowSet:
    """Lists, totals, extremes, buckets and firing states. ``plan`` is what the arena already holds of them.

    Transactions with an event time (ms) before ``since`` are left out.

    :ivar used: the fields that the windows read
    """

    def __init__(
        self,
        arena: Arena,
        history: History,
        compiler: FilterCompiler,
        plan: WindowPlan,
        since: int = MIN_TIME,
        tuning: AnchorTuning = DEFAULT_TUNING,
    ) -> None:
        self._arena, self.history, self._since = arena, history, since
        self._name, self.named = compiler.anchor, compiler.named
        self.tuning = tuning
        self._factory = WindowFactory(arena, history, compiler, since, tuning)
        self.used = plan.used
        self.groups: dict[tuple[str, ...], Groups] = {}
        self.lists: dict[Population, GroupLists] = {}
        self.totals: dict[TotalsKey, SumWindow] = {}
        self.chains: dict[ChainKey, ExtremeWindow] = {}
        self.distincts: dict[DistinctKey, DistinctWindow] = {}
        self.squares: dict[SquareKey, SquareWindow] = {}
        self.buckets: dict[BucketKey, BucketWindow] = {}
        self.firing: dict[RuleVersionKey, FiringStates] = {}
        self.alerted: dict[RuleVersionKey, Alerted] = {}
        self.resets: dict[RuleVersionKey, ResetWindow] = {}
        self._stateful: dict[RuleVersionKey, Population] = {}
        for population in plan.populations:
            self.open_lists(population)
        for totals, lengths in plan.totals.items():
            self.open_totals(totals, lengths)
        for chain, lengths in plan.chains.items():
            self.open_chain(chain, lengths)
        for distinct, lengths in plan.distincts.items():
            self.open_distinct(distinct, lengths)
        for squared, lengths in plan.squares.items():
            self.open_squares(squared, lengths)
        for bucketed, demand in plan.buckets.items():
            self.open_buckets(bucketed, demand)
        for version in plan.stateful.values():
            self.open_states(version)

    def close_all_but(self, plan: WindowPlan, watermarks: Watermarks) -> None:
        """Release the arrays of all that the plan has not."""
        for key, population in list(self._stateful.items()):
            version = plan.stateful.get(key)
            # they hold the lists of that population
            if version is None or version.population != population:
                self._close_states(key)
        for totals in list(self.totals.keys() - plan.totals.keys()):
            self.totals.pop(totals).remove()
        for chain in list(self.chains):
            if plan.chains.get(chain) != self.chains[chain].windows:
                self.chains.pop(chain).remove()
        for distinct in list(self.distincts.keys() - plan.distincts.keys()):
            self.distincts.pop(distinct).remove()
        for squared in list(self.squares.keys() - plan.squares.keys()):
            self.squares.pop(squared).remove()
        for bucketed, window in list(self.buckets.items()):
            unwanted = bucketed not in plan.buckets
            # one that has begun elsewhere is another one: all who had it left, and it was named again
            if unwanted or window.buckets.begun != self.span(watermarks, bucketed).begun:
                self.buckets.pop(bucketed).buckets.remove()
        for population in list(self.lists.keys() - plan.populations):
            self.lists.pop(population).remove()
        for fields in list(self.groups.keys() - {population.fields for population in plan.populations}):
            self.groups.pop(fields).remove()

    def tables(self) -> Iterator[SlotTable]:
        """The slot tables of the groups."""
        for groups in self.groups.values():
            yield groups.table
        for window in self.buckets.values():
            yield window.buckets.groups

    def pools(self) -> Iterator[tuple[int, int]]:
        """Capacity and number of buckets, by bucket set."""
        for window in self.buckets.values():
            yield window.buckets.capacity, window.buckets.used

    def drop(self, first: int, until: int) -> None:
        """Let the rows from ``first`` to ``until`` expire, while they can still be read."""
        for totals, window in self.totals.items():
            window.drop(first, until, self.amounts(totals.field))
        for squared, squares in self.squares.items():
            squares.drop(first, until, self.amounts(squared.field))
        for key, chain in self.chains.items():
            chain.drop(first, until, self.amounts(key.field))
        for distinct in self.distincts.values():
            distinct.drop(first, until)
        for reset in self.resets.values():
            reset.drop(first, until)
        for lists in self.lists.values():
            lists.drop(until)
        for groups in self.groups.values():
            groups.drop(until)

    def shift(self, delta: int, end: int) -> None:
        """Follow the history when its row numbers shrink by ``delta`` (``end``: the number after the newest, new)."""
        for groups in self.groups.values():
            groups.shift(delta, end)
        for lists in self.lists.values():
            lists.shift(delta, end)
        for window in self.totals.values():
            window.shift(delta)
        for squares in self.squares.values():
            squares.shift(delta)
        for chain in self.chains.values():
            chain.shift(delta, end)
        for distinct in self.distincts.values():
            distinct.shift(delta, end)
        for reset in self.resets.values():
            reset.shift(delta, end)
        for alerted in self.alerted.values():
            alerted.shift(delta, end)
        release_rows_behind(self._arena, self._row_arrays, end, delta + end)

    def release_rows(self, first: int, until: int) -> None:
        """Release the memory of these rows, which have expired."""
        release_rows(self._arena, self._row_arrays, first, until)

    def unbacked_bytes(self, released_until: int, end: int) -> int:
        """Bytes of sparse arrays without memory, if the rows from ``released_until`` to ``end`` have some."""
        return unbacked_bytes(self._row_arrays, released_until, end)

    def evict(self, watermarks: Watermarks) -> None:
        """Evict buckets that no window reaches any more, and firing states that are kept apart from the lists."""
        for key, window in self.buckets.items():
            window.buckets.expire(window.floor_bucket(self.span(watermarks, key)))
        for states in self.firing.values():
            states.expire(watermarks.lateness_floor)

    def empty_buckets(self) -> None:
        """Empty every bucket set."""
        for window in self.buckets.values():
            window.buckets.empty(window.buckets.begun)

    def clear_firing(self) -> None:
        """Forget every group's firing state."""
        for states in self.firing.values():
            states.build(None)
        for alerted in self.alerted.values():
            alerted.build(None, 0, self.history.base, self.history.end)

    def close_states(self, rule_id: int) -> None:
        """Release the firing states of a rule; restructuring builds them from the log."""
        for key in list(self._stateful):
            if key[0] == rule_id:
                self._close_states(key)

    def amounts(self, field: str | None) -> Amounts:
        """The column of that measure, see `WindowFactory.measure`; event times as numbers of the same order."""
        if field == EVENT_TIME:
            time = self.history.time
            return Amounts(time.view(np.uint64), time)
        return self.history.measure(self._factory.measure(field))

    def floor(self, watermarks: Watermarks, key: TotalsKey | ChainKey | DistinctKey | SquareKey) -> int:
        """The oldest event time (ms) visible to the rules that read this window."""
        return watermarks.floor(self._name, key.used, kept=key.population.exclusions.kept)

    def floor_of(self, watermarks: Watermarks, fields: Iterable[str]) -> int:
        """The oldest event time (ms) visible to rules on the anchor that use these fields, or to shadows."""
        return watermarks.floor(self._name, fields, kept=True)

    def span(self, watermarks: Watermarks, key: BucketKey) -> BucketSpan:
        """The event times that the bucket set shows here."""
        span = watermarks.span(self._name, key)
        return replace(span, begin=max(span.begin, self._since))

    def path(self, key: BucketKey) -> str:
        """The name of a bucket set in the log."""
        return key.path(self._name)

    def open_groups(self, fields: tuple[str, ...]) -> Groups:
        """The groups by these fields, opened if they are not."""
        if fields not in self.groups:
            self.groups[fields] = self._factory.groups(fields)
        return self.groups[fields]

    def open_lists(self, population: Population) -> GroupLists:
        """Open the lists of a population, and its groups."""
        self.lists[population] = self._factory.lists(population, self.open_groups(population.fields))
        return self.lists[population]

    def open_totals(self, key: TotalsKey, windows: tuple[int, ...]) -> SumWindow:
        """Open counts and sums; the lists that they follow are open."""
        self.totals[key] = self._factory.totals(key, windows, self.lists)
        return self.totals[key]

    def open_chain(self, key: ChainKey, windows: tuple[int, ...]) -> ExtremeWindow:
        """Open extremes."""
        self.chains[key] = self._factory.chain(key, windows, self.lists)
        return self.chains[key]

    def open_distinct(self, key: DistinctKey, windows: tuple[int, ...]) -> DistinctWindow:
        """Open numbers of different values."""
        self.distincts[key] = self._factory.distinct(key, windows, self.lists)
        return self.distincts[key]

    def open_squares(self, key: SquareKey, windows: tuple[int, ...]) -> SquareWindow:
        """Open sums of squares."""
        self.squares[key] = self._factory.squares(key, windows, self.lists)
        return self.squares[key]

    def open_buckets(self, key: BucketKey, demand: BucketDemand) -> BucketWindow:
        """Open a bucket set."""
        self.buckets[key] = self._factory.buckets(key, demand, self.lists)
        return self.buckets[key]

    def open_states(self, version: RuleVersion) -> None:
        """Open the firing state of a version, and the windows that start anew with it."""
        self._stateful[version.key] = version.population
        if version.definition.late_events == "reevaluate":
            self.alerted[version.key] = self._factory.alerted(version)
            return
        self.firing[version.key] = self._factory.firing(version, self.lists)
        if version.definition.reset_on_alert:
            self.resets[version.key] = self._factory.reset(version, self.lists)

    @property
    def _row_arrays(self) -> RowArrays:
        arrays: RowArrays = {}
        for windows in (self.groups, self.lists, self.chains, self.distincts, self.alerted, self.resets):
            for window in windows.values():
                arrays |= window.by_row
        return arrays

    def _close_states(self, key: RuleVersionKey) -> None:
        del self._stateful[key]
        for states in (self.firing, self.alerted, self.resets):
            if key in states:
                states.pop(key).remove()
