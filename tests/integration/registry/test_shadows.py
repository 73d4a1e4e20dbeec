"""Shadows over HTTP, on a real Postgres: started, shown, promoted and ended; log, trail and rules agree afterwards."""

from __future__ import annotations

from typing import Any

import httpx
import psycopg
import pytest

from rules_registry.adapters import statements
from tests.integration.registry.support.rule_requests import publish
from tests.registry import DEFINITION, RegistryApi

pytestmark = pytest.mark.integration

ANY = {"If-Match": "*"}
LOWER = {**DEFINITION, "limit": "7"}


def started(client: httpx.Client) -> dict[str, Any]:
    """A rule with a shadow."""
    path = f"/v1/rules/{publish(client)['ruleId']}"
    answer = client.post(f"{path}/shadow", json=LOWER, headers={"If-Match": '"1"'})
    assert answer.status_code == 200, answer.text
    assert answer.headers["ETag"] == '"2"'
    rule: dict[str, Any] = answer.json()
    return rule


def published_by(api: RegistryApi, rule_id: int) -> tuple[Any, ...]:
    """Version, hash and state that a shard should hold of the rule now."""
    with psycopg.connect(api.dsn) as connection:
        rows = connection.execute(statements.PUBLISHED_BY, {"position": 10**9}).fetchall()
    return next(tuple(row[1:]) for row in rows if row[0] == rule_id)


def test_it_is_shown_beside_the_rule_and_promoted_with_its_number(
    client: httpx.Client, api: RegistryApi
) -> None:
    rule = started(client)
    path, shadow = f"/v1/rules/{rule['ruleId']}", rule["shadow"]
    assert client.get(path).json() == rule
    assert (rule["definition"]["limit"], rule["definitionVersion"]) == (DEFINITION["limit"], 1)
    assert (shadow["version"], shadow["definition"]["limit"], shadow["name"]) == (2, "7", rule["name"])
    assert published_by(api, rule["ruleId"]) == (2, rule["definitionHash"], "ACTIVE")
    paused = client.post(f"{path}/pause", headers=ANY).raise_for_status().json()
    assert paused["shadow"] == shadow
    promoted = client.post(f"{path}/shadow/promote", headers={"If-Match": '"3"'}).raise_for_status().json()
    assert (promoted["version"], promoted["definitionVersion"], promoted["shadow"]) == (4, 2, None)
    assert (promoted["definitionHash"], promoted["state"]) == (shadow["definitionHash"], "PAUSED")
    assert published_by(api, rule["ruleId"]) == (4, shadow["definitionHash"], "PAUSED")
    versions = client.get(f"{path}/versions").json()["items"]
    kinds = ["RulePublished", "RuleShadowStarted", "RulePaused", "RuleShadowPromoted"]
    assert [version["type"] for version in versions] == kinds
    back = client.post(f"{path}/revert", params={"version": 1}, headers=ANY).raise_for_status().json()
    assert back["definition"]["limit"] == DEFINITION["limit"]


def test_it_is_ended_and_another_is_started(client: httpx.Client) -> None:
    rule = started(client)
    path = f"/v1/rules/{rule['ruleId']}"
    refused = [
        client.post(f"{path}/shadow", json=LOWER, headers=ANY),
        client.put(path, json=LOWER, headers=ANY),
    ]
    for answer in refused:
        assert (answer.status_code, answer.json()["type"]) == (409, "urn:tripline:problem:wrong-state")
        assert "Version 2 runs as a shadow" in answer.json()["detail"]
    ended = client.delete(f"{path}/shadow", headers={"If-Match": '"2"'}).raise_for_status().json()
    assert (ended["version"], ended["definitionVersion"], ended["shadow"]) == (3, 1, None)
    assert client.post(f"{path}/shadow/promote", headers=ANY).status_code == 409
    assert client.delete(f"{path}/shadow", headers=ANY).status_code == 409
    again = client.post(f"{path}/shadow", json=LOWER, headers=ANY).raise_for_status().json()
    assert again["shadow"]["version"] == 4
    gone = client.delete(path, headers=ANY).raise_for_status().json()
    assert (gone["state"], gone["shadow"]) == ("DELETED", None)


