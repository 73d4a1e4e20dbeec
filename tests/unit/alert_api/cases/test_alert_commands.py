"""Work on a single alert: it is work on the alert's case, and says so."""

from __future__ import annotations

from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.unit.alert_api.support import samples
from tests.unit.alert_api.support.case_app import case_app
from tests.unit.alert_api.support.case_log import facts
from tests.unit.alert_api.support.fake_cases import FakeCases
from tests.unit.alert_api.support.samples import FakeAlerts, alert_id

ADA, ADA_KEY = samples.key("ada", "alerts:read", "alerts:ack")
EVE, EVE_KEY = samples.key("eve", "alerts:read")
ACTIONS = ("claim", "assign", "resolve", "reopen", "comment")


@pytest.fixture
def cases() -> FakeCases:
    return FakeCases(facts(1, 100), facts(2, 160, rule_id=2))


@pytest.fixture
def client(cases: FakeCases) -> FlaskClient:
    alerts = FakeAlerts(1, 2)
    alerts.case_ids[alert_id(1)] = 1
    return case_app(cases, (ADA, EVE), 7_000, alerts=alerts).test_client()


def path(number: int, action: str) -> str:
    return f"/v1/alerts/{alert_id(number)}/{action}"


def test_what_is_done_with_an_alert_is_done_with_its_case(client: FlaskClient, cases: FakeCases) -> None:
    steps: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
        ("claim", {}, {"state": "assigned", "assignee": "ada"}),
        ("assign", {"assignee": "bob"}, {"assignee": "bob"}),
        ("comment", {"comment": "a ring"}, {"state": "assigned"}),
        ("resolve", {"outcome": "confirmed_fraud"}, {"state": "resolved", "outcome": "confirmed_fraud"}),
        ("reopen", {}, {"state": "reopened", "outcome": None}),
    ]
    assert client.get(f"/v1/alerts/{alert_id(1)}", headers=EVE_KEY).get_json()["caseId"] == 1
    for version, (action, body, expected) in enumerate(steps, start=1):
        headers = {**ADA_KEY, "If-Match": f'"{version}"', "X-Request-Id": f"r{version}"}
        answer = client.post(path(1, action), json=body, headers=headers)
        assert answer.status_code == 200, answer.text
        assert answer.headers["ETag"] == f'"{version + 1}"'
        told = answer.get_json()
        assert (told["caseId"], told["alertCount"]) == (1, 2)
        assert {name: told[name] for name in expected} == expected
    assert client.get("/v1/cases/1", headers=EVE_KEY).get_json()["state"] == "reopened"
    assert [origin.request_id for _, origin in cases.done] == [f"r{version}" for version in range(1, 6)]


def test_only_what_was_seen_is_changed_and_with_a_key_once(client: FlaskClient, cases: FakeCases) -> None:
    assert client.post(path(1, "claim"), json={}, headers=ADA_KEY).status_code == 428
    assert client.post(path(1, "claim"), json={}, headers={**ADA_KEY, "If-Match": '"9"'}).status_code == 412
    once = {**ADA_KEY, "If-Match": '"1"', "Idempotency-Key": "k"}
    for _ in range(2):
        assert client.post(path(1, "comment"), json={"comment": "once"}, headers=once).status_code == 200
    assert len(cases.done) == 1


@pytest.mark.parametrize("action", ACTIONS)
def test_an_alert_in_no_case_one_that_is_not_there_and_who_may_only_read(
    client: FlaskClient, action: str
) -> None:
    bodies: dict[str, dict[str, str]] = {
        "assign": {"assignee": "bob"},
        "resolve": {"outcome": "inconclusive"},
        "comment": {"comment": "x"},
    }
    body, seen = bodies.get(action, {}), {"If-Match": "*"}
    in_none = client.post(path(2, action), json=body, headers={**ADA_KEY, **seen})
    assert (in_none.status_code, in_none.get_json()["type"]) == (409, "urn:tripline:problem:alert-in-no-case")
    assert client.post(path(3, action), json=body, headers={**ADA_KEY, **seen}).status_code == 404
    assert client.post(path(1, action), json=body, headers={**EVE_KEY, **seen}).status_code == 403
