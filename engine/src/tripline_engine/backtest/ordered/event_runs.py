"""Transactions in the order of their event times, however many there are, as columns: sorted runs in a file, merged.

    add ──▶ a run in memory ──full──▶ sorted, appended to the file     all runs, mapped ──merge──▶ one order

Of equal event times the one that stands first in its file, and in the first of several files, is first; or whatever
other columns say which comes first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tripline_engine.domain.memory.array_types import BoolArray, Int64Array

FILE: Final = "file"
LINE: Final = "line"
"""Columns that say where a row comes from (int32, int64): no two rows have both in common."""

BY_LINE: Final = (FILE, LINE)
"""Columns, the first one first, that say which of equal event times comes first."""

_RUN: Final = 1 << 18
_PIECE: Final = 1 << 16
_ALIGNED: Final = 64


@dataclass(slots=True)
class _Run:
    """A sorted run, and how many of its rows are taken."""

    table: pa.Table
    times: Int64Array
    reached: int = 0

    @property
    def next_time(self) -> int:
        return int(self.times[self.reached])

    def time_ahead(self, rows: int) -> int:
        """The event time of the last one of the next rows."""
        return int(self.times[min(self.reached + rows, len(self.times)) - 1])

    def take(self, until: int) -> pa.Table:
        """All that are left with event times up to that one."""
        first, self.reached = self.reached, int(np.searchsorted(self.times, until, "right"))
        return self.table.slice(first, self.reached - first)

    @property
    def is_left(self) -> bool:
        return self.reached < len(self.times)


class EventRuns:
    """Takes tables of transactions, and gives their rows sorted.

    The file goes into the folder, which whoever made it deletes.

    :param run: how many rows are sorted in memory
    :param ties: integer columns of the tables that say which of equal event times comes first: no two rows have all of
        them in common
    :ivar bounds: the least and the greatest event time (ms) of what was added by `add`; None before that
    """

    def __init__(self, folder: Path, time_field: str, run: int = _RUN, ties: Sequence[str] = BY_LINE) -> None:
        self._path, self._time_field, self._run, self._ties = folder / "runs", time_field, run, ties
        self.bounds: tuple[int, int] | None = None
        self._pending: list[pa.Table] = []
        self._pending_rows = 0
        self._streams: list[int] = []
        self._end = self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, table: pa.Table) -> None:
        """Adds rows, in any order."""
        if not table.num_rows:
            return
        bounds = bounds_of(table, self._time_field)
        self.bounds = bounds if self.bounds is None else _wider(self.bounds, bounds)
        self._pending.append(table)
        self._pending_rows += table.num_rows
        self._count += table.num_rows
        if self._pending_rows >= self._run:
            run = self._sorted(self._pending)
            self._pending, self._pending_rows = [], 0
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, run.schema) as writer:
                writer.write_table(run)
            self._append(sink.getvalue())

    def add_sorted(self, stream: bytes, rows: int) -> None:
        """Adds a run of so many rows, an Arrow IPC stream."""
        self._count += rows
        self._append(stream)

    def columns(self, name: str) -> Iterator[pa.Array]:
        """A column of all rows, run by run, before they are merged."""
        for table in self._tables():
            yield from table.column(name).chunks

    def merged(self, piece: int = _PIECE) -> Iterator[pa.Table]:
        """All rows, once, in tables of about so many."""
        tables = (table.combine_chunks() for table in self._tables())
        runs = [_Run(table, _times(table, self._time_field)) for table in tables if table.num_rows]
        waiting = deque(sorted(runs, key=lambda run: run.next_time))
        active: list[_Run] = []
        while active or waiting:
            ahead = max(1, piece // max(1, len(active)))
            until = min((run.time_ahead(ahead) for run in active), default=None)
            while waiting and (until is None or waiting[0].next_time <= until):
                active.append(waiting.popleft())
                last = active[-1].time_ahead(ahead)
                until = last if until is None else min(until, last)
            assert until is not None  # there was one at least
            yield self._sorted([run.take(until) for run in active])
            active = [run for run in active if run.is_left]

    def _tables(self) -> Iterator[pa.Table]:
        if self._streams:
            mapped = pa.memory_map(str(self._path))
            for start, end in zip(self._streams, [*self._streams[1:], self._end], strict=True):
                mapped.seek(start)
                yield pa.ipc.open_stream(mapped.read_buffer(end - start)).read_all()
        if self._pending:
            self._pending = [self._sorted(self._pending)]
            yield self._pending[0]

    def _sorted(self, tables: list[pa.Table]) -> pa.Table:
        return event_sorted(pa.concat_tables(tables), self._time_field, self._ties)

    def _append(self, stream: bytes | pa.Buffer) -> None:
        with self._path.open("ab") as file:
            self._streams.append(file.tell())
            file.write(stream)
            file.write(b"\0" * (-file.tell() % _ALIGNED))
            self._end = file.tell()


def event_sorted(table: pa.Table, time_field: str, ties: Sequence[str] = BY_LINE) -> pa.Table:
    """The rows in order, in one chunk."""
    table = table.combine_chunks()
    keys = [_times(table, name) for name in (time_field, *ties)]
    if _is_sorted(keys):
        return table
    return table.take(pa.array(np.lexsort(keys[::-1])))


def bounds_of(table: pa.Table, time_field: str) -> tuple[int, int]:
    """The least and the greatest event time (ms) of some rows."""
    least, most = pc.min_max(table.column(time_field)).values()
    return least.as_py(), most.as_py()


def _wider(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return min(one[0], other[0]), max(one[1], other[1])


def _is_sorted(keys: Sequence[Int64Array]) -> bool:
    """Whether rows come by the first key, of equal ones by the second, and so on."""
    behind: BoolArray = np.zeros(max(0, len(keys[0]) - 1), np.bool_)
    for key in reversed(keys):
        behind = (key[1:] > key[:-1]) | ((key[1:] == key[:-1]) & behind)
    return bool(behind.all())


def _times(table: pa.Table, name: str) -> Int64Array:
    return np.asarray(table.column(name).chunk(0) if table.num_rows else [], np.int64)
