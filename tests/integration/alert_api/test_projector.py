"""The projector on a real Kafka and a real Postgres: replays, kills, outages, garbage."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest

from alert_api.adapters.cases.case_rebuild import rebuild
from alert_api.adapters.postgres_alerts import PostgresAlerts, open_pool
from alert_api.service.acknowledgement import acknowledge
from tests.integration.alert_api.conftest import AlertsDatabase
from tests.integration.alert_api.support.servers import (
    SECONDS,
    alerts_numbered,
    committed,
    count,
    eventually,
    everything,
    new_topic,
    produce,
    projector,
    rows,
)  # fmt: skip
from tests.unit.alert_api.support.samples import EPOCH, alert, alert_id
from tripline_contracts.kafka.cluster import KafkaCluster
from tripline_demo.topics import create

pytestmark = pytest.mark.integration


def test_a_kill_between_database_and_offsets_loses_and_doubles_nothing(
    kafka: str, alerts_database: AlertsDatabase
) -> None:
    topic = new_topic(kafka)
    produce(kafka, topic, [*alerts_numbered(1, 40), b"garbage"])
    with projector(kafka, topic, alerts_database.projector, "--die-before-offsets") as dying:
        assert dying.wait(SECONDS) == -signal.SIGKILL
    # The kill landed where the name of this test says: rows are there, offsets are not.
    stored = count(alerts_database.owner, "alerts")
    assert stored > 0
    assert committed(kafka, topic, topic) == 0
    first_rows = rows(alerts_database.owner, "SELECT alerts::text FROM alerts.alerts")
    with projector(kafka, topic, alerts_database.projector):
        eventually(lambda: committed(kafka, topic, topic) == 41, "all offsets are committed")
    assert count(alerts_database.owner, "alerts") == 40
    assert count(alerts_database.owner, "alert_events") == 40
    assert count(alerts_database.owner, "unreadable_records") == 1
    assert set(first_rows) <= set(rows(alerts_database.owner, "SELECT alerts::text FROM alerts.alerts"))


def test_kills_at_any_moment_leave_every_alert_once(kafka: str, alerts_database: AlertsDatabase) -> None:
    topic = new_topic(kafka)
    for first in (0, 400, 800):
        with projector(kafka, topic, alerts_database.projector) as running:
            produce(kafka, topic, alerts_numbered(first + 1, first + 400))
            # Killed as soon as part of the round is there, so in the middle of the work.
            eventually(partial(more_than, alerts_database.owner, first), "some are stored")
            running.kill()
            assert running.wait(SECONDS) == -signal.SIGKILL
    with projector(kafka, topic, alerts_database.projector):
        eventually(lambda: committed(kafka, topic, topic) == 1200, "all offsets are committed")
    assert (count(alerts_database.owner, "alerts"), count(alerts_database.owner, "alert_events")) == (
        1200,
        1200,
    )
    before, after = rebuild(alerts_database.projector, keep=False, progress=lambda _: None)
    assert before == after, "cases are what the log adds up to"
    assert rows(alerts_database.owner, "SELECT sum(count)::text FROM alerts.cases") == [("1200",)]


def test_a_replay_from_the_beginning_changes_nothing(kafka: str, alerts_database: AlertsDatabase) -> None:
    topic = new_topic(kafka)
    produce(kafka, topic, [*alerts_numbered(1, 20), b"garbage", alert(1, detectedAt=EPOCH + 999_999)])
    with projector(kafka, topic, alerts_database.projector):
        eventually(lambda: committed(kafka, topic, topic) == 22, "all offsets are committed")
    alerts = PostgresAlerts(open_pool(alerts_database.api, 1))
    acknowledge(alerts, alert_id(1), "ada", "seen", lambda: EPOCH)
    alerts.close()
    before = everything(alerts_database.owner)
    copied = new_topic(kafka)
    replayed = [alert(number, detectedAt=EPOCH + 777_777) for number in range(1, 21)]
    produce(kafka, copied, [*replayed, alert(21)])
    with projector(kafka, copied, alerts_database.projector):
        eventually(lambda: committed(kafka, copied, copied) == 21, "all of the replay is committed")
    after = everything(alerts_database.owner)
    assert [set(table) for table in before[:2]] == [
        {row for row in table if alert_id(21) not in row[0]} for table in after[:2]
    ]
    assert len(after[0]) == len(before[0]) + 1  # the replay was read to its end
    assert after[2:] == before[2:]


GARBAGE: list[bytes | dict[str, Any]] = [
    b"", b"\xff\xfe\x00", b"null", b"[" * 50_000, b'{"alertId": 1}', b"\x00" * 1000, b"9" * 10_000,
    alert(901, ruleName="a\x00b"), alert(902, group={"payeeId": 7}), alert(903, eventTime=2**80),
    b"x" * 900_000,
]  # fmt: skip


def test_garbage_is_kept_aside_and_its_neighbours_arrive(kafka: str, alerts_database: AlertsDatabase) -> None:
    topic = new_topic(kafka)
    mixed = [value for number, bad in enumerate(GARBAGE, start=1) for value in (alert(number), bad)]
    produce(kafka, topic, mixed)
    with projector(kafka, topic, alerts_database.projector) as running:
        eventually(lambda: committed(kafka, topic, topic) == len(mixed), "all offsets are committed")
        assert running.poll() is None
    stored = {row[0] for row in rows(alerts_database.owner, "SELECT alert_id::text FROM alerts.alerts")}
    assert stored == {alert_id(number) for number in range(1, len(GARBAGE) + 1)}
    kept = rows(
        alerts_database.owner, "SELECT record_value, value_length, reason FROM alerts.unreadable_records"
    )
    raw = sorted(value for value in GARBAGE if isinstance(value, bytes) and value)
    assert sorted(row[0] for row in kept if row[0] in raw or row[1] > 512 * 1024) == sorted(
        value[: 512 * 1024] for value in raw
    )
    assert len(kept) == len(GARBAGE)
    assert {row[2] for row in kept} == {"empty", "not_json", "invalid", "bad_text"}


def test_an_outage_of_the_database_is_waited_for(kafka: str, alerts_database: AlertsDatabase) -> None:
    topic = new_topic(kafka)
    name = psycopg.conninfo.conninfo_to_dict(alerts_database.owner)["dbname"]
    with projector(kafka, topic, alerts_database.projector) as running:
        produce(kafka, topic, alerts_numbered(1, 5))
        eventually(lambda: count(alerts_database.owner, "alerts") == 5, "the line works")
        with psycopg.connect(alerts_database.owner, dbname="postgres", autocommit=True) as admin:
            admin.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false'.encode())
            admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])
            produce(kafka, topic, alerts_numbered(6, 300))
            with pytest.raises(psycopg.OperationalError):
                psycopg.connect(alerts_database.projector)
            assert running.poll() is None
            assert committed(kafka, topic, topic) <= 5
            admin.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true'.encode())
        eventually(lambda: count(alerts_database.owner, "alerts") == 300, "everything arrives afterwards")
        eventually(lambda: committed(kafka, topic, topic) == 300, "and is committed")
        running.terminate()
        assert running.wait(SECONDS) == 0


def test_two_projectors_share_the_work(kafka: str, alerts_database: AlertsDatabase) -> None:
    topic = new_topic(kafka)
    with (
        projector(kafka, topic, alerts_database.projector),
        projector(kafka, topic, alerts_database.projector),
    ):
        produce(kafka, topic, alerts_numbered(1, 500))
        eventually(lambda: committed(kafka, topic, topic) == 500, "all offsets are committed")
    assert (count(alerts_database.owner, "alerts"), count(alerts_database.owner, "alert_events")) == (
        500,
        500,
    )


def test_the_command_is_ready_measures_and_stops_cleanly(kafka: str, alerts_database: AlertsDatabase) -> None:
    create(KafkaCluster(kafka))
    produce(kafka, "alerts.v1", [*alerts_numbered(7001, 7003), alert(7001), b"garbage"])
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        bind = f"127.0.0.1:{probe.getsockname()[1]}"
    settings = {
        "TRIPLINE_ALERTS_DSN": alerts_database.projector,
        "TRIPLINE_KAFKA": kafka,
        "TRIPLINE_METRICS_BIND": bind,
    }
    command = [str(Path(sys.executable).with_name("alert-api")), "projector"]
    process = subprocess.Popen(command, env={**os.environ, **settings}, stderr=subprocess.DEVNULL)
    try:
        eventually(lambda: "tripline_alerts_lag_records" in read(f"http://{bind}/metrics"), "it has metrics")
        query = "SELECT alert_id::text FROM alerts.alerts"
        wanted = {(alert_id(number),) for number in (7001, 7002, 7003)}
        eventually(lambda: wanted <= set(rows(alerts_database.owner, query)), "the alerts are stored")
        eventually(lambda: "ok" in read(f"http://{bind}/readyz"), "it is ready")
        eventually(lambda: metric(bind, "tripline_alerts_duplicate_total") >= 1, "the duplicate is counted")
        eventually(
            lambda: metric(bind, 'tripline_alerts_unreadable_total{reason="not_json"}') >= 1, "so is garbage"
        )
        assert metric(bind, "tripline_alerts_stored_total") >= 3
        process.terminate()
        assert process.wait(SECONDS) == 0
    finally:
        process.kill()
        process.wait(SECONDS)


def more_than(dsn: str, number: int) -> bool:
    return count(dsn, "alerts") > number


def read(address: str) -> str:
    try:
        with urllib.request.urlopen(address, timeout=5) as answer:
            text: str = answer.read().decode()
            return text
    except (urllib.error.URLError, ConnectionError):
        return ""


def metric(bind: str, name: str) -> float:
    lines = [line for line in read(f"http://{bind}/metrics").splitlines() if line.startswith(f"{name} ")]
    return float(lines[0].rpartition(" ")[2]) if lines else 0.0
