"""Alerts of the real line are proven and explained, and silence too: by the prover, from Kafka and the archive."""

from __future__ import annotations

import pytest

from tests.browser.traffic import SECONDS, alerts_of, definition, is_applied
from tests.stack import RunningStack, eventually

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(300)]

NAME = "Proof: many payments by one payer"
LIMIT = 20


def test_alerts_of_a_fraud_are_proven_and_explained(running_stack: RunningStack) -> None:
    with running_stack.registry() as registry:
        made = registry.post("/v1/rules", json=definition(NAME, limit=LIMIT)).raise_for_status().json()
        rule_id = made["ruleId"]
        eventually(lambda: is_applied(running_stack, made), "the rule is applied", SECONDS)
        with running_stack.generator() as generator:
            played = generator.post("/v1/scenarios/card-testing/plays").raise_for_status().json()
        payee, wanted = played["payeeId"], played["transactions"] - LIMIT
        eventually(lambda: len(alerts_of(running_stack, rule_id, payee)) == wanted, "its alerts", SECONDS)
        tag = registry.get(f"/v1/rules/{rule_id}").raise_for_status().headers["ETag"]
        registry.delete(f"/v1/rules/{rule_id}", headers={"If-Match": tag}).raise_for_status()
    raised = alerts_of(running_stack, rule_id, payee)
    with running_stack.alerts() as alerts:
        for alert in (raised[0], raised[-1]):
            said = alerts.post(f"/v1/alerts/{alert['alertId']}/verification", timeout=90)
            assert said.status_code == 200, said.text
            verification = said.json()
            assert verification["outcome"] == "match", verification["differences"]
            assert verification["read"]["selected"] >= alert["contributors"]["count"]
        newest = max(raised, key=lambda alert: alert["contributors"]["count"])
        path = f"/v1/alerts/{newest['alertId']}"
        explanation = alerts.get(f"{path}/explanation", timeout=90).raise_for_status().json()
        assert f"Rule “{NAME}” (version 1)" in explanation["sentence"]
        assert explanation["rule"]["publishedBy"] == "analyst"
        assert explanation["rule"]["changedSince"] == "The rule is deleted."
        page = alerts.get(f"{path}/contributors", params={"limit": 100}, timeout=90).raise_for_status().json()
        assert len(page["items"]) == newest["contributors"]["count"] == played["transactions"]
        assert {item["transaction"]["payeeId"] for item in page["items"]} == {payee}
        # the first ones of the fraud did not trip it
        first = page["items"][-1]
        query = {"eventTime": first["eventTime"]}
        path = f"/v1/transactions/{first['transactionId']}/judgement"
        said = alerts.get(path, params=query, timeout=90).raise_for_status().json()
        (rule,) = [rule for rule in said["rules"] if rule["ruleId"] == rule_id]
        assert (rule["reason"], rule["value"], rule["limit"]) == ("limit", "1", str(LIMIT))
