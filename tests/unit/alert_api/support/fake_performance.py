"""What rules are worth, in memory."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from alert_api.service.alert_counts import Span
from alert_api.service.performance.rule_performance import DayCount, VersionPerformance


@dataclass
class FakePerformance:
    """Says what it was given, and keeps what it was asked."""

    rows: Sequence[VersionPerformance] = ()
    counted: Sequence[DayCount] = ()
    asked: list[tuple[Span, tuple[int, ...]]] = field(default_factory=list)

    def of_versions(self, span: Span, rule_ids: Collection[int]) -> Sequence[VersionPerformance]:
        self.asked.append((span, tuple(rule_ids)))
        return self.rows

    def days(self, span: Span, rule_id: int) -> Sequence[DayCount]:
        self.asked.append((span, (rule_id,)))
        return self.counted
