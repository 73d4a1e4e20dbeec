"""What a partition has when it is assigned, where that is more than a client library should unfold.

Topics refuse such record batches, but those of an earlier release may have them, and librdkafka unfolds a batch whole.
So a partition is surveyed when it is assigned; one with a large batch is read as it is stored up to that batch's end,
with bounded memory, and by the client from there on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import structlog
from confluent_kafka import Consumer, KafkaException, TopicPartition

from alert_api.service.records import MAX_RECORD_BYTES, Record
from tripline_contracts.errors import BrokerSilent, ContractError
from tripline_contracts.kafka.cluster import KafkaCluster
from tripline_contracts.record_batches.partition_log import PartitionLog, leader_of

log = structlog.get_logger(__name__)

WAIT_SECONDS = 10.0
SURVEY_BYTES = 2 << 30
"""As they are stored, of one partition: a minute or less, and who does not poll for five is no member any more."""
BEGINNING_BYTES = MAX_RECORD_BYTES + 1
"""Kept of a value: enough to see that it is too long."""


@dataclass(frozen=True, slots=True)
class StoredBacklog:
    """The records of one partition up to `until`."""

    until: int
    records: Iterator[Record]


def stored_backlog(
    kafka: KafkaCluster, consumer: Consumer, topic: str, partition: int
) -> StoredBacklog | None:
    """From the group's offset to the end of the last large batch; None without one. Raises KafkaException."""
    topic_partition = TopicPartition(topic, partition)
    first, end = consumer.get_watermark_offsets(topic_partition, timeout=WAIT_SECONDS)
    [committed] = consumer.committed([topic_partition], timeout=WAIT_SECONDS)
    start = max(first, committed.offset)
    if start >= end:
        return None

    def leader() -> tuple[str, int]:
        try:
            return leader_of(consumer.list_topics(topic, timeout=WAIT_SECONDS), topic, partition)
        except KafkaException as error:
            raise BrokerSilent(str(error)) from error

    partition_log = PartitionLog(kafka, topic, partition, leader, committed=True)
    try:
        surveyed = partition_log.survey(start, start, end, SURVEY_BYTES)
    except ContractError as error:
        raise KafkaException(str(error)) from error
    if surveyed.large_until is None:
        return None
    log.warning(
        "large_batches", topic=topic, partition=partition, count=surveyed.large, until=surveyed.large_until
    )
    return StoredBacklog(surveyed.large_until, _records(partition_log, start, surveyed.large_until))


def _records(partition_log: PartitionLog, start: int, until: int) -> Iterator[Record]:
    """Raises KafkaException: the projector ends with it, and begins again at the group's offset."""
    try:
        key = partition_log.topic, partition_log.partition
        for record in partition_log.records(start, until, BEGINNING_BYTES):
            yield Record(*key, record.offset, record.key, record.value, record.cut)
    except ContractError as error:
        raise KafkaException(str(error)) from error
