"""Packing: raw Kafka records in, one row of bytes per shard out.

Spark's serializer into the stateful Python stage costs per row, so each slice becomes a few large rows. With several
shards this runs before the shuffle under `mapInArrow`, and one call sees one partition's range of the micro-batch, in
offset order; with one shard the processor calls it, for all partitions, one after the other.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tripline_contracts.record_batches.records import Cut
from tripline_engine.domain.shard.engine_config import EngineConfig
from tripline_engine.domain.shard.ports import Kind, Payload
from tripline_engine.domain.transactions.columns import BACKFILL
from tripline_engine.domain.transactions.parser import Parsed, Parser, Reject, oversized
from tripline_engine.domain.transactions.sharding import anchor_masks
from tripline_engine.spark.rows.gc_freeze import GC_FREEZER, GcFreezer
from tripline_engine.spark.rows.record_limits import REJECT_BYTES
from tripline_engine.spark.rows.shard_keys import shard_keys
from tripline_engine.spark.rows.stored_batches import cuts

Pack = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
"""As for `mapInArrow`: partition, offset, recordTime, value, perhaps backfill in; sources.PACKED_SCHEMA out."""

PASS_ROWS: Final = 1 << 14
"""Records parsed in one pass: enough to amortise its fixed cost, few enough to fit a core's cache."""

PASS_BYTES: Final = 64 << 20
"""Bytes parsed in one pass at most, unless a single record batch of Spark's is larger."""

REJECTS_SHARD: Final = 0
"""Parse rejects and partition ranges go here; this shard writes the order record."""

PACKED: Final = pa.schema(
    [("shardKey", pa.int32()), ("kind", pa.int8()), ("position", pa.int64()), ("payload", pa.binary())]
)
_REJECTS: Final = pa.schema(
    [
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("recordTime", pa.int64()),
        ("reason", pa.string()),
        ("detail", pa.string()),
        ("length", pa.int64()),
        ("sha256", pa.string()),
        ("value", pa.binary()),
    ]
)


@dataclass(slots=True)
class PartitionProgress:
    """Offsets read of one partition in this micro-batch (`last` inclusive), and their highest record time in ms."""

    first: int
    last: int
    max_record_time: int


@dataclass(frozen=True, slots=True)
class Slice:
    """Consecutive records of one partition; int64 columns beside the raw values (binary, null: no value).

    :ivar running_max: highest record time (ms) of the partition in this micro-batch up to each record
    :ivar backfills: name of each record's backfill, null for nearly all; None where no record has one
    :ivar cuts: by row, of values of which only the beginning is here, longer than any that is parsed
    """

    partition: int
    offsets: npt.NDArray[np.int64]
    record_times: npt.NDArray[np.int64]
    running_max: npt.NDArray[np.int64]
    values: pa.Array
    backfills: pa.Array | None
    cuts: Mapping[int, Cut]


def packer(
    config: EngineConfig,
    pass_rows: int = PASS_ROWS,
    pass_bytes: int = PASS_BYTES,
    freezer: GcFreezer = GC_FREEZER,
    wanted: Callable[[], Collection[str] | None] = lambda: None,
) -> Pack:
    """The packing function. Each call of it is one task: it parses, and tracks the progress of each partition.

    :param wanted: asked once by each task: the anchors for whose sake transactions are sent, among them all that rules
        need; None for all there are
    """
    keys, parser = shard_keys(config.shards), Parser(config.event_type)

    def pack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        names = wanted()
        anchors = {anchor: names is None or anchor in names for anchor in config.event_type.all_anchors}
        progress: dict[int, PartitionProgress] = {}
        for batch in _coalesced(batches, pass_rows, pass_bytes):
            rows = [
                (keys[shard], kind, 0, payload)
                for records in _slices(batch, progress)
                for shard, kind, payload in pack_slice(config, parser, records, anchors)
            ]
            if rows:
                yield _packed(rows)
        if progress:
            yield _packed(
                [(keys[REJECTS_SHARD], Kind.PARTITION_RANGE, 0, data) for data in _ranges(progress)]
            )
        freezer.task_done()

    return pack


def unpacked(packed: pa.RecordBatch) -> Iterator[Payload]:
    """Payloads from packed rows."""
    columns = (packed[name].to_pylist() for name in ("kind", "payload", "position"))
    for kind, data, position in zip(*columns, strict=True):
        yield Payload(Kind(kind), data, position)


def pack_slice(
    config: EngineConfig, parser: Parser, records: Slice, anchors: Mapping[str, bool]
) -> Iterator[tuple[int, Kind, bytes]]:
    """(shard, kind, payload) for one slice: transactions per shard, parse rejects to REJECTS_SHARD.

    :param anchors: in the event type's order, each with whether transactions are sent for its sake
    """
    parsed = parser.parse(records.values)
    if len(parsed.rows):
        for shard, share in shares(config, _transactions(records, parsed), anchors):
            yield shard, Kind.TRANSACTIONS, ipc_stream(share)
    if parsed.rejects:
        yield REJECTS_SHARD, Kind.PARSE_REJECTS, ipc_stream(_rejects(records, parsed.rejects))


