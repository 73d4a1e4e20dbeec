"""SipHash-2-4 with 128 bits of output: the identity of texts and groups.

A keyed hash, because whoever chooses the keys could otherwise choose ones that collide. The key is
random per engine and pinned in its checkpoint.

Source: J.-P. Aumasson, D. J. Bernstein, "SipHash: a fast short-input PRF", and the 128-bit output variant of
its reference implementation, whose published vectors the tests hold.

Each step of the hash waits for the one before, so many short texts are hashed side by side, as many at a time as the
processor's vectors hold:

    word     0  1  2 …    of which text: its lane
    block 0  #  #  #      a lane with fewer blocks than another one keeps its state
    block 1  #     #
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tripline_engine.domain.memory.kernel import kernel, read_only

_U = np.uint64
_INIT0 = _U(0x736F6D6570736575)
_INIT1 = _U(0x646F72616E646F6D)
_INIT2 = _U(0x6C7967656E657261)
_INIT3 = _U(0x7465646279746573)
_WIDE = _U(0xEE)
_WIDE_SECOND = _U(0xDD)
_WORD = 8
_LANES: Final = 32
# Where a text has more blocks than this (128 bytes and more) it and its neighbours are hashed one by one.
_MOST: Final = 16
# Scratch: a line of words for each block, then the four of the state, and how many whole words each text has.
_STATE, _WHOLE, _LINES = _MOST, _MOST + 4, _MOST + 5
_NO_SCRATCH: Final = np.empty((0, _LANES), np.uint64)


@kernel(inline="always")
def _rotate(x: Any, bits: Any) -> Any:
    return (x << bits) | (x >> (_U(64) - bits))


@kernel(inline="always")
def _round(v0: Any, v1: Any, v2: Any, v3: Any) -> Any:
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
def _two_rounds(v0: Any, v1: Any, v2: Any, v3: Any) -> Any:
    v0, v1, v2, v3 = _round(v0, v1, v2, v3)
    return _round(v0, v1, v2, v3)


@kernel(inline="always")
def _four_rounds(v0: Any, v1: Any, v2: Any, v3: Any) -> Any:
    v0, v1, v2, v3 = _two_rounds(v0, v1, v2, v3)
    return _two_rounds(v0, v1, v2, v3)


@kernel(inline="always")
def _finish(v0: Any, v1: Any, v2: Any, v3: Any) -> Any:
    v0, v1, v2, v3 = _four_rounds(v0, v1, v2 ^ _WIDE, v3)
    low = v0 ^ v1 ^ v2 ^ v3
    v0, v1, v2, v3 = _four_rounds(v0, v1 ^ _WIDE_SECOND, v2, v3)
    return low, v0 ^ v1 ^ v2 ^ v3


@kernel(inline="always")
def _word(data: Any, at: Any) -> Any:
    """Eight bytes; the numbers are unsigned, or each would be looked at for being negative."""
    word = _U(0)
    for i in range(_WORD):
        word |= _U(data[at + _U(i)]) << _U(8 * i)
    return word


@kernel()
def hash_bytes(data: Any, start: int, end: int, k0: Any, k1: Any) -> Any:
    """Hash ``data[start:end]`` (uint8) under the key (uint64, uint64) into (low, high), both uint64."""
    v0, v1, v2, v3 = k0 ^ _INIT0, k1 ^ _INIT1 ^ _WIDE, k0 ^ _INIT2, k1 ^ _INIT3
    length, at = _U(end - start), _U(start)
    for _ in range(length >> _U(3)):
        word = _word(data, at)
        v0, v1, v2, v3 = _two_rounds(v0, v1, v2, v3 ^ word)
        v0 ^= word
        at += _U(_WORD)
    word = length << _U(56)
    for i in range(length & _U(7)):
        word |= _U(data[at + i]) << _U(8) * i
    v0, v1, v2, v3 = _two_rounds(v0, v1, v2, v3 ^ word)
    return _finish(v0 ^ word, v1, v2, v3)


@kernel()
def _load(first: int, offsets: Any, data: Any, scratch: Any) -> Any:
    """Lay out the texts from the first on, if none is long; how many blocks they have at most."""
    words, whole = scratch[:_MOST], scratch[_WHOLE]
    most = _U(0)
    for lane in range(_LANES):
        whole[lane] = _U(offsets[first + lane + 1] - offsets[first + lane]) >> _U(3)
        most = max(most, whole[lane] + _U(1))
    if most > _U(_MOST):
        return most
    for lane in range(_LANES):
        at, end = _U(offsets[first + lane]), _U(offsets[first + lane + 1])
        word = (end - at) << _U(56)
        for block in range(whole[lane]):
            words[block, lane] = _word(data, at)
            at += _U(_WORD)
        rest = end - at
        if at + _U(_WORD) <= _U(len(data)):
            # of what follows the text nothing counts
            word |= _word(data, at) & ((_U(1) << _U(8) * rest) - _U(1))
        else:
            for i in range(rest):
                word |= _U(data[at + i]) << _U(8) * i
        words[whole[lane], lane] = word
    return most


@kernel()
def _hash_lanes(most: Any, k0: Any, k1: Any, scratch: Any, low: Any, high: Any) -> None:
    words, whole = scratch[:_MOST], scratch[_WHOLE]
    s0, s1, s2, s3 = scratch[_STATE], scratch[_STATE + 1], scratch[_STATE + 2], scratch[_STATE + 3]
    for lane in range(_LANES):
        s0[lane], s1[lane], s2[lane], s3[lane] = k0 ^ _INIT0, k1 ^ _INIT1 ^ _WIDE, k0 ^ _INIT2, k1 ^ _INIT3
    for block in range(most):
        for lane in range(_LANES):
            word = words[block, lane]
            v0, v1, v2, v3 = _two_rounds(s0[lane], s1[lane], s2[lane], s3[lane] ^ word)
            there = block <= whole[lane]
            s0[lane] = v0 ^ word if there else s0[lane]
            s1[lane] = v1 if there else s1[lane]
            s2[lane] = v2 if there else s2[lane]
            s3[lane] = v3 if there else s3[lane]
    for lane in range(_LANES):
        low[lane], high[lane] = _finish(s0[lane], s1[lane], s2[lane], s3[lane])


@kernel(nogil=True)
def _hash_strings(offsets: Any, data: Any, k0: Any, k1: Any, scratch: Any, low: Any, high: Any) -> None:
    n = len(low)
    for first in range(0, n, _LANES):
        until, most = min(first + _LANES, n), _U(_MOST + 1)
        if until - first == _LANES and len(scratch) > 0:
            most = _load(first, offsets, data, scratch)
        if most <= _U(_MOST):
            _hash_lanes(most, k0, k1, scratch, low[first:until], high[first:until])
        else:
            for i in range(first, until):
                low[i], high[i] = hash_bytes(data, offsets[i], offsets[i + 1], k0, k1)


def hash_strings(
    offsets: npt.NDArray[np.int32], data: npt.NDArray[np.uint8], k0: int, k1: int
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """Hash n byte strings laid out as Arrow does.

    :param offsets: int32, n + 1 values; string i is ``data[offsets[i]:offsets[i + 1]]``
    :param data: uint8
    :param k0: first half of the key, 0 … 2⁶⁴ − 1
    :param k1: second half
    :returns: (low, high), uint64, n values each
    """
    low = np.empty(len(offsets) - 1, np.uint64)
    high = np.empty(len(offsets) - 1, np.uint64)
    scratch = np.empty((_LINES, _LANES), np.uint64) if len(low) >= _LANES else _NO_SCRATCH
    _hash_strings(read_only(offsets), read_only(data), _U(k0), _U(k1), scratch, low, high)
    return low, high
