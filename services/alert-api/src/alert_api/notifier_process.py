"""The wiring of `alert-api notifier`: settings in, everything connected, running until told to stop."""

from __future__ import annotations

from contextlib import closing

import structlog

from alert_api.adapters.notifications.notice_sender import KafkaNoticeSender
from alert_api.adapters.notifications.notifier_metrics import NotifierMetrics
from alert_api.adapters.notifications.postgres_notices import PostgresNotices
from alert_api.service.notifications.publisher import Publisher
from alert_api.settings import NotifierSettings
from tripline_contracts import topics
from tripline_http.lifecycle import stop_on_signals
from tripline_http.metrics import new_metrics_registry
from tripline_http.metrics_server import MetricsServer

log = structlog.get_logger(__name__)

CASES = "cases.v1"


def run_notifier(settings: NotifierSettings) -> None:
    """Tell programs what becomes of cases, until SIGTERM or SIGINT. Raises ConfigurationError."""
    stop = stop_on_signals()
    registry = new_metrics_registry()
    metrics = NotifierMetrics(registry)
    topic = topics.load(CASES).name
    sender = KafkaNoticeSender(settings.kafka, topic)
    with (
        closing(PostgresNotices(settings.dsn)) as store,
        MetricsServer(settings.metrics_bind, registry, {"database": store.check, "kafka": sender.check}),
    ):
        log.info("notifier_started", topics=[topic])
        Publisher(store, sender, metrics, stop).run()
    log.info("notifier_stopped")
