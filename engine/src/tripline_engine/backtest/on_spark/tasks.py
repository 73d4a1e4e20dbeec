"""The two kinds of tasks: one reads a part of the files and packs it by shard, the other judges a shard.

    units ─read, packed──▶ sorted runs by shard ─shuffle──▶ merged, cut by the grid ─the evaluator──▶ alerts

Every shard is told the event times of every unit, so all have the same grid. A task that is repeated hands on the same
bytes: the hash key is drawn once, by the driver, and nothing here depends on a clock or on chance.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tripline_engine.backtest.on_spark.work import (
    ALERT,
    JUDGED,
    JUDGEMENTS,
    PACKED,
    REPORT,
    RUN,
    TIMES,
    Reported,
    Times,
    Unit,
    Work,
    rows_of,
)
from tripline_engine.backtest.ordered.event_cells import Grid, micro_batches
from tripline_engine.backtest.ordered.event_runs import EventRuns, event_sorted
from tripline_engine.backtest.ordered.file_batches import MASK, FilePayloads
from tripline_engine.backtest.ordered.file_history import before
from tripline_engine.backtest.ordered.recorded_file import RecordedFile
from tripline_engine.certificate.span_alert import AlertReader
from tripline_engine.domain.shard.ports import OutRecord
from tripline_engine.domain.shard.shard_worker import ShardWorker
from tripline_engine.domain.state_log.memory_log import MemoryLog
from tripline_engine.domain.transactions.sharding import REPORTS
from tripline_engine.spark.rows.packing import REJECTS_SHARD, ipc_stream, shares
from tripline_engine.spark.rows.shard_keys import shard_keys
from tripline_engine.topic_names import ALERTS

Task = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]
"""As for `mapInArrow`."""


def reading(work: Work) -> Task:
    """Reads units by their numbers: PACKED out."""

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for number in (number for batch in batches for number in batch.column(0).to_pylist()):
            yield from _read_unit(work, work.units[number])
            work.reach("read", number)

    return read


def judging(work: Work) -> Task:
    """Judges the shard whose rows come: PACKED in, JUDGEMENTS out."""

    def judge(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with tempfile.TemporaryDirectory(prefix="tripline-backtest-") as folder:
            runs = EventRuns(Path(folder), work.config.event_type.time_field.name)
            times: list[Times] = []
            shard: int | None = None
            for row in (row for batch in batches for row in _rows(batch)):
                key, kind, count, payload = row
                shard = shard_keys(work.config.shards).index(key)
                if kind == RUN:
                    runs.add_sorted(payload, count)
                elif kind == TIMES:
                    times.append(msgspec.json.decode(payload, type=Times))
                else:
                    yield rows_of(JUDGEMENTS, [(REPORT, 0, "", payload)])
            if shard is not None and times:
                yield from _judge_shard(work, shard, runs, times)

    return judge


def _rows(batch: pa.RecordBatch) -> Iterator[tuple[Any, ...]]:
    """One row after the other: a payload has megabytes."""
    for i in range(batch.num_rows):
        yield tuple(column[i].as_py() for column in batch.columns)


def _read_unit(work: Work, unit: Unit) -> Iterator[pa.RecordBatch]:
    event_type, keys = work.config.event_type, shard_keys(work.config.shards)
    recorded = RecordedFile(unit.file, work.files[unit.file], event_type, work.mapping)
    for transactions, _ in recorded.transactions(unit.groups):
        table = before(work.span.until, transactions, event_type)
        if not table.num_rows:
            continue
        table = event_sorted(table, event_type.time_field.name)
        least, most = pc.min_max(table.column(event_type.time_field.name)).values()
        masked = table.append_column(MASK, pa.array(np.zeros(table.num_rows, np.uint16)))
        (batch,) = masked.combine_chunks().to_batches()
        for shard, share in shares(work.config, batch, work.anchors):
            yield rows_of(PACKED, [(keys[shard], RUN, share.num_rows, ipc_stream(share))])
        told = msgspec.json.encode(Times(table.num_rows, least.as_py(), most.as_py()))
        yield rows_of(PACKED, [(key, TIMES, 0, told) for key in keys])
    report = msgspec.json.encode(Reported.of(unit.file, recorded.report))
    yield rows_of(PACKED, [(keys[REJECTS_SHARD], REPORT, 0, report)])


def _judge_shard(work: Work, shard: int, runs: EventRuns, times: Sequence[Times]) -> Iterator[pa.RecordBatch]:
    config, time_field = work.config, work.config.event_type.time_field.name
    log, reader = MemoryLog(), AlertReader(config.event_type, work.span)
    worker = ShardWorker(config, shard, log, None, lambda: 0, {})
    grid = Grid.over(
        min(one.least for one in times),
        max(one.most for one in times),
        sum(one.rows for one in times),
        work.cell,
    )
    packer = FilePayloads(config, dict(work.anchors))
    worker.process(packer.opening(work.events, grid.first))
    batches = transactions = 0
    for clock, table in micro_batches(runs.merged(), time_field, grid, work.cell):
        output = worker.process([packer.tick(clock), packer.of_shard(table)])
        batches += 1
        transactions += int(((np.asarray(table.column(MASK).chunk(0)) & REPORTS) != 0).sum())
        alerts = list(_alerts(output, reader))
        if alerts:
            yield rows_of(JUDGEMENTS, alerts)
        work.reach("judge", shard)
    yield rows_of(JUDGEMENTS, [(JUDGED, 0, "", msgspec.json.encode([batches, transactions]))])


def _alerts(output: Iterable[OutRecord], reader: AlertReader) -> Iterator[tuple[int, int, str, bytes]]:
    for record in output:
        alert = reader.read(record.value) if record.topic == ALERTS else None
        if alert is not None:
            yield ALERT, alert.event_time, alert.alert_id, record.value
