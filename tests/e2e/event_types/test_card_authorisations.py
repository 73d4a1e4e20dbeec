"""The whole line under the other event type that ships: authorisations through Kafka, alerts compared with the oracle.

Rules of every shape are posted over HTTP, a stream and a recording flow, what is stored is what the oracle says of the
same log, and an alert is taken in hand over the alert API. In `make soak`: `make test` has a line of another type.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.e2e.support.line import Line, applied
from tests.e2e.support.stored_alerts import stored_alerts, stored_names
from tests.e2e.support.verdict import assert_same, read_verdict, taken
from tests.e2e.support.waiting import eventually
from tests.oracle.values.event_types import AUTHORISATIONS, judge_by
from tests.stack import RunningStack
from tripline_contracts import event_type_loader, schemas

pytestmark = [pytest.mark.e2e, pytest.mark.soak]

CARD = event_type_loader.load("card-authorisation")


def measured(by: list[str], function: str, field: str | None, limit: str, seconds: int) -> dict[str, Any]:
    return {
        "groupingKeyNames": by,
        "aggregatorFunctionType": function,
        "aggregateFieldName": field,
        "limitOperatorType": ">",
        "limit": limit,
        "windowSeconds": seconds,
    }


RULES: list[dict[str, Any]] = [
    {"name": "sum of a pair", **measured(["cardId", "merchantId"], "SUM", "amount", "300", 60)},
    {"name": "cards of a device", **measured(["deviceId"], "COUNT_DISTINCT", "cardId", "1", 60)},
    {
        "name": "online at a merchant",
        **measured(["merchantId"], "COUNT", None, "2", 60),
        "filter": {"all": [
            {"field": "entryMode", "operator": "=", "value": "ONLINE"},
            {"field": "merchantCategory", "operator": "!=", "value": "fuel"},
        ]},
        "firing": "crossing",
    },
    {"name": "average of a category", **measured(["merchantCategory"], "AVG", "amount", "40", 90)},
    {"name": "largest by entry mode", **measured(["entryMode"], "MAX", "amount", "200", 30)},
    {"name": "all together", **measured([], "COUNT", None, "30", 5)},
    {
        "name": "much and at many",
        "conditions": {"all": [
            measured(["cardId"], "SUM", "amount", "100", 60),
            measured(["cardId"], "COUNT_DISTINCT", "merchantId", "1", 60),
        ]},
        "cooldownSeconds": 5,
    },
    {"name": "late ones weighed in", **measured(["cardId"], "COUNT", None, "12", 60), "lateEvents": "reevaluate"},
]  # fmt: skip
NAMES = {rule["name"] for rule in RULES}
LIVE = {
    "rate": 20,
    "cards": 4,
    "merchants": 3,
    "lateShare": 0.1,
    "duplicateShare": 0.1,
    "brokenShare": 0.05,
}


@pytest.mark.timeout(600)
def test_alerts_are_the_oracles_and_are_taken_in_hand(
    card_line: RunningStack, record_property: Callable[[str, object], None]
) -> None:
    line = Line(card_line)
    publish(card_line)
    with line.traffic(seed=20, **LIVE):
        replay = line.replay(recording(), speed=20)
        eventually(lambda: replay() == "finished", "the file has been replayed")
        eventually(lambda: stored_names(line.postgres).keys() >= NAMES, "each rule has raised an alert")
    eventually(lambda: taken(line.log), "the engine has judged all authorisations")

    with judge_by(AUTHORISATIONS):
        verdict = read_verdict(line.log)
    verdict.assert_equal()
    expected = verdict.expected.alerts
    eventually(lambda: sum(stored_names(line.postgres).values()) == len(expected), "all alerts are stored")
    assert_same(stored_alerts(line.postgres), expected)
    assert verdict.rejects
    assert any(alert["late"] for alert in expected)
    record_property("told", f"{dict(verdict.shares())}")
    acknowledge(card_line)


def publish(stack: RunningStack) -> None:
    """Posts the rules, and waits until the engine has taken them."""
    with stack.registry() as client:
        assert client.post("/v1/rules", json={**RULES[0], "groupingKeyNames": ["payeeId"]}).status_code == 422
        ids = set()
        for rule in RULES:
            answer = client.post("/v1/rules", json=rule)
            assert answer.status_code == 201, answer.text
            ids.add(int(answer.json()["ruleId"]))
        eventually(lambda: ids <= applied(client), "the rules are applied")


def acknowledge(stack: RunningStack) -> None:
    """One alert of a device, found by its group."""
    with stack.alerts() as client:
        told = client.get("/v1/event-type").json()
        assert (told["name"], told["plural"]) == ("card-authorisation", "authorisations")
        (alert, *_) = client.get("/v1/alerts", params={"group": "deviceId:d1"}).json()["items"]
        assert set(alert["transaction"]) == {field.name for field in CARD.fields}
        schemas.validator("alerts.v1", CARD)(
            {name: alert[name] for name in schemas.load("alerts.v1", CARD)["properties"] if name in alert}
        )
        address = f"/v1/alerts/{alert['alertId']}"
        answer = client.post(f"{address}/acknowledge", json={"comment": "called the cardholder"})
        assert answer.status_code == 200, answer.text
        assert client.get(address).json()["state"] == "acknowledged"
        assert client.get("/v1/alerts", params={"group": "payeeId:1"}).status_code == 422


def recording() -> bytes:
    """Lines 2 s apart in the type's columns, with one that nobody can read."""
    lines = [",".join(CARD.columns)]
    for number in range(60):
        minute, second = divmod(number * 2, 60)
        device, mode = (f"d{number % 2}", "ONLINE") if number % 3 else ("", "CHIP")
        lines.append(
            f"csv-{number},2026-06-01 12:{minute:02}:{second:02},c{number % 4},m{number % 3},{device},"
            f"{'fuel' if number % 3 else 'travel'},{mode},{number * 7 % 60}.{number % 5}"
        )
    lines[20:20] = ["no authorisation at all"]
    return "\n".join(lines).encode()
