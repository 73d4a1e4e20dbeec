"""Commands of operators over HTTP, on a real Postgres: clear one rule or group, void, backfill."""

from __future__ import annotations

import uuid
from typing import Any

import httpx
import pytest

from tests.integration.registry.support.rule_requests import publish
from tests.integration.registry.test_controls import events_after, issue
from tests.registry import RegistryApi

pytestmark = pytest.mark.integration

PAIR = {"payeeId": "25", "beneficiaryId": "12"}
OWN = ("ruleId", "group", "transactionId", "eventTime", "backfillId", "completeFrom")


def refusal(client: httpx.Client, **body: Any) -> dict[str, Any]:
    """The problem that the command is answered with; nothing is appended."""
    before = client.get("/v1/widest-windows").json()["position"]
    answer = client.post("/v1/control-commands", json=body)
    assert answer.headers["Content-Type"] == "application/problem+json", answer.text
    assert client.get("/v1/widest-windows").json()["position"] == before
    problem: dict[str, Any] = answer.json()
    return problem


def backfills(client: httpx.Client, **query: Any) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = client.get("/v1/backfills", params=query).raise_for_status().json()["items"]
    return items


def test_each_takes_its_place_and_is_listed_with_what_it_is_about(client: httpx.Client) -> None:
    rule = publish(client)
    start = issue(client, "START_BACKFILL")
    wanted: list[tuple[str, dict[str, Any]]] = [
        ("CLEAR_RULE", {"ruleId": rule["ruleId"]}),
        ("CLEAR_GROUP", {"ruleId": rule["ruleId"], "group": PAIR}),
        ("VOID_TRANSACTION", {"transactionId": "t-3", "eventTime": 1_763_641_200_000}),
        ("END_BACKFILL", {"backfillId": start["commandId"], "completeFrom": 5}),
    ]
    taken = [issue(client, command, **members) for command, members in wanted]
    events = events_after(client, start["position"])
    for event, answer, (command, members) in zip(events, taken, wanted, strict=True):
        assert (event["command"], event["commandId"]) == (command, answer["commandId"])
        assert {name: event[name] for name in OWN if name in event} == members
        assert {name: answer[name] for name in OWN} == dict.fromkeys(OWN) | members
        assert (answer["deletedRules"], answer["export"]) == (0, None)
    listed = client.get("/v1/control-commands?limit=5").json()["items"]
    assert listed == [
        {name: value for name, value in answer.items() if name != "export"}
        for answer in reversed([start, *taken])
    ]
    assert client.get(f"/v1/rules/{rule['ruleId']}").json() == rule
    assert "without a mark" in taken[2]["effect"]


def test_what_is_cleared_exists(client: httpx.Client) -> None:
    deleted = publish(client)
    client.delete(f"/v1/rules/{deleted['ruleId']}", headers={"If-Match": "*"}).raise_for_status()
    for rule_id, kind in ((deleted["ruleId"], "rule-deleted"), (2_000_000_000, "rule-not-found")):
        for body in ({"command": "CLEAR_RULE"}, {"command": "CLEAR_GROUP", "group": PAIR}):
            problem = refusal(client, **body, ruleId=rule_id)
            assert (problem["status"], problem["type"]) == (404, f"urn:tripline:problem:{kind}")
            assert [error["field"] for error in problem["errors"]] == ["ruleId"]


def test_a_group_that_is_not_cleared_alone(client: httpx.Client) -> None:
    plain, bucketed = publish(client), publish(client, precision="bucketed(60)")
    for rule, group, field in ((plain, {"payeeId": "25"}, "group"), (bucketed, PAIR, "ruleId")):
        problem = refusal(client, command="CLEAR_GROUP", ruleId=rule["ruleId"], group=group)
        assert (problem["status"], problem["type"]) == (409, "urn:tripline:problem:group-not-cleared")
        assert [error["field"] for error in problem["errors"]] == [field]


def test_a_group_is_that_of_the_newest_version(client: httpx.Client) -> None:
    rule = publish(client)
    path = f"/v1/rules/{rule['ruleId']}"
    body = {**rule["definition"], "groupingKeyNames": ["payeeId"]}
    client.put(path, json=body, headers={"If-Match": "*"}).raise_for_status()
    assert refusal(client, command="CLEAR_GROUP", ruleId=rule["ruleId"], group=PAIR)["status"] == 409
    issue(client, "CLEAR_GROUP", ruleId=rule["ruleId"], group={"payeeId": "25"})


def test_a_backfill_stands_until_it_is_ended(client: httpx.Client) -> None:
    first, second = issue(client, "START_BACKFILL"), issue(client, "START_BACKFILL")
    opened = backfills(client, state="open")[:2]
    assert [backfill["backfillId"] for backfill in opened] == [second["commandId"], first["commandId"]]
    assert opened[1] == {
        "backfillId": first["commandId"],
        "position": first["position"],
        "startedAt": first["occurredAt"],
        "startedBy": "analyst",
        "endedPosition": None,
        "endedAt": None,
        "endedBy": None,
        "completeFrom": None,
    }
    end = issue(client, "END_BACKFILL", backfillId=first["commandId"].upper(), completeFrom=0)
    assert end["backfillId"] == first["commandId"]
    (ended,) = backfills(client, state="ended", limit=1)
    assert ended == {
        **opened[1],
        "endedPosition": end["position"],
        "endedAt": end["occurredAt"],
        "endedBy": "analyst",
        "completeFrom": 0,
    }
    assert first["commandId"] not in [backfill["backfillId"] for backfill in backfills(client, state="open")]
    page = client.get("/v1/backfills?limit=1")
    assert [item["backfillId"] for item in page.json()["items"]] == [second["commandId"]]
    assert client.get(page.links["next"]["url"]).json()["items"] == [ended]


def test_a_backfill_is_ended_once(client: httpx.Client) -> None:
    backfill_id = issue(client, "START_BACKFILL")["commandId"]
    clear = issue(client, "CLEAR_STATE_ALL")["commandId"]
    for unknown in (str(uuid.uuid4()), clear):
        problem = refusal(client, command="END_BACKFILL", backfillId=unknown)
        assert (problem["status"], problem["type"]) == (404, "urn:tripline:problem:backfill-not-found")
        assert [error["field"] for error in problem["errors"]] == ["backfillId"]
    issue(client, "END_BACKFILL", backfillId=backfill_id)
    problem = refusal(client, command="END_BACKFILL", backfillId=backfill_id)
    assert (problem["status"], problem["type"]) == (409, "urn:tripline:problem:backfill-has-ended")
    assert [error["field"] for error in problem["errors"]] == ["backfillId"]


def test_what_is_wrong_with_a_command_is_named(client: httpx.Client) -> None:
    problem = refusal(client, command="CLEAR_GROUP", group={"payeeId": 5, "iban": "x"})
    assert problem["status"] == 422
    assert {error["field"] for error in problem["errors"]} == {"ruleId", "group.payeeId"}
    assert refusal(client, command="END_BACKFILL", backfillId="x", reason="y")["errors"] == [
        {"field": "reason", "message": "unknown field"},
        {"field": "backfillId", "message": "expected the commandId of a START_BACKFILL, a UUID"},
    ]


def test_who_may_command(api: RegistryApi) -> None:
    with api.client("second-key-for-tests") as second:
        refused = second.post("/v1/control-commands", json={"command": "START_BACKFILL"})
        assert (refused.status_code, "controls:write" in refused.json()["detail"]) == (403, True)
        assert second.get("/v1/backfills").status_code == 200
