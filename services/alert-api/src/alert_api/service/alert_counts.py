"""Counts of alerts, by rule and by hour, open and acknowledged ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from alert_api.service.alert_queries import AlertFilter

HOUR_MS: Final = 3_600_000


@dataclass(frozen=True, slots=True)
class Span:
    """Event times in ms since the epoch, both ends included."""

    earliest: int
    latest: int


@dataclass(frozen=True, slots=True)
class Tally:
    """Open and acknowledged alerts."""

    open: int
    acknowledged: int


@dataclass(frozen=True, slots=True)
class Counted:
    """The same alerts counted by rule and by hour (of the epoch), in rising order; and each rule's newest name.

    :ivar since: the event time from which on they are counted; None: all of them are
    """

    by_rule: Mapping[int, Tally]
    by_hour: Mapping[int, Tally]
    names: Mapping[int, str]
    since: int | None = None

    @property
    def total(self) -> Tally:
        """All of them."""
        tallies = self.by_rule.values()
        return Tally(sum(tally.open for tally in tallies), sum(tally.acknowledged for tally in tallies))


class AlertCounter(Protocol):
    """The stored alerts, to count. Raises StoreUnavailable when the database is away."""

    def count(self, asked: AlertFilter) -> Counted:
        """Of a span of event time that is bounded at both ends. Rules and hours without alerts are left out."""


def last_day(now: int) -> Span:
    """The current hour and the 23 before it: whole hours, so that each is counted in full."""
    end = (now // HOUR_MS + 1) * HOUR_MS
    return Span(max(0, end - 24 * HOUR_MS), end - 1)
