"""Record templates: a record with the same bytes as the one before it but for its values, of which only those are read.

A producer writes its records with one program, so the bytes between the values repeat. A record that was scanned
(`json_tokens`) becomes the template of the next:

    {"transactionId":"t-1","eventTime":1763690000000,"amount":"12.50"}
    ‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾   ‾‾‾‾‾‾‾‾‾‾‾‾‾‾             ‾‾‾‾‾‾‾‾‾‾‾     ‾‾   compared with the template, byte by byte

A record that differs anywhere else is scanned, and becomes the new template.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from tripline_engine.domain.memory.array_types import Int64Array, Offset, Uint8Array
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

_MAX_BYTES: Final = 1024
# The columns of a template's parts: the end of its bytes, the name whose value follows, and whether that is a string.
_ENDS, _NAME, _IS_TEXT, _PART = 0, 1, 2, 3
_NO_VALUE: Final = -1
"""The name behind a template's last part, which no value follows."""
_MINUS, _ZERO, _NINE = 0x2D, 0x30, 0x39


class RecordTemplate(NamedTuple):
    """The bytes between the values.

    :ivar text: uint8, the bytes of all parts, one after the other
    :ivar parts: int64, parts × _PART
    :ivar part_count: int64, 1: the number of parts; 0 while there is no template
    """

    text: Uint8Array
    parts: Int64Array
    part_count: Int64Array

    @staticmethod
    def of(names: int) -> RecordTemplate:
        """No template yet, with room for one of records with at most so many named members."""
        return RecordTemplate(
            np.empty(_MAX_BYTES, np.uint8), np.empty((names + 1, _PART), np.int64), np.zeros(1, np.int64)
        )


@kernel()
def record_template(
    data: Uint8Array, start: Offset, end: Offset, tokens: Int64Array, template: RecordTemplate
) -> None:
    """Make the record ``data[start:end]`` the template; ``tokens`` are those that a scan has written."""
    template.part_count[0] = 0
    if end - start > _MAX_BYTES:
        return
    offset, length, count = start, 0, 0
    while True:
        # the values in the order of their offsets
        following = _NO_VALUE
        for name in range(len(tokens)):
            if tokens[name, KIND] in (UNSEEN, NULL) or tokens[name, START] <= offset:
                continue
            if following == _NO_VALUE or tokens[name, START] < tokens[following, START]:
                following = name
        until = end if following == _NO_VALUE else tokens[following, START]
        for k in range(offset, until):
            template.text[length] = data[k]
            length += 1
        part = template.parts[count]
        part[_ENDS], part[_NAME] = length, following
        count += 1
        if following == _NO_VALUE:
            break
        part[_IS_TEXT] = tokens[following, KIND] == TEXT
        offset = tokens[following, END]
    template.part_count[0] = count


@kernel()
def match_template(
    data: Uint8Array, offset: Offset, end: Offset, template: RecordTemplate, tokens: Int64Array
) -> bool:
    """Whether the record ``data[offset:end]`` matches the template, and each value is sure.

    Then START, END and KIND of the named members that have a value are written; the others' tokens stay.
    """
    text, first = template.text, 0
    for i in range(template.part_count[0]):
        part = template.parts[i]
        last, name = part[_ENDS], part[_NAME]
        if offset + last - first > end:
            return False
        different = np.uint8(0)
        for k in range(last - first):
            different |= data[offset + k] ^ text[first + k]
        if different:
            return False
        offset, first = offset + last - first, last
        if name == _NO_VALUE:
            matches: bool = offset == end
            return matches
        if part[_IS_TEXT]:
            close = text_end(data, offset, end)
            if close < 0:
                return False
            tokens[name, START], tokens[name, END], tokens[name, KIND] = offset, close, TEXT
            offset = close
        else:
            if offset >= end or not (data[offset] == _MINUS or _ZERO <= data[offset] <= _NINE):
                return False
            after, kind = after_number(data, offset, end)
            if after < 0:
                return False
            tokens[name, START], tokens[name, END], tokens[name, KIND] = offset, after, kind
            offset = after
    return False
