"""The factory of an anchor's groups, lists, windows and firing states, each under the array names it keeps for ever."""

from __future__ import annotations

from tripline_engine.domain.buckets.bucket_window import BucketWindow
from tripline_engine.domain.firing.alerted_rows import Alerted
from tripline_engine.domain.firing.bucketed_firing_states import BucketedFiringStates
from tripline_engine.domain.firing.firing_states import FiringStates
from tripline_engine.domain.groups.group_lists import GroupLists
from tripline_engine.domain.groups.groups import Groups
from tripline_engine.domain.groups.populations import open_group_lists, open_groups
from tripline_engine.domain.history.history import History
from tripline_engine.domain.history.history_columns import NO_MEASURE
from tripline_engine.domain.history.row_filter import FilterCompiler
from tripline_engine.domain.judging.anchor_tuning import AnchorTuning
from tripline_engine.domain.memory.arena import Arena
from tripline_engine.domain.rules.measures import (
    BucketKey,
    ChainKey,
    DistinctKey,
    Population,
    SquareKey,
    TotalsKey,
)
from tripline_engine.domain.rules.rule_version import RuleVersion
from tripline_engine.domain.rules.window_plan import BucketDemand
from tripline_engine.domain.windows.distinct_window import DistinctWindow
from tripline_engine.domain.windows.extreme_window import ExtremeWindow
from tripline_engine.domain.windows.reset_window import ResetWindow
from tripline_engine.domain.windows.square_window import SquareWindow
from tripline_engine.domain.windows.sum_window import SumWindow

WindowKey = TotalsKey | ChainKey | DistinctKey | SquareKey | BucketKey
Lists = dict[Population, GroupLists]


class WindowFactory:
    """Transactions with an event time (ms) before ``since`` are in no list.

    :param tuning: from how many rows and buckets on groups have states, and whether sums slide
    """

    def __init__(
        self,
        arena: Arena,
        history: History,
        compiler: FilterCompiler,
        since: int,
        tuning: AnchorTuning,
    ) -> None:
        self._tuning = tuning
        self._arena, self._history, self._compiler, self._since = arena, history, compiler, since
        self._measures = compiler.event_type.measures or (NO_MEASURE,)

    def measure(self, field: str | None) -> str:
        """The field if it is a number; any number will do where only a count is wanted."""
        return field if field is not None and field in self._measures else self._measures[0]

    def groups(self, fields: tuple[str, ...]) -> Groups:
        """The groups by these fields."""
        return open_groups(self._arena, self._history, fields, self._compiler)

    def lists(self, population: Population, groups: Groups) -> GroupLists:
        """The lists of a population."""
        return open_group_lists(
            self._arena,
            self._history,
            population,
            self._compiler,
            groups,
            self._since,
            small=self._tuning.small_group_rows,
        )

    def totals(self, key: TotalsKey, windows: tuple[int, ...], lists: Lists) -> SumWindow:
        """Counts and sums over these window lengths (ms)."""
        summed = key.field is not None
        name, links, members = self._place(key, lists)
        return SumWindow(
            self._arena, name, links, members, windows, summed=summed, in_order=self._tuning.in_order
        )

    def chain(self, key: ChainKey, windows: tuple[int, ...], lists: Lists) -> ExtremeWindow:
        """Least or greatest values over these window lengths (ms)."""
        return ExtremeWindow(self._arena, *self._place(key, lists), key.sign, windows)

    def distinct(self, key: DistinctKey, windows: tuple[int, ...], lists: Lists) -> DistinctWindow:
        """Numbers of different values over these window lengths (ms)."""
        return DistinctWindow(self._arena, *self._place(key, lists), windows)

    def squares(self, key: SquareKey, windows: tuple[int, ...], lists: Lists) -> SquareWindow:
        """Sums of squares over these window lengths (ms)."""
        return SquareWindow(self._arena, *self._place(key, lists), windows)

    def buckets(self, key: BucketKey, demand: BucketDemand, lists: Lists) -> BucketWindow:
        """Windows of whole buckets."""
        return BucketWindow(
            self._arena, *self._place(key, lists), key.length_ms, demand, few=self._tuning.few_buckets
        )

    def alerted(self, version: RuleVersion) -> Alerted:
        """The alerted rows of a version that re-evaluates."""
        return Alerted(self._arena, self._rule_path(version))

    def firing(self, version: RuleVersion, lists: Lists) -> FiringStates:
        """The firing states of any other version."""
        path, groups, cooldown = (
            self._rule_path(version),
            lists[version.population],
            version.definition.cooldown_seconds,
        )
        if version.bucket_ms is None:
            return FiringStates(self._arena, path, groups, cooldown)
        return BucketedFiringStates(self._arena, path, groups, cooldown, version.window_ms)

    def reset(self, version: RuleVersion, lists: Lists) -> ResetWindow:
        """The windows of a version that start anew at each of its alerts."""
        (measure,) = version.measures
        groups, members = lists[version.population], lists[measure.members]
        field = self.measure(measure.condition.aggregate_field)
        return ResetWindow(
            self._arena, self._rule_path(version), self._history, groups, members, version, field
        )

    def _place(self, key: WindowKey, lists: Lists) -> tuple[str, GroupLists, GroupLists]:
        """The name of a window's arrays, the lists it follows, and those of the rows that contribute to it."""
        path = f"{self._compiler.anchor}.by.{key.population.name}.{key.name}"
        return path, lists[key.population], lists[key.members]

    def _rule_path(self, version: RuleVersion) -> str:
        return f"{self._compiler.anchor}.rule.{version.rule_id}.{version.version}"
