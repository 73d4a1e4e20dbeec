"""Snappy as Kafka's clients write it: blocks in the frame of snappy-java, or one block without a frame.

A block says its length first, and no byte of it stands for more than 22: it cannot unfold without measure. Format:
https://github.com/google/snappy/blob/main/format_description.txt
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from typing import Final

_FRAME: Final = b"\x82SNAPPY\x00"
_FRAME_BYTES: Final = 16
"""The frame's magic and two versions."""
_LENGTH: Final = struct.Struct(">i")
_LITERAL, _COPY_1, _COPY_2 = 0, 1, 2
_IN_TAG: Final = 60
"""Lengths of literals up to here are in the tag itself."""


class SnappyStream(io.RawIOBase):
    """Unfolds block by block."""

    def __init__(self, body: memoryview) -> None:
        self._blocks, self._block = _blocks(bytes(body)), b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # as io.BufferedReader calls it
        while not self._block:
            block = next(self._blocks, None)
            if block is None:
                return 0
            self._block = unfolded(block)
        count = min(len(buffer), len(self._block))
        buffer[:count], self._block = self._block[:count], self._block[count:]
        return count


def _blocks(body: bytes) -> Iterator[bytes]:
    if not body.startswith(_FRAME):
        yield body
        return
    start = _FRAME_BYTES
    while start + _LENGTH.size <= len(body):
        (length,) = _LENGTH.unpack_from(body, start)
        start += _LENGTH.size
        yield body[start : start + length]
        start += max(0, length)


def unfolded(block: bytes) -> bytes:
    """One block. Raises ValueError."""
    try:
        length, position = _varint(block)
        out = bytearray()
        while position < len(block):
            tag = block[position]
            position += 1
            if tag & 3 == _LITERAL:
                count, position = _literal(block, tag >> 2, position)
                out += block[position : position + count]
                position += count
            else:
                position = _copy(out, block, tag, position)
    except IndexError as error:
        raise ValueError("a block of snappy ends too soon") from error
    if len(out) != length:
        raise ValueError(f"a block of snappy has {len(out)} bytes, and says {length}")
    return bytes(out)


def _varint(block: bytes) -> tuple[int, int]:
    value = position = 0
    while True:
        byte = block[position]
        value |= (byte & 0x7F) << (7 * position)
        position += 1
        if byte < 0x80:
            return value, position


def _literal(block: bytes, length: int, position: int) -> tuple[int, int]:
    if length < _IN_TAG:
        return length + 1, position
    size = length - _IN_TAG + 1
    return int.from_bytes(block[position : position + size], "little") + 1, position + size


def _copy(out: bytearray, block: bytes, tag: int, position: int) -> int:
    if tag & 3 == _COPY_1:
        count, offset, size = ((tag >> 2) & 7) + 4, (tag >> 5) << 8 | block[position], 1
    else:
        size = 2 if tag & 3 == _COPY_2 else 4
        count, offset = (tag >> 2) + 1, int.from_bytes(block[position : position + size], "little")
    if not 0 < offset <= len(out):
        raise ValueError("a block of snappy copies from before its beginning")
    piece = out[-offset:][:count]
    # a copy may reach into what it writes
    out += (piece * (count // len(piece) + 1))[:count]
    return position + size
