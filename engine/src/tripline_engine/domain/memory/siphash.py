"""SipHash-2-4 with 128 bits of output: the identity of texts and groups.

A keyed hash, because whoever chooses the keys could otherwise choose ones that collide. The key is
random per engine and pinned in its checkpoint.

Source: J.-P. Aumasson, D. J. Bernstein, "SipHash: a fast short-input PRF", and the 128-bit output variant of
its reference implementation, whose published vectors the tests hold.

Each round depends on the one before, so short texts are hashed in batches, one in each lane of the processor's vectors
(SIMD):

    lane     0  1  2 …    one text each
    block 0  #  #  #      a lane whose text has no such block keeps its state
    block 1  #     #
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tripline_engine.domain.memory.array_types import (
    Int32Array,
    Key128,
    Offset,
    Uint8Array,
    Uint64Array,
    Word,
)
from tripline_engine.domain.memory.kernel import kernel, read_only

_U = np.uint64
_INIT0 = _U(0x736F6D6570736575)
_INIT1 = _U(0x646F72616E646F6D)
_INIT2 = _U(0x6C7967656E657261)
_INIT3 = _U(0x7465646279746573)
_WIDE = _U(0xEE)
_WIDE_SECOND = _U(0xDD)
_WORD_BYTES = 8
_LANES: Final = 32
# Blocks of 8 bytes. A batch with a longer text (128 bytes and more) is hashed text by text.
_MAX_BLOCKS: Final = 16
# Rows of the scratch array: the words of each block, then the four of the state, then each text's whole words.
_STATE, _WHOLE, _SCRATCH_ROWS = _MAX_BLOCKS, _MAX_BLOCKS + 4, _MAX_BLOCKS + 5
_NO_SCRATCH: Final = np.empty((0, _LANES), np.uint64)


_State = tuple[Word, Word, Word, Word]


@kernel(inline="always")
def _rotate(x: Word, bits: Word) -> Word:
    return (x << bits) | (x >> (_U(64) - bits))


@kernel(inline="always")
def _round(v0: Word, v1: Word, v2: Word, v3: Word) -> _State:
    v0 += v1
    v1 = _rotate(v1, _U(13)) ^ v0
    v0 = _rotate(v0, _U(32))
    v2 += v3
    v3 = _rotate(v3, _U(16)) ^ v2
    v0 += v3
    v3 = _rotate(v3, _U(21)) ^ v0
    v2 += v1
    v1 = _rotate(v1, _U(17)) ^ v2
    v2 = _rotate(v2, _U(32))
    return v0, v1, v2, v3


@kernel(inline="always")
def _two_rounds(v0: Word, v1: Word, v2: Word, v3: Word) -> _State:
    v0, v1, v2, v3 = _round(v0, v1, v2, v3)
    return _round(v0, v1, v2, v3)


@kernel(inline="always")
def _four_rounds(v0: Word, v1: Word, v2: Word, v3: Word) -> _State:
    v0, v1, v2, v3 = _two_rounds(v0, v1, v2, v3)
    return _two_rounds(v0, v1, v2, v3)


@kernel(inline="always")
def _finish(v0: Word, v1: Word, v2: Word, v3: Word) -> Key128:
    v0, v1, v2, v3 = _four_rounds(v0, v1, v2 ^ _WIDE, v3)
    low = v0 ^ v1 ^ v2 ^ v3
    v0, v1, v2, v3 = _four_rounds(v0, v1 ^ _WIDE_SECOND, v2, v3)
    return low, v0 ^ v1 ^ v2 ^ v3


@kernel(inline="always")
def _word(data: Uint8Array, offset: Word) -> Word:
    """Eight bytes, little endian. The offset is unsigned, or every access would be tested for a negative one."""
    word = _U(0)
    for i in range(_WORD_BYTES):
        word |= _U(data[offset + _U(i)]) << _U(8 * i)
    return word


@kernel()
def hash_bytes(data: Uint8Array, start: Offset, end: Offset, k0: Word, k1: Word) -> Key128:
    """Hash ``data[start:end]`` (uint8) under the key (uint64, uint64) into (low, high), both uint64."""
    v0, v1, v2, v3 = k0 ^ _INIT0, k1 ^ _INIT1 ^ _WIDE, k0 ^ _INIT2, k1 ^ _INIT3
    length, offset = _U(end - start), _U(start)
    for _ in range(length >> _U(3)):
        word = _word(data, offset)
        v0, v1, v2, v3 = _two_rounds(v0, v1, v2, v3 ^ word)
        v0 ^= word
        offset += _U(_WORD_BYTES)
    word = length << _U(56)
    for i in range(length & _U(7)):
        word |= _U(data[offset + i]) << _U(8) * i
    v0, v1, v2, v3 = _two_rounds(v0, v1, v2, v3 ^ word)
    return _finish(v0 ^ word, v1, v2, v3)


@kernel()
def _load(first: int, offsets: Int32Array, data: Uint8Array, scratch: Uint64Array) -> Word:
    """Lay out the batch of texts from number ``first`` on, unless one is too long; the blocks of the longest."""
    words, whole = scratch[:_MAX_BLOCKS], scratch[_WHOLE]
    blocks = _U(0)
    for lane in range(_LANES):
        whole[lane] = _U(offsets[first + lane + 1] - offsets[first + lane]) >> _U(3)
        blocks = max(blocks, whole[lane] + _U(1))
    if blocks > _U(_MAX_BLOCKS):
        return blocks
    for lane in range(_LANES):
        offset, end = _U(offsets[first + lane]), _U(offsets[first + lane + 1])
        word = (end - offset) << _U(56)
        for block in range(whole[lane]):
            words[block, lane] = _word(data, offset)
            offset += _U(_WORD_BYTES)
        rest = end - offset
        if offset + _U(_WORD_BYTES) <= _U(len(data)):
            # the bytes behind the text are masked out
            word |= _word(data, offset) & ((_U(1) << _U(8) * rest) - _U(1))
        else:
            for i in range(rest):
                word |= _U(data[offset + i]) << _U(8) * i
        words[whole[lane], lane] = word
    return blocks


@kernel()
def _hash_lanes(
    blocks: Word, k0: Word, k1: Word, scratch: Uint64Array, low: Uint64Array, high: Uint64Array
) -> None:
    words, whole = scratch[:_MAX_BLOCKS], scratch[_WHOLE]
    s0, s1, s2, s3 = scratch[_STATE], scratch[_STATE + 1], scratch[_STATE + 2], scratch[_STATE + 3]
    for lane in range(_LANES):
        s0[lane], s1[lane], s2[lane], s3[lane] = k0 ^ _INIT0, k1 ^ _INIT1 ^ _WIDE, k0 ^ _INIT2, k1 ^ _INIT3
    for block in range(blocks):
        for lane in range(_LANES):
            word = words[block, lane]
            v0, v1, v2, v3 = _two_rounds(s0[lane], s1[lane], s2[lane], s3[lane] ^ word)
            present = block <= whole[lane]
            s0[lane] = v0 ^ word if present else s0[lane]
            s1[lane] = v1 if present else s1[lane]
            s2[lane] = v2 if present else s2[lane]
            s3[lane] = v3 if present else s3[lane]
    for lane in range(_LANES):
        low[lane], high[lane] = _finish(s0[lane], s1[lane], s2[lane], s3[lane])


@kernel(nogil=True)
def _hash_strings(
    offsets: Int32Array,
    data: Uint8Array,
    k0: Word,
    k1: Word,
    scratch: Uint64Array,
    low: Uint64Array,
    high: Uint64Array,
) -> None:
    n = len(low)
    for first in range(0, n, _LANES):
        until, blocks = min(first + _LANES, n), _U(_MAX_BLOCKS + 1)
        if until - first == _LANES and len(scratch) > 0:
            blocks = _load(first, offsets, data, scratch)
        if blocks <= _U(_MAX_BLOCKS):
            _hash_lanes(blocks, k0, k1, scratch, low[first:until], high[first:until])
        else:
            for i in range(first, until):
                low[i], high[i] = hash_bytes(data, offsets[i], offsets[i + 1], k0, k1)


def hash_strings(offsets: Int32Array, data: Uint8Array, k0: int, k1: int) -> tuple[Uint64Array, Uint64Array]:
    """Hash n byte strings laid out as Arrow does.

    :param offsets: int32, n + 1 values; string i is ``data[offsets[i]:offsets[i + 1]]``
    :param data: uint8
    :param k0: first half of the key, 0 … 2⁶⁴ − 1
    :param k1: second half
    :returns: (low, high), uint64, n values each
    """
    low = np.empty(len(offsets) - 1, np.uint64)
    high = np.empty(len(offsets) - 1, np.uint64)
    scratch = np.empty((_SCRATCH_ROWS, _LANES), np.uint64) if len(low) >= _LANES else _NO_SCRATCH
    _hash_strings(read_only(offsets), read_only(data), _U(k0), _U(k1), scratch, low, high)
    return low, high
