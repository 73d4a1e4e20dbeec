"""Webhooks of a database: asked for, and delivered to by whoever runs."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import httpx
import psycopg
from cryptography.fernet import Fernet
from prometheus_client import CollectorRegistry

from alert_api.adapters.fernet_seal import FernetSeal
from alert_api.adapters.notifications.notifier_metrics import NotifierMetrics
from alert_api.adapters.postgres_alerts import open_pool
from alert_api.adapters.webhooks.http_sender import HttpWebhookSender
from alert_api.adapters.webhooks.postgres_deliveries import PostgresDeliveries
from alert_api.adapters.webhooks.postgres_webhooks import PostgresWebhooks
from alert_api.domain.notifications.case_notice import NOTICE_TYPES
from alert_api.domain.webhooks.reach import Reach
from alert_api.domain.webhooks.signature import new_secret
from alert_api.domain.webhooks.webhook import Template, Webhook, WebhookContent
from alert_api.service.webhooks.deliverer import Deliverer, Tries
from alert_api.service.webhooks.dispatcher import Dispatcher
from alert_api.service.webhooks.webhook_desk import WebhookDesk, WebhookPolicy
from tests.integration.alert_api.support.servers import SECONDS
from tests.integration.alert_api.support.webhook_receiver import Receiver
from tests.unit.alert_api.support.samples import EPOCH

if TYPE_CHECKING:
    from tests.integration.alert_api.notifications.conftest import Stage

KEY = Fernet.generate_key().decode().rstrip("=")
HERE = Reach(frozenset({"hooks.example"}), private=True, plain=True)


class Office:
    """Webhooks of a database: asked for, and delivered to by whoever runs."""

    def __init__(self, stage: Stage, *, four_eyes: bool = False, reach: Reach = HERE) -> None:
        self.stage = stage
        self.secret = new_secret()
        self.api = open_pool(stage.database.api, 2)
        policy = WebhookPolicy(reach, four_eyes)
        self.desk = WebhookDesk(PostgresWebhooks(self.api), policy, partial(FernetSeal().seal, KEY))
        self.registry = CollectorRegistry()
        self.metrics = NotifierMetrics(self.registry)
        self.sender = HttpWebhookSender(
            reach, lambda: 1_700_000_000, lambda _host, _port: ["127.0.0.1"], httpx.Timeout(0.5)
        )

    def ask(
        self, receiver: Receiver, name: str = "desk", template: Template = "cloudevents", **only: Any
    ) -> Webhook:
        url = f"http://hooks.example:{receiver.port}/in"
        content = WebhookContent(name, url, template, NOTICE_TYPES, **only)
        return self.desk.request(content, self.secret, "ada", EPOCH)

    def store(self) -> PostgresDeliveries:
        return PostgresDeliveries(self.stage.notifier, partial(FernetSeal().unseal, KEY), lambda: EPOCH)

    def deliverer(self, store: PostgresDeliveries, stop: threading.Event) -> Deliverer:
        return Deliverer(store, self.sender, self.metrics, stop, Tries(3, 0.001, 0.01), "https://console")

    @contextmanager
    def running(self) -> Iterator[None]:
        stop = threading.Event()
        with closing(self.store()) as store:
            dispatcher = Dispatcher(store, self.deliverer(store, stop).step, stop, 0.05, SECONDS)
            thread = threading.Thread(target=dispatcher.run)
            thread.start()
            try:
                yield
            finally:
                stop.set()
                thread.join(SECONDS)
                store.hand_over()

    def states(self, webhook: Webhook) -> dict[str, tuple[str, int | None]]:
        page = self.desk.store.deliveries(webhook.webhook_id, None, None, 100)
        return {delivery.event_id: (delivery.state, delivery.status) for delivery in page.deliveries}

    def at_the_end(self, webhook: Webhook) -> bool:
        with psycopg.connect(self.stage.database.owner) as connection:
            [(end,)] = connection.execute(
                "SELECT greatest(max(o.position), max(e.position)) FROM alerts.case_openings o, alerts.case_events e"
            ).fetchall()
        return bool(self.desk.get(webhook.webhook_id).position >= end)

    def close(self) -> None:
        self.api.close()
