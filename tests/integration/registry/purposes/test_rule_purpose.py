"""What a rule is for, over HTTP on a real Postgres: shown, filtered by, told in the trail, and apart from the rule."""

from __future__ import annotations

from typing import Any

import httpx
import psycopg
import pytest
from psycopg import errors

from tests.integration.registry.support.rule_requests import publish
from tests.registry import DEFINITION, RegistryApi

pytestmark = pytest.mark.integration

NOTHING: dict[str, Any] = {"description": None, "severity": None, "tags": [], "owner": None, "playbook": None}
PURPOSE: dict[str, Any] = {
    "description": "Mules are paid\nby many.",
    "severity": "high",
    "tags": ["mules", "night"],
    "owner": "Fraud desk",
    "playbook": "https://wiki.example/mules?step=1",
}


def said(client: httpx.Client, rule: dict[str, Any], version: str = "*", **changes: Any) -> httpx.Response:
    """The answer to somebody who says what the rule is for."""
    address = f"/v1/rules/{rule['ruleId']}/purpose"
    match = version if version == "*" else f'"{version}"'
    return client.put(
        address,
        params={"reason": "asked by the desk"},
        json={**PURPOSE, **changes},
        headers={"If-Match": match},
    )


def test_it_is_shown_and_the_rule_stays_as_it_is(api: RegistryApi, client: httpx.Client) -> None:
    rule = publish(client)
    assert rule["purpose"] == NOTHING
    address = f"/v1/rules/{rule['ruleId']}"
    before = client.get(f"{address}/purpose")
    assert (before.json(), before.headers["ETag"]) == (NOTHING, '"0"')
    position = client.get("/v1/widest-windows").json()["position"]
    answer = said(client, rule, "0")
    assert (answer.status_code, answer.json(), answer.headers["ETag"]) == (200, PURPOSE, '"1"')
    assert client.get(address).json() == {**rule, "purpose": PURPOSE}
    [listed] = client.get("/v1/rules", params={"name": rule["name"], "limit": 100}).json()["items"][-1:]
    assert listed == {**rule, "purpose": PURPOSE}
    assert client.get("/v1/widest-windows").json()["position"] == position, "the engine is not told"
    assert said(client, rule, "0").status_code == 412
    assert said(client, rule, "1").headers["ETag"] == '"1"', "the same again"
    paused = client.post(f"{address}/pause", headers={"If-Match": '"1"'})
    assert paused.json()["purpose"] == PURPOSE
    with api.client("auditor-of-role-for-tests") as auditor:
        query = {"kind": "rule", "subject": str(rule["ruleId"]), "type": "RulePurposeChanged"}
        [entry] = auditor.get("/v1/audit", params=query).json()["items"]
    told = {name: entry[name] for name in ("actor", "reason", "before", "after", "position")}
    assert told == {
        "actor": "analyst",
        "reason": "asked by the desk",
        "before": None,
        "after": PURPOSE,
        "position": None,
    }
    assert entry["requestId"] == answer.headers["X-Request-Id"]


def test_rules_are_found_by_it(client: httpx.Client) -> None:
    high, low, _ = (publish(client, name=f"purposed {number}") for number in range(3))
    said(client, high)
    said(client, low, severity="low", tags=["night"], owner="Ada")

    def ids(**query: str) -> list[int]:
        items = (
            client.get("/v1/rules", params={"name": "purposed", **query}).raise_for_status().json()["items"]
        )
        return [rule["ruleId"] for rule in items]

    assert ids(severity="high") == [high["ruleId"]]
    assert ids(tag="night") == [high["ruleId"], low["ruleId"]]
    assert ids(tag="nigh") == []
    assert ids(owner="fraud DESK") == [high["ruleId"]]
    assert ids(owner="Ada", tag="night", severity="low") == [low["ruleId"]]
    assert client.get("/v1/rules", params={"severity": "awful"}).status_code == 422
    first = client.get("/v1/rules", params={"name": "purposed", "tag": "night", "limit": 1})
    second = client.get(first.links["next"]["url"])
    assert [rule["ruleId"] for rule in second.json()["items"]] == [low["ruleId"]]


def test_of_a_deleted_rule_it_is_read_and_not_changed(client: httpx.Client) -> None:
    rule = publish(client)
    said(client, rule)
    client.delete(f"/v1/rules/{rule['ruleId']}", headers={"If-Match": "*"}).raise_for_status()
    assert client.get(f"/v1/rules/{rule['ruleId']}/purpose").json() == PURPOSE
    refused = said(client, rule, severity="low")
    assert (refused.status_code, refused.json()["type"]) == (404, "urn:tripline:problem:rule-deleted")
    assert client.get("/v1/rules/2000000000/purpose").status_code == 404


def test_who_may_and_what_is_refused(api: RegistryApi, client: httpx.Client) -> None:
    rule = publish(client)
    with api.client("viewer-key-for-tests") as viewer:
        assert said(viewer, rule).status_code == 403
        assert viewer.get(f"/v1/rules/{rule['ruleId']}/purpose").status_code == 200
    without = client.put(f"/v1/rules/{rule['ruleId']}/purpose", json=PURPOSE)
    assert without.status_code == 428
    refused = said(client, rule, playbook="http://wiki", tags=["a", "a"])
    assert {error["field"] for error in refused.json()["errors"]} == {"playbook", "tags"}


def test_a_rule_is_sent_back_with_its_purpose_as_it_is(client: httpx.Client) -> None:
    rule = publish(client)
    said(client, rule)
    address = f"/v1/rules/{rule['ruleId']}"
    shown = client.get(address).json()
    other = {**shown, "purpose": {**PURPOSE, "severity": "low"}}
    refused = client.put(address, json=other, headers={"If-Match": '"1"'})
    [error] = refused.json()["errors"]
    assert (error["field"], "/v1/rules/{id}/purpose" in error["message"]) == ("purpose", True)
    assert client.put(address, json=shown, headers={"If-Match": '"1"'}).json()["purpose"] == PURPOSE


def test_it_needs_no_second_person(four_eyes_api: RegistryApi) -> None:
    with (
        four_eyes_api.client("second-key-for-tests") as author,
        four_eyes_api.client("approver-of-role-for-tests") as approver,
    ):
        change = author.post("/v1/rules", json=dict(DEFINITION)).json()
        author.post(f"/v1/changes/{change['changeId']}/submit").raise_for_status()
        approved = approver.post(
            f"/v1/changes/{change['changeId']}/approve", json={"contentHash": change["contentHash"]}
        )
        rule = {"ruleId": int(approved.raise_for_status().json()["subject"]["id"])}
        assert said(author, rule).status_code == 200


@pytest.mark.parametrize(
    ("column", "value"), [("severity", "awful"), ("playbook", "javascript:x"), ("owner", ""), ("version", 0)]
)
def test_the_database_refuses_it_too(
    api: RegistryApi, client: httpx.Client, column: str, value: object
) -> None:
    rule = publish(client)
    said(client, rule)
    with psycopg.connect(api.dsn) as connection, pytest.raises(errors.CheckViolation):
        connection.execute(
            f"UPDATE registry.rule_purposes SET {column} = %s WHERE rule_id = %s", [value, rule["ruleId"]]
        )
