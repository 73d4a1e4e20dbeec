"""JSON lines, and the elements of a JSON array, one by one; a broken one costs itself alone."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Final

from tripline_contracts import exact_json
from tripline_contracts.errors import CutOff, InvalidJson
from tripline_contracts.recordings.lines import BOM, MAX_LINE_BYTES, Lines
from tripline_contracts.recordings.rows import BadRow, Raw

_CHUNK: Final = 1 << 16
_MARK: Final = re.compile(rb'["\[\]{},]')
_STRING: Final = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_CLOSED_BY: Final = {b"[": b"]", b"{": b"}"}
_LINE_END: Final = re.compile(rb"\r\n|\r|\n")


def json_lines(lines: Lines) -> Iterator[Raw | BadRow]:
    """One object a line; empty lines are passed over."""
    while True:
        try:
            line = lines.next()
        except CutOff as error:
            yield BadRow(lines.line, str(error))
            return
        if line is None:
            return
        number, raw = line
        if raw.strip():
            yield _object(number, raw)


def _object(line: int, raw: bytes) -> Raw | BadRow:
    if len(raw) > MAX_LINE_BYTES:
        return BadRow(line, f"line: longer than {MAX_LINE_BYTES} bytes")
    try:
        value = exact_json.loads(raw)
    except InvalidJson as error:
        return BadRow(line, str(error))
    if not isinstance(value, dict):
        return BadRow(line, "body: expected a JSON object with the fields of a transaction")
    return Raw(line, value)


class JsonArray:
    """The elements of one array, read as the file is."""

    def __init__(self, file: io.BufferedReader) -> None:
        self._file, self._buffer = file, b""
        self._line = 1

    def __iter__(self) -> Iterator[Raw | BadRow]:
        try:
            yield from self._elements()
        except CutOff as error:
            yield BadRow(self._line, str(error))

    def _elements(self) -> Iterator[Raw | BadRow]:
        start = self._begin()
        if start is not None:
            yield start
            return
        first = True
        while True:
            end = self._end_of_element()
            if isinstance(end, BadRow):
                yield end
                return
            element, mark = self._buffer[:end], self._buffer[end : end + 1]
            if element.strip() or mark == b"," or not first:
                yield self._element(element)
            first = False
            self._pass_over(end + 1)
            if mark == b"]":
                break
        rest = self._rest()
        if rest is not None:
            yield rest

    def _begin(self) -> BadRow | None:
        self._more()
        self._buffer = self._buffer.removeprefix(BOM)
        stripped = self._buffer.lstrip()
        if not stripped.startswith(b"["):
            return BadRow(1, "not a JSON array: it does not begin with [")
        self._pass_over(len(self._buffer) - len(stripped) + 1)
        return None

    def _end_of_element(self) -> int | BadRow:
        """Where the comma or bracket behind the next element stands in the buffer."""
        opened, position = b"", 0
        while True:
            match = _MARK.search(self._buffer, position)
            text = _STRING.match(self._buffer, match.start()) if match and match.group() == b'"' else None
            if match is None or (match.group() == b'"' and text is None):
                # more is needed, from the quote on that is not closed yet
                position = len(self._buffer) if match is None else match.start()
                if position > MAX_LINE_BYTES or len(self._buffer) > 2 * MAX_LINE_BYTES:
                    return self._broken(
                        f"an element is longer than {MAX_LINE_BYTES} bytes, or a quote is not closed"
                    )
                if not self._more():
                    return self._broken(
                        "the array is not closed: the file is cut off, or a quote is not closed"
                    )
                continue
            if text is not None:
                position = text.end()
                continue
            mark, position = match.group(), match.end()
            if not opened and mark in b",]":
                return match.start()
            if mark in _CLOSED_BY:
                opened += _CLOSED_BY[mark]
            elif mark in opened:
                # of an element that leaves brackets open those around it count: it costs itself alone
                opened = opened[: opened.rindex(mark)]
            elif mark != b",":
                return self._broken("a bracket is closed that was not opened")

    def _element(self, element: bytes) -> Raw | BadRow:
        stripped = element.lstrip()
        line = self._line + len(_LINE_END.findall(element[: len(element) - len(stripped)]))
        if not stripped:
            return BadRow(line, "not JSON: an element is missing before or behind a comma")
        return _object(line, stripped)

    def _broken(self, reason: str) -> BadRow:
        stripped = self._buffer.lstrip()
        skipped = len(_LINE_END.findall(self._buffer[: len(self._buffer) - len(stripped)]))
        return BadRow(self._line + skipped, f"nothing can be read from here on: {reason}")

    def _rest(self) -> BadRow | None:
        while not self._buffer.strip():
            self._pass_over(len(self._buffer))
            if not self._more():
                return None
        return self._broken("there is text behind the end of the array")

    def _pass_over(self, count: int) -> None:
        self._line += len(_LINE_END.findall(self._buffer[:count]))
        self._buffer = self._buffer[count:]

    def _more(self) -> bool:
        data = self._file.read1(_CHUNK)
        self._buffer += data
        return bool(data)
