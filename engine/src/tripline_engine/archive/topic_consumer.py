"""The archiver's Kafka consumer: all partitions at once, each from the end of its files.

What a partition has when it is assigned may be from before topics stored records uncompressed, and more than a client
library should unfold. So that is surveyed first, and where there is such a record batch all up to its end is read as it
is stored, slower and with bounded memory (`kafka_log.stored_log`). The rest is the client library's.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import structlog
from confluent_kafka import Consumer, KafkaException, TopicPartition

from tripline_contracts.kafka.cluster import KafkaCluster
from tripline_engine.errors import KafkaSilent
from tripline_engine.kafka_log.offset_range import OffsetRange
from tripline_engine.kafka_log.record import Record
from tripline_engine.kafka_log.stored_log import KEPT_BYTES, StoredLog, record_from
from tripline_engine.kafka_log.topic_log import (
    OffsetsGone,
    TopicLog,
    consumer_settings,
    is_out_of_range,
    record_of,
    span_of,
)

_log = structlog.get_logger(__name__)
_SECONDS: Final = 10.0
"""For an answer of Kafka; the loop stands still meanwhile."""
_MAX_RECORDS: Final = 5_000
_FETCH_BYTES: Final = 1 << 18
"""Minimum size of a fetch response; the broker waits for it half a second at most."""

_SURVEY_BYTES: Final = 32 << 20
"""Bytes that are surveyed at a time, so that the loop comes round."""
_MAX_BYTES: Final = 8 << 20
"""Bytes of records that one call of `read` gives of a backlog, one record more at most."""

PartitionKey = tuple[str, int]
"""Topic and partition."""
StartOffset = Callable[[PartitionKey, OffsetRange], int]
"""The offset to read a partition from, given the range that Kafka has."""


@dataclass(slots=True)
class Backlog:
    """What a partition had when it was assigned, up to `until`.

    :ivar steps: of a survey, None each, then the records that are read with care; returns where these end
    """

    until: int
    steps: Generator[Record | None, None, int]


class TopicConsumer:
    """A consumer of some topics. Raises KafkaSilent where Kafka does not answer. To be closed."""

    def __init__(self, kafka: KafkaCluster, topics: list[str], start_offset: StartOffset) -> None:
        # files are written every few seconds: many records in few answers spare the broker and this process work
        self._consumer = Consumer({**consumer_settings(kafka), "fetch.min.bytes": _FETCH_BYTES})
        self._kafka, self._topics, self._start_offset = kafka, topics, start_offset
        self._assigned: set[PartitionKey] = set()
        self._backlogs: dict[PartitionKey, Backlog] = {}

    def assign_new_partitions(self) -> None:
        """Assigns partitions that are not assigned yet: at first all, later new ones."""
        for key in sorted(set(self._partitions()) - self._assigned):
            self._assign(key)

    def read(self, seconds: float) -> Iterator[tuple[PartitionKey, Record]]:
        """Records that arrive within that time, and at once a part of what was there already."""
        if self._backlogs:
            yield from self._backlog_part()
            seconds = 0.0
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
            backlog = self._backlogs.get((topic, partition))
            if backlog:
                ends[topic, partition] = backlog.until
                continue
            watermarks = self._consumer.get_watermark_offsets(TopicPartition(topic, partition), cached=True)
            if watermarks[1] >= 0:
                ends[topic, partition] = watermarks[1]
        return ends

    def close(self) -> None:
        """Closes the consumer."""
        for backlog in self._backlogs.values():
            backlog.steps.close()
        self._consumer.close()

    def _assign(self, key: PartitionKey) -> None:
        span = span_of(self._consumer, *key)
        start = self._start_offset(key, span)
        if start < span.until:
            self._backlogs[key] = Backlog(span.until, self._stored(key, OffsetRange(start, span.until)))
        else:
            self._consumer.incremental_assign([TopicPartition(*key, start)])
        self._assigned.add(key)
        _log.info("reading", topic=key[0], partition=key[1], offset=start)

    def _stored(self, key: PartitionKey, span: OffsetRange) -> Generator[Record | None, None, int]:
        topic, partition = key
        with TopicLog(self._kafka, topic) as log:
            stored, position, careful_until = StoredLog(log), span.first, span.first
            while position < span.until:
                part = stored.survey(partition, position, position, span.until, _SURVEY_BYTES)
                careful_until = part.large_until or careful_until
                position = part.until
                yield None
            for record in stored.records(partition, span.first, careful_until, KEPT_BYTES):
                if record.cut:
                    _log.warning(
                        "record_cut", topic=topic, partition=partition, offset=record.offset,
                        length=record.cut.length, kept=KEPT_BYTES,
                    )  # fmt: skip
                yield record_from(record, partition)
        return careful_until

    def _backlog_part(self) -> Iterator[tuple[PartitionKey, Record]]:
        """Of one backlog, by turns. The partition is the client's where it ends."""
        key, backlog = next(iter(self._backlogs.items()))
        del self._backlogs[key]
        count = size = 0
        while count < _MAX_RECORDS and size < _MAX_BYTES:
            try:
                record = next(backlog.steps)
            except StopIteration as end:
                self._consumer.incremental_assign([TopicPartition(*key, end.value)])
                return
            except OffsetsGone:
                # deleted meanwhile
                self._assign(key)
                return
            if record is None:
                break
            yield key, record
            count, size = count + 1, size + record.size
        self._backlogs[key] = backlog

    def _partitions(self) -> Iterator[PartitionKey]:
        for topic in self._topics:
            try:
                metadata = self._consumer.list_topics(topic, _SECONDS).topics[topic]
            except KafkaException as error:
                raise KafkaSilent(f"{topic}: Kafka doesn't say its partitions: {error}") from error
            if metadata.error is None:
                yield from ((topic, partition) for partition in metadata.partitions)
