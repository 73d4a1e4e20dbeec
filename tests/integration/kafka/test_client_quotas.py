"""What an identity may cost a broker: who floods it is slowed down, and the engine is not."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, ThrottleEvent, TopicPartition

from tests.secured_kafka import SecuredKafka
from tripline_contracts.kafka import access as kafka_access
from tripline_contracts.kafka.access import Identity, Quotas
from tripline_contracts.record_batches.broker_connection import BrokerConnection
from tripline_demo import kafka_quotas
from tripline_demo import topics as topics_job
from tripline_demo.embedded.jars import Jars
from tripline_demo.embedded.java import Java
from tripline_demo.errors import KafkaFailed

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

SECONDS = 60.0
RATE = 500_000
"""Bytes a second for who floods. A broker averages over ten seconds, so it lets ten times as many through at once."""
RECORD = bytes(100_000)
RECORDS = 200
"""Four times of what is let through at once."""


@pytest.fixture
def narrow(secured: SecuredKafka) -> Iterator[SecuredKafka]:
    """Whoever has quotas has small ones; who has none has none."""
    small = Quotas(write_bytes=RATE, read_bytes=RATE, thread_percent=100)
    shipped = kafka_access.identities()
    changed = [replace(one, quotas=small) for one in shipped if one.quotas != Quotas()]
    assert kafka_quotas.apply(secured.administrator, "set", changed)
    yield secured
    kafka_quotas.apply(secured.administrator, "set", shipped)


@dataclass
class Flood:
    """A client that does what it can, and what the broker tells it of being throttled, in seconds."""

    throttled: list[float] = field(default_factory=list)
    confirmed: int = 0
    ended: threading.Event = field(default_factory=threading.Event)

    def note(self, event: ThrottleEvent) -> None:
        if event.throttle_time > 0:
            self.throttled.append(event.throttle_time)

    def write(self, secured: SecuredKafka, identity: str, topic: str) -> None:
        """Until all records are confirmed, or somebody ends it."""
        config: dict[str, Any] = {**secured.as_identity(identity).client_config(), "log_level": 0}
        producer = Producer({**config, "throttle_cb": self.note, "linger.ms": 0, "batch.size": 100_000})

        def count(error: object, _: object) -> None:
            self.confirmed += error is None

        for _ in range(RECORDS):
            producer.produce(topic, RECORD, partition=0, on_delivery=count)
        end = time.monotonic() + SECONDS
        while self.confirmed < RECORDS and not self.ended.is_set() and time.monotonic() < end:
            producer.poll(0.1)
        producer.purge()
        producer.flush(SECONDS)

    def read(self, secured: SecuredKafka, identity: str, topic: str, group: str) -> None:
        """Until as many records have come as `write` sends."""
        config: dict[str, Any] = {**secured.as_identity(identity).client_config(), "log_level": 0}
        consumer = Consumer(
            {**config, "group.id": group, "throttle_cb": self.note, "fetch.message.max.bytes": 1 << 20}
        )
        consumer.assign([TopicPartition(topic, 0, 0)])
        end = time.monotonic() + SECONDS
        while self.confirmed < RECORDS and not self.ended.is_set() and time.monotonic() < end:
            message = consumer.poll(0.1)
            self.confirmed += message is not None and message.error() is None
        consumer.close()


def test_a_source_that_floods_is_throttled_and_the_engine_is_not(narrow: SecuredKafka) -> None:
    source, engine = Flood(), Flood()
    flooding = threading.Thread(
        target=source.write, args=(narrow, "tripline-source", "transactions.v1"), daemon=True
    )
    flooding.start()
    wait_for(lambda: bool(source.throttled))
    engine.write(narrow, "tripline-engine", "alerts.v1")
    slower, faster = source.confirmed, engine.confirmed
    source.ended.set()
    flooding.join(SECONDS)
    assert sum(source.throttled) > 0
    assert engine.throttled == []
    assert faster == RECORDS > slower


def test_without_quotas_nobody_is_throttled(secured: SecuredKafka) -> None:
    kafka_quotas.apply(secured.administrator, "remove")
    source = Flood()
    source.write(secured, "tripline-source", "transactions.v1")
    kafka_quotas.apply(secured.administrator, "set")
    assert (source.confirmed, source.throttled) == (RECORDS, [])


def test_who_reads_too_much_is_throttled_and_the_engine_is_not(narrow: SecuredKafka) -> None:
    Flood().write(narrow, "tripline-engine", "engine-order.v1")
    operator, engine = Flood(), Flood()
    reading = threading.Thread(
        target=operator.read, args=(narrow, "tripline-operator", "engine-order.v1", "tripline-operator-x")
    )
    reading.start()
    wait_for(lambda: bool(operator.throttled))
    engine.read(narrow, "tripline-engine", "engine-order.v1", "tripline-engine-x")
    operator.ended.set()
    reading.join(SECONDS)
    assert (engine.confirmed, engine.throttled) == (RECORDS, [])


def test_small_requests_count_by_the_time_that_they_take(secured: SecuredKafka) -> None:
    """Refused ones and those for nothing too. What is told here is the answer's own first number."""
    [source] = [one for one in kafka_access.identities() if one.name == "tripline-source"]
    kafka_quotas.apply(secured.administrator, "set", [replace(source, quotas=Quotas(thread_percent=1))])
    cluster = secured.as_identity("tripline-source")
    host, _, port = cluster.servers.partition(":")
    metadata_of_all = struct.pack(">i?", -1, False)
    with closing(BrokerConnection(cluster, host, int(port))) as connection:
        wait_for(lambda: struct.unpack_from(">i", connection.request(3, 4, metadata_of_all)) > (0,))
    kafka_quotas.apply(secured.administrator, "set", [source])


