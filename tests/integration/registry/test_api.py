"""The registry's API on a real Postgres: versions, conditions, repeated requests, garbage."""

from __future__ import annotations

import json
import socket
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import psycopg
import pytest

from rules_registry.adapters import statements
from tests.registry import DEFINITION, RegistryApi

pytestmark = pytest.mark.integration

ARTICLE_RULE = {
    "ruleId": 1,
    "ruleState": "ACTIVE",
    "groupingKeyNames": ["payeeId", "beneficiaryId"],
    "unique": [],
    "aggregateFieldName": "paymentAmount",
    "aggregatorFunctionType": "SUM",
    "limitOperatorType": "GREATER",
    "limit": 20000000,
    "windowMinutes": "43200",
}


def publish(client: httpx.Client, **changes: Any) -> dict[str, Any]:
    answer = client.post("/v1/rules", json={**DEFINITION, **changes})
    assert answer.status_code == 201, answer.text
    rule: dict[str, Any] = answer.json()
    return rule


def test_a_rule_lives_through_its_versions(client: httpx.Client) -> None:
    rule = publish(client)
    path = f"/v1/rules/{rule['ruleId']}"
    paused = client.post(f"{path}/pause", headers={"If-Match": '"1"'})
    changed = client.put(
        path, headers={"If-Match": '"2"'}, json={**DEFINITION, "windowSeconds": 60, "name": "x"}
    )
    resumed = client.post(f"{path}/resume", headers={"If-Match": '"3"'})
    assert (paused.json()["state"], paused.headers["ETag"]) == ("PAUSED", '"2"')
    # A new definition leaves a paused rule paused.
    assert (changed.json()["state"], changed.json()["definitionVersion"]) == ("PAUSED", 3)
    assert (resumed.json()["state"], resumed.json()["definitionVersion"]) == ("ACTIVE", 3)
    assert client.get(path).json() == resumed.json()
    versions = client.get(f"{path}/versions").json()["items"]
    assert [version["type"] for version in versions] == [
        "RulePublished",
        "RulePaused",
        "RulePublished",
        "RuleResumed",
    ]
    assert client.get(f"{path}/versions/1").json()["definition"]["windowSeconds"] == 1200
    deleted = client.delete(path, headers={"If-Match": '"4"'})
    assert (deleted.json()["state"], deleted.json()["version"]) == ("DELETED", 5)
    gone = client.get(path)
    assert (gone.status_code, gone.json()["type"]) == (404, "urn:tripline:problem:rule-deleted")
    history = client.get("/v1/rule-events", params={"ruleId": rule["ruleId"]}).json()["items"]
    assert [event["version"] for event in history] == [1, 2, 3, 4, 5]
    listed = client.get("/v1/rules", params={"state": "DELETED", "limit": 100}).json()["items"]
    assert rule["ruleId"] in [entry["ruleId"] for entry in listed]


def test_the_rule_of_the_articles_is_accepted_as_it_stands(client: httpx.Client) -> None:
    answer = client.post("/v1/rules", json=ARTICLE_RULE)
    assert answer.status_code == 201, answer.text
    definition = answer.json()["definition"]
    assert (definition["limit"], definition["limitOperatorType"], definition["windowSeconds"]) == (
        "20000000",
        ">",
        2_592_000,
    )


def test_widest_windows_shrink_when_their_rule_goes(client: httpx.Client) -> None:
    grouping = ["paymentType"]
    publish(client, groupingKeyNames=grouping, windowSeconds=100)
    wide = publish(client, groupingKeyNames=grouping, windowSeconds=900)

    def widest() -> list[tuple[int, int]]:
        items = client.get("/v1/widest-windows").json()["items"]
        return [(i["windowSeconds"], i["ruleId"]) for i in items if i["groupingKeyNames"] == grouping]

    assert widest() == [(900, wide["ruleId"])]
    client.post(f"/v1/rules/{wide['ruleId']}/pause", headers={"If-Match": "*"})
    assert widest() == [(900, wide["ruleId"])], "a paused rule keeps its history"
    client.delete(f"/v1/rules/{wide['ruleId']}", headers={"If-Match": "*"})
    assert [window for window, _ in widest()] == [100]


def test_of_many_changes_on_one_version_one_wins(api: RegistryApi, client: httpx.Client) -> None:
    rule = publish(client)

    def change(seconds: int) -> int:
        with api.client() as own:
            body = {**DEFINITION, "windowSeconds": seconds}
            return own.put(f"/v1/rules/{rule['ruleId']}", headers={"If-Match": '"1"'}, json=body).status_code

    with ThreadPoolExecutor(12) as pool:
        statuses = list(pool.map(change, range(1, 25)))
    assert sorted(statuses) == [200] + [412] * 23
    assert client.get(f"/v1/rules/{rule['ruleId']}").json()["version"] == 2


