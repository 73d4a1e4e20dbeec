"""Entries of lists through the API and the database: pages, search, changes, ends, and what was there before."""

from __future__ import annotations

import time
import uuid
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.integration.registry.support.list_requests import (
    add,
    events_of,
    fresh,
    import_csv,
    pages,
    remove,
    values_of,
)
from tests.registry import RegistryApi, running_api
from tests.servers import PostgresServer
from tripline_contracts import schemas
from tripline_demo import migrations

pytestmark = pytest.mark.integration
BEFORE_ENTRIES = "0021_effective_until"


def test_entries_come_and_go_by_events(client: httpx.Client, name: str) -> None:
    added = add(client, name, "c", 25, {"value": "a"}, {"value": "d", "until": 4_000_000_000_000})
    assert (added.status_code, added.headers["ETag"]) == (200, '"2"')
    body = added.json()
    assert (body["added"], body["removed"], body["size"], body["version"]) == (3, 0, 5, 2)
    removed = remove(client, name, "b", "nobody", headers={"If-Match": '"2"'})
    assert (removed.json()["removed"], removed.json()["size"], removed.headers["ETag"]) == (1, 4, '"3"')
    whole = client.get(f"/v1/lists/{name}").json()
    assert (whole["values"], whole["size"], whole["version"]) == (["25", "a", "c", "d"], 4, 3)
    (page,) = pages(client, name)
    assert [(entry["value"], entry["until"]) for entry in page] == [
        ("25", None), ("a", None), ("c", None), ("d", 4_000_000_000_000),
    ]  # fmt: skip
    first, second, third = events_of(client, name)
    for event in (first, second, third):
        schemas.validator("rules.v1")(event)
    assert [event["type"] for event in (first, second, third)] == ["ListChanged", *["ListEntriesChanged"] * 2]
    assert second["added"] == [
        {"value": "25"}, {"value": "c"}, {"value": "d", "until": 4_000_000_000_000},
    ]  # fmt: skip
    assert (third["added"], third["removed"], third["version"]) == ([], ["b"], 3)
    assert page[0]["position"] == second["position"]
    assert removed.json()["position"] == third["position"]


def test_what_changes_nothing_is_no_event(client: httpx.Client, name: str) -> None:
    for answer in (add(client, name, "a"), remove(client, name, "nobody"), add(client, name)):
        assert (answer.status_code, answer.headers["ETag"]) == (200, '"1"')
        assert (answer.json()["added"], answer.json()["removed"]) == (0, 0)
    assert len(events_of(client, name)) == 1


def test_conditions_and_repeats(client: httpx.Client, name: str) -> None:
    stale = add(client, name, "c", headers={"If-Match": '"2"'})
    assert (stale.status_code, stale.json()["currentVersion"]) == (412, 1)
    key = {"Idempotency-Key": fresh()}
    first = add(client, name, "c", headers=key)
    remove(client, name, "c").raise_for_status()
    assert add(client, name, "c", headers=key).json() == first.json()
    assert "c" not in client.get(f"/v1/lists/{name}").json()["values"]
    assert add(client, name, "d", headers=key).status_code == 422


def test_a_list_has_to_be_there(client: httpx.Client) -> None:
    missing = fresh()
    calls = [
        client.get(f"/v1/lists/{missing}/entries"),
        client.get("/v1/lists/9/entries"),
        add(client, missing, "a"),
        remove(client, missing, "a"),
        import_csv(client, missing, "a\n"),
    ]
    assert {answer.status_code for answer in calls} == {404}
    assert calls[2].json()["type"] == "urn:tripline:problem:name-not-found"


WRONG: list[tuple[str, Any, list[str], str]] = [
    ("entries", {}, ["entries"], "no entries"),
    ("entries", {"entries": ["a"]}, ["entries[0]"], "a text for an entry"),
    ("entries", {"entries": [{"value": "a"}, {"value": ""}]}, ["entries[1].value"], "an empty text"),
    ("entries", {"entries": [{"value": "a", "untill": 5}]}, ["entries[0].untill"], "an unknown field"),
    ("entries", {"entries": [{"value": "a", "until": "x"}]}, ["entries[0].until"], "no time"),
    ("entries", {"entries": [], "values": []}, ["values"], "a field of the other"),
    ("entries", {"entries": [{"value": "a"}] * 10_001}, ["entries"], "too many, even of one"),
    ("entries/remove", {"values": ["a", None]}, ["values[1]"], "null"),
    ("entries/remove", {"entries": []}, ["entries", "values"], "a field of the other"),
]


