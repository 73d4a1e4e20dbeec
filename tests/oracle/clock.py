"""The record clock and all that only ever rises with it (semantics 5 and 6)."""

from __future__ import annotations

from tests.oracle.errors import Unreadable
from tests.oracle.event_types import current
from tests.oracle.rule_events import Version
from tests.oracle.rulebook import RuleBook
from tests.oracle.schema import GLOBAL
from tests.oracle.strict_json import read_object
from tests.oracle.transactions import Transaction, read_time


class Clock:
    """Moved by ticks. Every bound is the highest it has been at any tick; None before the first."""

    def __init__(self, rules: RuleBook, anchors: tuple[str, ...]) -> None:
        self._rules = rules
        self._anchors = (*anchors, GLOBAL)
        self._now: int | None = None
        self._first: int | None = None
        self._oldest_event: int | None = None
        self._oldest_id: int | None = None
        self._floors: dict[tuple[str, str], int] = {}
        self._cleared: int | None = None

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
        self._oldest_event = _higher(self._oldest_event, settled)
        self._oldest_id = _higher(self._oldest_id, settled - settings.max_future_skew)
        for anchor in self._anchors:
            for field in current().usable:
                bound = settled - self._rules.widest(anchor, field)
                self._floors[anchor, field] = _higher(self._floors.get((anchor, field)), bound)

    def refusal(self, transaction: Transaction) -> str | None:
        """Why a parsed transaction is rejected, the first reason that holds; None if it is not."""
        settings = self._rules.settings
        age = transaction.record_time - transaction.event_time
        if age > settings.allowed_lateness:
            return "too_late"
        if self._oldest_event is not None and transaction.event_time < self._oldest_event:
            return "too_late"
        if -age > settings.max_future_skew:
            return "future_event"
        if self._now is not None and self._now - transaction.record_time > settings.max_disorder:
            return "out_of_order"
        return None

    def remembers_id(self, earlier: Transaction) -> bool:
        """Whether an accepted transaction's id still counts for duplicates."""
        return self._oldest_id is None or earlier.record_time >= self._oldest_id

    def floor(self, version: Version) -> int | None:
        """The lowest event time visible to a version; None while everything is."""
        if self._now is None:
            return None
        anchor = self._rules.anchor(version)
        return max(self._floors[anchor, field] for field in version.definition.uses)

    def clear(self) -> None:
        """All accepted so far is forgotten: nothing is warm that reaches back to it. Before a tick, nothing."""
        if self._now is not None:
            self._cleared = _higher(self._cleared, self._now + self._rules.settings.max_future_skew)

    def warm_from(self, version: Version) -> int | None:
        """The event time from which on the version has seen its whole window; None before the first tick."""
        floor = self.floor(version)
        if floor is None or self._first is None:
            return None
        return _higher(self._cleared, max(self._first, floor)) + version.definition.window

    def is_warm(self, version: Version, event_time: int) -> bool:
        """Whether the whole window before `event_time` has been seen and kept."""
        since = self.warm_from(version)
        return since is not None and event_time >= since


def _higher(old: int | None, new: int) -> int:
    return new if old is None else max(old, new)