def test_positions_are_dense_under_concurrent_writers(api: RegistryApi, client: httpx.Client) -> None:
    def one(number: int) -> int:
        with api.client() as own:
            return int(publish(own, name=f"concurrent {number}")["position"])

    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(one, range(32)))
    assert len(set(taken)) == 32
    with psycopg.connect(api.dsn) as connection:
        rows = connection.execute("SELECT position FROM registry.rule_events ORDER BY position").fetchall()
    assert [row[0] for row in rows] == list(range(1, len(rows) + 1))


def test_a_repeated_post_happens_once(api: RegistryApi, client: httpx.Client) -> None:
    headers = {"Idempotency-Key": "once-1"}
    body = {**DEFINITION, "name": "only once"}

    def post(_: int) -> tuple[int, int, str]:
        with api.client() as own:
            answer = own.post("/v1/rules", json=body, headers=headers)
            return answer.status_code, answer.json()["ruleId"], answer.headers["ETag"]

    with ThreadPoolExecutor(8) as pool:
        answers = set(pool.map(post, range(16)))
    assert len(answers) == 1
    assert next(iter(answers))[0] == 201
    assert len(client.get("/v1/rules", params={"name": "only once"}).json()["items"]) == 1
    other = client.post("/v1/rules", json={**body, "limit": "5"}, headers=headers)
    assert (other.status_code, other.json()["type"]) == (422, "urn:tripline:problem:idempotency-key-reused")
    # Keys are the caller's own: the same text from somebody else is another key.
    with api.client("second-key") as second:
        assert second.post("/v1/rules", json=body, headers=headers).json()["ruleId"] != next(iter(answers))[1]


def test_a_repeated_pause_gets_its_first_answer(client: httpx.Client) -> None:
    rule = publish(client)
    headers = {"If-Match": '"1"', "Idempotency-Key": f"pause-{rule['ruleId']}"}
    first = client.post(f"/v1/rules/{rule['ruleId']}/pause", headers=headers)
    again = client.post(f"/v1/rules/{rule['ruleId']}/pause", headers=headers)
    assert (first.status_code, first.json()) == (again.status_code, again.json())
    assert client.post(f"/v1/rules/{rule['ruleId']}/pause", headers={"If-Match": "*"}).status_code == 409


def test_a_refused_post_leaves_no_key_behind(client: httpx.Client) -> None:
    headers = {"Idempotency-Key": "refused-first"}
    assert client.post("/v1/rules", json={"name": "no rule"}, headers=headers).status_code == 422
    assert client.post("/v1/rules", json=dict(DEFINITION), headers=headers).status_code == 201


def test_expired_keys_are_forgotten(api: RegistryApi, client: httpx.Client) -> None:
    headers = {"Idempotency-Key": "old"}
    first = client.post("/v1/rules", json=dict(DEFINITION), headers=headers).json()
    with psycopg.connect(api.dsn) as connection:
        connection.execute("UPDATE registry.idempotency_keys SET expires_at = 1 WHERE key = 'old'")
    assert (
        client.post("/v1/rules", json=dict(DEFINITION), headers=headers).json()["ruleId"] != first["ruleId"]
    )


def test_settings_are_events_with_versions(client: httpx.Client) -> None:
    before = client.get("/v1/settings")
    body = {**before.json(), "maxDisorderSeconds": 120}
    changed = client.put("/v1/settings", json=body, headers={"If-Match": before.headers["ETag"]})
    assert changed.status_code == 200
    assert (
        client.put("/v1/settings", json=body, headers={"If-Match": before.headers["ETag"]}).status_code == 412
    )
    same = client.put("/v1/settings", json=body, headers={"If-Match": changed.headers["ETag"]})
    assert same.headers["ETag"] == changed.headers["ETag"], "the same settings again are no event"
    with_text = {**body, "maxDisorderSeconds": "120"}
    assert client.put("/v1/settings", json=with_text, headers={"If-Match": "*"}).status_code == 422
    events = client.get("/v1/rule-events", params={"after": 0, "limit": 100}).json()["items"]
    settings = [event for event in events if event["type"] == "SettingsChanged"]
    assert settings[-1]["settings"] == body
    assert "ruleId" not in settings[-1]


def test_pages_follow_their_links(client: httpx.Client) -> None:
    for number in range(5):
        publish(client, name=f"paged {number}")
    names, url = [], "/v1/rules?name=PAGED&limit=2"
    while url:
        page = client.get(url)
        names += [rule["name"] for rule in page.json()["items"]]
        url = page.links["next"]["url"] if "next" in page.links else ""
    assert names == [f"paged {number}" for number in range(5)]
    first = client.get("/v1/rules?name=PAGED&limit=2").links["next"]["url"]
    assert client.get(first.replace("PAGED", "other")).status_code == 400, "a cursor belongs to its filters"
    assert client.get("/v1/rules?cursor=garbage").status_code == 400


