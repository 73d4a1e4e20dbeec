"""Raw Kafka records in, one row of bytes per shard out.

Spark's serializer into the stateful Python stage costs per row, so each slice becomes a few fat rows. With several
shards this runs before the shuffle under `mapInArrow`, and one call sees one partition's part of the micro-batch, in
offset order; with one shard the processor calls it, for all partitions, one after the other.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tripline_engine.domain.shard.engine_config import EngineConfig
from tripline_engine.domain.shard.ports import Kind, Payload
from tripline_engine.domain.transactions.columns import BACKFILL
from tripline_engine.domain.transactions.parser import Parsed, Parser, Reject
from tripline_engine.domain.transactions.sharding import anchor_masks
from tripline_engine.spark.rows.gc_freeze import GC_FREEZER
from tripline_engine.spark.rows.shard_keys import shard_keys

Pack = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
"""As for `mapInArrow`: partition, offset, recordTime, value, perhaps backfill in; sources.PACKED_SCHEMA out."""

REJECT_BYTES: Final = 512 * 1024
"""How much of a refused record is kept."""

PASS_ROWS = 1 << 14
"""Records that are parsed in one pass: enough that its fixed cost doesn't count, few enough to stay near a core."""

PASS_BYTES = 64 << 20
"""And no more bytes than these, unless Spark hands over more at once."""

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
    """What has been seen of one partition in this micro-batch."""

    first: int
    last: int
    max_record_time: int


@dataclass(frozen=True, slots=True)
class Slice:
    """Some consecutive records of one partition; int64 columns beside the raw values (binary, null: no value).

    :ivar backfills: each one's backfill as text, null for nearly all; None where none has one
    """

    partition: int
    offsets: npt.NDArray[np.int64]
    record_times: npt.NDArray[np.int64]
    running_max: npt.NDArray[np.int64]
    values: pa.Array
    backfills: pa.Array | None


def packer(config: EngineConfig) -> Pack:
    """The function for one task: it parses, and remembers how far each partition has come. Each call is a task."""
    keys, parser = shard_keys(config.shards), Parser(config.event_type)

    def pack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        progress: dict[int, PartitionProgress] = {}
        for batch in _gathered(batches):
            rows = [
                (keys[shard], kind, 0, payload)
                for part in _slices(batch, progress)
                for shard, kind, payload in pack_slice(config, parser, part)
            ]
            if rows:
                yield _packed(rows)
        if progress:
            yield _packed(
                [(keys[REJECTS_SHARD], Kind.PARTITION_RANGE, 0, data) for data in _ranges(progress)]
            )
        GC_FREEZER.task_done()

    return pack


def unpacked(packed: pa.RecordBatch) -> Iterator[Payload]:
    """The payloads of rows that packing has made."""
    columns = (packed[name].to_pylist() for name in ("kind", "payload", "position"))
    for kind, data, position in zip(*columns, strict=True):
        yield Payload(Kind(kind), data, position)


def pack_slice(config: EngineConfig, parser: Parser, part: Slice) -> Iterator[tuple[int, Kind, bytes]]:
    """(shard, kind, payload) for one slice: transactions per shard, parse rejects to REJECTS_SHARD."""
    parsed = parser.parse(part.values)
    if len(parsed.rows):
        table = _transactions(part, parsed)
        masks = anchor_masks(parsed.columns, config.anchors, config.shards, config.hash_key)
        for shard in range(config.shards):
            chosen = np.flatnonzero(masks[shard])
            if len(chosen):
                copy = table if len(chosen) == table.num_rows else table.take(pa.array(chosen))
                mask = pa.array(masks[shard][chosen])
                yield shard, Kind.TRANSACTIONS, _ipc(copy.set_column(4, "mask", mask))
    if parsed.rejects:
        yield REJECTS_SHARD, Kind.PARSE_REJECTS, _ipc(_rejects(part, parsed.rejects))


