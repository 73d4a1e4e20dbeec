"""The recorded order: which offsets each micro-batch of an engine judged, read back from engine-order.v1."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import structlog

from tripline_engine.errors import OrderBroken
from tripline_engine.kafka_log.record import Record

_log = structlog.get_logger(__name__)


class RecordedRange(msgspec.Struct, frozen=True):
    """Offsets of a topic with one partition; `until` is exclusive."""

    first: int = msgspec.field(name="from")
    until: int


class PartitionRange(msgspec.Struct, frozen=True, rename="camel"):
    """Offsets of one partition of transactions.v1, and their highest record time (ms)."""

    partition: int
    first: int = msgspec.field(name="from")
    until: int
    max_record_time: int


class RecordedBatch(msgspec.Struct, frozen=True, rename="camel"):
    """One micro-batch as the contract's schema of engine-order.v1 has it."""

    engine: str
    sequence: int
    event_type: str
    anchors: tuple[str, ...]
    shards: int
    rules: RecordedRange | None
    ticks: RecordedRange | None
    transactions: tuple[PartitionRange, ...]

    def judged(self) -> tuple[Any, ...]:
        """What has to be the same when an engine says it again: all but the number of shards."""
        return (
            self.engine,
            self.sequence,
            self.event_type,
            self.anchors,
            self.rules,
            self.ticks,
            self.transactions,
        )


def read_recorded(value: bytes | None) -> RecordedBatch | None:
    """A record's value; None if it is none of ours."""
    try:
        return msgspec.json.decode(value or b"", type=RecordedBatch)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def order_of(engine: str, records: Iterable[Record]) -> Iterator[RecordedBatch]:
    """The micro-batches of one engine, from its first on, each once. Raises OrderBroken at a gap.

    A micro-batch that was repeated after a crash is recorded again, before the next one, and says the same.
    """
    last: RecordedBatch | None = None
    for record in records:
        found = read_recorded(record.value)
        if found is None:
            _log.warning("order_record_unreadable", offset=record.offset)
        if found is None or found.engine != engine:
            continue
        before = last.sequence if last else 0
        if last and found.sequence == before:
            if found.judged() != last.judged():
                raise OrderBroken(
                    f"engine-order.v1, offset {record.offset}: says something else of micro-batch {before} of engine"
                    f" {engine} than an earlier record"
                )
            continue
        if found.sequence != before + 1:
            raise OrderBroken(
                f"engine-order.v1, offset {record.offset}: micro-batch {found.sequence} of engine {engine} follows"
                f" micro-batch {before}: what is between them isn't recorded"
            )
        last = found
        yield found
