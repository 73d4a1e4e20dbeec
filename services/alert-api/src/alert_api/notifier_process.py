"""The wiring of `alert-api notifier`: settings in, everything connected, running until told to stop."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial

import structlog

from alert_api.adapters.fernet_seal import FernetSeal
from alert_api.adapters.notifications.notice_sender import KafkaNoticeSender
from alert_api.adapters.notifications.notifier_metrics import NotifierMetrics
from alert_api.adapters.notifications.postgres_notices import PostgresNotices
from alert_api.adapters.webhooks.http_sender import HttpWebhookSender
from alert_api.adapters.webhooks.postgres_deliveries import PostgresDeliveries
from alert_api.service.notifications.publisher import Publisher
from alert_api.service.webhooks.deliverer import Deliverer, Tries
from alert_api.service.webhooks.dispatcher import PATIENCE_SECONDS, Dispatcher
from alert_api.settings import NotifierSettings
from tripline_contracts import topics
from tripline_http.lifecycle import stop_on_signals
from tripline_http.metrics import new_metrics_registry
from tripline_http.metrics_server import MetricsServer

log = structlog.get_logger(__name__)

CASES = "cases.v1"
JOIN_SECONDS = PATIENCE_SECONDS + 1.0


def run_notifier(settings: NotifierSettings) -> None:
    """Tell programs and webhooks what becomes of cases, until SIGTERM or SIGINT. Raises ConfigurationError."""
    # One line per request would name each webhook's address again and again.
    logging.getLogger("httpx").setLevel(logging.WARNING)
    stop = stop_on_signals()
    registry = new_metrics_registry()
    metrics = NotifierMetrics(registry)
    topic = topics.load(CASES).name
    sender = KafkaNoticeSender(settings.kafka, topic)
    with (
        closing(PostgresNotices(settings.dsn)) as store,
        MetricsServer(settings.metrics_bind, registry, {"database": store.check, "kafka": sender.check}),
        webhooks(settings, metrics, stop),
    ):
        log.info("notifier_started", topics=[topic])
        Publisher(store, sender, metrics, stop).run()
    log.info("notifier_stopped")


@contextmanager
def webhooks(settings: NotifierSettings, metrics: NotifierMetrics, stop: threading.Event) -> Iterator[None]:
    """Deliver to webhooks beside what the block does; nothing where the settings allow none."""
    if settings.webhooks is None:
        yield
        return
    reach, key = settings.webhooks.reach, settings.webhooks.key
    unseal = partial(FernetSeal().unseal, key)
    with closing(PostgresDeliveries(settings.dsn, unseal, lambda: time.time_ns() // 1_000_000)) as store:
        sender = HttpWebhookSender(reach, lambda: int(time.time()))
        deliverer = Deliverer(store, sender, metrics, stop, Tries(), settings.console_url)
        thread = threading.Thread(
            target=Dispatcher(store, deliverer.step, stop).run, name="webhooks", daemon=True
        )
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join(JOIN_SECONDS)
            store.hand_over()
