"""The first rows of a file, under the names of its columns, for who proposes a mapping."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import IO, Final

from tripline_contracts.errors import UnreadableFile
from tripline_contracts.event_type import EventType
from tripline_contracts.recordings.csv_dialect import DELIMITERS, cells_of, delimiter_of
from tripline_contracts.recordings.file_mapping import Columns, FieldMapping, FileMapping, Format
from tripline_contracts.recordings.json_rows import JsonArray, json_lines
from tripline_contracts.recordings.lines import Lines, buffered, split
from tripline_contracts.recordings.proposals.file_head import Head
from tripline_contracts.recordings.recording import ParquetReader
from tripline_contracts.recordings.rows import BadRow, Raw

ROWS: Final = 200
NULLS: Final = frozenset(("NULL", "null", "N/A", "n/a", "#N/A", "NaN", "nan", "\\N"))
"""What databases, spreadsheets and pandas write for nothing, and nobody is called: None, NA and - may be names."""
_INNER: Final = 3
"""Members of members of members have names."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The beginning of a file.

    :ivar names: of the columns, in order; of JSON also those of members of members; `1`, `2`, … where a header has none
    :ivar headings: what the header says of such a numbered column, if there is one
    :ivar by_position: the names are numbers
    :ivar has_header: the first row of CSV is one
    :ivar skipped: lines before the first row
    :ivar is_utf_8: its lines are
    :ivar nulls: texts that stand for no value
    """

    format: Format
    names: tuple[str, ...]
    rows: tuple[Mapping[str, object], ...]
    headings: Mapping[str, str] = field(default_factory=dict)
    by_position: bool = False
    has_header: bool = True
    delimiter: str | None = None
    skipped: int = 0
    is_utf_8: bool = True
    nulls: tuple[str, ...] = ()

    def values(self, name: str) -> list[object]:
        """Of that column, without those that are nothing."""
        return [value for row in self.rows if (value := row.get(name)) not in (None, "", *self.nulls)]

    def with_nulls(self, declared: Container[str]) -> Sample:
        """The same that knows which of its texts are words for nothing; those that are declared values are none."""
        texts = {
            value for row in self.rows for value in row.values() if isinstance(value, str) and value in NULLS
        }
        return replace(self, nulls=tuple(sorted(text for text in texts if text not in declared)))

    def heading(self, name: str) -> str:
        """What the file calls the column."""
        return self.headings.get(name, "") if self.by_position else name


def sample_of(head: Head, known: Iterable[str]) -> Sample:
    """The first rows. `known`: names that a header may have. Raises UnreadableFile where there is no row."""
    stream = buffered(head.opened())
    if head.format == "json-array":
        return _json(head.format, JsonArray(stream))
    if head.format == "json-lines":
        return _json(head.format, json_lines(Lines(split(stream))))
    return _csv(Lines(split(stream)), list(known))


def sample_of_parquet(file: IO[bytes], event_type: EventType, parquet: ParquetReader) -> Sample:
    """The same of Parquet. Raises UnreadableFile."""
    _, names = parquet(file, event_type, FileMapping({}))
    file.seek(0)
    every = FileMapping({name: FieldMapping(Columns((name,))) for name in names})
    rows, _ = parquet(file, event_type, every)
    return Sample("parquet", names, _cells(rows))


def _json(form: Format, rows: Iterable[Raw | BadRow]) -> Sample:
    flat = tuple(dict(_flattened(cells, "")) for cells in _cells(rows))
    names = tuple(dict.fromkeys(name for row in flat for name in row))
    if not names:
        raise UnreadableFile("none of the first lines is a JSON object with members")
    return Sample(form, names, flat)


def _cells(rows: Iterable[Raw | BadRow]) -> tuple[Mapping[str, object], ...]:
    return tuple(row.cells for row in islice(rows, ROWS) if isinstance(row, Raw))


def _flattened(cells: Mapping[str, object], prefix: str) -> Iterable[tuple[str, object]]:
    for name, value in cells.items():
        if isinstance(value, Mapping) and prefix.count(".") < _INNER:
            yield from _flattened(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _csv(lines: Lines, known: list[str]) -> Sample:
    numbered = [(number, line) for number, line in lines.peek(ROWS) if line.strip()]
    texts, is_utf_8 = _decoded([line for _, line in numbered])
    delimiter = ""
    if texts and len(texts[0]) == len("sep=,") and texts[0].lower().startswith("sep="):
        delimiter = texts.pop(0)[-1]
        numbered.pop(0)
    delimiter = delimiter or delimiter_of(texts, known)
    table = [
        (number, cells)
        for (number, _), text in zip(numbered, texts, strict=True)
        if (cells := _quietly(text, delimiter))
    ]
    if not table:
        raise UnreadableFile("the file has no row")
    titles = _titles([cells for _, cells in table])
    skipped = table[titles][0] - 1 if titles else 0
    return _tabled([cells for _, cells in table[titles:]], delimiter, skipped, is_utf_8=is_utf_8)


def _decoded(lines: list[bytes]) -> tuple[list[str], bool]:
    try:
        return [line.decode("utf-8").strip("\r\n") for line in lines], True
    except UnicodeDecodeError:
        return [line.decode("latin-1").strip("\r\n") for line in lines], False


def _titles(table: list[list[str]]) -> int:
    """Rows at the beginning that have less cells than most: titles, or remarks."""
    usual, _ = Counter(map(len, table)).most_common(1)[0]
    first = next(index for index, cells in enumerate(table) if len(cells) >= usual)
    return first if usual > 1 else 0


def _tabled(table: list[list[str]], delimiter: str, skipped: int, *, is_utf_8: bool) -> Sample:
    first = table[0]
    has_header = _is_header(first)
    by_position = not has_header or len({cell for cell in first if cell}) < sum(map(bool, first))
    columns = [str(number) for number in range(1, len(first) + 1)] if by_position else first
    return Sample(
        "csv",
        tuple(name for name in columns if name),
        tuple(
            dict(zip(columns, cells, strict=True))
            for cells in table[has_header:]
            if len(cells) == len(columns)
        ),
        dict(zip(columns, first, strict=True)) if by_position and has_header else {},
        by_position,
        has_header,
        delimiter if delimiter in DELIMITERS and len(first) > 1 else None,
        skipped,
        is_utf_8,
    )


def _quietly(text: str, delimiter: str) -> list[str]:
    try:
        return cells_of(text, delimiter)
    except csv.Error:
        return []


def _is_header(cells: list[str]) -> bool:
    """Names are no numbers."""
    names = [cell for cell in cells if cell]
    return bool(names) and not any(name[0].isdigit() or name[0] in "+-." for name in names)
