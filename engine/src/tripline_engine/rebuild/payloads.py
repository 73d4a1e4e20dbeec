"""The payloads of a recorded micro-batch by shard, as the stream's own packing makes them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from typing import Protocol

import pyarrow as pa

from tripline_engine.domain.shard.engine_config import EngineConfig
from tripline_engine.domain.shard.ports import Kind, Payload
from tripline_engine.domain.shard.tick import tick_payload
from tripline_engine.domain.transactions.columns import BACKFILL
from tripline_engine.kafka_log.record import Record
from tripline_engine.kafka_log.stored_log import cut_of
from tripline_engine.rebuild.recorded_order import PartitionRange
from tripline_engine.spark.rows.packing import REJECTS_SHARD, packer
from tripline_engine.spark.rows.record_limits import CUT_LENGTH, CUT_SHA256
from tripline_engine.spark.rows.shard_keys import shard_keys

_BATCH_BYTES = 64 << 20
"""Bytes of values packed at once, one value more at most: an Arrow array of bytes holds 2 GiB at most."""


class Batch(Protocol):
    """Records of one micro-batch, as they were recorded or as somebody has put them together."""

    @property
    def rules(self) -> Sequence[Record]: ...

    @property
    def ticks(self) -> Sequence[Record]: ...

    @property
    def transactions(self) -> Sequence[Record]: ...

    @property
    def left_out(self) -> Sequence[PartitionRange]: ...


class PayloadPacker:
    """Packs micro-batches of one engine: for all anchors, or for those that are wanted."""

    def __init__(self, config: EngineConfig, wanted: Collection[str] | None = None) -> None:
        self._shards, self._pack = config.shards, packer(config, wanted=lambda: wanted)
        self._shard_of = {key: shard for shard, key in enumerate(shard_keys(config.shards))}

    def of(self, batch: Batch) -> list[list[Payload]]:
        """Payloads by shard; an empty list where the micro-batch has none for the shard."""
        broadcast = [
            *(Payload(Kind.RULE_EVENT, record.value or b"", record.offset) for record in batch.rules),
            *(
                Payload(Kind.TICK, tick_payload(record.timestamp, record.value), record.offset)
                for record in batch.ticks
            ),
        ]
        by_shard = [list(broadcast) for _ in range(self._shards)]
        for packed in self._pack(_raw(chunk) for chunk in chunks(batch.transactions)):
            columns = (packed[name].to_pylist() for name in ("shardKey", "kind", "payload", "position"))
            for key, kind, data, position in zip(*columns, strict=True):
                by_shard[self._shard_of[key]].append(Payload(Kind(kind), data, position))
        by_shard[REJECTS_SHARD] += [_range(part) for part in batch.left_out]
        return by_shard


def chunks(records: Sequence[Record]) -> Iterator[list[Record]]:
    """The records in pieces whose values fit one Arrow array."""
    chunk: list[Record] = []
    size = 0
    for record in records:
        chunk.append(record)
        size += record.size
        if size >= _BATCH_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _raw(records: Sequence[Record]) -> pa.RecordBatch:
    columns = [
        pa.array([record.partition for record in records], pa.int32()),
        pa.array([record.offset for record in records], pa.int64()),
        pa.array([record.timestamp for record in records], pa.int64()),
        pa.array([record.value for record in records], pa.binary()),
        pa.array([_backfill(record) for record in records], pa.binary()),
    ]
    names = ["partition", "offset", "recordTime", "value", BACKFILL]
    cuts = [cut_of(record) for record in records]
    if any(cuts):
        # the dead letter says what the value was
        columns.append(pa.array([cut and cut.length for cut in cuts], pa.int64()))
        columns.append(pa.array([cut and cut.sha256 for cut in cuts], pa.string()))
        names += [CUT_LENGTH, CUT_SHA256]
    return pa.RecordBatch.from_arrays(columns, names)


def _backfill(record: Record) -> bytes | None:
    """The first header of that name, empty if it has no value; as the stream reads it."""
    return next((data or b"" for name, data in record.headers if name == BACKFILL), None)


def _range(part: PartitionRange) -> Payload:
    """The range payload of a partition, as packing makes it."""
    fields = {
        "partition": part.partition,
        "from": part.first,
        "until": part.until,
        "maxRecordTime": part.max_record_time,
    }
    return Payload(Kind.PARTITION_RANGE, json.dumps(fields).encode(), 0)
