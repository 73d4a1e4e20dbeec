"""Lists and parameters through the API and the database: versions, conditions, pages, and rules that name them."""

from __future__ import annotations

import json
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.integration.registry.support.list_requests import events_of, fresh
from tests.registry import DEFINITION, RegistryApi
from tripline_contracts import schemas
from tripline_contracts.filters import named_values

pytestmark = pytest.mark.integration


def test_a_list_is_made_changed_and_read(client: httpx.Client, api: RegistryApi) -> None:
    name = fresh()
    path = f"/v1/lists/{name}"
    missing = client.get(path)
    assert (missing.status_code, missing.json()["type"]) == (404, "urn:tripline:problem:name-not-found")
    made = client.put(path, json={"values": ["b", "ü😀", 25, "b", " a"]})
    assert (made.status_code, made.headers["ETag"], made.headers["Location"]) == (201, '"1"', path)
    assert made.json()["values"] == [" a", "25", "b", "ü😀"]
    assert client.get(path).json() == made.json()
    assert client.get(path).headers["ETag"] == '"1"'
    # the same set again is no change, whoever sends it and in whatever order
    with api.client("second-key-for-tests") as second:
        again = second.put(path, json={"values": ["ü😀", "25", "b", " a"]})
        assert (again.status_code, again.json()) == (200, made.json())
        emptied = second.put(path, json={"values": []}, headers={"If-Match": '"1"'})
    assert (emptied.status_code, emptied.headers["ETag"]) == (200, '"2"')
    assert {key: emptied.json()[key] for key in ("version", "values", "size", "changedBy")} == {
        "version": 2, "values": [], "size": 0, "changedBy": "second",
    }  # fmt: skip
    events = events_of(client, name)
    for event in events:
        schemas.validator("rules.v1")(event)
    assert [(event["type"], event["version"], event["values"], event["actor"]) for event in events] == [
        ("ListChanged", 1, [" a", "25", "b", "ü😀"], "analyst"), ("ListChanged", 2, [], "second"),
    ]  # fmt: skip
    assert events[-1]["position"] == emptied.json()["position"]


