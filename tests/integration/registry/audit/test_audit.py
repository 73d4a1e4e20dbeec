"""The audit trail over HTTP and in Postgres: what it tells, how it is checked, and that nobody changes it."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterator
from typing import Any

import httpx
import psycopg
import pytest
from psycopg import errors

from rules_registry.domain.audit.audit_entry import AuditEntry, ChainHead
from rules_registry.domain.audit.chain_check import ChainCheck
from tests.integration.registry.support.rule_requests import publish
from tests.registry import DEFINITION, RegistryApi
from tests.servers import PostgresServer
from tripline_contracts.canonical import canonical_json
from tripline_demo import migrations

pytestmark = pytest.mark.integration

API = "tripline_registry_api"
SELECT_TRAIL = "SELECT sequence, body, hash FROM registry.audit_entries ORDER BY sequence"
BEFORE_THE_TRAIL = "0014_issued_voids_only"


@pytest.fixture
def auditor(api: RegistryApi) -> Iterator[httpx.Client]:
    with api.client("auditor-of-role-for-tests") as client:
        yield client


def entries(auditor: httpx.Client, **query: Any) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = auditor.get("/v1/audit", params=query).raise_for_status().json()["items"]
    return items


def exported(auditor: httpx.Client, **query: Any) -> list[AuditEntry]:
    answer = auditor.get("/v1/audit/export", params=query).raise_for_status()
    assert answer.headers["Content-Type"] == "application/x-ndjson"
    lines = [json.loads(line) for line in answer.text.splitlines()]
    return [
        AuditEntry(line["entry"]["sequence"], canonical_json(line["entry"]).decode(), line["hash"])
        for line in lines
    ]


def test_the_life_of_a_rule_is_told_in_order(client: httpx.Client, auditor: httpx.Client) -> None:
    rule = publish(client)
    address, rule_id = f"/v1/rules/{rule['ruleId']}", str(rule["ruleId"])
    headers = {"If-Match": "*", "X-Request-Id": "r-17"}
    client.put(
        address, params={"reason": "too many alerts"}, json={**DEFINITION, "limit": "7"}, headers=headers
    )
    client.post(f"{address}/pause", params={"reason": "Prüfung läuft — 確認中"}, headers=headers)
    client.request("DELETE", address, headers=headers)
    told = entries(auditor, kind="rule", subject=rule_id)
    assert [entry["type"] for entry in told] == [
        "RulePublished",
        "RulePublished",
        "RulePaused",
        "RuleDeleted",
    ]
    assert [entry["reason"] for entry in told] == [None, "too many alerts", "Prüfung läuft — 確認中", None]
    assert {entry["actor"] for entry in told} == {"analyst"}
    assert [entry["requestId"] for entry in told[1:]] == ["r-17"] * 3
    for earlier, later in itertools.pairwise(told):
        assert later["before"] == earlier["after"]
    assert [entry["after"]["state"] for entry in told] == ["ACTIVE", "ACTIVE", "PAUSED", "DELETED"]
    assert (told[0]["after"]["definition"]["limit"], told[1]["after"]["definition"]["limit"]) == (
        "1000.01",
        "7",
    )
    for entry in told:
        body = canonical_json({name: value for name, value in entry.items() if name != "hash"})
        assert entry["hash"] == hashlib.sha256(body).hexdigest()


def test_pages_and_filters(client: httpx.Client, auditor: httpx.Client) -> None:
    client.put("/v1/lists/audited", json={"values": ["a", "b"]})
    client.put("/v1/lists/audited", json={"values": ["a"]})
    first, second = entries(auditor, kind="list", subject="audited")
    assert (first["after"]["entries"], second["before"]) == (2, first["after"])
    assert entries(auditor, type="ListChanged", since=second["occurredAt"], until=second["occurredAt"]) == []
    assert first in entries(auditor, type="ListChanged", actor="analyst", limit=200)
    assert entries(auditor, actor="nobody") == []
    page = auditor.get("/v1/audit", params={"limit": 1})
    follow = auditor.get(page.links["next"]["url"])
    assert [page.json()["items"][0]["sequence"], follow.json()["items"][0]["sequence"]] == [1, 2]
    last = auditor.get("/v1/audit/head").json()["sequence"]
    newest = auditor.get("/v1/audit", params={"limit": 2, "order": "newest"})
    older = auditor.get(newest.links["next"]["url"])
    assert [entry["sequence"] for entry in newest.json()["items"]] == [last, last - 1]
    assert [entry["sequence"] for entry in older.json()["items"]] == [last - 2, last - 3]
    both = entries(auditor, kind="list", subject="audited", order="newest")
    assert both == [second, first]
    assert auditor.get("/v1/audit", params={"order": "random"}).status_code == 422


def test_an_export_can_be_checked_with_a_head_that_was_kept(
    client: httpx.Client, auditor: httpx.Client
) -> None:
    publish(client)
    head = ChainHead(**auditor.get("/v1/audit/head").json())
    check = ChainCheck()
    assert list(check.problems(exported(auditor))) == []
    assert check.head == head
    publish(client)
    later = ChainCheck(head)
    assert list(later.problems(exported(auditor, after=head.sequence))) == []
    assert later.head.sequence == head.sequence + 1


@pytest.mark.parametrize("reason", ["", "x" * 501, "a\u202eb", "a\nb"])
def test_an_unfit_reason_is_refused_and_changes_nothing(
    client: httpx.Client, auditor: httpx.Client, reason: str
) -> None:
    before = auditor.get("/v1/audit/head").json()
    answer = client.post("/v1/rules", params={"reason": reason}, json=DEFINITION)
    assert (answer.status_code, [error["field"] for error in answer.json()["errors"]]) == (
        422,
        ["query.reason"],
    )
    assert auditor.get("/v1/audit/head").json() == before


def test_it_needs_its_scope(client: httpx.Client) -> None:
    for path in ("/v1/audit", "/v1/audit/export", "/v1/audit/head"):
        assert client.get(path).status_code == 403


@pytest.mark.parametrize("table", ["rule_events", "audit_entries"])
@pytest.mark.parametrize(
    "statement",
    ["UPDATE registry.{} SET hash = 'x'", "DELETE FROM registry.{}", "TRUNCATE registry.{} CASCADE"],
)
def test_nobody_changes_the_past(
    postgres: PostgresServer, api: RegistryApi, table: str, statement: str
) -> None:
    """Neither the service's login nor the owner of the tables; only a superuser could, and the chain would show it."""
    asked = statement.format(table).replace("hash", "actor" if table == "rule_events" else "body")
    for dsn, role in ((postgres.login(api.dsn, API), None), (api.dsn, "tripline_owner")):
        with psycopg.connect(dsn) as connection:
            if role is not None:
                connection.execute(f"SET ROLE {role}".encode())
            with pytest.raises(errors.InsufficientPrivilege):
                connection.execute(asked.encode())


