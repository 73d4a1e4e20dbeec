"""Real relay processes, and what has arrived in rules.v1."""

from __future__ import annotations

import os
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psycopg
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from rules_registry.adapters import statements
from tests.registry import command
from tripline_contracts import exact_json, schemas, topics
from tripline_contracts.kafka.cluster import KafkaCluster
from tripline_demo import topics as embedded_topics
from tripline_demo.processes import ports

TOPIC = "rules.v1"
DEADLINE_SECONDS = 120.0


def until(condition: Callable[[], bool], what: str, seconds: float = DEADLINE_SECONDS) -> None:
    """Waits for a condition; fails after the deadline."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds:.0f} s: {what}"
        time.sleep(0.02)


@dataclass(frozen=True, slots=True)
class Relay:
    """A relay process."""

    process: subprocess.Popen[bytes]
    metrics: str

    def is_active(self) -> bool:
        """Whether it says that it holds the lock."""
        try:
            text = httpx.get(f"{self.metrics}/metrics", timeout=2, verify=False).text
        except httpx.TransportError:
            return False
        return "tripline_relay_active 1.0" in text

    def kill(self) -> None:
        """kill -9."""
        self.process.kill()
        self.process.wait(10)


@contextmanager
def relay_process(dsn: str, kafka: str, log: Path) -> Iterator[Relay]:
    """Starts `rules-registry relay`; ended at the end at the latest."""
    (port,) = ports.free_ports(1)
    environment = {
        **os.environ,
        "TRIPLINE_REGISTRY_DSN": dsn,
        "TRIPLINE_KAFKA": kafka,
        "TRIPLINE_METRICS_BIND": f"127.0.0.1:{port}",
    }
    with log.open("ab") as output:
        process = subprocess.Popen(command("relay"), env=environment, stderr=output)
    try:
        yield Relay(process, f"http://127.0.0.1:{port}")
    finally:
        process.kill()
        process.wait(10)


def drop_rules_topic(kafka: str) -> None:
    """Until there is no rules.v1."""
    admin = AdminClient({"bootstrap.servers": kafka, "log_level": 3})
    deleting = admin.delete_topics([TOPIC], operation_timeout=DEADLINE_SECONDS)[TOPIC]
    try:
        deleting.result(DEADLINE_SECONDS)
    except KafkaException as error:
        if error.args[0].code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
            raise
    until(lambda: TOPIC not in admin.list_topics(timeout=60).topics, "it is gone")


def fresh_rules_topic(kafka: str) -> None:
    """An empty rules.v1, whatever was there."""
    drop_rules_topic(kafka)
    assert embedded_topics.create(KafkaCluster(kafka), [topics.load(TOPIC)]) == [TOPIC]


def positions_in_kafka(kafka: str) -> list[int]:
    """The positions in rules.v1 in the order of the log, each value checked against its schema."""
    check = schemas.validator(TOPIC)
    payloads = []
    for message in _read_all(kafka):
        value = exact_json.loads(message.value())
        check(value)
        assert isinstance(value, dict)
        headers = dict(message.headers())
        assert headers["ce_id"] == value["eventId"].encode()
        assert headers["ce_type"] == f"tripline.{value['type']}.v1".encode()
        expected_key = None if "ruleId" not in value else str(value["ruleId"]).encode()
        assert message.key() == expected_key
        payloads.append(value["position"])
    return payloads


def _read_all(kafka: str) -> Iterator[Any]:
    consumer = Consumer(
        {"bootstrap.servers": kafka, "group.id": uuid.uuid4().hex, "enable.auto.commit": False}
    )
    try:
        partition = TopicPartition(TOPIC, 0, 0)
        _, high = consumer.get_watermark_offsets(partition, timeout=60)
        consumer.assign([partition])
        read = 0
        while read < high:
            message = consumer.poll(60)
            assert message is not None, f"{read} of {high} records came"
            assert message.error() is None, message.error()
            read = (message.offset() or 0) + 1
            yield message
    finally:
        consumer.close()


def cursor_of(dsn: str) -> int:
    """Where the relay's cursor stands."""
    with psycopg.connect(dsn) as connection:
        (position,) = connection.execute(statements.RELAY_CURSOR).fetchone() or (0,)
    return int(position)


def last_position(dsn: str) -> int:
    """The end of the log."""
    with psycopg.connect(dsn) as connection:
        (position,) = connection.execute(statements.LAST_POSITION).fetchone() or (0,)
    return int(position)


def first_seen(positions: list[int]) -> list[int]:
    """What a reader takes that ignores positions it has passed, as the engine does."""
    taken: list[int] = []
    for position in positions:
        if not taken or position > taken[-1]:
            taken.append(position)
    return taken