def test_a_parameter_is_made_changed_and_read(client: httpx.Client) -> None:
    name = fresh()
    path = f"/v1/parameters/{name}"
    assert client.put(path, json={"value": "10.50"}).json()["value"] == "10.5"
    assert client.put(path, json={"value": "1.05e1"}).json()["version"] == 1
    assert client.put(path, json={"value": -7}).json()["value"] == "-7"
    assert client.get(path).json()["version"] == 2
    events = events_of(client, name)
    for event in events:
        schemas.validator("rules.v1")(event)
    assert [(event["type"], event["value"]) for event in events] == [
        ("ParameterChanged", "10.5"), ("ParameterChanged", "-7"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("before", "if_match", "status", "reason"),
    [
        (0, None, 201, "nothing expected"),
        (0, '"0"', 201, "what is not there has version 0"),
        (0, "*", 412, "* is any version of what is there"),
        (0, '"1"', 412, "somebody thought that it is there"),
        (2, '"2"', 200, "the current one"),
        (2, "*", 200, "any"),
        (2, '"1", "2"', 200, "one of these"),
        (2, '"1"', 412, "an old one"),
        (2, '"0"', 412, "to make only"),
        (2, 'W/"2"', 412, "weak tags never match"),
        (2, "2", 400, "no entity tag"),
    ],
)
def test_conditions(
    client: httpx.Client, before: int, if_match: str | None, status: int, reason: str
) -> None:
    path = f"/v1/parameters/{fresh()}"
    for value in range(before):
        client.put(path, json={"value": value}).raise_for_status()
    headers = {} if if_match is None else {"If-Match": if_match}
    answer = client.put(path, json={"value": 100}, headers=headers)
    assert answer.status_code == status, (reason, answer.text)
    if status == 412:
        assert (answer.headers["ETag"], answer.json()["currentVersion"]) == (f'"{before}"', before)


def test_a_repeated_request_happens_once(client: httpx.Client) -> None:
    path, headers = f"/v1/lists/{fresh()}", {"Idempotency-Key": fresh()}
    first = client.put(path, json={"values": ["a"]}, headers=headers)
    client.put(path, json={"values": ["b"]}).raise_for_status()
    again = client.put(path, json={"values": ["a"]}, headers=headers)
    assert (again.status_code, again.json()) == (201, first.json())
    assert client.get(path).json()["values"] == ["b"]
    assert client.put(path, json={"values": ["c"]}, headers=headers).status_code == 422


WRONG: list[tuple[str, Any, list[str], str]] = [
    ("lists/ok", {}, ["values"], "no values"),
    ("lists/ok", {"values": "a"}, ["values"], "no list"),
    ("lists/ok", {"values": ["a", ""]}, ["values[1]"], "an empty text"),
    ("lists/ok", {"values": ["a" * 65]}, ["values[0]"], "too long"),
    ("lists/ok", {"values": [1.5]}, ["values[0]"], "a fraction"),
    ("lists/ok", {"values": ["a"] * 10_001}, ["values"], "too many, even of one"),
    ("lists/ok", {"values": [], "value": "1"}, ["value"], "a parameter's field"),
    ("lists/9", {"values": [None]}, ["name", "values[0]"], "everything at once"),
    ("lists/a.b", {"values": []}, ["name"], "no name"),
    (f"lists/{'a' * 65}", {"values": []}, ["name"], "a name that is too long"),
    ("lists/a%00", {"values": []}, ["name"], "U+0000"),
    ("parameters/ok", {"value": None}, ["value"], "no number"),
    ("parameters/ok", {"value": "0.0000001"}, ["value"], "too fine"),
    ("parameters/ok", {"value": {"parameter": "ok"}}, ["value"], "a parameter of a parameter"),
    ("parameters/ok", {"values": []}, ["values", "value"], "a list's field"),
]


@pytest.mark.parametrize(("path", "body", "fields", "reason"), WRONG, ids=[case[-1] for case in WRONG])
def test_wrong(client: httpx.Client, path: str, body: Any, fields: list[str], reason: str) -> None:
    answer = client.put(f"/v1/{path}", json=body)
    assert answer.status_code == 422, (reason, answer.text)
    assert [error["field"] for error in answer.json()["errors"]] == fields


@pytest.mark.parametrize("path", ["lists/9", "lists/a%00b", "parameters/%F0%9F%98%80"])
def test_what_is_no_name_is_not_found(client: httpx.Client, path: str) -> None:
    assert client.get(f"/v1/{path}").status_code == 404


def test_the_largest_list_passes_however_it_is_escaped(client: httpx.Client) -> None:
    values = [f"{i:04}" + "\U0001f600" * 60 for i in range(2_120)]
    body = json.dumps({"values": values}, ensure_ascii=True).encode()
    assert len(body) > 2 * named_values.MAX_LIST_BYTES
    path = f"/v1/lists/{fresh()}"
    answer = client.put(path, content=body, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["size"]) == (201, 2_120), answer.text[:300]
    too_large = client.put(
        path, json={"values": [*values, *(f"x{i}" + "\U0001f600" * 60 for i in range(60))]}
    )
    assert [error["field"] for error in too_large.json()["errors"]] == ["values"]
    assert (
        client.put(path, content=b" " * 3_000_000, headers={"Content-Type": "application/json"}).status_code
        == 413
    )


def test_pages_by_name(client: httpx.Client) -> None:
    prefix = f"z{uuid.uuid4().hex}"
    # by code point: capitals, then _, then small letters
    wanted = [f"{prefix}{end}" for end in ("-x", "B", "_a", "a")]
    for name in reversed(wanted):
        client.put(f"/v1/lists/{name}", json={"values": ["1", "2"]}).raise_for_status()
    versions: list[dict[str, Any]] = []
    page = client.get("/v1/lists", params={"limit": 1})
    while True:
        versions += page.json()["items"]
        if "next" not in page.links:
            break
        page = client.get(page.links["next"]["url"])
    assert [item["name"] for item in versions if item["name"].startswith(prefix)] == wanted
    assert versions == sorted(versions, key=lambda item: item["name"])
    assert (versions[-1]["size"], "values" in versions[-1]) == (2, False)
    parameter = client.put(f"/v1/parameters/{prefix}", json={"value": "3"}).json()
    (listed,) = [
        item for item in client.get("/v1/parameters?limit=100").json()["items"] if item["name"] == prefix
    ]
    assert listed == parameter
    cursor = client.get("/v1/lists", params={"limit": 1}).links["next"]["url"]
    assert client.get(cursor.replace("/v1/lists", "/v1/parameters")).status_code == 400


def naming(listed: str, parameter: str) -> dict[str, Any]:
    return {
        **DEFINITION,
        "filter": {"all": [{"field": "payerId", "in": {"List": listed}},
                           {"field": "paymentAmount", "operator": ">", "value": {"parameter": parameter}}]},
        "limit": {"parameter": parameter},
    }  # fmt: skip


def test_a_rule_may_name_only_what_exists(client: httpx.Client) -> None:
    listed, parameter = fresh(), fresh()
    refused = client.post("/v1/rules", json=naming(listed, parameter))
    assert (refused.status_code, refused.json()["type"]) == (422, "urn:tripline:problem:unknown-name")
    assert [error["field"] for error in refused.json()["errors"]] == [
        "limit", "filter.all[0].in", "filter.all[1].value",
    ]  # fmt: skip
    assert listed in refused.json()["errors"][1]["message"]
    record = {**naming(listed, parameter), "ruleId": 900_000, "ruleState": "ACTIVE"}
    imported = client.post("/v1/rules/import", json=[record])
    assert (imported.status_code, imported.json()["type"]) == (422, "urn:tripline:problem:import-refused")
    assert imported.json()["results"][0]["errors"][0]["field"] == "limit"
    client.put(f"/v1/lists/{listed}", json={"values": []}).raise_for_status()
    client.put(f"/v1/parameters/{parameter}", json={"value": 5}).raise_for_status()
    published = client.post("/v1/rules", json=naming(listed, parameter))
    assert published.status_code == 201, published.text
    path = f"/v1/rules/{published.json()['ruleId']}"
    for answered in (published.json(), client.get(path).json(), client.get(f"{path}/versions/1").json()):
        assert answered["definition"]["limit"] == {"parameter": parameter}
        assert answered["definition"]["filter"]["all"][0] == {"field": "payeeId", "in": {"list": listed}}
    changed = client.put(path, json=naming(fresh(), parameter), headers={"If-Match": '"1"'})
    assert changed.status_code == 422
    # the list changes without the rule
    client.put(f"/v1/lists/{listed}", json={"values": ["25"]}).raise_for_status()
    assert client.get(path).headers["ETag"] == '"1"'
    events = client.get("/v1/rule-events", params={"ruleId": published.json()["ruleId"]}).json()["items"]
    assert len(events) == 1
    schemas.validator("rules.v1")(events[0])


def test_writers_at_once_take_versions_one_by_one(api: RegistryApi) -> None:
    path, start = f"/v1/lists/{fresh()}", threading.Barrier(6)

    def put(number: int) -> int:
        with api.client() as http:
            start.wait(10)
            return int(http.put(path, json={"values": [number]}).raise_for_status().json()["version"])

    with ThreadPoolExecutor(6) as pool:
        assert sorted(pool.map(put, range(6))) == [1, 2, 3, 4, 5, 6]


def test_scopes_are_held(api: RegistryApi) -> None:
    with api.client("viewer-key-for-tests") as viewer:
        assert viewer.get("/v1/lists").status_code == 200
        assert viewer.get("/v1/parameters").status_code == 200
        for path, body in (("lists/a", {"values": []}), ("parameters/a", {"value": 1})):
            assert viewer.put(f"/v1/{path}", json=body).status_code == 403
