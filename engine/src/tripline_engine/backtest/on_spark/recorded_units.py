"""The recorded order as a source of units: spans of micro-batches, which tasks read, and shards judge in their order.

    engine-order.v1, rules.v1, ticks ─the driver─▶ units: micro-batches, with offsets, rule events and ticks
    units ─transactions read, packed──▶ payloads by shard and number ─shuffle──▶ in order ─the evaluator──▶ alerts

The driver goes once through what says what was judged when; each transaction is read once, by one task. A task makes
the payloads that a replay in one process makes, rule events and ticks among them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Final

import msgspec
import pyarrow as pa

from tripline_engine.backtest.counted_alerts import Given
from tripline_engine.backtest.history import work_of
from tripline_engine.backtest.on_spark.grid_tasks import alerts_of
from tripline_engine.backtest.on_spark.log_units import Reopen
from tripline_engine.backtest.on_spark.work import (
    JUDGED,
    JUDGEMENTS,
    PACKED,
    STEPS,
    Task,
    Work,
    dense,
    expanded,
    rows_of,
    single_rows,
)
from tripline_engine.domain.shard.ports import Kind, Payload
from tripline_engine.domain.shard.shard_worker import ShardWorker
from tripline_engine.domain.state_log.memory_log import MemoryLog
from tripline_engine.kafka_log.record import Record
from tripline_engine.rebuild.inputs import ReplayBatch, ReplayInputs
from tripline_engine.rebuild.payloads import PayloadPacker
from tripline_engine.rebuild.recorded_order import RecordedBatch
from tripline_engine.spark.rows.packing import REJECTS_SHARD
from tripline_engine.spark.rows.shard_keys import shard_keys
from tripline_engine.topic_names import TRANSACTIONS

UNIT_WORK: Final = 1 << 18
"""The work of one task, by `work_of`, about: so much that its start does not count."""
_ROW_BYTES: Final = 4 << 20
_BEARING: Final = frozenset({Kind.RULE_EVENT, Kind.TICK, Kind.TRANSACTIONS})
"""What decides alerts; the rest is told by the engine in other topics."""
_MOST_ROWS: Final = 1 << 32


class Step(msgspec.Struct, frozen=True, array_like=True):
    """A micro-batch: what of transactions.v1 is read for it, and what comes before them.

    :ivar events: rule events, by offset
    :ivar ticks: by offset, with the record's time (ms)
    """

    recorded: RecordedBatch
    events: list[tuple[int, bytes | None]]
    ticks: list[tuple[int, int, bytes | None]]

    @staticmethod
    def of(head: ReplayBatch) -> Step:
        """Of one whose transactions are not read yet."""
        parts = tuple(part for part in head.recorded.transactions if part not in head.left_out)
        return Step(
            msgspec.structs.replace(head.recorded, rules=None, ticks=None, transactions=parts),
            [(record.offset, record.value) for record in head.rules],
            [(record.offset, record.timestamp, record.value) for record in head.ticks],
        )

    def batch(self, inputs: ReplayInputs) -> ReplayBatch:
        """The whole of it."""
        return replace(
            inputs.batch(self.recorded),
            rules=[Record(0, offset, -1, None, value, ()) for offset, value in self.events],
            ticks=[Record(0, offset, time, None, value, ()) for offset, time, value in self.ticks],
        )

    @property
    def transactions(self) -> int:
        """How many there are, about: between offsets there may be some without a record."""
        return sum(part.until - part.first for part in self.recorded.transactions)


class Packed(msgspec.Struct, frozen=True, array_like=True):
    """A payload of a shard in a micro-batch."""

    sequence: int
    kind: int
    position: int
    data: bytes


@dataclass(frozen=True, slots=True)
class RecordedUnits:
    """A source of units: consecutive micro-batches, packed so that a task unfolds its own alone.

    :ivar batches: micro-batches in all of them
    """

    reopen: Reopen
    units: tuple[bytes, ...]
    batches: int

    @staticmethod
    def of(heads: Iterable[ReplayBatch], reopen: Reopen) -> RecordedUnits:
        """Of the micro-batches to judge, whose transactions are not read yet."""
        units: list[bytes] = []
        steps: list[Step] = []
        batches = work = 0
        for head in heads:
            steps.append(Step.of(head))
            batches, work = batches + 1, work + work_of(1, steps[-1].transactions)
            if work >= UNIT_WORK:
                units.append(_folded(steps))
                steps, work = [], 0
        if steps or not units:
            units.append(_folded(steps))
        return RecordedUnits(reopen, tuple(units), batches)

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.units)

    def packed(self, work: Work, unit: int) -> Iterator[pa.RecordBatch]:
        """A unit's payloads by shard, and how many transactions there were."""
        steps = msgspec.msgpack.decode(expanded(self.units[unit]), type=list[Step])
        parts = [part for step in steps for part in step.recorded.transactions]
        ends: dict[int, int] = {}
        for part in parts:
            ends[part.partition] = max(part.until, ends.get(part.partition, 0))
        packer = PayloadPacker(work.config, [name for name, is_needed in work.anchors.items() if is_needed])
        rows = [_Rows(key, unit) for key in shard_keys(work.config.shards)]
        transactions = 0
        with self.reopen() as journals:
            inputs = ReplayInputs({TRANSACTIONS: journals[TRANSACTIONS].up_to(ends)}, {})
            for step in steps:
                batch = step.batch(inputs)
                transactions += len(batch.transactions)
                for of_shard, payloads in zip(rows, packer.of(batch), strict=True):
                    for payload in payloads:
                        yield from of_shard.add(step.recorded.sequence, payload)
        for of_shard in rows:
            yield from of_shard.rest()
        told = msgspec.json.encode([0, transactions])
        yield rows_of(PACKED, [(rows[REJECTS_SHARD].key, JUDGED, 0, told)])


