"""A Kafka topic as a log: its offset range, and the records of a range.

Reads are uncommitted, as Spark's are: records of aborted Kafka transactions were judged too.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Final, Self

import structlog
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from tripline_contracts.errors import BrokerSilent
from tripline_contracts.kafka.cluster import KafkaCluster
from tripline_contracts.record_batches.partition_log import leader_of
from tripline_engine.errors import KafkaSilent
from tripline_engine.kafka_log.offset_range import OffsetRange
from tripline_engine.kafka_log.record import Headers, Record

_log = structlog.get_logger(__name__)
_SECONDS: Final = 30.0
_MAX_RECORDS: Final = 5_000


class OffsetsGone(Exception):
    """Kafka's retention has deleted the position meanwhile."""


def consumer_settings(kafka: KafkaCluster) -> dict[str, Any]:
    """Settings for reading by assignment, without a consumer group; a deleted position is an error, not a reset."""
    return {
        **kafka.client_config(),
        "group.id": f"tripline-archive-{uuid.uuid4()}",
        "enable.auto.commit": False,
        "auto.offset.reset": "error",
        "isolation.level": "read_uncommitted",
        # whoever reads several topics side by side may let one wait for hours
        "max.poll.interval.ms": 86_400_000,
        "queued.max.messages.kbytes": 16_384,
        "log_level": 3,
    }


class TopicLog:
    """One topic of one broker. Raises KafkaSilent where Kafka does not answer. To be closed."""

    def __init__(self, kafka: KafkaCluster, name: str) -> None:
        self._name, self.cluster, self._settings = name, kafka, consumer_settings(kafka)
        self._consumer = Consumer(self._settings)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._consumer.close()

    @property
    def name(self) -> str:
        """As Kafka has it."""
        return self._name

    def partitions(self) -> list[int]:
        """Ascending; empty if there is no such topic."""
        try:
            metadata = self._consumer.list_topics(self.name, _SECONDS).topics[self.name]
        except KafkaException as error:
            raise KafkaSilent(f"{self.name}: Kafka doesn't say its partitions: {error}") from error
        return sorted(metadata.partitions) if metadata.error is None else []

    def span(self, partition: int) -> OffsetRange:
        """Offsets that Kafka has, from the oldest to the end."""
        return span_of(self._consumer, self.name, partition)

    def leader(self, partition: int) -> tuple[str, int]:
        """Host and port of the broker that hands out the partition's records. Raises BrokerSilent."""
        try:
            return leader_of(self._consumer.list_topics(self.name, _SECONDS), self.name, partition)
        except KafkaException as error:
            raise BrokerSilent(f"Kafka doesn't say its partitions: {error}") from error

    def records(self, partition: int, start: int, until: int) -> Iterator[list[Record]]:
        """Records with offsets in [start, until), in runs; `until` no further than the end. Raises OffsetsGone."""
        # one of its own: others may read other partitions meanwhile
        consumer = Consumer({**self._settings, "enable.partition.eof": True})
        consumer.assign([TopicPartition(self.name, partition, start)])
        position, deadline = start, time.monotonic() + _SECONDS
        try:
            while position < until:
                # it waits for as many as it is asked for
                messages = consumer.consume(min(_MAX_RECORDS, until - position), 0.5)
                run, reached = _read(self.name, messages, position)
                if reached == position and time.monotonic() > deadline:
                    raise KafkaSilent(
                        f"{self.name} partition {partition}: nothing from offset {position} within {_SECONDS:g} s"
                    )
                run = [record for record in run if record.offset < until]
                if run:
                    yield run
                if reached > position:
                    # from here: whoever reads may have taken hours over the run
                    position, deadline = reached, time.monotonic() + _SECONDS
        finally:
            consumer.close()


def _read(topic: str, messages: list[Message], position: int) -> tuple[list[Record], int]:
    """The records among the messages, and how far they reach."""
    records: list[Record] = []
    for message in messages:
        error = message.error()
        if error is None:
            records.append(record_of(message))
            position = records[-1].offset + 1
        elif error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001  # its name
            # what a transactional producer leaves between records has offsets too
            position = max(position, message.offset() or 0)
        elif is_out_of_range(error):
            raise OffsetsGone
        elif error.fatal():
            raise KafkaSilent(f"{topic}: {error.str()}")
    return records, position


def span_of(consumer: Consumer, topic: str, partition: int) -> OffsetRange:
    """The offsets that a partition has. Raises KafkaSilent."""
    try:
        watermarks = consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=_SECONDS)
    except KafkaException as error:
        raise KafkaSilent(f"{topic} partition {partition}: Kafka doesn't say its ends: {error}") from error
    if watermarks is None:
        raise KafkaSilent(f"{topic} partition {partition}: Kafka doesn't say its ends within {_SECONDS:g} s")
    return OffsetRange(*watermarks)


def is_out_of_range(error: KafkaError) -> bool:
    """Whether a position that was asked for is not there."""
    return error.code() in (KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE)  # noqa: SLF001  # its name


def record_of(message: Message) -> Record:
    """A message without an error."""
    partition, offset = message.partition(), message.offset()
    assert partition is not None
    assert offset is not None
    kind, timestamp = message.timestamp()
    return Record(
        partition,
        offset,
        timestamp if kind else -1,
        _bytes(message.key()),
        _bytes(message.value()),
        _headers(message),
    )


def _headers(message: Message) -> Headers:
    try:
        headers: Any = message.headers() or ()
    except UnicodeDecodeError as error:
        # names are UTF-8 by Kafka's protocol; one record that breaks it must not stop the archive of all others
        _log.error("headers_unreadable", topic=message.topic(), offset=message.offset(), reason=str(error))
        return ()
    return tuple((name, _bytes(data)) for name, data in headers)


def _bytes(data: Any) -> bytes | None:
    return None if data is None else bytes(data)
