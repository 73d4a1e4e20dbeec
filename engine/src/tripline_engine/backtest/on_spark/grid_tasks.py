"""Tasks of a history in the order of event times: one reads a part and packs it by shard, the other judges a shard.

    units ─read, packed──▶ sorted runs by shard ─shuffle──▶ merged, cut by the grid ─the evaluator──▶ alerts

Every shard is told the event times of every unit, so all have the same grid. A task that is repeated hands on the same
bytes: the hash key is drawn once, by the driver, and no byte that it hands on depends on a clock or on chance.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
import pyarrow as pa

from tripline_engine.backtest.counted_alerts import Given, packed
from tripline_engine.backtest.on_spark.work import (
    ALERT,
    COUNTED,
    EARLIER,
    JUDGED,
    JUDGEMENTS,
    PACKED,
    RUN,
    TIMES,
    Source,
    Task,
    Times,
    Work,
    dense,
    expanded,
    rows_of,
    single_rows,
)
from tripline_engine.backtest.ordered.event_cells import Grid, micro_batches
from tripline_engine.backtest.ordered.event_runs import EventRuns, bounds_of, event_sorted
from tripline_engine.backtest.ordered.ordered_payloads import MASK, OrderedPayloads
from tripline_engine.backtest.ordered.pieces import pieces
from tripline_engine.backtest.ordered.run_tuning import for_runs
from tripline_engine.domain.firing.occasion import Occasion
from tripline_engine.domain.shard.ports import OutRecord
from tripline_engine.domain.shard.shard_worker import ShardWorker
from tripline_engine.domain.state_log.memory_log import MemoryLog
from tripline_engine.domain.transactions.sharding import REPORTS
from tripline_engine.spark.rows.packing import ipc_stream, shares
from tripline_engine.spark.rows.shard_keys import shard_keys

_ALERT_BYTES: Final = 16 << 20
"""Of alerts that are handed on at once: a loose rule gives gigabytes in one micro-batch."""

_COUNTED_RUN: Final = 1 << 12


def reading(work: Work, source: Source) -> Task:
    """Reads units by their numbers: PACKED out."""

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for (unit,) in single_rows(batches):
            yield from source.packed(work, unit)
            work.reach("read", unit)

    return read


def packed_runs(work: Work, table: pa.Table) -> Iterator[pa.RecordBatch]:
    """Some transactions of a unit, with the columns of `work.ties`, as a sorted run of each shard: PACKED."""
    if not table.num_rows:
        return
    time_field, keys = work.config.event_type.time_field.name, shard_keys(work.config.shards)
    table = event_sorted(table, time_field, work.ties)
    masked = table.append_column(MASK, pa.array(np.zeros(table.num_rows, np.uint16)))
    (batch,) = masked.combine_chunks().to_batches()
    for shard, share in shares(work.config, batch, work.anchors):
        yield rows_of(PACKED, [(keys[shard], RUN, share.num_rows, dense(ipc_stream(share)))])
    told = msgspec.json.encode(Times(table.num_rows, *bounds_of(table, time_field)))
    yield rows_of(PACKED, [(key, TIMES, 0, told) for key in keys])


def judging(work: Work) -> Task:
    """Judges the shard whose rows come: PACKED in, JUDGEMENTS out."""

    def judge(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with tempfile.TemporaryDirectory(prefix="tripline-backtest-") as folder:
            runs = EventRuns(Path(folder), work.config.event_type.time_field.name, ties=work.ties)
            times: list[Times] = []
            shard, whole_from = 0, work.whole_from
            for key, kind, number, payload in single_rows(batches):
                shard = shard_keys(work.config.shards).index(key)
                if kind == RUN:
                    runs.add_sorted(expanded(payload), number)
                elif kind == TIMES:
                    times.append(msgspec.json.decode(payload, type=Times))
                elif kind == EARLIER:
                    whole_from = work.earlier_from
                else:
                    yield rows_of(JUDGEMENTS, [(kind, 0, "", payload)])
            if times:
                yield from _judge_shard(work, shard, runs, times, whole_from)

    return judge


def _judge_shard(
    work: Work, shard: int, runs: EventRuns, times: Sequence[Times], whole_from: int | None
) -> Iterator[pa.RecordBatch]:
    config, time_field = work.config, work.config.event_type.time_field.name
    given = Given.in_span(work.span, work.tuning.anchor.telling, config.event_type)
    tuning = for_runs(work.tuning, runs, config.event_type)
    worker = ShardWorker(config, shard, MemoryLog(), None, lambda: 0, {}, tuning)
    grid = Grid.over(
        min(one.least for one in times),
        max(one.most for one in times),
        sum(one.rows for one in times),
        work.cell,
    )
    packer = OrderedPayloads(config, dict(work.anchors))
    worker.process(packer.opening(work.events, grid.first if whole_from is None else whole_from))
    batches = transactions = 0
    for clock, table in micro_batches(runs.merged(), time_field, grid, work.cell):
        output = worker.process([packer.tick(clock), packer.of_shard(table)])
        batches += 1
        transactions += int(((np.asarray(table.column(MASK).chunk(0)) & REPORTS) != 0).sum())
        yield from alerts_of(output, given)
        work.reach("judge", shard)
    yield judged_row(batches, transactions)


def judged_row(batches: int, transactions: int) -> pa.RecordBatch:
    """So much was judged: JUDGEMENTS."""
    return rows_of(JUDGEMENTS, [(JUDGED, 0, "", msgspec.json.encode([batches, transactions]))])


def alerts_of(output: Iterable[OutRecord], given: Given) -> Iterator[pa.RecordBatch]:
    """The alerts of a micro-batch, if there are any: JUDGEMENTS, of some megabytes each."""
    rows: list[tuple[int, int, str, bytes]] = []
    size, counted = 0, []
    for record in output:
        alert = given.read(record)
        if alert is None:
            continue
        if isinstance(alert, Occasion):
            counted.append(alert)
            continue
        rows.append((ALERT, alert.event_time, alert.alert_id, record.value))
        size += len(record.value)
        if size >= _ALERT_BYTES:
            yield rows_of(JUDGEMENTS, rows)
            rows, size = [], 0
    # each run lies where an alert of its first occasion would: they are parted as alerts are
    rows += [
        (COUNTED, run[0].event_time, run[0].transaction_id, packed(run))
        for run in pieces(counted, _COUNTED_RUN)
    ]
    if rows:
        yield rows_of(JUDGEMENTS, rows)
