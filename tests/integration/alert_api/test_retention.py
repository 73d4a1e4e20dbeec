"""Retention of dead letters on a real Postgres, with the rights of its own role; and who may read them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import httpx
import psycopg
import pytest

from alert_api.adapters.postgres_intake import PostgresIntake
from alert_api.adapters.retention import postgres_dead_letters
from alert_api.adapters.retention.postgres_dead_letters import PostgresDeadLetters
from alert_api.errors import StoreUnavailable
from alert_api.service.records import unreadable
from alert_api.service.retention import Kept, RetentionPolicy
from tests.integration.alert_api.conftest import AlertsDatabase
from tests.integration.alert_api.support.servers import eventually, rows
from tests.servers import PostgresServer
from tests.unit.alert_api.support.samples import record
from tripline_demo.processes import leash, ports

pytestmark = pytest.mark.integration

EVERYTHING = RetentionPolicy(days=90, records=1000, bytes=2**30)
OFFSETS = "SELECT kafka_offset FROM alerts.unreadable_records ORDER BY kafka_offset"
RETENTION_MAY_NOT = {
    "see what was in a record": "SELECT record_value FROM alerts.unreadable_records",
    "see why it was refused": "SELECT reason FROM alerts.unreadable_records",
    "change a record": "UPDATE alerts.unreadable_records SET stored_at = now()",
    "add one": "INSERT INTO alerts.unreadable_records (kafka_topic) VALUES ('x')",
    "empty the table": "TRUNCATE alerts.unreadable_records",
    "see alerts": "SELECT alert_id FROM alerts.alerts",
    "delete alerts": "DELETE FROM alerts.alerts",
    "see the registry": "SELECT position FROM registry.rule_events",
}
ONCALL_MAY_NOT = {
    "delete a record": "DELETE FROM alerts.unreadable_records",
    "change a record": "UPDATE alerts.unreadable_records SET detail = 'x'",
    "see alerts": "SELECT alert_id FROM alerts.alerts",
    "see the registry": "SELECT position FROM registry.rule_events",
}


@pytest.fixture
def dead_letters(postgres: PostgresServer, alerts_database: AlertsDatabase) -> PostgresDeadLetters:
    return PostgresDeadLetters(postgres.login(alerts_database.owner, "tripline_alert_retention"))


@pytest.fixture
def ten(alerts_database: AlertsDatabase, intake: PostgresIntake) -> AlertsDatabase:
    """Ten dead letters of 100 bytes and a word of detail, one a day, offset 9 the youngest."""
    letters = [unreadable(record(b"x" * 100, offset), "not_json", "word") for offset in range(10)]
    intake.store([], letters)
    with psycopg.connect(alerts_database.owner) as connection:
        connection.execute(
            "UPDATE alerts.unreadable_records SET record_key = NULL,"
            " stored_at = now() - make_interval(days => 9 - kafka_offset::int, hours => 1)"
        )
    return alerts_database


@pytest.mark.parametrize(
    ("policy", "left"),
    [
        (EVERYTHING, range(10)),
        (replace(EVERYTHING, days=3), [7, 8, 9]),
        (replace(EVERYTHING, records=4), [6, 7, 8, 9]),
        (replace(EVERYTHING, records=10), range(10)),
        (replace(EVERYTHING, bytes=208), [8, 9]),
        (replace(EVERYTHING, bytes=207), [9]),
        (replace(EVERYTHING, bytes=1), []),
        (RetentionPolicy(days=5, records=3, bytes=500), [7, 8, 9]),
    ],
)
def test_the_oldest_go_beyond_any_bound(
    ten: AlertsDatabase, dead_letters: PostgresDeadLetters, policy: RetentionPolicy, left: Sequence[int]
) -> None:
    assert dead_letters.delete_beyond(policy) == 10 - len(left)
    assert [offset for (offset,) in rows(ten.owner, OFFSETS)] == [*left]
    assert dead_letters.kept() == Kept(len(left), 104 * len(left))
    assert dead_letters.delete_beyond(policy) == 0


@pytest.mark.parametrize("batch", [1, 3, 10, 11])
def test_many_go_in_several_transactions(
    ten: AlertsDatabase, dead_letters: PostgresDeadLetters, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_dead_letters, "BATCH", batch)
    assert dead_letters.delete_beyond(replace(EVERYTHING, records=1)) == 9
    assert rows(ten.owner, OFFSETS) == [(9,)]


def test_of_those_stored_at_one_moment_the_number_counts(
    alerts_database: AlertsDatabase, intake: PostgresIntake, dead_letters: PostgresDeadLetters
) -> None:
    intake.store([], [unreadable(record(b"x", offset), "not_json", "word") for offset in range(10)])
    assert dead_letters.delete_beyond(replace(EVERYTHING, records=4)) == 6
    assert rows(alerts_database.owner, OFFSETS) == [(6,), (7,), (8,), (9,)]


def test_a_database_that_is_away_is_said_so() -> None:
    (port,) = ports.free_ports(1)
    with pytest.raises(StoreUnavailable):
        PostgresDeadLetters(f"postgresql://nobody:x@127.0.0.1:{port}/none").kept()


def test_the_process_deletes_and_says_what_is_left(ten: AlertsDatabase, running_retention: str) -> None:
    def metrics() -> str:
        return httpx.get(f"{running_retention}/metrics", verify=False).text

    eventually(lambda: "tripline_dead_letters_records 2.0" in metrics(), "the oldest are gone")
    assert rows(ten.owner, OFFSETS) == [(8,), (9,)]
    assert "tripline_dead_letters_deleted_total 8.0" in metrics()
    assert httpx.get(f"{running_retention}/readyz", verify=False).status_code == 200


@pytest.fixture
def running_retention(postgres: PostgresServer, ten: AlertsDatabase, tmp_path: Path) -> Iterator[str]:
    (port,) = ports.free_ports(1)
    settings = {
        "TRIPLINE_ALERTS_DSN": postgres.login(ten.owner, "tripline_alert_retention"),
        "TRIPLINE_METRICS_BIND": f"127.0.0.1:{port}",
        "TRIPLINE_DEAD_LETTER_RECORDS": "2",
    }
    command = [str(Path(sys.executable).with_name("alert-api")), "retention"]
    process = leash.start(command, log=tmp_path / "retention.log", environment={**os.environ, **settings})
    try:
        assert ports.wait_until_open(port, 30), process.last_lines()
        yield f"http://127.0.0.1:{port}"
    finally:
        process.stop()


@pytest.mark.parametrize("what", RETENTION_MAY_NOT)
def test_retention_may_not(postgres: PostgresServer, module_database: AlertsDatabase, what: str) -> None:
    refused(postgres.login(module_database.owner, "tripline_alert_retention"), RETENTION_MAY_NOT[what])


@pytest.mark.parametrize("what", ONCALL_MAY_NOT)
def test_a_person_on_call_may_not(
    postgres: PostgresServer, module_database: AlertsDatabase, what: str
) -> None:
    refused(postgres.login(module_database.owner, "tripline_oncall"), ONCALL_MAY_NOT[what])


def test_a_person_on_call_reads_them(postgres: PostgresServer, ten: AlertsDatabase) -> None:
    dsn = postgres.login(ten.owner, "tripline_oncall")
    assert rows(dsn, "SELECT count(*), min(record_value) FROM alerts.unreadable_records") == [
        (10, b"x" * 100)
    ]


def refused(dsn: str, statement: str) -> None:
    with psycopg.connect(dsn) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute(statement.encode())
