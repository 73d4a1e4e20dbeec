"""A record batch of message format 2: its header, and the body as it is stored."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from tripline_contracts.errors import UnreadableBatch

_PREFIX: Final = struct.Struct(">qi")
"""Base offset, and the length of all that follows."""
_HEADER: Final = struct.Struct(">qiibIhiqqqhii")
_MAGIC_AT: Final = 16
_MAGIC: Final = 2
_CODEC, _APPEND_TIME, _TRANSACTIONAL, _CONTROL = 0x07, 0x08, 0x10, 0x20


class Codec(IntEnum):
    """How a body is compressed."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


@dataclass(frozen=True, slots=True)
class RecordBatch:
    """One batch. `until` is exclusive; offsets in between may be missing. Times in ms.

    :ivar max_time: the latest time of its records, as the broker has it
    :ivar append_time: the broker's time, which then is that of every record; None where they have their own
    :ivar body: the records, compressed by `codec`
    """

    first: int
    until: int
    codec: Codec
    base_time: int
    max_time: int
    append_time: int | None
    producer: int
    is_transactional: bool
    is_control: bool
    count: int
    body: memoryview


def split(data: memoryview) -> Iterator[RecordBatch]:
    """The whole batches of a fetch response; a broker cuts off the last one where its answer is full.

    Raises UnreadableBatch.
    """
    start = 0
    while start + _HEADER.size <= len(data):
        first, length = _PREFIX.unpack_from(data, start)
        end = start + _PREFIX.size + length
        if data[start + _MAGIC_AT] != _MAGIC:
            raise UnreadableBatch(
                f"offset {first}: message format {data[start + _MAGIC_AT]}, expected {_MAGIC}"
            )
        if length < _HEADER.size - _PREFIX.size:
            raise UnreadableBatch(f"offset {first}: a batch of {length} bytes")
        if end > len(data):
            return
        yield _batch(data[start:end])
        start = end


def _batch(data: memoryview) -> RecordBatch:
    (first, _, _, _, _, attributes, last, base_time, max_time, producer, _, _, count) = _HEADER.unpack_from(
        data
    )
    codec = attributes & _CODEC
    if codec not in iter(Codec):
        raise UnreadableBatch(f"offset {first}: compressed by codec {codec}, which is none")
    return RecordBatch(
        first=first,
        until=first + last + 1,
        codec=Codec(codec),
        base_time=base_time,
        max_time=max_time,
        append_time=max_time if attributes & _APPEND_TIME else None,
        producer=producer,
        is_transactional=bool(attributes & _TRANSACTIONAL),
        is_control=bool(attributes & _CONTROL),
        count=count,
        body=data[_HEADER.size :],
    )
