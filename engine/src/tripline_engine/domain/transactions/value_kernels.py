"""Typed values from a record's tokens: the kernels of the fast parser.

They are sure of a record or leave it; they never refuse one.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from tripline_contracts.event_type import MAX_TIMESTAMP
from tripline_engine.domain.memory.array_types import (
    BoolArray,
    HighWord,
    Int32Array,
    Int64Array,
    Offset,
    Uint8Array,
    Uint64Array,
    Word,
)
from tripline_engine.domain.memory.kernel import kernel
from tripline_engine.domain.transactions.json_template import (
    RecordTemplate,
    match_template,
    record_template,
)
from tripline_engine.domain.transactions.json_tokens import (
    END,
    FRACTION,
    KIND,
    MAX_OPEN,
    NULL,
    START,
    TOKEN,
    UNSEEN,
    WHOLE,
    PackedTexts,
    is_text,
    scan,
)

MAX_VALUE_BYTES: Final = 65_536
"""A record with a larger value is refused."""

STRING, TIMESTAMP, DECIMAL, ENUM = range(4)
"""Kinds of fields."""
ABSENT: Final = -1
"""The start of a field without a value."""
_NO_TEXT: Final = 0
"""The start of a number."""

_TIME_DIGITS: Final = len(str(MAX_TIMESTAMP))
_WHOLE_DIGITS, _PLACES = 18, 6
_U, _SCALE = np.uint64, 10**_PLACES
_MINUS, _POINT, _ZERO, _NINE, _ASCII_END = 0x2D, 0x2E, 0x30, 0x39, 0x80


class Fields(NamedTuple):
    """The declared fields: int64 each, by field.

    :ivar longest: the most characters of a text
    :ivar required: 0 or 1
    :ivar first_name: one item more than fields: the number in ``names`` of a field's first name
    :ivar first_allowed: one item more than fields: the number in ``allowed`` of an enum's first value
    """

    kinds: Int64Array
    longest: Int64Array
    required: Int64Array
    first_name: Int64Array
    first_allowed: Int64Array
    names: PackedTexts
    allowed: PackedTexts


class FieldValues(NamedTuple):
    """The values, fields × records: start and end of a text in the slice's bytes, or a number's 128-bit words.

    ``starts`` is ABSENT where there is no value, and 0 where there is a number.
    """

    starts: Int64Array
    ends: Int64Array
    low: Uint64Array
    high: Int64Array

    def filter(self, records: Int64Array) -> FieldValues:
        """The values of these records; each field's are contiguous, as kernels expect them."""
        return FieldValues(
            self.starts.take(records, axis=1),
            self.ends.take(records, axis=1),
            self.low.take(records, axis=1),
            self.high.take(records, axis=1),
        )


class Scratch(NamedTuple):
    """Scratch arrays: open objects and arrays, the tokens of a record, and the template of records."""

    stack: Uint8Array
    tokens: Int64Array
    template: RecordTemplate

    @staticmethod
    def of(names: int) -> Scratch:
        """Scratch arrays for so many declared names, without a template."""
        return Scratch(
            np.empty(MAX_OPEN, np.uint8), np.zeros((names, TOKEN), np.int64), RecordTemplate.of(names)
        )


@kernel()
def _characters(data: Uint8Array, start: Offset, end: Offset) -> int:
    count = 0
    for offset in range(start, end):
        # the bytes that continue a character are 10xxxxxx
        count += (data[offset] & 0xC0) != 0x80
    return count


@kernel()
def _decimal(data: Uint8Array, offset: Offset, end: Offset) -> tuple[bool, Word, HighWord]:
    """Whether there is a plain decimal, and its value times 10⁶ in two words."""
    negative = offset < end and data[offset] == _MINUS
    offset += negative
    whole, digits = _U(0), 0
    while offset < end and _ZERO <= data[offset] <= _NINE and digits <= _WHOLE_DIGITS:
        whole = whole * _U(10) + _U(data[offset] - _ZERO)
        offset, digits = offset + 1, digits + 1
    if digits == 0 or digits > _WHOLE_DIGITS:
        return False, _U(0), np.int64(0)
    part, places = _U(0), 0
    if offset < end and data[offset] == _POINT:
        offset += 1
        while offset < end and _ZERO <= data[offset] <= _NINE and places <= _PLACES:
            part = part * _U(10) + _U(data[offset] - _ZERO)
            offset, places = offset + 1, places + 1
        if places == 0 or places > _PLACES:
            return False, _U(0), np.int64(0)
    if offset != end:
        return False, _U(0), np.int64(0)
    for _ in range(_PLACES - places):
        part *= _U(10)
    # whole is below 2⁶⁰: its halves times the scale fit into a word each
    lower = (whole & _U(0xFFFFFFFF)) * _U(_SCALE) + part
    upper = (whole >> _U(32)) * _U(_SCALE)
    low = lower + (upper << _U(32))
    high = np.int64((upper >> _U(32)) + _U(low < lower))
    if negative:
        low = ~low + _U(1)
        high = ~high + np.int64(low == _U(0))
    return True, low, high


