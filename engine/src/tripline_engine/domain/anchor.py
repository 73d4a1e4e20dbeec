"""The rules of one anchor in one shard: accepted transactions in, verdicts out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from tripline_contracts import decimals
from tripline_contracts.event_type import GLOBAL_ANCHOR, EventType
from tripline_engine.domain.arena import Arena
from tripline_engine.domain.duplicates import RememberedIds
from tripline_engine.domain.extremum import Extremum
from tripline_engine.domain.history import HashKey, History
from tripline_engine.domain.int128 import join
from tripline_engine.domain.limit import SCALE, Limit, average
from tripline_engine.domain.links import Links
from tripline_engine.domain.rows import Amounts, Rows
from tripline_engine.domain.rule_book import RuleBook, RuleVersion
from tripline_engine.domain.structure import ChainKey, Grouping, Structure, TotalsKey, chain_key, totals_key
from tripline_engine.domain.sum_window import SumWindow, Totals
from tripline_engine.domain.visibility import Visibility

MAX_CONTRIBUTORS = 100
_ID_MIX, _ANCHOR_MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)


@dataclass(frozen=True, slots=True)
class Contributor:
    """A transaction in an alert's window; ``value`` is None for COUNT."""

    transaction_id: str
    event_time: int
    value: str | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """A version's limit held for a transaction.

    :ivar row: the transaction's place among the rows judged together
    :ivar value: plain decimal text
    :ivar count: how many transactions are in the window
    :ivar newest: event time (ms) of the newest one before it, if this one is late
    """

    version: RuleVersion
    row: int
    value: str
    count: int
    contributors: tuple[Contributor, ...]
    newest: int | None
    warm: bool


@njit(cache=True)
def _contributors(row: int, bound: int, base: int, time: Any, previous: Any, out: Any) -> int:
    found, older = 0, row
    while found < len(out) and older >= base and time[older] >= bound:
        if older <= row:
            out[found] = older
            found += 1
        older = previous[older]
    return found


@dataclass(slots=True)
class _Judged:
    """What one batch of rows came to, before limits are looked at."""

    start: int
    rows: Rows
    newest: dict[Grouping, npt.NDArray[np.int64]]
    totals: dict[TotalsKey, Totals]
    extremes: dict[ChainKey, npt.NDArray[np.int64]]


