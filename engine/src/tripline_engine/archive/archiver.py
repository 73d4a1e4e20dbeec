"""The archiver's loop: reads, writes every few seconds, merges what has become many."""

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
_NEW_PARTITIONS_SECONDS: Final = 30.0
TOPICS: Final = (TRANSACTIONS, ORDER, TICKS)
"""By the contract's names."""


class Archiver:
    """One archiver on an archive that it holds. `elapsed` gives seconds on a clock that only grows."""

    def __init__(
        self,
        settings: ArchiverSettings,
        event_type: EventType,
        metrics: Metrics,
        elapsed: Callable[[], float],
    ) -> None:
        self._settings, self._metrics, self._elapsed = settings, metrics, elapsed
        self._stores = stores(settings, event_type)
        self._forms = {
            settings.topic(name): TableFormat(event_type if name == TRANSACTIONS else None) for name in TOPICS
        }
        self._writers = {
            (topic, partition): self._writer(topic, pieces)
            for topic, store in self._stores.items()
            for partition, pieces in store.pieces().items()
        }
        self._oldest: float | None = None
        self.beat = elapsed()
        """When the loop last came round, on the same clock."""
        self.reading = False
        """Whether Kafka has said what there is."""

    def run(self, stop: threading.Event) -> None:
        """Until told to stop; what has been read is written then. Raises EngineError, and OSError if the disk fails."""
        for store in self._stores.values():
            store.remove_unfinished()
        feed = TopicConsumer(self._settings.kafka, list(self._stores), self._begin)
        look_at = self._elapsed()
        try:
            while not stop.is_set():
                if self._elapsed() >= look_at:
                    self._look(feed)
                    look_at = self._elapsed() + _NEW_PARTITIONS_SECONDS
                self._read(feed)
                if self._is_due():
                    self._flush()
                self._merge_some()
                self._measure(feed.ends())
                self.beat = self._elapsed()
            self._flush()
        finally:
            feed.close()

    def _look(self, feed: TopicConsumer) -> None:
        try:
            feed.take_new_partitions()
            self.reading = True
        except KafkaSilent as error:
            _log.warning("kafka", reason=str(error))

    def _begin(self, place: PartitionKey, span: OffsetRange) -> int:
        writer = self._writers.get(place)
        if writer is None:
            writer = self._writers[place] = self._writer(place[0], [])
        writer.flush()
        before = writer.position
        start = writer.begin(span)
        if before is not None and start > before:
            self._metrics.missed(place[0], start - before)
            _log.error(
                "records_missing", topic=place[0], partition=place[1], first=before, until=start,
                reason="the topic had deleted them before they were read",
            )  # fmt: skip
        return start

    def _writer(self, topic: str, pieces: Sequence[ArchiveFile]) -> PartitionWriter:
        def wrote(records: int, size: int) -> None:
            self._metrics.wrote(topic, records, size)

        return PartitionWriter.of(self._stores[topic], self._forms[topic], pieces, wrote)

    def _read(self, feed: TopicConsumer) -> None:
        for place, record in feed.read(_READ_SECONDS):
            self._writers[place].take(record)
            if self._oldest is None:
                self._oldest = self._elapsed()

    def _is_due(self) -> bool:
        if self._oldest is None:
            return False
        waiting = sum(writer.waiting_bytes for writer in self._writers.values())
        aged = self._elapsed() - self._oldest >= self._settings.flush_seconds
        return aged or waiting >= self._settings.flush_bytes

    def _flush(self) -> None:
        records = sum(len(writer.waiting) for writer in self._writers.values())
        for writer in self._writers.values():
            writer.flush()
        self._oldest = None
        _log.debug("written", records=records)

    def _merge_some(self) -> None:
        # one a round: reading goes on meanwhile
        any(writer.merge() for writer in self._writers.values())

    def _measure(self, ends: Mapping[PartitionKey, int]) -> None:
        for (topic, partition), end in ends.items():
            writer = self._writers[topic, partition]
            in_kafka = max(0, end - (writer.position or 0))
            self._metrics.unwritten(topic, partition, in_kafka, len(writer.waiting))


def stores(settings: ArchiverSettings, event_type: EventType) -> dict[str, FileStore]:
    """By topic of the deployment, the folders of what is archived."""
    topics = [settings.topic(name) for name in TOPICS]
    return {topic: FileStore(settings.archive, event_type.name, topic) for topic in topics}
