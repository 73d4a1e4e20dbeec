"""Why a rule did not alert: every reason over HTTP, from the real line's prover, Kafka, archive and snoozes."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest
from confluent_kafka import Producer

from tests.browser.traffic import SECONDS, alerts_of, is_applied, published_rule
from tests.stack import RunningStack, eventually
from tripline_contracts.kafka.cluster import kafka_cluster

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(400)]

PAYEE: Final = f"why-{time.time_ns()}"
MONTH: Final = 30 * 86_400
HOUR_MS: Final = 3_600_000
MINE: Final = {"field": "payeeId", "operator": "=", "value": PAYEE}
ANY: Final[dict[str, Any]] = {
    "groupingKeyNames": ["payeeId"],
    "aggregatorFunctionType": "COUNT",
    "limitOperatorType": ">=",
    "limit": "1",
    "windowSeconds": MONTH,
    "filter": MINE,
}
"""Alerts at every payment of the one payer."""
CARDS: Final = {"all": [MINE, {"field": "paymentType", "operator": "=", "value": "CRD"}]}
RULES: Final[dict[str, dict[str, Any]]] = {
    "any": ANY,
    "third": {**ANY, "limit": "3"},
    "cooldown": {**ANY, "cooldownSeconds": 300},
    "crossing": {**ANY, "firing": "crossing"},
    "stores late ones": {**ANY, "lateEvents": "store"},
    "cards": {**ANY, "filter": CARDS},
    "by beneficiary": {**ANY, "groupingKeyNames": ["beneficiaryId"]},
    "paused": ANY,
    "snoozed": ANY,
    "later": ANY,
}


class History:
    """Payments of the one payer, produced and awaited; event times count from the first one's."""

    def __init__(self, stack: RunningStack, rules: dict[str, int]) -> None:
        self.stack, self.rules, self.begin = stack, rules, time.time_ns() // 1_000_000

    def send(self, *payments: dict[str, Any]) -> None:
        """And waits until the last one of them has been judged, by the alert that it gives."""
        cluster = kafka_cluster(self.stack.file["kafkaAdministrator"])
        producer = Producer({**cluster.client_config(), "enable.idempotence": False, "log_level": 3})
        for one in payments:
            producer.produce("transactions.v1", json.dumps(one).encode(), partition=0)
        assert producer.flush(SECONDS) == 0
        last = payments[-1]["transactionId"]
        eventually(lambda: last in self.alerted(), f"{last} is judged", SECONDS)

    def alerted(self) -> set[str]:
        alerts = alerts_of(self.stack, self.rules["any"], PAYEE)
        return {alert["transaction"]["transactionId"] for alert in alerts}

    def payment(self, name: str, after_ms: int, **members: Any) -> dict[str, Any]:
        return {
            "transactionId": f"{PAYEE}-{name}", "eventTime": self.begin + after_ms, "payeeId": PAYEE,
            "beneficiaryId": f"{PAYEE}-shop", "paymentAmount": "1.50", "paymentType": "CSH", **members,
        }  # fmt: skip

    def judgement(self, name: str, event_time: int) -> dict[str, Any]:
        """What the alert API says of it, its rules by their names here."""
        path = f"/v1/transactions/{PAYEE}-{name}/judgement"
        with self.stack.alerts("viewer") as alerts:
            answer = alerts.get(path, params={"eventTime": event_time}, timeout=90)
        said: dict[str, Any] = answer.raise_for_status().json()
        by_id = {rule["ruleId"]: rule for rule in said["rules"]}
        return {**said, "rules": {name: by_id[rule_id] for name, rule_id in self.rules.items()}}

    def reasons(self, name: str, after_ms: int) -> dict[str, str]:
        rules = self.judgement(name, self.begin + after_ms)["rules"]
        return {name: rule["reason"] for name, rule in rules.items()}


