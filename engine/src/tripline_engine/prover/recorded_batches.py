"""The recorded micro-batches of an engine with what each read, as far as it bears on a proof."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tripline_contracts.cloudevents import rfc3339
from tripline_contracts.event_type import MAX_TIMESTAMP, EventType
from tripline_engine.archive.journal import Cursor, Journal
from tripline_engine.errors import OrderBroken, RecordsMissing
from tripline_engine.kafka_log.record import Record
from tripline_engine.prover.budget import Budget
from tripline_engine.prover.errors import HistoryMissing
from tripline_engine.rebuild.journals import Journals
from tripline_engine.rebuild.recorded_order import PartitionRange, RecordedBatch, RecordedRange, order_of
from tripline_engine.rebuild.survey import all_records
from tripline_engine.topic_names import ORDER, RULES, TICKS, TRANSACTIONS


@dataclass(frozen=True, slots=True)
class Read:
    """A recorded micro-batch. Of transactions only partitions with something new enough have records.

    :ivar parts: records of partitions, each by offset
    """

    recorded: RecordedBatch
    rules: Sequence[Record]
    ticks: Sequence[Record]
    parts: Sequence[Sequence[Record]]

    @property
    def on_demand(self) -> bool:
        """Whether anchors are kept where rules need them, or always."""
        return self.recorded.needed is not None


class RecordedBatches:
    """Reads the order, and with it topics and archive, forward, once.

    :ivar doubts: sentences about records that are not those that were judged
    """

    def __init__(self, journals: Journals, engine: str, event_type: EventType, budget: Budget) -> None:
        self._journals, self._engine, self._event_type, self._budget = journals, engine, event_type, budget
        self._cursors: dict[tuple[str, int], Cursor] = {}
        self.doubts: list[str] = []

    def read(self, since: int) -> Iterator[Read]:
        """All micro-batches, with the transactions of those that hold record times (ms) from `since` on.

        Raises HistoryMissing, and TooMuch.
        """
        try:
            for number, recorded in enumerate(order_of(self._engine, all_records(self._journals[ORDER]))):
                if number % 1000 == 0:
                    self._budget.check()
                self._refuse_other_type(recorded)
                rules = self._range(RULES, recorded.rules)
                ticks = self._range(TICKS, recorded.ticks)
                needed = [part for part in recorded.transactions if part.max_record_time >= since]
                yield Read(recorded, rules, ticks, [self._part(recorded, part, since) for part in needed])
        except (OrderBroken, RecordsMissing) as error:
            raise HistoryMissing(f"the recorded order can't be read from its beginning: {error}") from error

    def _refuse_other_type(self, recorded: RecordedBatch) -> None:
        there = (recorded.event_type, recorded.anchors)
        if there != (self._event_type.name, self._event_type.anchors):
            raise HistoryMissing(
                f"engine {recorded.engine} judged event type {recorded.event_type}; this is {self._event_type.name}"
            )

    def _range(self, topic: str, offsets: RecordedRange | None) -> list[Record]:
        return [] if offsets is None else self._take(topic, 0, offsets.first, offsets.until)

    def _part(self, recorded: RecordedBatch, part: PartitionRange, since: int) -> list[Record]:
        try:
            records = self._take(TRANSACTIONS, part.partition, part.first, part.until)
        except RecordsMissing as error:
            journal = self._journals[TRANSACTIONS]
            raise HistoryMissing(
                f"history is not there from {_moment(since)} to {_end_of_gap(journal, part)}: {error}"
            ) from error
        self._budget.take(len(records), 0)
        if not records or (records[0].offset, records[-1].offset + 1) != (part.first, part.until):
            self._doubt(recorded, part, "other offsets than were recorded")
        elif max(record.timestamp for record in records) != part.max_record_time:
            self._doubt(recorded, part, "another highest record time than was recorded")
        return records

    def _doubt(self, recorded: RecordedBatch, part: PartitionRange, reason: str) -> None:
        self.doubts.append(
            f"micro-batch {recorded.sequence}: {TRANSACTIONS} partition {part.partition}, offsets {part.first} to"
            f" {part.until - 1}: {reason}: these are not the transactions that were judged"
        )

    def _take(self, topic: str, partition: int, first: int, until: int) -> list[Record]:
        cursor = self._cursors.get((topic, partition))
        if cursor is None:
            cursor = self._cursors[topic, partition] = Cursor(self._journals[topic], partition, first)
        return [record for record in cursor.take(until) if record.offset >= first]


def _end_of_gap(journal: Journal, part: PartitionRange) -> str:
    """The record time from which on the partition has its records again."""
    later = [span for span in journal.available_ranges(part.partition) if span.until > part.first]
    first = later[0].first if later else None
    if first is not None:
        for run in journal.runs(part.partition, max(first, part.first)):
            return _moment(run[0].timestamp)
    return _moment(part.max_record_time)


def _moment(milliseconds: int) -> str:
    return rfc3339(min(max(0, milliseconds), MAX_TIMESTAMP))


def engines(order: Journal, decode: Callable[[bytes | None], RecordedBatch | None]) -> list[str]:
    """The engines that have recorded anything, the newest first."""
    last: dict[str, int] = {}
    for record in all_records(order):
        batch = decode(record.value)
        if batch is not None:
            last[batch.engine] = record.offset
    return sorted(last, key=lambda engine: -last[engine])
