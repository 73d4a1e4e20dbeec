"""A Kafka topic read batch by batch as it is stored, with bounded memory, and a survey of what would be too large.

For topics that hold what an earlier release let in: a client library, Spark's included, unfolds it without a bound.
Reads are uncommitted, as those of `topic_log`.
"""

from __future__ import annotations

import io
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Final

import structlog

from tripline_contracts.errors import BrokerSilent, FetchRefused, UnreadableBatch
from tripline_contracts.record_batches.batch import Codec, RecordBatch
from tripline_contracts.record_batches.fetch_client import OFFSET_OUT_OF_RANGE, FetchClient
from tripline_contracts.record_batches.records import StoredRecord, records
from tripline_contracts.record_batches.unfolding import Unfold, is_longer
from tripline_engine.errors import KafkaSilent
from tripline_engine.kafka_log.record import Record
from tripline_engine.kafka_log.topic_log import OffsetsGone, TopicLog

_log = structlog.get_logger(__name__)
_SECONDS: Final = 30.0
_PAUSE_SECONDS: Final = 0.2
_FETCH_BYTES: Final = 4 << 20

LARGE_BATCH_BYTES: Final = 8 << 20
"""A record batch that unfolds to more than this is not for a client library. No batch of ours comes near it."""

CUT_HEADER: Final = "tripline-cut"
"""Header of a record of which only a beginning was kept: JSON with the value's true `length` and `sha256`."""


def _by_arrow(codec: str) -> Unfold:
    def unfold(body: memoryview) -> io.RawIOBase:
        import pyarrow as pa  # noqa: PLC0415  # a second, which the start of an engine has no use for

        raw: io.RawIOBase = pa.CompressedInputStream(pa.BufferReader(pa.py_buffer(body)), codec)
        return raw

    return unfold


UNFOLD: Final[Mapping[Codec, Unfold]] = {Codec.ZSTD: _by_arrow("zstd"), Codec.LZ4: _by_arrow("lz4")}


class StoredLog:
    """The partitions of a topic. Raises KafkaSilent, OffsetsGone."""

    def __init__(self, topic: TopicLog) -> None:
        self._topic = topic

    def records(self, partition: int, start: int, until: int, keep: int) -> Iterator[StoredRecord]:
        """Records with offsets in [start, until); of keys, values and headers `keep` bytes at most."""
        for batch in self.batches(partition, start, until):
            try:
                for record in records(batch, keep, UNFOLD):
                    if start <= record.offset < until:
                        yield record
            except UnreadableBatch as error:
                raise KafkaSilent(f"{self._topic.name} partition {partition}: {error}") from error

    def batches(self, partition: int, start: int, until: int) -> Iterator[RecordBatch]:
        """The batches that hold offsets of [start, until), as they are stored; `until` no further than the end."""
        position, deadline = start, time.monotonic() + _SECONDS
        while position < until:
            try:
                with closing(FetchClient(self._topic.cluster, *self._topic.leader(partition))) as client:
                    for batch in self._fetched(client, partition, position, until):
                        position, deadline = batch.until, time.monotonic() + _SECONDS
                        yield batch
                        # from here: whoever reads may have taken hours over the batch
                        deadline = time.monotonic() + _SECONDS
            except FetchRefused as error:
                if error.code == OFFSET_OUT_OF_RANGE:
                    raise OffsetsGone from error
                self._wait(error, deadline)
            except BrokerSilent as error:
                self._wait(error, deadline)
            except UnreadableBatch as error:
                raise KafkaSilent(f"{self._topic.name} partition {partition}: {error}") from error

    def _fetched(
        self, client: FetchClient, partition: int, position: int, until: int
    ) -> Iterator[RecordBatch]:
        """From one broker; raises what that broker says."""
        while position < until:
            fetched = client.fetch(self._topic.name, partition, position, _FETCH_BYTES)
            if not fetched.batches:
                raise BrokerSilent(f"nothing from offset {position} on")
            for batch in fetched.batches:
                if batch.until > position and batch.first < until:
                    position = batch.until
                    yield batch

    def _wait(self, error: Exception, deadline: float) -> None:
        """For another leader, or for the same one."""
        if time.monotonic() > deadline:
            raise KafkaSilent(f"{self._topic.name}: {error}") from error
        time.sleep(_PAUSE_SECONDS)


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


@dataclass(frozen=True, slots=True)
class Survey:
    """Of one partition: how far it was looked at, and where the last large batch ends; None without one."""

    until: int
    large_until: int | None
    large: int


def survey(log: StoredLog, partition: int, start: int, at_least: int, until: int, max_bytes: int) -> Survey:
    """Looks for batches that unfold to more than LARGE_BATCH_BYTES in [start, until).

    Ends when it has gone through `max_bytes` beyond `at_least`, as they are stored.
    """
    position, large_until, large, size = start, None, 0, 0
    for batch in log.batches(partition, start, until):
        if position >= at_least:
            if size >= max_bytes:
                return Survey(position, large_until, large)
            size += len(batch.body)
        position = batch.until
        if is_longer(batch, LARGE_BATCH_BYTES, UNFOLD):
            large_until, large = batch.until, large + 1
    return Survey(max(position, until), large_until, large)
