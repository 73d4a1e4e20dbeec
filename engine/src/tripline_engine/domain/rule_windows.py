"""The windows of an anchor's rules over its history, shared between rules and versions where they can be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tripline_contracts.event_type import EventType
from tripline_engine.domain.arena import Arena
from tripline_engine.domain.extremum import Extremum
from tripline_engine.domain.filtering import compile_filter, from_time
from tripline_engine.domain.firing import FiringRecords, FiringStates
from tripline_engine.domain.history import HashKey, History
from tripline_engine.domain.links import NOTHING, Links, Lists
from tripline_engine.domain.reading import Reading
from tripline_engine.domain.resetting import ResetWindow
from tripline_engine.domain.rows import Amounts, Totals
from tripline_engine.domain.rule_book import RuleVersion
from tripline_engine.domain.slot_table import SlotTable
from tripline_engine.domain.structure import (
    ChainKey,
    Population,
    RuleVersionKey,
    Structure,
    TotalsKey,
    chain_key,
    population_of,
    totals_key,
)
from tripline_engine.domain.sum_window import SumWindow
from tripline_engine.domain.visibility import Visibility


def open_links(
    arena: Arena,
    name: str,
    history: History,
    population: Population,
    event_type: EventType,
    key: HashKey,
    since: int = NOTHING,
) -> Links:
    """The lists of a population; transactions with an event time (ms) before ``since`` are left out."""
    condition = population.filter
    passes = None if condition is None else compile_filter(condition, event_type, key)
    if since != NOTHING:
        passes = from_time(since, passes)
    return Links(arena, f"{name}.by.{population.name}", history, population.fields, key, passes)


class RuleWindows:
    """Lists, totals, extremes and firing states. ``structure`` is what the arena already holds of them.

    Transactions with an event time (ms) before ``since`` are left out.
    """

    def __init__(
        self,
        arena: Arena,
        name: str,
        history: History,
        event_type: EventType,
        key: HashKey,
        structure: Structure,
        since: int = NOTHING,
    ) -> None:
        self._since = since
        self._arena, self._name, self.history = arena, name, history
        self._event_type, self._key = event_type, key
        self.links: dict[Population, Links] = {}
        self.totals: dict[TotalsKey, SumWindow] = {}
        self.chains: dict[ChainKey, Extremum] = {}
        self.firing: dict[RuleVersionKey, FiringStates] = {}
        self.resets: dict[RuleVersionKey, ResetWindow] = {}
        for population in structure.populations:
            self._open_links(population)
        for totals in structure.totals:
            self._open_totals(totals)
        for chain, windows in structure.chains.items():
            self._open_chain(chain, windows)
        for version in structure.stateful.values():
            self._open_states(version)

    def tables(self) -> Iterator[SlotTable]:
        """The slot tables of the populations."""
        for links in self.links.values():
            yield links.table

    def restructure(
        self,
        structure: Structure,
        visibility: Visibility,
        firing: Mapping[RuleVersionKey, FiringRecords],
        *,
        build: bool = True,
    ) -> None:
        """Maintain exactly this from now on.

        What is new is built from the history, unless ``build`` is False: then it starts with nothing.
        """
        self._remove_all_but(structure)
        history = self.history
        base, end = history.base, history.end if build else history.base
        for population in structure.populations - self.links.keys():
            self._open_links(population).link(base, end)
        for totals in structure.totals - self.totals.keys():
            floor = self.floor(visibility, totals.population, totals.field)
            self._open_totals(totals).build(floor, base, self.amounts(totals.field))
        for chain in structure.chains.keys() - self.chains.keys():
            floor = self.floor(visibility, chain.population, chain.field)
            opened = self._open_chain(chain, structure.chains[chain])
            opened.build(floor, base, self.amounts(chain.field))
        for key in structure.stateful.keys() - self.firing.keys():
            self._build_states(structure.stateful[key], visibility, firing.get(key), end)

    def enter(self, start: int, end: int, visibility: Visibility) -> Aggregates:
        """Take in the history's rows from ``start`` to ``end``."""
        found = Aggregates(self, start, end, visibility)
        base = self.history.base
        for population, links in self.links.items():
            found.newest[population] = links.link(start, end)
        for key, window in self.totals.items():
            floor = self.floor(visibility, key.population, key.field)
            newest = found.newest[key.population]
            found.totals[key] = window.evaluate(start, newest, floor, base, self.amounts(key.field))
        for chain, extremum in self.chains.items():
            floor = self.floor(visibility, chain.population, chain.field)
            newest = found.newest[chain.population]
            found.extremes[chain] = extremum.evaluate(start, newest, floor, base, self.amounts(chain.field))
        return found

    def drop(self, first: int, until: int) -> None:
        """Let go of the rows from ``first`` to ``until``, while they can still be read."""
        for totals, window in self.totals.items():
            window.drop(first, until, self.amounts(totals.field))
        for key, chain in self.chains.items():
            chain.drop(first, until, self.amounts(key.field))
        for reset in self.resets.values():
            reset.drop(first, until)
        for links in self.links.values():
            links.drop(until)

    def shift(self, delta: int, end: int) -> None:
        """Follow the history when its row numbers shrink by ``delta`` (``end``: the number after the newest, new)."""
        for links in self.links.values():
            links.shift(delta, end)
        for window in self.totals.values():
            window.shift(delta)
        for chain in self.chains.values():
            chain.shift(delta, end)
        for reset in self.resets.values():
            reset.shift(delta, end)

    def forget_firing(self) -> None:
        """No group has a firing state any more."""
        for states in self.firing.values():
            states.build(None)

    def amounts(self, name: str | None) -> Amounts:
        """The field's column; any column will do where only a count is wanted."""
        return self.history.measure(name or self._event_type.measures[0])

    def floor(self, visibility: Visibility, population: Population, aggregated: str | None) -> int:
        """The oldest event time (ms) visible to a rule on this population that aggregates that field."""
        used = {self._event_type.time_field.name, *population.used}
        return visibility.floor(self._name, used if aggregated is None else used | {aggregated})

    def _build_states(
        self, version: RuleVersion, visibility: Visibility, records: FiringRecords | None, end: int
    ) -> None:
        states, reset = self._open_states(version)
        states.build(records)
        if reset is not None:
            floor = visibility.floor(self._name, version.fields)
            reset.build(states, floor, end)

    def _remove_all_but(self, structure: Structure) -> None:
        for key in list(self.firing.keys() - structure.stateful.keys()):
            self.firing.pop(key).remove()
            if key in self.resets:
                self.resets.pop(key).remove()
        for totals in list(self.totals.keys() - structure.totals):
            self.totals.pop(totals).remove()
        for chain in list(self.chains):
            if structure.chains.get(chain) != self.chains[chain].windows:
                self.chains.pop(chain).remove()
        for population in list(self.links.keys() - structure.populations):
            self.links.pop(population).remove()

    def _path(self, population: Population) -> str:
        return f"{self._name}.by.{population.name}"

    def _open_links(self, population: Population) -> Links:
        event_type, key = self._event_type, self._key
        links = open_links(self._arena, self._name, self.history, population, event_type, key, self._since)
        self.links[population] = links
        return links

    def _open_totals(self, key: TotalsKey) -> SumWindow:
        name = f"{self._path(key.population)}.sum.{key.field or ''}.{key.window_ms}"
        self.totals[key] = SumWindow(self._arena, name, self.links[key.population], key.window_ms)
        return self.totals[key]

    def _open_chain(self, key: ChainKey, windows: tuple[int, ...]) -> Extremum:
        name = f"{self._path(key.population)}.{'min' if key.sign > 0 else 'max'}.{key.field}"
        self.chains[key] = Extremum(self._arena, name, self.links[key.population], key.sign, windows)
        return self.chains[key]

    def _open_states(self, version: RuleVersion) -> tuple[FiringStates, ResetWindow | None]:
        name = f"{self._name}.rule.{version.rule_id}.{version.version}"
        links = self.links[population_of(version)]
        states = self.firing[version.key] = FiringStates(self._arena, name, links)
        if not version.definition.reset_on_alert:
            return states, None
        measure = version.definition.aggregate_field or self._event_type.measures[0]
        reset = ResetWindow(self._arena, name, self.history, links, version.definition, measure)
        self.resets[version.key] = reset
        return states, reset


