"""The record clock and all that only ever rises with it (semantics 5 and 6)."""

from __future__ import annotations

from collections.abc import Iterable

from tests.oracle.parsers.rule_events import Version
from tests.oracle.parsers.transactions import Transaction, read_time
from tests.oracle.state.bucket_sets import BucketSets
from tests.oracle.state.rule_book import RuleBook
from tests.oracle.values.errors import Unreadable
from tests.oracle.values.event_types import current_type
from tests.oracle.values.schema import GLOBAL
from tests.oracle.values.strict_json import read_object
from tests.oracle.windows.bucket_times import highest, next_start
from tests.oracle.windows.horizon import Horizon, Horizons


class Clock:
    """Moved by ticks. Every bound is the highest it has been at any tick; None before the first."""

    def __init__(self, rules: RuleBook, anchors: tuple[str, ...]) -> None:
        self.settled: int | None = None
        self._rules = rules
        self._anchors = (*anchors, GLOBAL)
        self._now: int | None = None
        self._first: int | None = None
        self._oldest_id: int | None = None
        self._floors: dict[tuple[str, str], int] = {}
        # The same for what is or was a shadow.
        self._kept: dict[tuple[str, str], int] = {}
        self._buckets = BucketSets(rules)
        self._cleared: int | None = None
        self._cleared_of: dict[int, int] = {}
        self._begun_on: dict[str, int] = {}
        self._reopened: dict[str, list[tuple[int, dict[str, int], dict[str, int]]]] = {}
        self._complete_from: int | None = None

    def tick(self, raw: bytes) -> None:
        """Take one tick; a lower or unreadable one changes nothing at all."""
        try:
            value = read_time(read_object(raw).get("clock"))
        except Unreadable:
            return
        if self._now is not None and value < self._now:
            return
        self._now = value
        self._first = value if self._first is None else self._first
        self._raise_bounds(value)

    def _raise_bounds(self, now: int) -> None:
        settings = self._rules.settings
        self._rules.end_superseded(now)
        settled = now - settings.max_disorder - settings.allowed_lateness
        self.settled = _higher(self.settled, settled)
        self._oldest_id = _higher(self._oldest_id, settled - settings.max_future_skew)
        others, everything = self._rules.held_versions(), self._rules.all_held()
        for key in [(anchor, field) for anchor in self._anchors for field in current_type().usable]:
            self._floors[key] = _higher(self._floors.get(key), settled - self._rules.widest(others, *key))
            kept = _higher(self._kept.get(key), settled - self._rules.widest(everything, *key))
            self._kept[key] = kept if any(map(self._rules.was_tried, everything)) else self._floors[key]
        self._buckets.rise(settled)

    def refusal(self, transaction: Transaction) -> str | None:
        """Why a parsed transaction is rejected, the first reason that holds; None if it is not."""
        settings = self._rules.settings
        age = transaction.record_time - transaction.event_time
        # What a backfill brings may be as old as it is.
        in_time = not transaction.backfilled
        if in_time and age > settings.allowed_lateness:
            return "too_late"
        if in_time and self.settled is not None and transaction.event_time < self.settled:
            return "too_late"
        if -age > settings.max_future_skew:
            return "future_event"
        if in_time and self._now is not None and self._now - transaction.record_time > settings.max_disorder:
            return "out_of_order"
        return None

    def remembers_id(self, earlier: Transaction) -> bool:
        """True if an accepted transaction's id still counts for duplicates."""
        return self._oldest_id is None or earlier.record_time >= self._oldest_id

    def begin_buckets(self, version: Version, position: int) -> None:
        """A version is taken at that position of rules.v1: buckets begin, unless others have them."""
        self._buckets.take(version, self._whole_from(version), position)

    def horizons(self, version: Version) -> Horizons:
        """The horizons of a version when it judges what is accepted now."""
        if version.definition.bucket is None:
            return self._alike(version, Horizon(self._floor(version), let_go=self._let_go(version)))
        length = version.definition.bucket
        sets = self._buckets.of(version)
        by_condition = tuple(
            Horizon(bucket_set.lowest(), length, bucket_set.floor, bucket_set.begun) for bucket_set in sets
        )
        lowest = highest(*(bucket_set.lowest() for bucket_set in sets))
        return Horizons(
            by_condition[0] if len(by_condition) == 1 else Horizon(lowest), by_condition, self.settled
        )

    def catch_up_horizons(self, version: Version) -> Horizons:
        """The horizons in catch-up: what is kept one by one, and of that what its buckets may hold."""
        if version.definition.bucket is None:
            return self._alike(version, Horizon(self._floor(version), let_go=self._let_go(version)))
        # Nothing was reopened for its buckets.
        floor, sets = self._whole_from(version), self._buckets.of(version)
        by_condition = tuple(
            Horizon(highest(floor, bucket_set.lowest()), dropped=bucket_set.floor) for bucket_set in sets
        )
        return Horizons(
            Horizon(highest(*(horizon.floor for horizon in by_condition))), by_condition, self.settled
        )

    def _alike(self, version: Version, horizon: Horizon) -> Horizons:
        return Horizons(horizon, (horizon,) * len(version.definition.conditions), self.settled)

    def _floor(self, version: Version) -> int | None:
        """The lowest event time kept of all the fields that a version uses; None while everything is."""
        if self._now is None:
            return None
        anchor = self._rules.anchor(version)
        floors = self._kept if self._rules.was_tried(version) else self._floors
        return max(floors[anchor, field] for field in version.definition.uses)

    def clear(self) -> None:
        """All accepted so far is forgotten: nothing is warm that reaches back to it. Before a tick, nothing."""
        if self._now is not None:
            self._cleared = _higher(self._cleared, self._now + self._rules.settings.max_future_skew)

    def clear_rule(self, rule_id: int, position: int) -> None:
        """The same for one rule, whose buckets begin anew."""
        if self._now is not None:
            cleared_until = self._now + self._rules.settings.max_future_skew
            self._cleared_of[rule_id] = _higher(self._cleared_of.get(rule_id), cleared_until)
        self._buckets.set_apart(rule_id, self._whole_from, position)

    def begin_anchor(self, anchor: str) -> None:
        """An anchor is needed from now on: nothing on it is warm that reaches back to before."""
        if self._now is not None:
            self._begun_on[anchor] = self._now + self._rules.settings.max_future_skew

    def end_anchor(self, anchor: str) -> None:
        """An anchor is needed no more."""
        self._begun_on.pop(anchor, None)
        self._reopened.pop(anchor, None)

    def reopen(self, versions: Iterable[Version], accepted: dict[str, int]) -> None:
        """For a backfill: floors of exact versions fall to what their windows reach. What lay below stays unseen.

        `accepted` is how many transactions each anchor has accepted.
        """
        if self.settled is None:
            return
        lowered: dict[tuple[str, str], int] = {}
        for version in versions:
            for field in version.definition.uses if version.definition.bucket is None else ():
                key = self._rules.anchor(version), field
                reach = self.settled - version.definition.window
                lowered[key] = min(lowered.get(key, self._floors[key]), reach)
        for anchor in self._anchors:
            before = {field: self._floors[anchor, field] for field in current_type().usable}
            after = {field: lowered.get((anchor, field), floor) for field, floor in before.items()}
            if after != before:
                self._reopened.setdefault(anchor, []).append((accepted[anchor], before, dict(before)))
                self._floors.update({(anchor, field): floor for field, floor in after.items()})
                kept = {(anchor, field): min(self._kept[anchor, field], after[field]) for field in after}
                self._kept.update(kept)

    def _let_go(self, version: Version) -> tuple[tuple[int, int], ...]:
        uses = version.definition.uses
        reopened = self._reopened.get(self._rules.anchor(version), [])
        return tuple((accepted, max(before[field] for field in uses)) for accepted, before, _ in reopened)

    def _whole_from(self, version: Version) -> int | None:
        """The lowest event time from which buckets may have all that was accepted; a shadow's begin as others do."""
        if self._now is None:
            return highest(*(end for _, end in self._let_go(version)))
        anchor = self._rules.anchor(version)
        floors = [self._floors[anchor, field] for field in version.definition.uses]
        return highest(*floors, *(end for _, end in self._let_go(version)))

    def complete(self, since: int) -> None:
        """Whatever the first tick and the clears so far say, from that time on nothing has been missed."""
        self._complete_from = since if self._complete_from is None else min(self._complete_from, since)
        self._cleared = None if self._cleared is None else min(self._cleared, since)
        self._cleared_of = {
            rule_id: min(cleared_until, since) for rule_id, cleared_until in self._cleared_of.items()
        }
        self._begun_on = {anchor: min(begun, since) for anchor, begun in self._begun_on.items()}
        for _, _, missing in (item for reopened in self._reopened.values() for item in reopened):
            missing.update({field: min(until, since) for field, until in missing.items()})

    def warm_from(self, version: Version) -> int | None:
        """The event time from which on the version has seen its whole window; None before the first tick."""
        if self._first is None:
            return None
        first = self._first if self._complete_from is None else min(self._first, self._complete_from)
        begun = self._begun_on.get(self._rules.anchor(version))
        complete_since = highest(first, begun, self._cleared, self._cleared_of.get(version.rule_id))
        length = version.definition.bucket
        if length is None:
            reopened = self._reopened.get(self._rules.anchor(version), [])
            missing = [max(until[field] for field in version.definition.uses) for _, _, until in reopened]
            floor = highest(complete_since, self._floor(version), *missing)
        else:
            floor = highest(
                complete_since, *(bucket_set.lowest() for bucket_set in self._buckets.of(version))
            )
        assert floor is not None
        return (floor if length is None else next_start(floor, length)) + version.definition.window

    def is_warm(self, version: Version, event_time: int) -> bool:
        """True if the whole window before `event_time` has been seen and kept."""
        since = self.warm_from(version)
        return since is not None and event_time >= since


def _higher(old: int | None, new: int) -> int:
    return new if old is None else max(old, new)
