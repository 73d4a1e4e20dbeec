"""A Kafka topic read batch by batch as it is stored, with bounded memory.

For topics that hold what an earlier release let in: a client library, Spark's included, unfolds it without a bound.
Reads are uncommitted, as those of `topic_log`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import msgspec
import structlog

from tripline_contracts.errors import BrokerSilent, FetchRefused, UnreadableBatch
from tripline_contracts.record_batches.batch import RecordBatch
from tripline_contracts.record_batches.fetch_client import OFFSET_OUT_OF_RANGE
from tripline_contracts.record_batches.partition_log import PartitionLog, Survey
from tripline_contracts.record_batches.records import Cut, StoredRecord
from tripline_engine.errors import KafkaSilent
from tripline_engine.kafka_log.record import Record
from tripline_engine.kafka_log.topic_log import OffsetsGone, TopicLog

_log = structlog.get_logger(__name__)

KEPT_BYTES: Final = (4 << 20) + 1
"""Bytes kept of a key or a value, four times what a topic takes: of a longer one nobody here reads more than that."""

CUT_HEADER: Final = "tripline-cut"
"""Header of a record of which only a beginning was kept: JSON with the value's true `length` and `sha256`."""


class StoredLog:
    """The partitions of a topic. Raises KafkaSilent, OffsetsGone."""

    def __init__(self, topic: TopicLog) -> None:
        self._topic = topic

    def records(self, partition: int, start: int, until: int, keep: int) -> Iterator[StoredRecord]:
        """Records with offsets in [start, until); of keys, values and headers `keep` bytes at most."""
        with self._translated(partition) as log:
            yield from log.records(start, until, keep)

    def batches(self, partition: int, start: int, until: int) -> Iterator[RecordBatch]:
        """The batches that hold offsets of [start, until), as they are stored; `until` no further than the end."""
        with self._translated(partition) as log:
            yield from log.batches(start, until)

    def survey(self, partition: int, start: int, at_least: int, until: int, max_bytes: int) -> Survey:
        """Looks for large batches in [start, until), as far as `PartitionLog.survey` says."""
        with self._translated(partition) as log:
            return log.survey(start, at_least, until, max_bytes)

    @contextmanager
    def _translated(self, partition: int) -> Iterator[PartitionLog]:
        """The partition; what reading it raises becomes this package's errors."""
        topic = self._topic
        try:
            yield PartitionLog(topic.cluster, topic.name, partition, lambda: topic.leader(partition))
        except FetchRefused as error:
            if error.code == OFFSET_OUT_OF_RANGE:
                raise OffsetsGone from error
            raise KafkaSilent(str(error)) from error
        except (BrokerSilent, UnreadableBatch) as error:
            raise KafkaSilent(f"{topic.name} partition {partition}: {error}") from error


def record_from(stored: StoredRecord, partition: int) -> Record:
    """The record as a client library gives it; one with a cut value has a header more, which says what it was."""
    try:
        headers = tuple((name.decode(), data) for name, data in stored.headers)
    except UnicodeDecodeError as error:
        # names are UTF-8 by Kafka's protocol; one record that breaks it must not stop the archive of all others
        _log.error("headers_unreadable", partition=partition, offset=stored.offset, reason=str(error))
        headers = ()
    if stored.cut:
        told = json.dumps({"length": stored.cut.length, "sha256": stored.cut.sha256})
        headers = (*headers, (CUT_HEADER, told.encode()))
    return Record(partition, stored.offset, stored.time, stored.key, stored.value, headers)


def cut_of(record: Record) -> Cut | None:
    """What `record_from` has noted; None for a record with a whole value, whatever its headers say."""
    if len(record.value or b"") != KEPT_BYTES or not record.headers or record.headers[-1][0] != CUT_HEADER:
        return None
    try:
        return msgspec.json.decode(record.headers[-1][1] or b"", type=Cut)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None  # a sender's own header
