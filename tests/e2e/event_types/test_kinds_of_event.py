"""The whole line under several kinds of event in one stream: log-ins, changes of a profile and payments through Kafka.

The rules of docs/event-types.md and two more are posted over HTTP; a stream flows, then a recording with what trips the
first rule and what just does not. What is stored is what the oracle says of the same log, and what tripped is a case.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.e2e.support.line import Line, applied
from tests.e2e.support.stored_alerts import stored_alerts, stored_names
from tests.e2e.support.verdict import assert_same, read_verdict, taken
from tests.e2e.support.waiting import eventually
from tests.oracle.values.event_types import ACTIVITIES, judge_by
from tests.stack import RunningStack
from tests.unit.engine.support.activities import RULES, TAKEN_OVER, TAKEOVER
from tripline_contracts import event_type_loader, schemas

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

ACTIVITY = event_type_loader.load("activity")
BESIDE: list[dict[str, Any]] = [
    {
        "name": "log-ins from an address of a network",
        "groupingKeyNames": ["ipAddress"],
        "aggregatorFunctionType": "COUNT",
        "limitOperatorType": ">",
        "limit": "2",
        "windowSeconds": 60,
        "filter": {"all": [
            {"field": "logInResult", "operator": "=", "value": "PASSED"},
            {"field": "ipAddress", "inNetwork": ["198.18.0.0/15"]},
        ]},
        "firing": "crossing",
    },
    {
        "name": "kinds of an account",
        "groupingKeyNames": ["accountId"],
        "aggregatorFunctionType": "COUNT_DISTINCT",
        "aggregateFieldName": "kind",
        "limitOperatorType": ">=",
        "limit": "2",
        "windowSeconds": 20,
        "lateEvents": "reevaluate",
    },
]  # fmt: skip
LIVE = {
    "rate": 20,
    "accounts": 4,
    "beneficiaries": 3,
    "lateShare": 0.1,
    "duplicateShare": 0.1,
    "brokenShare": 0.05,
}
AS_RECORDED = [
    {**activity, "activityId": f"recorded-{number}", "happenedAt": 1_763_640_000_000 + activity["happenedAt"]}
    for number, activity in enumerate(TAKEN_OVER)
]
TRIPPING = {"recorded-5", "recorded-10"}


@pytest.mark.timeout(600)
def test_alerts_are_the_oracles_and_near_misses_raise_none(
    activity_line: RunningStack, record_property: Callable[[str, object], None]
) -> None:
    line = Line(activity_line)
    rules = publish(activity_line)
    with line.traffic(seed=20, **LIVE):
        beside = {rule["name"] for rule in BESIDE}
        eventually(lambda: stored_names(line.postgres).keys() >= beside, "each of these has raised an alert")
    recording = "\n".join(map(json.dumps, AS_RECORDED)).encode()
    said = line.reception(recording, "application/x-ndjson")
    assert said == {"taken": len(AS_RECORDED), "known": 0, "refused": [], "waiting": 0, "unheard": None}
    eventually(lambda: taken(line.log), "the engine has judged all activities")

    with judge_by(ACTIVITIES):
        verdict = read_verdict(line.log)
    verdict.assert_equal()
    expected = verdict.expected.alerts
    eventually(lambda: sum(stored_names(line.postgres).values()) == len(expected), "all alerts are stored")
    assert_same(stored_alerts(line.postgres), expected)
    assert verdict.rejects
    assert any(alert["late"] for alert in expected)
    record_property("told", f"{dict(verdict.shares())}")
    look_at_what_was_taken_over(activity_line)
    with activity_line.registry() as client:
        for rule_id in rules:
            client.delete(f"/v1/rules/{rule_id}", headers={"If-Match": "*"}).raise_for_status()


def publish(stack: RunningStack) -> set[int]:
    """Posts the rules, and waits until the engine has taken them; their ids."""
    with stack.registry() as client:
        wrong = {**BESIDE[0], "groupingKeyNames": ["cardId"]}
        assert client.post("/v1/rules", json=wrong).status_code == 422
        ids = set()
        for rule in [*RULES.values(), *BESIDE]:
            answer = client.post("/v1/rules", json=rule)
            assert answer.status_code == 201, answer.text
            ids.add(int(answer.json()["ruleId"]))
        eventually(lambda: ids <= applied(client), "the rules are applied")
    return ids


def look_at_what_was_taken_over(stack: RunningStack) -> None:
    """Of the recording only two raised an alert of that rule; both are one case of the account."""
    with stack.alerts() as client:
        told = client.get("/v1/event-type").json()
        assert (told["name"], told["plural"]) == ("activity", "activities")
        listed = client.get("/v1/alerts", params={"group": "accountId:ann"}).json()["items"]
        items = [alert for alert in listed if alert["ruleName"] == TAKEOVER]
        assert {alert["transaction"]["activityId"] for alert in items} == TRIPPING
        check = schemas.validator("alerts.v1", ACTIVITY)
        members = schemas.load("alerts.v1", ACTIVITY)["properties"]
        for alert in items:
            check({name: alert[name] for name in members if name in alert})
        (case,) = client.get("/v1/cases", params={"subject": "accountId:ann"}).json()["items"]
        assert {alert["caseId"] for alert in items} == {case["caseId"]}
        assert TAKEOVER in [rule["ruleName"] for rule in case["rules"]]
        assert client.get("/v1/alerts", params={"group": "cardId:1"}).status_code == 422
