"""What people do with webhooks, in a real Postgres: four eyes, changes, pauses, filters, history, rights."""

from __future__ import annotations

import json
import threading
from contextlib import closing
from dataclasses import replace

import psycopg
import pytest

from alert_api.domain.notifications.case_notice import NOTICE_TYPES
from alert_api.domain.webhooks.signature import new_secret, signed_headers
from alert_api.domain.webhooks.webhook import WebhookContent
from alert_api.errors import (
    AnotherWebhook,
    OwnWebhook,
    StaleWebhook,
    WebhookInTheWay,
    WebhookNotActive,
    WebhookRefused,
)
from tests.integration.alert_api.notifications.conftest import Stage
from tests.integration.alert_api.notifications.test_notices import EXPECTED, burst_with_work
from tests.integration.alert_api.support.webhook_office import Office
from tests.integration.alert_api.support.webhook_receiver import receiving
from tests.unit.alert_api.support.samples import EPOCH

pytestmark = pytest.mark.integration


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


def test_a_change_takes_another_person_again_and_leaves_out_nothing(office: Office, stage: Stage) -> None:
    with closing(Office(stage, four_eyes=True)) as strict, receiving() as receiver:
        desk, webhook = strict.desk, strict.ask(receiver)
        desk.approve(webhook.webhook_id, webhook.content.hash, "bob", EPOCH)
        resolved = replace(webhook.content, types=("CaseResolved",))
        with pytest.raises(StaleWebhook):
            desk.change(webhook.webhook_id, lambda version: version == 7, resolved, None, "bob", EPOCH)
        same = desk.change(webhook.webhook_id, lambda _: True, webhook.content, None, "bob", EPOCH)
        assert (same.state, same.version) == ("active", 1)
        changed = desk.change(webhook.webhook_id, lambda version: version == 1, resolved, None, "bob", EPOCH)
        assert (changed.state, changed.version, changed.requested_by) == ("requested", 2, "bob")
        burst_with_work(stage)
        with closing(strict.store()) as store:
            deliverer = strict.deliverer(store, threading.Event())
            assert not deliverer.step(webhook.webhook_id)
            with pytest.raises(AnotherWebhook):
                desk.approve(webhook.webhook_id, webhook.content.hash, "ada", EPOCH)
            with pytest.raises(OwnWebhook):
                desk.approve(webhook.webhook_id, changed.content.hash, "bob", EPOCH)
            desk.approve(webhook.webhook_id, changed.content.hash, "ada", EPOCH)
            deliverer.step(webhook.webhook_id)
            assert len(receiver.ids) == [kind for kind, _ in EXPECTED].count("CaseResolved")
            # with another secret it is another one too
            desk.change(webhook.webhook_id, lambda _: True, resolved, new_secret(), "ada", EPOCH)
            assert store.target(webhook.webhook_id) is None
        other = strict.ask(receiver, "other")
        taken = replace(other.content, name=webhook.content.name)
        with pytest.raises(WebhookInTheWay):
            desk.change(other.webhook_id, lambda _: True, taken, None, "ada", EPOCH)
        desk.remove(other.webhook_id, "ada", EPOCH)
        steps = desk.store.steps(None, None, 100).steps
        assert [(step.type, step.actor) for step in reversed(steps)] == [
            ("WebhookRequested", "ada"), ("WebhookApproved", "bob"), ("WebhookChanged", "bob"),
            ("WebhookApproved", "ada"), ("WebhookChanged", "ada"), ("WebhookRequested", "ada"),
            ("WebhookRemoved", "ada"),
        ]  # fmt: skip
        assert "whsec" not in str([step.detail for step in steps])
        page = desk.store.steps(webhook.webhook_id, None, 2)
        older = desk.store.steps(webhook.webhook_id, page.following, 100).steps
        assert [step.version for step in (*page.steps, *older)] == [3, 2, 2, 1, 1]


