"""Cases over HTTP: listings, work, versions, keys and refusals."""

from __future__ import annotations

from typing import Any

import pytest
from flask.testing import FlaskClient

from alert_api.domain.cases.subject import Subject
from alert_api.errors import StoreUnavailable
from alert_api.service.cases.case_graph import Ends, PartyEnds
from alert_api.service.cases.case_queries import CaseFilter
from tests.unit.alert_api.support import samples
from tests.unit.alert_api.support.case_app import case_app
from tests.unit.alert_api.support.case_log import GROUPS, facts
from tests.unit.alert_api.support.fake_cases import FakeCases

ADA, ADA_KEY = samples.key("ada", "alerts:read", "alerts:ack")
EVE, EVE_KEY = samples.key("eve", "alerts:read")
NOW = 7_000
SEEN = {**ADA_KEY, "If-Match": '"1"'}


@pytest.fixture
def cases() -> FakeCases:
    return FakeCases(facts(1, 100), facts(2, 160, rule_id=2), facts(3, 50, group=GROUPS[3]))


@pytest.fixture
def client(cases: FakeCases) -> FlaskClient:
    return case_app(cases, (ADA, EVE), NOW).test_client()


def test_cases_are_listed_with_the_newest_alert_first(client: FlaskClient) -> None:
    answer = client.get("/v1/cases", headers=EVE_KEY)
    first, second = answer.get_json()["items"]
    assert first == {
        "caseId": 1,
        "version": 1,
        "state": "open",
        "subject": {"field": "payeeId", "value": "25", "ruleId": None, "group": None},
        "alertCount": 2,
        "episodeCount": 2,
        "rules": [{"ruleId": 1, "ruleName": "Large sums"}, {"ruleId": 2, "ruleName": "Large sums"}],
        "firstEventTime": 100,
        "lastEventTime": 160,
        "openedAt": 110,
        "changedAt": 110,
        "severity": None,
        "dueAt": None,
        "acknowledgedBy": None,
        "acknowledgedAt": None,
        "assignee": None,
        "outcome": None,
        "resolvedBy": None,
        "resolvedAt": None,
    }
    assert second["subject"] == {"field": None, "value": None, "ruleId": 1, "group": GROUPS[3]}
    assert "Link" not in answer.headers


def test_filters_compose(client: FlaskClient, cases: FakeCases) -> None:
    query = (
        "state=unresolved&outcome=inconclusive&assignee=bob&ruleId=2&ruleId=1&subject=payeeId:25&from=5&to=9"
    )
    assert client.get(f"/v1/cases?{query}&limit=7", headers=EVE_KEY).status_code == 200
    asked = CaseFilter("unresolved", "inconclusive", "bob", (1, 2), Subject.of_field("payeeId", "25"), 5, 9)
    assert cases.asked == (asked, None, 7)
    assert client.get(f"/v1/cases/summary?{query}", headers=EVE_KEY).status_code == 200
    assert cases.asked == asked


def test_overdue_ones_a_severity_and_the_order_of_due_times(client: FlaskClient, cases: FakeCases) -> None:
    assert client.get("/v1/cases?severity=high&overdue=true&sort=due", headers=EVE_KEY).status_code == 200
    assert cases.asked == (CaseFilter(severity="high", overdue_at=NOW), None, 25)
    orders = [cases.by_due]
    client.get("/v1/cases", headers=EVE_KEY)
    assert [*orders, cases.by_due] == [True, False]
    for query in ("severity=bad", "overdue=false", "sort=age"):
        assert client.get(f"/v1/cases?{query}", headers=EVE_KEY).status_code == 422


def test_pages_follow_one_another(client: FlaskClient, cases: FakeCases) -> None:
    link = client.get("/v1/cases?limit=1&state=open", headers=EVE_KEY).headers["Link"]
    following = link.partition("<")[2].partition(">")[0]
    assert client.get(following, headers=EVE_KEY).status_code == 200
    assert cases.asked == (CaseFilter("open"), (160, 1), 1)
    elsewhere = following.replace("state=open", "state=resolved")
    assert client.get(elsewhere, headers=EVE_KEY).status_code == 400


def test_counts_are_by_state(client: FlaskClient) -> None:
    assert client.get("/v1/cases/summary", headers=EVE_KEY).get_json() == {
        "total": 2,
        "byState": {"open": 2, "acknowledged": 0, "assigned": 0, "resolved": 0, "reopened": 0},
        "overdue": 1,
    }


