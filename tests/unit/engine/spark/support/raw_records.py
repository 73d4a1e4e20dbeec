"""Raw Kafka records for packing, and packed rows decoded."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any

import pyarrow as pa

from tripline_contracts.event_type_loader import load
from tripline_engine.domain.shard.engine_config import EngineConfig
from tripline_engine.domain.shard.ports import Kind
from tripline_engine.spark.rows.gc_freeze import GC_FREEZER, GcFreezer
from tripline_engine.spark.rows.packing import PASS_ROWS, packer
from tripline_engine.spark.rows.shard_keys import shard_keys

TRANSACTION = load()


def config(shards: int) -> EngineConfig:
    return EngineConfig("e", TRANSACTION, TRANSACTION.anchors, shards, (1, 2), "data")


def batch(rows: Sequence[tuple[int, int, int, bytes | None]]) -> pa.RecordBatch:
    """Raw Kafka records (partition, offset, record time, value), as Spark hands them to packing."""
    types = [pa.int32(), pa.int64(), pa.int64(), pa.binary()]
    columns = list(zip(*rows, strict=True)) or [(), (), (), ()]
    arrays = [pa.array(column, kind) for column, kind in zip(columns, types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, ["partition", "offset", "recordTime", "value"])


def payment(i: int, payee: str | None = "p", beneficiary: str | None = "b") -> bytes:
    """The value of a valid transaction record."""
    fields = {
        "transactionId": i,
        "eventTime": i,
        "payeeId": payee,
        "beneficiaryId": beneficiary,
        "paymentAmount": 1,
        "paymentType": "CSH",
    }
    return json.dumps(fields).encode()


def pack(
    shards: int,
    *batches: pa.RecordBatch,
    pass_rows: int = PASS_ROWS,
    freezer: GcFreezer = GC_FREEZER,
    wanted: Collection[str] | None = None,
) -> list[tuple[int, Kind, Any]]:
    """(shard, kind, rows or object) of each packed row."""
    shard_of = {key: shard for shard, key in enumerate(shard_keys(shards))}
    rows: list[tuple[int, Kind, Any]] = []
    for packed in packer(config(shards), pass_rows, freezer=freezer, wanted=lambda: wanted)(iter(batches)):
        for row in packed.to_pylist():
            kind, data = Kind(row["kind"]), row["payload"]
            content = (
                json.loads(data)
                if kind is Kind.PARTITION_RANGE
                else pa.ipc.open_stream(data).read_all().to_pylist()
            )
            rows.append((shard_of[row["shardKey"]], kind, content))
    return rows
