"""A file of transactions, in whatever form it was found: what can be read, and what cannot, by line and reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from tripline_contracts.errors import InvalidMapping, UnreadableFile
from tripline_contracts.event_type import EventType
from tripline_contracts.recordings.file_mapping import FileMapping
from tripline_contracts.recordings.mapping_reader import read_mapping
from tripline_contracts.recordings.parquet_rows import ParquetRows
from tripline_contracts.recordings.recording import open_recording
from tripline_contracts.recordings.rows import BadRow, Row
from tripline_engine.backtest.ordered.event_order import Happened
from tripline_engine.backtest.ordered.pieces import pieces
from tripline_engine.domain.transactions.parser import Parser
from tripline_engine.errors import EngineError

_PIECE: Final = 8_192
_LISTED: Final = 1_000
"""Rows that cannot be read are all counted, and so many of them listed."""

# numbers as numbers: a text is an id, and 1.5 is none
_ENCODER: Final = msgspec.json.Encoder(decimal_format="number")
_NO_JSON: Final = (TypeError, ValueError, OverflowError, RecursionError)


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
    transaction.
    """

    def __init__(self, number: int, file: Path, event_type: EventType, mapping: FileMapping | None) -> None:
        self._number, self._file, self._event_type, self._mapping = number, file, event_type, mapping
        self._parser, self._time = Parser(event_type), event_type.time_field.name
        self.report = FileReport(file.name)

    def transactions(self) -> Iterator[tuple[list[Happened], int]]:
        """Its transactions, in pieces in the order of the file, each with the bytes read so far.

        Raises UnreadableRecording.
        """
        try:
            with self._file.open("rb") as opened:
                yield from self._pieces(opened)
        except (UnreadableFile, OSError) as error:
            raise UnreadableRecording(f"--files: {self._file}: {error}") from error

    def _pieces(self, opened: IO[bytes]) -> Iterator[tuple[list[Happened], int]]:
        recording = open_recording(opened, self._event_type, self._mapping, parquet=ParquetRows(pa, pq))
        self.report.unused = recording.unused
        for rows in pieces(recording.rows(), _PIECE):
            yield self._read(rows), opened.tell()

    def _read(self, rows: Sequence[Row | BadRow]) -> list[Happened]:
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
        self.report.rows += len(parsed.rows)
        times = parsed.columns[self._time].to_pylist()
        return [
            Happened(event_time, event_time, self._number, lines[i], values[i])
            for i, event_time in zip(parsed.rows.tolist(), times, strict=True)
        ]

    def _value(self, row: Row) -> bytes | BadRow:
        declared = {
            name: value for name, value in row.data.items() if self._event_type.find(name) is not None
        }
        try:
            return _ENCODER.encode(declared)
        except _NO_JSON as error:
            return BadRow(row.line, f"it is no JSON: {error}")
