"""Every metric of this package, named once."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge


class ProjectorMetrics:
    """The projector's counters; see ``alert_api.service.projector.Tally``."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._stored = Counter("tripline_alerts_stored_total", "Alerts stored.", registry=registry)
        self._duplicates = Counter(
            "tripline_alerts_duplicate_total",
            "Alerts that were stored before: redelivered records.",
            registry=registry,
        )
        self._unreadable = Counter(
            "tripline_alerts_unreadable_total", "Records dead-lettered.", ["reason"], registry=registry
        )
        self._outages = Counter(
            "tripline_alerts_database_waits_total",
            "Back-off waits while the database was unavailable.",
            registry=registry,
        )
        self._lag = Gauge(
            "tripline_alerts_lag_records",
            "Consumer lag: records not stored yet.",
            ["topic", "partition"],
            registry=registry,
        )

    def stored(self, count: int) -> None:
        """``count`` alerts were new."""
        self._stored.inc(count)

    def duplicates(self, count: int) -> None:
        """``count`` alerts were redelivered."""
        self._duplicates.inc(count)

    def unreadable(self, reason: str) -> None:
        """One record was dead-lettered for ``reason``."""
        self._unreadable.labels(reason).inc()

    def waiting_for_database(self) -> None:
        """One more attempt on the database failed."""
        self._outages.inc()

    def lag(self, topic: str, partition: int, records: int) -> None:
        """``records`` of ``partition`` of ``topic`` are still to be stored."""
        self._lag.labels(topic, str(partition)).set(records)