@dataclass(slots=True)
class Aggregates:
    """What a run of rows came to, before limits are looked at."""

    windows: RuleWindows
    start: int
    end: int
    visibility: Visibility
    newest: dict[Population, npt.NDArray[np.int64]] = field(default_factory=dict)
    totals: dict[TotalsKey, Totals] = field(default_factory=dict)
    extremes: dict[ChainKey, npt.NDArray[np.int64]] = field(default_factory=dict)
    _counted: dict[tuple[Population, bool], dict[str, int]] = field(default_factory=dict)

    def fire(
        self, version: RuleVersion, eligible: npt.NDArray[np.bool_]
    ) -> tuple[npt.NDArray[np.bool_], Reading]:
        """Where alerts of the version are due (bool, n) among the rows that it may judge; what it read."""
        moving = self._moving(version, eligible)
        if version.definition.reset_on_alert:
            return self._fire_resetting(version, moving)
        reading = self._reading(version)
        hits = reading.hits() & moving
        if version.definition.firing == "crossing":
            states = self.windows.firing[version.key]
            states.cross(self.start, self.windows.history.time, version.window_ms, hits, moving)
        return hits, reading

    def changed_states(self, version: RuleVersion, eligible: npt.NDArray[np.bool_]) -> FiringRecords | None:
        """The firing states that the rows have touched; None if there are none."""
        states = self.windows.firing.get(version.key)
        moving = self._moving(version, eligible)
        if states is None or not moving.any():
            return None
        slots = self.windows.links[population_of(version)].slots[self.start : self.end]
        return states.records(slots[moving])

    def counts(self, version: RuleVersion, eligible: npt.NDArray[np.bool_]) -> dict[str, int]:
        """How many evaluations there were, by what was special about them."""
        population, stores = population_of(version), version.definition.late_events == "store"
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
        population = population_of(version)
        present = eligible & (self.windows.links[population].slots[self.start : self.end] >= 0)
        late = present & (self.windows.history.time[self.start : self.end] < self.newest[population])
        return present & ~late if version.definition.late_events == "store" else present, late

    def _moving(self, version: RuleVersion, eligible: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Where an evaluation counts: in a group, and late only if the version takes that."""
        population, definition = population_of(version), version.definition
        moving = eligible & (self.windows.links[population].slots[self.start : self.end] >= 0)
        if definition.firing == "crossing" or definition.late_events == "store":
            moving &= self.windows.history.time[self.start : self.end] >= self.newest[population]
        return moving

    def _reading(self, version: RuleVersion) -> Reading:
        key = chain_key(version)
        if key is None:
            extremes = np.empty(0, np.int64)
        else:
            extremes = self.extremes[key][:, self.windows.chains[key].windows.index(version.window_ms)]
        links = self.windows.links[population_of(version)]
        return self._read(version, self.totals[totals_key(version)], extremes, links)

    def _fire_resetting(
        self, version: RuleVersion, moving: npt.NDArray[np.bool_]
    ) -> tuple[npt.NDArray[np.bool_], Reading]:
        reset, states = self.windows.resets[version.key], self.windows.firing[version.key]
        floor = self.visibility.floor(version.anchor, version.fields)
        found = reset.evaluate(self.start, moving, states, floor)
        return found.fired, self._read(version, found.totals, found.extremes, reset.lists)

    def _read(
        self, version: RuleVersion, totals: Totals, extremes: npt.NDArray[np.int64], lists: Lists
    ) -> Reading:
        return Reading(
            version=version,
            start=self.start,
            totals=totals,
            extremes=extremes,
            lists=lists,
            newest=self.newest[population_of(version)],
            history=self.windows.history,
            amounts=self.windows.amounts(version.definition.aggregate_field),
            floor=self.visibility.floor(version.anchor, version.fields),
        )
