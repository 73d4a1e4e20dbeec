"""The console's glance at transactions.v1, on a real Kafka with records of any kind."""

from __future__ import annotations

import json
import time
from uuid import uuid4

import pytest
from confluent_kafka import Producer

from alert_api.adapters.newest_transactions import PER_PARTITION, NewestTransactions
from alert_api.errors import UpstreamUnavailable
from tripline_contracts import event_type_loader, topics
from tripline_contracts.kafka.cluster import KafkaCluster
from tripline_demo.topics import create

pytestmark = pytest.mark.integration

GARBAGE = [b"", b"\xff\x00", b"[" * 60_000, b"[1]", b"9" * 9_999, None]


SENT = time.time_ns() // 1_000_000 - 86_400_000
"""A day ago, in ms: not the time at which the broker has it."""


def new_topic(kafka: str) -> str:
    contract = topics.load("transactions.v1")
    members = {name: getattr(contract, name) for name in contract.__dataclass_fields__}
    name = f"transactions-{uuid4().hex}"
    create(KafkaCluster(kafka), [topics.Topic(**{**members, "name": name})])
    return name


def produce(kafka: str, topic: str, values: list[bytes | None], partition: int = 0) -> None:
    producer = Producer({"bootstrap.servers": kafka, "log_level": 3})
    for number, value in enumerate(values):
        producer.produce(topic, value, partition=partition, timestamp=SENT + number)
    assert producer.flush(30) == 0


def payment(number: int) -> bytes:
    return json.dumps(
        {"transactionId": f"t{number}", "eventTime": 5, "payeeId": 25, "paymentAmount": 1.10, "other": "x"}
    ).encode()


def test_the_newest_few_are_shown_and_all_are_counted(kafka: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("alert_api.adapters.newest_transactions.KEPT_SECONDS", 0.0)
    topic = new_topic(kafka)
    glance = NewestTransactions(KafkaCluster(kafka), topic, event_type_loader.load())
    try:
        assert (glance.look().written, glance.look().newest) == (0, ())
        produce(kafka, topic, [payment(number) for number in range(100)])
        seen = glance.look()
        assert seen.written == 100
        newest = [record["transaction"]["transactionId"] for record in seen.newest]
        assert newest == [f"t{number}" for number in range(99, 99 - PER_PARTITION, -1)]
        # What the event type does not declare is not shown, and an amount stays as it was written.
        assert seen.newest[0]["transaction"] == {
            "transactionId": "t99", "eventTime": 5, "payeeId": 25, "paymentAmount": "1.1",
        }  # fmt: skip
        produce(kafka, topic, list(GARBAGE), partition=1)
        seen = glance.look()
        assert seen.written == 100 + len(GARBAGE)
        unreadable = [record for record in seen.newest if record["partition"] == 1]
        assert [record["transaction"] for record in unreadable] == [None] * PER_PARTITION
        assert [record["bytes"] for record in unreadable] == [0, 9_999, 3, 60_000]
    finally:
        glance.close()


def test_a_broker_that_is_away_is_said_so() -> None:
    glance = NewestTransactions(KafkaCluster("127.0.0.1:1"), "transactions.v1", event_type_loader.load())
    try:
        with pytest.raises(UpstreamUnavailable):
            glance.look()
    finally:
        glance.close()
