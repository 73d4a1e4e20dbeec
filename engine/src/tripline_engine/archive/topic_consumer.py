"""The archiver's Kafka consumer: all partitions at once, each from the end of its files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

import structlog
from confluent_kafka import Consumer, KafkaException, TopicPartition

from tripline_engine.errors import KafkaSilent
from tripline_engine.kafka_log.offset_range import OffsetRange
from tripline_engine.kafka_log.record import Record
from tripline_engine.kafka_log.topic_log import consumer_settings, is_out_of_range, record_of, span_of

_log = structlog.get_logger(__name__)
_SECONDS: Final = 30.0
_MAX_RECORDS: Final = 5_000
_FETCH_BYTES: Final = 1 << 18
"""Minimum size of a fetch response; the broker waits for it half a second at most."""

PartitionKey = tuple[str, int]
"""Topic and partition."""
StartOffset = Callable[[PartitionKey, OffsetRange], int]
"""The offset to read a partition from, given the range that Kafka has."""


class TopicConsumer:
    """A consumer of some topics. Raises KafkaSilent where Kafka does not answer. To be closed."""

    def __init__(self, kafka: str, topics: list[str], start_offset: StartOffset) -> None:
        # files are written every few seconds: many records in few answers spare the broker and this process work
        self._consumer = Consumer({**consumer_settings(kafka), "fetch.min.bytes": _FETCH_BYTES})
        self._topics, self._start_offset = topics, start_offset
        self._assigned: set[PartitionKey] = set()

    def assign_new_partitions(self) -> None:
        """Assigns partitions that are not assigned yet: at first all, later new ones."""
        for key in sorted(set(self._partitions()) - self._assigned):
            self._assign(key)

    def read(self, seconds: float) -> Iterator[tuple[PartitionKey, Record]]:
        """Records that arrive within that time."""
        for message in self._consumer.consume(_MAX_RECORDS, seconds):
            error, topic, partition = message.error(), message.topic(), message.partition()
            if error is None:
                record = record_of(message)
                yield (str(topic), record.partition), record
            elif is_out_of_range(error) and topic is not None and partition is not None:
                self._consumer.incremental_unassign([TopicPartition(topic, partition)])
                self._assigned.discard((topic, partition))
                self._assign((topic, partition))
            elif error.fatal():
                raise KafkaSilent(f"{topic or 'Kafka'}: {error.str()}")
            else:
                _log.warning("kafka", topic=topic, partition=partition, reason=error.str())

    def ends(self) -> Mapping[PartitionKey, int]:
        """End offsets of the partitions, as cached from the last fetch responses."""
        ends: dict[PartitionKey, int] = {}
        for topic, partition in self._assigned:
            watermarks = self._consumer.get_watermark_offsets(TopicPartition(topic, partition), cached=True)
            if watermarks[1] >= 0:
                ends[topic, partition] = watermarks[1]
        return ends

    def close(self) -> None:
        """Closes the consumer."""
        self._consumer.close()

    def _assign(self, key: PartitionKey) -> None:
        start = self._start_offset(key, span_of(self._consumer, *key))
        self._consumer.incremental_assign([TopicPartition(*key, start)])
        self._assigned.add(key)
        _log.info("reading", topic=key[0], partition=key[1], offset=start)

    def _partitions(self) -> Iterator[PartitionKey]:
        for topic in self._topics:
            try:
                metadata = self._consumer.list_topics(topic, _SECONDS).topics[topic]
            except KafkaException as error:
                raise KafkaSilent(f"{topic}: Kafka doesn't say its partitions: {error}") from error
            if metadata.error is None:
                yield from ((topic, partition) for partition in metadata.partitions)
