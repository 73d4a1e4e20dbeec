"""The work of a backtest on Spark: what its tasks are told, and what they hand on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import msgspec
import pyarrow as pa

from tripline_engine.backtest.ordered.event_cells import CELL
from tripline_engine.backtest.ordered.event_runs import BY_LINE
from tripline_engine.certificate.span import Span
from tripline_engine.domain.shard.engine_config import EngineConfig
from tripline_engine.domain.shard.shard_tuning import DEFAULT_TUNING, ShardTuning
from tripline_engine.kafka_log.record import Record

RUN, TIMES, REPORT, ALERT, JUDGED, EARLIER, STEPS, COUNTED = range(8)
"""Kinds of what tasks hand on: sorted transactions of a shard, the span of their event times, what came of a part of a
file; an alert, and how much was judged; that something happened before the history that counts; a shard's payloads of
recorded micro-batches; alerts that are counted alone."""

PACKED: Final = pa.schema(
    [("shardKey", pa.int32()), ("kind", pa.int8()), ("number", pa.int64()), ("payload", pa.binary())]
)
"""`number` is, of a run, how many transactions it has; of steps, where they come among all of the shard's. The payload
of either is dense."""

JUDGEMENTS: Final = pa.schema(
    [("kind", pa.int8()), ("eventTime", pa.int64()), ("alertId", pa.string()), ("payload", pa.binary())]
)

_ZSTD: Final = pa.Codec("zstd", 1)

Task = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]
"""As for `mapInArrow`."""


class Fault(Protocol):
    """What a test has a task do: `stage` is `read` or `judge`, `number` that of the unit or the shard."""

    def __call__(self, stage: str, number: int, /) -> None: ...


@dataclass(frozen=True, slots=True)
class Work:
    """What every task is told.

    :ivar anchors: in the event type's order, each with whether a rule needs it
    :ivar events: what rules.v1 says from the beginning: the tried rules, and values that they name
    :ivar ties: columns that say which of equal event times comes first
    :ivar whole_from: from when (ms) on the history is whole; None: from its first transaction on
    :ivar earlier_from: the same where something turns out to have happened before the history that counts
    :ivar tuning: how a shard tells the alerts
    """

    config: EngineConfig
    span: Span
    anchors: Mapping[str, bool]
    events: tuple[Record, ...] = ()
    ties: tuple[str, ...] = BY_LINE
    whole_from: int | None = None
    earlier_from: int | None = None
    tuning: ShardTuning = DEFAULT_TUNING
    cell: int = CELL
    fault: Fault | None = None

    def reach(self, stage: str, number: int) -> None:
        """A place where a test may have the task fail."""
        if self.fault is not None:
            self.fault(stage, number)


class Source(Protocol):
    """Where transactions come from, cut into units, each of which is read by one task."""

    @property
    def count(self) -> int:
        """How many units there are: one at least."""

    def packed(self, work: Work, unit: int) -> Iterator[pa.RecordBatch]:
        """A unit, read and packed by shard: PACKED. The same bytes each time."""


class Times(msgspec.Struct, frozen=True):
    """Transactions of a unit, and the least and the greatest of their event times (ms)."""

    rows: int
    least: int
    most: int


def dense(data: bytes) -> bytes:
    """Its length, then the data in zstd. On its way to a task and between the stages it is copied half a dozen times by
    the JVM, which costs more than this."""
    packed: bytes = _ZSTD.compress(data, asbytes=True)
    return len(data).to_bytes(8, "little") + packed


def expanded(data: bytes) -> bytes:
    """What `dense` was given."""
    size = int.from_bytes(data[:8], "little")
    whole: bytes = _ZSTD.decompress(memoryview(data)[8:], decompressed_size=size, asbytes=True)
    return whole


def rows_of(schema: pa.Schema, rows: Sequence[tuple[Any, ...]]) -> pa.RecordBatch:
    """Rows as one record batch."""
    columns = zip(*rows, strict=True)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def single_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[Any, ...]]:
    """One row after the other: a payload has megabytes."""
    for batch in batches:
        for i in range(batch.num_rows):
            yield tuple(column[i].as_py() for column in batch.columns)
