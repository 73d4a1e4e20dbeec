"""Every metric of this package, named once."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge

from alert_api.service.retention import Kept


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


class RetentionMetrics:
    """The metrics of dead letters; see ``alert_api.service.retention.RetentionTally``."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._deleted = Counter(
            "tripline_dead_letters_deleted_total", "Dead letters deleted by retention.", registry=registry
        )
        self._records = Gauge(
            "tripline_dead_letters_records", "Dead letters that are kept.", registry=registry
        )
        self._bytes = Gauge(
            "tripline_dead_letters_bytes", "Bytes of their keys, values and details.", registry=registry
        )

    def deleted(self, count: int) -> None:
        """``count`` dead letters were deleted."""
        self._deleted.inc(count)

    def kept(self, kept: Kept) -> None:
        """So much is left."""
        self._records.set(kept.records)
        self._bytes.set(kept.bytes)