@pytest.mark.parametrize(
    "changes",
    [{"sequence": 999_999}, {"previousHash": "f" * 64}, {"hash": "f" * 64}],
    ids=["a gap", "beside the last one", "another hash"],
)
def test_the_database_takes_nothing_that_does_not_follow(
    postgres: PostgresServer, api: RegistryApi, client: httpx.Client, changes: dict[str, Any]
) -> None:
    publish(client)
    with psycopg.connect(postgres.login(api.dsn, API)) as connection:
        last = connection.execute(
            "SELECT sequence, hash FROM registry.audit_entries ORDER BY sequence DESC LIMIT 1"
        ).fetchone()
        assert last is not None
        sequence = changes.get("sequence", last[0] + 1)
        members = {"sequence": sequence, "previousHash": changes.get("previousHash", last[1]), "type": "X",
                   "occurredAt": 1, "actor": "x", "subject": {"kind": "rule", "id": "1"}, "position": None}  # fmt: skip
        body = canonical_json(members)
        digest = changes.get("hash", hashlib.sha256(body).hexdigest())
        insert = "INSERT INTO registry.audit_entries (sequence, body, hash) VALUES (%s, %s, %s)"
        with pytest.raises(errors.IntegrityError):
            connection.execute(insert, (sequence, body.decode(), digest))


def test_events_of_before_have_their_entries(postgres: PostgresServer) -> None:
    """A log that an older version wrote gets its trail at the upgrade."""
    event = {"ruleId": 1, "version": 1, "definitionVersion": 1, "state": "ACTIVE", "name": "Älteste \u2028 Regel",
             "definition": {"limit": "7"}, "definitionHash": "a", "effectiveFrom": 5}  # fmt: skip
    rows: list[tuple[Any, ...]] = [
        (1, "RulePublished", 1, 1, None, event),
        (2, "RulePaused", 1, 2, None, {**event, "version": 2, "state": "PAUSED"}),
        (3, "ListChanged", None, 1, "shops", {"name": "shops", "version": 1, "values": ["a", "b"]}),
        (4, "SettingsChanged", None, 1, None, {"settings": {"maxDisorderSeconds": 1}}),
        (5, "ControlCommand", None, None, None, {"command": "CLEAR_STATE_ALL", "commandId": "c"}),
        (6, "ParameterChanged", None, 1, "most", {"name": "most", "version": 1, "value": "5"}),
    ]
    insert = """
    INSERT INTO registry.rule_events (position, type, rule_id, version, name, body, event_id, occurred_at, actor)
    VALUES (%s, %s, %s, %s, %s, %s, gen_random_uuid(), 100, 'ada')
    """
    with postgres.database() as owner:
        migrations.upgrade(owner, BEFORE_THE_TRAIL)
        with psycopg.connect(owner) as connection:
            for row in rows:
                connection.execute(insert, (*row[:5], json.dumps(row[5])))
        migrations.upgrade(owner)
        with psycopg.connect(owner) as connection:
            rows_of_trail = connection.execute(SELECT_TRAIL).fetchall()
    trail = [AuditEntry(*row) for row in rows_of_trail]
    check = ChainCheck()
    assert list(check.problems(trail)) == []
    assert [canonical_json(json.loads(entry.text)).decode() for entry in trail] == [
        entry.text for entry in trail
    ]
    told = [json.loads(entry.text) for entry in trail]
    assert [entry["position"] for entry in told] == [1, 2, 3, 4, 5, 6]
    assert (told[0]["before"], told[1]["before"]) == (None, told[0]["after"])
    assert told[2]["after"]["entries"] == 2
    assert told[3]["after"] == {"version": 1, "maxDisorderSeconds": 1}
    assert told[4]["subject"] == {"kind": "command", "id": "c"}
    assert told[5]["after"] == {"version": 1, "value": "5"}
