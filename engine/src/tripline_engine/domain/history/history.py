"""The retained transactions of one anchor in one shard: columns, and their retention.

    row     0     released    base        pruned until                 end
    column  ......|xxxxxxxxxxx|- - - - - -|1 7 7 3 1 …                 |

Retention moves ``base`` forward: rows before it are dropped for every reader (x), and their memory is released.
Compaction moves the retained rows to the front, and lowers every row number: when row numbers run out; where memory
cannot be released, as soon as half of the arrays lies before ``base``.
Fields that nothing reads are pruned before their rows are dropped (-, see `column_pruning`).
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from tripline_contracts.event_type import EventType
from tripline_engine.domain.history.column_pruning import RELEASED_BYTES, ColumnPruning
from tripline_engine.domain.history.history_columns import (
    BASE,
    HEAP_END,
    MARKS,
    RELEASED,
    HistoryColumns,
)
from tripline_engine.domain.memory.arena import Arena, page_start, whole_pages
from tripline_engine.domain.memory.array_types import Millis, RowNumber
from tripline_engine.domain.memory.row_arrays import (
    RowArrays,
    release_rows,
    release_rows_behind,
    unbacked_bytes,
)
from tripline_engine.domain.memory.row_compaction import shift_down
from tripline_engine.domain.memory.slot_kernels import NO_SLOT
from tripline_engine.domain.transactions.columns import NULL_TIME
from tripline_engine.domain.transactions.hash_key import HashKey

# Dropped rows that are worth a compaction where memory cannot be released.
_COMPACTED_ROWS: Final = 1 << 10


@dataclass(frozen=True, slots=True)
class HistoryTuning:
    """The pieces in which retention works.

    :ivar scanned_rows: rows that are looked through, or pruned, at a time
    :ivar released_rows: dropped rows that are worth a release, 64 KiB of a column: each is a system call for each
        column
    :ivar released_bytes: the same for a pruned field, in bytes of a column
    :ivar numbered_rows: rows that are numbered before a compaction: 14 hours at 5,000 a second. Numbers have 31 bits,
        and an array's capacity doubles
    """

    scanned_rows: int = 1 << 16
    released_rows: int = 1 << 13
    released_bytes: int = RELEASED_BYTES
    numbered_rows: int = 1 << 28


DEFAULT_TUNING: Final = HistoryTuning()


class History(HistoryColumns):
    """The columns of one anchor, with retention."""

    def __init__(
        self,
        arena: Arena,
        name: str,
        event_type: EventType,
        key: HashKey,
        tuning: HistoryTuning = DEFAULT_TUNING,
    ) -> None:
        super().__init__(arena, name, event_type, key)
        self._tuning = tuning
        columns = {field: [f"code.{field}"] for field in self.values}
        columns |= {field: [f"stamp.{field}"] for field in self._stamps}
        columns |= {field: [f"low.{field}", f"high.{field}"] for field in self._measures}
        self._columns_of = columns
        sizes = {
            field: {f"{name}.{column}": self._columns[column].itemsize for column in names}
            for field, names in columns.items()
        }
        self._pruning = ColumnPruning(arena, name, sizes, tuning.released_bytes)

    @property
    def released_until(self) -> RowNumber:
        """The row before which memory is released."""
        return int(self._meta[RELEASED])

    @property
    def released_bytes(self) -> int:
        """Bytes of the arrays that are released: dropped rows and pruned fields."""
        released = self.released_until
        rows = dict.fromkeys(self._columns, released)
        for field, columns in self._columns_of.items():
            rows |= dict.fromkeys(columns, max(released, self._pruning.released_until(field)))
        ids = whole_pages(int(self._columns["id_start"][released]))
        return ids + sum(whole_pages(rows[name] * column.itemsize) for name, column in self._columns.items())

    @property
    def reserved_bytes(self) -> int:
        """Bytes of the arrays that are for rows still to come."""
        return len(self._heap) - int(self._meta[HEAP_END]) + unbacked_bytes(self._columns, 0, self.end + 1)

    def expired(self, time_floor: Millis, first: RowNumber | None = None) -> RowNumber:
        """The number after the last of the oldest rows that all have an event time below the floor.

        :param first: a row before which they all have; else the oldest retained one
        """
        row, end = self.base if first is None else first, self.end
        while row < end:
            live = self.time[row : min(row + self._tuning.scanned_rows, end)] >= time_floor
            if live.any():
                return row + int(live.argmax())
            row += len(live)
        return end

    def drop(self, until: RowNumber) -> None:
        """Drop the rows before ``until``."""
        for field, dictionary in self.values.items():
            # pruning has released the texts before
            first = max(self.base, self._pruning.pruned_until(field))
            dictionary.release(self.codes(field)[first : max(first, until)])
        self._meta[BASE] = until
        worth_while = until - self.released_until >= self._tuning.released_rows
        if worth_while and self._release(self.released_until, until):
            self._meta[RELEASED] = until

    @property
    def prunable(self) -> tuple[str, ...]:
        """The fields that can be pruned."""
        return self._pruning.fields

    def prune(self, field: str, time_floor: Millis) -> None:
        """Prune the field in some of the oldest rows that all have an event time below the floor.

        Nothing may read it there before it is restored. Of many rows the next call prunes more.
        """
        first = max(self.base, self._pruning.pruned_until(field))
        until = min(first + self._tuning.scanned_rows, self.end)
        live = self.time[first:until] >= time_floor
        until = first + int(live.argmax()) if live.any() else until
        if until > first:
            if field in self.values:
                self.values[field].release(self.codes(field)[first:until])
            self._pruning.extend(field, until)

    def restore(self, fields: AbstractSet[str]) -> None:
        """Make these fields null where they are pruned: they are going to be read.

        Numbers are left as they are: no rule sees them, and they know no null.
        """
        for field in self._pruning.fields:
            until = self._pruning.pruned_until(field)
            if field in fields and until:
                if field in self.values:
                    self.codes(field)[self.base : until] = NO_SLOT
                elif field in self._stamps:
                    self.stamp(field)[self.base : until] = NULL_TIME
                self._pruning.reset(field)

    @property
    def needs_compaction(self) -> bool:
        """Whether the retained rows should move to the front of the arrays."""
        dropped, held = self.base - self.released_until, self.end - self.released_until
        numbers_run_out = self.end > self._tuning.numbered_rows and 2 * self.base > self.end
        return (dropped > _COMPACTED_ROWS and 2 * dropped > held) or numbers_run_out

    def compact(self) -> int:
        """Move the retained rows to the front of the arrays.

        :returns: the number by which all row numbers have shrunk
        """
        delta, end = self.base, self.end
        starts = self._columns["id_start"]
        heap_base, heap_end = int(starts[delta]) if end else 0, int(self._meta[HEAP_END])
        present = dict.fromkeys(self._columns, delta)
        for field, columns in self._columns_of.items():
            present |= dict.fromkeys(columns, max(delta, self._pruning.pruned_until(field)))
        for name, column in self._columns.items():
            first = present[name]
            # the columns of a field hold nothing where it is pruned
            shift_down(column[first - delta :], delta, end + 1 - first)
        starts[: end - delta + 1] -= heap_base
        shift_down(self._heap, heap_base, heap_end - heap_base)
        self._meta[:MARKS] = (end - delta, 0, heap_end - heap_base, self.offset + delta)
        self._meta[RELEASED] = 0
        self._release_behind(end + 1, heap_end)
        self._pruning.shift(delta)
        return delta

    def _release(self, first: RowNumber, until: RowNumber) -> bool:
        """Release the memory of these rows, which were dropped; whether the system could do it."""
        starts = self._columns["id_start"]
        # the first row's start can still be read: its page is not released, as it is not whole or not dropped
        heap = self._arena.punch_hole(f"{self._name}.heap", int(starts[first]), int(starts[until]))
        return release_rows(self._arena, self._row_arrays, first, until) and heap

    def _release_behind(self, rows: RowNumber, heap_bytes: int) -> None:
        """Release what compaction left behind the newest row, up to that row and that byte of the ids."""
        release_rows_behind(self._arena, self._row_arrays, self.end + 1, rows)
        first = page_start(int(self._meta[HEAP_END]), 1, self._arena.page_bytes)
        self._arena.punch_hole(f"{self._name}.heap", first, heap_bytes)

    @property
    def _row_arrays(self) -> RowArrays:
        return {f"{self._name}.{column}": array for column, array in self._columns.items()}
