"""Natural numbers of up to 1,280 bits in registers, for exact comparisons of squares in compiled kernels.

A register is a row of 32-bit limbs in uint64, the lowest first, and how many of them count: the last of these is not 0,
and what lies beyond is anything. So products of limbs and their carries fit in a word. A result has a register of its
own unless a function says otherwise. Nothing here checks for overflow.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from tripline_engine.domain.memory.array_types import Int64Array, Uint64Array, Word
from tripline_engine.domain.memory.kernel import kernel
from tripline_engine.domain.memory.wide_integers import Words4

LIMBS: Final = 40
_U = np.uint64
_MASK = _U(0xFFFFFFFF)
_HALF = _U(32)
_ZERO = _U(0)


class Registers(NamedTuple):
    """Uint64 (registers, LIMBS), and int64 with the number of limbs of each."""

    limbs: Uint64Array
    sizes: Int64Array


def registers(count: int) -> Registers:
    """So many registers, each 0."""
    return Registers(np.zeros((count, LIMBS), np.uint64), np.zeros(count, np.int64))


@kernel(inline="always")
def _trim(into: Registers, result: int, size: int) -> None:
    while size > 0 and into.limbs[result, size - 1] == _ZERO:
        size -= 1
    into.sizes[result] = size


@kernel()
def load(into: Registers, result: int, words: Words4) -> None:
    """Take a magnitude of four words."""
    limbs = into.limbs
    limbs[result, 0], limbs[result, 1] = words[0] & _MASK, words[0] >> _HALF
    limbs[result, 2], limbs[result, 3] = words[1] & _MASK, words[1] >> _HALF
    limbs[result, 4], limbs[result, 5] = words[2] & _MASK, words[2] >> _HALF
    limbs[result, 6], limbs[result, 7] = words[3] & _MASK, words[3] >> _HALF
    _trim(into, result, 8)


@kernel()
def multiply(of: Registers, a: int, b: int, result: int) -> None:
    """The product of two registers, which may be one."""
    limbs, a_size, b_size = of.limbs, of.sizes[a], of.sizes[b]
    for k in range(a_size + b_size):
        limbs[result, k] = _ZERO
    for i in range(a_size):
        factor, carry = limbs[a, i], _ZERO
        for j in range(b_size):
            partial = factor * limbs[b, j] + limbs[result, i + j] + carry
            limbs[result, i + j] = partial & _MASK
            carry = partial >> _HALF
        limbs[result, i + b_size] = carry
    _trim(of, result, a_size + b_size)


@kernel()
def scale(of: Registers, a: int, word: Word) -> None:
    """Multiply a register by a word, where it is."""
    limbs, size = of.limbs, of.sizes[a]
    low, high = word & _MASK, word >> _HALF
    carry, before = _ZERO, _ZERO
    # limb k of the product is low × limb k + high × limb k − 1, and what these two carry
    for k in range(size + 2):
        limb = limbs[a, k] if k < size else _ZERO
        bottom, top = low * limb, high * before
        partial = (bottom & _MASK) + (top & _MASK) + (carry & _MASK)
        limbs[a, k] = partial & _MASK
        carry = (carry >> _HALF) + (bottom >> _HALF) + (top >> _HALF) + (partial >> _HALF)
        before = limb
    _trim(of, a, size + 2)


@kernel()
def add(of: Registers, a: int, b: int, result: int) -> None:
    """The sum of two registers; the result may be either."""
    limbs, carry = of.limbs, _ZERO
    a_size, b_size = of.sizes[a], of.sizes[b]
    size = max(a_size, b_size)
    for k in range(size):
        partial = carry
        if k < a_size:
            partial += limbs[a, k]
        if k < b_size:
            partial += limbs[b, k]
        limbs[result, k] = partial & _MASK
        carry = partial >> _HALF
    limbs[result, size] = carry
    _trim(of, result, size + 1)


@kernel()
def subtract(of: Registers, a: int, b: int, result: int) -> None:
    """The first register less the second, which is not greater; the result may be either."""
    limbs, borrow = of.limbs, _ZERO
    a_size, b_size = of.sizes[a], of.sizes[b]
    for k in range(a_size):
        taken = borrow + limbs[b, k] if k < b_size else borrow
        limb = limbs[a, k]
        borrow = _U(limb < taken)
        limbs[result, k] = (limb - taken) & _MASK
    _trim(of, result, a_size)


@kernel()
def compare(of: Registers, a: int, b: int) -> int:
    """-1, 0 or 1 as the first register is less than, equal to or greater than the second."""
    if of.sizes[a] != of.sizes[b]:
        return -1 if of.sizes[a] < of.sizes[b] else 1
    for k in range(of.sizes[a] - 1, -1, -1):
        if of.limbs[a, k] != of.limbs[b, k]:
            return -1 if of.limbs[a, k] < of.limbs[b, k] else 1
    return 0