@pytest.mark.parametrize(("path", "body", "fields", "reason"), WRONG, ids=[case[-1] for case in WRONG])
def test_wrong(client: httpx.Client, name: str, path: str, body: Any, fields: list[str], reason: str) -> None:
    answer = client.post(f"/v1/lists/{name}/{path}", json=body)
    assert answer.status_code == 422, (reason, answer.text)
    assert [error["field"] for error in answer.json()["errors"]] == fields


def test_pages_and_search_go_by_code_point(client: httpx.Client) -> None:
    listed = fresh()
    values = [
        "A",
        "a",
        "a-1",
        "a-2",
        "ab",
        "a\U0010ffff",
        "a\U0010ffffb",
        "b",
        "ä",
        "\ud7ffx",
        "\ue000",
        "\U0010ffffz",
    ]
    client.put(f"/v1/lists/{listed}", json={"values": values}).raise_for_status()
    ordered = sorted(values)
    assert values_of(client, listed, limit=1) == ordered
    assert values_of(client, listed, limit=100) == ordered
    for prefix in ("a", "a-", "a\U0010ffff", "\ud7ff", "\ue000", "\U0010ffff", "nothing"):
        expected = [value for value in ordered if value.startswith(prefix)]
        assert values_of(client, listed, prefix=prefix, limit=2) == expected, prefix
    page = client.get(f"/v1/lists/{listed}/entries", params={"limit": 1, "prefix": "a"})
    other = page.links["next"]["url"].replace("prefix=a", "prefix=b")
    assert other != page.links["next"]["url"]
    assert client.get(other).status_code == 400
    for query in ({"prefix": ""}, {"prefix": "x" * 65}, {"limit": 101}, {"search": "a"}):
        assert client.get(f"/v1/lists/{listed}/entries", params=query).status_code == 422, query


def test_a_whole_list_takes_the_place_of_entries(client: httpx.Client, name: str) -> None:
    add(client, name, {"value": "c", "until": 4_000_000_000_000}).raise_for_status()
    put = client.put(f"/v1/lists/{name}", json={"values": ["b", "c", "d"]}).raise_for_status()
    assert (put.json()["values"], put.json()["version"]) == (["b", "c", "d"], 3)
    (page,) = pages(client, name)
    assert [(entry["value"], entry["until"]) for entry in page] == [("b", None), ("c", None), ("d", None)]
    positions = {entry["value"]: entry["position"] for entry in page}
    assert positions["b"] < positions["c"] == positions["d"] == put.json()["position"]


def test_the_same_values_without_ends_are_a_change(client: httpx.Client, name: str) -> None:
    add(client, name, {"value": "b", "until": 4_000_000_000_000}).raise_for_status()
    for version in (3, 3):
        put = client.put(f"/v1/lists/{name}", json={"values": ["a", "b"]}).raise_for_status()
        assert put.json()["version"] == version


def test_an_entry_ends_when_its_time_has_come(client: httpx.Client, name: str) -> None:
    until = time.time_ns() // 1_000_000 + 1_500
    add(
        client, name, {"value": "c", "until": until}, {"value": "d", "until": until + 3_600_000}
    ).raise_for_status()
    values = values_of(client, name)
    # a machine that was busy for so long has nothing to tell
    assert "c" in values or time.time_ns() // 1_000_000 >= until
    end = time.monotonic() + 60
    while "c" in values_of(client, name):
        assert time.monotonic() < end, "it has not ended"
        time.sleep(0.05)
    event = events_of(client, name)[-1]
    schemas.validator("rules.v1")(event)
    assert (event["actor"], event["added"], event["removed"]) == ("rules-registry", [], ["c"])
    assert until <= event["occurredAt"]
    assert values_of(client, name) == ["a", "b", "d"]
    with_key = client.get("/v1/rule-events", params={"after": event["position"] - 1, "limit": 1}).json()[
        "items"
    ]
    assert with_key[0]["type"] == "ListEntriesChanged"


def test_an_end_that_has_passed_removes_it_at_once(client: httpx.Client, name: str) -> None:
    answer = add(client, name, {"value": "a", "until": 1_000}, {"value": "c", "until": 1_000})
    assert (answer.json()["added"], answer.json()["removed"], answer.json()["size"]) == (0, 1, 1)


def test_the_trail_tells_who_changed_what(api: RegistryApi, client: httpx.Client, name: str) -> None:
    reason = {"reason": "seen in the shop"}
    client.post(
        f"/v1/lists/{name}/entries", json={"entries": [{"value": "c"}]}, params=reason
    ).raise_for_status()
    with api.client("auditor-of-role-for-tests") as auditor:
        entries = auditor.get("/v1/audit", params={"kind": "list", "subject": name}).json()["items"]
    (entry,) = [entry for entry in entries if entry["type"] == "ListEntriesChanged"]
    assert (entry["actor"], entry["reason"]) == ("analyst", "seen in the shop")
    assert entry["before"] == {"version": 1, "entries": 2}
    assert (entry["after"]["added"], entry["after"]["removed"], entry["after"]["version"]) == (1, 0, 2)


