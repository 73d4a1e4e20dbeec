"""What lies in Kafka: whole topics read back, and records put there as they are, bytes and times alike."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from confluent_kafka import Consumer, KafkaException, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from tripline_contracts import topics as contract
from tripline_contracts.kafka.cluster import KafkaCluster
from tripline_demo import topics

SECONDS = 60.0
ANY_TIME = {
    "message.timestamp.after.max.ms": str(2**63 - 1),
    "message.timestamp.before.max.ms": str(2**63 - 1),
}


@dataclass(frozen=True, slots=True)
class Logged:
    """One record as it lies in its topic; `time` is its timestamp in ms."""

    partition: int
    offset: int
    time: int
    key: bytes | None
    value: bytes | None
    headers: dict[str, bytes]


@dataclass(frozen=True, slots=True)
class Sent:
    """One record to send; no `time` means now."""

    topic: str
    value: bytes | None
    partition: int = 0
    time: int | None = None
    headers: tuple[tuple[str, bytes], ...] = ()


class KafkaLog:
    """The topics of one engine: the contract's names behind a prefix of their own."""

    def __init__(self, kafka: str | KafkaCluster, prefix: str = "") -> None:
        self.cluster = KafkaCluster(kafka) if isinstance(kafka, str) else kafka
        self.kafka, self.prefix = self.cluster.servers, prefix
        self._deleted: dict[str, list[Logged]] = {}

    @cached_property
    def _producer(self) -> Producer:
        return Producer(
            {
                **self.cluster.client_config(),
                "log_level": 0,
                "enable.idempotence": True,
                "message.max.bytes": 4 << 20,
                # what is sent together arrives together, a partition's part at once; flush waits for no linger
                "linger.ms": 100,
            }
        )

    @cached_property
    def _watcher(self) -> Consumer:
        """For whoever waits: a connection of its own for each look would be most of what a look costs."""
        return Consumer({**_settings(self.cluster), "log_level": 0})

    def create(self, **more: str) -> None:
        """All topics, as the contract makes them for old data; `more` is further configuration of each.

        But for record times, of which histories have the strangest: an earlier release's topics took them.
        """
        wanted = [
            replace(
                topic,
                name=self.prefix + topic.name,
                config={**topic.config, **more},
                config_for_old_data={**topic.config_for_old_data, **ANY_TIME},
            )
            for topic in contract.all_topics()
        ]
        assert len(topics.create(self.cluster, wanted, "data")) == len(wanted)

    def send(self, records: Iterable[Sent]) -> None:
        """Returns when the broker has all of them, each partition's in this order."""
        failures: list[Any] = []
        for record in records:
            self._producer.produce(
                self.prefix + record.topic,
                record.value,
                partition=record.partition,
                # 0 would mean now
                timestamp=0 if record.time is None else max(1, record.time),
                headers=list(record.headers),
                on_delivery=lambda error, _: failures.append(error) if error else None,
            )
        assert self._producer.flush(SECONDS) == 0
        assert not failures, failures

    def ends(self, topic: str) -> dict[int, int]:
        """Exclusive ends by partition."""
        return {p: end for p, (_, end) in self._spans(self._watcher, topic).items()}

    def read(self, topic: str) -> list[Logged]:
        """The whole topic as it stands, and what was deleted of it by this log, by partition and offset."""
        with reader(self.cluster) as consumer:
            there = {p: (low, end) for p, (low, end) in self._spans(consumer, topic).items() if end > low}
            consumer.assign([TopicPartition(self.prefix + topic, p, low) for p, (low, _) in there.items()])
            count, logged = sum(end - low for low, end in there.values()), list[Logged]()
            while len(logged) < count:
                # no more than there is: consume waits for as many as it is asked for
                messages = consumer.consume(min(1000, count - len(logged)), SECONDS)
                assert messages, f"nothing more of {topic} within {SECONDS:g} s"
                logged += [_logged(message) for message in messages]
        logged += self._deleted.get(topic, [])
        return sorted(logged, key=lambda record: (record.partition, record.offset))

    def delete(self, topic: str, before: Mapping[int, int]) -> None:
        """By partition, all records with a lower offset. They are gone from Kafka when this returns."""
        kept = self.read(topic)
        admin = AdminClient({**self.cluster.client_config(), "log_level": 3})
        places = [TopicPartition(self.prefix + topic, p, offset) for p, offset in before.items()]
        for outcome in admin.delete_records(places, request_timeout=SECONDS).values():
            outcome.result(SECONDS)
        self._deleted[topic] = [record for record in kept if record.offset < before.get(record.partition, 0)]
        with reader(self.cluster) as consumer:
            assert {p: low for p, (low, _) in self._spans(consumer, topic).items()} == dict(before)

    def read_json(self, topic: str) -> list[Any]:
        """The values of a topic that we alone write to."""
        return [json.loads(record.value or b"") for record in self.read(topic)]

    def _spans(self, consumer: Consumer, topic: str) -> dict[int, tuple[int, int]]:
        """The first offset that is there and the exclusive end, by partition."""
        name = self.prefix + topic
        partitions: Sequence[int] = list(consumer.list_topics(name, SECONDS).topics[name].partitions)
        spans = {
            p: consumer.get_watermark_offsets(TopicPartition(name, p), timeout=SECONDS) for p in partitions
        }
        return {p: (int(low), int(end)) for p, (low, end) in spans.items()}


@contextmanager
def reader(kafka: KafkaCluster) -> Iterator[Consumer]:
    """A consumer without a group's duties."""
    consumer = Consumer(_settings(kafka))
    try:
        yield consumer
    finally:
        consumer.close()


def _settings(kafka: KafkaCluster) -> dict[str, str | int | bool]:
    return {
        **kafka.client_config(),
        "group.id": uuid.uuid4().hex,
        "enable.auto.commit": False,
        "fetch.wait.max.ms": 10,
        "log_level": 3,
    }


def _logged(message: Message) -> Logged:
    if message.error():
        raise KafkaException(message.error())
    partition, offset = message.partition(), message.offset()
    assert partition is not None
    assert offset is not None
    value, key = message.value(), message.key()
    pairs: Any = message.headers() or []
    headers = {name: bytes(content or b"") for name, content in pairs}
    return Logged(partition, offset, message.timestamp()[1], _bytes(key), _bytes(value), headers)


def _bytes(data: Any) -> bytes | None:
    return None if data is None else bytes(data)
