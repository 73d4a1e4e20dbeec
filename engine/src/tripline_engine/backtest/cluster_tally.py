"""Alerts counted by cluster, for an estimate and its error range.

Alerts of one group come together, so it is groups that are drawn by chance, and not alerts. Of a rule that has one
group only there are hours in place of groups, and days for the groups that it affects.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from tripline_engine.backtest.tally import group_text
from tripline_engine.certificate.span_alert import SpanAlert

_HOUR_MS: Final = 3_600_000
_DAY_MS: Final = 24 * _HOUR_MS


@dataclass(slots=True)
class ClusterTally:
    """Counts alerts as they come.

    :ivar first: event time (ms) from which days are counted
    :ivar grouped: whether the rule has groups
    """

    first: int
    grouped: bool
    _alerts: Counter[tuple[str, int]] = field(default_factory=Counter)

    @property
    def alerts(self) -> int:
        """How many there were."""
        return self._alerts.total()

    def take(self, alert: SpanAlert) -> None:
        """Counts one."""
        since = alert.event_time - self.first
        cluster = group_text(alert.alert) if self.grouped else str(since // _HOUR_MS)
        self._alerts[cluster, since // _DAY_MS] += 1

    def to_json(self) -> dict[str, Any]:
        """Of alerts, and of groups a day: clusters, the sum over them, the sum of squares over clusters, and that over
        the days of clusters."""
        by_cluster: Counter[str] = Counter()
        for (cluster, _), count in self._alerts.items():
            by_cluster[cluster] += count
        if self.grouped:
            affected = Counter(cluster for cluster, _ in self._alerts)
        else:
            affected = Counter({str(day): 1 for _, day in self._alerts})
        return {
            "alerts": _sums(by_cluster.values(), self._alerts.values()),
            "groups": _sums(affected.values(), [1] * affected.total()),
        }


def _sums(clusters: Iterable[int], days: Iterable[int]) -> dict[str, int]:
    counts = list(clusters)
    return {
        "clusters": len(counts),
        "sum": sum(counts),
        "squares": sum(count * count for count in counts),
        "daySquares": sum(count * count for count in days),
    }
