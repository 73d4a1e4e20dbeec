"""Recordings: files of transactions in whatever form, opened, and read row by row.

    bytes ─ unpack ─▶ CSV, JSON lines, JSON array, Parquet ─▶ cells ─ mapping ─▶ fields of the event type

A file that cannot be read at all is refused with a sentence; a row that cannot be read is told with line and reason.
Nothing is guessed: what may mean two things is refused until a mapping says which.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Final

from tripline_contracts.errors import UnreadableFile
from tripline_contracts.event_type import EventType
from tripline_contracts.recordings.compression import head_of, unpacked
from tripline_contracts.recordings.csv_rows import CsvRows
from tripline_contracts.recordings.file_mapping import FileMapping, Format
from tripline_contracts.recordings.interpreter import HouseInterpreter, Interpreter, MappedInterpreter
from tripline_contracts.recordings.json_rows import JsonArray, json_lines
from tripline_contracts.recordings.lines import BOM, Lines, buffered, split
from tripline_contracts.recordings.rows import BadRow, Raw, Row

PARQUET: Final = b"PAR1"
_HEAD: Final = 4_096

Columned = tuple[Iterable[Raw | BadRow], tuple[str, ...]]
ParquetReader = Callable[[IO[bytes], EventType, FileMapping | None], Columned]
"""Opens a Parquet file: its rows, by the columns that are read, and the names of those that are not."""


class Recording:
    """An opened file; its rows can be read once.

    :ivar form: told or recognised
    :ivar unused: columns that nothing is read from; of JSON, whose objects need not be alike, none is told
    """

    def __init__(
        self,
        form: Format,
        rows: Iterable[Raw | BadRow],
        interpreter: Interpreter,
        unused: tuple[str, ...] = (),
    ) -> None:
        self.form, self.unused = form, unused
        self._rows, self._interpreter = rows, interpreter

    def rows(self) -> Iterator[Row | BadRow]:
        """Every row, and every line that is none, in the order of the file."""
        for raw in self._rows:
            yield raw if isinstance(raw, BadRow) else self._interpreter.row(raw)


def open_recording(
    file: IO[bytes],
    event_type: EventType,
    mapping: FileMapping | None = None,
    *,
    form: Format | None = None,
    parquet: ParquetReader | None = None,
) -> Recording:
    """Opens a file that can be sought in. Without a mapping it has the fields' names (HouseInterpreter says more).

    `form` is for who knows the format, if the mapping does not say it. Raises UnreadableFile.
    """
    told = (mapping.format if mapping is not None else None) or form
    interpreter: Interpreter = (
        HouseInterpreter(event_type) if mapping is None else MappedInterpreter(event_type, mapping)
    )
    if head_of(file).startswith(PARQUET):
        return _parquet(file, event_type, mapping, told, interpreter, parquet)
    stream = buffered(unpacked(file))
    form_of_file = told or recognised(stream)
    if mapping is not None and mapping.positions and form_of_file != "csv":
        raise UnreadableFile(
            f"the mapping reads columns by position, and {form_of_file} has names; expected `column`"
        )
    match form_of_file:
        case "csv":
            rows = CsvRows(Lines(split(stream)), event_type, mapping)
            return Recording("csv", rows, interpreter, rows.layout.unused)
        case "json-lines":
            return Recording("json-lines", json_lines(Lines(split(stream))), interpreter)
        case "json-array":
            return Recording("json-array", JsonArray(stream), interpreter)
        case "parquet":
            raise UnreadableFile("the file is no Parquet, which begins with PAR1, and is not packed")


def _parquet(
    file: IO[bytes],
    event_type: EventType,
    mapping: FileMapping | None,
    told: Format | None,
    interpreter: Interpreter,
    reader: ParquetReader | None,
) -> Recording:
    if told not in (None, "parquet"):
        raise UnreadableFile(f"the file is Parquet, and {told} was said")
    if reader is None:
        raise UnreadableFile("the file is Parquet, which is not read here")
    rows, unused = reader(file, event_type, mapping)
    return Recording("parquet", rows, interpreter, unused)


def recognised(stream: io.BufferedReader) -> Format:
    """The format of unpacked bytes by their beginning. Raises UnreadableFile for what is none of text."""
    head = stream.peek(_HEAD).removeprefix(BOM).lstrip()
    if head.startswith(PARQUET):
        raise UnreadableFile(
            "the file is Parquet inside of gzip or zstd; expected it unpacked, as it is packed itself"
        )
    if head.startswith(b"<"):
        raise UnreadableFile("the file is XML or HTML; expected CSV, JSON or Parquet")
    if head.startswith(b"["):
        return "json-array"
    return "json-lines" if head.startswith(b"{") else "csv"
