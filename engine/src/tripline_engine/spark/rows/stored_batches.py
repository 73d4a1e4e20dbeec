"""Arrow record batches of a range of offsets, read from Kafka as it is stored: for `query.careful_source`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa

from tripline_contracts.kafka.cluster import KafkaCluster
from tripline_contracts.record_batches.records import Cut, StoredRecord
from tripline_engine.domain.transactions.columns import BACKFILL
from tripline_engine.kafka_log.stored_log import StoredLog
from tripline_engine.kafka_log.topic_log import TopicLog
from tripline_engine.spark.rows.record_limits import CUT_LENGTH, CUT_SHA256

_COLUMNS: Final = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("recordTime", pa.int64()),
        ("value", pa.binary()),
        (BACKFILL, pa.binary()),
        (CUT_LENGTH, pa.int64()),
        (CUT_SHA256, pa.string()),
    ]
)
_NAME: Final = BACKFILL.encode()


def stored_batches(
    kafka: KafkaCluster,
    topic: str,
    partition: int,
    first: int,
    until: int,
    *,
    keep: int,
    rows: int,
    size: int,
) -> Iterator[pa.RecordBatch]:
    """The records of [first, until) in batches of so many rows, or bytes of values, at most; one value more."""
    pending: list[tuple[Any, ...]] = []
    held = 0
    with TopicLog(kafka, topic) as log:
        for record in StoredLog(log).records(partition, first, until, keep):
            pending.append(_row(topic, partition, record))
            held += len(record.value or b"")
            if len(pending) >= rows or held >= size:
                yield _batch(pending)
                pending, held = [], 0
    if pending:
        yield _batch(pending)


def cuts(batch: pa.RecordBatch) -> dict[int, Cut]:
    """What is known of cut values, by row; none where the batch has no such columns."""
    index = batch.schema.get_field_index(CUT_LENGTH)
    if index < 0 or batch.column(index).null_count == batch.num_rows:
        return {}
    known = zip(batch.column(index).to_pylist(), batch.column(CUT_SHA256).to_pylist(), strict=True)
    return {row: Cut(length, sha256) for row, (length, sha256) in enumerate(known) if length is not None}


def _row(topic: str, partition: int, record: StoredRecord) -> tuple[Any, ...]:
    # the first of that name, empty if it has no value: as Spark's source is read
    backfill = next((data or b"" for name, data in record.headers if name == _NAME), None)
    cut = (record.cut.length, record.cut.sha256) if record.cut else (None, None)
    return (topic, partition, record.offset, record.time, record.value, backfill, *cut)


def _batch(rows: list[tuple[Any, ...]]) -> pa.RecordBatch:
    columns = zip(*rows, strict=True)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, _COLUMNS, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=_COLUMNS)
