"""Warnings of what is legal and likely wrong, before and after a rule is published; names that are taken."""

from __future__ import annotations

import json
import uuid
from typing import Any

import httpx
import pytest

from tests.integration.registry.support.rule_requests import publish
from tests.registry import DEFINITION, RegistryApi

pytestmark = pytest.mark.integration


def fresh() -> str:
    return f"Rule of {uuid.uuid4().hex}"


def limited() -> dict[str, Any]:
    """A definition that no other test has: its window is its own."""
    return {**DEFINITION, "windowSeconds": uuid.uuid4().int % 10**6 + 10**6}


def codes(answer: httpx.Response) -> list[tuple[str, str, int | None]]:
    return [(one["code"], one["field"], one["ruleId"]) for one in answer.json()["warnings"]]


def last_position(client: httpx.Client) -> int:
    position: int = client.get("/v1/widest-windows").json()["position"]
    return position


def test_a_rule_is_looked_at_and_nothing_happens(api: RegistryApi, client: httpx.Client) -> None:
    before = last_position(client)
    never = {**limited(), "aggregatorFunctionType": "COUNT_DISTINCT", "aggregateFieldName": "paymentType"}
    with api.client("viewer-key-for-tests") as viewer:
        answer = viewer.post("/v1/rule-checks", json=never)
        assert (answer.status_code, codes(answer)) == (200, [("limit-never-reached", "limit", None)])
        assert codes(viewer.post("/v1/rule-checks", json=limited())) == []
        refused = viewer.post("/v1/rule-checks", json={**limited(), "windowSeconds": 0})
        assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "windowSeconds")
        assert viewer.post("/v1/rule-checks", params={"ruleId": "x"}, json=limited()).status_code == 422
    assert last_position(client) == before


def test_lists_and_parameters_count_as_they_stand(client: httpx.Client) -> None:
    name = f"l{uuid.uuid4().hex}"
    client.put(f"/v1/lists/{name}", json={"values": []}).raise_for_status()
    body = {**limited(), "filter": {"field": "payeeId", "in": {"list": name}}}
    assert codes(client.post("/v1/rule-checks", json=body)) == [
        ("filter-excludes-everything", "filter", None)
    ]
    client.put(f"/v1/lists/{name}", json={"values": ["7"]}, headers={"If-Match": "*"}).raise_for_status()
    assert codes(client.post("/v1/rule-checks", json=body)) == []
    client.put(f"/v1/parameters/{name}", json={"value": "0"}).raise_for_status()
    count = {
        **limited(),
        "aggregatorFunctionType": "COUNT",
        "aggregateFieldName": None,
        "limit": {"parameter": name},
    }
    assert codes(client.post("/v1/rule-checks", json=count)) == [("limit-always-reached", "limit", None)]


def test_what_was_published_is_answered_with_its_warnings(client: httpx.Client) -> None:
    body = limited()
    first = client.post("/v1/rules", json=body)
    assert (first.status_code, codes(first)) == (201, [])
    rule_id = first.json()["ruleId"]
    second = client.post("/v1/rules", json=body)
    assert (second.status_code, codes(second)) == (201, [("same-as-another", "", rule_id)])
    higher = {**body, "limit": "2000"}
    path = f"/v1/rules/{second.json()['ruleId']}"
    changed = client.put(path, json=higher, headers={"If-Match": "*"})
    assert (changed.status_code, codes(changed)) == (200, [("shadowed-by-another", "limit", rule_id)])
    assert "warnings" not in client.get(path).json()
    sent_back = client.put(path, json=changed.json(), headers={"If-Match": "*"})
    assert (sent_back.status_code, sent_back.json()["version"]) == (200, changed.json()["version"] + 1)
    of_itself = client.post("/v1/rule-checks", params={"ruleId": rule_id}, json=body)
    assert codes(of_itself) == []


