"""Reads what the engine writes, and notes when each record was read."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass
from typing import Any, Final

from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

from tripline_contracts.kafka.cluster import KafkaCluster

ALERTS: Final = "alerts.v1"
ORDER: Final = "engine-order.v1"
STATUS: Final = "rule-status.v1"
REJECTS: Final = "rejected-transactions.v1"
RULES: Final = "rules.v1"
PROBE: Final = "bench-probe"
_PARTITIONS: Final = {ALERTS: 2, ORDER: 1, STATUS: 1, REJECTS: 1, RULES: 1, PROBE: 1}


def create_probe(kafka: KafkaCluster) -> None:
    """The topic that measures Kafka alone."""
    admin = AdminClient({**kafka.client_config()})
    for created in admin.create_topics([NewTopic(PROBE, 1)]).values():
        created.result(30)


@dataclass(frozen=True, slots=True)
class Read:
    """A record's value, its offset, and when it was read, in seconds of the monotonic clock."""

    at: float
    offset: int
    value: bytes


class Reader:
    """A consumer on a thread, from the beginning of the given topics."""

    def __init__(self, kafka: KafkaCluster, *topics: str) -> None:
        self._consumer = Consumer(
            {
                **kafka.client_config(),
                "group.id": "bench",
                "enable.auto.commit": False,
                "fetch.wait.max.ms": 100,
                "fetch.queue.backoff.ms": 10,
            }
        )
        self._consumer.assign(
            [TopicPartition(topic, p, 0) for topic in topics for p in range(_PARTITIONS[topic])]
        )
        self._stop = threading.Event()
        self._records: dict[str, list[Read]] = {topic: [] for topic in topics}
        self._thread = threading.Thread(target=self._run, name="-".join(topics), daemon=True)
        self._thread.start()

    def records(self, topic: str, since: int = 0) -> list[Read]:
        """Those read so far but the first `since`, in the order in which they were read."""
        return self._records[topic][since:]

    def count(self, topic: str) -> int:
        """How many were read so far."""
        return len(self._records[topic])

    def close(self) -> None:
        """Ends the thread."""
        self._stop.set()
        self._thread.join()
        self._consumer.close()

    def _run(self) -> None:
        while not self._stop.is_set():
            message = self._consumer.poll(0.2)
            if message is None or message.error() is not None:
                continue
            read_at, topic, value, offset = (
                time.monotonic(),
                message.topic(),
                message.value(),
                message.offset(),
            )
            if topic is not None and offset is not None and isinstance(value, bytes):
                self._records[topic].append(Read(read_at, offset, value))


class OrderReader:
    """The engine's order so far: which micro-batch took which offsets."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._seen = 0
        self.batches: list[dict[str, Any]] = []
        self.until = [0, 0]

    def advance(self) -> int:
        """Takes what was read meanwhile; how many transactions the engine has taken in all."""
        for record in self._reader.records(ORDER, self._seen):
            batch = json.loads(record.value)
            self._seen += 1
            # a batch emitted again after a failure is the same batch
            if not self.batches or batch["sequence"] > self.batches[-1]["sequence"]:
                self.batches.append(batch)
            for part in batch["transactions"]:
                self.until[part["partition"]] = max(self.until[part["partition"]], part["until"])
        return sum(self.until)
