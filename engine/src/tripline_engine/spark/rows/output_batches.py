"""A shard's output as record batches: Kafka records, and its counters."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema

from tripline_engine.domain.shard.ports import OutRecord
from tripline_engine.spark.rows.output_schema import OUTPUT_SCHEMA

_SCHEMA: Final = to_arrow_schema(OUTPUT_SCHEMA)
_ROWS_PER_BATCH: Final = 5_000


def record_batches(records: Sequence[OutRecord], topic_prefix: str) -> Iterator[pa.RecordBatch]:
    """The records, each to its topic; rows by OUTPUT_SCHEMA."""
    for start in range(0, len(records), _ROWS_PER_BATCH):
        chunk = records[start : start + _ROWS_PER_BATCH]
        yield _batch(
            len(chunk),
            topic=[topic_prefix + record.topic for record in chunk],
            key=[record.key for record in chunk],
            value=[record.value for record in chunk],
            headers=[[{"key": name, "value": value} for name, value in record.headers] for record in chunk],
        )


def counter_batch(shard: int, counters: Mapping[str, int]) -> pa.RecordBatch:
    """The row of a shard's counters; it has no topic."""
    return _batch(1, shard=[shard], counters=[json.dumps(counters)])


def _batch(rows: int, **columns: list[Any]) -> pa.RecordBatch:
    arrays = [pa.array(columns.get(field.name, [None] * rows), field.type) for field in _SCHEMA]
    return pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA)
