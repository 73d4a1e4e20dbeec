"""CSV files of entries: events of what fits one, nothing of a file with a wrong line, and once per key."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.integration.registry.support.list_requests import (
    events_of,
    fresh,
    import_csv,
    pages,
    remove,
    values_of,
)
from tripline_contracts import schemas
from tripline_contracts.canonical import canonical_json

pytestmark = pytest.mark.integration


def test_an_import_of_some_events(client: httpx.Client, name: str) -> None:
    lines = [f"payee-{i:06},\n" for i in range(24_998)]
    answer = import_csv(
        client, name, "value,until\n" + "".join(lines) + 'a\n"x, ""y""",2096-10-02T07:06:40Z\n'
    )
    assert answer.status_code == 200, answer.text
    body = answer.json()
    assert {key: body[key] for key in ("lines", "added", "removed", "events", "size", "version")} == {
        "lines": 25_000, "added": 24_999, "removed": 0, "events": 3, "size": 25_001, "version": 4,
    }  # fmt: skip
    events = events_of(client, name)[1:]
    for event in events:
        schemas.validator("rules.v1")(event)
        assert len(canonical_json(event)) < 600_000
    assert [len(event["added"]) for event in events] == [10_000, 10_000, 4_999]
    # it is longer than an event can hold as a whole
    whole = client.get(f"/v1/lists/{name}").raise_for_status().json()
    assert (whole["size"], "values" in whole) == (25_001, False)
    (listed,) = [
        item for page in itertools.islice(_lists(client), 200) for item in page if item["name"] == name
    ]
    assert listed["size"] == 25_001
    assert values_of(client, name, prefix="payee-0249", limit=100) == [
        f"payee-{i:06}" for i in range(24_900, 24_998)
    ]
    (quoted,) = next(pages(client, name, prefix="x"))
    assert (quoted["value"], quoted["until"]) == ('x, "y"', 4_000_000_000_000)
    again = import_csv(client, name, "".join(lines))
    assert (again.json()["added"], again.json()["events"], again.headers["ETag"]) == (0, 0, '"4"')
    put = client.put(f"/v1/lists/{name}", json={"values": ["payee-000001", "z"]}).raise_for_status()
    assert (put.json()["size"], put.json()["version"]) == (2, 5)
    assert values_of(client, name) == ["payee-000001", "z"]


def _lists(client: httpx.Client) -> Iterator[list[dict[str, Any]]]:
    page = client.get("/v1/lists", params={"limit": 100})
    while True:
        yield page.json()["items"]
        if "next" not in page.links:
            return
        page = client.get(page.links["next"]["url"])


def test_of_a_file_with_a_wrong_line_nothing_is_taken(client: httpx.Client, name: str) -> None:
    answer = import_csv(client, name, f"c\n{'x' * 65}\nd,tomorrow\n,\n")
    assert (answer.status_code, answer.json()["type"]) == (422, "urn:tripline:problem:invalid-input")
    errors = {error["field"]: error["message"] for error in answer.json()["errors"]}
    assert list(errors) == ["line 2", "line 3", "line 4"]
    assert "1 to 64 characters" in errors["line 2"]
    assert "2026-12-31T23:59:59Z" in errors["line 3"]
    assert client.get(f"/v1/lists/{name}").json()["values"] == ["a", "b"]


def test_files_that_are_none(client: httpx.Client, name: str) -> None:
    path = f"/v1/lists/{name}/imports"
    assert client.post(path, json={"values": ["c"]}).status_code == 415
    assert import_csv(client, name, b"\xff\xfe").status_code == 400
    assert import_csv(client, name, b"").status_code == 422
    too_long = import_csv(client, name, b"x" * (32 * 1024 * 1024 + 1))
    assert too_long.status_code == 413, too_long.text
    assert client.get(f"/v1/lists/{name}").headers["ETag"] == '"1"'


def test_an_import_happens_once_per_key(client: httpx.Client, name: str) -> None:
    headers = {"Idempotency-Key": fresh(), "If-Match": '"1"'}
    first = import_csv(client, name, "c\n", **headers)
    assert first.status_code == 200, first.text
    remove(client, name, "c").raise_for_status()
    assert import_csv(client, name, "c\n", **headers).json() == first.json()
    assert import_csv(client, name, "d\n", **headers).status_code == 422
    assert import_csv(client, name, "d\n", **{"If-Match": '"1"'}).status_code == 412
