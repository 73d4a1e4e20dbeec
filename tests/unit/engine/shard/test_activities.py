"""Kinds of events in one stream, told apart by a field: the rules of docs/event-types.md as they are printed there.

Each is judged over a history that is small enough to do by hand, by engine and oracle alike.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from tests.oracle.judgement.oracle import judge
from tests.oracle.values.event_types import SHIPPED, judge_by
from tests.oracle.values.model import MicroBatch, Record
from tests.unit.engine.support.activities import (
    DAY,
    MINUTE,
    MUCH,
    ROOT,
    RULES,
    SOON,
    TAKEN_OVER,
    TAKEOVER,
    change,
    log_in,
    pays,
)
from tests.unit.engine.support.shard_harness import Engine
from tripline_contracts import event_type_loader, schemas
from tripline_contracts.rules import rule_definition

ACTIVITY = event_type_loader.load("activity")
T = 1_763_640_000_000


def raised(rule: Mapping[str, Any], history: list[dict[str, Any]], shards: int = 1) -> list[dict[str, Any]]:
    """The alerts, by engine and oracle alike; the first activity is named 0; times are in ms from `T` on."""
    definition = rule_definition.parse({k: v for k, v in rule.items() if k != "name"}, ACTIVITY)
    event = {
        "eventId": "00000000-0000-4000-8000-000000000001", "type": "RulePublished", "position": 1, "occurredAt": T,
        "actor": "ada", "widestWindows": [], "ruleId": 1, "version": 1, "definitionVersion": 1, "state": "ACTIVE",
        "name": rule["name"], "definition": definition.to_json(), "definitionHash": definition.hash, "effectiveFrom": 0,
    }  # fmt: skip
    schemas.validator("rules.v1", ACTIVITY)(event)
    batches = [MicroBatch((json.dumps(event).encode(),), (), ())]
    check, clock = schemas.validator("transactions.v1", ACTIVITY), T
    for number, activity in enumerate(history):
        value = {"activityId": str(number), **activity, "happenedAt": T + round(activity["happenedAt"])}
        check(value)
        clock = max(clock, value["happenedAt"])
        records = (Record(0, number, clock, json.dumps(value).encode()),)
        batches.append(MicroBatch((), (b'{"clock":%d}' % clock,), records))
    engine = Engine(shards=shards, event_type=ACTIVITY)
    engine.run(batches)
    assert engine.rejects() == []
    with judge_by(SHIPPED["activity"]):
        expected = judge(batches)
    alerts = engine.alerts()
    assert sorted(json.dumps(alert, sort_keys=True) for alert in alerts) == sorted(
        json.dumps(alert, sort_keys=True) for alert in expected.alerts
    )
    check = schemas.validator("alerts.v1", ACTIVITY)
    for alert in alerts:
        check({**alert, "detectedAt": T})
    return alerts


def ids(alerts: list[dict[str, Any]]) -> list[str]:
    return [alert["transaction"]["activityId"] for alert in alerts]


def test_the_document_prints_these_and_the_first_is_the_seeded_one() -> None:
    assert list(RULES) == [TAKEOVER, SOON, MUCH]
    seeded = json.loads((ROOT / "demo/src/tripline_demo/seed/activity.json").read_text(encoding="utf-8"))
    (same,) = [rule for rule in seeded if rule["name"] == TAKEOVER]
    read = [
        rule_definition.parse({name: value for name, value in rule.items() if name != "name"}, ACTIVITY)
        for rule in (same, RULES[TAKEOVER])
    ]
    assert read[0].hash == read[1].hash


@pytest.mark.parametrize("shards", [1, 3])
def test_a_password_change_then_a_payment_to_somebody_new_within_an_hour(shards: int) -> None:
    first, second = raised(RULES[TAKEOVER], TAKEN_OVER, shards)
    assert ids([first, second]) == ["5", "10"]
    assert first["group"] == {"accountId": "ann", "beneficiaryId": "shop"}
    changed, paid = first["conditions"]
    assert [one["transactionId"] for one in changed["contributors"]["transactions"]] == ["3"]
    assert (changed["value"], paid["value"], paid["contributors"]["count"]) == ("1", "0", 0)
    assert first["transaction"]["logInResult"] is None


def test_the_change_comes_first_by_event_time() -> None:
    at_once = [change("ann", MINUTE), pays("ann", MINUTE, "mule")]
    assert ids(raised(RULES[TAKEOVER], at_once)) == ["1"]
    assert ids(raised(RULES[TAKEOVER], at_once[::-1])) == []
    # one that comes in late is not in the window of what was judged before, but in that of what comes after
    late = [pays("ann", 2 * MINUTE, "mule"), change("ann", MINUTE), pays("ann", 3 * MINUTE, "mule two")]
    assert ids(raised(RULES[TAKEOVER], late)) == ["2"]


def test_a_payment_to_somebody_new_within_a_minute_of_a_log_in() -> None:
    history = [
        pays("ann", 0, "rent"),
        log_in("ann", DAY),
        log_in("ann", DAY + 1000, "FAILED"),
        pays("ann", DAY + 50_000, "rent"),
        pays("ann", DAY + 59_999, "shop"),  # 4: 59.999 s after the log-in that passed
        pays("ann", DAY + 60_000, "mule"),  # 5: 60 s after it
        pays("bob", DAY + 60_000, "mule"),
    ]
    (alert,) = raised(RULES[SOON], history)
    assert ids([alert]) == ["4"]
    assert [condition["value"] for condition in alert["conditions"]] == ["59.999", "0"]


def test_three_times_the_usual_within_an_hour_of_a_password_change() -> None:
    usual = [pays("ann", n * DAY, "rent", amount) for n, amount in enumerate(("10", "20", "31"))]
    history = [
        *usual,
        pays("ann", 4 * DAY, "shop", "61"),  # 3: much, but no change before it
        change("ann", 5 * DAY),
        pays("ann", 5 * DAY + MINUTE, "shop", "91.5"),  # 5: three times 30.5, no more
        pays("ann", 5 * DAY + 2 * MINUTE, "shop", "0.01"),  # 6: together more
    ]
    (alert,) = raised(RULES[MUCH], history)
    assert ids([alert]) == ["6"]
    _, much = alert["conditions"]
    assert (much["value"], much["limit"], much["limitMeasure"]["value"]) == ("91.51", "91.5", "30.5")
    # with fewer than three payments before nothing is usual
    assert raised(RULES[MUCH], history[1:3] + history[4:]) == []
