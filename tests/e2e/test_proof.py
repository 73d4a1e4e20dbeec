"""Alerts of the real line are proven and explained, and silence too: by the prover, from Kafka and the archive."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from alert_api.cli import main
from alert_api.domain.webhooks.signature import signed_headers
from tests.browser.traffic import SECONDS, alerts_of, definition, is_applied, published_rule
from tests.e2e.support.kafka_log import KafkaLog
from tests.integration.alert_api.support.webhook_receiver import Receiver, receiving
from tests.stack import RunningStack, eventually, processes
from tripline_contracts.kafka.cluster import kafka_cluster
from tripline_contracts.rules.rollout import is_on_trial

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(300)]

NAME = "Proof: many payments by one payer"
LIMIT = 20
SHARE = 40
PAYMENT = {"beneficiaryId": "proof-shop", "paymentType": "CRD", "paymentAmount": "12.50"}


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving(503) as opened:
        yield opened


@pytest.fixture
def poisoned() -> Iterator[Receiver]:
    """Takes nothing, whatever comes."""
    with receiving(*[500] * 1000) as opened:
        yield opened


def test_alerts_of_a_fraud_are_proven_and_explained(
    running_stack: RunningStack, tmp_path: Path, receiver: Receiver, poisoned: Receiver
) -> None:
    with running_stack.registry() as registry:
        made = registry.post("/v1/rules", json=definition(NAME, limit=LIMIT)).raise_for_status().json()
        rule_id = made["ruleId"]
        of_party = {"groupingKeyNames": ["account"], "filter": {"side": "payer"}}
        body = {**definition(f"{NAME}, by account", limit=LIMIT), **of_party}
        by_account = registry.post("/v1/rules", json=body).raise_for_status().json()
        for rule in (made, by_account):
            eventually(partial(is_applied, running_stack, rule), "the rule is applied", SECONDS)
        webhook, refusing = (
            new_webhook(running_stack, name, to.port)
            for name, to in (("Told", receiver), ("Poisoned", poisoned))
        )
        with running_stack.generator() as generator:
            played = generator.post("/v1/scenarios/card-testing/plays").raise_for_status().json()
        payee, wanted = played["payeeId"], played["transactions"] - LIMIT
        eventually(lambda: len(alerts_of(running_stack, rule_id, payee)) == wanted, "its alerts", SECONDS)
        of_account = (by_account["ruleId"], payee, "account")
        eventually(lambda: len(alerts_of(running_stack, *of_account)) == wanted, "its alerts", SECONDS)
        for identity in (rule_id, by_account["ruleId"]):
            tag = registry.get(f"/v1/rules/{identity}").raise_for_status().headers["ETag"]
            registry.delete(f"/v1/rules/{identity}", headers={"If-Match": tag}).raise_for_status()
    raised, party_alert = alerts_of(running_stack, rule_id, payee), alerts_of(running_stack, *of_account)[0]
    with running_stack.alerts() as alerts:
        for alert in (raised[0], raised[-1], party_alert):
            said = alerts.post(f"/v1/alerts/{alert['alertId']}/verification", timeout=90)
            assert said.status_code == 200, said.text
            verification = said.json()
            assert verification["outcome"] == "match", verification["differences"]
            assert verification["read"]["selected"] >= alert["contributors"]["count"]
            listed = alerts.get(f"/v1/alerts/{alert['alertId']}/verifications").raise_for_status().json()
            kept = listed["items"][0]
            assert kept == {name: verification[name] for name in kept}
        newest = max(raised, key=lambda alert: alert["contributors"]["count"])
        path = f"/v1/alerts/{newest['alertId']}"
        explanation = alerts.get(f"{path}/explanation", timeout=90).raise_for_status().json()
        assert f"Rule “{NAME}” (version 1)" in explanation["sentence"]
        assert explanation["rule"]["publishedBy"] == "analyst"
        assert explanation["rule"]["changedSince"] == "The rule is deleted."
        page = alerts.get(f"{path}/contributors", params={"limit": 100}, timeout=90).raise_for_status().json()
        assert len(page["items"]) == newest["contributors"]["count"] == played["transactions"]
        assert {item["transaction"]["payeeId"] for item in page["items"]} == {payee}
        evidence_is_drawn_and_checked(alerts, newest, f"payeeId:{payee}", tmp_path)
        alert_of_a_party_is_explained(alerts, party_alert, payee, tmp_path)
        programs_and_webhooks_are_told(running_stack, alerts, payee, receiver, webhook)
        a_killed_notifier_goes_on(running_stack, payee, receiver, webhook)
        assert len(set(poisoned.ids)) == 1, "what is not taken is tried again, and nothing overtakes it"
        for told in (webhook, refusing):
            remove(running_stack, told)
        # the first ones of the fraud did not trip it
        first = page["items"][-1]
        query = {"eventTime": first["eventTime"]}
        path = f"/v1/transactions/{first['transactionId']}/judgement"
        said = alerts.get(path, params=query, timeout=90).raise_for_status().json()
        (rule,) = [rule for rule in said["rules"] if rule["ruleId"] == rule_id]
        assert (rule["reason"], rule["value"], rule["limit"]) == ("limit", "1", str(LIMIT))


def test_an_alert_of_a_version_on_trial_is_evidence(running_stack: RunningStack, tmp_path: Path) -> None:
    """It counts for some groups, in place of the rule's own version, which would never speak."""
    body = definition(f"{NAME}, on trial", limit=1_000_000)
    with published_rule(running_stack, body) as rule, running_stack.registry() as registry:
        path, any_version = f"/v1/rules/{rule['ruleId']}/shadow", {"If-Match": "*"}
        registry.post(path, json={**body, "limit": "0"}, headers=any_version).raise_for_status()
        out = registry.post(f"{path}/rollout", json={"percent": SHARE}, headers=any_version)
        rolled_out = {**rule, "version": out.raise_for_status().json()["version"]}
        eventually(partial(is_applied, running_stack, rolled_out), "it is rolled out", SECONDS)
        payees = [f"proof-trial-{n}" for n in range(100)]
        on_trial = {payee: is_on_trial(rule["ruleId"], {"payeeId": payee}, SHARE) for payee in payees}
        tried, other = (
            next(payee for payee in payees if on_trial[payee] is tells) for tells in (True, False)
        )
        with running_stack.generator() as generator:
            for payee in (other, tried):
                sent = {**PAYMENT, "payeeId": payee}
                generator.post("/v1/transactions", json=sent).raise_for_status()
        eventually(lambda: alerts_of(running_stack, rule["ruleId"], tried), "its alert", SECONDS)
        assert not alerts_of(running_stack, rule["ruleId"], other)
        (alert,) = alerts_of(running_stack, rule["ruleId"], tried)
        assert alert["ruleVersion"] == out.json()["shadow"]["version"] == 2
    with running_stack.alerts() as alerts:
        evidence_is_drawn_and_checked(alerts, alert, f"payeeId:{tried}", tmp_path)
    with zipfile.ZipFile(tmp_path / "alert.zip") as archive:
        told = json.loads(archive.read("rule.json"))
        assert (told["version"], told["definition"]["limit"]) == (2, "0")