@pytest.fixture(scope="module")
def rules(running_stack: RunningStack) -> Iterator[dict[str, int]]:
    """All of them applied, one paused, one snoozed, one that begins in an hour; deleted at the end."""
    with ExitStack() as kept, running_stack.registry() as registry, running_stack.alerts() as alerts:
        made = {}
        for name, body in RULES.items():
            begins = {"effectiveFrom": time.time_ns() // 1_000_000 + HOUR_MS} if name == "later" else {}
            made[name] = kept.enter_context(
                published_rule(running_stack, {**body, **begins, "name": f"Why not: {name}"})
            )
        path = f"/v1/rules/{made['paused']['ruleId']}/pause"
        last = registry.post(path, headers={"If-Match": "*"}).raise_for_status().json()
        until = (datetime.now(UTC) + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
        snooze = {"ruleId": made["snoozed"]["ruleId"], "until": until, "reason": "to be asked about"}
        made_snooze = alerts.post("/v1/snoozes", json=snooze).raise_for_status().json()
        # events are applied in their order: the pause is the last one
        eventually(lambda: is_applied(running_stack, last), "the pause is applied", SECONDS)
        yield {name: rule["ruleId"] for name, rule in made.items()}
        # others count the snoozes in force
        path, over = f"/v1/snoozes/{made_snooze['snoozeId']}/end", {"reason": "it was asked about"}
        alerts.post(path, json=over, headers={"If-Match": "*"}).raise_for_status()


@pytest.fixture(scope="module")
def history(running_stack: RunningStack, rules: dict[str, int]) -> History:
    """Three in order; then one that is late in its group, one too late, a repeated id, one without beneficiary."""
    made = History(running_stack, rules)
    for number in (1, 2, 3):
        # one after the other: each in a micro-batch of its own
        made.send(made.payment(f"{number}", 1000 * number))
    made.send(
        made.payment("late", 2500),
        made.payment("ancient", -HOUR_MS),
        made.payment("1", 3500),
        made.payment("null", 4000, beneficiaryId=None),
    )
    return made


def test_rules_that_alert_and_rules_whose_limit_is_not_reached(history: History) -> None:
    assert history.reasons("1", 1000) == {
        "any": "alerted", "third": "limit", "cooldown": "alerted", "crossing": "alerted",
        "stores late ones": "alerted", "cards": "filtered", "by beneficiary": "alerted", "paused": "paused",
        "snoozed": "snoozed", "later": "not_in_force",
    }  # fmt: skip
    rules = history.judgement("1", history.begin + 1000)["rules"]
    third, snoozed = rules["third"], rules["snoozed"]
    assert (third["value"], third["operator"], third["limit"], third["count"]) == ("1", ">=", "3", 1)
    # the line is younger than the window of a month
    assert (third["warm"], third["group"], third["alertId"]) == (False, {"payeeId": PAYEE}, None)
    assert snoozed["alertId"] is not None
    assert snoozed["snoozeId"] is not None
    assert history.reasons("3", 3000)["third"] == "alerted"


def test_rules_that_hold_and_are_silent(history: History) -> None:
    said = history.reasons("2", 2000)
    assert (said["any"], said["cooldown"], said["crossing"]) == ("alerted", "cooldown", "held_before")


def test_a_payment_that_came_late_and_one_without_beneficiary(history: History) -> None:
    late = history.judgement("late", history.begin + 2500)["rules"]
    assert (late["any"]["reason"], late["stores late ones"]["reason"]) == ("alerted", "late")
    assert late["any"]["late"] is True
    said = history.reasons("null", 4000)
    assert (said["any"], said["by beneficiary"]) == ("alerted", "null_field")


def test_a_repeated_id_and_a_rejected_payment(history: History) -> None:
    assert set(history.reasons("1", 3500).values()) == {"duplicate", "filtered", "paused", "not_in_force"}
    assert history.reasons("1", 3500)["any"] == "duplicate"
    ancient = history.judgement("ancient", history.begin - HOUR_MS)
    assert ancient["rejected"]["reason"] == "too_late"
    assert "is over 600 s before record time" in ancient["rejected"]["detail"]
    assert {rule["reason"] for rule in ancient["rules"].values()} == {"rejected"}