@dataclass(slots=True)
class _Rows:
    """A shard's payloads of one unit, in rows of a few megabytes."""

    key: int
    unit: int
    _pending: list[Packed] = field(default_factory=list)
    _size: int = 0
    _rows: int = 0

    def add(self, sequence: int, payload: Payload) -> Iterator[pa.RecordBatch]:
        """A row, once there is enough for one."""
        if payload.kind in _BEARING:
            self._pending.append(Packed(sequence, payload.kind, payload.position, payload.data))
            self._size += len(payload.data)
            if self._size >= _ROW_BYTES:
                yield from self.rest()

    def rest(self) -> Iterator[pa.RecordBatch]:
        """A row of what is left."""
        if self._pending:
            number = self.unit * _MOST_ROWS + self._rows
            payload = dense(msgspec.msgpack.encode(self._pending))
            yield rows_of(PACKED, [(self.key, STEPS, number, payload)])
            self._pending, self._size, self._rows = [], 0, self._rows + 1


def judging_recorded(work: Work) -> Task:
    """Judges the shard whose rows come, in the recorded order: PACKED in, JUDGEMENTS out."""

    def judge(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with tempfile.TemporaryDirectory(prefix="tripline-backtest-") as folder:
            spool, shard = _Spool(Path(folder) / "steps"), 0
            for key, kind, number, payload in single_rows(batches):
                shard = shard_keys(work.config.shards).index(key)
                if kind == STEPS:
                    spool.add(number, payload)
                else:
                    yield rows_of(JUDGEMENTS, [(kind, 0, "", payload)])
            yield from _judge_shard(work, shard, spool)

    return judge


def _judge_shard(work: Work, shard: int, spool: _Spool) -> Iterator[pa.RecordBatch]:
    config = work.config
    given = Given.in_span(work.span, work.tuning.anchor.telling, config.event_type)
    worker = ShardWorker(config, shard, MemoryLog(), None, lambda: 0, {}, work.tuning)
    for _, packed in groupby(spool.in_order(), key=lambda one: one.sequence):
        payloads = [Payload(Kind(one.kind), one.data, one.position) for one in packed]
        yield from alerts_of(worker.process(payloads), given)
        work.reach("judge", shard)


class _Spool:
    """Rows as they come, in a file, and given in the order of their numbers."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows: list[tuple[int, int, int]] = []

    def add(self, number: int, payload: bytes) -> None:
        """Appends one."""
        with self._path.open("ab") as file:
            self._rows.append((number, file.tell(), len(payload)))
            file.write(payload)

    def in_order(self) -> Iterator[Packed]:
        """All payloads."""
        if self._rows:
            with self._path.open("rb") as file:
                for _, start, size in sorted(self._rows):
                    file.seek(start)
                    yield from msgspec.msgpack.decode(expanded(file.read(size)), type=list[Packed])


def _folded(steps: list[Step]) -> bytes:
    return dense(msgspec.msgpack.encode(steps))