class Anchor:
    """History, windows and remembered ids of one anchor.

    ``structure`` is what the arena already holds; an empty one for a new arena.
    """

    def __init__(
        self, arena: Arena, name: str, event_type: EventType, key: HashKey, structure: Structure
    ) -> None:
        self._arena, self._name, self._event_type, self._key = arena, name, event_type, key
        self.history = History(arena, name, event_type, key)
        self.ids = RememberedIds(arena, f"{name}.ids")
        self._links: dict[Grouping, Links] = {}
        self._totals: dict[TotalsKey, SumWindow] = {}
        self._chains: dict[ChainKey, Extremum] = {}
        for grouping in structure.groupings:
            self._links[grouping] = self._open_links(grouping)
        for totals in structure.totals:
            self._totals[totals] = self._open_totals(totals)
        for chain, windows in structure.chains.items():
            self._chains[chain] = self._open_chain(chain, windows)

    @property
    def groups(self) -> int:
        """How many groups have a retained transaction, over all groupings."""
        return sum(links.groups for links in self._links.values())

    def identities(self, rows: Rows) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
        """128 bits by which equal (anchor value, transaction id) are known."""
        low, high = self._key.of(rows.ids)
        if self._name == GLOBAL_ANCHOR:
            return low, high
        anchor_low, anchor_high = self._key.of(rows.texts[self._name])
        return low ^ anchor_low * _ID_MIX, high + anchor_high * _ANCHOR_MIX

    def restructure(self, structure: Structure, visibility: Visibility) -> None:
        """Maintain exactly this from now on; what is new is built from the history."""
        self._remove_all_but(structure)
        for grouping in structure.groupings - self._links.keys():
            self._links[grouping] = self._open_links(grouping)
            self._links[grouping].link(self.history.base, self.history.end)
        for totals in structure.totals - self._totals.keys():
            self._totals[totals] = self._open_totals(totals)
            floor = self._floor(visibility, totals)
            self._totals[totals].build(floor, self.history.base, self._amounts(totals.field))
        for chain in structure.chains.keys() - self._chains.keys():
            self._chains[chain] = self._open_chain(chain, structure.chains[chain])
            floor = self._floor(visibility, chain)
            self._chains[chain].build(floor, self.history.base, self._amounts(chain.field))

    def load(self, rows: Rows) -> None:
        """Take back transactions that were accepted earlier, before anything is built on them."""
        self.history.append(rows)
        self.ids.remember(*self.identities(rows), rows.record_time)

    def judge(self, rows: Rows, book: RuleBook, visibility: Visibility) -> Iterator[Verdict]:
        """Accept transactions, in the engine's order and none a duplicate, and hold every rule against them."""
        judged = self._enter(rows, visibility)
        for rule in book.rules.values():
            if rule.paused:
                continue
            for version, since, until in rule.in_force():
                if version.anchor == self._name:
                    yield from self._verdicts(version, since, until, judged, visibility)

    def null_groups(self, start: int, book: RuleBook) -> int:
        """How many evaluations of active rules were left out, from row ``start`` on, for a null in the group."""
        missing = {
            grouping: int((links.slots[start : self.history.end] < 0).sum())
            for grouping, links in self._links.items()
        }
        return sum(
            missing[rule.versions[-1].definition.grouping_key_names]
            for rule in book.rules.values()
            if not rule.paused and rule.versions[-1].anchor == self._name
        )

    def clean_up(self, visibility: Visibility) -> None:
        """Let go of what no rule, present or to come, can see any more."""
        history = self.history
        until = history.expired(visibility.floor(self._name, [self._event_type.time_field.name]))
        if until > history.base:
            for totals, window in self._totals.items():
                window.drop(history.base, until, self._amounts(totals.field))
            for key, chain in self._chains.items():
                chain.drop(history.base, until, self._amounts(key.field))
            for links in self._links.values():
                links.drop(until)
            history.drop(until)
        if history.base == history.end:
            self.ids.forget(visibility.id_floor)
        if history.base > 1024 and 2 * history.base > history.end:
            self._shift()

    def _shift(self) -> None:
        delta = self.history.shift()
        end = self.history.end
        for links in self._links.values():
            links.shift(delta, end)
        for window in self._totals.values():
            window.shift(delta)
        for chain in self._chains.values():
            chain.shift(delta, end)

    def _enter(self, rows: Rows, visibility: Visibility) -> _Judged:
        start = self.history.append(rows)
        base, end = self.history.base, self.history.end
        newest = {grouping: links.link(start, end) for grouping, links in self._links.items()}
        judged = _Judged(start, rows, newest, {}, {})
        for key, window in self._totals.items():
            floor = self._floor(visibility, key)
            amounts = self._amounts(key.field)
            judged.totals[key] = window.evaluate(start, newest[key.grouping], floor, base, amounts)
        for chain, extremum in self._chains.items():
            floor = self._floor(visibility, chain)
            amounts = self._amounts(chain.field)
            judged.extremes[chain] = extremum.evaluate(start, newest[chain.grouping], floor, base, amounts)
        return judged

    def _verdicts(
        self, version: RuleVersion, since: int, until: int, judged: _Judged, visibility: Visibility
    ) -> Iterator[Verdict]:
        hits = self._hits(version, judged)
        hits &= (judged.rows.time >= since) & (judged.rows.time < until)
        for i in np.flatnonzero(hits):
            yield self._verdict(version, int(i), judged, visibility)

    def _hits(self, version: RuleVersion, judged: _Judged) -> npt.NDArray[np.bool_]:
        definition = version.definition
        limit = Limit(definition.operator, decimals.to_scaled(definition.limit))
        totals = judged.totals[totals_key(version)]
        match definition.function:
            case "SUM":
                return limit.sums(totals)
            case "AVG":
                return limit.averages(totals)
            case "COUNT":
                return limit.counts(totals)
            case "MIN" | "MAX":
                return limit.values(
                    self._extreme_rows(version, judged), self._amounts(definition.aggregate_field)
                )

    def _extreme_rows(self, version: RuleVersion, judged: _Judged) -> npt.NDArray[np.int64]:
        key = chain_key(version)
        assert key is not None
        rows: npt.NDArray[np.int64] = judged.extremes[key][
            :, self._chains[key].windows.index(version.window_ms)
        ]
        return rows

    def _verdict(self, version: RuleVersion, i: int, judged: _Judged, visibility: Visibility) -> Verdict:
        time = int(judged.rows.time[i])
        newest = int(judged.newest[version.definition.grouping_key_names][i])
        warm_from = visibility.warm_from(version)
        return Verdict(
            version=version,
            row=i,
            value=self._value(version, i, judged),
            count=int(judged.totals[totals_key(version)].counts[i]),
            contributors=self._contributing(version, judged.start + i, visibility),
            newest=newest if newest > time else None,
            warm=warm_from is not None and time >= warm_from,
        )

    def _value(self, version: RuleVersion, i: int, judged: _Judged) -> str:
        totals = judged.totals[totals_key(version)]
        count, total = int(totals.counts[i]), join(totals.low[i], totals.high[i])
        match version.definition.function:
            case "SUM":
                return decimals.plain_scaled(total)
            case "AVG":
                return decimals.plain_scaled(average(total, count))
            case "COUNT":
                return decimals.plain_scaled(count * SCALE)
            case "MIN" | "MAX":
                amounts = self._amounts(version.definition.aggregate_field)
                row = self._extreme_rows(version, judged)[i]
                return decimals.plain_scaled(join(amounts.low[row], amounts.high[row]))

    def _contributing(
        self, version: RuleVersion, row: int, visibility: Visibility
    ) -> tuple[Contributor, ...]:
        history, field = self.history, version.definition.aggregate_field
        floor = visibility.floor(self._name, version.fields)
        bound = max(int(history.time[row]) - version.window_ms, floor)
        found = np.empty(MAX_CONTRIBUTORS, np.int64)
        links = self._links[version.definition.grouping_key_names]
        rows = found[: _contributors(row, bound, history.base, history.time, links.previous, found)]
        amounts = self._amounts(field)
        values = [
            None if field is None else decimals.plain_scaled(join(amounts.low[row], amounts.high[row]))
            for row in rows
        ]
        times = history.time[rows].tolist()
        return tuple(map(Contributor, history.ids(rows), times, values))

    def _amounts(self, field: str | None) -> Amounts:
        """The field's column; any column will do where only a count is wanted."""
        return self.history.measure(field or self._event_type.measures[0])

    def _floor(self, visibility: Visibility, key: TotalsKey | ChainKey) -> int:
        fields: Iterable[str] = (self._event_type.time_field.name, *key.grouping)
        return visibility.floor(self._name, fields if key.field is None else (*fields, key.field))

    def _remove_all_but(self, structure: Structure) -> None:
        for totals in list(self._totals.keys() - structure.totals):
            self._totals.pop(totals).remove()
        for chain in list(self._chains):
            if structure.chains.get(chain) != self._chains[chain].windows:
                self._chains.pop(chain).remove()
        for grouping in list(self._links.keys() - structure.groupings):
            self._links.pop(grouping).remove()

    def _path(self, grouping: Grouping) -> str:
        return f"{self._name}.by.{'+'.join(grouping)}"

    def _open_links(self, grouping: Grouping) -> Links:
        return Links(self._arena, self._path(grouping), self.history, grouping, self._key)

    def _open_totals(self, key: TotalsKey) -> SumWindow:
        name = f"{self._path(key.grouping)}.sum.{key.field or ''}.{key.window_ms}"
        return SumWindow(self._arena, name, self._links[key.grouping], key.window_ms)

    def _open_chain(self, key: ChainKey, windows: tuple[int, ...]) -> Extremum:
        name = f"{self._path(key.grouping)}.{'min' if key.sign > 0 else 'max'}.{key.field}"
        return Extremum(self._arena, name, self._links[key.grouping], key.sign, windows)
