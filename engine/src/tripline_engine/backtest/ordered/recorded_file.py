"""A file of transactions, in whatever form it was found: what can be read, and what cannot, by line and reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tripline_contracts.errors import InvalidMapping, UnreadableFile
from tripline_contracts.event_type import EventType
from tripline_contracts.recordings.compression import head_of
from tripline_contracts.recordings.file_mapping import FileMapping
from tripline_contracts.recordings.interpreter import HouseInterpreter, Interpreter, MappedInterpreter
from tripline_contracts.recordings.mapping_reader import read_mapping
from tripline_contracts.recordings.parquet_rows import ParquetColumns
from tripline_contracts.recordings.recording import PARQUET, open_recording
from tripline_contracts.recordings.rows import BadRow, Row
from tripline_engine.backtest.ordered.event_runs import FILE, LINE
from tripline_engine.backtest.ordered.pieces import pieces
from tripline_engine.backtest.ordered.sure_columns import FieldColumn, field_columns
from tripline_engine.domain.memory.array_types import Int64Array
from tripline_engine.domain.transactions.parser import Parser
from tripline_engine.errors import EngineError

_PIECE: Final = 8_192
_COLUMN_ROWS: Final = 1 << 16
_LISTED: Final = 1_000
"""Rows that cannot be read are all counted, and so many of them listed."""

# numbers as numbers: a text is an id, and 1.5 is none
_ENCODER: Final = msgspec.json.Encoder(decimal_format="number")
_NO_JSON: Final = (TypeError, ValueError, OverflowError, RecursionError)
_NO_VALUE: Final = (ValueError, OverflowError)


class UnreadableRecording(EngineError):
    """A file, or a mapping, that cannot be read at all; the message names it."""


@dataclass(slots=True)
class FileReport:
    """What came of one file.

    :ivar rows: that were read
    :ivar unread: lines (in Parquet: rows) that could not be read, with the reasons; the first ones
    :ivar unused: columns that nothing is read from
    """

    name: str
    rows: int = 0
    bad: int = 0
    unread: list[BadRow] = field(default_factory=list)
    unused: Sequence[str] = ()

    def leave_out(self, bad: BadRow) -> None:
        """Counts it, and lists it while the list is short."""
        self.bad += 1
        if len(self.unread) < _LISTED:
            self.unread.append(bad)

    def to_json(self) -> dict[str, Any]:
        """As results have it."""
        return {
            "name": self.name,
            "rows": self.rows,
            "bad": self.bad,
            "unread": [{"line": one.line, "reason": one.reason} for one in self.unread],
            "columnsNotRead": list(self.unused),
        }


def mapping_of(file: Path | None, event_type: EventType) -> FileMapping | None:
    """The mapping of a file. Raises UnreadableRecording, which names every wrong entry."""
    try:
        return None if file is None else read_mapping(file.read_bytes(), event_type)
    except (InvalidMapping, OSError) as error:
        raise UnreadableRecording(f"--mapping: {file}: {error}") from error


class RecordedFile:
    """Reads one file; `number` is its place among others.

    Rows become the JSON that transactions.v1 would have, and the engine's own parser says what of that is a
    transaction. Of Parquet, columns are taken as they are where that is sure to come to the same.
    """

    def __init__(self, number: int, file: Path, event_type: EventType, mapping: FileMapping | None) -> None:
        self._number, self._file, self._event_type, self._mapping = number, file, event_type, mapping
        self._parser = Parser(event_type)
        self._is_declared: dict[str, bool] = {}
        self._interpreter: Interpreter = (
            HouseInterpreter(event_type) if mapping is None else MappedInterpreter(event_type, mapping)
        )
        self.report = FileReport(file.name)

    def group_rows(self) -> tuple[int, ...] | None:
        """How many rows each of its row groups has; None of what is no Parquet. Raises UnreadableRecording."""
        with self._opened() as opened:
            if self._is_parquet(opened):
                return self._parquet(opened).group_rows
            open_recording(opened, self._event_type, self._mapping)
            return None

    def transactions(self, groups: range | None = None) -> Iterator[tuple[pa.Table, float]]:
        """Its transactions in the order of the file, with FILE and LINE, in pieces, each with the share read so far.

        :param groups: of Parquet only these row groups, which follow one another

        Raises UnreadableRecording.
        """
        with self._opened() as opened:
            if self._is_parquet(opened):
                yield from self._columns(self._parquet(opened), groups)
            else:
                yield from self._rows(opened)

    @contextmanager
    def _opened(self) -> Iterator[IO[bytes]]:
        try:
            with self._file.open("rb") as opened:
                yield opened
        except (UnreadableFile, OSError) as error:
            raise UnreadableRecording(f"--files: {self._file}: {error}") from error

    def _is_parquet(self, opened: IO[bytes]) -> bool:
        told = None if self._mapping is None else self._mapping.format
        return told in (None, "parquet") and head_of(opened).startswith(PARQUET)

    def _parquet(self, opened: IO[bytes]) -> ParquetColumns:
        return ParquetColumns.of(opened, self._event_type, self._mapping, pa, pq)

    def _rows(self, opened: IO[bytes]) -> Iterator[tuple[pa.Table, float]]:
        size = max(1, self._file.stat().st_size)
        recording = open_recording(opened, self._event_type, self._mapping)
        self.report.unused = recording.unused
        for rows in pieces(recording.rows(), _PIECE):
            yield self._counted(self._read(rows)), min(1.0, opened.tell() / size)

    def _columns(self, parquet: ParquetColumns, groups: range | None) -> Iterator[tuple[pa.Table, float]]:
        self.report.unused = parquet.unused
        chosen = range(len(parquet.group_rows)) if groups is None else groups
        first = line = sum(parquet.group_rows[: chosen.start])
        rows = max(1, sum(parquet.group_rows[chosen.start : chosen.stop]))
        columns = field_columns(self._event_type, parquet.columns, self._mapping)
        try:
            for batch in parquet.batches(_COLUMN_ROWS, list(chosen)):
                yield self._counted(self._table_of(parquet, batch, line, columns)), (line - first) / rows
                line += batch.num_rows
        except (pa.ArrowException, OSError) as error:
            self.report.leave_out(BadRow(line + 1, f"nothing can be read from here on: {error}"))

    def _table_of(
        self, parquet: ParquetColumns, batch: pa.RecordBatch, before: int, columns: list[FieldColumn] | None
    ) -> pa.Table:
        """Of a record batch with so many rows of the file before it."""
        lines = np.arange(before + 1, before + 1 + batch.num_rows)
        if columns is None:
            return self._read(self._raws(parquet, batch, lines.tolist()))
        read = [column.of(batch) for column in columns]
        sure = np.logical_and.reduce([one for _, one in read])
        names = [field.name for field in self._event_type.fields]
        table = self._table(dict(zip(names, (values for values, _ in read), strict=True)), lines)
        if sure.all():
            return table
        unsure = np.flatnonzero(~sure)
        rows = self._raws(parquet, batch.take(pa.array(unsure)), lines[unsure].tolist())
        table = pa.concat_tables([table.filter(pa.array(sure)), self._read(rows)])
        return table.take(pa.array(np.argsort(np.asarray(table.column(LINE)), kind="stable")))

    def _raws(
        self, parquet: ParquetColumns, batch: pa.RecordBatch, lines: Sequence[int]
    ) -> Iterator[Row | BadRow]:
        try:
            yield from map(self._interpreter.row, parquet.raws(batch, lines))
        except _NO_VALUE as error:
            if len(lines) == 1:
                yield BadRow(lines[0], f"it cannot be read: {error}")
                return
            for i, line in enumerate(lines):
                yield from self._raws(parquet, batch.slice(i, 1), [line])

    def _counted(self, table: pa.Table) -> pa.Table:
        self.report.rows += table.num_rows
        return table

    def _read(self, rows: Iterable[Row | BadRow]) -> pa.Table:
        lines: list[int] = []
        values: list[bytes] = []
        for row in rows:
            value = row if isinstance(row, BadRow) else self._value(row)
            if isinstance(value, BadRow):
                self.report.leave_out(value)
            else:
                lines.append(row.line)
                values.append(value)
        parsed = self._parser.parse(pa.array(values, pa.binary()))
        for reject in parsed.rejects:
            self.report.leave_out(BadRow(lines[reject.row], reject.detail))
        return self._table(parsed.columns, np.array(lines, np.int64)[parsed.rows])

    def _table(self, columns: dict[str, pa.Array], lines: Int64Array) -> pa.Table:
        files = np.full(len(lines), self._number, np.int32)
        return pa.table({**columns, FILE: files, LINE: lines})

    def _value(self, row: Row) -> bytes | BadRow:
        declared = {name: value for name, value in row.data.items() if self._declares(name)}
        try:
            return _ENCODER.encode(declared)
        except _NO_JSON as error:
            return BadRow(row.line, f"it is no JSON: {error}")

    def _declares(self, name: str) -> bool:
        known = self._is_declared.get(name)
        if known is None:
            known = self._is_declared[name] = self._event_type.find(name) is not None
        return known
