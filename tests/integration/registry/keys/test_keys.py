"""API keys over HTTP, on the running registry and alert API: given out, used, rotated, revoked, and told of."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import psycopg
import pytest
from psycopg import errors

from tests.integration.alert_api.support.api_process import LiveApi, live_api
from tests.integration.registry.support.rule_requests import publish
from tests.registry import DEFINITION, RegistryApi
from tests.servers import PostgresServer

pytestmark = pytest.mark.integration

SECONDS = 120.0


@pytest.fixture
def admin(api: RegistryApi) -> Iterator[httpx.Client]:
    with api.client("admin-of-role-for-tests") as client:
        yield client


@pytest.fixture(scope="module")
def alert_api(
    api: RegistryApi, postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LiveApi]:
    dsn = postgres.login(api.dsn, "tripline_alert_api")
    with live_api(dsn, tmp_path_factory.mktemp("alerts"), api.url) as running:
        yield running


def give_out(admin: httpx.Client, name: str, role: str = "analyst", **more: Any) -> dict[str, Any]:
    answer = admin.post("/v1/keys", json={"name": name, "role": role, **more})
    assert answer.status_code == 201, answer.text
    assert answer.headers["Cache-Control"] == "no-store"
    given: dict[str, Any] = answer.json()
    return given


def listed(admin: httpx.Client, name: str) -> dict[str, Any]:
    items = admin.get("/v1/keys", params={"limit": 100}).raise_for_status().json()["items"]
    [stored_key] = [item for item in items if item["name"] == name]
    assert isinstance(stored_key, dict)
    return stored_key


def eventually(condition: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.05)


def status(service: RegistryApi | LiveApi, key: str, path: str) -> int:
    with service.client(key) as client:
        return client.get(path).status_code


def test_a_key_is_known_to_both_services_in_its_role(
    api: RegistryApi, alert_api: LiveApi, admin: httpx.Client
) -> None:
    given = give_out(admin, "nina")
    assert given["key"].startswith(given["prefix"])
    assert len(given["prefix"]) == 8
    eventually(lambda: status(api, given["key"], "/v1/rules") == 200, "the registry knows it")
    eventually(lambda: status(alert_api, given["key"], "/v1/alerts") == 200, "the alert API knows it")
    with api.client(given["key"]) as nina, alert_api.client(given["key"]) as console:
        rule = publish(nina)
        assert rule["changedBy"] == "nina"
        assert nina.get("/v1/keys").status_code == 403
        session = console.get("/v1/session").json()
        assert (session["actor"], session["role"]) == ("nina", "analyst")
        assert console.get("/console/registry/rules").status_code == 200
    eventually(lambda: listed(admin, "nina")["lastUsedAt"] is not None, "its use is noted")
    shown = listed(admin, "nina")
    assert abs(shown["lastUsedAt"] - time.time() * 1000) < 120_000
    assert (shown["state"], shown["createdBy"], shown["rotatedAt"]) == ("ACTIVE", "an-admin", None)
    assert "key" not in shown
    assert given["key"] not in admin.get("/v1/keys").text


def test_a_rotation_has_an_overlap_if_it_is_asked_for(api: RegistryApi, admin: httpx.Client) -> None:
    first = give_out(admin, "otto")["key"]
    answer = admin.post("/v1/keys/otto/rotate", json={"overlapSeconds": 3600})
    assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-store")
    second = answer.json()["key"]
    assert abs(answer.json()["previousUntil"] - time.time() * 1000 - 3_600_000) < 60_000
    eventually(lambda: status(api, second, "/v1/rules") == 200, "the new one is known")
    assert status(api, first, "/v1/rules") == 200
    third = admin.post("/v1/keys/otto/rotate", json={}).json()
    assert third["previousUntil"] is None
    eventually(lambda: status(api, second, "/v1/rules") == 401, "the second has ended")
    eventually(lambda: status(api, first, "/v1/rules") == 401, "the first has ended")
    eventually(lambda: status(api, third["key"], "/v1/rules") == 200, "the third is good")
    refused = httpx.get(
        f"{api.url}/v1/rules", headers={"Authorization": f"Bearer {second}"}, timeout=60, verify=False
    )
    assert "expired" in refused.json()["detail"]


def test_a_revoked_key_lets_nobody_in_and_its_name_is_gone(
    api: RegistryApi, alert_api: LiveApi, admin: httpx.Client
) -> None:
    key = give_out(admin, "paul", "viewer")["key"]
    eventually(lambda: status(alert_api, key, "/v1/alerts") == 200, "it is known")
    revoked = admin.delete("/v1/keys/paul", params={"reason": "he left"})
    assert (revoked.status_code, revoked.content) == (204, b"")
    eventually(lambda: status(api, key, "/v1/rules") == 401, "the registry knows")
    eventually(lambda: status(alert_api, key, "/v1/alerts") == 401, "the alert API knows")
    shown = listed(admin, "paul")
    assert (shown["state"], shown["revokedBy"]) == ("REVOKED", "an-admin")
    for method, path, kind in (
        ("DELETE", "/v1/keys/paul", "key-revoked"),
        ("POST", "/v1/keys/paul/rotate", "key-revoked"),
        ("POST", "/v1/keys", "key-name-taken"),
    ):
        body = {"name": "Paul", "role": "viewer"} if path == "/v1/keys" else {}
        answer = admin.request(method, path, json=None if method == "DELETE" else body)
        assert (answer.status_code, answer.json()["type"]) == (409, f"urn:tripline:problem:{kind}"), (
            answer.text
        )


def test_a_key_ends_at_its_time(api: RegistryApi, admin: httpx.Client) -> None:
    soon = int(time.time() * 1000) + 4_000
    given = give_out(admin, "quentin", "viewer", expiresAt=soon)
    assert given["expiresAt"] == soon
    eventually(lambda: status(api, given["key"], "/v1/rules") == 200, "it is known")
    eventually(lambda: status(api, given["key"], "/v1/rules") == 401, "it has ended")
    assert time.time() * 1000 >= soon
    assert listed(admin, "quentin")["state"] == "EXPIRED"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": "oidc:ada", "role": "viewer"}, "name"),
        ({"name": "", "role": "viewer"}, "name"),
        ({"name": "a b", "role": "viewer"}, "name"),
        ({"name": "rita\n", "role": "viewer"}, "name"),
        ({"name": "rita", "role": "root"}, "role"),
        ({"name": "rita", "role": "viewer", "expiresAt": 1}, "expiresAt"),
        ({"name": "rita", "role": "viewer", "expiresAt": "2027-01-31"}, "expiresAt"),
        ({"name": "rita", "role": "viewer", "scopes": []}, "scopes"),
    ],
)
def test_a_wrong_key_is_refused_by_field(admin: httpx.Client, body: dict[str, Any], field: str) -> None:
    answer = admin.post("/v1/keys", json=body)
    assert answer.status_code == 422, answer.text
    assert {error["field"] for error in answer.json()["errors"]} == {field}


def test_names_of_the_file_are_taken_and_unknown_ones_are_not_found(admin: httpx.Client) -> None:
    assert admin.post("/v1/keys", json={"name": "Analyst", "role": "viewer"}).status_code == 409
    for name in ("nobody", "a%00b", "%F0%9F%98%80", "x" * 65):
        answer = admin.delete(f"/v1/keys/{name}")
        assert (answer.status_code, answer.json()["type"]) == (404, "urn:tripline:problem:key-not-found")


def test_keys_are_listed_by_pages(admin: httpx.Client) -> None:
    for name in ("page-a", "page-b", "page-c"):
        give_out(admin, name, "viewer")
    seen: list[str] = []
    page: str | None = "/v1/keys?limit=2"
    while page:
        answer = admin.get(page).raise_for_status()
        seen += [item["name"] for item in answer.json()["items"]]
        page = answer.links.get("next", {}).get("url")
    assert [name for name in seen if name.startswith("page-")] == ["page-a", "page-b", "page-c"]
    assert len(seen) == len(set(seen))


def test_the_trail_names_the_admin_and_holds_no_secret(api: RegistryApi, admin: httpx.Client) -> None:
    key = give_out(admin, "sara")["key"]
    admin.delete("/v1/keys/sara", params={"reason": "a test"}).raise_for_status()
    with api.client("auditor-of-role-for-tests") as auditor:
        answer = auditor.get("/v1/audit", params={"kind": "key", "subject": "sara"}).raise_for_status()
    told = [
        (entry["type"], entry["actor"], entry["role"], entry["reason"]) for entry in answer.json()["items"]
    ]
    assert told == [("KeyGivenOut", "an-admin", "admin", None), ("KeyRevoked", "an-admin", "admin", "a test")]
    assert key not in answer.text
    assert hashlib.sha256(key.encode()).hexdigest() not in answer.text


@pytest.mark.parametrize("role", ["viewer", "analyst", "approver", "auditor", "operator"])
def test_who_is_no_admin_gives_out_nothing(api: RegistryApi, role: str) -> None:
    with api.client(f"{role}-of-role-for-tests") as client:
        assert client.post("/v1/keys", json={"name": "tom", "role": "admin"}).status_code == 403
        assert client.post("/v1/keys/tom/rotate", json={}).status_code == 403
        assert client.delete("/v1/keys/tom").status_code == 403


def test_an_admin_neither_authors_nor_commands(admin: httpx.Client) -> None:
    assert admin.post("/v1/rules", json=dict(DEFINITION)).status_code == 403
    assert admin.post("/v1/control-commands", json={"command": "CLEAR_STATE_ALL"}).status_code == 403


REFUSALS = (errors.InsufficientPrivilege, errors.GeneratedAlways, errors.ObjectNotInPrerequisiteState)
REGISTRY, ALERTS = "tripline_registry_api", "tripline_alert_api"


@pytest.mark.parametrize(
    ("group", "statement"),
    [
        (REGISTRY, "DELETE FROM registry.api_keys"),
        (REGISTRY, "DELETE FROM registry.api_key_secrets"),
        (REGISTRY, "UPDATE registry.api_keys SET role = 'admin'"),
        (REGISTRY, "UPDATE registry.api_keys SET revoked_at = NULL, revoked_by = NULL WHERE name = 'uwe'"),
        (REGISTRY, "UPDATE registry.api_key_secrets SET sha256 = repeat('0', 64)"),
        (REGISTRY, "UPDATE registry.api_key_secrets SET not_after = not_after + 1 WHERE name = 'uwe'"),
        (REGISTRY, "UPDATE registry.api_key_secrets SET not_after = NULL WHERE name = 'uwe'"),
        (ALERTS, "SELECT * FROM registry.api_keys"),
        (ALERTS, "SELECT * FROM registry.api_key_secrets"),
        (ALERTS, "UPDATE alerts.living_api_keys SET role = 'admin'"),
        (ALERTS, "UPDATE alerts.api_key_uses SET secret_id = 1"),
        (ALERTS, "DELETE FROM alerts.api_key_uses"),
        ("tripline_alert_projector", "SELECT * FROM alerts.living_api_keys"),
        ("tripline_registry_relay", "SELECT * FROM registry.living_api_keys"),
    ],
)
def test_a_database_role_may_not(
    api: RegistryApi, admin: httpx.Client, postgres: PostgresServer, group: str, statement: str
) -> None:
    if admin.post("/v1/keys", json={"name": "uwe", "role": "viewer"}).status_code == 201:
        admin.post("/v1/keys/uwe/rotate", json={}).raise_for_status()
        admin.delete("/v1/keys/uwe").raise_for_status()
    with (
        psycopg.connect(postgres.login(api.dsn, group), autocommit=True) as connection,
        pytest.raises(REFUSALS),
    ):
        connection.execute(statement)
