"""The retained transactions of one anchor in one shard: a columnar log in the order of acceptance.

Rows are numbered from 0 in that order. Retention moves ``base`` forward; rows before it are gone for every
reader, and the system has their memory back. When numbers run out the rest moves down, and every row number shrinks by
as much; where the system can't have the memory, as soon as half of the arrays lies before it.
Fields that nothing reads are pruned before their rows go (`pruned`).
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tripline_contracts import decimals
from tripline_contracts.event_type import EventType, Field
from tripline_engine.domain.history.column_pruning import ColumnPruning
from tripline_engine.domain.history.text_dictionary import TextDictionary
from tripline_engine.domain.memory.arena import Arena, Array, from_a_page, whole_pages
from tripline_engine.domain.memory.int128 import join
from tripline_engine.domain.memory.row_arrays import (
    RowArrays,
    release_rows,
    release_rows_behind,
    unbacked_bytes,
)
from tripline_engine.domain.memory.row_compaction import shift_down
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

_FIRST_CAPACITY = 1024
# Rows are looked through in pieces of so many, and that many of them are pruned at a time.
_PIECE: Final = 1 << 16
# What `meta` holds; of the marks, which there have been since the arrays were built; of what has gone, before which row
# the system has the memory back.
_END, _BASE, _HEAP_END, _OFFSET, _MARKS, _GIVEN, _META = 0, 1, 2, 3, 4, 5, 6
# It has it back when so many rows have gone, 64 KiB of a column: each time is a call to the system for each column.
_WORTH: Final = 1 << 13
# Up to so many rows are numbered before those that are left move down: 14 hours at 5,000 a second. Numbers have 31
# bits, and an array's room doubles.
_MOST_ROWS: Final = 1 << 28
# So few are not worth moving.
_FEW: Final = 1 << 10

VOIDED = 1
"""Marks a row that is for every rule as if it had never been; it keeps its place in the order of acceptance."""
BACKFILLED = 2
"""Marks a row that no rule is evaluated for, neither live nor later; it counts like any other."""


class History:
    """Columns of the accepted transactions of one anchor.

    ``time`` and ``record_time`` are int64 ms; ``codes[field]`` int32 numbers of texts (-1: null);
    ``measures[field]`` 128-bit words. Valid between ``base`` and ``end``.
    """

    def __init__(self, arena: Arena, name: str, event_type: EventType, key: HashKey) -> None:
        self._arena, self._name, self._key = arena, name, key
        self._fields = event_type.fields
        self._columns: dict[str, Array] = {}
        self._meta = arena.open(f"{name}.meta", np.int64, _META)
        self._heap = arena.open(f"{name}.heap", np.uint8, 16 * _FIRST_CAPACITY)
        for column in ("time", "record_time", "id_start"):
            self._open(column, np.int64)
        self._open("marks", np.uint8)
        self.values = {
            field.name: TextDictionary(arena, f"{name}.values.{field.name}")
            for field in text_fields(event_type)
        }
        for field in self.values:
            self._open(f"code.{field}", np.int32)
        for stamp in stamp_fields(event_type):
            self._open(f"stamp.{stamp.name}", np.int64)
        self._measures = [field.name for field in measure_fields(event_type)]
        for field in self._measures or [NO_MEASURE]:
            self._open(f"low.{field}", np.uint64)
            self._open(f"high.{field}", np.int64)
        self._stamps = [stamp.name for stamp in stamp_fields(event_type)]
        columns = {field: [f"code.{field}"] for field in self.values}
        columns |= {field: [f"stamp.{field}"] for field in self._stamps}
        columns |= {field: [f"low.{field}", f"high.{field}"] for field in self._measures}
        self._of_field = columns
        sizes = {
            field: {f"{name}.{column}": self._columns[column].itemsize for column in own}
            for field, own in columns.items()
        }
        self._pruned = ColumnPruning(arena, name, sizes)

    @property
    def end(self) -> int:
        """The number after the newest row's."""
        return int(self._meta[_END])

    @property
    def base(self) -> int:
        """The oldest retained row's number."""
        return int(self._meta[_BASE])

    @property
    def capacity(self) -> int:
        """For how many rows there is room."""
        return len(self._columns["time"]) - 1

    @property
    def released_until(self) -> int:
        """The number of the row before which the system has the memory back."""
        return int(self._meta[_GIVEN])

    @property
    def needs_compaction(self) -> bool:
        """Whether what is retained should move to the front of the arrays."""
        gone, held = self.base - self.released_until, self.end - self.released_until
        numbers_run_out = self.end > _MOST_ROWS and 2 * self.base > self.end
        return (gone > _FEW and 2 * gone > held) or numbers_run_out

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
        """The sequence number of row 0: a row's number changes, but number + offset never does."""
        return int(self._meta[_OFFSET])

    @offset.setter
    def offset(self, sequence: int) -> None:
        self._meta[_OFFSET] = sequence

    def any_marked(self, mark: int) -> bool:
        """Whether any row has had the mark since the arrays were built."""
        return bool(self._meta[_MARKS] & mark)

    def marked(self, mark: int, start: int, end: int) -> npt.NDArray[np.bool_] | None:
        """Which rows from the first number to the second have the mark; None where no row ever had."""
        if not self.any_marked(mark):
            return None
        found: npt.NDArray[np.bool_] = (self._columns["marks"][start:end] & mark) != 0
        return found

    def mark(self, rows: npt.NDArray[np.int64], mark: int) -> None:
        """Mark the rows with these numbers."""
        self._columns["marks"][rows] |= np.uint8(mark)
        self._meta[_MARKS] |= mark

    def find(self, transaction_id: str, event_time: int) -> npt.NDArray[np.int64]:
        """The numbers of the retained rows with this id and event time (ms), but for voided ones."""
        rows = self.base + np.flatnonzero(self.time[self.base : self.end] == event_time)
        voided = self._columns["marks"][rows] & VOIDED
        same = [each == transaction_id for each in self.ids(rows)]
        found: npt.NDArray[np.int64] = rows[np.array(same, np.bool_) & (voided == 0)]
        return found

    def stamp(self, field: str) -> Array:
        """A time other than the event time, int64 ms, NULL_TIME for null."""
        return self._columns[f"stamp.{field}"]

    def codes(self, field: str) -> Array:
        """Slots of a text field's values, int32, -1 for null."""
        return self._columns[f"code.{field}"]

    def measure(self, field: str) -> Amounts:
        """A measure's values as 128-bit words."""
        return Amounts(self._columns[f"low.{field}"], self._columns[f"high.{field}"])

    def ids(self, rows: npt.NDArray[np.int64]) -> list[str]:
        """The transaction ids of the rows with these numbers."""
        starts = self._columns["id_start"]
        return [bytes(self._heap[starts[row] : starts[row + 1]]).decode() for row in rows]

    def value(self, name: str, row: int) -> str | None:
        """A key, attribute or measure of the row as text, numbers plain."""
        if name in self.values:
            return self.values[name].text(int(self.codes(name)[row]))
        amounts = self.measure(name)
        return decimals.plain_scaled(join(amounts.low[row], amounts.high[row]))

    def partial(self, row: int, names: AbstractSet[str]) -> dict[str, Any]:
        """The row as JSON has it: its id and these fields, in the declared order."""
        chosen = (field for field in self._fields if field.role == "id" or field.name in names)
        return {field.name: self._json(field, row) for field in chosen}

    def _json(self, field: Field, row: int) -> Any:
        if field.role == "id":
            return self.ids(np.array([row]))[0]
        if field.role != "time":
            return self.value(field.name, row)
        time = int((self.stamp(field.name) if field.ingestion else self.time)[row])
        return None if time == NULL_TIME else time

    def append(self, rows: TransactionBatch) -> int:
        """Add accepted transactions.

        :returns: the number of the first of them
        """
        start = self.end
        end = start + len(rows)
        self._reserve(end, int(self._meta[_HEAP_END]) + len(rows.ids.data))
        self._put("time", start, rows.time)
        self._put("record_time", start, rows.record_time)
        self._put("marks", start, np.zeros(len(rows), np.uint8))
        if rows.backfilled is not None:
            self.mark(start + np.flatnonzero(rows.backfilled), BACKFILLED)
        self._append_ids(rows.ids, start)
        for stamp, times in rows.stamps.items():
            self._put(f"stamp.{stamp}", start, times)
        for field, table in self.values.items():
            texts = rows.texts[field]
            self._put(f"code.{field}", start, table.take(texts, *self._key.of(texts)))
        for field in self._measures:
            self._put(f"low.{field}", start, rows.measures[field].low)
            self._put(f"high.{field}", start, rows.measures[field].high)
        self._meta[_END] = end
        return start

    def reserve(self, rows: int) -> None:
        """Make room for so many that are to be appended."""
        self._reserve(self.end + rows, 0)

    def expired(self, time_floor: int, first: int | None = None) -> int:
        """The number after the last of the oldest rows that all have an event time below the floor (ms).

        :param first: a row before which they all have; else the oldest retained one
        """
        at, end = self.base if first is None else first, self.end
        while at < end:
            live = self.time[at : min(at + _PIECE, end)] >= time_floor
            if live.any():
                return at + int(live.argmax())
            at += len(live)
        return end

    def prune(self, field: str, time_floor: int) -> None:
        """Give up the field in some of the oldest rows that all have an event time below the floor (ms).

        Nothing may read it there before it is restored. Of many rows the next call takes more.
        """
        first = max(self.base, self._pruned.until(field))
        until = min(first + _PIECE, self.end)
        live = self.time[first:until] >= time_floor
        until = first + int(live.argmax()) if live.any() else until
        if until > first:
            if field in self.values:
                self.values[field].release(self.codes(field)[first:until])
            self._pruned.extend(field, until)

    def restore(self, fields: AbstractSet[str]) -> None:
        """Make these fields null where they are pruned: they are going to be read.

        Numbers are left as they are: no rule sees them, and they know no null.
        """
        for field in self._pruned.fields:
            until = self._pruned.until(field)
            if field in fields and until:
                if field in self.values:
                    self.codes(field)[self.base : until] = -1
                elif field in self._stamps:
                    self.stamp(field)[self.base : until] = NULL_TIME
                self._pruned.end(field)

    @property
    def prunable(self) -> tuple[str, ...]:
        """The fields that can be pruned."""
        return self._pruned.fields

    @property
    def released_bytes(self) -> int:
        """Bytes of the arrays that the system has back of what was there before what is retained."""
        gone = self.released_until
        rows = dict.fromkeys(self._columns, gone)
        for field, columns in self._of_field.items():
            rows |= dict.fromkeys(columns, max(gone, self._pruned.given(field)))
        ids = whole_pages(int(self._columns["id_start"][gone]))
        return ids + sum(whole_pages(rows[name] * column.itemsize) for name, column in self._columns.items())

    @property
    def reserved_bytes(self) -> int:
        """Bytes of the arrays that are for rows still to come."""
        return len(self._heap) - int(self._meta[_HEAP_END]) + unbacked_bytes(self._columns, 0, self.end + 1)

    def drop(self, until: int) -> None:
        """Give up the rows before ``until``."""
        for field, table in self.values.items():
            # the texts of what is pruned have gone before
            first = max(self.base, self._pruned.until(field))
            table.release(self.codes(field)[first : max(first, until)])
        self._meta[_BASE] = until
        if until - self.released_until >= _WORTH and self._give_back(self.released_until, until):
            self._meta[_GIVEN] = until

    def compact(self) -> int:
        """Move the retained rows to the front of the arrays.

        :returns: by how much every row number has shrunk
        """
        delta, end = self.base, self.end
        starts = self._columns["id_start"]
        heap_base, heap_end = int(starts[delta]) if end else 0, int(self._meta[_HEAP_END])
        present = dict.fromkeys(self._columns, delta)
        for field, columns in self._of_field.items():
            present |= dict.fromkeys(columns, max(delta, self._pruned.until(field)))
        for name, column in self._columns.items():
            first = present[name]
            # the columns of a field hold nothing where it is pruned
            shift_down(column[first - delta :], delta, end + 1 - first)
        starts[: end - delta + 1] -= heap_base
        shift_down(self._heap, heap_base, heap_end - heap_base)
        self._meta[:_MARKS] = (end - delta, 0, heap_end - heap_base, self.offset + delta)
        self._meta[_GIVEN] = 0
        self._give_back_behind(end + 1, heap_end)
        self._pruned.shift(delta)
        return delta

    def _give_back(self, first: int, until: int) -> bool:
        """Whether the system could have the memory of these rows, which have gone."""
        starts = self._columns["id_start"]
        # the last row's place among the ids stays: the page of an item that is not given back is whole
        heap = self._arena.punch_hole(f"{self._name}.heap", int(starts[first]), int(starts[until]))
        return release_rows(self._arena, self._by_row, first, until) and heap

    def _give_back_behind(self, rows: int, heap: int) -> None:
        """The system may have what is left behind the newest row, up to that row and that byte of the ids."""
        release_rows_behind(self._arena, self._by_row, self.end + 1, rows)
        self._arena.punch_hole(f"{self._name}.heap", from_a_page(int(self._meta[_HEAP_END]), 1), heap)

    @property
    def _by_row(self) -> RowArrays:
        return {f"{self._name}.{column}": array for column, array in self._columns.items()}

    def _open(self, column: str, dtype: Any) -> None:
        self._columns[column] = self._arena.open(f"{self._name}.{column}", dtype, _FIRST_CAPACITY + 1)

    def _put(self, column: str, first: int, values: Array) -> None:
        self._arena.put(f"{self._name}.{column}", first, values)

    def _append_ids(self, ids: Texts, start: int) -> None:
        heap_end = int(self._meta[_HEAP_END])
        first, last = int(ids.offsets[0]), int(ids.offsets[-1])
        self._put("heap", heap_end, ids.data[first:last])
        self._put("id_start", start, ids.offsets.astype(np.int64) + (heap_end - first))
        self._meta[_HEAP_END] = heap_end + last - first

    def _reserve(self, rows: int, heap: int) -> None:
        if rows + 1 > len(self.time):
            capacity = (1 << rows.bit_length()) + 1
            for column in self._columns:
                self._columns[column] = self._arena.resize(f"{self._name}.{column}", capacity)
        if heap > len(self._heap):
            self._heap = self._arena.resize(f"{self._name}.heap", 1 << heap.bit_length())