def _gathered(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """As many of them in one as make a pass worth while: few records at a time cross the socket.

    Batches that have other columns stay apart: some have a backfill.
    """
    found: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        if found and (size + batch.nbytes > PASS_BYTES or batch.schema != found[0].schema):
            yield _together(found)
            rows = size = 0
        found.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
        if rows >= PASS_ROWS:
            yield _together(found)
            rows = size = 0
    if found:
        yield _together(found)


def _together(found: list[pa.RecordBatch]) -> pa.RecordBatch:
    """All of them in one, which alone is held from now on."""
    whole = found[0] if len(found) == 1 else pa.concat_batches(found)
    found.clear()
    return whole


def _slices(batch: pa.RecordBatch, progress: dict[int, PartitionProgress]) -> Iterator[Slice]:
    if batch.num_rows == 0:
        return
    partitions = batch["partition"].to_numpy()
    for partition in np.unique(partitions).tolist():
        part = batch if (partitions == partition).all() else batch.filter(pa.array(partitions == partition))
        yield _slice(partition, part, progress)


def _slice(partition: int, part: pa.RecordBatch, progress: dict[int, PartitionProgress]) -> Slice:
    offsets = part["offset"].to_numpy()
    times = part["recordTime"].to_numpy()
    running = np.maximum.accumulate(times)
    seen = progress.get(partition)
    if seen is None:
        progress[partition] = PartitionProgress(int(offsets[0]), int(offsets[-1]), int(running[-1]))
    else:
        running = np.maximum(running, seen.max_record_time)
        seen.last, seen.max_record_time = int(offsets[-1]), int(running[-1])
    return Slice(partition, offsets, times, running, part["value"], _backfills(part))


def _backfills(part: pa.RecordBatch) -> pa.Array | None:
    at = part.schema.get_field_index(BACKFILL)
    if at < 0 or part.column(at).null_count == part.num_rows:
        return None
    # no backfill has a name that is not UTF-8: what is left of such a one stands for none
    names = [None if name is None else name.decode(errors="replace") for name in part.column(at).to_pylist()]
    return pa.array(names, pa.string())


def _transactions(part: Slice, parsed: Parsed) -> pa.RecordBatch:
    rows = parsed.rows
    fixed: dict[str, Any] = {
        "partition": pa.array(np.full(len(rows), part.partition, np.int32)),
        "offset": pa.array(part.offsets[rows]),
        "runningMax": pa.array(part.running_max[rows]),
        "recordTime": pa.array(part.record_times[rows]),
        "mask": pa.array(np.zeros(len(rows), np.uint8)),
    }
    if part.backfills is not None:
        fixed[BACKFILL] = part.backfills.take(pa.array(rows))
    return pa.RecordBatch.from_pydict(fixed | parsed.columns)


def _rejects(part: Slice, rejects: tuple[Reject, ...]) -> pa.RecordBatch:
    values = [part.values[reject.row].as_py() or b"" for reject in rejects]
    rows = [reject.row for reject in rejects]
    columns = [
        [part.partition] * len(rejects),
        part.offsets[rows],
        part.record_times[rows],
        [reject.reason for reject in rejects],
        [reject.detail for reject in rejects],
        [len(value) for value in values],
        [hashlib.sha256(value).hexdigest() for value in values],
        [value[:REJECT_BYTES] for value in values],
    ]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, _REJECTS, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=_REJECTS)


def _ranges(progress: dict[int, PartitionProgress]) -> Iterator[bytes]:
    for partition, seen in sorted(progress.items()):
        found = {
            "partition": partition,
            "from": seen.first,
            "until": seen.last + 1,
            "maxRecordTime": seen.max_record_time,
        }
        yield json.dumps(found, separators=(",", ":")).encode()


def _packed(rows: list[tuple[int, Kind, int, bytes]]) -> pa.RecordBatch:
    columns = zip(*((key, int(kind), position, data) for key, kind, position, data in rows), strict=True)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, PACKED, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=PACKED)


def _ipc(batch: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    data: bytes = sink.getvalue().to_pybytes()
    return data
