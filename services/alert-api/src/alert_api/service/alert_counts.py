"""Counts of alerts, by rule and by hour, open and acknowledged ones."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

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
    """The same alerts counted by rule and by hour (of the epoch), in rising order; and each rule's newest name."""

    by_rule: Mapping[int, Tally]
    by_hour: Mapping[int, Tally]
    names: Mapping[int, str]

    @property
    def total(self) -> Tally:
        """All of them."""
        tallies = self.by_rule.values()
        return Tally(sum(tally.open for tally in tallies), sum(tally.acknowledged for tally in tallies))


class AlertCounter(Protocol):
    """The stored alerts, to count. Raises StoreUnavailable when the database is away."""

    def count(self, span: Span, rule_ids: Collection[int], rule_version: int | None = None) -> Counted:
        """Of these rules, of none of them all; of one version of them where one is named. Rules and hours without
        alerts are left out."""


def last_day(now: int) -> Span:
    """The current hour and the 23 before it: whole hours, so that each is counted in full."""
    end = (now // HOUR_MS + 1) * HOUR_MS
    return Span(max(0, end - 24 * HOUR_MS), end - 1)
