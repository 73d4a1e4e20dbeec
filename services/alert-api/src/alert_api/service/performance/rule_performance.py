"""What rules are worth, by version, over a span of time."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol

from alert_api.domain.cases.work_events import Outcome
from alert_api.domain.performance.precision import Precision
from alert_api.service.alert_counts import Span

ALWAYS_WRONG: Final = 5
"""Decided cases from which on a version without a single one of fraud is called always wrong."""


class VersionKey(NamedTuple):
    """A definition version of a rule."""

    rule_id: int
    rule_version: int


@dataclass(frozen=True, slots=True)
class Spread:
    """Of some durations in ms the median, and what 95 of 100 stay below."""

    median: int
    p95: int


@dataclass(frozen=True, slots=True)
class VersionPerformance:
    """What came of one version in a span.

    :ivar alerts: by event time
    :ivar cases: by outcome, those with an alert of it that were resolved in the span; each counts once
    :ivar acknowledged_in: from the opening of these cases to their acknowledgement, where they were acknowledged
    :ivar resolved_in: from their opening to their resolution
    """

    key: VersionKey
    rule_name: str
    alerts: int
    cases: Mapping[Outcome, int] = field(default_factory=dict)
    acknowledged_in: Spread | None = None
    resolved_in: Spread | None = None

    @property
    def precision(self) -> Precision | None:
        """None before anything was decided either way."""
        return Precision.of(self.cases.get("confirmed_fraud", 0), self.cases.get("false_positive", 0))

    @property
    def is_always_wrong(self) -> bool:
        """Whether all of several decided cases were false positives."""
        return self.cases.get("false_positive", 0) >= ALWAYS_WRONG and not self.cases.get("confirmed_fraud")


class DayCount(NamedTuple):
    """Alerts of a version on one day of UTC, counted since the epoch."""

    day: int
    rule_version: int
    alerts: int


class PerformanceReader(Protocol):
    """Raises StoreUnavailable when the database is away."""

    def of_versions(self, span: Span, rule_ids: Collection[int]) -> Sequence[VersionPerformance]:
        """By rule and version, ascending; of no rules all. Versions of which nothing came are left out."""

    def days(self, span: Span, rule_id: int) -> Sequence[DayCount]:
        """Ascending by day and version; days without alerts are left out."""
