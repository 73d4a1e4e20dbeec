"""Snoozes over HTTP: requests, approvals by a second person, ends, listings and refusals."""

from __future__ import annotations

from typing import Any

import pytest
from flask.testing import FlaskClient

from alert_api.api.snoozes.instants import ms_of
from tests.unit.alert_api.support import samples
from tests.unit.alert_api.support.case_app import case_app
from tests.unit.alert_api.support.fake_cases import FakeCases
from tests.unit.alert_api.support.fake_snoozes import FakeSnoozes
from tripline_http.problems import URN

ADA, ADA_KEY = samples.key("ada", "alerts:read", "alerts:ack")
EVE, EVE_KEY = samples.key("eve", "alerts:read", "rules:approve", "alerts:ack")
VIEWER, VIEWER_KEY = samples.key("viewer", "alerts:read")
NOW = 1_790_000_000_000  # 2026-09-21T14:13:20Z
UNTIL = "2026-09-21T18:00:00+02:00"
EXPIRES_AT = 1_790_006_400_000
BODY: dict[str, Any] = {"ruleId": 7, "until": UNTIL, "reason": "a test of the branch"}


@pytest.fixture
def snoozes() -> FakeSnoozes:
    return FakeSnoozes()


@pytest.fixture
def client(snoozes: FakeSnoozes) -> FlaskClient:
    return case_app(FakeCases(), (ADA, EVE, VIEWER), NOW, snoozes=snoozes).test_client()


def asked(client: FlaskClient, **members: Any) -> dict[str, Any]:
    answer = client.post("/v1/snoozes", json={**BODY, **members}, headers=ADA_KEY)
    assert answer.status_code == 202, answer.text
    snooze: dict[str, Any] = answer.get_json()
    return snooze


def step(client: FlaskClient, snooze: dict[str, Any], what: str, key: Any = EVE_KEY, **headers: str) -> Any:
    body = {"reason": "looked at it"}
    if what == "approve":
        body["contentHash"] = snooze["contentHash"]
    seen = {**key, "If-Match": f'"{snooze["version"]}"', **headers}
    return client.post(f"/v1/snoozes/{snooze['snoozeId']}/{what}", json=body, headers=seen)


def test_a_request_waits_for_a_second_person(client: FlaskClient, snoozes: FakeSnoozes) -> None:
    snooze = asked(client)
    snoozes.alerts[snooze["snoozeId"]] = 120
    assert snooze == {
        "snoozeId": 10,
        "version": 1,
        "state": "requested",
        "ruleId": 7,
        "subject": None,
        "group": None,
        "ruleName": "Large sums",
        "until": UNTIL,
        "expiresAt": EXPIRES_AT,
        "reason": "a test of the branch",
        "fourEyes": True,
        "contentHash": snooze["contentHash"],
        "requestedBy": "ada",
        "requestedAt": NOW,
        "decision": None,
        "ended": None,
        "alertCount": 0,
        "firstEventTime": None,
        "lastEventTime": None,
    }
    answer = step(client, snooze, "approve")
    assert (answer.status_code, answer.headers["ETag"]) == (200, '"2"')
    approved = answer.get_json()
    assert approved["state"] == "in_force"
    assert approved["decision"] == {
        "type": "approved",
        "actor": "eve",
        "occurredAt": NOW,
        "reason": "looked at it",
    }
    ended = step(client, approved, "end", ADA_KEY).get_json()
    assert (ended["state"], ended["version"], ended["alertCount"]) == ("ended", 3, 120)
    assert ended["ended"] == {"actor": "ada", "occurredAt": NOW, "reason": "looked at it"}


def test_without_four_eyes_it_is_in_force_at_once() -> None:
    snoozes = FakeSnoozes(four_eyes=False)
    client = case_app(FakeCases(), (ADA,), NOW, snoozes=snoozes).test_client()
    answer = client.post("/v1/snoozes", json=BODY, headers=ADA_KEY)
    assert (answer.status_code, answer.headers["ETag"]) == (201, '"1"')
    assert answer.get_json()["state"] == "in_force"
    snoozes.alerts[answer.get_json()["snoozeId"]] = 120
    told = client.get("/metrics").text
    assert 'tripline_snoozes{state="in_force"} 1.0' in told
    assert "tripline_snoozed_alerts 120.0" in told
    summary = client.get("/v1/snoozes/summary", headers=ADA_KEY).get_json()
    assert summary == {"fourEyes": False, "requested": 0, "inForce": 1, "suppressedAlerts": 120}


def test_who_asked_cannot_decide(client: FlaskClient) -> None:
    answer = client.post("/v1/snoozes", json=BODY, headers=EVE_KEY)
    for what in ("approve", "reject"):
        refused = step(client, answer.get_json(), what)
        assert (refused.status_code, refused.get_json()["type"]) == (403, f"{URN}second-person-needed")
    assert "Eve asked for snooze 10" in refused.get_json()["detail"]


def test_an_approval_is_of_what_was_seen(client: FlaskClient) -> None:
    snooze = asked(client)
    refused = step(client, {**snooze, "contentHash": "0" * 64}, "approve")
    assert (refused.status_code, refused.get_json()["type"]) == (409, f"{URN}another-content")
    refused = step(client, {**snooze, "version": 2}, "approve")
    assert (refused.status_code, refused.headers["ETag"]) == (412, '"1"')
    rejected = step(client, snooze, "reject").get_json()
    assert (rejected["state"], rejected["decision"]["type"]) == ("rejected", "rejected")
    refused = step(client, rejected, "approve")
    assert (refused.status_code, refused.get_json()["state"]) == (409, "rejected")


