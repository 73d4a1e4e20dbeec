"""Record batches made by hand, byte by byte from Kafka's format, and what is read of them."""

from __future__ import annotations

import gzip
import hashlib
import struct
from itertools import count

import lz4.frame
import pyarrow as pa
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from tripline_contracts.errors import UnreadableBatch
from tripline_contracts.record_batches.batch import Codec, RecordBatch, split
from tripline_contracts.record_batches.records import Cut, StoredRecord, records
from tripline_contracts.record_batches.unfolding import is_longer

FIRST, TIME = 40, 1_763_690_000_000
APPEND_TIME, CONTROL = 0x08, 0x20
KEEP = 1_000


def varint(number: int) -> bytes:
    rest, out = (number << 1) ^ (number >> 63), bytearray()
    while rest >= 0x80:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    return bytes([*out, rest])


def text(value: bytes | None) -> bytes:
    return varint(-1) if value is None else varint(len(value)) + value


def stored(record: StoredRecord) -> bytes:
    headers = b"".join(text(name) + text(value) for name, value in record.headers)
    fields = (
        b"\x00" + varint(record.time - TIME) + varint(record.offset - FIRST) + text(record.key)
        + text(record.value) + varint(len(record.headers)) + headers
    )  # fmt: skip
    return varint(len(fields)) + fields


def batch(body: bytes, count: int, attributes: int = 0, magic: int = 2) -> bytes:
    rest = struct.pack(
        ">ibIhiqqqhii", 0, magic, 0, attributes, 9, TIME, TIME + 77, -1, -1, -1, count
    )  # fmt: skip
    return struct.pack(">qi", FIRST, len(rest) + len(body)) + rest + body


def only(data: bytes) -> RecordBatch:
    (payload,) = split(memoryview(data))
    return payload


texts = st.none() | st.binary(max_size=200)
some_records = st.lists(
    st.builds(
        StoredRecord,
        offset=st.integers(FIRST, FIRST + 2**31 - 1),
        time=st.integers(0, 2**45),
        key=texts,
        value=texts,
        headers=st.lists(st.tuples(st.binary(max_size=20), texts), max_size=3).map(tuple),
        cut=st.none(),
    ),
    max_size=5,
)


def folded(body: bytes, codec: Codec) -> bytes:
    match codec:
        case Codec.GZIP:
            return gzip.compress(body, mtime=0)
        case Codec.ZSTD:
            return zstandard.compress(body)
        case Codec.LZ4:
            return bytes(lz4.frame.compress(body))
        case Codec.SNAPPY:
            return bytes(pa.Codec("snappy").compress(body, asbytes=True))
        case Codec.NONE:
            return body


@given(written=some_records, codec=st.sampled_from(Codec))
def test_records_come_back(written: list[StoredRecord], codec: Codec) -> None:
    body = b"".join(map(stored, written))
    assert list(records(only(batch(folded(body, codec), len(written), codec)), KEEP)) == written


def test_of_a_long_value_the_beginning_its_length_and_its_hash() -> None:
    value = bytes(range(256)) * 1_000
    headers = ((b"h", b"x" * (4 << 20)), (b"i", b"y"))
    behind = StoredRecord(FIRST + 1, TIME, b"k" * 5_000, b"v", headers, None)
    body = stored(StoredRecord(FIRST, TIME, None, value, (), None)) + stored(behind)
    cut, after = records(only(batch(gzip.compress(body, mtime=0), 2, Codec.GZIP)), KEEP)
    assert (cut.value, cut.cut) == (value[:KEEP], Cut(len(value), hashlib.sha256(value).hexdigest()))
    assert (after.offset, after.value, after.cut) == (FIRST + 1, b"v", None)
    assert after.key == b"k" * KEEP
    assert after.headers == ((b"h", b"x" * ((4 << 20) - 1)),)


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.LZ4, Codec.ZSTD])
def test_several_streams_one_after_another(codec: Codec) -> None:
    body = stored(StoredRecord(FIRST, TIME, b"k", b"v" * 100, (), None))
    pieces = b"".join(folded(body[n : n + 7], codec) for n in range(0, len(body), 7))
    (record,) = records(only(batch(pieces, 1, codec)), KEEP)
    assert record.value == b"v" * 100


def test_the_brokers_time_is_every_records_time() -> None:
    body = stored(StoredRecord(FIRST, TIME, None, b"v", (), None))
    (record,) = records(only(batch(body, 1, APPEND_TIME)), KEEP)
    assert record.time == TIME + 77


def test_control_batches_have_no_records() -> None:
    assert list(records(only(batch(b"\x00", 1, CONTROL)), KEEP)) == []


def test_a_batch_that_is_cut_off_is_not_there() -> None:
    whole = batch(stored(StoredRecord(FIRST, TIME, None, b"v", (), None)), 1)
    assert len(list(split(memoryview(whole + whole[:-1])))) == 1
    assert len(list(split(memoryview(whole + whole[:30])))) == 1


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (batch(b"", 1), "ends within a record"),
        (batch(b"\x01", 2**31 - 1), "ends within a record"),
        (batch(b"\xff" * 11, 1), "more than 64 bits"),
        (batch(varint(9) + b"\x00" * 3 + text(b"k") + varint(2**40) + b"v", 1), "ends within a record"),
        (batch(b"no gzip", 1, Codec.GZIP), "incorrect header"),
        (batch(gzip.compress(b"\x01" * 10_000, mtime=0)[:-30], 9, Codec.GZIP), "offset 40"),
        (batch(b"\x05\x00ab", 1, Codec.SNAPPY), "snappy"),
        (batch(b"no zstd", 1, Codec.ZSTD), "offset 40"),
        (batch(zstandard.compress(b"\x01" * 10_000)[:-3], 9, Codec.ZSTD), "offset 40"),
        (batch(b"no lz4", 1, Codec.LZ4), "offset 40"),
        (batch(lz4.frame.compress(bytes(range(256)) * 99)[:-9], 9, Codec.LZ4), "offset 40"),
    ],
    ids=count(),
)
def test_a_broken_batch_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(UnreadableBatch, match=said):
        list(records(only(data), KEEP))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (batch(b"", 0, magic=1), "message format 1"),
        (batch(b"", 0, attributes=7), "codec 7"),
        (struct.pack(">qi", FIRST, 5) + b"\x00\x00\x00\x00\x02" + bytes(50), "a batch of 5 bytes"),
    ],
    ids=count(),
)
def test_what_is_no_batch_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(UnreadableBatch, match=said):
        list(split(memoryview(data)))


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.LZ4, Codec.ZSTD, Codec.SNAPPY])
def test_what_it_unfolds_to(codec: Codec) -> None:
    large = only(batch(folded(b"x" * 1_000_000, codec), 1, codec))
    assert is_longer(large, 999_999)
    assert not is_longer(large, 1_000_000)
    assert not is_longer(only(batch(b"nothing of the kind", 1, codec)), 0)


def test_what_is_not_compressed_is_as_long_as_it_is() -> None:
    assert is_longer(only(batch(b"abc", 1)), 2)
    assert not is_longer(only(batch(b"abc", 1)), 3)
