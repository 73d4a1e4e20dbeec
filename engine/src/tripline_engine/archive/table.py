"""Parquet schema of archived records: raw columns, and the event type's declared fields for other tools.

| column | type | |
|---|---|---|
| `partition` | int32 | |
| `offset` | int64 | |
| `timestamp` | timestamp(ms, UTC) | the record's own |
| `key`, `value` | binary | null where the record has none |
| `headers` | list of (name, value) | in their order |
| each declared field | as in `field_type` | null where it is, and where the record can't be parsed |

Only the raw columns are ever judged. A declared field with the name of one of them, or of a folder, has an
underscore after its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

from tripline_contracts.event_type import EventType, Field
from tripline_engine.domain.transactions.parser import Parser, column_type
from tripline_engine.kafka_log.record import Record

MOMENT: Final = pa.timestamp("ms", "UTC")
RAW: Final = pa.schema(
    [
        pa.field("partition", pa.int32(), nullable=False),
        pa.field("offset", pa.int64(), nullable=False),
        pa.field("timestamp", MOMENT, nullable=False),
        ("key", pa.binary()),
        ("value", pa.binary()),
        pa.field(
            "headers",
            pa.list_(
                pa.field(
                    "element",
                    pa.struct([pa.field("name", pa.string(), nullable=False), ("value", pa.binary())]),
                    nullable=False,
                )
            ),
            nullable=False,
        ),
    ]
)
_RESERVED: Final = {*RAW.names, "eventType", "topic", "date"}


class TableFormat:
    """The columns of one topic's files. Without an event type they are the raw ones."""

    def __init__(self, event_type: EventType | None) -> None:
        self._fields = event_type.fields if event_type else ()
        self._parser = Parser(event_type) if event_type else None
        declared = [pa.field(column_name(field), field_type(field)) for field in self._fields]
        self.schema = pa.schema([*RAW, *declared])

    def of_records(self, records: Sequence[Record]) -> pa.RecordBatch:
        """At most 2 GiB of values: a few thousand records, or some ten megabytes."""
        columns: list[list[Any]] = [
            [record.partition for record in records],
            [record.offset for record in records],
            [record.timestamp for record in records],
            [record.key for record in records],
            [record.value for record in records],
            [[{"name": name, "value": data} for name, data in record.headers] for record in records],
        ]
        raw = [pa.array(column, field.type) for column, field in zip(columns, RAW, strict=True)]
        return self._with_fields(raw)

    def of_batch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """A batch of a file as this form has it: files from before a change of the event type have other fields."""
        if batch.schema.equals(self.schema):
            return batch
        return self._with_fields([batch.column(field.name).cast(field.type) for field in RAW])

    def _with_fields(self, raw: list[pa.Array]) -> pa.RecordBatch:
        return pa.RecordBatch.from_arrays([*raw, *self._declared(raw)], schema=self.schema)

    def _declared(self, raw: list[pa.Array]) -> Iterator[pa.Array]:
        if self._parser is None:
            return
        values = raw[RAW.get_field_index("value")]
        parsed = self._parser.parse(values)
        # a record that can't be parsed has no parsed row: null
        indices = np.full(len(values), len(parsed.rows))
        indices[parsed.rows] = np.arange(len(parsed.rows))
        parsed_rows = pa.array(indices, mask=indices == len(parsed.rows))
        for field in self._fields:
            yield parsed.columns[field.name].take(parsed_rows).cast(field_type(field))


def records_of(batch: pa.RecordBatch) -> Iterator[Record]:
    """The records of a batch with the raw columns."""
    columns = [batch.column(field.name) for field in RAW]
    columns[2] = columns[2].cast(pa.int64())
    for partition, offset, timestamp, key, value, headers in zip(
        *(column.to_pylist() for column in columns), strict=True
    ):
        kept = tuple((header["name"], header["value"]) for header in headers)
        yield Record(partition, offset, timestamp, key, value, kept)


def column_name(field: Field) -> str:
    """Column of a declared field."""
    return f"{field.name}_" if field.name in _RESERVED else field.name


def field_type(field: Field) -> pa.DataType:
    """string, decimal128(24, 6), or timestamp(ms, UTC)."""
    return MOMENT if field.kind == "timestamp" else column_type(field)
