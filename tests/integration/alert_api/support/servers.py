"""Real parts for these tests: databases with their roles, topics of their own, projectors as processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import tenacity
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from tests.unit.alert_api.support.samples import alert
from tripline_contracts import topics
from tripline_contracts.kafka.cluster import KafkaCluster
from tripline_demo.topics import create

SECONDS = 120.0
PROGRAM = Path(__file__).with_name("projector_process.py")


def eventually(holds: Callable[[], bool], what: str, seconds: float = SECONDS) -> None:
    """Return as soon as `holds`; fail with `what` when it does not in time."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.05)


def new_topic(kafka: str, like: str = "alerts.v1") -> str:
    """A topic of this test's own, made as the contract makes that one."""
    contract = topics.load(like)
    name = f"{like}-{uuid4().hex}"
    create(KafkaCluster(kafka), [topics.Topic(**{**_members(contract), "name": name})])
    return name


def _members(contract: topics.Topic) -> dict[str, Any]:
    return {name: getattr(contract, name) for name in contract.__dataclass_fields__}


def produce(kafka: str, topic: str, values: Sequence[bytes | dict[str, Any]]) -> None:
    """Put these on the topic, alerts with their id as key, and return when all have arrived."""
    producer = Producer({"bootstrap.servers": kafka, "log_level": 3})
    for value in values:
        if isinstance(value, dict):
            producer.produce(topic, json.dumps(value).encode(), key=value["alertId"])
        else:
            producer.produce(topic, value)
    assert producer.flush(SECONDS) == 0


def produce_traces(kafka: str, topic: str, values: Sequence[bytes | dict[str, Any]], key: str = "7") -> None:
    """Put these on the topic as the engine does, keyed by the rule; bytes, which no engine sends, under `key`."""
    producer = Producer({"bootstrap.servers": kafka, "log_level": 3})
    for value in values:
        if isinstance(value, dict):
            producer.produce(topic, json.dumps(value).encode(), key=str(value["ruleId"]))
        else:
            producer.produce(topic, value, key=key)
        producer.poll(0)
    assert producer.flush(SECONDS) == 0


# A broker's first group makes it lead the topic of offsets: until then it is the coordinator of none.
@tenacity.retry(
    retry=tenacity.retry_if_exception_type(KafkaException),
    wait=tenacity.wait_fixed(0.05),
    stop=tenacity.stop_after_delay(SECONDS),
    reraise=True,
)
def committed(kafka: str, topic: str, group: str) -> int:
    """How many records of the topic the group has committed."""
    consumer = Consumer({"bootstrap.servers": kafka, "group.id": group, "log_level": 3})
    try:
        places = [TopicPartition(topic, number) for number in range(topics.load("alerts.v1").partitions)]
        return sum(
            max(0, topic_partition.offset) for topic_partition in consumer.committed(places, timeout=SECONDS)
        )
    finally:
        consumer.close()


@contextmanager
def projector(kafka: str, topic: str, dsn: str, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """A projector process over the topic; the topic's name is its group too. Killed at the end if need be."""
    command = [sys.executable, str(PROGRAM), kafka, topic, dsn, *options]
    process = subprocess.Popen(command, env={**os.environ, "PYTHONUNBUFFERED": "1"})
    try:
        yield process
    finally:
        process.kill()
        process.wait(SECONDS)


def rows(dsn: str, query: str) -> list[tuple[Any, ...]]:
    """What the superuser sees."""
    with psycopg.connect(dsn) as connection:
        return connection.execute(query.encode()).fetchall()


def count(dsn: str, table: str) -> int:
    """How many rows the table has."""
    number = rows(dsn, f"SELECT count(*) FROM alerts.{table}")[0][0]
    assert isinstance(number, int)
    return number


def everything(dsn: str) -> list[list[tuple[Any, ...]]]:
    """All that the projector may have written, to compare before and after."""
    return [
        rows(dsn, "SELECT alerts::text FROM alerts.alerts ORDER BY alert_id"),
        rows(dsn, "SELECT alert_events::text FROM alerts.alert_events ORDER BY alert_id, version"),
        rows(dsn, "SELECT voided_transactions::text FROM alerts.voided_transactions ORDER BY command_id"),
        rows(dsn, "SELECT kafka_topic, kafka_partition, kafka_offset, record_value FROM alerts.unreadable_records"
                  " ORDER BY 1, 2, 3"),
    ]  # fmt: skip


def alerts_numbered(first: int, last: int) -> list[bytes | dict[str, Any]]:
    """Alerts `first` to `last`, both included."""
    return [alert(number) for number in range(first, last + 1)]
