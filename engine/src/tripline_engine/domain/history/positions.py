"""Positions in the texts of a field, as kernels compute with them: read from the normal form, which has no other."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from tripline_engine.domain.history.text_dictionary import TextDictionary, TextHeap, span_of
from tripline_engine.domain.memory.array_types import BoolArray, Int32Array, Int64Array, int64
from tripline_engine.domain.memory.kernel import kernel

_MINUS, _POINT, _COMMA, _ZERO = b"-.,0"
_PLACES: Final = 6


class Positions(NamedTuple):
    """Of n slots latitude and longitude (int64, n, millionths of a degree; 0 for none), and where there is one."""

    latitude: Int64Array
    longitude: Int64Array
    present: BoolArray


def positions_of(texts: TextDictionary, slots: Int32Array) -> Positions:
    """The positions in n slots in use, or NO_SLOT."""
    shape = len(slots)
    positions = Positions(np.zeros(shape, np.int64), np.zeros(shape, np.int64), slots >= 0)
    _read(slots, texts.heap, positions.latitude, positions.longitude)
    return positions


@kernel(nogil=True)
def _read(slots: Int32Array, texts: TextHeap, latitude: Int64Array, longitude: Int64Array) -> None:
    for i in range(len(slots)):
        if slots[i] < 0:
            continue
        span = span_of(slots[i])
        start, end = texts.spans[span], texts.spans[span] + texts.spans[span + 1] - 1
        number, sign, places, behind_point = int64(0), int64(1), int64(0), False
        for k in range(start, end + 1):
            if k == end or texts.heap[k] == _COMMA:
                for _ in range(_PLACES - places):
                    number *= 10
                if k == end:
                    longitude[i] = sign * number
                else:
                    latitude[i] = sign * number
                number, sign, places, behind_point = int64(0), int64(1), int64(0), False
            elif texts.heap[k] == _MINUS:
                sign = int64(-1)
            elif texts.heap[k] == _POINT:
                behind_point = True
            else:
                number = 10 * number + int64(texts.heap[k]) - _ZERO
                places += int64(behind_point)
