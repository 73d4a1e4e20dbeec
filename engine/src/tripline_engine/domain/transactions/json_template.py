"""A record that is laid out as one before it: the same bytes but for the values, so that only those are read.

Producers write their records with one program, so between the values there is always the same. What has been read in
full (`json_scan`) tells what that is:

    {"transactionId":"t-1","eventTime":1763690000000,"amount":"12.50"}
    ‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾   ‾‾‾‾‾‾‾‾‾‾‾‾‾‾             ‾‾‾‾‾‾‾‾‾‾‾     ‾‾   compared with the layout, byte by byte

A record that differs anywhere else is read in full, and its layout is the next one's.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tripline_engine.domain.memory.kernel import kernel
from tripline_engine.domain.transactions.json_tokens import (
    END,
    KIND,
    NULL,
    START,
    TEXT,
    UNSEEN,
    after_number,
    text_end,
)

_MOST: Final = 1024
# What a part tells: where its bytes end, which name's value follows (-1: none does), and whether that is a text.
_ENDS, _PLACE, _IS_TEXT, _PART = 0, 1, 2, 3
_NONE: Final = -1
_MINUS, _ZERO, _NINE = 0x2D, 0x30, 0x39


class Layout(NamedTuple):
    """What lies between the values.

    :ivar text: uint8, the bytes of all parts, one behind the other
    :ivar parts: int64, parts × 3
    :ivar known: int64, 1: how many parts there are; 0 where no layout is known
    """

    text: npt.NDArray[np.uint8]
    parts: npt.NDArray[np.int64]
    known: npt.NDArray[np.int64]

    @staticmethod
    def of(names: int) -> Layout:
        """None yet, of records with at most so many named members."""
        return Layout(
            np.empty(_MOST, np.uint8), np.empty((names + 1, _PART), np.int64), np.zeros(1, np.int64)
        )


@kernel()
def record_template(data: Any, start: int, end: int, tokens: Any, layout: Any) -> None:
    """Note how the record ``data[start:end]`` is laid out, of which ``tokens`` are what a scan has found."""
    layout.known[0] = 0
    if end - start > _MOST:
        return
    at, length, count = start, 0, 0
    while True:
        # values in the order in which they stand there
        following = _NONE
        for place in range(len(tokens)):
            if tokens[place, KIND] in (UNSEEN, NULL) or tokens[place, START] <= at:
                continue
            if following == _NONE or tokens[place, START] < tokens[following, START]:
                following = place
        until = end if following == _NONE else tokens[following, START]
        for place in range(at, until):
            layout.text[length] = data[place]
            length += 1
        part = layout.parts[count]
        part[_ENDS], part[_PLACE] = length, following
        count += 1
        if following == _NONE:
            break
        part[_IS_TEXT] = tokens[following, KIND] == TEXT
        at = tokens[following, END]
    layout.known[0] = count


@kernel()
def match_template(data: Any, at: int, end: int, layout: Any, tokens: Any) -> bool:
    """Whether the record ``data[at:end]`` is laid out like that, and each value sure; then START, END and KIND of the
    named members that have one are written. The others' are what they were."""
    text, first = layout.text, 0
    for i in range(layout.known[0]):
        part = layout.parts[i]
        last, place = part[_ENDS], part[_PLACE]
        if at + last - first > end:
            return False
        different = np.uint8(0)
        for k in range(last - first):
            different |= data[at + k] ^ text[first + k]
        if different:
            return False
        at, first = at + last - first, last
        if place == _NONE:
            return at == end
        if part[_IS_TEXT]:
            close = text_end(data, at, end)
            if close < 0:
                return False
            tokens[place, START], tokens[place, END], tokens[place, KIND] = at, close, TEXT
            at = close
        else:
            if at >= end or not (data[at] == _MINUS or _ZERO <= data[at] <= _NINE):
                return False
            after, kind = after_number(data, at, end)
            if after < 0:
                return False
            tokens[place, START], tokens[place, END], tokens[place, KIND] = at, after, kind
            at = after
    return False
