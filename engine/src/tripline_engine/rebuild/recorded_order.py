"""The recorded order: the offsets of each micro-batch of an engine, read back from engine-order.v1."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import structlog

from tripline_contracts.filters import time_zones
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
    """One micro-batch as the contract's schema of engine-order.v1 has it.

    :ivar needed: the anchors that its transactions went to; None, from an engine of before anchors were kept on
        demand: to all
    :ivar time_zones: the version of the time-zone data it was judged with; None from one of before local times
    """

    engine: str
    sequence: int
    event_type: str
    anchors: tuple[str, ...]
    shards: int
    rules: RecordedRange | None
    ticks: RecordedRange | None
    transactions: tuple[PartitionRange, ...]
    needed: tuple[str, ...] | None = None
    time_zones: str | None = None

    def judged(self) -> tuple[Any, ...]:
        """All fields that a repetition must equal: all but the number of shards and the time-zone data."""
        return (
            self.engine,
            self.sequence,
            self.event_type,
            self.anchors,
            self.rules,
            self.ticks,
            self.transactions,
            self.needed,
        )


def read_recorded(value: bytes | None) -> RecordedBatch | None:
    """A record's value decoded; None if it is not an order record."""
    try:
        return msgspec.json.decode(value or b"", type=RecordedBatch)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def order_of(engine: str, records: Iterable[Record]) -> Iterator[RecordedBatch]:
    """The micro-batches of one engine, from its first on, each once. Raises OrderBroken at a gap.

    One that was judged with other time-zone data than this process has is told in the log.

    A micro-batch that was repeated after a crash is recorded again, before the next one, and says the same.
    """
    last: RecordedBatch | None = None
    other_zones: set[str] = set()
    for record in records:
        batch = read_recorded(record.value)
        if batch is None:
            _log.warning("order_record_unreadable", offset=record.offset)
        if batch is None or batch.engine != engine:
            continue
        previous = last.sequence if last else 0
        if last and batch.sequence == previous:
            if batch.judged() != last.judged():
                raise OrderBroken(
                    f"engine-order.v1, offset {record.offset}: says something else of micro-batch {previous} of engine"
                    f" {engine} than an earlier record"
                )
            continue
        if batch.sequence != previous + 1:
            raise OrderBroken(
                f"engine-order.v1, offset {record.offset}: micro-batch {batch.sequence} of engine {engine} follows"
                f" micro-batch {previous}: what is between them isn't recorded"
            )
        last = batch
        _tell_other_zones(batch, other_zones)
        yield batch


def _tell_other_zones(batch: RecordedBatch, told: set[str]) -> None:
    """Warns, once of each version, where local times were told by other data than what is installed."""
    recorded = batch.time_zones or time_zones.VERSION
    if recorded == time_zones.VERSION or recorded in told:
        return
    told.add(recorded)
    _log.warning(
        "time_zones_differ",
        sequence=batch.sequence,
        recorded=recorded,
        installed=time_zones.VERSION,
        consequence="filters by localTime may pass other transactions than they did",
    )
