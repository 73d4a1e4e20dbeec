"""A topic for who reads all of it: what is too large for a client library is found first, and read as it is stored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import structlog

from tripline_engine.kafka_log.record import Record
from tripline_engine.kafka_log.stored_log import KEPT_BYTES, StoredLog, record_from
from tripline_engine.kafka_log.topic_log import TopicLog

_log = structlog.get_logger(__name__)
_RUN_RECORDS: Final = 5_000
_RUN_BYTES: Final = 8 << 20
_ALL: Final = 1 << 62


class CarefulLog(TopicLog):
    """Goes through a range twice, first for the sizes of its record batches alone."""

    def records(self, partition: int, start: int, until: int) -> Iterator[list[Record]]:
        """As of any topic, in runs; of a value that no topic takes any more `KEPT_BYTES`."""
        stored = StoredLog(self)
        surveyed = stored.survey(partition, start, start, until, _ALL)
        position = start
        if surveyed.large_until is not None:
            position = min(until, surveyed.large_until)
            _log.warning("large_batches", topic=self.name, partition=partition, count=surveyed.large)
            yield from self._runs(stored, partition, start, position)
        if position < until:
            yield from super().records(partition, position, until)

    def _runs(self, stored: StoredLog, partition: int, start: int, until: int) -> Iterator[list[Record]]:
        run: list[Record] = []
        size = 0
        for record in stored.records(partition, start, until, KEPT_BYTES):
            run.append(record_from(record, partition))
            size += run[-1].size
            if len(run) >= _RUN_RECORDS or size >= _RUN_BYTES:
                yield run
                run, size = [], 0
        if run:
            yield run
