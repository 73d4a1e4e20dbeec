"""Webhooks from the log of a real Postgres to a real HTTP receiver."""

from __future__ import annotations

import threading
from contextlib import closing
from functools import partial

import pytest

from alert_api.adapters.fernet_seal import FernetSeal
from alert_api.adapters.webhooks.http_sender import HttpWebhookSender
from alert_api.adapters.webhooks.postgres_deliveries import PostgresDeliveries
from alert_api.domain.webhooks.message import Message, ping_of
from alert_api.domain.webhooks.reach import Reach
from alert_api.domain.webhooks.signature import Secrets, new_secret, signed_headers
from alert_api.domain.webhooks.webhook import DeliveryState
from alert_api.errors import (
    Stopped,
)
from alert_api.service.webhooks.deliverer import Answer, Target
from tests.integration.alert_api.notifications.test_notices import EXPECTED, burst_with_work
from tests.integration.alert_api.support.servers import eventually
from tests.integration.alert_api.support.webhook_office import KEY, Office
from tests.integration.alert_api.support.webhook_receiver import SLOW, receiving
from tests.unit.alert_api.support.samples import EPOCH

pytestmark = pytest.mark.integration


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
        office.desk.store.replay(held.webhook_id, 0, None, "ada", EPOCH)
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
        dying = Dying(office.stage.notifier, partial(FernetSeal().unseal, KEY), lambda: EPOCH)
        with closing(dying), pytest.raises(Stopped):
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
        office.desk.store.ask_for_ping(webhook.webhook_id, "ada", EPOCH)
        office.desk.store.replay(webhook.webhook_id, None, EPOCH + 3 * 3_600_000, "ada", EPOCH)
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
    answer = sender.post("http://hooks.example/", Secrets(new_secret()), ping)
    assert answer == Answer(None, f"{address} is private, loopback or link-local")
    assert asked == ["hooks.example"]


def test_of_two_notifiers_one_delivers(office: Office) -> None:
    with closing(office.store()) as one, closing(office.store()) as other:
        assert (one.is_leader(), other.is_leader(), one.is_leader()) == (True, False, True)
        one.hand_over()
        eventually(other.is_leader, "the other one takes over")