def test_what_happens_during_a_pause_waits_and_a_replay_to_the_end_leaves_it_out(office: Office) -> None:
    with receiving() as receiver, closing(office.store()) as store:
        told, left_out = office.ask(receiver, "told"), office.ask(receiver, "left out")
        for webhook in (told, left_out):
            assert office.desk.pause(webhook.webhook_id, "ada", EPOCH).state == "paused"
            assert office.desk.pause(webhook.webhook_id, "bob", EPOCH).paused_by == "ada"
            with pytest.raises(WebhookNotActive):
                office.desk.test(webhook.webhook_id, "ada", EPOCH)
        office.stage.alerts((1, "25", 1, 0))
        deliverer = office.deliverer(store, threading.Event())
        assert not deliverer.step(told.webhook_id)
        office.desk.replay(left_out.webhook_id, 9_000_000, None, "ada", EPOCH)
        for webhook in (told, left_out):
            assert office.desk.resume(webhook.webhook_id, "ada", EPOCH).state == "active"
            deliverer.step(webhook.webhook_id)
        assert len(receiver.ids) == 1
        # of a position that nothing has yet nothing is left out
        office.stage.alerts((2, "26", 1, 0))
        deliverer.step(left_out.webhook_id)
        assert len(receiver.ids) == 2


def test_severities_and_rules_as_they_are_now(office: Office) -> None:
    with psycopg.connect(office.stage.database.owner) as connection:
        # Purposes of rules that are in the log alone.
        connection.execute("SET session_replication_role = replica")
        connection.execute(
            "INSERT INTO registry.rule_purposes (rule_id, version, severity, tags)"
            " VALUES (1, 1, 'low', '{}'), (2, 1, 'high', '{}')"
        )
    with receiving() as severe, receiving() as second, closing(office.store()) as store:
        by_severity = office.ask(severe, "severe", min_severity="medium")
        by_rule = office.ask(second, "second", rule_ids=(2,))
        office.stage.alerts((1, "25", 1, 0), (2, "26", 2, 0))
        office.stage.alerts((3, "25", 2, 1))
        deliverer = office.deliverer(store, threading.Event())
        for webhook in (by_severity, by_rule):
            deliverer.step(webhook.webhook_id)
    bodies = [json.loads(body)["data"] for _, _, body in severe.came]
    assert {body["case"]["severity"] for body in bodies} == {"high"}
    assert len(severe.ids) == len(second.ids) == 3


def test_cases_about_a_subject_alone(office: Office) -> None:
    with receiving() as receiver, closing(office.store()) as store:
        webhook = office.ask(receiver, "one payer", subjects=("payeeId:25", "beneficiaryId:26"))
        assert office.desk.get(webhook.webhook_id).content.subjects == ("payeeId:25", "beneficiaryId:26")
        office.stage.alerts((1, "25", 1, 0), (2, "26", 1, 0))
        office.deliverer(store, threading.Event()).step(webhook.webhook_id)
    (body,) = (json.loads(body)["data"] for _, _, body in receiver.came)
    assert body["subject"]["value"] == "25"


