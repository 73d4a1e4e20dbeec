"""The line by its command line, from its start on: what runs, what is refused, a checkpoint that is rebuilt.

The tests of this file follow one another, on a stack that others use after them; `test_stack_ended.py` ends it.
"""

from __future__ import annotations

import json
import re
import stat
from contextlib import closing
from pathlib import Path

import psutil
import pytest
from confluent_kafka import Consumer, TopicPartition

from tests.stack import RunningStack, eventually, processes, programs, tripline
from tripline_contracts.kafka.cluster import kafka_cluster
from tripline_demo.stack.plan import PORTS

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def stack(activity_line: RunningStack) -> RunningStack:
    return activity_line


def test_stack_json_says_where_everything_is(stack: RunningStack) -> None:
    keys = stack.file["apiKeys"]
    patterns = {
        "kafka": r"127\.0\.0\.1:\d+", "postgres": r"postgresql://tripline_admin:[\w-]+@127\.0\.0\.1:\d+/tripline",
        "rulesRegistry": r"http://127\.0\.0\.1:\d+", "alertApi": r"http://127\.0\.0\.1:\d+",
        "console": r"http://127\.0\.0\.1:\d+/", "generator": r"http://127\.0\.0\.1:\d+", "eventType": "activity",
    }  # fmt: skip
    assert set(stack.file) == {*patterns, "apiKeys", "kafkaAdministrator"}
    assert kafka_cluster(stack.file["kafkaAdministrator"]).servers == stack.file["kafka"]
    assert not [name for name, pattern in patterns.items() if not re.fullmatch(pattern, stack.file[name])]
    assert {"viewer", "analyst", "second-analyst", "approver", "admin", "auditor", "ops"} == set(keys)
    assert stat.S_IMODE(stack.places.stack_file.stat().st_mode) == 0o600
    assert not stack.file["rulesRegistry"].endswith(f":{PORTS['registry']}")


def test_without_traffic_there_are_no_rules_and_nothing_is_sent(stack: RunningStack) -> None:
    with stack.registry("viewer") as registry, stack.generator() as generator:
        assert registry.get("/v1/rules").json()["items"] == []
        traffic = generator.get("/v1/traffic").json()
    assert (traffic["rate"], traffic["counters"]["sent"]) == (0, 0)


def test_everything_listens_on_loopback_only(stack: RunningStack) -> None:
    listening = [
        connection.laddr.ip
        for process in processes(stack.places)
        for connection in process.net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    ]
    assert len(listening) >= len(PORTS)
    assert {address.removeprefix("::ffff:") for address in listening} <= {"127.0.0.1", "::1"}


def test_status_lists_every_process(stack: RunningStack) -> None:
    shown = tripline(stack.places, "status")
    rows = dict(re.findall(r"^([a-z-]+) +(running|done)", shown.stdout, re.MULTILINE))
    done = {name for name, state in rows.items() if state == "done"}
    assert (shown.returncode, done) == (0, {"topics", "migrations"}), shown.stdout
    running = {
        "postgres", "kafka", "archiver", "engine", "registry", "relay", "status", "alert-projector", "alert-api",
        "retention", "prover", "redrive", "notifier", "guard", "generator",
    }  # fmt: skip
    assert rows.keys() - done == running


def test_data_of_one_event_type_refuses_to_start_under_another(stack: RunningStack) -> None:
    refused = tripline(stack.places, "up", "--event-type", "card-authorisation")
    assert refused.returncode == 1
    said = " ".join(refused.stderr.split())
    assert "is of the event type activity, and cannot be used under card-authorisation" in said
    assert "start with EVENT_TYPE=activity as it was, or begin anew with FRESH=1" in said
    unknown = tripline(stack.places, "up", "--event-type", "cards")
    assert (unknown.returncode, "expected activity, card-authorisation, transaction" in unknown.stderr) == (
        1,
        True,
    )


def test_one_process_is_stopped_and_started(stack: RunningStack) -> None:
    done = tripline(stack.places, "stop", "archiver")
    assert (done.returncode, "archiver stopped" in done.stdout) == (0, True), done.stdout + done.stderr
    listed = tripline(stack.places, "status")
    assert (listed.returncode, re.search(r"archiver +stopped", listed.stdout) is not None) == (3, True)
    unknown = tripline(stack.places, "stop", "nobody")
    assert (unknown.returncode, "they are postgres, kafka" in unknown.stderr) == (1, True)
    again = tripline(stack.places, "start", "archiver")
    assert (again.returncode, "archiver is up" in again.stdout) == (0, True), again.stdout + again.stderr


def test_what_was_judged_is_proven_and_a_rule_is_tried(stack: RunningStack, tmp_path: Path) -> None:
    """By identities that Kafka lets read, whatever there is by now."""
    eventually(lambda: recorded(stack) > 0, "the engine has recorded a micro-batch")
    span = ("--from", "2020-01-01T00:00:00Z", "--to", "2100-01-01T00:00:00Z")
    done = tripline(stack.places, "prove", *span)
    assert (done.returncode, "match: 0 alerts of 2020-" in done.stdout) == (0, True), (
        done.stdout + done.stderr
    )
    rule = tmp_path / "rule.yaml"
    rule.write_text(
        "{aggregatorFunctionType: COUNT, groupingKeyNames: [accountId], limitOperatorType: '>', limit: 1,"
        " windowMinutes: 1}"
    )
    done = tripline(stack.places, "backtest", str(rule), *span, "--beside", "1")
    assert (done.returncode, "rule: 0 alerts in 0 groups" in done.stdout) == (0, True), (
        done.stdout + done.stderr
    )


@pytest.mark.soak
def test_the_engine_is_rebuilt(stack: RunningStack) -> None:
    pinned = stack.places.engine / "checkpoint" / "tripline.json"
    before = json.loads(pinned.read_text())
    with stack.registry() as registry:
        registry.put("/v1/parameters/of-the-rebuild", json={"value": "1"}).raise_for_status()
    eventually(lambda: recorded(stack) > 0, "the engine has recorded a micro-batch")
    done = tripline(stack.places, "rebuild")
    assert (done.returncode, "The old checkpoint is at" in done.stdout) == (0, True), (
        done.stdout + done.stderr
    )
    after = json.loads(pinned.read_text())
    assert (after["engine"], "begins" in after) == (before["engine"], True), (
        "the same engine, from where it was"
    )
    assert tripline(stack.places, "status").returncode == 0


def recorded(stack: RunningStack) -> int:
    """How many micro-batches the engine has recorded, and Kafka has."""
    with closing(
        Consumer(
            {**kafka_cluster(stack.file["kafkaAdministrator"]).client_config(), "group.id": "test-recorded"}
        )
    ) as consumer:
        ends: tuple[int, int] = consumer.get_watermark_offsets(
            TopicPartition("engine-order.v1", 0), timeout=10
        )
    return ends[1]


def test_a_second_start_finds_it_running(stack: RunningStack) -> None:
    before = programs(stack.places)
    again = tripline(stack.places, "up", "--event-type", "activity")
    assert (again.returncode, "It is running already" in again.stdout) == (0, True), again.stdout
    assert programs(stack.places) == before