def programs_and_webhooks_are_told(
    stack: RunningStack, alerts: httpx.Client, payee: str, receiver: Receiver, webhook: dict[str, Any]
) -> None:
    """The burst is one notice, on the topic and at the webhook, with one id; what was not taken came again, signed."""
    (case,) = (
        alerts.get("/v1/cases", params={"subject": f"payeeId:{payee}"}).raise_for_status().json()["items"]
    )
    opened = f"case-{case['caseId']}-{case['caseId']}"
    path = f"/v1/webhooks/{webhook['webhookId']}"

    def delivered() -> list[tuple[str, int]]:
        deliveries = alerts.get(f"{path}/deliveries?limit=100").raise_for_status().json()["items"]
        return [(one["state"], one["status"]) for one in deliveries if one["eventId"] == opened]

    eventually(lambda: delivered() == [("delivered", 204)], "the webhook is told", SECONDS)
    assert receiver.ids[0] == receiver.ids[1], "what was not taken comes again"
    assert receiver.ids.count(opened) == (2 if receiver.ids[0] == opened else 1)
    for _, headers, body in receiver.came:
        signed = signed_headers(
            webhook["secret"], headers["webhook-id"], int(headers["webhook-timestamp"]), body
        )
        assert signed.items() <= headers.items()
    log = KafkaLog(kafka_cluster(stack.file["kafkaAdministrator"]))
    ids = [record.headers["ce_id"] for record in log.read("cases.v1")]
    assert ids.count(opened.encode()) == 1
    of_case = [notice for notice in ids if notice.startswith(f"case-{case['caseId']}-".encode())]
    assert len(of_case) < case["alertCount"]