def wait_for(condition: Any) -> None:
    """Asks until it is true."""
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end, "not within a minute"


class TestTheJob:
    def test_kafka_s_own_tool_tells_what_the_file_says(
        self, secured: SecuredKafka, java: Java, jars: Jars, tmp_path: Path
    ) -> None:
        wanted = {one.name: told(one) for one in kafka_access.identities() if one.quotas != Quotas()}
        assert quotas_by_the_tool(secured, java, jars, tmp_path) == wanted
        assert kafka_quotas.apply(secured.administrator, "set") == 0
        assert kafka_quotas.apply(secured.administrator, "leave") == 0
        assert kafka_quotas.apply(secured.administrator, "remove") == sum(map(len, wanted.values()))
        assert quotas_by_the_tool(secured, java, jars, tmp_path) == {}
        assert kafka_quotas.apply(secured.administrator, "set") == sum(map(len, wanted.values()))

    def test_it_takes_what_the_file_does_not_name_from_ours_and_leaves_others_alone(
        self, secured: SecuredKafka, java: Java, jars: Jars, tmp_path: Path
    ) -> None:
        bounded = Quotas(write_bytes=1_000)
        [engine] = [one for one in kafka_access.identities() if one.name == "tripline-engine"]
        another = replace(engine, name="somebody-else")
        surplus = [replace(one, quotas=bounded) for one in (engine, another)]
        assert kafka_quotas.apply(secured.administrator, "set", surplus) == 2
        assert kafka_quotas.apply(secured.administrator, "set") == 1
        left = quotas_by_the_tool(secured, java, jars, tmp_path)
        assert "tripline-engine" not in left
        assert left["somebody-else"] == {"producer_byte_rate": 1000.0}
        assert kafka_quotas.apply(secured.administrator, "remove", [another]) == 1

    def test_it_is_switched_by_the_environment(
        self, secured: SecuredKafka, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        for name, value in secured.administrator.variables().items():
            monkeypatch.setenv(name, value)
        said = []
        for choice in ("remove", "leave", "set", "off"):
            monkeypatch.setenv("TRIPLINE_KAFKA_QUOTAS", choice)
            code = topics_job.main()
            said.append((code, capsys.readouterr().err.splitlines()[-2:][0]))
        total = sum(len(told(one)) for one in kafka_access.identities())
        assert said == [
            (0, f"quotas changed: {total}"),
            (0, "quotas changed: 0"),
            (0, f"quotas changed: {total}"),
            (2, "TRIPLINE_KAFKA_QUOTAS is off: it is set, remove, leave."),
        ]

    def test_whoever_runs_it_has_to_be_allowed_to(self, secured: SecuredKafka) -> None:
        with pytest.raises(KafkaFailed, match=r"Cluster authorization failed.* TRIPLINE_KAFKA_QUOTAS=leave"):
            kafka_quotas.apply(secured.as_identity("tripline-source"), "remove")

    def test_a_broker_that_does_not_answer_is_named(self, secured: SecuredKafka) -> None:
        nobody = replace(secured.administrator, servers="127.0.0.1:9,127.0.0.1:19")
        with pytest.raises(KafkaFailed, match=r"127\.0\.0\.1:9: .*; 127\.0\.0\.1:19: "):
            kafka_quotas.apply(nobody, "set")

    def test_the_first_broker_that_answers_is_asked(self, secured: SecuredKafka) -> None:
        servers = f"127.0.0.1:9, {secured.administrator.servers}"
        assert kafka_quotas.apply(replace(secured.administrator, servers=servers), "set") == 0


def told(identity: Identity) -> dict[str, float]:
    """Its quotas in Kafka's words."""
    quotas = identity.quotas
    by_name = {
        "producer_byte_rate": quotas.write_bytes,
        "consumer_byte_rate": quotas.read_bytes,
        "request_percentage": quotas.thread_percent,
    }
    return {name: float(value) for name, value in by_name.items() if value is not None}


def quotas_by_the_tool(
    secured: SecuredKafka, java: Java, jars: Jars, folder: Path
) -> dict[str, dict[str, float]]:
    """What `kafka-configs.sh --describe --entity-type users` prints, by user."""
    settings = folder / "client.properties"
    lines = [f"{name}={value}\n" for name, value in secured.administrator.java_config().items()]
    settings.write_text("".join(lines), encoding="ascii")
    command = [
        str(java.executable), "-cp", f"{jars.broker}/*", "kafka.admin.ConfigCommand",
        "--bootstrap-server", secured.administrator.servers, "--command-config", str(settings),
        "--describe", "--entity-type", "users",
    ]  # fmt: skip
    printed = subprocess.run(
        command, capture_output=True, text=True, timeout=SECONDS, check=True, env=dict(os.environ)
    ).stdout
    users = re.findall(r"^Quota configs for user-principal '([^']+)' are (.*)$", printed, re.MULTILINE)
    return {
        user: {name: float(value) for name, value in (pair.split("=") for pair in values.split(", "))}
        for user, values in users
    }