def test_it_is_rolled_out_and_widened(client: httpx.Client, api: RegistryApi) -> None:
    rule = started(client)
    path, shadow = f"/v1/rules/{rule['ruleId']}", rule["shadow"]
    assert shadow["percent"] == 0
    headers = {"If-Match": '"2"', "Idempotency-Key": f"rollout-{rule['ruleId']}"}
    first = client.post(f"{path}/shadow/rollout", json={"percent": 10}, headers=headers)
    assert (first.status_code, first.headers["ETag"]) == (200, '"3"')
    assert first.json()["shadow"] == {**shadow, "percent": 10}
    assert (first.json()["definitionHash"], first.json()["definitionVersion"]) == (rule["definitionHash"], 1)
    again = client.post(f"{path}/shadow/rollout", json={"percent": 10}, headers=headers)
    assert again.json() == first.json() == client.get(path).json()
    assert published_by(api, rule["ruleId"]) == (3, rule["definitionHash"], "ACTIVE")
    wider = client.post(f"{path}/shadow/rollout", json={"percent": 99}, headers=ANY).raise_for_status().json()
    assert wider["shadow"]["percent"] == 99
    versions = client.get(f"{path}/versions").json()["items"]
    assert [(version["type"], version["percent"]) for version in versions[1:]] == [
        ("RuleShadowStarted", None),
        ("RuleShadowRolledOut", 10),
        ("RuleShadowRolledOut", 99),
    ]
    ended = client.delete(f"{path}/shadow", headers=ANY).raise_for_status().json()
    assert ended["shadow"] is None
    assert published_by(api, rule["ruleId"]) == (5, rule["definitionHash"], "ACTIVE")


@pytest.mark.parametrize("percent", [10, 9, 0, 100, -1, 1.5, "20", None, True])
def test_no_other_share_is_taken(client: httpx.Client, percent: object) -> None:
    rule = started(client)
    path = f"/v1/rules/{rule['ruleId']}/shadow/rollout"
    client.post(path, json={"percent": 10}, headers=ANY).raise_for_status()
    refused = client.post(path, json={"percent": percent}, headers=ANY)
    assert refused.status_code == 422, refused.text
    assert [error["field"] for error in refused.json()["errors"]] == ["percent"]
    assert client.get(f"/v1/rules/{rule['ruleId']}").json()["shadow"]["percent"] == 10


def test_a_rollout_needs_a_shadow_of_the_same_groups(client: httpx.Client) -> None:
    path = f"/v1/rules/{publish(client)['ruleId']}"
    share = {"percent": 5}
    assert client.post(f"{path}/shadow/rollout", json=share, headers=ANY).status_code == 409
    other = {**LOWER, "groupingKeyNames": ["payeeId"]}
    client.post(f"{path}/shadow", json=other, headers=ANY).raise_for_status()
    refused = client.post(f"{path}/shadow/rollout", json=share, headers=ANY)
    assert (refused.status_code, refused.json()["type"]) == (409, "urn:tripline:problem:wrong-state")
    assert "same groups" in refused.json()["detail"]
    assert client.post(f"{path}/shadow/rollout", json=share).status_code == 428


def test_a_rule_as_it_is_answered_may_be_sent_back(client: httpx.Client) -> None:
    rule = started(client)
    path = f"/v1/rules/{rule['ruleId']}"
    ended = client.delete(f"{path}/shadow", headers=ANY).raise_for_status().json()
    assert client.put(path, json=ended, headers=ANY).status_code == 200
    wrong = client.put(path, json={**ended, "version": 4, "shadow": {"version": 1}}, headers=ANY)
    assert wrong.status_code == 422
    assert "shadow" in {error["field"] for error in wrong.json()["errors"]}


def test_what_is_wrong_is_named(client: httpx.Client) -> None:
    path = f"/v1/rules/{publish(client)['ruleId']}"
    wrong = client.post(f"{path}/shadow", json={**LOWER, "limit": "much"}, headers=ANY)
    assert (wrong.status_code, [error["field"] for error in wrong.json()["errors"]]) == (422, ["limit"])
    assert client.post(f"{path}/shadow", json=LOWER).status_code == 428
    assert client.post(f"{path}/shadow", json=LOWER, headers={"If-Match": '"9"'}).status_code == 412
    assert client.post("/v1/rules/999999/shadow", json=LOWER, headers=ANY).status_code == 404
