"""The wiring of `alert-api redrive`: settings in, everything connected, running until told to stop."""

from __future__ import annotations

from contextlib import closing
from functools import partial

import structlog

from alert_api.adapters.kafka_source import KafkaAlertSource
from alert_api.adapters.metrics import RedriveMetrics
from alert_api.adapters.rejected.postgres_redrive import PostgresRedrive
from alert_api.adapters.rejected.transaction_sender import TransactionSender
from alert_api.service.rejected.reading import read_reject
from alert_api.service.rejected.redrive import Redrive
from alert_api.settings import RedriveSettings
from tripline_contracts import schemas, topics
from tripline_http.lifecycle import stop_on_signals
from tripline_http.metrics import new_metrics_registry
from tripline_http.metrics_server import MetricsServer

log = structlog.get_logger(__name__)

GROUP = "tripline-redrive"
REJECTED, EVENTS = "rejected-transactions.v1", "transactions.v1"


def run_redrive(settings: RedriveSettings) -> None:
    """Bring in what the engine did not accept, and send again what people corrected, until SIGTERM or SIGINT.

    Raises ConfigurationError.
    """
    stop = stop_on_signals()
    registry = new_metrics_registry()
    metrics = RedriveMetrics(registry)
    rejected, events = topics.load(REJECTED).name, topics.load(EVENTS).name
    with (
        closing(PostgresRedrive(settings.dsn)) as store,
        KafkaAlertSource(settings.kafka, [rejected], metrics.lag, GROUP) as source,
        MetricsServer(settings.metrics_bind, registry, {"database": store.check, "kafka": source.check}),
    ):
        read = partial(read_reject, check=schemas.validator(REJECTED))
        log.info("redrive_started", topics=[rejected, events])
        Redrive(source, store, TransactionSender(settings.kafka, events), read, metrics, stop).run()
    log.info("redrive_stopped")
