"""Transaction batches: the columns that a shard receives, keeps and writes to its segments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from tripline_contracts.event_type import EventType, Field
from tripline_engine.domain.memory.array_types import (
    BoolArray,
    Int32Array,
    Int64Array,
    Uint8Array,
    Uint64Array,
)
from tripline_engine.domain.memory.int128 import words

DECIMAL = pa.decimal128(24, 6)
# Fields of these roles are texts: equal texts are equal values.
TEXT_ROLES = frozenset({"key", "attribute"})
NULL_TIME = np.iinfo(np.int64).min
"""Null among times."""
MIN_TIME = np.iinfo(np.int64).min
"""A time before all event times: that of the transaction before a group's first one, and a floor below everything."""

BACKFILL: Final = "backfill"
"""The header that names a record's backfill, and the column of it. The column is null for other records, and absent if
all are others; it has the name until the transaction is admitted, and then just true."""

_MAX_TIME: Final = 2**62
"""Milliseconds after all event times."""


@dataclass(frozen=True, slots=True)
class Texts:
    """n texts as Arrow lays them out: text i is ``data[offsets[i]:offsets[i + 1]]``, UTF-8; absent ones are empty.

    :ivar offsets: int32, n + 1
    :ivar data: uint8
    :ivar present: bool, n
    """

    offsets: Int32Array
    data: Uint8Array
    present: BoolArray


class Amounts(NamedTuple):
    """n exact numbers, scaled by 10⁶, as 128-bit words (low: uint64, high: int64)."""

    low: Uint64Array
    high: Int64Array


class Totals(NamedTuple):
    """Window totals at n transactions: count (int64) and sum (scaled by 10⁶, 128-bit words)."""

    counts: Int64Array
    low: Uint64Array
    high: Int64Array


@dataclass(frozen=True, slots=True)
class TransactionBatch:
    """n transactions in the engine's order.

    :ivar table: all columns, one chunk each, from which alerts and segments are written
    :ivar time: int64, event times in ms
    :ivar record_time: int64, Kafka record times in ms
    :ivar ids: transaction ids
    :ivar stamps: by name, the other times: int64 ms, NULL_TIME for null
    :ivar texts: by name, the fields that are texts
    :ivar measures: by name, the fields that are numbers
    :ivar backfilled: bool, n: admitted, or to be admitted, as part of a backfill; None where none is
    """

    table: pa.Table
    time: Int64Array
    record_time: Int64Array
    ids: Texts
    stamps: dict[str, Int64Array]
    texts: dict[str, Texts]
    measures: dict[str, Amounts]
    backfilled: BoolArray | None = None

    def __len__(self) -> int:
        return len(self.time)

    @staticmethod
    def of(table: pa.Table, event_type: EventType) -> TransactionBatch:
        """The batch of an Arrow table with the event type's fields and `recordTime`.

        The table has a column `backfill` only if some rows are backfilled: those where it is not null.
        """
        table = table.combine_chunks()
        return TransactionBatch(
            table=table,
            time=_integers(table, event_type.time_field.name),
            record_time=_integers(table, "recordTime"),
            ids=_texts(table, event_type.id_field.name),
            stamps={field.name: _integers(table, field.name) for field in stamp_fields(event_type)},
            texts={field.name: _texts(table, field.name) for field in text_fields(event_type)},
            measures={field.name: _amounts(table, field.name) for field in measure_fields(event_type)},
            backfilled=_backfilled(table),
        )

    @property
    def oldest(self) -> int:
        """The oldest event time (ms), _MAX_TIME of an empty batch."""
        return int(self.time.min(initial=_MAX_TIME))

    @property
    def ordinary(self) -> BoolArray:
        """The transactions that are not backfilled (bool, n)."""
        return np.ones(len(self), np.bool_) if self.backfilled is None else ~self.backfilled

    def filter(self, keep: BoolArray, event_type: EventType) -> TransactionBatch:
        """The rows where ``keep`` (bool, n) holds, in the same order."""
        return self if keep.all() else TransactionBatch.of(self.table.filter(pa.array(keep)), event_type)


def stamp_fields(event_type: EventType) -> tuple[Field, ...]:
    """The times that windows do not use."""
    return tuple(field for field in event_type.fields if field.role == "time" and field.ingestion)


def text_fields(event_type: EventType) -> tuple[Field, ...]:
    """The fields whose values are compared as texts."""
    return tuple(field for field in event_type.fields if field.role in TEXT_ROLES)


def measure_fields(event_type: EventType) -> tuple[Field, ...]:
    """The fields that are exact numbers."""
    return tuple(field for field in event_type.fields if field.role == "measure")


def prunable_fields(event_type: EventType) -> tuple[str, ...]:
    """The fields that history keeps only while a rule can see them: all but the id and the event time."""
    kept = event_type.id_field.name, event_type.time_field.name
    return tuple(field.name for field in event_type.fields if field.name not in kept)


def segment_schema(event_type: EventType) -> pa.Schema:
    """The columns that history keeps of a transaction."""
    return pa.schema(
        [
            pa.field(event_type.time_field.name, pa.int64()),
            pa.field("recordTime", pa.int64()),
            pa.field(event_type.id_field.name, pa.string()),
            *(pa.field(field.name, pa.int64()) for field in stamp_fields(event_type)),
            *(pa.field(field.name, pa.string()) for field in text_fields(event_type)),
            *(pa.field(field.name, DECIMAL) for field in measure_fields(event_type)),
        ]
    )


def _array(table: pa.Table, name: str) -> pa.Array:
    column = table.column(name)
    return column.chunk(0) if column.num_chunks else pa.array([], column.type)


def _integers(table: pa.Table, name: str) -> Int64Array:
    array = _array(table, name)
    return np.array(array.fill_null(NULL_TIME) if array.null_count else array, np.int64)


def _backfilled(table: pa.Table) -> BoolArray | None:
    index = table.schema.get_field_index(BACKFILL)
    if index < 0 or table.column(index).null_count == len(table):
        return None
    return np.array(_array(table, BACKFILL).is_valid())


def _texts(table: pa.Table, name: str) -> Texts:
    return texts_of(_array(table, name))


def text_bounds(array: pa.Array) -> Int32Array:
    """Where each text of a column of strings begins in the bytes of all, and where the last one ends (int32, n + 1)."""
    offsets = array.buffers()[1]
    if offsets is None or len(array) == 0:
        return np.zeros(1, np.int32)
    return np.frombuffer(offsets, np.int32)[array.offset : array.offset + len(array) + 1]


def texts_of(array: pa.Array) -> Texts:
    """A column of strings as the engine has them; of a slice its own texts alone."""
    bounds, data = text_bounds(array), array.buffers()[2]
    letters = np.empty(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    return Texts(
        bounds - bounds[0],
        letters[bounds[0] : bounds[-1]].copy(),
        np.array(array.is_valid()) if array.null_count else np.ones(len(array), np.bool_),
    )


def _amounts(table: pa.Table, name: str) -> Amounts:
    array = _array(table, name)
    buffer = np.frombuffer(array.buffers()[1], np.uint64) if len(array) else np.empty(0, np.uint64)
    return Amounts(*words(buffer[2 * array.offset : 2 * (array.offset + len(array))]))
