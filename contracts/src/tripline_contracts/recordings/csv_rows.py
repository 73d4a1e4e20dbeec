"""CSV, row by row: a row that cannot be read costs its line alone, quotes that are never closed included."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import Final

from tripline_contracts.errors import CutOff
from tripline_contracts.event_type import EventType
from tripline_contracts.recordings.csv_dialect import (
    SAMPLE_LINES,
    Layout,
    cells_of,
    delimiter_of,
    house_layout,
    mapped_layout,
)
from tripline_contracts.recordings.file_mapping import Encoding, FileMapping
from tripline_contracts.recordings.lines import MAX_LINE_BYTES, Lines, Numbered
from tripline_contracts.recordings.rows import BadRow, Raw

_CODECS: Final[dict[Encoding, str]] = {"utf-8": "utf-8", "latin-1": "latin-1", "windows-1252": "cp1252"}
_NOT_UTF_8: Final = "not UTF-8; if it is Latin-1, the mapping has to say so (`encoding: latin-1`)"


class CsvRows:
    """The rows of a CSV file. Making it looks at the first lines, and raises UnreadableFile."""

    def __init__(self, lines: Lines, event_type: EventType, mapping: FileMapping | None) -> None:
        self._lines = lines
        self._encoding: Encoding = "utf-8" if mapping is None else mapping.encoding
        for _ in range(0 if mapping is None else mapping.skip_lines):
            lines.next()
        self._pass_over_empty()
        told = None if mapping is None else mapping.delimiter
        self._delimiter = told or self._told_by_a_spreadsheet() or self._recognised(event_type, mapping)
        first = self._first()
        self.layout: Layout = (
            house_layout(first, event_type) if mapping is None else mapped_layout(first, mapping)
        )
        if not self.layout.has_header and mapping is not None and not first:
            self.layout = mapped_layout(first, mapping)

    def __iter__(self) -> Iterator[Raw | BadRow]:
        if self.layout.has_header:
            self._lines.next()
        while True:
            try:
                line = self._lines.next()
            except CutOff as error:
                yield BadRow(self._lines.line, str(error))
                return
            if line is None:
                return
            if line[1].strip():
                yield self._row(line)

    def _row(self, line: Numbered) -> Raw | BadRow:
        number = line[0]
        try:
            text = self._decoded(line)
            cells = self._cells(text)
            if cells is None:
                joined = self._joined(line, text)
                if joined is None:
                    return BadRow(
                        number, "not CSV: a quote that is opened is not closed, or not before a delimiter"
                    )
                cells = joined
        except ValueError as error:
            return BadRow(number, str(error))
        layout = self.layout
        if len(cells) == layout.count + 1 and not cells[-1]:
            cells.pop()
        if not layout.least <= len(cells) <= layout.count:
            return BadRow(number, f"expected {_numbers(layout)} fields, found {len(cells)}")
        return Raw(number, {name: cells[index] for name, index in layout.used if index < len(cells)})

    def _cells(self, text: str) -> list[str] | None:
        try:
            return cells_of(text, self._delimiter)
        except csv.Error:
            return None

    def _joined(self, first: Numbered, text: str) -> list[str] | None:
        """The row that begins with a line and goes on over further ones; None, and they come again, if none does."""
        more: list[Numbered] = []
        size, quotes = len(first[1]), text.count('"')
        while quotes % 2 and size <= MAX_LINE_BYTES and (line := self._next_quietly()) is not None:
            more.append(line)
            size, quotes = size + len(line[1]), quotes + line[1].count(b'"')
        cells: list[str] | None = None
        if more and not quotes % 2:
            raw = first[1] + b"".join(line[1] for line in more)
            try:
                cells = self._cells(self._decoded((first[0], raw)))
            except ValueError:
                cells = None
        if cells is None or not self.layout.least <= len(cells) <= self.layout.count:
            self._lines.give_back(more)
            return None
        return cells

    def _next_quietly(self) -> Numbered | None:
        return self._lines.next() if self._lines.peek(1) else None

    def _decoded(self, line: Numbered) -> str:
        """Its text without the line's end. Raises ValueError with the reason."""
        if len(line[1]) > MAX_LINE_BYTES:
            raise ValueError(f"line: longer than {MAX_LINE_BYTES} bytes")
        try:
            return line[1].decode(_CODECS[self._encoding]).rstrip("\r\n")
        except UnicodeDecodeError:
            raise ValueError(_NOT_UTF_8 if self._encoding == "utf-8" else f"not {self._encoding}") from None

    def _pass_over_empty(self) -> None:
        while (ahead := self._lines.peek(1)) and not ahead[0][1].strip():
            self._lines.next()

    def _told_by_a_spreadsheet(self) -> str | None:
        """A first line `sep=;` says the delimiter and is no row."""
        ahead = self._lines.peek(1)
        line = ahead[0][1].strip(b"\r\n") if ahead else b""
        if not (line.lower().startswith(b"sep=") and len(line) == 5):
            return None
        self._lines.next()
        return line[4:].decode("latin-1")

    def _recognised(self, event_type: EventType, mapping: FileMapping | None) -> str:
        names = (
            [name for field in event_type.fields for name in field.names]
            if mapping is None
            else list(mapping.columns)
        )
        sample = [self._leniently(line) for _, line in self._lines.peek(SAMPLE_LINES) if line.strip()]
        return delimiter_of(sample, names)

    def _first(self) -> list[str]:
        ahead = self._lines.peek(1)
        if not ahead:
            return []
        text = self._leniently(ahead[0][1])
        return self._cells(text) or text.split(self._delimiter)

    def _leniently(self, line: bytes) -> str:
        return line[:MAX_LINE_BYTES].decode(_CODECS[self._encoding], errors="replace").strip("\r\n")


def _numbers(layout: Layout) -> str:
    return " or ".join(str(number) for number in range(layout.least, layout.count + 1))
