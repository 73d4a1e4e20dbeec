"""Gzip and zstd, recognised by their first bytes, and unpacked as the file is read."""

from __future__ import annotations

import gzip
import io
import zlib
from typing import IO, Final, Literal, Protocol

import zstandard

from tripline_contracts.errors import CutOff, UnreadableFile

Packing = Literal["gzip", "zstd"]

_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_REFUSED: Final = {
    b"PK\x03\x04": "a zip archive, as a spreadsheet is one; expected the file that is in it (CSV, say)",
    b"BZh": "packed by bzip2; expected gzip, zstd or nothing",
    b"\xfd7zXZ": "packed by xz; expected gzip, zstd or nothing",
    b"\xd0\xcf\x11\xe0": "a spreadsheet of an older kind; expected it saved as CSV",
    b"\xff\xfe": "text in UTF-16; expected UTF-8, or Latin-1 when told",
    b"\xfe\xff": "text in UTF-16; expected UTF-8, or Latin-1 when told",
}
_CHUNK: Final = 1 << 16


class Unpacked(Protocol):
    """What can be read from; `read` raises CutOff where the packed bytes end too early or are damaged."""

    def read(self, size: int, /) -> bytes:
        """Up to so many bytes; none at the end."""
        ...


def head_of(file: IO[bytes], size: int = 8) -> bytes:
    """The first bytes; the file stands at its beginning before and after."""
    head = file.read(size)
    file.seek(0)
    return head


def packing_of(head: bytes) -> Packing | None:
    """How a file of these first bytes is packed."""
    if head.startswith(_GZIP):
        return "gzip"
    return "zstd" if head.startswith(_ZSTD) else None


def unpacked(file: IO[bytes], piece: int = _CHUNK, window: int = 0) -> Unpacked:
    """The file's bytes, unpacked where they are packed. Raises UnreadableFile for what is no text at all.

    Of zstd a `piece` is unpacked at a time, which may come to 32,768 times as much, within a `window` (0: any): small
    ones are for who does not know whom a file is from.
    """
    head = head_of(file)
    for magic, reason in _REFUSED.items():
        if head.startswith(magic):
            raise UnreadableFile(f"the file is {reason}")
    match packing_of(head):
        case "gzip":
            return _Gzip(file)
        case "zstd":
            return _Zstd(file, piece, window)
        case None:
            return file


class _Gzip:
    def __init__(self, file: IO[bytes]) -> None:
        self._file = gzip.GzipFile(fileobj=file)

    def read(self, size: int, /) -> bytes:
        try:
            # read1 gives what there is before it says that the rest is missing
            return self._file.read1(size)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise CutOff(f"the gzip file is cut off or damaged here: {error}") from error


class _Zstd:
    """Frame by frame: zstandard's own reader takes a file that is cut off for one that ends."""

    def __init__(self, file: IO[bytes], piece: int, window: int) -> None:
        self._file, self._piece = file, piece
        self._unpacker = zstandard.ZstdDecompressor(max_window_size=window)
        self._frame = self._unpacker.decompressobj()
        self._begun = False
        self._ready = io.BytesIO()

    def read(self, size: int, /) -> bytes:
        while not (data := self._ready.read(size)):
            packed = self._frame.unused_data if self._frame.eof else b""
            packed = packed or self._file.read(self._piece)
            if not packed:
                if self._begun and not self._frame.eof:
                    raise CutOff("the zstd file is cut off here")
                return b""
            if self._frame.eof:
                self._frame = self._unpacker.decompressobj()
            self._begun = True
            try:
                self._ready = io.BytesIO(self._frame.decompress(packed))
            except zstandard.ZstdError as error:
                raise CutOff(f"the zstd file is damaged here: {error}") from error
        return data
