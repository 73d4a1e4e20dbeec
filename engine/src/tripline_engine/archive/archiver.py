"""The archiver's loop: consumes topics, writes a file every few seconds, compacts small files."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import structlog

from tripline_contracts.event_type import EventType
from tripline_engine.archive.archive_file import ArchiveFile
from tripline_engine.archive.file_store import FileStore
from tripline_engine.archive.metrics import Metrics
from tripline_engine.archive.partition_writer import PartitionWriter
from tripline_engine.archive.settings import ArchiverSettings
from tripline_engine.archive.table import TableFormat
from tripline_engine.archive.topic_consumer import PartitionKey, TopicConsumer
from tripline_engine.errors import KafkaSilent
from tripline_engine.kafka_log.offset_range import OffsetRange
from tripline_engine.topic_names import ORDER, TICKS, TRANSACTIONS

_log = structlog.get_logger(__name__)
_READ_SECONDS: Final = 0.5
_NEW_PARTITIONS_SECONDS: Final = 10.0
"""Also how soon it is known that Kafka is gone: a consumer without records says nothing of it."""
TOPICS: Final = (TRANSACTIONS, ORDER, TICKS)
"""By the contract's names."""


class Archiver:
    """One archiver on an archive whose lock it holds. `elapsed` gives seconds of a monotonic clock."""

    def __init__(
        self,
        settings: ArchiverSettings,
        event_type: EventType,
        metrics: Metrics,
        elapsed: Callable[[], float],
    ) -> None:
        self._settings, self._metrics, self._elapsed = settings, metrics, elapsed
        self._stores = stores(settings, event_type)
        self._formats = {
            settings.topic(name): TableFormat(event_type if name == TRANSACTIONS else None) for name in TOPICS
        }
        self._writers = {
            (topic, partition): self._writer(topic, files)
            for topic, store in self._stores.items()
            for partition, files in store.files().items()
        }
        self._oldest: float | None = None
        self.beat = elapsed()
        """Time of the loop's last iteration, on the same clock."""
        self.reading = False
        """Whether Kafka, asked last, has listed its partitions."""

    def run(self, stop: threading.Event) -> None:
        """Runs until `stop` is set, then flushes. Raises EngineError, and OSError if the disk fails."""
        for store in self._stores.values():
            store.remove_unfinished()
        consumer = TopicConsumer(self._settings.kafka, list(self._stores), self._start_offset)
        next_discovery = self._elapsed()
        try:
            while not stop.is_set():
                if self._elapsed() >= next_discovery:
                    self._discover_partitions(consumer)
                    next_discovery = self._elapsed() + _NEW_PARTITIONS_SECONDS
                self._read(consumer)
                if self._is_due():
                    self._flush()
                self._compact()
                self._measure(consumer.ends())
                self.beat = self._elapsed()
            self._flush()
        finally:
            consumer.close()

    def _discover_partitions(self, consumer: TopicConsumer) -> None:
        try:
            consumer.assign_new_partitions()
            self.reading = True
        except KafkaSilent as error:
            self.reading = False
            _log.warning("kafka", reason=str(error))

    def _start_offset(self, key: PartitionKey, span: OffsetRange) -> int:
        writer = self._writers.get(key)
        if writer is None:
            writer = self._writers[key] = self._writer(key[0], [])
        writer.flush()
        expected = writer.position
        start = writer.begin(span)
        if expected is not None and start > expected:
            self._metrics.missed(key[0], start - expected)
            _log.error(
                "records_missing", topic=key[0], partition=key[1], first=expected, until=start,
                reason="the topic had deleted them before they were read",
            )  # fmt: skip
        return start

    def _writer(self, topic: str, files: Sequence[ArchiveFile]) -> PartitionWriter:
        def wrote(records: int, size: int) -> None:
            self._metrics.wrote(topic, records, size)

        return PartitionWriter.of(self._stores[topic], self._formats[topic], files, wrote)

    def _read(self, consumer: TopicConsumer) -> None:
        for key, record in consumer.read(_READ_SECONDS):
            self._writers[key].take(record)
            if self._oldest is None:
                self._oldest = self._elapsed()

    def _is_due(self) -> bool:
        if self._oldest is None:
            return False
        waiting = sum(writer.pending_bytes for writer in self._writers.values())
        aged = self._elapsed() - self._oldest >= self._settings.flush_seconds
        return aged or waiting >= self._settings.flush_bytes

    def _flush(self) -> None:
        records = sum(len(writer.pending) for writer in self._writers.values())
        for writer in self._writers.values():
            writer.flush()
        self._oldest = None
        _log.debug("written", records=records)

    def _compact(self) -> None:
        # one merge per iteration, so that reading goes on
        any(writer.merge() for writer in self._writers.values())

    def _measure(self, ends: Mapping[PartitionKey, int]) -> None:
        for (topic, partition), end in ends.items():
            writer = self._writers[topic, partition]
            in_kafka = max(0, end - (writer.position or 0))
            self._metrics.unwritten(topic, partition, in_kafka, len(writer.pending))


def stores(settings: ArchiverSettings, event_type: EventType) -> dict[str, FileStore]:
    """File stores of the archived topics, by topic of the deployment."""
    topics = [settings.topic(name) for name in TOPICS]
    return {topic: FileStore(settings.archive, event_type.name, topic) for topic in topics}