def test_what_says_the_same_is_told_of_a_great_many_that_are_alike(client: httpx.Client) -> None:
    body, base = limited(), 500_000_000 + uuid.uuid4().int % 10**6
    harder = [
        {**body, "limit": str(5_000 + n), "name": fresh(), "ruleId": base + n, "ruleState": "ACTIVE"}
        for n in range(150)
    ]
    same = {**body, "name": fresh(), "ruleId": base + 500, "ruleState": "ACTIVE"}
    answer = client.post(
        "/v1/rules/import",
        content=json.dumps([*harder, same]),
        headers={"Content-Type": "application/json"},
    )
    assert {one["outcome"] for one in answer.json()["results"]} == {"published"}
    assert codes(client.post("/v1/rule-checks", json=body)) == [("same-as-another", "", base + 500)]
    hardest = codes(client.post("/v1/rule-checks", json={**body, "limit": "9000"}))
    assert {code for code, _, _ in hardest} == {"shadowed-by-another"}
    # rules of other tests are among those that were looked at
    assert 0 < len(hardest) <= 80


def test_parameters_as_limits_and_chained_rules_are_compared_too(client: httpx.Client) -> None:
    name = f"p{uuid.uuid4().hex}"
    client.put(f"/v1/parameters/{name}", json={"value": "5"}).raise_for_status()
    by_parameter = {**limited(), "limit": {"parameter": name}}
    chained = {"conditions": {"all": [limited(), limited()]}}
    for body in (by_parameter, chained):
        rule = client.post("/v1/rules", json=body).json()
        assert codes(client.post("/v1/rule-checks", json=body)) == [("same-as-another", "", rule["ruleId"])]
    assert codes(client.post("/v1/rule-checks", json={**by_parameter, "limit": "5"})) == []


def test_a_name_belongs_to_one_living_rule(client: httpx.Client) -> None:
    name = fresh()
    rule = publish(client, name=name)
    taken = client.post("/v1/rules", json={**DEFINITION, "name": name.upper()})
    problem = taken.json()
    assert (taken.status_code, problem["type"]) == (409, "urn:tripline:problem:name-taken")
    assert (problem["ruleId"], problem["detail"]) == (
        rule["ruleId"],
        f"Rule {rule['ruleId']} is called {name.upper()!r} already. Choose another name.",
    )
    other = publish(client)
    path = f"/v1/rules/{other['ruleId']}"
    assert client.put(path, json={**DEFINITION, "name": name}, headers={"If-Match": "*"}).status_code == 409
    check = client.post("/v1/rule-checks", json={**limited(), "name": name})
    assert codes(check) == [("name-taken", "name", rule["ruleId"])]
    # its own it keeps, and a deleted rule lets go of it
    itself = f"/v1/rules/{rule['ruleId']}"
    assert client.put(itself, json={**limited(), "name": name}, headers={"If-Match": "*"}).status_code == 200
    client.delete(itself, headers={"If-Match": "*"}).raise_for_status()
    assert client.put(path, json={**limited(), "name": name}, headers={"If-Match": "*"}).status_code == 200


def test_a_file_may_call_several_the_same_and_is_told(client: httpx.Client) -> None:
    name, base = fresh(), 400_000_000 + uuid.uuid4().int % 10**6
    records = [{**DEFINITION, "name": name, "ruleId": base + n, "ruleState": "ACTIVE"} for n in (0, 1)]
    answer = client.post(
        "/v1/rules/import", content=json.dumps(records), headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == 200, answer.text
    first, second = answer.json()["results"]
    assert (first["outcome"], first["warnings"]) == ("published", [])
    assert [(one["code"], one["ruleId"]) for one in second["warnings"]] == [("name-taken", base)]
    # none of them has to change its name, and the next version says nothing of it
    again = client.post(
        "/v1/rules/import",
        content=json.dumps([{**records[1], "limit": "7"}]),
        headers={"Content-Type": "application/json"},
    )
    assert again.json()["results"][0]["warnings"] == []
    assert client.put(
        f"/v1/rules/{base}", json={**limited(), "name": name}, headers={"If-Match": "*"}
    ).is_success
