"""Amounts in steps: floor(amount / step) × step, of 128-bit integers as two words."""

from __future__ import annotations

import numpy as np

from tripline_engine.domain.memory.array_types import Int64Array, Uint64Array, Word
from tripline_engine.domain.memory.int128 import join, split, subtract
from tripline_engine.domain.memory.kernel import kernel

_U = np.uint64


def floor_to_steps(low: Uint64Array, high: Int64Array, step: int) -> None:
    """Lower n values in place to whole multiples of ``step``, above 0; negative ones downwards too.

    A value below 10²⁴ less a step below 10²⁴ cannot leave 128 bits.
    """
    if step < 1 << 63:
        _floor(low, high, _U(step))
    else:
        for i in range(len(low)):
            low[i], high[i] = split(join(low[i], high[i]) // step * step)


@kernel(nogil=True)
def _floor(low: Uint64Array, high: Int64Array, step: Word) -> None:
    """The step is below 2⁶³: twice a remainder is below 2⁶⁴."""
    one, nothing = _U(1), np.int64(0)
    for i in range(len(low)):
        bottom, top = low[i], high[i]
        negative = top < 0
        if negative:
            bottom, top = subtract(_U(0), nothing, bottom, top)
        rest = _U(top) % step
        if rest == 0:
            rest = bottom % step
        else:
            for bit in range(63, -1, -1):
                rest = (rest << one) | ((bottom >> _U(bit)) & one)
                if rest >= step:
                    rest -= step
        if negative and rest != 0:
            rest = step - rest
        low[i], high[i] = subtract(low[i], high[i], rest, nothing)
