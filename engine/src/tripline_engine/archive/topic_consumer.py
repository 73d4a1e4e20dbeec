"""Topics as the archiver reads them: all partitions at once, each from where its files end."""

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
_MOST: Final = 5_000
_FETCH_BYTES: Final = 1 << 18
"""An answer waits for so many, half a second at most."""

PartitionKey = tuple[str, int]
"""Topic and partition."""
StartOffset = Callable[[PartitionKey, OffsetRange], int]
"""Where to read a partition from, given what it has."""


class TopicConsumer:
    """A consumer of some topics. Raises KafkaSilent where Kafka does not answer. To be closed."""

    def __init__(self, kafka: str, topics: list[str], begin: StartOffset) -> None:
        # files are written every few seconds: many records in few answers spare the broker and this process work
        self._consumer = Consumer({**consumer_settings(kafka), "fetch.min.bytes": _FETCH_BYTES})
        self._topics, self._begin = topics, begin
        self._assigned: set[PartitionKey] = set()

    def take_new_partitions(self) -> None:
        """From now on reads what has come into being; at first, all there is."""
        for place in sorted(set(self._places()) - self._assigned):
            self._assign(place)

    def read(self, seconds: float) -> Iterator[tuple[PartitionKey, Record]]:
        """What comes within that time."""
        for message in self._consumer.consume(_MOST, seconds):
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
        """The ends of all partitions, as Kafka last said them along with records."""
        found: dict[PartitionKey, int] = {}
        for topic, partition in self._assigned:
            known = self._consumer.get_watermark_offsets(TopicPartition(topic, partition), cached=True)
            if known[1] >= 0:
                found[topic, partition] = known[1]
        return found

    def close(self) -> None:
        """Leaves Kafka."""
        self._consumer.close()

    def _assign(self, place: PartitionKey) -> None:
        start = self._begin(place, span_of(self._consumer, *place))
        self._consumer.incremental_assign([TopicPartition(*place, start)])
        self._assigned.add(place)
        _log.info("reading", topic=place[0], partition=place[1], offset=start)

    def _places(self) -> Iterator[PartitionKey]:
        for topic in self._topics:
            try:
                found = self._consumer.list_topics(topic, _SECONDS).topics[topic]
            except KafkaException as error:
                raise KafkaSilent(f"{topic}: Kafka doesn't say its partitions: {error}") from error
            if found.error is None:
                yield from ((topic, partition) for partition in found.partitions)
