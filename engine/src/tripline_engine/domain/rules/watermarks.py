"""Watermarks: the record clock of a shard, and the floors that follow from it.

All of them rise, at ticks; those of fields are lowered too, when history is reopened for a backfill. A transaction is
visible to a rule while its event time is at or above the highest floor of the fields that the rule uses; one floor per
anchor and field suffices for every rule, those to come included.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import astuple, dataclass, field, replace
from typing import Any

from tripline_contracts.event_type import EventType
from tripline_engine.domain.rules.exclusions import Exclusions, LetGo
from tripline_engine.domain.rules.measures import BucketKey
from tripline_engine.domain.rules.reopenings import Reopening, hidden_below, let_go, risen, warm_above
from tripline_engine.domain.rules.rule_book import RuleBook
from tripline_engine.domain.rules.rule_version import RuleVersion
from tripline_engine.domain.rules.tolerances import Tolerances
from tripline_engine.domain.rules.window_plan import bucket_sets, widest_needs
from tripline_engine.domain.transactions.columns import MIN_TIME
from tripline_engine.domain.transactions.entries import rows_type


@dataclass(frozen=True, slots=True)
class BucketSpan:
    """The event times (ms) that a bucket set shows: not before ``begin``, and no bucket that begins before ``floor``.

    :ivar begun: the position in rules.v1 at which the set began
    """

    begin: int
    begun: int
    floor: int = MIN_TIME

    @property
    def visible_from(self) -> int:
        """The oldest visible event time."""
        return max(self.begin, self.floor)


@dataclass(slots=True)
class Watermarks:
    """Watermarks in ms; MIN_TIME before the first tick.

    :ivar clock: the record clock: a watermark of record times over all partitions
    :ivar first_tick: the clock at the first tick
    :ivar warm_floor: windows that begin before it are not whole, because of clears
    :ivar lateness_floor: older event times are too late, whatever the tolerances are by now
    :ivar id_floor: ids with an older record time have expired
    :ivar rule_floors: by rule, the warm floor that follows from clears of it alone
    :ivar anchor_floors: by anchor, the warm floor that follows from the beginning of its need
    :ivar reopened: by anchor, the reopenings of its history that still hide something, oldest first
    :ivar complete_from: the time from which backfills have completed what was before the first tick; None without any
    :ivar floors: by anchor and field, the oldest event time still visible to a rule that uses the field
    :ivar kept: the same for versions that are or were shadows, for which more is kept; None where these are the floors
    :ivar spans: by bucket set, the event times that it shows
    """

    clock: int | None = None
    first_tick: int = MIN_TIME
    warm_floor: int = MIN_TIME
    lateness_floor: int = MIN_TIME
    id_floor: int = MIN_TIME
    floors: dict[str, dict[str, int]] = field(default_factory=dict)
    spans: dict[str, BucketSpan] = field(default_factory=dict)
    rule_floors: dict[int, int] = field(default_factory=dict)
    complete_from: int | None = None
    anchor_floors: dict[str, int] = field(default_factory=dict)
    reopened: dict[str, list[Reopening]] = field(default_factory=dict)
    kept: dict[str, dict[str, int]] | None = None

    @staticmethod
    def new(event_type: EventType) -> Watermarks:
        """The watermarks before the first tick: everything is visible."""
        watermarks = Watermarks()
        watermarks.open_anchors(event_type)
        return watermarks

    def open_anchors(self, event_type: EventType) -> None:
        """Give all anchors floors; those of one that no rule has ever used are the lateness floor."""
        for anchor in event_type.all_anchors:
            names = [item.name for item in rows_type(event_type, anchor).fields if item.role != "id"]
            for floors in (self.floors,) if self.kept is None else (self.floors, self.kept):
                floors.setdefault(anchor, dict.fromkeys(names, self.lateness_floor))

    def tick(self, clock: int, book: RuleBook) -> bool:
        """Apply a tick, after the book has dropped what expires with it; False for a tick behind the clock."""
        if self.clock is not None and clock < self.clock:
            return False
        self.clock = clock
        if self.first_tick == MIN_TIME:
            self.first_tick = clock
        settings = book.settings
        lateness_floor = clock - settings.allowed_lateness_ms - settings.max_disorder_ms
        self.lateness_floor = max(self.lateness_floor, lateness_floor)
        self.id_floor = max(self.id_floor, lateness_floor - settings.max_future_skew_ms)
        kept = self.floors if self.kept is None else self.kept
        if any(version.stage != "live" for version in book.versions()):
            kept = risen(kept, lateness_floor, widest_needs(book.versions()))
        else:
            kept = {}
        self.floors = risen(self.floors, lateness_floor, widest_needs(book.live_versions()))
        self.kept = kept if kept and kept != self.floors else None
        for anchor, reopenings in self.reopened.items():
            floors = (self.floors if self.kept is None else self.kept)[anchor]
            reopenings[:] = [
                reopening
                for reopening in reopenings
                if any(floors[name] < old for name, old in reopening.floors.items())
            ]
        for path, (key, window_ms) in bucket_sets(book.versions()).items():
            start = -(-(lateness_floor - window_ms - key.length_ms) // key.length_ms) * key.length_ms
            span = self.spans[path]
            self.spans[path] = replace(span, floor=max(span.floor, start))
        return True

    def sync_spans(self, book: RuleBook) -> None:
        """Keep spans of exactly the book's bucket sets, after an event was applied or versions were dropped."""
        self.spans = {
            path: self.spans.get(path)
            or BucketSpan(self._begin(path.partition(".by.")[0], key.used), begun=book.position)
            for path, (key, _) in bucket_sets(book.versions()).items()
        }

    def reopen(self, versions: Iterable[RuleVersion], accepted: Mapping[str, int]) -> bool:
        """Lower the floors of exact versions to what their windows can reach, for a backfill; whether any was lowered.

        :param accepted: by anchor, the transactions accepted so far
        """
        if self.clock is None:
            return False
        lowered: dict[str, dict[str, int]] = {}
        for version in versions:
            floors = lowered.get(version.anchor) or self.floors[version.anchor]
            reach = self.lateness_floor - version.window_ms
            if version.bucket_ms is None and any(floors[name] > reach for name in version.fields):
                below = {name: min(floors[name], reach) for name in version.fields}
                lowered[version.anchor] = floors | below
        for anchor, floors in lowered.items():
            until = self.floors[anchor]
            self.reopened.setdefault(anchor, []).append(Reopening(accepted[anchor], until, until))
            self.floors[anchor] = floors
            if self.kept is not None:
                self.kept[anchor] = {
                    name: min(kept, floors[name]) for name, kept in self.kept[anchor].items()
                }
        return bool(lowered)

    def exclusions(self, version: RuleVersion) -> Exclusions:
        """The version's exclusions as they are by now: what was accepted and is hidden from it among them.

        Of a bucketed one its bucket sets say that.
        """
        if version.bucket_ms is not None:
            return replace(version.exclusions, let_go=())
        hidden: tuple[LetGo, ...] = ()
        if self.reopened.get(version.anchor):
            hidden = let_go(self.reopened[version.anchor], version.fields, self.floor_of(version))
        kept = self.kept is not None and version.stage != "live"
        return replace(version.exclusions, let_go=hidden, kept=kept)

    def clear(self, settings: Tolerances) -> None:
        """Raise the warm floor: history begins anew, and no window is whole before it could have filled since."""
        if self.clock is not None:
            self.warm_floor = max(self.warm_floor, self.clock + settings.max_future_skew_ms)

    def clear_rule(self, rule_id: int, settings: Tolerances) -> None:
        """Raise the warm floor of one rule."""
        if self.clock is not None:
            before = self.rule_floors.get(rule_id, MIN_TIME)
            self.rule_floors[rule_id] = max(before, self.clock + settings.max_future_skew_ms)

    def begin_anchor(self, anchor: str, settings: Tolerances) -> None:
        """Set the warm floor of an anchor whose history begins now."""
        if self.clock is not None:
            self.anchor_floors[anchor] = self.clock + settings.max_future_skew_ms

    def end_anchor(self, anchor: str) -> None:
        """Drop the warm floor, and the reopenings, of an anchor that no rule needs."""
        self.anchor_floors.pop(anchor, None)
        self.reopened.pop(anchor, None)

    def complete(self, since: int) -> None:
        """Lower the warm floors: a backfill has completed history from ``since`` on."""
        self.complete_from = since if self.complete_from is None else min(self.complete_from, since)
        self.warm_floor = min(self.warm_floor, since)
        self.rule_floors = {rule_id: min(floor, since) for rule_id, floor in self.rule_floors.items()}
        self.anchor_floors = {anchor: min(floor, since) for anchor, floor in self.anchor_floors.items()}
        for reopenings in self.reopened.values():
            reopenings[:] = [reopening.completed(since) for reopening in reopenings]

    def retain_rules(self, rules: Container[int]) -> None:
        """Drop the floors of all rules but these."""
        for rule_id in [rule_id for rule_id in self.rule_floors if rule_id not in rules]:
            del self.rule_floors[rule_id]

    def floor(self, anchor: str, fields: Iterable[str], *, kept: bool = False) -> int:
        """The oldest event time visible to a rule on the anchor that uses these fields, with exact windows.

        :param kept: of what is kept for shadows too, so that nothing below is visible to anybody
        """
        floors = (self.kept if kept and self.kept is not None else self.floors)[anchor]
        return max(floors[name] for name in fields)

    def floor_of(self, version: RuleVersion) -> int:
        """The oldest event time visible to the version, if its windows are exact."""
        return self.floor(version.anchor, version.fields, kept=version.stage != "live")

    def span(self, anchor: str, key: BucketKey) -> BucketSpan:
        """The event times that the bucket set shows."""
        return self.spans[key.path(anchor)]

    def visible_from(self, version: RuleVersion) -> int:
        """The oldest event time visible to the version; of several bucket sets the one that shows least counts."""
        if version.bucket_ms is None:
            return self.floor_of(version)
        spans = [
            self.span(version.anchor, measure.buckets) for measure in version.measures if measure.buckets
        ]
        return max(span.visible_from for span in spans)

    def unbucketed_from(self, bucket_ms: int) -> int:
        """The event time from which rules with such buckets see rows, not buckets."""
        return self.lateness_floor - bucket_ms + 1

    def warm_from(self, version: RuleVersion) -> int | None:
        """The event time from which the version's window is whole; None before the first tick."""
        if self.first_tick == MIN_TIME:
            return None
        begun = self.anchor_floors.get(version.anchor, MIN_TIME)
        cleared = max(self.warm_floor, begun, self.rule_floors.get(version.rule_id, MIN_TIME))
        first = self.first_tick if self.complete_from is None else min(self.first_tick, self.complete_from)
        floor, bucket_ms = max(first, cleared, self.visible_from(version)), version.bucket_ms
        if bucket_ms is not None:
            floor = -(-floor // bucket_ms) * bucket_ms
        else:
            floor = max(floor, warm_above(self.reopened.get(version.anchor, ()), version.fields))
        return floor + version.window_ms

    def rows_from(self, version: RuleVersion) -> int:
        """The oldest event time of rows that a version just applied goes through; a bucketed one sees no reopening."""
        if version.bucket_ms is None:
            return self.floor(version.anchor, version.fields)
        return self._begin(version.anchor, version.fields)

    def _begin(self, anchor: str, fields: frozenset[str]) -> int:
        """The event time from which a bucket set may have all that was accepted."""
        return max(self.floor(anchor, fields), hidden_below(self.reopened.get(anchor, ()), fields))

    def to_json(self) -> dict[str, Any]:
        """The JSON that is stored in the head record."""
        return {
            "clock": self.clock,
            "firstTick": self.first_tick,
            "warmFloor": self.warm_floor,
            "latenessFloor": self.lateness_floor,
            "idFloor": self.id_floor,
            "floors": self.floors,
            "spans": {path: astuple(span) for path, span in self.spans.items()},
            "ruleFloors": sorted(self.rule_floors.items()),
            "completeFrom": self.complete_from,
            "anchorFloors": self.anchor_floors,
            "reopened": {
                anchor: [reopening.to_json() for reopening in reopenings]
                for anchor, reopenings in self.reopened.items()
            },
            **({} if self.kept is None else {"kept": self.kept}),
        }

    @staticmethod
    def of_json(data: dict[str, Any]) -> Watermarks:
        """The watermarks of stored JSON."""
        return Watermarks(
            clock=data["clock"],
            first_tick=data["firstTick"],
            warm_floor=data["warmFloor"],
            lateness_floor=data["latenessFloor"],
            id_floor=data["idFloor"],
            floors=data["floors"],
            # heads from before these existed have none
            spans={path: BucketSpan(*span) for path, span in data.get("spans", {}).items()},
            rule_floors=dict(data.get("ruleFloors", [])),
            complete_from=data.get("completeFrom"),
            anchor_floors=data.get("anchorFloors", {}),
            reopened={
                anchor: [Reopening(*reopening) for reopening in reopenings]
                for anchor, reopenings in data.get("reopened", {}).items()
            },
            kept=data.get("kept"),
        )
