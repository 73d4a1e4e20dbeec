"""Lines of a text file as bytes: ended by LF, CRLF or CR alone, each bounded in length."""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Iterable, Iterator
from typing import IO, Final

from tripline_contracts.errors import CutOff
from tripline_contracts.recordings.compression import Unpacked

MAX_LINE_BYTES: Final = 65_536
BOM: Final = b"\xef\xbb\xbf"
_CHUNK: Final = 1 << 16

Numbered = tuple[int, bytes]
"""The number of a line, from 1, and its bytes with their end."""


class _Stream(io.RawIOBase):
    """What io's readers take."""

    def __init__(self, file: Unpacked) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def buffered(file: Unpacked) -> io.BufferedReader:
    """The file with `peek`."""
    return io.BufferedReader(_Stream(file), _CHUNK)


def split(file: io.BufferedReader | IO[bytes]) -> Iterator[bytes]:
    """The lines with their ends, the first without a byte order mark; raises CutOff where the file is.

    Of a line that is longer than MAX_LINE_BYTES only the beginning comes, still too long, so that it is refused.
    """
    # Latin-1 has a character for each byte, so io's universal line ends serve bytes of any encoding like it
    text = io.TextIOWrapper(file, encoding="latin-1", newline="")
    first = True
    while line := text.readline(MAX_LINE_BYTES + 1):
        rest = line
        while len(rest) > MAX_LINE_BYTES and not rest.endswith(("\n", "\r")):
            rest = text.readline(MAX_LINE_BYTES + 1)
        raw = line.encode("latin-1")
        yield raw.removeprefix(BOM) if first else raw
        first = False


class Lines:
    """Numbered lines that can be looked at before they are taken, and given back."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._lines = iter(lines)
        self._ahead: deque[Numbered] = deque()
        self._read = 0
        self._cut: CutOff | None = None

    def peek(self, count: int) -> list[Numbered]:
        """The next lines, as many as there are."""
        while len(self._ahead) < count and self._cut is None:
            try:
                raw = next(self._lines, None)
            except CutOff as error:
                self._cut = error
                break
            if raw is None:
                break
            self._read += 1
            self._ahead.append((self._read, raw))
        return [self._ahead[index] for index in range(min(count, len(self._ahead)))]

    def next(self) -> Numbered | None:
        """The next line; None at the end. Raises CutOff where the file is."""
        self.peek(1)
        if self._ahead:
            return self._ahead.popleft()
        if self._cut is not None:
            raise self._cut
        return None

    def give_back(self, lines: list[Numbered]) -> None:
        """They come again, in this order."""
        self._ahead.extendleft(reversed(lines))

    @property
    def line(self) -> int:
        """The number of the next line."""
        return self._ahead[0][0] if self._ahead else self._read + 1
