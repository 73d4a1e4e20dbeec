"""Webhooks from the log of a real Postgres to a real HTTP receiver."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial

import httpx
import psycopg
import pytest
from cryptography.fernet import Fernet
from prometheus_client import CollectorRegistry

from alert_api.adapters.fernet_seal import FernetSeal
from alert_api.adapters.notifications.notifier_metrics import NotifierMetrics
from alert_api.adapters.postgres_alerts import open_pool
from alert_api.adapters.webhooks.http_sender import HttpWebhookSender
from alert_api.adapters.webhooks.postgres_deliveries import PostgresDeliveries
from alert_api.adapters.webhooks.postgres_webhooks import PostgresWebhooks
from alert_api.domain.notifications.case_notice import NOTICE_TYPES
from alert_api.domain.webhooks.message import Message, ping_of
from alert_api.domain.webhooks.reach import Reach
from alert_api.domain.webhooks.signature import new_secret, signed_headers
from alert_api.domain.webhooks.webhook import DeliveryState, Template, Webhook, WebhookContent
from alert_api.errors import OwnWebhook, Stopped, WebhookInTheWay, WebhookRefused
from alert_api.service.webhooks.deliverer import Answer, Deliverer, Target, Tries
from alert_api.service.webhooks.dispatcher import Dispatcher
from alert_api.service.webhooks.webhook_desk import WebhookDesk, WebhookPolicy
from tests.integration.alert_api.notifications.conftest import Stage
from tests.integration.alert_api.notifications.test_notices import EXPECTED, burst_with_work
from tests.integration.alert_api.support.servers import SECONDS, eventually
from tests.integration.alert_api.support.webhook_receiver import SLOW, Receiver, receiving
from tests.unit.alert_api.support.samples import EPOCH

pytestmark = pytest.mark.integration

KEY = Fernet.generate_key().decode().rstrip("=")
HERE = Reach(frozenset({"hooks.example"}), private=True, plain=True)


class Office:
    """Webhooks of a database: asked for, and delivered to by whoever runs."""

    def __init__(self, stage: Stage, *, four_eyes: bool = False, reach: Reach = HERE) -> None:
        self.stage = stage
        self.secret = new_secret()
        self.pool, self.api = open_pool(stage.notifier, 3), open_pool(stage.database.api, 2)
        policy = WebhookPolicy(reach, four_eyes)
        self.desk = WebhookDesk(PostgresWebhooks(self.api), policy, partial(FernetSeal().seal, KEY))
        self.registry = CollectorRegistry()
        self.metrics = NotifierMetrics(self.registry)
        self.sender = HttpWebhookSender(
            reach, lambda: 1_700_000_000, lambda _host, _port: ["127.0.0.1"], httpx.Timeout(0.5)
        )

    def ask(self, receiver: Receiver, name: str = "desk", template: Template = "cloudevents") -> Webhook:
        url = f"http://hooks.example:{receiver.port}/in"
        content = WebhookContent(name, url, template, NOTICE_TYPES)
        return self.desk.request(content, self.secret, "ada", EPOCH)

    def store(self) -> PostgresDeliveries:
        return PostgresDeliveries(self.pool, partial(FernetSeal().unseal, KEY), lambda: EPOCH)

    def deliverer(self, store: PostgresDeliveries, stop: threading.Event) -> Deliverer:
        return Deliverer(store, self.sender, self.metrics, stop, Tries(3, 0.001, 0.01), "https://console")

    @contextmanager
    def running(self) -> Iterator[None]:
        stop = threading.Event()
        with closing(self.store()) as store:
            dispatcher = Dispatcher(store, self.deliverer(store, stop).step, stop, 0.05)
            thread = threading.Thread(target=dispatcher.run)
            thread.start()
            try:
                yield
            finally:
                stop.set()
                thread.join(SECONDS)

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
        self.pool.close()
        self.api.close()


@pytest.fixture
def office(stage: Stage) -> Iterator[Office]:
    with closing(Office(stage)) as opened:
        yield opened


def test_a_webhook_is_told_everything_signed_in_order_and_no_redirect_is_followed(office: Office) -> None:
    with receiving(500, 302) as receiver, office.running():
        webhook = office.ask(receiver)
        burst_with_work(office.stage)
        eventually(lambda: office.at_the_end(webhook), "all is delivered")
    assert receiver.ids[0] == receiver.ids[1] == receiver.ids[2]
    assert len(set(receiver.ids)) == len(receiver.ids) - 2 == len(EXPECTED)
    assert {path for path, _, _ in receiver.came} == {"/in"}
    assert set(office.states(webhook).values()) == {("delivered", 204)}
    for _, headers, body in receiver.came:
        signed = signed_headers(office.secret, headers["webhook-id"], 1_700_000_000, body)
        assert signed.items() <= headers.items()
        assert headers["host"] == f"hooks.example:{receiver.port}"
        assert headers["content-type"] == "application/cloudevents+json"


def test_one_that_does_not_answer_holds_up_no_other_and_is_dead_lettered(office: Office) -> None:
    with receiving(SLOW, SLOW, SLOW) as slow, receiving() as quick, office.running():
        held, told = office.ask(slow, "slow"), office.ask(quick, "quick", "slack")
        office.stage.alerts((1, "25", 1, 0))
        eventually(lambda: len(quick.came) == 1, "the quick one is told")
        assert "dead" not in {state for state, _ in office.states(held).values()}
        eventually(lambda: ("dead", None) in office.states(held).values(), "the slow one is given up")
        slow.statuses.clear()
        office.desk.store.replay(held.webhook_id, 0, None)
        eventually(lambda: ("delivered", 204) in office.states(held).values(), "it is replayed")
    assert slow.ids[0] == slow.ids[-1]
    assert b"<https://console/cases/" in quick.came[0][2]
    assert told.webhook_id != held.webhook_id
    assert office.registry.get_sample_value("tripline_webhook_deliveries_total", {"outcome": "dead"}) == 1


class Dying(PostgresDeliveries):
    """Ends between the request and what is stored of it."""

    def record(
        self, target: Target, message: Message, state: DeliveryState, attempts: int, answer: Answer
    ) -> None:
        raise Stopped(f"killed: {target.webhook_id} {message.id} {state} {attempts} {answer}")


def test_a_kill_before_the_position_is_stored_sends_it_again_under_its_id(office: Office) -> None:
    with receiving() as receiver:
        webhook = office.ask(receiver)
        office.stage.alerts((1, "25", 1, 0))
        dying = Dying(office.pool, partial(FernetSeal().unseal, KEY), lambda: EPOCH)
        with pytest.raises(Stopped):
            office.deliverer(dying, threading.Event()).step(webhook.webhook_id)
        with closing(office.store()) as store:
            office.deliverer(store, threading.Event()).step(webhook.webhook_id)
    assert len(receiver.ids) == 2
    assert len(set(receiver.ids)) == 1


def test_a_replay_from_an_instant_and_a_ping(office: Office) -> None:
    case_id = burst_with_work(office.stage)
    with receiving() as receiver, closing(office.store()) as store:
        webhook = office.ask(receiver)
        deliverer = office.deliverer(store, threading.Event())
        deliverer.step(webhook.webhook_id)
        assert receiver.came == []  # what was before is told by a replay
        office.desk.store.ask_for_ping(webhook.webhook_id, EPOCH)
        office.desk.store.replay(webhook.webhook_id, None, EPOCH + 3 * 3_600_000)
        deliverer.step(webhook.webhook_id)
    assert receiver.ids[0] == f"ping-{webhook.webhook_id}-{EPOCH}"
    assert len(receiver.ids) == 4
    assert all(event_id.startswith(f"case-{case_id}-") for event_id in receiver.ids[1:])


@pytest.mark.parametrize("address", ["127.0.0.1", "169.254.169.254", "::1", "10.0.0.1"])
def test_the_address_decides_whatever_the_name_is(address: str) -> None:
    asked: list[str] = []

    def rebinding(host: str, _port: int) -> list[str]:
        asked.append(host)
        return ["93.184.216.34", address]

    sender = HttpWebhookSender(Reach(frozenset({"hooks.example"}), plain=True), lambda: 1, rebinding)
    ping = ping_of(1, "desk", EPOCH, 0, "cloudevents")
    answer = sender.post("http://hooks.example/", new_secret(), ping)
    assert answer == Answer(None, f"{address} is private, loopback or link-local")
    assert asked == ["hooks.example"]


def test_two_persons_and_a_host_that_may_be(office: Office, stage: Stage) -> None:
    with closing(Office(stage, four_eyes=True)) as strict, receiving() as receiver:
        webhook = strict.ask(receiver)
        assert webhook.state == "requested"
        with pytest.raises(OwnWebhook):
            strict.desk.approve(webhook.webhook_id, webhook.content.hash, "ada", EPOCH)
        with pytest.raises(WebhookInTheWay):
            strict.ask(receiver)
        with closing(strict.store()) as store:
            assert store.target(webhook.webhook_id) is None
            assert (
                strict.desk.approve(webhook.webhook_id, webhook.content.hash, "bob", EPOCH).state == "active"
            )
            assert store.target(webhook.webhook_id) is not None
    content = WebhookContent("other", "https://evil.example/", "slack", NOTICE_TYPES)
    with pytest.raises(WebhookRefused, match="TRIPLINE_WEBHOOK_HOSTS"):
        office.desk.request(content, office.secret, "ada", EPOCH)


def test_who_takes_webhooks_in_cannot_read_secrets_or_write_deliveries_and_nobody_approves_their_own(
    office: Office,
) -> None:
    with receiving() as receiver:
        office.ask(receiver)
    refused = psycopg.errors.InsufficientPrivilege
    for dsn, statement in (
        (office.stage.database.api, "SELECT secret_sealed FROM alerts.webhooks"),
        (office.stage.database.api, "UPDATE alerts.webhooks SET url = 'https://evil.example/'"),
        (office.stage.database.api, "DELETE FROM alerts.webhook_deliveries"),
        (office.stage.notifier, "UPDATE alerts.webhooks SET url = 'https://evil.example/'"),
        (office.stage.notifier, "UPDATE alerts.webhooks SET approved_by = 'bob', approved_at = 1"),
    ):
        with psycopg.connect(dsn, autocommit=True) as connection, pytest.raises(refused):
            connection.execute(statement)
    with (
        psycopg.connect(office.stage.database.api, autocommit=True) as connection,
        pytest.raises(psycopg.errors.CheckViolation),
    ):
        connection.execute("UPDATE alerts.webhooks SET approved_by = requested_by, approved_at = 1")


def test_of_two_notifiers_one_delivers(office: Office) -> None:
    with closing(office.store()) as one, closing(office.store()) as other:
        assert (one.is_leader(), other.is_leader(), one.is_leader()) == (True, False, True)
        one.close()
        eventually(other.is_leader, "the other one takes over")
