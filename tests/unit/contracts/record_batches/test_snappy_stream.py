"""Snappy, written by Arrow, read by our own."""

from __future__ import annotations

import io
import struct

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripline_contracts.record_batches.snappy_stream import SnappyStream, unfolded

# what repeats itself, near and far, and what does not
payloads = st.lists(st.binary(min_size=1, max_size=80), min_size=1, max_size=6).flatmap(
    lambda pieces: st.lists(st.sampled_from(pieces), max_size=2_000).map(b"".join)
)


def folded(data: bytes) -> bytes:
    return bytes(pa.Codec("snappy").compress(data, asbytes=True))


@given(payloads)
def test_a_block_comes_back(data: bytes) -> None:
    assert unfolded(folded(data)) == data


@given(st.lists(payloads, max_size=3))
def test_the_frame_of_snappy_java(pieces: list[bytes]) -> None:
    blocks = b"".join(struct.pack(">i", len(block)) + block for block in map(folded, pieces))
    frame = b"\x82SNAPPY\x00" + struct.pack(">ii", 1, 1) + blocks
    assert io.BufferedReader(SnappyStream(memoryview(frame)), 100).read() == b"".join(pieces)


@pytest.mark.parametrize(
    "block", [b"", b"\x05", b"\x05\x00a", b"\x05\x01\x01", b"\x05\x00a\x01\x09", b"\x05\xf0", b"\x80" * 20]
)
def test_a_broken_block_is_refused(block: bytes) -> None:
    with pytest.raises(ValueError, match="snappy"):
        unfolded(block)
