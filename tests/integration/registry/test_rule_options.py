"""Filter, firing, resetOnAlert, lateEvents and cooldownSeconds through the API and the database and back."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.registry import DEFINITION
from tripline_contracts import event_type_loader, schemas
from tripline_contracts.rules import rule_definition

pytestmark = pytest.mark.integration

WRITTEN: dict[str, Any] = {
    "filter": {
        "all": [
            {"field": "paymentType", "operator": "EQUAL", "value": "CSH"},
            {"any": [{"field": "paymentAmount", "operator": "<", "value": "1000.50"}]},
            {"not": {"field": "payerId", "in": ["ü😀", 25, "25"]}},
            {"field": "eventTime", "operator": ">=", "value": 1763640000000},
        ]
    },
    "firing": "crossing",
    "resetOnAlert": True,
    "lateEvents": "store",
    "cooldownSeconds": 600,
}
KEPT = {
    **WRITTEN,
    "filter": {
        "all": [
            {"field": "paymentType", "operator": "=", "value": "CSH"},
            {"any": [{"field": "paymentAmount", "operator": "<", "value": "1000.5"}]},
            {"not": {"field": "payeeId", "in": ["25", "ü😀"]}},
            {"field": "eventTime", "operator": ">=", "value": 1763640000000},
        ]
    },
}


def test_they_are_kept_and_answered_normalised(client: httpx.Client) -> None:
    published = client.post("/v1/rules", json={**DEFINITION, **WRITTEN})
    assert published.status_code == 201, published.text
    answered = client.get(f"/v1/rules/{published.json()['ruleId']}").json()
    assert {name: answered["definition"].get(name) for name in KEPT} == KEPT
    (event,) = client.get("/v1/rule-events", params={"ruleId": answered["ruleId"]}).json()["items"]
    schemas.validator("rules.v1")(event)
    definition = rule_definition.parse(event["definition"], event_type_loader.load())
    assert definition.hash == event["definitionHash"] == answered["definitionHash"]


def test_a_rule_without_them_shows_none(client: httpx.Client) -> None:
    published = client.post(
        "/v1/rules",
        json={**DEFINITION, "filter": None, "firing": None, "resetOnAlert": False, "cooldownSeconds": None},
    ).json()
    assert not {"filter", "resetOnAlert", "cooldownSeconds"} & set(published["definition"])
    answered = client.get(f"/v1/rules/{published['ruleId']}").json()
    assert answered["definition"] == published["definition"]


@pytest.mark.parametrize(
    "changes",
    [
        {"aggregatorFunctionType": "COUNT_DISTINCT", "aggregateFieldName": "beneficiaryId"},
        {"lateEvents": "reevaluate"},
    ],
)
def test_different_values_and_judging_again_are_kept(client: httpx.Client, changes: dict[str, Any]) -> None:
    published = client.post("/v1/rules", json={**DEFINITION, **changes})
    assert published.status_code == 201, published.text
    answered = client.get(f"/v1/rules/{published.json()['ruleId']}").json()
    assert {name: answered["definition"][name] for name in changes} == changes
    (event,) = client.get("/v1/rule-events", params={"ruleId": answered["ruleId"]}).json()["items"]
    schemas.validator("rules.v1")(event)


def test_a_wrong_filter_is_answered_with_the_path(client: httpx.Client) -> None:
    wrong = {"any": [{"field": "payeeId", "operator": ">", "value": "1"}]}
    refused = client.post("/v1/rules", json={**DEFINITION, "filter": wrong})
    assert refused.status_code == 422
    assert [error["field"] for error in refused.json()["errors"]] == ["filter.any[0].operator"]


def test_the_deepest_filter_passes_and_a_deeper_one_is_explained(client: httpx.Client) -> None:
    deepest: dict[str, Any] = {"field": "payeeId", "in": ["1"]}
    for _ in range(11):
        deepest = {"all": [deepest]}
    assert client.post("/v1/rules", json={**DEFINITION, "filter": deepest}).status_code == 201
    refused = client.post("/v1/rules", json={**DEFINITION, "filter": {"all": [deepest]}})
    assert refused.status_code == 422
    assert "nested more than 12 deep" in refused.text


def test_conditions_are_kept_and_need_the_history_of_each_grouping(client: httpx.Client) -> None:
    def condition(seconds: int, *grouping: str) -> dict[str, Any]:
        measured = {name: value for name, value in DEFINITION.items() if name != "name"}
        return {**measured, "groupingKeyNames": list(grouping), "windowSeconds": seconds}

    def widest() -> dict[tuple[str, ...], tuple[int, int]]:
        items = client.get("/v1/widest-windows").json()["items"]
        return {tuple(i["groupingKeyNames"]): (i["windowSeconds"], i["ruleId"]) for i in items}

    limited = condition(15_000_000, "paymentAmount")
    before = {name: limited[name] for name in limited if not name.startswith("limit")} | {
        "offsetSeconds": 9_000_000
    }
    wide = [
        condition(30_000_000, "paymentAmount", "paymentType"),
        {"not": condition(20_000_000, "paymentAmount")},
        {"any": [{**condition(9, "paymentAmount"), "limit": {"measure": before}}]},
    ]
    published = client.post("/v1/rules", json={"conditions": {"all": wide}})
    assert published.status_code == 201, published.text
    rule_id = published.json()["ruleId"]
    assert client.get(f"/v1/rules/{rule_id}").json()["definition"] == published.json()["definition"]
    (event,) = client.get("/v1/rule-events", params={"ruleId": rule_id}).json()["items"]
    schemas.validator("rules.v1")(event)
    for key in ("paymentAmount", "paymentType"):
        listed = client.get("/v1/rules", params={"groupingKey": key, "limit": 100}).json()["items"]
        assert rule_id in [rule["ruleId"] for rule in listed]
    assert widest()["paymentAmount", "paymentType"] == (30_000_000, rule_id)
    assert widest()["paymentAmount",] == (24_000_000, rule_id)
    # what the next change of another rule asks the database for
    other = client.post("/v1/rules", json=condition(8, "paymentAmount")).json()["ruleId"]
    assert widest()["paymentAmount", "paymentType"] == (30_000_000, rule_id)
    assert widest()["paymentAmount",] == (24_000_000, rule_id)
    client.delete(f"/v1/rules/{rule_id}", headers={"If-Match": "*"})
    assert widest()["paymentAmount",] == (8, other)
    assert ("paymentAmount", "paymentType") not in widest()


def test_steps_are_kept_and_told_apart(client: httpx.Client) -> None:
    def stepped(step: str, seconds: int) -> int:
        grouping = [{"field": "paymentAmount", "step": step}, "paymentType"]
        body = {**DEFINITION, "groupingKeyNames": grouping, "windowSeconds": seconds}
        published = client.post("/v1/rules", json=body)
        assert published.status_code == 201, published.text
        assert published.json()["definition"]["groupingKeyNames"] == grouping
        (event,) = client.get("/v1/rule-events", params={"ruleId": published.json()["ruleId"]}).json()[
            "items"
        ]
        schemas.validator("rules.v1")(event)
        return int(published.json()["ruleId"])

    def widest() -> list[tuple[object, int]]:
        items = client.get("/v1/widest-windows").json()["items"]
        return [
            (key["step"], i["ruleId"])
            for i in items
            for key in i["groupingKeyNames"]
            if isinstance(key, dict)
        ]

    narrow, wide, other = stepped("10", 60), stepped("10", 120), stepped("50", 30)
    assert sorted(widest()) == [("10", wide), ("50", other)]
    listed = client.get("/v1/rules", params={"groupingKey": "paymentAmount", "limit": 100}).json()["items"]
    assert {narrow, wide, other} <= {rule["ruleId"] for rule in listed}
    client.delete(f"/v1/rules/{wide}", headers={"If-Match": "*"})
    assert sorted(widest()) == [("10", narrow), ("50", other)]
