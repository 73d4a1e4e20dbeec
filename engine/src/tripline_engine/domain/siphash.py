"""SipHash-2-4 with 128 bits of output: the identity of texts and groups.

A keyed hash, because whoever chooses the keys could otherwise choose ones that collide. The key is
random per engine and pinned in its checkpoint.

Source: J.-P. Aumasson, D. J. Bernstein, "SipHash: a fast short-input PRF", and the 128-bit output variant of
its reference implementation, whose published vectors the tests hold.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tripline_engine.domain.compiled import kernel, read_only

_U = np.uint64
_INIT0 = _U(0x736F6D6570736575)
_INIT1 = _U(0x646F72616E646F6D)
_INIT2 = _U(0x6C7967656E657261)
_INIT3 = _U(0x7465646279746573)
_WIDE = _U(0xEE)
_WIDE_SECOND = _U(0xDD)
_WORD = 8


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


@kernel()
def _finish(v0: Any, v1: Any, v2: Any, v3: Any) -> Any:
    v2 ^= _WIDE
    for _ in range(4):
        v0, v1, v2, v3 = _round(v0, v1, v2, v3)
    low = v0 ^ v1 ^ v2 ^ v3
    v1 ^= _WIDE_SECOND
    for _ in range(4):
        v0, v1, v2, v3 = _round(v0, v1, v2, v3)
    return low, v0 ^ v1 ^ v2 ^ v3


@kernel()
def hash_bytes(data: Any, start: int, end: int, k0: Any, k1: Any) -> Any:
    """Hash ``data[start:end]`` (uint8) under the key (uint64, uint64) into (low, high), both uint64."""
    v0, v1, v2, v3 = k0 ^ _INIT0, k1 ^ _INIT1 ^ _WIDE, k0 ^ _INIT2, k1 ^ _INIT3
    length = end - start
    whole = start + length // _WORD * _WORD
    for at in range(start, whole, _WORD):
        word = _U(0)
        for i in range(_WORD):
            word |= _U(data[at + i]) << _U(8 * i)
        v3 ^= word
        for _ in range(2):
            v0, v1, v2, v3 = _round(v0, v1, v2, v3)
        v0 ^= word
    word = _U(length & 0xFF) << _U(56)
    for i in range(end - whole):
        word |= _U(data[whole + i]) << _U(8 * i)
    v3 ^= word
    for _ in range(2):
        v0, v1, v2, v3 = _round(v0, v1, v2, v3)
    v0 ^= word
    return _finish(v0, v1, v2, v3)


@kernel(nogil=True)
def _hash_strings(offsets: Any, data: Any, k0: Any, k1: Any, low: Any, high: Any) -> None:
    for i in range(len(low)):
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
    _hash_strings(read_only(offsets), read_only(data), _U(k0), _U(k1), low, high)
    return low, high
