"""Segments of a state log: rows to write, and what is read back."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from tests.unit.engine.support.shard_harness import TRANSACTION, DictLog
from tripline_engine.domain.state_log.segment import PruneBounds
from tripline_engine.domain.state_log.segment_codec import EntryForm
from tripline_engine.domain.state_log.segment_log import DEFAULT_TUNING, SegmentLog, SegmentTuning
from tripline_engine.domain.transactions.columns import TransactionBatch, segment_schema

FAR_BACK = -(2**62)


def rows(start: int, count: int, time: int = 0) -> TransactionBatch:
    schema = segment_schema(TRANSACTION)
    columns: dict[str, Any] = {
        "eventTime": np.arange(count) + time,
        "recordTime": np.arange(count) + time,
        "transactionId": [f"t{start + i}" for i in range(count)],
        "ingestionTimestamp": [None if i % 2 else i for i in range(count)],
        "payeeId": [None if i % 3 else "p" for i in range(count)],
        "beneficiaryId": ["b"] * count,
        "paymentType": ["CSH"] * count,
        "paymentAmount": [Decimal(i) for i in range(count)],
    }
    arrays = [pa.array(columns[field.name], field.type) for field in schema]
    return TransactionBatch.of(pa.table(arrays, schema=schema), TRANSACTION)


def ids(log: SegmentLog, state: DictLog) -> list[tuple[str, bool]]:
    return [
        (name, cleared)
        for part, cleared in log.read(state)
        for name in part.table.column("transactionId").to_pylist()
    ]


def marked(start: int, backfilled: list[bool]) -> TransactionBatch:
    """Rows of which some are part of a backfill, as packing has them."""
    names = pa.array(["b-1" if is_backfilled else None for is_backfilled in backfilled], pa.string())
    return TransactionBatch.of(
        rows(start, len(backfilled)).table.append_column("backfill", names), TRANSACTION
    )


def marks(log: SegmentLog, state: DictLog) -> list[bool]:
    return [not is_ordinary for part, _ in log.read(state) for is_ordinary in part.ordinary]


FIELDS = {"ingestionTimestamp", "payeeId", "beneficiaryId", "paymentType", "paymentAmount"}


NOWHERE = PruneBounds(FAR_BACK)


def compacted(batches: int, tuning: SegmentTuning = DEFAULT_TUNING) -> tuple[SegmentLog, DictLog]:
    """A log of that many micro-batches with 10 rows each, 100 ms apart, compacted after each."""
    state, log = DictLog(), SegmentLog("payeeId", TRANSACTION, tuning=tuning)
    for batch in range(batches):
        log.append(rows(10 * batch, 10, time=100 * batch), state)
        log.compact(state)
    return log, state


def content(log: SegmentLog, state: DictLog) -> dict[str, list[Any]]:
    parts = [part.table for part, _ in log.read(state)]
    columns: dict[str, list[Any]] = (
        pa.concat_tables(parts).select(segment_schema(TRANSACTION).names).to_pydict()
    )
    return columns


def prune_all(log: SegmentLog, state: DictLog, **reaches: PruneBounds) -> int:
    every = {field: reaches.get(field, NOWHERE) for field in FIELDS}
    total = 0
    while pruned := log.prune(every, state):
        total += pruned
    return total


def columns(state: DictLog) -> list[set[str]]:
    """Of each run in the log, the columns that it has."""
    form, entries = EntryForm(TRANSACTION), []
    for data in (data for key, data in state.items() if key.startswith("segment/")):
        for run in form._runs(data):
            if isinstance(run, pa.Table):
                entries.append(set(run.column_names))
            else:
                entries.append({name for piece, _ in run.pieces for name in piece.columns})
    return entries
