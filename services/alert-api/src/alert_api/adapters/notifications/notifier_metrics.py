"""The notifier's metrics; see ``alert_api.service.notifications.publisher.PublisherTally``."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter


class NotifierMetrics:
    """What went out."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._published = Counter(
            "tripline_case_notices_published_total",
            "Events of cases that the broker confirmed; after a kill some are counted twice.",
            ["type"],
            registry=registry,
        )

    def published(self, event: str) -> None:
        """One was confirmed."""
        self._published.labels(event).inc()