def a_killed_notifier_goes_on(
    stack: RunningStack, payee: str, receiver: Receiver, webhook: dict[str, Any]
) -> None:
    """What people do with the case meanwhile is told once it is back; a replay tells it all again, by the same ids."""
    with stack.alerts() as alerts:
        cases = (
            alerts.get("/v1/cases", params={"subject": f"payeeId:{payee}"}).raise_for_status().json()["items"]
        )
        path = f"/v1/cases/{cases[0]['caseId']}"
        killed = kill_notifier(stack)
        tag = {"If-Match": alerts.get(path).raise_for_status().headers["ETag"]}
        comment = {"comment": "while nobody told anybody"}
        alerts.post(f"{path}/comment", json=comment, headers=tag).raise_for_status()
    eventually(
        lambda: any(b"while nobody told anybody" in body for _, _, body in receiver.came),
        "it is told",
        SECONDS,
    )
    assert notifiers(stack).isdisjoint(killed)
    before = len(receiver.ids)
    with stack.alerts("ops") as ops:
        replay = {"afterPosition": cases[0]["caseId"] - 1}
        ops.post(f"/v1/webhooks/{webhook['webhookId']}/replay", json=replay).raise_for_status()
    told = {notice for notice in receiver.ids if notice.startswith(f"case-{cases[0]['caseId']}-")}
    assert len(told) >= 2
    eventually(lambda: told <= set(receiver.ids[before:]), "a replay tells it again", SECONDS)


def notifiers(stack: RunningStack) -> set[int]:
    return {process.pid for process in processes(stack.places) if "notifier" in process.cmdline()}


def kill_notifier(stack: RunningStack) -> set[int]:
    """With all that it has started; the supervisor starts another one."""
    victims = [process for process in processes(stack.places) if "notifier" in process.cmdline()]
    assert victims
    for process in victims:
        process.kill()
    return {process.pid for process in victims}


def new_webhook(stack: RunningStack, name: str, port: int) -> dict[str, Any]:
    body = {"name": f"Proof {name}", "url": f"http://127.0.0.1:{port}/"}
    with stack.alerts("ops") as ops:
        answer = ops.post("/v1/webhooks", json=body).raise_for_status()
    made: dict[str, Any] = answer.json()
    return made


def remove(stack: RunningStack, webhook: dict[str, Any]) -> None:
    with stack.alerts("ops") as ops:
        ops.delete(f"/v1/webhooks/{webhook['webhookId']}").raise_for_status()


def alert_of_a_party_is_explained(
    alerts: httpx.Client, alert: dict[str, Any], account: str, folder: Path
) -> None:
    """As one of the side that paid; with its evidence, and in a case about the account."""
    assert (alert["side"], alert["group"]) == ("payer", {"account": account})
    path = f"/v1/alerts/{alert['alertId']}"
    explanation = alerts.get(f"{path}/explanation", timeout=90).raise_for_status().json()
    assert f"for account {account} as payer the number of payments was" in explanation["sentence"]
    page = alerts.get(f"{path}/contributors", params={"limit": 100}, timeout=90).raise_for_status().json()
    assert len(page["items"]) == alert["contributors"]["count"]
    assert {item["transaction"]["payeeId"] for item in page["items"]} == {account}
    evidence_is_drawn_and_checked(alerts, alert, f"account:{account}", folder)


def evidence_is_drawn_and_checked(
    alerts: httpx.Client, alert: dict[str, Any], subject: str, folder: Path
) -> None:
    """Of the alert and of its case, by the command, which has the public key and nothing else."""
    (key,) = alerts.get("/v1/evidence-keys").raise_for_status().json()["items"]
    (folder / "key.pem").write_text(key["publicKey"])
    cases = alerts.get("/v1/cases", params={"subject": subject}).raise_for_status().json()["items"]
    for kind, identity in (("alert", alert["alertId"]), ("case", cases[0]["caseId"])):
        drawn = alerts.post(f"/v1/{kind}s/{identity}/evidence", timeout=150)
        assert drawn.status_code == 200, drawn.text
        bundle = folder / f"{kind}.zip"
        bundle.write_bytes(drawn.content)
        result = CliRunner().invoke(
            main, ["evidence", "verify", str(bundle), "--public-key", str(folder / "key.pem")]
        )
        assert result.exit_code == 0, result.output
        assert f"evidence of {kind} {identity}, drawn by " in result.output
        assert "as its rule and the transactions say." in result.output
    with zipfile.ZipFile(folder / "alert.zip") as archive:
        contributors = json.loads(archive.read("contributors/0.json"))
        assert contributors["listed"] == alert["contributors"]["count"]
        assert json.loads(archive.read("rule.json"))["author"] == "analyst"
    with zipfile.ZipFile(folder / "case.zip") as archive:
        extent = json.loads(archive.read("extent.json"))
        assert extent["alertsWithTransactions"] == min(20, extent["alertsListed"]) > 0
