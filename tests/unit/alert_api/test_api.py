"""The API over alerts in memory: keys, problems, filters as they reach the store."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from flask.testing import FlaskClient

from alert_api.domain.events import AlertAcknowledged, AlertVoided
from alert_api.errors import StoreUnavailable
from alert_api.service.alert_queries import AlertFilter
from tests.unit.alert_api.support.samples import (
    EPOCH,
    FakeAlerts,
    alert,
    alert_id,
    app,
    command_id,
    key,
    voiding,
)

ADA, AS_ADA = key("ada", "alerts:read", "alerts:ack")
BOB, AS_BOB = key("bob", "alerts:read", "alerts:ack")
VIEWER, AS_VIEWER = key("viewer", "alerts:read")
CLERK, AS_CLERK = key("clerk", "rules:read")


@pytest.fixture
def alerts() -> FakeAlerts:
    return FakeAlerts(1, 2, 3)


@pytest.fixture
def client(alerts: FakeAlerts) -> FlaskClient:
    return app(alerts=alerts, keys=(ADA, BOB, VIEWER, CLERK), clock=5000).test_client()


def problem(response: Any, status: int) -> dict[str, Any]:
    assert response.status_code == status, response.text
    assert response.content_type == "application/problem+json"
    body: dict[str, Any] = response.get_json()
    assert body["status"] == status
    return body


def test_items_are_the_alerts_with_who_has_them_in_hand(client: FlaskClient) -> None:
    items = client.get("/v1/alerts?limit=1", headers=AS_VIEWER).get_json()["items"]
    nobody = {"state": "open", "acknowledgedBy": None, "acknowledgedAt": None, "acknowledgementComment": None}
    assert items == [alert(1) | nobody | {"voided": [], "snoozeId": None, "caseId": None}]


def test_filters_reach_the_store_under_canonical_names(client: FlaskClient, alerts: FakeAlerts) -> None:
    query = "ruleId=5&ruleId=3&ruleId=5&ruleVersion=2"
    query += "&group=payerId:25&group=paymentType:CSH&state=open&from=10&to=20&voided=true&limit=7"
    query += "&transactionId=t-1&snoozeId=9&snoozed=true"
    assert client.get(f"/v1/alerts?{query}", headers=AS_VIEWER).status_code == 200
    wanted = AlertFilter(
        (3, 5), 2, (("payeeId", "25"), ("paymentType", "CSH")), "open", 10, 20, True, "t-1", 9, True
    )
    assert alerts.asked == (wanted, None, 7)


def test_filters_of_rule_amount_detection_and_case_reach_the_store(
    client: FlaskClient, alerts: FakeAlerts
) -> None:
    query = "severity=high&minAmount=100.10&maxAmount=-0.5&detectedFrom=1&detectedTo=2"
    query += "&caseState=unresolved&outcome=false_positive&assignee=ada"
    assert client.get(f"/v1/alerts?{query}", headers=AS_VIEWER).status_code == 200
    wanted = AlertFilter(
        severity="high",
        min_amount=Decimal("100.1"),
        max_amount=Decimal("-0.5"),
        detected_from=1,
        detected_to=2,
        case_state="unresolved",
        outcome="false_positive",
        assignee="ada",
    )
    assert alerts.asked == (wanted, None, 25)


def test_the_link_leads_on_from_the_last_item(client: FlaskClient, alerts: FakeAlerts) -> None:
    link = client.get("/v1/alerts?limit=2&state=open", headers=AS_VIEWER).headers["Link"]
    address = link.removeprefix("<").partition(">")[0]
    assert client.get(address, headers=AS_VIEWER).status_code == 200
    _, after, _ = alerts.asked
    assert after is not None
    assert after.alert_id == alert_id(2)


def test_a_group_value_may_hold_colons(client: FlaskClient, alerts: FakeAlerts) -> None:
    client.get("/v1/alerts?group=payeeId:a:b", headers=AS_VIEWER)
    assert alerts.asked[0].group == (("payeeId", "a:b"),)


def test_a_party_groups_as_fields_do(client: FlaskClient, alerts: FakeAlerts) -> None:
    assert client.get("/v1/alerts?group=account:25", headers=AS_VIEWER).status_code == 200
    assert alerts.asked[0].group == (("account", "25"),)


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("ruleId=x", "ruleId.0"),
        ("ruleId=1&ruleId=9007199254740992", "ruleId.1"),
        ("&".join(f"ruleId={number}" for number in range(1, 102)), "ruleId"),
        ("state=closed", "state"),
        ("from=-1", "from"),
        ("voided=yes", "voided"),
        ("voided=true&voided=false", "voided"),
        ("to=1.5", "to"),
        ("group=payeeId", "group.0"),
        ("group=colour:red", "group.0"),
        ("group=payeeId:%00", "group.0"),
        ("payeeId=25", "payeeId"),
        ("severity=bad", "severity"),
        ("minAmount=1e3", "minAmount"),
        ("maxAmount=1.0000001", "maxAmount"),
        ("detectedFrom=soon", "detectedFrom"),
        ("caseState=closed", "caseState"),
        ("outcome=fraud", "outcome"),
        ("assignee=", "assignee"),
    ],
)
def test_a_wrong_filter_is_named(client: FlaskClient, query: str, field: str) -> None:
    body = problem(client.get(f"/v1/alerts?{query}", headers=AS_VIEWER), 422)
    assert [error["field"] for error in body["errors"]] == [f"query.{field}"]


def test_a_cursor_of_other_filters_is_refused(client: FlaskClient) -> None:
    link = client.get("/v1/alerts?limit=2", headers=AS_VIEWER).headers["Link"]
    address = link.removeprefix("<").partition(">")[0]
    problem(client.get(f"{address}&state=open", headers=AS_VIEWER), 400)
    problem(client.get("/v1/alerts?cursor=abc", headers=AS_VIEWER), 400)


def test_acknowledging_appends_the_event_of_the_keys_actor(client: FlaskClient, alerts: FakeAlerts) -> None:
    address = f"/v1/alerts/{alert_id(1)}/acknowledge"
    assert client.post(address, headers=AS_ADA, json={"comment": "mine"}).status_code == 200
    assert alerts.logs[alert_id(1)][1:] == [AlertAcknowledged(alert_id(1), 5000, "ada", "mine")]
    assert client.post(address, headers=AS_ADA).status_code == 200
    body = problem(client.post(address, headers=AS_BOB, json={}), 409)
    assert (body["acknowledgedBy"], body["acknowledgedAt"]) == ("ada", 5000)


def test_what_was_voided_is_told(client: FlaskClient, alerts: FakeAlerts) -> None:
    alerts.voided[alert_id(2)] = (voiding(2, 1), voiding(1, 2))
    alerts.logs[alert_id(2)].append(AlertVoided(alert_id(2), EPOCH + 7, "ops", voiding(2, 1)))
    body = client.get(f"/v1/alerts/{alert_id(2)}", headers=AS_VIEWER).get_json()
    first, second = body["voided"]
    expected = {"transactionId": "t2", "eventTime": EPOCH + 2, "commandId": command_id(1), "position": 101}
    assert (first, second["transactionId"], body["state"]) == (expected, "t1", "open")
    raised, voided = client.get(f"/v1/alerts/{alert_id(2)}/events", headers=AS_VIEWER).get_json()["items"]
    assert (raised["type"], raised["voided"]) == ("AlertRaised", None)
    assert voided == {
        "version": 2,
        "type": "AlertVoided",
        "occurredAt": EPOCH + 7,
        "actor": "ops",
        "comment": None,
        "voided": expected,
    }


@pytest.mark.parametrize("body", [None, {}, {"comment": None}, {"comment": ""}, {"comment": " \n"}])
def test_without_words_there_is_no_comment(client: FlaskClient, alerts: FakeAlerts, body: Any) -> None:
    address = f"/v1/alerts/{alert_id(1)}/acknowledge"
    response = client.post(address, headers=AS_ADA, **({} if body is None else {"json": body}))
    assert response.status_code == 200
    event = alerts.logs[alert_id(1)][1]
    assert isinstance(event, AlertAcknowledged)
    assert event.comment is None


@pytest.mark.parametrize(
    ("data", "content_type", "status"),
    [
        (b"{", "application/json", 400),
        (b"\xff", "application/json", 400),
        (b"{}", "text/plain", 415),
        (b"[]", "application/json", 422),
        (b"null", "application/json", 422),
        (b'{"comment": 5}', "application/json", 422),
        (b'{"comment": "\\u0000"}', "application/json", 422),
        (b'{"comment": "\\ud800"}', "application/json", 422),
        (b'{"comment": "\\u202eenim"}', "application/json", 422),
        (b'{"comment": "\\u001b[2J"}', "application/json", 422),
        (b'{"comment": "%s"}' % (b"x" * 2001), "application/json", 422),
        (b'{"actor": "bob"}', "application/json", 422),
        (b'{"comment": "%s"}' % (b"x" * 300_000), "application/json", 413),
    ],
)
def test_a_body_that_is_wrong_changes_nothing(
    client: FlaskClient, alerts: FakeAlerts, data: bytes, content_type: str, status: int
) -> None:
    address = f"/v1/alerts/{alert_id(1)}/acknowledge"
    problem(client.post(address, headers=AS_ADA, data=data, content_type=content_type), status)
    assert len(alerts.logs[alert_id(1)]) == 1


def test_a_comment_of_two_thousand_characters_fits(client: FlaskClient) -> None:
    address = f"/v1/alerts/{alert_id(1)}/acknowledge"
    assert client.post(address, headers=AS_ADA, json={"comment": "é" * 2000}).status_code == 200


def test_the_events_tell_what_happened(client: FlaskClient) -> None:
    client.post(f"/v1/alerts/{alert_id(1)}/acknowledge", headers=AS_ADA, json={"comment": "mine"})
    items = client.get(f"/v1/alerts/{alert_id(1)}/events", headers=AS_VIEWER).get_json()["items"]
    assert [(item["type"], item["actor"], item["comment"]) for item in items] == [
        ("AlertRaised", None, None),
        ("AlertAcknowledged", "ada", "mine"),
    ]


@pytest.mark.parametrize("path", ["", "/events"])
def test_an_unknown_alert_is_not_found(client: FlaskClient, path: str) -> None:
    problem(client.get(f"/v1/alerts/{alert_id(9)}{path}", headers=AS_VIEWER), 404)
    problem(client.get(f"/v1/alerts/nonsense{path}", headers=AS_VIEWER), 404)


def test_keys_and_scopes_are_asked_for(client: FlaskClient) -> None:
    address = f"/v1/alerts/{alert_id(1)}/acknowledge"
    response = client.get("/v1/alerts")
    problem(response, 401)
    assert response.headers["WWW-Authenticate"].startswith("Bearer")
    problem(client.get("/v1/alerts", headers={"Authorization": "Bearer guess"}), 401)
    problem(client.get("/v1/alerts", headers=AS_CLERK), 403)
    problem(client.post(address, headers=AS_VIEWER), 403)


def test_other_methods_are_refused_with_those_allowed(client: FlaskClient) -> None:
    response = client.delete("/v1/alerts", headers=AS_ADA)
    problem(response, 405)
    assert "GET" in response.headers["Allow"]


def test_a_database_that_is_away_is_said_so(client: FlaskClient, alerts: FakeAlerts) -> None:
    alerts.broken = StoreUnavailable("connection refused")
    for path in ("/v1/alerts", f"/v1/alerts/{alert_id(1)}", f"/v1/alerts/{alert_id(1)}/events"):
        response = client.get(path, headers=AS_VIEWER)
        problem(response, 503)
        assert response.headers["Retry-After"] == "1"
    problem(client.get("/readyz"), 503)
    assert client.get("/livez").status_code == 200


def test_a_comment_may_have_lines_and_emoji(client: FlaskClient, alerts: FakeAlerts) -> None:
    comment = "Called the bank:\r\n\t\U0001f469\u200d\U0001f4bb said no"
    address = f"/v1/alerts/{alert_id(1)}/acknowledge"
    assert client.post(address, headers=AS_ADA, json={"comment": comment}).status_code == 200
    assert alerts.logs[alert_id(1)][1:] == [AlertAcknowledged(alert_id(1), 5000, "ada", comment)]