def test_episodes_events_and_alerts_of_a_case(client: FlaskClient) -> None:
    first, _ = client.get("/v1/cases/1/episodes", headers=EVE_KEY).get_json()["items"]
    assert first == {
        "episodeId": 1,
        "ruleId": 1,
        "ruleName": "Large sums",
        "group": {"payeeId": "25"},
        "firstEventTime": 100,
        "lastEventTime": 100,
        "openUntil": 60_100,
        "alertCount": 1,
        "peak": {
            "value": "31",
            "operator": ">",
            "limit": "30",
            "eventTime": 100,
            "alertId": facts(1, 1).alert_id,
        },
    }
    assert client.get("/v1/cases/1/events", headers=EVE_KEY).get_json()["items"] == [
        {
            "version": 1,
            "type": "CaseOpened",
            "occurredAt": 110,
            "actor": None,
            "comment": None,
            "assignee": None,
            "outcome": None,
        }
    ]
    assert client.get("/v1/cases/1/alerts?episodeId=1", headers=EVE_KEY).get_json() == {"items": []}


@pytest.mark.parametrize("path", ["", "/episodes", "/events", "/alerts"])
def test_a_case_that_is_not_there(client: FlaskClient, path: str) -> None:
    answer = client.get(f"/v1/cases/77{path}", headers=EVE_KEY)
    assert (answer.status_code, answer.get_json()["detail"]) == (404, "There is no case 77.")


def test_a_case_is_worked_on_from_the_first_look_to_the_outcome(
    client: FlaskClient, cases: FakeCases
) -> None:
    assert client.get("/v1/cases/1", headers=EVE_KEY).headers["ETag"] == '"1"'
    steps: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
        ("acknowledge", {}, {"state": "acknowledged", "acknowledgedBy": "ada", "acknowledgedAt": NOW}),
        ("claim", {"comment": " "}, {"state": "assigned", "assignee": "ada"}),
        ("assign", {"assignee": "bob", "comment": "yours"}, {"state": "assigned", "assignee": "bob"}),
        ("comment", {"comment": "two\nlines"}, {"state": "assigned"}),
        (
            "resolve",
            {"outcome": "false_positive"},
            {"state": "resolved", "outcome": "false_positive", "resolvedBy": "ada"},
        ),
        ("reopen", {}, {"state": "reopened", "outcome": None, "resolvedBy": None, "assignee": "bob"}),
    ]
    for version, (path, body, expected) in enumerate(steps, start=1):
        headers = {**ADA_KEY, "If-Match": f'"{version}"', "X-Request-Id": f"r{version}"}
        answer = client.post(f"/v1/cases/1/{path}", json=body, headers=headers)
        assert answer.status_code == 200, answer.text
        assert answer.headers["ETag"] == f'"{version + 1}"'
        assert {name: answer.get_json()[name] for name in expected} == expected
    comments = [work.event.comment for work, _ in cases.done]
    assert comments == [None, None, "yours", "two\nlines", None, None], "a blank comment is none"
    assert [origin.request_id for _, origin in cases.done] == [f"r{version}" for version in range(1, 7)]


def test_only_what_was_seen_is_changed(client: FlaskClient) -> None:
    without = client.post("/v1/cases/1/claim", json={}, headers=ADA_KEY)
    assert without.status_code == 428
    stale = client.post("/v1/cases/1/claim", json={}, headers={**ADA_KEY, "If-Match": '"9"'})
    assert (stale.status_code, stale.headers["ETag"], stale.get_json()["currentVersion"]) == (412, '"1"', 1)
    assert client.post("/v1/cases/1/claim", json={}, headers={**ADA_KEY, "If-Match": "*"}).status_code == 200


def test_what_comes_twice_with_a_key_happens_once(client: FlaskClient, cases: FakeCases) -> None:
    headers = {**SEEN, "Idempotency-Key": "k1"}
    for _ in range(2):
        assert (
            client.post("/v1/cases/1/comment", json={"comment": "once"}, headers=headers).status_code == 200
        )
    assert len(cases.done) == 1
    other = client.post("/v1/cases/1/comment", json={"comment": "twice"}, headers=headers)
    assert (other.status_code, other.get_json()["type"]) == (
        422,
        "urn:tripline:problem:idempotency-key-reused",
    )
    unusable = client.post(
        "/v1/cases/1/comment", json={"comment": "x"}, headers={**SEEN, "Idempotency-Key": "a b"}
    )
    assert unusable.status_code == 400


