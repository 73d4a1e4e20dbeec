"""The body of a record batch as a stream of bytes, unfolded piece by piece."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable, Mapping
from typing import BinaryIO, Final, cast

from tripline_contracts.errors import UnreadableBatch
from tripline_contracts.record_batches.batch import Codec, RecordBatch
from tripline_contracts.record_batches.snappy_stream import SnappyStream

Unfold = Callable[[memoryview], io.RawIOBase]
"""Opens a compressed body. What it gives has bounded memory, and raises OSError or ValueError where it is broken."""

_BUFFER_BYTES: Final = 1 << 16
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


# zstd and lz4 are in no standard library of the Pythons that are supported: whoever has a library hands it in
_UNFOLD: Final[Mapping[Codec, Unfold]] = {Codec.GZIP: GzipStream, Codec.SNAPPY: SnappyStream}


def opened(batch: RecordBatch, more: Mapping[Codec, Unfold]) -> BinaryIO:
    """The records of a batch. Raises UnreadableBatch where nobody can unfold it.

    :param more: codecs that the caller brings
    """
    if batch.codec is Codec.NONE:
        return io.BytesIO(batch.body)
    unfold = {**_UNFOLD, **more}.get(batch.codec)
    if unfold is None:
        raise UnreadableBatch(f"offset {batch.first}: nothing here unfolds {batch.codec.name.lower()}")
    return cast("BinaryIO", io.BufferedReader(unfold(batch.body), _BUFFER_BYTES))


def is_longer(batch: RecordBatch, limit: int, more: Mapping[Codec, Unfold]) -> bool:
    """Whether a batch unfolds to more than so many bytes; a broken one does not. Unfolds no more than that."""
    if batch.codec is Codec.NONE:
        return len(batch.body) > limit
    left = limit
    try:
        stream = opened(batch, more)
        while left >= 0:
            read = len(stream.read(_BUFFER_BYTES))
            if not read:
                return False
            left -= read
    except (OSError, ValueError):
        return False
    return True