def test_a_new_secret_signs_beside_the_former_one_and_ends_no_approval(stage: Stage) -> None:
    with (
        closing(Office(stage, four_eyes=True)) as strict,
        receiving() as receiver,
        closing(strict.store()) as store,
    ):
        desk, webhook = strict.desk, strict.ask(receiver)
        desk.approve(webhook.webhook_id, webhook.content.hash, "bob", EPOCH)
        with pytest.raises(StaleWebhook):
            desk.rotate(webhook.webhook_id, lambda version: version == 7, new_secret(), EPOCH, "ada", EPOCH)
        second = new_secret()
        rotated = desk.rotate(
            webhook.webhook_id, lambda version: version == 1, second, EPOCH + 9_000, "ada", EPOCH
        )
        assert (rotated.state, rotated.version, rotated.former_until) == ("active", 2, EPOCH + 9_000)
        target = store.target(webhook.webhook_id)
        assert target is not None
        assert (target.secrets.current, target.secrets.former_at(EPOCH)) == (second, strict.secret)
        stage.alerts((1, "25", 1, 0))
        strict.deliverer(store, threading.Event()).step(webhook.webhook_id)
        ((_, headers, body),) = receiver.came
        sent, seconds = headers["webhook-id"], int(headers["webhook-timestamp"])
        # the sender's clock is that of the office
        former = target.secrets.former_at(seconds * 1000)
        assert signed_headers(second, sent, seconds, body, former).items() <= headers.items()
        # a secret that comes with a change is the only one, and takes another person again
        third = new_secret()
        changed = desk.change(webhook.webhook_id, lambda _: True, webhook.content, third, "ada", EPOCH)
        assert (changed.state, changed.former_until) == ("requested", None)
        assert desk.store.steps(webhook.webhook_id, None, 2).steps[1].type == "WebhookSecretRotated"
    with psycopg.connect(stage.database.api, autocommit=True) as connection:
        for column in ("former_sealed", "secret_sealed"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"SELECT {column} FROM alerts.webhooks")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("UPDATE alerts.webhooks SET former_sealed = NULL, former_until = NULL")


def test_dead_letters_and_the_last_delivery_are_told_of_each(office: Office) -> None:
    with receiving(500, 500, 500) as receiver, closing(office.store()) as store:
        webhook = office.ask(receiver)
        assert (webhook.dead, webhook.last) == (0, None)
        office.stage.alerts((1, "25", 1, 0))
        office.deliverer(store, threading.Event()).step(webhook.webhook_id)
        (poisoned,) = office.desk.store.all()
        assert poisoned.dead == 1
        assert poisoned.last is not None
        assert (poisoned.last.state, poisoned.last.attempts, poisoned.last.status) == ("dead", 3, 500)
        # a test that is not taken is none
        receiver.statuses.append(500)
        office.desk.test(webhook.webhook_id, "ada", EPOCH)
        office.deliverer(store, threading.Event()).step(webhook.webhook_id)
        assert office.desk.get(webhook.webhook_id).dead == 1
        receiver.came.clear()
        office.desk.replay(webhook.webhook_id, poisoned.last.position - 1, None, "ada", EPOCH)
        office.deliverer(store, threading.Event()).step(webhook.webhook_id)
        assert office.desk.get(webhook.webhook_id).dead == 0
    assert receiver.ids == [poisoned.last.event_id]


def test_who_takes_webhooks_in_cannot_read_secrets_or_write_deliveries_and_nobody_approves_their_own(
    office: Office,
) -> None:
    with receiving() as receiver:
        office.ask(receiver)
    refused = psycopg.errors.InsufficientPrivilege
    for dsn, statement in (
        (office.stage.database.api, "SELECT secret_sealed FROM alerts.webhooks"),
        (office.stage.database.api, "UPDATE alerts.webhook_steps SET actor = 'bob'"),
        (office.stage.database.api, "UPDATE alerts.webhooks SET four_eyes = false"),
        (office.stage.database.api, "DELETE FROM alerts.webhook_deliveries"),
        (office.stage.notifier, "UPDATE alerts.webhooks SET url = 'https://evil.example/'"),
        (office.stage.notifier, "UPDATE alerts.webhooks SET approved_by = 'bob', approved_at = 1"),
    ):
        with psycopg.connect(dsn, autocommit=True) as connection, pytest.raises(refused):
            connection.execute(statement)
    with psycopg.connect(office.stage.database.api, autocommit=True) as connection:
        with pytest.raises(psycopg.errors.CheckViolation):
            connection.execute("UPDATE alerts.webhooks SET approved_by = requested_by, approved_at = 1")
        connection.execute("UPDATE alerts.webhooks SET approved_by = 'bob', approved_at = 1")
        with pytest.raises(psycopg.errors.CheckViolation, match="its approval has to go"):
            connection.execute("UPDATE alerts.webhooks SET url = 'https://evil.example/'")