def test_scopes_are_held(api: RegistryApi, name: str) -> None:
    with api.client("viewer-key-for-tests") as viewer:
        assert values_of(viewer, name) == ["a", "b"]
        answers = [add(viewer, name, "c"), remove(viewer, name, "a"), import_csv(viewer, name, "c\n")]
    assert {answer.status_code for answer in answers} == {403}


def test_quotas_are_of_all_lists(postgres: PostgresServer, tmp_path: Path) -> None:
    with postgres.database(migrated=True) as owner:
        settings = {"TRIPLINE_MAX_LIST_BYTES": "60"}
        with running_api(postgres, owner, tmp_path, settings) as running, running.client() as client:
            client.put("/v1/lists/one", json={"values": ["a" * 20]}).raise_for_status()
            assert add(client, "one", "b" * 20).status_code == 200
            refused = add(client, "one", "c" * 20)
            assert (refused.status_code, refused.json()["quota"]) == (409, "listBytes")
            # 24 of JSON each, brackets shared
            assert (refused.json()["used"], refused.json()["allowed"]) == (70, 60)
            assert import_csv(client, "one", f"{'c' * 20}\n").json()["quota"] == "listBytes"
            remove(client, "one", "b" * 20).raise_for_status()
            assert add(client, "one", "c" * 20).status_code == 200


def test_a_second_person_approves_entries(postgres: PostgresServer, tmp_path: Path) -> None:
    with postgres.database(migrated=True) as owner:
        settings = {"TRIPLINE_FOUR_EYES": "true"}
        with (
            running_api(postgres, owner, tmp_path, settings) as running,
            running.client() as client,
            running.client("approver-of-role-for-tests") as approver,
        ):

            def approve(asked: httpx.Response) -> dict[str, Any]:
                assert asked.status_code == 202, asked.text
                change = asked.json()
                done = approver.post(
                    f"/v1/changes/{change['changeId']}/approve", json={"contentHash": change["contentHash"]}
                )
                done.raise_for_status()
                return dict(change)

            approve(client.put("/v1/lists/watched", json={"values": ["a"]}))
            asked = add(client, "watched", "b")
            assert values_of(client, "watched") == ["a"]
            change = approve(asked)
            assert (change["kind"], change["content"]["added"]) == ("LIST_ENTRIES", [{"value": "b"}])
            assert values_of(client, "watched") == ["a", "b"]
            approve(remove(client, "watched", "a"))
            approve(import_csv(client, "watched", "c\nd\n"))
            assert values_of(client, "watched") == ["b", "c", "d"]
            stale = import_csv(client, "watched", "e\n")
            many = import_csv(client, "watched", "".join(f"{i}\n" for i in range(10_001)))
            assert (many.status_code, many.json()["type"]) == (409, "urn:tripline:problem:needs-approval")
            open_one = add(client, "watched", "f")
            assert (open_one.status_code, open_one.json()["changeId"]) == (409, stale.json()["changeId"])
            listed = client.get("/v1/changes", params={"state": "SUBMITTED"}).json()["items"]
            assert [item["content"] for item in listed] == [None]


def test_lists_of_before_keep_their_values(postgres: PostgresServer, tmp_path: Path) -> None:
    insert_event = """
    INSERT INTO registry.rule_events (position, event_id, type, version, name, occurred_at, actor, body)
    VALUES (%s, %s, 'ListChanged', 1, %s, 1, 'ada', '{"widestWindows": []}')
    """
    insert = """
    INSERT INTO registry.named_values (kind, name, version, value, position, changed_at, changed_by)
    VALUES ('list', %s, 1, %s, %s, 1, 'ada')
    """
    kept = {"empty": [], "watched": ["a", 'q"uote', "ü😀"]}
    with postgres.database() as owner:
        migrations.upgrade(owner, BEFORE_ENTRIES)
        with psycopg.connect(owner) as connection:
            for position, (name, values) in enumerate(kept.items(), start=1):
                connection.execute(insert_event, [position, str(uuid.uuid4()), name])
                connection.execute(insert, [name, Jsonb(values), position])
        migrations.upgrade(owner)
        with running_api(postgres, owner, tmp_path) as running, running.client() as client:
            for name, values in kept.items():
                assert client.get(f"/v1/lists/{name}").json()["values"] == values
                assert values_of(client, name) == values
            added = add(client, "watched", "b").raise_for_status()
            assert added.json()["version"] == 2
            assert client.get("/v1/lists/watched").json()["values"] == sorted([*kept["watched"], "b"])