@kernel()
def _whole_number(data: Uint8Array, start: Offset, end: Offset) -> HighWord:
    number = np.int64(0)
    for offset in range(start, end):
        number = number * 10 + np.int64(data[offset] - _ZERO)
    return number


@kernel()
def _is_allowed(
    data: Uint8Array, start: Offset, end: Offset, allowed: PackedTexts, first: int, last: int
) -> bool:
    for number in range(first, last):  # noqa: SIM110  # compiled
        # with the quote that ends it
        if is_text(data, start, end + 1, allowed, number):
            return True
    return False


@kernel(inline="always")
def _read_value(
    data: Uint8Array,
    tokens: Int64Array,
    name: int,
    kind: int,
    longest: int,
    f: int,
    i: int,
    values: FieldValues,
) -> bool:
    """Write a token as the value of field f in record i; whether it surely is one. Enums are checked elsewhere."""
    start, end, token_kind = tokens[name, START], tokens[name, END], tokens[name, KIND]
    if kind == TIMESTAMP:
        if token_kind != WHOLE or data[start] == _MINUS or end - start > _TIME_DIGITS:
            return False
        values.starts[f, i], values.high[f, i] = _NO_TEXT, _whole_number(data, start, end)
        return bool(values.high[f, i] <= MAX_TIMESTAMP)
    if kind == DECIMAL:
        sure, low, high = _decimal(data, start, end)
        values.starts[f, i], values.low[f, i], values.high[f, i] = _NO_TEXT, low, high
        return bool(sure)
    if token_kind == FRACTION or (token_kind == WHOLE and (kind == ENUM or data[start] == _MINUS)):
        return False
    if start == end and kind == STRING:
        return True
    values.starts[f, i], values.ends[f, i] = start, end
    return bool(end - start <= longest or _characters(data, start, end) <= longest)


@kernel(inline="always")
def _read_field(
    data: Uint8Array, f: int, i: int, fields: Fields, tokens: Int64Array, values: FieldValues
) -> bool:
    """Write the value of field f in record i; whether that is sure."""
    values.starts[f, i] = ABSENT
    names_seen = 0
    for name in range(fields.first_name[f], fields.first_name[f + 1]):
        if tokens[name, KIND] == UNSEEN or tokens[name, KIND] == NULL:
            continue
        names_seen += 1
        # values under two names may be equal or differ: the strict parser decides
        if names_seen > 1 or not _read_value(
            data, tokens, name, fields.kinds[f], fields.longest[f], f, i, values
        ):
            return False
    if values.starts[f, i] == ABSENT:
        return not fields.required[f]
    if fields.kinds[f] != ENUM:
        return True
    first, last = fields.first_allowed[f], fields.first_allowed[f + 1]
    return _is_allowed(data, values.starts[f, i], values.ends[f, i], fields.allowed, first, last)


@kernel()
def read_records(
    data: Uint8Array,
    offsets: Int32Array,
    fields: Fields,
    scratch: Scratch,
    values: FieldValues,
    sure: BoolArray,
    wide: BoolArray,
) -> None:
    """Write the values of each record ``data[offsets[i]:offsets[i + 1]]``.

    :param sure: by record, whether there is one; made False where the values may be wrong
    :param wide: by record, written: whether it has bytes beyond ASCII, which may not be UTF-8
    """
    template, tokens = scratch.template, scratch.tokens
    for i in range(len(sure)):
        start, end = offsets[i], offsets[i + 1]
        sure[i] = sure[i] and end - start <= MAX_VALUE_BYTES
        if not sure[i]:
            continue
        if not match_template(data, start, end, template, tokens):
            sure[i] = scan(data, start, end, fields.names, scratch.stack, tokens)
            if not sure[i]:
                template.part_count[0] = 0
                continue
            record_template(data, start, end, tokens, template)
        for f in range(len(fields.kinds)):
            if not _read_field(data, f, i, fields, tokens, values):
                sure[i] = False
                break
        widest = np.uint8(0)
        for byte in data[start:end]:
            widest |= byte
        wide[i] = widest >= _ASCII_END


@kernel()
def copy_texts(
    data: Uint8Array, starts: Int64Array, ends: Int64Array, offsets: Int32Array, out: Uint8Array
) -> None:
    """Copy text i, ``data[starts[i]:ends[i]]``, to ``out`` from ``offsets[i]`` on."""
    for i in range(len(starts)):
        target = offsets[i]
        for offset in range(starts[i], ends[i]):
            out[target] = data[offset]
            target += 1
