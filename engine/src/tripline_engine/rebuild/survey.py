"""Summary of one engine's recorded order: number of micro-batches, and the offset ranges of each topic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from tripline_engine.archive.journal import Journal
from tripline_engine.errors import OrderBroken
from tripline_engine.kafka_log.offset_range import OffsetRange
from tripline_engine.kafka_log.record import Record
from tripline_engine.rebuild.recorded_order import RecordedBatch, RecordedRange, order_of, read_recorded
from tripline_engine.topic_names import RULES, TICKS, TRANSACTIONS

PartitionKey = tuple[str, int]
"""A topic by the contract's name, and a partition."""


@dataclass(slots=True)
class Survey:
    """Summary of one engine's recorded order.

    :ivar last: its last micro-batch
    :ivar judged: judged offsets by topic and partition
    :ivar max_record_times: highest record time (ms) by partition of transactions.v1
    :ivar left_out: by partition, the highest record time of judged offsets that are no longer available
    """

    last: RecordedBatch
    judged: dict[PartitionKey, OffsetRange] = field(default_factory=dict)
    max_record_times: dict[int, int] = field(default_factory=dict)
    left_out: dict[int, int] = field(default_factory=dict)

    def take(self, recorded: RecordedBatch, available: Mapping[int, int]) -> None:
        """Adds the next micro-batch; `available` is the first available offset by partition."""
        self.last = recorded
        for topic, offsets in ((RULES, recorded.rules), (TICKS, recorded.ticks)):
            if offsets:
                self._extend((topic, 0), offsets)
        for partition_range in recorded.transactions:
            self._extend(
                (TRANSACTIONS, partition_range.partition),
                RecordedRange(partition_range.first, partition_range.until),
            )
            _raise(self.max_record_times, partition_range.partition, partition_range.max_record_time)
            if partition_range.first < available.get(partition_range.partition, 0):
                _raise(self.left_out, partition_range.partition, partition_range.max_record_time)

    def _extend(self, key: PartitionKey, offsets: RecordedRange) -> None:
        first = self.judged[key].first if key in self.judged else offsets.first
        self.judged[key] = OffsetRange(first, offsets.until)


def all_records(journal: Journal) -> Iterator[Record]:
    """All available records of a topic with one partition."""
    ranges = journal.available_ranges(0)
    for run in journal.runs(0, ranges[0].first) if ranges else ():
        yield from run


def survey(order: Journal, engine: str | None, available: Mapping[int, int]) -> Survey:
    """Survey of that engine, or of the engine of the newest record. Raises OrderBroken."""
    engine_id = engine or newest_engine(order)
    summary: Survey | None = None
    for recorded in order_of(engine_id, all_records(order)):
        summary = summary or Survey(recorded)
        summary.take(recorded, available)
    if summary is None:
        raise OrderBroken(
            f"{order.topic.name}: no micro-batch of engine {engine_id}; there are {_engines(all_records(order))}"
        )
    return summary


def newest_engine(order: Journal) -> str:
    """The engine of the newest record. Raises OrderBroken."""
    last = order.last(0)
    if last is None:
        raise OrderBroken(f"{order.topic.name} is empty: no engine has recorded anything")
    recorded = read_recorded(last.value)
    if recorded is None:
        raise OrderBroken(f"{order.topic.name}: the last record can't be read; name the engine (--engine)")
    return recorded.engine


def _engines(records: Iterable[Record]) -> str:
    batches = [read_recorded(record.value) for record in records]
    return ", ".join(sorted({recorded.engine for recorded in batches if recorded})) or "none"


def _raise(highest: dict[int, int], partition: int, time: int) -> None:
    highest[partition] = max(highest.get(partition, time), time)