@pytest.mark.parametrize(
    ("body", "content_type", "status", "reason"),
    [
        (b'{"name": "\\u0000"}', "application/json", 422, "U+0000 fits no Postgres text"),
        (b'{"name": "\\ud800"}', "application/json", 422, "a lone surrogate is no text"),
        (b'{"\\u0000": 1}', "application/json", 422, "not in a key either"),
        (b"[" * 100_000, "application/json", 400, "deeper than anything reads"),
        (b'{"limit": ' + b"9" * 10_000 + b"}", "application/json", 400, "longer than Python converts"),
        (b'{"limit": 1e999999999999999999999}', "application/json", 400, "beyond Decimal"),
        (b'{"limit": 1e400}', "application/json", 422, "beyond decimal(24,6)"),
        (b'{"limit": NaN}', "application/json", 400, "no JSON"),
        (b"\xff\xfe{\x00}\x00", "application/json", 400, "UTF-16"),
        (b'{"name": "\xe9"}', "application/json", 400, "Latin-1"),
        (b"", "application/json", 400, "nothing"),
        (b"null", "application/json", 422, "no object"),
        (b'"text"', "application/json", 422, "no object"),
        (b"{}", "text/plain", 415, "another media type"),
        (b"a=b", "application/x-www-form-urlencoded", 415, "a form"),
        (b" " * 300_000, "application/json", 413, "too long"),
    ],
)
def test_garbage_is_a_clear_problem(
    client: httpx.Client, body: bytes, content_type: str, status: int, reason: str
) -> None:
    answer = client.post("/v1/rules", content=body, headers={"Content-Type": content_type})
    assert answer.status_code == status, (reason, answer.text)
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert json.loads(answer.text)["detail"]


def test_every_wrong_field_is_named(client: httpx.Client) -> None:
    body = {
        "ruleState": "PAUSE",
        "groupingKeyNames": ["payeId"],
        "limit": "much",
        "windowSeconds": 0,
        "nmae": "x",
    }
    problem = client.post("/v1/rules", json=body).json()
    fields = {error["field"] for error in problem["errors"]}
    assert {"ruleState", "groupingKeyNames", "limit", "windowSeconds", "nmae", "limitOperatorType"} <= fields


def test_scopes_are_held(api: RegistryApi) -> None:
    with api.client("viewer-key") as viewer, api.client("unknown") as stranger:
        assert viewer.get("/v1/rules").status_code == 200
        refused = viewer.post("/v1/rules", json=dict(DEFINITION))
        assert refused.status_code == 403
        assert "insufficient_scope" in refused.headers["WWW-Authenticate"]
        assert stranger.get("/v1/rules").status_code == 401


def test_a_writer_that_takes_its_time_holds_back_those_behind_it(
    api: RegistryApi, client: httpx.Client
) -> None:
    """Position order is commit order: nobody can read position n + 1 while n is not committed."""
    with psycopg.connect(api.dsn) as slow, ThreadPoolExecutor(1) as pool:
        slow.execute(statements.TAKE_WRITER_LOCK, {"lock": statements.WRITER_LOCK})
        (position,) = slow.execute(statements.NEXT_POSITION).fetchone() or (0,)
        behind = pool.submit(publish, client, name="behind")
        _until_somebody_waits(api.dsn)
        assert not behind.done()
        slow.rollback()
        assert behind.result(10)["position"] == position


def _until_somebody_waits(dsn: str) -> None:
    waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    with psycopg.connect(dsn, autocommit=True) as watch:
        for _ in range(1000):
            (count,) = watch.execute(waiting).fetchone() or (0,)
            if count:
                return
            watch.execute("SELECT pg_sleep(0.01)")
    raise AssertionError("nobody waits for the writer's lock")


@pytest.mark.parametrize(
    ("path", "key", "status"),
    [("/v1/rules", "analyst-key", 413), ("/v1/rules", "unknown", 401), ("/v1/nowhere", "analyst-key", 404)],
)
def test_who_sends_too_much_is_told_so(api: RegistryApi, path: str, key: str, status: int) -> None:
    """A server that closes on what it has not read resets the connection, and its answer may be lost with it."""
    with api.client(key) as client:
        statuses = [
            client.post(path, content=b" " * size, headers={"Content-Type": "application/json"}).status_code
            for size in (262_145, 1_000_000, 3_000_000)
            for _ in range(10)
        ]
    assert statuses == [status] * 30


@pytest.mark.parametrize(
    ("key", "body", "status"),
    [
        ("analyst-key", b"ZZ\r\n{}\r\n0\r\n\r\n", 400),
        ("analyst-key", b"2\r\n{}0\r\n\r\n", 400),
        ("analyst-key", b"5;x=\x00\r\nhello\r\n0\r\n\r\n", 400),
        ("unknown", b"ZZ\r\n{}\r\n0\r\n\r\n", 401),
    ],
)
def test_chunks_that_are_none_are_a_problem_too(api: RegistryApi, key: str, body: bytes, status: int) -> None:
    host, port = api.url.removeprefix("http://").split(":")
    head = (
        f"POST /v1/rules HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {key}\r\n"
        "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(head.encode() + body)
        answer = connection.recv(4096).decode()
    assert answer.startswith(f"HTTP/1.1 {status} "), answer
    with api.client() as client:
        assert client.get("/v1/rules").status_code == 200