def test_a_state_refuses_what_does_not_fit(client: FlaskClient) -> None:
    answer = client.post("/v1/cases/1/reopen", json={}, headers=SEEN)
    assert (answer.status_code, answer.get_json()["type"]) == (
        409,
        "urn:tripline:problem:case-state-conflict",
    )
    assert answer.get_json()["detail"] == "Case 1 is open; expected one that is resolved."


def test_another_unresolved_case_is_in_the_way(client: FlaskClient, cases: FakeCases) -> None:
    client.post("/v1/cases/1/resolve", json={"outcome": "inconclusive"}, headers=SEEN)
    cases.book.fold([facts(2_000, 10**9, detected_at=10**9)])
    answer = client.post("/v1/cases/1/reopen", json={}, headers={**ADA_KEY, "If-Match": "*"})
    assert (answer.status_code, answer.get_json()["unresolvedCaseId"]) == (409, 2_000)


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("resolve", {}, "outcome"),
        ("resolve", {"outcome": "bored"}, "outcome"),
        ("assign", {}, "assignee"),
        ("assign", {"assignee": "a\nb"}, "assignee"),
        ("comment", {}, "comment"),
        ("comment", {"comment": "\u202e"}, "comment"),
        ("claim", {"surprise": 1}, "surprise"),
    ],
)
def test_bodies_that_are_refused(client: FlaskClient, path: str, body: dict[str, Any], field: str) -> None:
    answer = client.post(f"/v1/cases/1/{path}", json=body, headers=SEEN)
    assert answer.status_code == 422, answer.text
    assert field in str(answer.get_json()["errors"])


def test_who_may_only_read_cannot_work(client: FlaskClient) -> None:
    assert client.post("/v1/cases/1/claim", json={}, headers={**EVE_KEY, "If-Match": "*"}).status_code == 403
    assert client.post("/v1/cases/bulk", json={}, headers=EVE_KEY).status_code == 403


def test_all_cases_of_a_filter_at_once(client: FlaskClient, cases: FakeCases) -> None:
    body = {"action": "resolve", "outcome": "known_accepted", "expected": 2, "comment": "the yearly sale"}
    answer = client.post("/v1/cases/bulk?ruleId=1", json=body, headers=ADA_KEY)
    assert (answer.status_code, answer.get_json()) == (200, {"cases": 2, "changed": 2})
    assert cases.asked == CaseFilter(rule_ids=(1,))
    assert {case.outcome for case in cases.book.cases.values()} == {"known_accepted"}
    again = client.post("/v1/cases/bulk?ruleId=1", json={**body, "expected": 3}, headers=ADA_KEY)
    assert (again.status_code, again.get_json()["count"]) == (409, 2)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"expected": 1}, "action"),
        ({"action": ["claim"], "expected": 1}, "action"),
        ({"action": "claim"}, "expected"),
        ({"action": "claim", "expected": 1_001}, "expected"),
        ({"action": "assign", "expected": 1}, "assignee"),
        ({"action": "resolve", "expected": 1}, "outcome"),
        ({"action": "claim", "expected": 1, "outcome": "inconclusive"}, "outcome"),
    ],
)
def test_bulk_bodies_that_are_refused(client: FlaskClient, body: dict[str, Any], field: str) -> None:
    answer = client.post("/v1/cases/bulk", json=body, headers=ADA_KEY)
    assert (answer.status_code, answer.get_json()["errors"][0]["field"]) == (422, field)


def test_a_database_that_is_away(client: FlaskClient, cases: FakeCases) -> None:
    cases.broken = StoreUnavailable("away")
    answer = client.get("/v1/cases", headers=EVE_KEY)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")


def test_the_graph_of_a_case(client: FlaskClient, cases: FakeCases) -> None:
    answer = client.get("/v1/cases/1/graph", headers=EVE_KEY)
    assert answer.get_json() == {
        "sourceField": "payeeId",
        "targetField": "beneficiaryId",
        "measureField": "paymentAmount",
        "party": "account",
        "alerts": 4,
        "transactions": 3,
        "withBothParties": 3,
        "edgeCount": 1,
        "edges": [{"source": "25", "target": "12", "transactions": 3, "total": "7.5", "last": 160}],
    }
    account = PartyEnds("account", "payer", "payee")
    ends = Ends("transactionId", "eventTime", "payeeId", "beneficiaryId", "paymentAmount", account)
    assert cases.asked == (1, ends)
    assert client.get("/v1/cases/99/graph", headers=EVE_KEY).status_code == 404