@pytest.mark.parametrize(("what", "scope"), [("approve", "ada"), ("reject", "ada"), ("end", "viewer")])
def test_the_scope_decides_who_may(client: FlaskClient, what: str, scope: str) -> None:
    snooze = asked(client)
    key = {"ada": ADA_KEY, "viewer": VIEWER_KEY}[scope]
    assert step(client, snooze, what, key).status_code == 403


def test_a_key_is_for_one_request(client: FlaskClient, snoozes: FakeSnoozes) -> None:
    once = {**ADA_KEY, "Idempotency-Key": "k"}
    first, second = (client.post("/v1/snoozes", json=BODY, headers=once) for _ in range(2))
    assert first.get_json() == second.get_json()
    assert len(snoozes.snoozes) == 1
    other = client.post("/v1/snoozes", json={**BODY, "ruleId": 8}, headers=once)
    assert (other.status_code, other.get_json()["type"]) == (422, f"{URN}idempotency-key-reused")
    for _ in range(2):
        answer = step(client, first.get_json(), "approve", **{"Idempotency-Key": "k"})
        assert (answer.status_code, answer.get_json()["version"]) == (200, 2)


@pytest.mark.parametrize(
    ("changes", "field", "told"),
    [
        ({"until": "2026-09-21T18:00:00"}, "until", "RFC 3339 with an offset"),
        ({"until": "2026-02-30T18:00:00Z"}, "until", "RFC 3339 with an offset"),
        ({"until": "2026-09-21T14:13:20Z"}, "until", "a time that has not passed"),
        ({"until": "2027-09-21T14:13:20Z"}, "until", "within 90 days from now"),
        ({"until": 5}, "until", "Not a valid string"),
        ({"until": None}, "until", "may not be null"),
        ({"reason": ""}, "reason", "Length must be between"),
        ({"reason": "left\u202eright"}, "reason", "U+202E"),
        ({"ruleId": "7"}, "ruleId", "expected an integer"),
        ({"ruleId": None}, "ruleId", "may not be null"),
        ({"subject": {"field": "amount", "value": "5"}}, "subject.field", "Must be one of"),
        ({"subject": {"field": "payeeId"}}, "subject.value", "Missing data"),
        ({"group": {}}, "group", "one field or several"),
        ({"group": {"nonsense": "5"}}, "group.nonsense.key", "Must be one of"),
        ({"more": 1}, "more", "Unknown field"),
    ],
)
def test_a_request_that_cannot_be_is_refused_by_its_member(
    client: FlaskClient, changes: dict[str, Any], field: str, told: str
) -> None:
    answer = client.post("/v1/snoozes", json={**BODY, **changes}, headers=ADA_KEY)
    assert answer.status_code == 422
    [error] = answer.get_json()["errors"]
    assert error["field"] == field
    assert told in error["message"]


def test_a_snooze_of_everything_is_refused(client: FlaskClient) -> None:
    answer = client.post("/v1/snoozes", json={"until": UNTIL, "reason": "quiet"}, headers=ADA_KEY)
    assert answer.status_code == 422
    assert "expected ruleId, subject or group" in answer.text


def test_all_three_together(client: FlaskClient) -> None:
    group = {"payeeId": "25", "beneficiaryId": "7"}
    subject = {"field": "payeeId", "value": "25"}
    snooze = asked(client, subject=subject, group=group)
    assert (snooze["ruleId"], snooze["subject"], snooze["group"]) == (7, subject, group)


def test_they_are_listed_page_by_page_and_by_state(client: FlaskClient) -> None:
    first, second, third = (asked(client, ruleId=number) for number in (1, 2, 3))
    step(client, second, "approve")

    def ids(path: str) -> list[int]:
        items = client.get(path, headers=VIEWER_KEY).get_json()["items"]
        return [item["snoozeId"] for item in items]

    assert ids("/v1/snoozes?state=requested") == [third["snoozeId"], first["snoozeId"]]
    assert ids("/v1/snoozes?state=in_force") == [second["snoozeId"]]
    answer = client.get("/v1/snoozes?limit=2", headers=VIEWER_KEY)
    following = answer.headers["Link"].partition("<")[2].partition(">")[0]
    assert ids(following) == [first["snoozeId"]]
    assert client.get(f"{following}&state=ended", headers=VIEWER_KEY).status_code == 400
    assert client.get("/v1/snoozes/4711", headers=VIEWER_KEY).status_code == 404


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (UNTIL, EXPIRES_AT),
        ("2026-09-21T16:00:00Z", EXPIRES_AT),
        ("2026-09-21T16:00:00.0159Z", EXPIRES_AT + 15),
        ("1970-01-01T00:00:00.5Z", 500),
        ("2026-09-21T16:00:00-00:00", EXPIRES_AT),
        ("2026-09-21T16:00:00", None),
        ("2026-09-21 16:00:00Z", None),
        ("2026-09-21T16:00Z", None),
        ("2026-09-21T16:00:00Z\n", None),
        ("2026-09-21T16:00:00+24:00", None),
        ("2026-13-21T16:00:00Z", None),
        ("0000-01-01T16:00:00Z", None),
        ("٢026-09-21T16:00:00Z", None),
        ("9999-12-31T23:59:59-23:59", 253_402_387_139_000),
    ],
)
def test_instants(text: str, expected: int | None) -> None:
    assert ms_of(text) == expected
