"""The columns of the accepted transactions of one anchor in one shard: a columnar log in the order of acceptance.

Rows are numbered from 0 in that order. Row ``base`` is the oldest retained one, ``end`` the number after the newest.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tripline_contracts import decimals
from tripline_contracts.event_type import EventType, Field
from tripline_engine.domain.history.text_dictionary import TextDictionary
from tripline_engine.domain.memory.arena import Arena, Array
from tripline_engine.domain.memory.array_types import BoolArray, Int64Array, Millis, RowNumber
from tripline_engine.domain.memory.int128 import join
from tripline_engine.domain.transactions.columns import (
    NULL_TIME,
    Amounts,
    Texts,
    TransactionBatch,
    measure_fields,
    stamp_fields,
    text_fields,
)
from tripline_engine.domain.transactions.hash_key import HashKey

NO_MEASURE: Final = ""
"""The column, all zeros, that stands for a measure where the event type has none: counts keep a sum beside them."""

VOIDED: Final = 1
"""Marks a row that is for every rule as if it had never been; it keeps its position in the order of acceptance."""
BACKFILLED: Final = 2
"""Marks a row that no rule is evaluated for, neither live nor later; it counts like any other."""

_FIRST_ROWS: Final = 1024
_ID_BYTES: Final = 16
# Items of `meta`: row numbers, the bytes of ids in the heap, and the sequence number of row 0; the marks that any row
# has had since the arrays were built; the row before which memory is released.
END, BASE, HEAP_END, OFFSET, MARKS, RELEASED, _META_ITEMS = 0, 1, 2, 3, 4, 5, 6


class HistoryColumns:
    """Columns of the accepted transactions of one anchor.

    ``time`` and ``record_time`` are int64 ms; ``codes(field)`` int32 slots of texts (negative: null);
    ``measure(field)`` 128-bit words. Valid between ``base`` and ``end``.
    """

    def __init__(self, arena: Arena, name: str, event_type: EventType, key: HashKey) -> None:
        self._arena, self._name, self._key = arena, name, key
        self._fields = event_type.fields
        self._columns: dict[str, Array] = {}
        self._meta = arena.open(f"{name}.meta", np.int64, _META_ITEMS)
        self._heap = arena.open(f"{name}.heap", np.uint8, _ID_BYTES * _FIRST_ROWS)
        for column in ("time", "record_time", "id_start"):
            self._open(column, np.int64)
        self._open("marks", np.uint8)
        self.values = {
            field.name: TextDictionary(arena, f"{name}.values.{field.name}")
            for field in text_fields(event_type)
        }
        for field in self.values:
            self._open(f"code.{field}", np.int32)
        self._stamps = [stamp.name for stamp in stamp_fields(event_type)]
        for stamp in self._stamps:
            self._open(f"stamp.{stamp}", np.int64)
        self._measures = [field.name for field in measure_fields(event_type)]
        for field in self._measures or [NO_MEASURE]:
            self._open(f"low.{field}", np.uint64)
            self._open(f"high.{field}", np.int64)

    @property
    def end(self) -> RowNumber:
        """The number after the newest row's."""
        return int(self._meta[END])

    @property
    def base(self) -> RowNumber:
        """The oldest retained row's number."""
        return int(self._meta[BASE])

    @property
    def capacity(self) -> int:
        """The number of rows for which there is room."""
        return len(self._columns["time"]) - 1

    @property
    def time(self) -> Array:
        """Event times, int64 ms."""
        return self._columns["time"]

    @property
    def record_time(self) -> Array:
        """Record times, int64 ms."""
        return self._columns["record_time"]

    @property
    def offset(self) -> int:
        """The sequence number of row 0: compaction changes a row's number, but number + offset never changes."""
        return int(self._meta[OFFSET])

    @offset.setter
    def offset(self, sequence: int) -> None:
        self._meta[OFFSET] = sequence

    def any_marked(self, mark: int) -> bool:
        """Whether any row has had the mark since the arrays were built."""
        return bool(self._meta[MARKS] & mark)

    def marked(self, mark: int, start: RowNumber, end: RowNumber) -> BoolArray | None:
        """Whether each row from ``start`` to ``end`` has the mark; None where no row ever had."""
        if not self.any_marked(mark):
            return None
        marked: BoolArray = (self._columns["marks"][start:end] & mark) != 0
        return marked

    def mark(self, rows: Int64Array, mark: int) -> None:
        """Mark the rows with these numbers."""
        self._columns["marks"][rows] |= np.uint8(mark)
        self._meta[MARKS] |= mark

    def find(self, transaction_id: str, event_time: Millis) -> Int64Array:
        """The numbers of the retained rows with this id and event time, voided ones left out."""
        rows = self.base + np.flatnonzero(self.time[self.base : self.end] == event_time)
        voided = self._columns["marks"][rows] & VOIDED
        same = [row_id == transaction_id for row_id in self.ids(rows)]
        matching: Int64Array = rows[np.array(same, np.bool_) & (voided == 0)]
        return matching

    def stamp(self, field: str) -> Array:
        """A time other than the event time, int64 ms, NULL_TIME for null."""
        return self._columns[f"stamp.{field}"]

    def codes(self, field: str) -> Array:
        """Slots of a text field's values, int32, NO_SLOT for null."""
        return self._columns[f"code.{field}"]

    def measure(self, field: str) -> Amounts:
        """A measure's values as 128-bit words."""
        return Amounts(self._columns[f"low.{field}"], self._columns[f"high.{field}"])

    def ids(self, rows: Int64Array) -> list[str]:
        """The transaction ids of the rows with these numbers."""
        starts = self._columns["id_start"]
        return [bytes(self._heap[starts[row] : starts[row + 1]]).decode() for row in rows]

    def value(self, name: str, row: RowNumber) -> str | None:
        """A key, attribute or measure of the row as text, numbers plain."""
        if name in self.values:
            return self.values[name].text(int(self.codes(name)[row]))
        amounts = self.measure(name)
        return decimals.plain_scaled(join(amounts.low[row], amounts.high[row]))

    def partial(self, row: RowNumber, names: AbstractSet[str]) -> dict[str, Any]:
        """The row as JSON has it: its id and these fields, in the declared order."""
        chosen = (field for field in self._fields if field.role == "id" or field.name in names)
        return {field.name: self._json(field, row) for field in chosen}

    def _json(self, field: Field, row: RowNumber) -> Any:
        if field.role == "id":
            return self.ids(np.array([row]))[0]
        if field.role != "time":
            return self.value(field.name, row)
        time = int((self.stamp(field.name) if field.ingestion else self.time)[row])
        return None if time == NULL_TIME else time

    def append(self, batch: TransactionBatch) -> RowNumber:
        """Add accepted transactions.

        :returns: the number of the first of them
        """
        start = self.end
        end = start + len(batch)
        self._reserve(end, int(self._meta[HEAP_END]) + len(batch.ids.data))
        self._put("time", start, batch.time)
        self._put("record_time", start, batch.record_time)
        self._put("marks", start, np.zeros(len(batch), np.uint8))
        if batch.backfilled is not None:
            self.mark(start + np.flatnonzero(batch.backfilled), BACKFILLED)
        self._append_ids(batch.ids, start)
        for stamp, times in batch.stamps.items():
            self._put(f"stamp.{stamp}", start, times)
        for field, dictionary in self.values.items():
            texts = batch.texts[field]
            self._put(f"code.{field}", start, dictionary.intern_texts(texts, *self._key.of(texts)))
        for field in self._measures:
            self._put(f"low.{field}", start, batch.measures[field].low)
            self._put(f"high.{field}", start, batch.measures[field].high)
        self._meta[END] = end
        return start

    def reserve(self, rows: int) -> None:
        """Make room for so many more rows."""
        self._reserve(self.end + rows, 0)

    def _open(self, column: str, dtype: npt.DTypeLike) -> None:
        self._columns[column] = self._arena.open(f"{self._name}.{column}", dtype, _FIRST_ROWS + 1)

    def _put(self, column: str, first: RowNumber, values: Array) -> None:
        self._arena.put(f"{self._name}.{column}", first, values)

    def _append_ids(self, ids: Texts, start: RowNumber) -> None:
        heap_end = int(self._meta[HEAP_END])
        first, last = int(ids.offsets[0]), int(ids.offsets[-1])
        self._put("heap", heap_end, ids.data[first:last])
        self._put("id_start", start, ids.offsets.astype(np.int64) + (heap_end - first))
        self._meta[HEAP_END] = heap_end + last - first

    def _reserve(self, rows: int, heap_bytes: int) -> None:
        if rows + 1 > len(self.time):
            capacity = (1 << rows.bit_length()) + 1
            for column in self._columns:
                self._columns[column] = self._arena.resize(f"{self._name}.{column}", capacity)
        if heap_bytes > len(self._heap):
            self._heap = self._arena.resize(f"{self._name}.heap", 1 << heap_bytes.bit_length())
