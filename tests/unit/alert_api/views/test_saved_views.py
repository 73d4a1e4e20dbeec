"""Saved views over HTTP: each for its owner, checked, and so many at most."""

from __future__ import annotations

from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from alert_api.service.saved_views import MOST_VIEWS
from tests.unit.alert_api.support.samples import app, key

NOW = 7_000
ADA, AS_ADA = key("ada", "alerts:read")
EVE, AS_EVE = key("eve", "alerts:read")
BOB, AS_BOB = key("bob", "rules:read")
MINE = {"state": "open", "assignee": "ada", "ruleId": [1, 7], "subject": "payeeId:Müller: & Söhne"}


@pytest.fixture
def client() -> FlaskClient:
    return app(keys=[ADA, EVE, BOB], clock=NOW).test_client()


def save(client: FlaskClient, name: str, chosen: Any, headers: dict[str, str] = AS_ADA) -> TestResponse:
    return client.put(f"/v1/views/{name}", json={"filter": chosen}, headers=headers)


def names(client: FlaskClient, headers: dict[str, str] = AS_ADA) -> list[str]:
    return [view["name"] for view in client.get("/v1/views", headers=headers).get_json()["items"]]


def test_a_view_is_kept_replaced_and_forgotten(client: FlaskClient) -> None:
    kept = {"name": "Größere Fälle", "filter": MINE, "savedAt": NOW}
    answer = save(client, "Größere Fälle", MINE)
    assert (answer.status_code, answer.get_json()) == (200, kept)
    assert client.get("/v1/views", headers=AS_ADA).get_json() == {"items": [kept]}
    assert save(client, "Größere Fälle", {"state": "all"}).get_json()["filter"] == {"state": "all"}
    save(client, "A", {})
    assert names(client) == ["A", "Größere Fälle"]
    assert client.delete("/v1/views/A", headers=AS_ADA).status_code == 204
    assert client.delete("/v1/views/A", headers=AS_ADA).status_code == 404
    assert names(client) == ["Größere Fälle"]


def test_nobody_sees_or_removes_another_one_s(client: FlaskClient) -> None:
    save(client, "mine", MINE)
    assert names(client, AS_EVE) == []
    assert client.delete("/v1/views/mine", headers=AS_EVE).status_code == 404
    save(client, "mine", {"state": "all"}, AS_EVE)
    assert client.get("/v1/views", headers=AS_ADA).get_json()["items"][0]["filter"] == MINE
    for answer in (client.get("/v1/views", headers=AS_BOB), save(client, "mine", {}, AS_BOB)):
        assert answer.status_code == 403
    assert client.get("/v1/views").status_code == 401


def test_there_are_so_many_at_most_and_those_there_are_can_be_changed(client: FlaskClient) -> None:
    for number in range(MOST_VIEWS):
        assert save(client, f"view {number}", {}).status_code == 200
    answer = save(client, "one more", {})
    assert (answer.status_code, answer.get_json()["type"]) == (409, "urn:tripline:problem:too-many-views")
    assert save(client, "view 0", MINE).status_code == 200
    assert save(client, "one more", {}, AS_EVE).status_code == 200


@pytest.mark.parametrize("name", [" x", "x" * 41, "a,b", "_a", ".", "a\u202eb", "a%0a"])
def test_names_that_are_none(client: FlaskClient, name: str) -> None:
    answer = save(client, name, {})
    assert answer.status_code == 422
    assert answer.get_json()["errors"][0]["field"] == "name"
    assert client.delete(f"/v1/views/{name}", headers=AS_ADA).status_code == 422


@pytest.mark.parametrize(
    ("chosen", "field"),
    [
        ({"state": "closed"}, "filter.state"),
        ({"outcome": "fraud"}, "filter.outcome"),
        ({"assignee": ""}, "filter.assignee"),
        ({"ruleId": [0]}, "filter.ruleId.0"),
        ({"ruleId": []}, "filter.ruleId"),
        ({"ruleId": ["1"]}, "filter.ruleId.0"),
        ({"subject": "nothing:25"}, "filter.subject"),
        ({"colour": "red"}, "filter.colour"),
        (None, "filter"),
    ],
)
def test_filters_that_are_none(client: FlaskClient, chosen: Any, field: str) -> None:
    answer = save(client, "x", chosen)
    assert answer.status_code == 422
    assert [error["field"] for error in answer.get_json()["errors"]] == [field]
    assert names(client) == []
