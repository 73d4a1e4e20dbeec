"""The body of a record batch as a stream of bytes, unfolded piece by piece."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable, Mapping
from typing import BinaryIO, Final, cast

import lz4.frame
import zstandard

from tripline_contracts.record_batches.batch import Codec, RecordBatch
from tripline_contracts.record_batches.snappy_stream import SnappyStream

BROKEN: Final = (OSError, ValueError, RuntimeError, zstandard.ZstdError)
"""What the libraries raise for a body that is not what its header says."""

_BUFFER_BYTES: Final = 1 << 16
_LARGEST_WINDOW: Final = 1 << 27
"""Bytes that zstd may look back: what Kafka's own clients take."""
_GZIP: Final = 16 + zlib.MAX_WBITS


class GzipStream(io.RawIOBase):
    """Unfolds gzip, members one after another."""

    def __init__(self, body: memoryview) -> None:
        self._left = bytes(body)
        self._member = zlib.decompressobj(_GZIP)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # as io.BufferedReader calls it
        while True:
            if self._member.eof:
                self._left = self._member.unused_data
                if not self._left:
                    return 0
                self._member = zlib.decompressobj(_GZIP)
            try:
                data = self._member.decompress(self._left, len(buffer))
            except zlib.error as error:
                raise ValueError(str(error)) from error
            self._left = self._member.unconsumed_tail
            if data:
                buffer[: len(data)] = data
                return len(data)
            if not self._member.eof:
                return 0  # it ends before it should: whoever reads on sees that


class Lz4Stream(io.RawIOBase):
    """Unfolds frames of lz4, one after another."""

    def __init__(self, body: memoryview) -> None:
        self._left = bytes(body)
        self._frame = lz4.frame.LZ4FrameDecompressor()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # as io.BufferedReader calls it
        while True:
            if self._frame.eof:
                self._left = self._frame.unused_data or b""
                self._frame = lz4.frame.LZ4FrameDecompressor()
            if not self._left and self._frame.needs_input:
                return 0
            data, self._left = self._frame.decompress(self._left, len(buffer)), b""
            if data:
                buffer[: len(data)] = data
                return len(data)


def _zstd(body: memoryview) -> io.RawIOBase:
    unfolding = zstandard.ZstdDecompressor(max_window_size=_LARGEST_WINDOW)
    return cast("io.RawIOBase", unfolding.stream_reader(bytes(body), read_across_frames=True))


_UNFOLD: Final[Mapping[Codec, Callable[[memoryview], io.RawIOBase]]] = {
    Codec.GZIP: GzipStream,
    Codec.SNAPPY: SnappyStream,
    Codec.LZ4: Lz4Stream,
    Codec.ZSTD: _zstd,
}


def opened(batch: RecordBatch) -> BinaryIO:
    """The records of a batch; reading raises one of BROKEN where the body is no such stream."""
    if batch.codec is Codec.NONE:
        return io.BytesIO(batch.body)
    return cast("BinaryIO", io.BufferedReader(_UNFOLD[batch.codec](batch.body), _BUFFER_BYTES))


def is_longer(batch: RecordBatch, limit: int) -> bool:
    """Whether a batch unfolds to more than so many bytes; a broken one does not. Unfolds no more than that."""
    if batch.codec is Codec.NONE:
        return len(batch.body) > limit
    left = limit
    try:
        stream = opened(batch)
        while left >= 0:
            read = len(stream.read(_BUFFER_BYTES))
            if not read:
                return False
            left -= read
    except BROKEN:
        return False
    return True
