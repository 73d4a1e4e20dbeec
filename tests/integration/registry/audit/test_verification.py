"""`rules-registry audit verify`: all well, and then each thing that somebody altered named."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from confluent_kafka import Producer

from rules_registry.adapters.outbox import open_outbox
from rules_registry.adapters.publisher import TOPIC, open_publisher
from rules_registry.adapters.rules_reader import open_rules_reader
from rules_registry.adapters.status_store import open_status_store
from rules_registry.domain.reports.position_report import PositionReport
from rules_registry.service.republisher import republish
from tests.integration.registry.support.relay_process import fresh_rules_topic
from tests.integration.registry.support.rule_requests import publish
from tests.registry import DEFINITION, RegistryApi, command, running_api
from tests.servers import PostgresServer
from tests.unit.rules_registry.test_republisher import FakeTopic
from tripline_contracts.event_type_loader import load
from tripline_contracts.kafka.cluster import KafkaCluster
from tripline_engine.domain.rules.rule_book import RuleBook

pytestmark = [pytest.mark.integration, pytest.mark.slow]

API = "tripline_registry_api"
SET_BODY = "UPDATE registry.rule_events SET body = jsonb_set"


@pytest.fixture
def api(postgres: PostgresServer, tmp_path: Path) -> Iterator[RegistryApi]:
    with postgres.database(migrated=True) as owner, running_api(postgres, owner, tmp_path) as running:
        yield running


@pytest.fixture
def rules(api: RegistryApi, postgres: PostgresServer, kafka: str) -> list[int]:
    """Two rules that went through topic and engine."""
    with api.client() as client:
        first, second = publish(client)["ruleId"], publish(client)["ruleId"]
        body = {**DEFINITION, "limit": "7"}
        client.put(f"/v1/rules/{first}", json=body, headers={"If-Match": "*"}).raise_for_status()
    fresh_rules_topic(kafka)
    with (
        open_outbox(postgres.login(api.dsn, "tripline_registry_relay")) as outbox,
        open_publisher(KafkaCluster(kafka)) as publisher,
        open_rules_reader(KafkaCluster(kafka)) as topic,
        open_status_store(postgres.login(api.dsn, "tripline_registry_status")) as store,
    ):
        republish(outbox, FakeTopic(), publisher)
        book = RuleBook(load("transaction"))
        for _, value in topic.new_records():
            book.apply(value)
        now = time.time_ns() // 1_000_000
        store.put([PositionReport("engine", 0, 1, book.position, book.digest, 0, False, now)])
    return [first, second]


def verify(postgres: PostgresServer, api: RegistryApi, *words: str, kafka: str = "") -> tuple[int, str]:
    """Exit code and what it says."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("TRIPLINE_")}
    settings = {
        "TRIPLINE_REGISTRY_DSN": postgres.login(api.dsn, API),
        **({"TRIPLINE_KAFKA": kafka} if kafka else {}),
    }
    words = tuple(command("audit", "verify", *words))
    done = subprocess.run(
        words, env={**ours, **settings}, capture_output=True, text=True, timeout=60, check=False
    )
    return done.returncode, done.stdout + done.stderr


def head_of(api: RegistryApi) -> str:
    with api.client("auditor-of-role-for-tests") as auditor:
        head = auditor.get("/v1/audit/head").json()
    return f"{head['sequence']}:{head['hash']}"


def tamper(api: RegistryApi, table: str, statement: str) -> None:
    """As a superuser, who alone can."""
    with psycopg.connect(api.dsn) as connection:
        connection.execute(f"ALTER TABLE registry.{table} DISABLE TRIGGER USER".encode())
        connection.execute(statement.encode())
        connection.execute(f"ALTER TABLE registry.{table} ENABLE TRIGGER USER".encode())


def test_all_of_it_holds(postgres: PostgresServer, api: RegistryApi, rules: list[int], kafka: str) -> None:
    code, said = verify(postgres, api, "--head", head_of(api), kafka=kafka)
    assert code == 0, said
    lines = [line.split() for line in said.splitlines()]
    assert [line[:3] + line[-2:] for line in lines[1:3]] == [
        [str(rules[0]), "2", "3", "ok", "ok"],
        [str(rules[1]), "1", "2", "ok", "ok"],
    ]
    assert said.rstrip().endswith("everything holds.")
    with api.client() as client:
        publish(client)
    code, said = verify(postgres, api, kafka=kafka)
    assert (code, said.splitlines()[3].split()[-2:]) == (0, ["behind", "behind"]), said
    code, said = verify(postgres, api)
    assert (code, said.splitlines()[1].split()[-3:]) == (0, ["not", "asked", "ok"]), said


