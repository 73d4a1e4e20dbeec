"""Every metric of this package, named once."""

from __future__ import annotations

from collections.abc import Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge

from alert_api.service.past_months import HINDRANCES, Hindrance
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


class RedriveMetrics:
    """The redrive's counters; see ``alert_api.service.rejected.redrive.RedriveTally``."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._taken = Counter(
            "tripline_rejected_records_taken_total",
            "Records that the engine did not accept, as they were taken from Kafka.",
            ["reason"],
            registry=registry,
        )
        self._unreadable = Counter(
            "tripline_rejected_records_unreadable_total",
            "Records of the topic that are no rejections.",
            registry=registry,
        )
        self._sent = Counter(
            "tripline_rejected_records_sent_total", "Corrected records sent again.", registry=registry
        )
        self._lag = Gauge(
            "tripline_rejected_records_lag",
            "Consumer lag: records not stored yet.",
            ["topic", "partition"],
            registry=registry,
        )

    def stored(self, cause: str) -> None:
        """One was taken."""
        self._taken.labels(cause).inc()

    def unreadable(self) -> None:
        """One was no rejection."""
        self._unreadable.inc()

    def sent(self, count: int) -> None:
        """``count`` were confirmed by the broker."""
        self._sent.inc(count)

    def lag(self, topic: str, partition: int, records: int) -> None:
        """``records`` of ``partition`` of ``topic`` are still to be stored."""
        self._lag.labels(topic, str(partition)).set(records)


class RetentionMetrics:
    """The metrics of what retention keeps; see ``alert_api.service.retention.RetentionTally``.

    :param kept: what there is of it, as in the metrics' names: `dead_letters`
    """

    def __init__(self, registry: CollectorRegistry, kept: str = "dead_letters") -> None:
        words = kept.replace("_", " ")
        self._deleted = Counter(
            f"tripline_{kept}_deleted_total", f"Deleted by retention: {words}.", registry=registry
        )
        self._records = Gauge(f"tripline_{kept}_records", f"Kept: {words}.", registry=registry)
        self._bytes = Gauge(
            f"tripline_{kept}_bytes", "Bytes of their keys, values and details.", registry=registry
        )

    def deleted(self, count: int) -> None:
        """``count`` dead letters were deleted."""
        self._deleted.inc(count)

    def kept(self, kept: Kept) -> None:
        """So much is left."""
        self._records.set(kept.records)
        self._bytes.set(kept.bytes)


class AlertRetentionMetrics:
    """The metrics of alerts that go; see ``alert_api.service.past_months.AlertTally``."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._dropped = Counter(
            "tripline_alerts_dropped_total", "Deleted by retention: alerts.", registry=registry
        )
        self._kept = Gauge(
            "tripline_alert_months_kept",
            "Months of alerts that are old enough to go and stay, by why.",
            ["reason"],
            registry=registry,
        )
        self.kept(dict.fromkeys(HINDRANCES, 0))

    def dropped(self, alerts: int) -> None:
        """So many went."""
        self._dropped.inc(alerts)

    def kept(self, months: Mapping[Hindrance, int]) -> None:
        """So many stay, for each reason."""
        for reason, count in months.items():
            self._kept.labels(reason).set(count)
