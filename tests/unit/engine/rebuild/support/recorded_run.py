"""What an engine has read and recorded, as topics in memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from tests.oracle.values.model import MicroBatch
from tests.unit.engine.archive.support.memory_store import MemoryTopic
from tripline_engine.archive.file_store import FileStore
from tripline_engine.archive.journal import Journal
from tripline_engine.archive.table import TableFormat
from tripline_engine.domain.shard.ports import OutRecord
from tripline_engine.kafka_log.record import Record
from tripline_engine.topic_names import ORDER, RULES, TICKS, TRANSACTIONS

NAMES = (RULES, TICKS, TRANSACTIONS, ORDER)


class Recording:
    """The four topics, and an archive of as much as is asked for."""

    def __init__(
        self, batches: Iterable[MicroBatch], said: Iterable[OutRecord], archive: Path | None = None
    ) -> None:
        self.topics = {name: MemoryTopic(name=name) for name in NAMES}
        self.stores = {
            name: FileStore(archive, "transaction", name) for name in NAMES if archive and name != RULES
        }
        for batch in batches:
            self._add(RULES, batch.rule_events)
            self._add(TICKS, batch.ticks)
            for record in sorted(batch.records, key=lambda record: (record.partition, record.offset)):
                kept = self.topics[TRANSACTIONS].kept.setdefault(record.partition, [])
                named = () if record.backfill is None else (("backfill", record.backfill.encode()),)
                kept.append(
                    Record(record.partition, record.offset, record.record_time, None, record.value, named)
                )
        self._add(ORDER, [record.value for record in said if record.topic == ORDER])

    @property
    def journals(self) -> Mapping[str, Journal]:
        return {name: Journal(topic, self.stores.get(name)) for name, topic in self.topics.items()}

    def archive(self, name: str, partition: int, cuts: Sequence[int]) -> None:
        """The first records in files, a new one at each cut (numbers of records); the topic has the others then."""
        records, first = self.topics[name].kept[partition], 0
        for begin, end in pairwise([0, *cuts]):
            if begin < end:
                first = self.stores[name].write(records[begin:end], first, TableFormat(None)).until
        self.topics[name].low[partition] = first

    def renumber(self, name: str) -> None:
        """After records were put in or taken out by hand."""
        kept = self.topics[name].kept[0]
        kept[:] = [replace(record, offset=offset) for offset, record in enumerate(kept)]

    def _add(self, name: str, values: Iterable[bytes]) -> None:
        kept = self.topics[name].kept[0]
        for value in values:
            kept.append(Record(0, len(kept), 0, None, value, ()))
