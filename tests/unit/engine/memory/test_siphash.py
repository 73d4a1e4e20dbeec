"""SipHash-2-4-128 against the vectors that its authors publish."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripline_engine.domain.memory.siphash import hash_strings

KEY0, KEY1 = (int.from_bytes(bytes(range(first, first + 8)), "little") for first in (0, 8))


@pytest.mark.parametrize(
    ("length", "expected"),
    [
        (0, "a3817f04ba25a8e66df67214c7550293"),
        (1, "da87c1d86b99af44347659119b22fc45"),
        (2, "8177228da4a45dc7fca38bdef60affe4"),
    ],
)
def test_published_vectors(length: int, expected: str) -> None:
    data = np.arange(length, dtype=np.uint8)
    low, high = hash_strings(np.array([0, length], np.int32), data, KEY0, KEY1)
    assert (int(low[0]).to_bytes(8, "little") + int(high[0]).to_bytes(8, "little")).hex() == expected


def test_a_hash_depends_on_its_own_string_only() -> None:
    texts = [b"", b"a", b"12345678", b"123456789", b"x" * 64, b"a"]
    offsets = np.cumsum([0, *map(len, texts)]).astype(np.int32)
    low, high = hash_strings(offsets, np.frombuffer(b"".join(texts), np.uint8).copy(), 1, 2)
    assert (low[1], high[1]) == (low[5], high[5])
    assert len(set(zip(low.tolist(), high.tolist(), strict=True))) == 5


# Around the ends of a block, and of the longest text of a batch.
LENGTHS = st.sampled_from([0, 1, 7, 8, 9, 15, 16, 63, 64, 119, 120, 126, 127])
TEXTS = st.binary(max_size=40) | LENGTHS.flatmap(lambda length: st.binary(min_size=length, max_size=length))


@given(
    st.lists(TEXTS, min_size=40, max_size=100),
    st.sampled_from([b"", b"x" * 127, b"x" * 128, b"x" * 300]),
    st.binary(max_size=9),
)
def test_a_batch_has_the_hashes_of_its_strings_one_by_one(
    texts: list[bytes], last: bytes, behind: bytes
) -> None:
    texts = [*texts, last]
    offsets = np.cumsum([0, *map(len, texts)]).astype(np.int32)
    data = np.frombuffer(b"".join(texts) + behind, np.uint8)
    batch = hash_strings(offsets, data, 1, 2)
    alone = [hash_strings(offsets[i : i + 2], data, 1, 2) for i in range(len(texts))]
    assert [(low[0], high[0]) for low, high in alone] == list(zip(*batch, strict=True))
