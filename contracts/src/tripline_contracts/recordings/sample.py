"""The first rows of a file, under the names of its columns, for who proposes a mapping."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import IO, Final

from tripline_contracts.errors import UnreadableFile
from tripline_contracts.event_type import EventType
from tripline_contracts.recordings.compression import head_of, unpacked
from tripline_contracts.recordings.csv_dialect import cells_of, delimiter_of
from tripline_contracts.recordings.file_mapping import Columns, FieldMapping, FileMapping, Format
from tripline_contracts.recordings.json_rows import JsonArray, json_lines
from tripline_contracts.recordings.lines import Lines, buffered, split
from tripline_contracts.recordings.recording import PARQUET, ParquetReader, recognised
from tripline_contracts.recordings.rows import BadRow, Raw

ROWS: Final = 200


@dataclass(frozen=True, slots=True)
class Sample:
    """The beginning of a file.

    :ivar names: of the columns, in order; of JSON also those of members of members
    :ivar is_utf_8: its lines are
    """

    format: Format
    names: tuple[str, ...]
    rows: tuple[Mapping[str, object], ...]
    is_utf_8: bool = True

    def values(self, name: str) -> list[object]:
        """Of that column, without those that are nothing."""
        return [value for row in self.rows if (value := row.get(name)) not in (None, "")]


def sample_of(
    file: IO[bytes], event_type: EventType, known: Iterable[str], parquet: ParquetReader | None = None
) -> Sample:
    """The first rows. `known`: names that a header may have. Raises UnreadableFile; so for a file without a header."""
    if head_of(file).startswith(PARQUET):
        if parquet is None:
            raise UnreadableFile("the file is Parquet, which is not read here")
        return _parquet(file, event_type, parquet)
    stream = buffered(unpacked(file))
    form = recognised(stream)
    if form == "json-array":
        return _json(form, JsonArray(stream))
    if form == "json-lines":
        return _json(form, json_lines(Lines(split(stream))))
    return _csv(Lines(split(stream)), list(known))


def _parquet(file: IO[bytes], event_type: EventType, parquet: ParquetReader) -> Sample:
    _, names = parquet(file, event_type, FileMapping({}))
    file.seek(0)
    every = FileMapping({name: FieldMapping(Columns((name,))) for name in names})
    rows, _ = parquet(file, event_type, every)
    return Sample("parquet", names, _cells(rows))


def _json(form: Format, rows: Iterable[Raw | BadRow]) -> Sample:
    flat = tuple(dict(_flattened(cells, "")) for cells in _cells(rows))
    return Sample(form, tuple(dict.fromkeys(name for row in flat for name in row)), flat)


def _cells(rows: Iterable[Raw | BadRow]) -> tuple[Mapping[str, object], ...]:
    return tuple(row.cells for row in islice(rows, ROWS) if isinstance(row, Raw))


def _flattened(cells: Mapping[str, object], prefix: str) -> Iterable[tuple[str, object]]:
    for name, value in cells.items():
        if isinstance(value, Mapping) and prefix.count(".") < 3:
            yield from _flattened(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _csv(lines: Lines, known: list[str]) -> Sample:
    raw = [line for _, line in lines.peek(ROWS) if line.strip()]
    is_utf_8 = True
    try:
        texts = [line.decode("utf-8").strip("\r\n") for line in raw]
    except UnicodeDecodeError:
        is_utf_8, texts = False, [line.decode("latin-1").strip("\r\n") for line in raw]
    if texts and len(texts[0]) == 5 and texts[0].lower().startswith("sep="):
        delimiter = texts.pop(0)[-1]
    else:
        delimiter = delimiter_of(texts, known)
    table = [cells for text in texts if (cells := _quietly(text, delimiter))]
    if not table or not _is_header(table[0]):
        raise UnreadableFile(
            "the first row is no header, so that nothing says what the columns are; a mapping reads them by `position`"
        )
    names = tuple(name for name in table[0] if name)
    rows = tuple(
        dict(zip(table[0], cells, strict=True)) for cells in table[1:] if len(cells) == len(table[0])
    )
    return Sample("csv", names, rows, is_utf_8)


def _quietly(text: str, delimiter: str) -> list[str]:
    try:
        return cells_of(text, delimiter)
    except csv.Error:
        return []


def _is_header(cells: list[str]) -> bool:
    """Names are there once, and no numbers."""
    names = [cell for cell in cells if cell]
    return len(set(names)) == len(names) > 0 and not any(
        name[0].isdigit() or name[0] in "+-." for name in names
    )
