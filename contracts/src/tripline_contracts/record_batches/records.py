"""The records of a batch, one after another; of what is too long the beginning, its length and its hash."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

from tripline_contracts.errors import UnreadableBatch
from tripline_contracts.record_batches.batch import RecordBatch
from tripline_contracts.record_batches.unfolding import BROKEN, opened

_PIECE_BYTES: Final = 1 << 16
_MOST_HEADERS: Final = 10_000
_HEADER_BYTES: Final = 4 << 20
"""For every reader the same, whatever it keeps of a value: a header may decide how a record is judged."""
_LONGEST_VARINT: Final = 70
"""Bits, in groups of seven."""

Headers = tuple[tuple[bytes, bytes | None], ...]


@dataclass(frozen=True, slots=True)
class Cut:
    """What is known of a value of which only the beginning was kept: its true length and SHA-256."""

    length: int
    sha256: str


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """A record; `time` in ms, -1 where it has none. Names of headers as they came, UTF-8 or not.

    :ivar cut: None where `value` is whole
    """

    offset: int
    time: int
    key: bytes | None
    value: bytes | None
    headers: Headers
    cut: Cut | None


def records(batch: RecordBatch, keep: int) -> Iterator[StoredRecord]:
    """The records of a batch; none of a control batch. Raises UnreadableBatch.

    Memory: a few times `keep`, or of what is kept of headers, whatever the batch unfolds to.

    :param keep: bytes kept of a key and of a value; of all headers together 4 MiB are, and 10,000 of them
    """
    if batch.is_control:
        return
    fields = _Fields(opened(batch), batch.first)
    try:
        for _ in range(batch.count):
            yield _record(batch, fields, keep)
    except UnreadableBatch:
        raise
    except BROKEN as error:
        raise UnreadableBatch(f"offset {batch.first}: {error}") from error


def _record(batch: RecordBatch, fields: _Fields, keep: int) -> StoredRecord:
    fields.varint()  # its length in bytes: all of it is walked
    fields.exactly(1)  # attributes, of which none is in use
    time, offset = batch.base_time + fields.varint(), batch.first + fields.varint()
    key, _ = fields.text(fields.varint(), keep)
    value, cut = fields.text(fields.varint(), keep)
    return StoredRecord(
        offset=offset,
        time=time if batch.append_time is None else batch.append_time,
        key=key,
        value=value,
        headers=tuple(_headers(fields)),
        cut=cut,
    )


def _headers(fields: _Fields) -> Iterator[tuple[bytes, bytes | None]]:
    left = _HEADER_BYTES
    for number in range(fields.varint()):
        kept = number < _MOST_HEADERS and left > 0
        name, _ = fields.text(fields.varint(), left if kept else 0)
        left -= len(name or b"")
        data, _ = fields.text(fields.varint(), left if kept else 0)
        left -= len(data or b"")
        if kept:
            yield name or b"", data


class _Fields:
    """Reads the parts of records off a stream."""

    def __init__(self, stream: BinaryIO, first: int) -> None:
        self._read, self._first = stream.read, first

    def varint(self) -> int:
        """A signed integer in zigzag encoding, of any length up to 64 bits."""
        read, value, shift = self._read, 0, 0
        while shift < _LONGEST_VARINT:
            byte = read(1)
            if not byte:
                raise self._ends()
            value |= (byte[0] & 0x7F) << shift
            if byte[0] < 0x80:
                return (value >> 1) ^ -(value & 1)
            shift += 7
        raise UnreadableBatch(f"offset {self._first}: a number of more than 64 bits")

    def exactly(self, length: int) -> bytes:
        """So many bytes."""
        data = self._read(length)
        if len(data) < length:
            raise self._ends()
        return data

    def text(self, length: int, keep: int) -> tuple[bytes | None, Cut | None]:
        """Bytes of that length, or their beginning; None for a negative length."""
        if length < 0:
            return None, None
        if length <= keep:
            return self.exactly(length), None
        beginning = self.exactly(keep)
        digest, left = hashlib.sha256(beginning), length - keep
        while left:
            piece = self.exactly(min(left, _PIECE_BYTES))
            digest.update(piece)
            left -= len(piece)
        return beginning, Cut(length, digest.hexdigest())

    def _ends(self) -> UnreadableBatch:
        return UnreadableBatch(f"offset {self._first}: the batch ends within a record")
