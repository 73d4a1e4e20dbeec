"""Records of the recorded micro-batches, read once, forward, from topics and archive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tripline_engine.archive.journal import Cursor, Journal
from tripline_engine.errors import OrderBroken
from tripline_engine.kafka_log.record import Record
from tripline_engine.rebuild.recorded_order import PartitionRange, RecordedBatch, RecordedRange
from tripline_engine.topic_names import RULES, TICKS, TRANSACTIONS


@dataclass(frozen=True, slots=True)
class ReplayBatch:
    """Records of one micro-batch. `left_out` are expired ranges that are no longer available."""

    recorded: RecordedBatch
    rules: list[Record]
    ticks: list[Record]
    transactions: list[Record]
    left_out: tuple[PartitionRange, ...]


class ReplayInputs:
    """`journals` by the contract's names of the topics; below `available` (by partition) transactions are left out."""

    def __init__(self, journals: Mapping[str, Journal], available: Mapping[int, int]) -> None:
        self._journals, self._available = journals, available
        self._cursors: dict[tuple[str, int], Cursor] = {}

    def batch(self, recorded: RecordedBatch) -> ReplayBatch:
        """Raises RecordsMissing, and OrderBroken where the record doesn't fit what is there."""
        head = self.head(recorded)
        transactions = [
            record
            for part in recorded.transactions
            if part not in head.left_out
            for record in self._part(recorded, part)
        ]
        return replace(head, transactions=transactions)

    def head(self, recorded: RecordedBatch) -> ReplayBatch:
        """The same without its transactions, which are not read."""
        left_out = tuple(
            part for part in recorded.transactions if part.first < self._available.get(part.partition, 0)
        )
        rules = self._range(recorded, RULES, recorded.rules)
        ticks = self._range(recorded, TICKS, recorded.ticks)
        return ReplayBatch(recorded, rules, ticks, [], left_out)

    def _range(self, recorded: RecordedBatch, topic: str, offsets: RecordedRange | None) -> list[Record]:
        return [] if offsets is None else self._take(recorded, topic, 0, offsets)

    def _part(self, recorded: RecordedBatch, part: PartitionRange) -> list[Record]:
        records = self._take(recorded, TRANSACTIONS, part.partition, RecordedRange(part.first, part.until))
        newest = max(record.timestamp for record in records)
        if newest != part.max_record_time:
            raise OrderBroken(
                f"micro-batch {recorded.sequence}: {TRANSACTIONS} partition {part.partition}, offsets {part.first} to"
                f" {part.until - 1}, have a highest record time of {newest}, and {part.max_record_time} was recorded:"
                " these are not the transactions that were judged"
            )
        return records

    def _take(
        self, recorded: RecordedBatch, topic: str, partition: int, offsets: RecordedRange
    ) -> list[Record]:
        cursor = self._cursors.get((topic, partition))
        if cursor is None:
            cursor = self._cursors[topic, partition] = Cursor(self._journals[topic], partition, offsets.first)
        reached = cursor.position
        records = cursor.take(offsets.until)
        # between one range and the next there may be offsets without a record, as transactions of Kafka leave them
        actual = (records[0].offset, records[-1].offset + 1) if records else (reached, reached)
        if offsets.first < reached or actual != (offsets.first, offsets.until):
            raise OrderBroken(
                f"micro-batch {recorded.sequence}: recorded are offsets {offsets.first} to {offsets.until - 1} of"
                f" {topic} partition {partition}, and there are {actual[0]} to {actual[1] - 1} after those of the"
                " micro-batches before it"
            )
        return records