def shares(
    config: EngineConfig, table: pa.RecordBatch, anchors: Mapping[str, bool]
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Of transactions with the event type's fields and a column `mask`: those of each shard, with their masks there.

    :param anchors: in the event type's order, each with whether transactions are sent for its sake
    """
    columns = {field.name: table.column(field.name) for field in config.event_type.fields}
    masks = anchor_masks(columns, anchors, config.shards, config.hash_key, config.event_type.parties)
    index = table.schema.get_field_index("mask")
    for shard in range(config.shards):
        row_numbers = np.flatnonzero(masks[shard])
        if len(row_numbers):
            subset = table if len(row_numbers) == table.num_rows else table.take(pa.array(row_numbers))
            yield shard, subset.set_column(index, "mask", pa.array(masks[shard][row_numbers]))


def _coalesced(
    batches: Iterator[pa.RecordBatch], pass_rows: int, pass_bytes: int
) -> Iterator[pa.RecordBatch]:
    """Record batches of at least `pass_rows` rows, the last one excepted: Spark hands over few records at a time.

    Batches of different schemas are not joined: some have a backfill column.
    """
    pending: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        if pending and (size + batch.nbytes > pass_bytes or batch.schema != pending[0].schema):
            yield _joined(pending)
            rows = size = 0
        pending.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
        if rows >= pass_rows:
            yield _joined(pending)
            rows = size = 0
    if pending:
        yield _joined(pending)


def _joined(pending: list[pa.RecordBatch]) -> pa.RecordBatch:
    """One batch of all pending ones, which are released."""
    whole = pending[0] if len(pending) == 1 else pa.concat_batches(pending)
    pending.clear()
    return whole


def _slices(batch: pa.RecordBatch, progress: dict[int, PartitionProgress]) -> Iterator[Slice]:
    if batch.num_rows == 0:
        return
    partitions = batch["partition"].to_numpy()
    for partition in np.unique(partitions).tolist():
        records = (
            batch if (partitions == partition).all() else batch.filter(pa.array(partitions == partition))
        )
        yield _slice(partition, records, progress)


def _slice(partition: int, records: pa.RecordBatch, progress: dict[int, PartitionProgress]) -> Slice:
    offsets = records["offset"].to_numpy()
    times = records["recordTime"].to_numpy()
    running = np.maximum.accumulate(times)
    seen = progress.get(partition)
    if seen is None:
        progress[partition] = PartitionProgress(int(offsets[0]), int(offsets[-1]), int(running[-1]))
    else:
        running = np.maximum(running, seen.max_record_time)
        seen.last, seen.max_record_time = int(offsets[-1]), int(running[-1])
    return Slice(partition, offsets, times, running, records["value"], _backfills(records), cuts(records))


def _backfills(records: pa.RecordBatch) -> pa.Array | None:
    index = records.schema.get_field_index(BACKFILL)
    if index < 0 or records.column(index).null_count == records.num_rows:
        return None
    # the name of every backfill is UTF-8: replacement characters never match one
    names = [
        None if name is None else name.decode(errors="replace") for name in records.column(index).to_pylist()
    ]
    return pa.array(names, pa.string())


def _transactions(records: Slice, parsed: Parsed) -> pa.RecordBatch:
    rows = parsed.rows
    columns: dict[str, Any] = {
        "partition": pa.array(np.full(len(rows), records.partition, np.int32)),
        "offset": pa.array(records.offsets[rows]),
        "runningMax": pa.array(records.running_max[rows]),
        "recordTime": pa.array(records.record_times[rows]),
        "mask": pa.array(np.zeros(len(rows), np.uint16)),
    }
    if records.backfills is not None:
        columns[BACKFILL] = records.backfills.take(pa.array(rows))
    return pa.RecordBatch.from_pydict(columns | parsed.columns)


def _rejects(records: Slice, rejects: tuple[Reject, ...]) -> pa.RecordBatch:
    values = [records.values[reject.row].as_py() or b"" for reject in rejects]
    rows = [reject.row for reject in rejects]
    wholes = [
        records.cuts.get(row) or Cut(len(value), hashlib.sha256(value).hexdigest())
        for row, value in zip(rows, values, strict=True)
    ]
    columns = [
        [records.partition] * len(rejects),
        records.offsets[rows],
        records.record_times[rows],
        [reject.reason for reject in rejects],
        [
            oversized(row, records.cuts[row].length).detail if row in records.cuts else reject.detail
            for row, reject in zip(rows, rejects, strict=True)
        ],
        [whole.length for whole in wholes],
        [whole.sha256 for whole in wholes],
        [value[:REJECT_BYTES] for value in values],
    ]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, _REJECTS, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=_REJECTS)


def _ranges(progress: dict[int, PartitionProgress]) -> Iterator[bytes]:
    for partition, seen in sorted(progress.items()):
        partition_range = {
            "partition": partition,
            "from": seen.first,
            "until": seen.last + 1,
            "maxRecordTime": seen.max_record_time,
        }
        yield json.dumps(partition_range, separators=(",", ":")).encode()


def _packed(rows: list[tuple[int, Kind, int, bytes]]) -> pa.RecordBatch:
    columns = zip(*((key, int(kind), position, data) for key, kind, position, data in rows), strict=True)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, PACKED, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=PACKED)


def ipc_stream(batch: pa.RecordBatch) -> bytes:
    """The batch as an Arrow IPC stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    data: bytes = sink.getvalue().to_pybytes()
    return data