def test_what_is_of_no_rule_holds_too(
    postgres: PostgresServer, api: RegistryApi, rules: list[int], kafka: str
) -> None:
    """Commands that name a rule among it."""
    with api.client() as client:
        for body in ({"command": "CLEAR_RULE", "ruleId": rules[0]}, {"command": "CLEAR_STATE_ALL"}):
            client.post("/v1/control-commands", json=body).raise_for_status()
        client.put("/v1/lists/watched", json={"values": ["a"]}).raise_for_status()
        client.put("/v1/parameters/most", json={"value": "1.50"}).raise_for_status()
    code, said = verify(postgres, api, kafka=kafka)
    assert code == 0, said
    assert said.splitlines()[1].split()[:3] == [str(rules[0]), "2", "3"]


@pytest.mark.parametrize(
    ("table", "statement", "sentence"),
    [
        ("rule_events", f"{SET_BODY}(body, '{{actor}}', '\"eve\"') WHERE position = 2",
         "entry 2 and the event at position 2 differ in actor"),
        ("rule_events",
         f"{SET_BODY}(body, '{{definition,limit}}', '\"9\"') WHERE position = 3",
         "has applied other events than the log holds"),
        ("rules", "UPDATE registry.rules SET state = 'PAUSED' WHERE rule_id = 1",
         "rule 1 does not stand as its events made it"),
        ("audit_entries", "DELETE FROM registry.audit_entries WHERE sequence = 2", "entry 2 is missing"),
        ("audit_entries", "DELETE FROM registry.audit_entries WHERE sequence = 3",
         "the event at position 3 has no entry in the audit trail"),
    ],
    ids=["an event's actor", "an event's limit", "a rule", "an entry", "the last entry"],
)  # fmt: skip
@pytest.mark.usefixtures("rules")
def test_what_a_superuser_alters_is_named(
    postgres: PostgresServer, api: RegistryApi, kafka: str, table: str, statement: str, sentence: str
) -> None:
    tamper(api, table, statement)
    code, said = verify(postgres, api, kafka=kafka)
    assert code == 1
    assert sentence in said


@pytest.mark.usefixtures("rules")
def test_a_foreign_record_is_named(postgres: PostgresServer, api: RegistryApi, kafka: str) -> None:
    producer = Producer({"bootstrap.servers": kafka})
    producer.produce(TOPIC, json.dumps({"position": 2}).encode())
    producer.flush(10)
    code, said = verify(postgres, api, kafka=kafka)
    assert (code, "of rules.v1 is not in the log" in said) == (1, True), said


@pytest.mark.usefixtures("rules")
def test_an_export_is_checked_without_the_server(
    postgres: PostgresServer, api: RegistryApi, tmp_path: Path
) -> None:
    file, kept = tmp_path / "trail.jsonl", head_of(api)
    with api.client("auditor-of-role-for-tests") as auditor:
        file.write_text(auditor.get("/v1/audit/export").raise_for_status().text, encoding="utf-8")
    assert verify(postgres, api, str(file), "--head", kept)[0] == 0
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    file.write_text(
        lines[0] + lines[1].replace('"actor":"analyst"', '"actor":"eve"') + lines[2], encoding="utf-8"
    )
    code, said = verify(postgres, api, str(file))
    assert (code, "entry 2 is not the text that its hash was taken of" in said) == (1, True), said
    file.write_text("".join(lines[:2]), encoding="utf-8")
    code, said = verify(postgres, api, str(file), "--head", kept)
    assert (code, "entry 3 is not there any more" in said) == (1, True), said
    file.write_text("{}\n", encoding="utf-8")
    code, said = verify(postgres, api, str(file))
    assert (code, "Line 1 is no line of an export" in said) == (1, True), said


def test_an_unfit_head_is_refused(postgres: PostgresServer, api: RegistryApi) -> None:
    code, said = verify(postgres, api, "--head", "7:abc")
    assert (code, "expected its number, a colon and its hash" in said) == (2, True), said


def test_a_rollout_leaves_the_rule_as_it_stood_and_its_share_is_compared(
    postgres: PostgresServer, api: RegistryApi
) -> None:
    with api.client() as client:
        path = f"/v1/rules/{publish(client)['ruleId']}/shadow"
        shadow = {**DEFINITION, "limit": "7"}
        client.post(path, json=shadow, headers={"If-Match": "*"}).raise_for_status()
        share = {"percent": 10}
        client.post(f"{path}/rollout", json=share, headers={"If-Match": "*"}).raise_for_status()
    code, said = verify(postgres, api)
    assert (code, "everything holds." in said) == (0, True), said
    tamper(api, "rule_events", f"{SET_BODY}(body, '{{percent}}', '90') WHERE type = 'RuleShadowRolledOut'")
    code, said = verify(postgres, api)
    assert (code, "differ in percent" in said) == (1, True), said
