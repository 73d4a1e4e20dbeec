"""The notifier's metrics; see ``PublisherTally`` and ``DeliveryTally``."""

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

        self._deliveries = Counter(
            "tripline_webhook_deliveries_total",
            "Requests to webhooks by what came of them: delivered, retried, dead.",
            ["outcome"],
            registry=registry,
        )

    def delivery(self, outcome: str) -> None:
        """A request was taken, is to be tried again, or was the last one."""
        self._deliveries.labels(outcome).inc()

    def published(self, event: str) -> None:
        """One was confirmed."""
        self._published.labels(event).inc()
